"""What to filter and how, and the counts of a filter."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from lshdb.clusters.clusters import ClusterOptions
from lshdb.errors import UsageError
from lshdb.model import arguments
from lshdb.model.choices import Unknown
from lshdb.model.params import check_choice
from lshdb.model.values import Rejection, summed
from lshdb.readers import ReadOptions

__all__ = ["Deletion", "DeletionReport", "FilterOptions", "FilterReport", "RecordCounts", "Taken", "TakenPassage"]

# Passages that are reported, and that are held while the files are added up.
SHOWN_PASSAGES: Final = 10
HELD_PASSAGES: Final = 1_000


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """How original records are filtered.

    Args:
        dropped: write the dropped records instead of the kept ones.
        unknown: what happens to records that the index does not hold: those it rejected, and those whose id a
            record with another text took. ``keep`` writes them, ``drop`` leaves them out, ``error`` fails.
        link: make hard links to files that are one document each, instead of copies.
        force: overwrite files that another program wrote.
        level: the compression level of compressed files, from 1 on, or the highest of a compression if it has fewer
            levels; None for the usual level of each compression.
        include, exclude_globs: patterns of files, as in an ingest.
        follow_links: whether to follow symbolic links that lead out of a folder, as in an ingest.
        collection: the collection of the ids on standard input.
        read: how standard input is read.
        clusters: which documents are duplicates, and which of them is kept.
        without_boilerplate: remove passages from the kept records if at least this many kept documents of the index
            share them; None removes nothing.

    Raises: InvalidParams: a choice does not exist, or a number is too small; UsageError: boilerplate would be removed
        from dropped records, or has fewer than two documents; patterns are a single string.
    """

    dropped: bool = False
    unknown: Unknown = "keep"
    link: bool = False
    force: bool = False
    level: int | None = None
    include: tuple[str, ...] = ()
    exclude_globs: tuple[str, ...] = ()
    follow_links: bool = False
    collection: str = "default"
    read: ReadOptions = field(default_factory=ReadOptions)
    clusters: ClusterOptions = field(default_factory=ClusterOptions)
    without_boilerplate: int | None = None

    def __post_init__(self) -> None:
        check_choice("unknown", self.unknown, Unknown)
        arguments.limit("level", self.level)
        for name in ("include", "exclude_globs"):
            object.__setattr__(self, name, arguments.several(name, getattr(self, name)))
        if self.without_boilerplate is not None and self.dropped:
            raise UsageError(reason="--without-boilerplate is for the kept records, not for --dropped")
        if self.without_boilerplate is not None and self.without_boilerplate < 2:
            raise UsageError(reason="boilerplate is what at least 2 documents share")


@dataclass(frozen=True, slots=True)
class RecordCounts:
    """Numbers of records, by their state in the index.

    Args:
        num_unknown: records that the index does not hold.
        num_rejected: records that the index rejected.
        num_other: records of a WARC that are not documents, such as requests.
    """

    num_kept: int = 0
    num_dropped: int = 0
    num_unknown: int = 0
    num_rejected: int = 0
    num_other: int = 0

    @property
    def num_records(self) -> int:
        """The number of all records."""
        return self.num_kept + self.num_dropped + self.num_unknown + self.num_rejected + self.num_other

    def __add__(self, other: RecordCounts) -> RecordCounts:
        return summed(self, other)

    def as_json(self) -> dict[str, Any]:
        """Return them as an object whose first value is the sum of the others."""
        counts = {name.removeprefix("num_"): number for name, number in asdict(self).items()}
        return {"records": self.num_records, **counts}


@dataclass(frozen=True, slots=True)
class TakenPassage:
    """A passage that was removed from records.

    Args:
        text: its words, at most the first 40.
        num_words: how many it has.
        num_records: how many records it was removed from.
    """

    text: str
    num_words: int
    num_records: int


@dataclass(frozen=True, slots=True)
class Taken:
    """What was removed from records.

    Args:
        num_records: records that lost a passage.
        num_runs, num_words, num_bytes: the passages, their words, and their bytes in UTF-8.
        num_emptied: records that had no words left, and were not written.
        passages: the most frequent ones, among the twenty most frequent of each file.
    """

    num_records: int = 0
    num_runs: int = 0
    num_words: int = 0
    num_bytes: int = 0
    num_emptied: int = 0
    passages: tuple[TakenPassage, ...] = ()

    def __add__(self, other: Taken) -> Taken:
        both, passages = summed(self, other), Counter[tuple[str, int]]()
        for one in both.passages:
            passages[one.text, one.num_words] += one.num_records
        most = tuple(TakenPassage(*key, number) for key, number in passages.most_common(HELD_PASSAGES))
        return replace(both, passages=most)

    def as_json(self) -> dict[str, Any]:
        """Return them as an object."""
        counts = {name.removeprefix("num_"): value for name, value in asdict(self).items() if name != "passages"}
        return {**counts, "passages": [asdict(one) for one in self.passages[:SHOWN_PASSAGES]]}


@dataclass(frozen=True, slots=True)
class FilterReport:
    """The counts of a filter.

    Args:
        counts: of the records of all files, including files that an earlier run had written.
        num_elsewhere: dropped records whose kept document is in none of these files, or no longer exists.
        num_files: the files that were read; an earlier run had already written `num_present` of them.
        num_left_out: files that are one document each and were not written, because the document is not wanted.
        failed: the files that could not be read. Nothing was written for them.
        taken: the boilerplate that was removed from kept records; None if that was not requested.
        num_dangling: revisits that were written although the record that they name was dropped. Files that an earlier
            run had written do not count.
    """

    counts: RecordCounts
    num_elsewhere: int
    num_files: int
    num_present: int
    num_left_out: int
    failed: tuple[Rejection, ...]
    out: Path | None
    seconds: float
    taken: Taken | None = None
    num_dangling: int = 0

    def as_json(self) -> dict[str, object]:
        """Return the object that ``filter --json`` prints."""
        taken = {} if self.taken is None else {"boilerplate": self.taken.as_json()}
        return {
            "records": self.counts.as_json(),
            "elsewhere": self.num_elsewhere,
            "dangling": self.num_dangling,
            "files": self.num_files,
            "present": self.num_present,
            "left_out": self.num_left_out,
            "failed": [asdict(one) for one in self.failed],
            **taken,
            "out": None if self.out is None else str(self.out),
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class Deletion:
    """A deleted file, and the id of the document that is kept in its place."""

    path: Path
    kept: str


@dataclass(frozen=True, slots=True)
class DeletionReport:
    """The duplicates among files that are one document each.

    Args:
        deleted: the files that were deleted, or would be.
        spared: dropped files that are not deleted, each with the reason.
        num_bytes: the size of the deleted files.
        num_containers: files with many records, which are never deleted.
    """

    deleted: tuple[Deletion, ...]
    spared: tuple[Rejection, ...]
    num_bytes: int
    num_containers: int
    dry_run: bool

    def as_json(self) -> dict[str, object]:
        """Return the object that ``filter --delete --json`` prints."""
        return {
            "deleted": [{"path": str(one.path), "kept": one.kept} for one in self.deleted],
            "spared": [asdict(one) for one in self.spared],
            "bytes": self.num_bytes,
            "containers": self.num_containers,
            "dry_run": self.dry_run,
        }
