"""The index: the one door for programs and for the command line, and where the pure half meets the store."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, Final

from lshdb.answering import Match, matches, only_document
from lshdb.errors import AccessDenied, BelowFloor, DocumentUnknown, IndexBusy, IndexExists, ParamsMismatch, StoreError
from lshdb.ingestion import Ingestion, IngestOptions
from lshdb.linking import Linking
from lshdb.model import Counts, Document, Rejection
from lshdb.params import Params
from lshdb.pipeline import sketch
from lshdb.progress import Progress
from lshdb.readers import ReadOptions
from lshdb.removal import retire
from lshdb.reports import IngestReport, Pair, Stats, VerifyReport
from lshdb.reverification import Reverification
from lshdb.store import Store, answers, documents, graph, runs
from lshdb.store.upgrade import Upgrade

__all__ = ["Index"]

# Documents of `add` and `remove` that go into one transaction.
ADDED_DOCUMENTS: Final = 5_000

SHOWN_RUNS: Final = 5


class Index:
    """A near-duplicate index in a SQLite file or a Postgres database.

    ::

        with Index.open("crawl.db") as index:
            index.ingest(["./crawl"])
            for pair in index.pairs(min_sim=0.8):
                print(pair.left, pair.right, pair.similarity)

    Args: url: a SQLAlchemy URL or a plain path. progress: hears of long work.
    """

    def __init__(self, store: Store, progress: Progress | None = None) -> None:
        self._store = store
        self._progress = progress or Progress()

    @classmethod
    def open(cls, url: str, progress: Progress | None = None) -> Index:
        """An index that is there already.

        Raises: IndexMissing, NotAnIndex, IndexOutdated, IndexTooNew, StoreUnreachable, AccessDenied.
        """
        return cls(Store.open(url), progress)

    @classmethod
    def create(cls, url: str, params: Params | None = None, progress: Progress | None = None) -> Index:
        """A new, empty index. Raises: IndexExists: there is one already; and as `open`."""
        with Store.at(url) as place:
            if place.is_born():
                raise IndexExists(url=place.url)
        return cls(Store.create(url, params or Params(), version("lshdb")), progress)

    @classmethod
    def ensure(cls, url: str, chosen: Mapping[str, Any], progress: Progress | None = None) -> Index:
        """The index at `url`, made with the chosen parameters (and defaults for the others) where there is none.

        Raises: ParamsMismatch: there is one, and it was made with others; InvalidParams; and as `open`.
        """
        store = Store.create(url, Params(**chosen), version("lshdb"))
        for name, given in chosen.items():
            stored = getattr(store.params, name)
            if stored != given:
                store.close()
                raise ParamsMismatch(url=store.url, name=f"--{name.replace('_', '-')}", stored=stored, given=given)
        return cls(store, progress)

    @staticmethod
    def upgrade(url: str) -> Upgrade:
        """Brings an index to the schema of this version; a SQLite file is copied before."""
        with Store.at(url) as store:
            return store.upgrade()

    def __enter__(self) -> Index:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the database."""
        self._progress.done()
        self._store.close()

    @property
    def url(self) -> str:
        """Where the index is, without a password."""
        return self._store.url

    @property
    def params(self) -> Params:
        """What the index was made with."""
        return self._store.params

    def ingest(
        self,
        paths: Sequence[str | Path],
        options: IngestOptions | None = None,
        *,
        link: bool = True,
        wait: bool = False,
    ) -> IngestReport:
        """Adds or refreshes documents from files and folders; what did not change is not read.

        Args:
            link: compute the new pairs at the end; else the first question that needs them does.
            wait: for another ingest into the same SQLite file to end.

        Raises: IndexBusy: another ingest runs; PathMissing, NothingToRead, PruneRefused, StoreError: what was
            committed before stays.
        """
        given = options or IngestOptions()
        options = replace(given, read=self._suited(given.read), exclude=given.exclude | self._store.files)
        started = time.monotonic()
        with self._store.sole_ingest(wait), self._run("ingest", options.collection) as run_key:
            ingestion = Ingestion(self._store, run_key, options, self._progress)
            ingestion.ingest(paths)
            num_pairs = self._link(run_key) if link else 0
        return IngestReport(run_key, ingestion.counts, ingestion.num_skipped, num_pairs, time.monotonic() - started)

    def add(self, added: Iterable[Document], collection: str = "default") -> IngestReport:
        """Adds or refreshes documents that a program has at hand; their `source` is not kept.

        Raises: BadDocument: a document does not suit the index; those of earlier transactions stay.
        """
        started, counts, iterator = time.monotonic(), Counts(), iter(added)
        with self._run("add", collection) as run_key:
            while batch := list(islice(iterator, ADDED_DOCUMENTS)):
                counts += self._add(batch, documents.Place(run_key, collection, {}))
            num_pairs = self._link(run_key)
        return IngestReport(run_key, counts, 0, num_pairs, time.monotonic() - started)

    def remove(self, doc_ids: Iterable[str], collection: str = "default") -> int:
        """Removes documents, and the contents and pairs that only they held. Returns: how many documents.

        Raises: DocumentUnknown: one of them is not there; nothing of its transaction is removed.
        """
        removed, iterator = 0, iter(dict.fromkeys(doc_ids))
        with self._run("remove", collection) as run_key:
            while batch := list(islice(iterator, ADDED_DOCUMENTS)):
                removed += self._remove(batch, collection, run_key)
        return removed

    def link(self) -> int:
        """Computes the pairs of documents that were ingested without linking. Returns: pairs more than before."""
        return self._link(None)

    def pairs(self, min_sim: float | None = None, *, expand: bool = False) -> Iterator[Pair]:
        """Near-duplicate documents, in the order of their contents, exact copies first.

        Args:
            min_sim: the least similarity; the index's own by default.
            expand: every pair of documents; else a content with many documents is named by its first one, and
                its other documents are pairs (first, other, 1.0).

        Raises: BelowFloor: such pairs are not kept.
        """
        least = self._checked(min_sim)
        self._link_for_answer()
        with self._store.reading() as transaction:
            yield from (Pair(*row) for row in answers.pairs(transaction, least, expand=expand))

    def query(self, document: Document, min_sim: float | None = None) -> list[Match]:
        """The near-duplicates of a document that need not be in the index, the most similar first.

        Args: min_sim: the least similarity; the index's own by default. Below it, some are not found.
        Raises: BadDocument: the document does not suit the index.
        """
        least = self.params.min_sim if min_sim is None else min_sim
        with self._store.reading() as transaction:
            return matches(transaction, document, least, self.params)

    def query_file(
        self, path: str | Path, min_sim: float | None = None, options: ReadOptions | None = None
    ) -> list[Match]:
        """The near-duplicates of the one document in a file; ``-`` is standard input.

        Raises: PathMissing, SourceUnreadable; UsageError: the file holds many documents; and as `query`.
        """
        return self.query(only_document(path, self._suited(options or ReadOptions())), min_sim)

    def query_id(self, doc_id: str, min_sim: float | None = None, collection: str = "default") -> list[Match]:
        """The near-duplicates of a document of the index, itself left out.

        Raises: DocumentUnknown; BelowFloor.
        """
        least = self._checked(min_sim)
        self._link_for_answer()
        with self._store.reading() as transaction:
            is_there, content_key = answers.content_of(transaction, collection, doc_id)
            if not is_there:
                raise DocumentUnknown(doc_id=doc_id, collection=collection, url=self.url)
            rows = [] if content_key is None else answers.neighbours(transaction, content_key, least)
        return [Match(*row) for row in rows if row[0] != doc_id]

    def verify(self) -> VerifyReport:
        """Recomputes every pair exactly, in another pass over the texts, and stores what changed."""
        started = time.monotonic()
        self._link(None)
        outcome = Reverification(self._store, self._suited(ReadOptions()), self._progress).verify()
        return VerifyReport(outcome, time.monotonic() - started)

    def stats(self) -> Stats:
        """The figures of the index."""
        with self._store.reading() as transaction:
            figures, last = answers.figures(transaction), answers.runs(transaction, SHOWN_RUNS)
        return Stats(self.url, self.params, figures, tuple(last))

    def rejections(self, run: int) -> Iterator[Rejection]:
        """What a run could not ingest."""
        with self._store.reading() as transaction:
            yield from answers.rejections(transaction, run)

    @contextmanager
    def _run(self, verb: str, collection: str) -> Iterator[int]:
        with self._store.writing() as transaction:
            run_key = runs.begin(transaction, verb, collection, version("lshdb"))
        try:
            yield run_key
        except BaseException as error:
            state = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
            # Where the database itself is gone, the first error is the one to hear; the run stays "running".
            with suppress(StoreError):
                self._finish(run_key, state)
            raise
        self._finish(run_key, "finished")

    def _finish(self, run_key: int, state: str) -> None:
        with self._store.writing() as transaction:
            runs.finish(transaction, run_key, state)

    def _link(self, run_key: int | None) -> int:
        return Linking(self._store, run_key, self._progress).link()

    def _link_for_answer(self) -> None:
        """Links what is not linked yet; an index that another process is writing to is answered from as it is."""
        with self._store.reading() as transaction:
            num_unlinked = graph.num_unlinked(transaction)
        if not num_unlinked:
            return
        try:
            if not self._store.is_locked():
                self._link(None)
                return
        except (IndexBusy, AccessDenied):
            pass  # A role that may only read, or a writer that came first.
        self._progress.noticed(f"{num_unlinked} contents are not linked yet and are missing from this answer")

    def _add(self, batch: Sequence[Document], place: documents.Place) -> Counts:
        sketches = sketch(batch, self.params)
        with self._store.writing() as transaction:
            outcome = documents.put(transaction, batch, sketches, place)
            retire(transaction, outcome.released, self.params)
            counts = Counts(
                num_added=outcome.num_added,
                num_updated=outcome.num_updated,
                num_unchanged=outcome.num_unchanged,
                num_empty=int((sketches.num_shingles == 0).sum()),
                num_contents=outcome.num_contents,
            )
            runs.record(transaction, place.run_key, counts)
        return counts

    def _remove(self, doc_ids: Sequence[str], collection: str, run_key: int) -> int:
        with self._store.writing() as transaction:
            keys = []
            for doc_id in doc_ids:
                found = answers.doc_keys(transaction, collection, doc_id)
                if not found:
                    raise DocumentUnknown(doc_id=doc_id, collection=collection, url=self.url)
                keys += found
            retire(transaction, documents.remove(transaction, keys), self.params)
            runs.record(transaction, run_key, Counts(num_removed=len(keys)))
        return len(keys)

    def _suited(self, options: ReadOptions) -> ReadOptions:
        """The options with what the index decides: the text of a page, and texts or sets."""
        return replace(options, html=self.params.html, kind=self.params.shingling.kind)

    def _checked(self, min_sim: float | None) -> float:
        least = self.params.min_sim if min_sim is None else min_sim
        if least < self.params.floor:
            raise BelowFloor(min_sim=least, floor=self.params.floor)
        return least
