"""What the methods that look after an index return, also as JSON for scripts."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from lshdb.model.banding import Similarities, Sizes
from lshdb.model.params import Params
from lshdb.model.reports import Measurement
from lshdb.model.values import summed

__all__ = [
    "BackupReport",
    "CopiedTable",
    "CopyReport",
    "DigestReport",
    "Outlook",
    "PassagesReport",
    "RebandReport",
    "Upgrade",
    "VacuumReport",
    "VerifyCounts",
    "VerifyReport",
]


@dataclass(frozen=True, slots=True)
class DigestReport:
    """New digests of texts.

    Args:
        num_computed: how many this upgrade computed; an interrupted one may have computed others.
        num_left: for how many the text is neither kept nor in its source. Unless it is 0, the old digests stay.
    """

    num_computed: int
    num_left: int


@dataclass(frozen=True, slots=True)
class Upgrade:
    """An upgrade `before` -> `after`.

    Args:
        copy: the copy of the old file; None if there was no need for one.
        statements: the SQL of a dry run, with values as comments.
        digests: the digests that were recomputed; None if those of the index are safe.
    """

    before: str
    after: str
    copy: str | None = None
    statements: tuple[str, ...] = ()
    digests: DigestReport | None = None

    @property
    def is_current(self) -> bool:
        """Whether the schema was at the newest revision before."""
        return self.before == self.after


@dataclass(frozen=True, slots=True)
class BackupReport:
    """A backup that was written and checked."""

    path: str
    revision: str
    num_bytes: int
    seconds: float

    def as_json(self) -> dict[str, object]:
        """The object that ``backup --json`` prints."""
        seconds = round(self.seconds, 3)
        return {"path": self.path, "revision": self.revision, "bytes": self.num_bytes, "seconds": seconds}


@dataclass(frozen=True, slots=True)
class CopiedTable:
    """A table of the copy, and the number of its rows."""

    name: str
    num_rows: int


@dataclass(frozen=True, slots=True)
class CopyReport:
    """A copy whose tables were found equal to the original's."""

    source: str
    destination: str
    tables: tuple[CopiedTable, ...]
    seconds: float

    @property
    def num_rows(self) -> int:
        """The rows of all tables."""
        return sum(table.num_rows for table in self.tables)

    def as_json(self) -> dict[str, object]:
        """The object that ``copy --json`` prints."""
        tables = {table.name: {"rows": table.num_rows} for table in self.tables}
        return {**asdict(self), "tables": tables, "rows": self.num_rows, "seconds": round(self.seconds, 3)}


@dataclass(frozen=True, slots=True)
class VacuumReport:
    """The size of an index before and after."""

    bytes_before: int
    bytes_after: int
    seconds: float

    def as_json(self) -> dict[str, object]:
        """The object that ``vacuum --json`` prints."""
        return asdict(self) | {"seconds": round(self.seconds, 3)}


@dataclass(frozen=True, slots=True)
class VerifyCounts:
    """Numbers of verified pairs.

    Args:
        num_pairs: all of them.
        num_confirmed: the recomputed similarity is the stored one.
        num_changed: it differs.
        num_dropped: changed ones that are below the floor now and were removed.
        num_unknown: a text is neither kept nor still in its source.
    """

    num_pairs: int = 0
    num_confirmed: int = 0
    num_changed: int = 0
    num_dropped: int = 0
    num_unknown: int = 0

    def __add__(self, other: VerifyCounts) -> VerifyCounts:
        return summed(self, other)


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a verification found.

    Args:
        largest_difference: between a stored and a recomputed similarity.
        gone: the first few of the `num_unknown` pairs, as (left, right) document ids.
    """

    counts: VerifyCounts
    largest_difference: float
    gone: tuple[tuple[str, str], ...]
    seconds: float

    def as_json(self) -> dict[str, object]:
        """The object that ``verify --json`` prints."""
        counts = {name.removeprefix("num_"): value for name, value in asdict(self.counts).items()}
        return counts | {
            "largest_difference": self.largest_difference,
            "gone": [list(names) for names in self.gone],
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class RebandReport:
    """What a reband did: the parameters before and after, and the number of pairs afterwards."""

    run: int
    before: Params
    after: Params
    num_pairs: int
    seconds: float

    def as_json(self) -> dict[str, object]:
        """The object that ``reband --json`` prints."""
        names = ("bands", "rows", "min_sim", "recall", "floor")
        changed = {
            when: {name: getattr(params, name) for name in names}
            for when, params in (("before", self.before), ("after", self.after))
        }
        return {"run": self.run, **changed, "pairs": self.num_pairs, "seconds": round(self.seconds, 3)}


@dataclass(frozen=True, slots=True)
class Outlook:
    """The figures about an index that tuning needs.

    Args:
        similarities: of its texts, from the last measurement; without one, those of a typical corpus of this size.
        measured: the last measurement, if any.
        sizes: of the rows of its tables.
    """

    params: Params
    similarities: Similarities
    measured: Measurement | None
    sizes: Sizes


@dataclass(frozen=True, slots=True)
class PassagesReport:
    """A passage index that was built: every run of `passages` words that two texts share is found."""

    passages: int
    seconds: float

    def as_json(self) -> dict[str, object]:
        """Return the object that ``passages --build --json`` prints."""
        return asdict(self) | {"seconds": round(self.seconds, 3)}
