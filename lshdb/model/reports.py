"""What the methods of an index return, also as JSON for scripts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Final

from lshdb.model.params import Params
from lshdb.model.values import Conflicts, Counts

__all__ = [
    "CONFIDENCE",
    "Figures",
    "HalfRead",
    "IngestReport",
    "Measurement",
    "Pair",
    "Point",
    "RejectedSource",
    "RunRow",
    "Stats",
    "StoredPair",
]

# Of the interval of a measured recall.
CONFIDENCE: Final = 0.99


@dataclass(frozen=True, slots=True)
class Pair:
    """Two documents and their similarity, which is estimated from their signatures unless it is `exact`."""

    left: str
    right: str
    similarity: float
    exact: bool
    left_collection: str = "default"
    right_collection: str = "default"


@dataclass(frozen=True, slots=True)
class StoredPair:
    """The stored similarity of a pair, and the run that linked it; None if it was linked outside a run."""

    similarity: float
    exact: bool
    run: int | None


@dataclass(frozen=True, slots=True)
class RejectedSource:
    """A source of which all records, or most, were rejected; `reason` is that of the first."""

    uri: str
    num_rejected: int
    reason: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What a run did.

    Args:
        num_skipped: files that lshdb does not read.
        num_unfollowed: symbolic links inside a folder that lead out of it.
        pairs_added: negative if more pairs were removed than added.
        conflicts: documents whose id belonged to a different text.
        num_rejected_before: what earlier runs rejected of files that this one did not read again.
        last_rejected_before: the last of these runs.
        num_resumed: the documents that earlier runs added from files that this one continued to read.
        num_rejected_sources: sources that gave no document, because everything in them was rejected.
        rejected_sources: the first of them.
        num_given_up: sources that were not read to their end, because most of what was read was rejected.
        given_up: the first of them; the reason is that of the first rejection, after its position.
        is_limited: whether documents were left unread, because the run was limited to the first ones.
        num_spared: files that are damaged or empty now, so that `prune` kept the documents that they no longer have.
    """

    run: int
    counts: Counts
    num_skipped: int
    pairs_added: int
    seconds: float
    conflicts: Conflicts = field(default_factory=Conflicts)
    rejected_by_reason: dict[str, int] = field(default_factory=dict)
    num_rejected_sources: int = 0
    rejected_sources: tuple[RejectedSource, ...] = ()
    is_limited: bool = False
    num_given_up: int = 0
    given_up: tuple[RejectedSource, ...] = ()
    num_unfollowed: int = 0
    num_spared: int = 0
    num_rejected_before: int = 0
    last_rejected_before: int | None = None
    num_resumed: int = 0

    def as_json(self) -> dict[str, object]:
        """The object that ``ingest --json`` prints."""
        documents = ("added", "updated", "unchanged", "removed", "empty", "rejected", "replaced")
        return {
            "run": self.run,
            "documents": {name: getattr(self.counts, f"num_{name}") for name in documents},
            "rejected_by_reason": self.rejected_by_reason,
            "rejected_before": self.num_rejected_before,
            "documents_displaced": self.conflicts.num_replaced,
            "id_conflicts": {name.removeprefix("num_"): number for name, number in asdict(self.conflicts).items()},
            "sources_rejected": self.num_rejected_sources,
            "sources_given_up": self.num_given_up,
            "files_skipped": self.num_skipped,
            "links_not_followed": self.num_unfollowed,
            "sources_spared": self.num_spared,
            "limit_reached": self.is_limited,
            "contents_added": self.counts.num_contents,
            "pairs_added": self.pairs_added,
            "bytes": self.counts.num_bytes,
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Stats:
    """The figures of an index, its parameters, its last runs, and the number of documents of each collection."""

    url: str
    params: Params
    figures: Figures
    runs: tuple[RunRow, ...]
    collections: dict[str, int] = field(default_factory=dict)
    num_unfinished: int = 0
    unfinished: tuple[HalfRead, ...] = ()
    measured: Measurement | None = None

    @property
    def recall(self) -> Measurement | None:
        """The last measurement, if it is of the bands and the similarity that the index has now."""
        now = (self.params.bands, self.params.rows, self.params.min_sim)
        found = self.measured
        return found if found is not None and (found.bands, found.rows, found.min_sim) == now else None

    def as_json(self) -> dict[str, object]:
        """The object that ``stats --json`` prints."""
        return {
            "index": self.url,
            "params": asdict(self.params) | {"recall": self.params.recall},
            "measured": None if self.measured is None else self.measured.as_json(),
            "figures": {name.removeprefix("num_"): value for name, value in asdict(self.figures).items()},
            "runs": [asdict(row) for row in self.runs],
            "collections": self.collections,
            "unfinished": {"sources": self.num_unfinished, "first": [asdict(source) for source in self.unfinished]},
        }


@dataclass(frozen=True, slots=True)
class RunRow:
    """A row of the table run."""

    run: int
    verb: str
    collection: str
    state: str
    started_at: str
    finished_at: str | None
    num_added: int
    num_updated: int
    num_removed: int
    num_rejected: int


@dataclass(frozen=True, slots=True)
class Figures:
    """The size of an index.

    Args:
        num_skipped_pairs: the pairs that were skipped in `num_hot_buckets`.
        num_frequent_fingerprints: fingerprints of passages in more texts than the cap of a bucket.
        num_skipped_containments: the pairs that they leave out of `contained_pairs`, counted for each fingerprint.
    """

    num_documents: int
    num_empty: int
    num_contents: int
    num_sources: int
    num_unlinked: int
    num_pairs: int
    num_estimated_pairs: int
    num_hot_buckets: int
    num_skipped_pairs: int
    num_frequent_fingerprints: int
    num_skipped_containments: int
    num_bytes: int


@dataclass(frozen=True, slots=True)
class Point:
    """The pairs in a range of similarities: their mean, their number, and how many of them the index has.

    Args: num_left_out: pairs that share an oversized bucket, and were not compared when documents were added.
    """

    similarity: float
    num_pairs: int
    num_found: int
    num_left_out: int = 0


@dataclass(frozen=True, slots=True)
class Measurement:
    """What comparing a sample of the texts with all others shows about the index.

    Args:
        run: the run of the measurement.
        bands, rows: those of the index at that time.
        seed: the seed of the sample.
        num_contents, num_probes: the number of distinct texts, and of those that were compared with all.
        min_sim: the least similarity of the pairs that should be found.
        num_pairs, num_found: pairs of the probes at `min_sim` or more, and how many of them the index has.
        recall: the estimate; None if no probe has a pair. low, high: its interval at `CONFIDENCE`.
        neighbours: for each number of equal minima, how many others all probes have together.
        points: recall by similarity, from the floor up.
    """

    run: int
    bands: int
    rows: int
    seed: int
    num_contents: int
    num_probes: int
    min_sim: float
    num_pairs: int
    num_found: int
    recall: float | None
    low: float
    high: float
    neighbours: tuple[int, ...]
    points: tuple[Point, ...]

    @property
    def num_left_out(self) -> int:
        """The number of the missed pairs that oversized buckets left out."""
        return sum(point.num_left_out for point in self.points if point.similarity >= self.min_sim)

    def as_json(self) -> dict[str, object]:
        """The value of ``measured`` in the objects that ``tune --json`` and ``stats --json`` print."""
        return asdict(self) | {"confidence": CONFIDENCE, "num_left_out": self.num_left_out}


@dataclass(frozen=True, slots=True)
class HalfRead:
    """A file that was not read to its end; `position` of its items are committed."""

    uri: str
    collection: str
    position: int
