"""What the verbs of an index return: frozen, and as JSON where a script reads them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields

from lshdb.model import Counts
from lshdb.params import Params
from lshdb.store.answers import Figures, RunRow

__all__ = ["IngestReport", "Pair", "Stats", "VerifyCounts", "VerifyReport"]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two documents and their similarity; not `exact`: estimated from their signatures."""

    left: str
    right: str
    similarity: float
    exact: bool


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What a run did. `num_skipped` files were not meant for lshdb; `pairs_added` is negative where pairs went."""

    run: int
    counts: Counts
    num_skipped: int
    pairs_added: int
    seconds: float

    def as_json(self) -> dict[str, object]:
        """The object that ``ingest --json`` prints."""
        documents = ("added", "updated", "unchanged", "removed", "empty", "rejected", "replaced")
        return {
            "run": self.run,
            "documents": {name: getattr(self.counts, f"num_{name}") for name in documents},
            "files_skipped": self.num_skipped,
            "contents_added": self.counts.num_contents,
            "pairs_added": self.pairs_added,
            "bytes": self.counts.num_bytes,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class VerifyCounts:
    """Numbers of pairs that a verification looked at.

    Args:
        num_pairs: all of them.
        num_confirmed: the recomputed similarity is the stored one.
        num_changed: it is another one.
        num_dropped: changed ones that are below the floor, and no pair any more.
        num_unknown: a text is neither kept nor still where it was read from.
    """

    num_pairs: int = 0
    num_confirmed: int = 0
    num_changed: int = 0
    num_dropped: int = 0
    num_unknown: int = 0

    def __add__(self, other: VerifyCounts) -> VerifyCounts:
        return VerifyCounts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a verification found."""

    counts: VerifyCounts
    seconds: float

    def as_json(self) -> dict[str, object]:
        """The object that ``verify --json`` prints."""
        counts = {name.removeprefix("num_"): value for name, value in asdict(self.counts).items()}
        return counts | {"seconds": round(self.seconds, 3)}


@dataclass(frozen=True, slots=True)
class Stats:
    """The figures of an index, its parameters, and its last runs."""

    url: str
    params: Params
    figures: Figures
    runs: tuple[RunRow, ...]

    def as_json(self) -> dict[str, object]:
        """The object that ``stats --json`` prints."""
        return {
            "index": self.url,
            "params": asdict(self.params) | {"recall": self.params.recall},
            "figures": {name.removeprefix("num_"): value for name, value in asdict(self.figures).items()},
            "runs": [asdict(row) for row in self.runs],
        }
