"""The results of the verbs that treat an index as a whole: upgrade, backup, copy and vacuum."""

from __future__ import annotations

from dataclasses import asdict, dataclass

__all__ = ["BackupReport", "CopiedTable", "CopyReport", "DigestReport", "Upgrade", "VacuumReport"]


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
