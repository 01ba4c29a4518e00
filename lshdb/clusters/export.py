"""Write the deduplicated corpus: the ids kept, the ids dropped and for which document, or the texts kept.

A document that is in no cluster is kept, and so is an empty one. Files are written completely or not at all, and
nothing else is changed. Limitation: the text of a content is that of its first document. Other documents with the same
content may differ from it in case, punctuation and white space. An empty document has the text "". A feature set has
the array of its features instead, sorted.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Final, TextIO, get_args

import numpy as np

from lshdb.clusters import members
from lshdb.clusters.arrange import Clusters
from lshdb.clusters.clusters import ClusterOptions, Deduplication
from lshdb.clusters.members import Member
from lshdb.clusters.tabular import Record, Row, require_pyarrow, write_jsonl, write_records, writer
from lshdb.errors import IndexDamaged, TextsNotKept, UsageError
from lshdb.model.choices import ExportFormat, What
from lshdb.model.params import check_choice
from lshdb.model.progress import Progress
from lshdb.sketch.texts import unpack
from lshdb.store.files import replacing, require_free, writing
from lshdb.store.store import Store
from lshdb.store.tables import clusters, graph
from lshdb.store.tables.clusters import DocumentRow
from lshdb.store.transaction import Transaction

__all__ = ["ExportOptions", "ExportReport", "Exporting"]

# The formats of each choice; the first is the default.
FORMATS: Final[dict[What, tuple[ExportFormat, ...]]] = {
    "kept": ("lines", "jsonl", "csv", "tsv"),
    "dropped": ("tsv", "jsonl", "csv"),
    "records": ("jsonl", "parquet"),
}
COLUMNS: Final[dict[What, tuple[str, ...]]] = {
    "kept": ("id", "collection"),
    "dropped": ("dropped", "kept_for", "similarity", "exact", "collection", "kept_collection"),
    "records": ("id", "text"),
}
SUFFIXES: Final[dict[str, ExportFormat]] = {
    ".txt" if form == "lines" else f".{form}": form for form in get_args(ExportFormat)
}
AUDIT_SUFFIX: Final = ".audit.jsonl"
# The options and counts in the first line of the audit.
AUDITED: Final = ("measure", "keep", "prefer", "linkage", "within")
COUNTED: Final = ("documents", "kept", "dropped", "empty", "clusters")

# Documents whose compressed texts are held at a time.
HELD_TEXTS: Final = 500


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What to export, and how.

    Args:
        what: the ids of the ``kept`` documents; the ids of the ``dropped`` ones, each with the document kept instead;
            or ``records`` of the kept documents.
        form: by default chosen by the file's suffix, else the first that fits: lines, TSV, JSON lines.
        audit: the file that lists the dropped documents; OUT.audit.jsonl by default if OUT is a file.
        force: overwrite existing files.
        clusters: which documents are duplicates, and which of them is kept.
        raw: write CSV without the apostrophes that keep a spreadsheet from running an id as a formula.

    Raises: InvalidParams: there is no such choice.
    """

    what: What = "kept"
    form: ExportFormat | None = None
    audit: Path | None = None
    force: bool = False
    clusters: ClusterOptions = field(default_factory=ClusterOptions)
    raw: bool = False

    def __post_init__(self) -> None:
        check_choice("what", self.what, What)
        if self.form is not None:
            check_choice("form", self.form, ExportFormat)


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The counts of an export; `num_empty` of the kept documents are empty."""

    num_documents: int
    num_kept: int
    num_dropped: int
    num_empty: int
    num_clusters: int
    out: str | None
    audit: str | None
    seconds: float

    def as_json(self) -> dict[str, object]:
        """Return the object that ``export --json`` prints."""
        return {name.removeprefix("num_"): value for name, value in asdict(self).items()}


class Exporting:
    """One export of an index.

    Args:
        out: a file, or a text stream.

    Raises: UsageError, TextsNotKept, OutputExists, OutputFailed: before anything is computed.
    """

    def __init__(
        self, store: Store, min_sim: float, options: ExportOptions, out: Path | TextIO, progress: Progress
    ) -> None:
        self._store = store
        self._min_sim = min_sim
        self._options = options
        self._clusters = options.clusters.close_to_kept()
        self._out = out
        self._form = _form(options, out)
        self._audit = _audit(options, out)
        self._progress = progress
        self._require_possible()

    def export(self, snapshot: Transaction) -> ExportReport:
        """Write the file and the audit. Raises: UsageError: an invalid ``prefer``; OutputFailed."""
        started, chosen = time.monotonic(), self._clusters
        found = Deduplication(snapshot, self._store.params, self._min_sim, chosen, self._progress).clusters()
        self._progress.done()
        counts = clusters.document_counts(snapshot, chosen.within)
        num_dropped = len(found.doc_keys) - len(found)
        report = ExportReport(
            counts.num_documents,
            counts.num_documents - num_dropped,
            num_dropped,
            counts.num_documents - counts.num_full,
            len(found),
            str(self._out) if isinstance(self._out, Path) else None,
            str(self._audit) if self._audit else None,
            time.monotonic() - started,
        )
        self._write(snapshot, found, report)
        return report

    def _require_possible(self) -> None:
        if self._options.what == "records" and not self._store.params.keep_text:
            raise TextsNotKept(url=self._store.url)
        if self._form == "parquet":
            require_pyarrow()
        files = [path for path in (self._out, self._audit) if isinstance(path, Path)]
        if len({path.resolve() for path in files}) < len(files):
            raise UsageError(reason=f"--out and --audit name the same file, {files[0]}")
        taken = frozenset(path.resolve() for path in self._store.files)
        for path in files:
            require_free(path, force=self._options.force, taken=taken)

    def _write(self, snapshot: Transaction, found: Clusters, report: ExportReport) -> None:
        found_members = members.members(snapshot, found, self._store.params)
        dropped: Iterator[Member] = (member for member in found_members if not member.is_kept)
        with ExitStack() as opened:
            if self._audit:
                dropped = self._audited(dropped, report, opened.enter_context(writing(self._audit)))
            if self._options.what == "dropped":
                self._write_rows((_dropped_row(member) for member in dropped), opened)
                return
            if self._audit:
                deque(dropped, maxlen=0)
            kept = _kept(snapshot, found, self._clusters.within)
            if self._options.what == "kept":
                self._write_rows(((row.doc_id, row.collection) for block in kept for row in block), opened)
            else:
                self._write_records(self._with_features(_records(snapshot, kept, self._store.url)), opened)

    def _write_rows(self, rows: Iterable[Row], opened: ExitStack) -> None:
        out = opened.enter_context(writing(self._out)) if isinstance(self._out, Path) else self._out
        columns = self._columns(self._options.what)
        if self._form == "lines":
            columns, rows = columns[:1], (row[:1] for row in rows)
        writer(self._form, raw=self._options.raw)(columns, rows, out)

    def _columns(self, what: What) -> tuple[str, ...]:
        named = {"similarity": "containment"} if self._clusters.measure == "containment" else {}
        return tuple(named.get(name, name) for name in COLUMNS[what])

    def _with_features(self, records: Iterator[tuple[str, str]]) -> Iterator[Record]:
        """Return the records of an index of feature sets with their features instead of a text."""
        if self._store.params.shingling.kind != "set":
            return records
        return ((doc_id, text.split("\n") if text else []) for doc_id, text in records)

    def _write_records(self, records: Iterable[Record], opened: ExitStack) -> None:
        if self._form == "parquet" and isinstance(self._out, Path):
            holds_sets = self._store.params.shingling.kind == "set"
            write_records(opened.enter_context(replacing(self._out)), records, holds_sets=holds_sets)
        else:
            self._write_rows(records, opened)

    def _audited(self, dropped: Iterable[Member], report: ExportReport, out: TextIO) -> Iterator[Member]:
        """Yield the same members, and write each to the audit."""
        header = {
            "lshdb": version("lshdb"),
            "exported_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "index": self._store.url,
            "out": report.out,
            "what": self._options.what,
            "min_sim": self._min_sim,
            **{name: value for name, value in asdict(self._clusters).items() if name in AUDITED},
            "params": asdict(self._store.params),
            **{name: value for name, value in report.as_json().items() if name in COUNTED},
        }
        out.write(json.dumps(header, ensure_ascii=False) + "\n")
        columns = self._columns("dropped")
        for member in dropped:
            row = (*_dropped_row(member), member.cluster, self._reason(member))
            write_jsonl((*columns, "cluster", "reason"), [row], out)
            yield member

    def _reason(self, member: Member) -> str:
        """Return why it was dropped: a ``copy``, ``similar`` to the kept one, only ``connected`` with it, or
        ``contained`` in it."""
        if self._clusters.measure == "containment":
            return "contained"
        if member.exact and member.similarity == 1.0:
            return "copy"
        return "similar" if member.similarity >= self._min_sim else "connected"


def _form(options: ExportOptions, out: Path | TextIO) -> ExportFormat:
    suits = FORMATS[options.what]
    by_suffix = SUFFIXES.get(out.suffix.lower(), suits[0]) if isinstance(out, Path) else suits[0]
    form = options.form or by_suffix
    if form not in suits:
        raise UsageError(reason=f"--what {options.what} is written as {', '.join(suits)}, not as {form}")
    if form == "parquet" and not isinstance(out, Path):
        raise UsageError(reason="Parquet needs a file: name one with --out")
    return form


def _audit(options: ExportOptions, out: Path | TextIO) -> Path | None:
    if options.audit is None and isinstance(out, Path):
        return out.with_name(out.name + AUDIT_SUFFIX)
    return options.audit


def _dropped_row(member: Member) -> Row:
    return (
        member.document, member.keep, member.similarity, member.exact, member.collection, member.keep_collection,
    )  # fmt: skip


def _kept(snapshot: Transaction, found: Clusters, within: str | None) -> Iterator[list[DocumentRow]]:
    """Yield the kept documents in the order they were added, in batches."""
    dropped = np.sort(np.delete(found.doc_keys, found.offsets[:-1]))
    for block in clusters.scope(snapshot, within, HELD_TEXTS):
        keys = np.asarray([row.doc_key for row in block], dtype=np.int64)
        is_dropped = np.searchsorted(dropped, keys, side="right") > np.searchsorted(dropped, keys)
        yield [row for row, is_out in zip(block, is_dropped.tolist(), strict=True) if not is_out]


def _records(snapshot: Transaction, kept: Iterable[list[DocumentRow]], url: str) -> Iterator[tuple[str, str]]:
    """Yield (id, text) of the kept documents."""
    for block in kept:
        keys = np.unique(np.asarray([row.content_key for row in block if row.content_key is not None], dtype=np.int64))
        frames = dict(graph.texts(snapshot, keys))
        for row in block:
            if row.content_key is None:
                yield row.doc_id, ""
            elif row.content_key in frames:
                yield row.doc_id, unpack(frames[row.content_key])
            else:
                raise IndexDamaged(url=url, reason=f"the text of document {row.doc_id!r} is missing")
