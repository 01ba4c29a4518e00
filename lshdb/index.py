"""The index: the only door between an index and the people and programs that use it."""

from __future__ import annotations

import time
import traceback
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, Final, Self, TextIO

from lshdb.answers.contamination import Nearest, nearest
from lshdb.answers.explain import Explaining, Explanation
from lshdb.answers.hot_buckets import Hottest, hottest
from lshdb.answers.query import Match, matches, only_document
from lshdb.audit import Auditing, Thoroughness
from lshdb.audit.repair import Repairing
from lshdb.audit.verify import Reverification, Scope
from lshdb.clusters.arrange import Clusters
from lshdb.clusters.clusters import ClusterOptions, Deduplication
from lshdb.clusters.export import Exporting, ExportOptions, ExportReport
from lshdb.clusters.members import Cluster, Member, members, named
from lshdb.errors import (
    AccessDenied,
    BelowFloor,
    DocumentUnknown,
    IndexBusy,
    IndexExists,
    ParamsMismatch,
    StoreError,
    UsageError,
)
from lshdb.ingest.ingestion import Ingestion, IngestOptions
from lshdb.ingest.write import add_documents, remove_documents
from lshdb.linking.link import Linking
from lshdb.model.banding import DEFAULT_RECALL
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.reports import IngestReport, Measurement, Outlook, Pair, RebandReport, Stats, Upgrade, VerifyReport
from lshdb.model.values import Counts, Document, Rejection
from lshdb.readers import ReadOptions
from lshdb.store import interrupts, whole
from lshdb.store.store import Store
from lshdb.store.tables import answers, collected, graph, measurements, runs, sources
from lshdb.store.transaction import Transaction
from lshdb.store.whole import BackupReport, CopyReport, VacuumReport
from lshdb.tuning.choice import params_of
from lshdb.tuning.promises import rebanded, shortfall, similarities_of
from lshdb.tuning.reband import Rebanding
from lshdb.tuning.recall import Measuring

__all__ = ["Index"]

# Documents of `add` and `remove` that go into one transaction.
ADDED_DOCUMENTS: Final = 5_000

SHOWN_RUNS: Final = 5
SHOWN_SOURCES: Final = 5


class Index:
    """A near-duplicate index in a SQLite file or a Postgres database.

    ::

        with Index.open("crawl.db") as index:
            index.ingest(["./crawl"])
            for pair in index.pairs(min_sim=0.8):
                print(pair.left, pair.right, pair.similarity)

    Args: url: a SQLAlchemy URL or a plain path. progress: hears of long work.
    """

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
        store = Store.create(url, params_of(chosen), version("lshdb"))
        for name, given in chosen.items():
            stored = getattr(store.params, name)
            # Bands are whole: an index promises more than was asked for.
            if stored < given if name == "recall" else stored != given:
                store.close()
                raise ParamsMismatch(url=store.url, name=f"--{name.replace('_', '-')}", stored=stored, given=given)
        return cls(store, progress)

    @staticmethod
    def upgrade(url: str, *, dry_run: bool = False) -> Upgrade:
        """Brings an index to the schema of this version; a SQLite file is copied before.

        Args: dry_run: roll it back, and return its SQL.
        """
        with Store.at(url) as store:
            return whole.rehearse(store) if dry_run else whole.perform(store)

    @staticmethod
    def backup(url: str, path: str | Path, *, force: bool = False, progress: Progress | None = None) -> BackupReport:
        """Copies a SQLite index, of whatever revision, to a file, while others use and write it.

        Args: force: write over a file that is there.
        Raises: OutputExists, OutputFailed; IndexDamaged; UsageError: the index is in Postgres.
        """
        with Store.at(url) as store:
            return whole.back_up(store, Path(path), progress or Progress(), force=force)

    def copy(self, url: str) -> CopyReport:
        """Copies the index, as it is at this moment, to a place without one, and compares both.

        Raises: IndexExists, NotAnIndex: something is there; CopyDiffers; OutputFailed.
        """
        return whole.copy_to(self._store, url, self._progress)

    def vacuum(self, *, full: bool = False) -> VacuumReport:
        """Gives up the space that nothing takes any more.

        Args: full: on Postgres, give it back to the system too, while nobody can use the index.
        Raises: IndexBusy: an ingest runs.
        """
        return whole.vacuum(self._store, full=full)

    def __init__(self, store: Store, progress: Progress | None = None) -> None:
        self._store = store
        self._progress = progress or Progress()
        store.noticed = self._progress.noticed

    def __enter__(self) -> Self:
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
        return IngestReport(
            run=run_key,
            counts=ingestion.counts,
            num_skipped=ingestion.num_skipped,
            pairs_added=num_pairs,
            seconds=time.monotonic() - started,
            num_displaced=ingestion.num_displaced,
            rejected_by_reason=ingestion.reasons.as_dict(),
        )

    def add(self, added: Iterable[Document], collection: str = "default", *, link: bool = True) -> IngestReport:
        """Adds or refreshes documents that a program has at hand; their `source` is not kept.

        Args: link: compute the new pairs at the end; else the first question that needs them does.
        Raises: BadDocument: a document does not suit the index; those of earlier transactions stay.
        """
        started, counts, iterator = time.monotonic(), Counts(), iter(added)
        with self._run("add", collection) as run_key:
            while batch := list(islice(iterator, ADDED_DOCUMENTS)):
                counts += add_documents(self._store, batch, run_key, collection)
            num_pairs = self._link(run_key) if link else 0
        return IngestReport(run_key, counts, 0, num_pairs, time.monotonic() - started)

    def remove(self, doc_ids: Iterable[str], collection: str = "default") -> int:
        """Removes documents, and the contents and pairs that only they held. Returns: how many documents.

        Raises: DocumentUnknown: one of them is not there; nothing of its transaction is removed.
        """
        removed, iterator = 0, iter(dict.fromkeys(doc_ids))
        with self._run("remove", collection) as run_key:
            while batch := list(islice(iterator, ADDED_DOCUMENTS)):
                removed += remove_documents(self._store, batch, run_key, collection)
        return removed

    def link(self) -> int:
        """Computes the pairs of documents that were ingested without linking. Returns: pairs more than before."""
        return self._link(None)

    def verify(self, scope: Scope | None = None) -> VerifyReport:
        """Recomputes stored pairs exactly, in another pass over the texts, and stores what changed.

        Args: scope: which pairs; all by default.
        """
        self._link(None)
        options = self._suited(ReadOptions())
        return Reverification(self._store, options, self._progress, scope or Scope()).verify()

    def reband(self, min_sim: float, recall: float = DEFAULT_RECALL, *, wait: bool = False) -> RebandReport:
        """Gives the index bands that find a pair at `min_sim` with probability `recall`, from its signatures alone.

        The old bands answer until the new ones take over; then all contents are linked anew. Broken off, the same
        call goes on.

        Raises: PromiseUnreachable: the signatures have too few minima; IndexBusy: an ingest or another reband runs.
        """
        started, before = time.monotonic(), self.params
        with self._store.sole_ingest(wait):
            with self._store.reading() as snapshot:
                similarities = similarities_of(snapshot)
                wanted = rebanded(before, min_sim, recall, similarities)
            with self._run("reband", "default") as run_key:
                Rebanding(self._store, wanted, self._progress).reband()
                self._link(run_key)
        with self._store.reading() as snapshot:
            num_pairs = graph.num_pairs(snapshot)
        return RebandReport(run_key, before, self.params, num_pairs, time.monotonic() - started)

    def measure(self, num_probes: int | None = None, seed: int = 1) -> Measurement:
        """Measures recall and similarities on a sample of the index's own contents, and keeps what was measured.

        Args: num_probes: contents that are compared with all others; by default as many as are worth their time.
        """
        self._link(None)
        with self._run("tune", "default") as run_key:
            return Measuring(self._store, run_key, self._progress).measure(num_probes, seed)

    def repair(self, kinds: Collection[str], *, wait: bool = False) -> None:
        """Mends what can be derived where an audit has found faults of these kinds, and links anew what has to be.

        Args: wait: for an ingest into the same SQLite file to end.
        Raises: IndexBusy: an ingest runs; StoreError: what was committed before stays.
        """
        with self._store.sole_ingest(wait):
            Repairing(self._store, kinds, self._progress).repair()

    def collections(self) -> list[str]:
        """The collections that have documents, in the order of their names."""
        with self._store.reading() as transaction:
            return collected.names(transaction)

    def pairs(
        self,
        min_sim: float | None = None,
        *,
        expand: bool = False,
        between: tuple[str, str] | None = None,
        within: str | None = None,
    ) -> Iterator[Pair]:
        """Near-duplicate documents, in the order of their contents, exact copies first.

        Args:
            min_sim: the least similarity; the index's own by default.
            expand: every pair of documents; else a content with many documents is named by its first one, and
                its other documents are pairs (first, other, 1.0).
            between: two collections, of which the left document is in the one and the right document in the other;
                each content is named by its first document in either.
            within: the collection that both documents are in; a content is named by its first document there.

        Raises: BelowFloor: such pairs are not kept; CollectionUnknown; UsageError: `between` names one collection
            twice, or is given with `within`.
        """
        if between is not None and (within is not None or between[0] == between[1]):
            raise UsageError(reason="--between takes two different collections; --within is for pairs inside of one")
        least = self._checked(min_sim)
        self._link_for_answer()
        with self._store.reading() as transaction:
            collected.require(transaction, self.url, *(between or ()), *([within] if within is not None else ()))
            if between is None:
                rows = answers.pairs(transaction, least, expand=expand, within=within)
            else:
                rows = answers.pairs_between(transaction, least, *between, expand=expand)
            yield from (Pair(*row) for row in rows)

    def contaminated(self, train: str, test: str, min_sim: float | None = None) -> Iterator[Nearest]:
        """Every document of the collection `test`, by its id, with the document nearest to it in `train`, if any.

        Args: min_sim: the least similarity; the index's own by default.
        Raises: BelowFloor; CollectionUnknown; UsageError: the two are one.
        """
        if train == test:
            raise UsageError(reason="--train and --test are one collection; `lshdb dupes --within` lists its pairs")
        least = self._checked(min_sim)
        self._link_for_answer()
        with self._store.reading() as transaction:
            collected.require(transaction, self.url, train, test)
            yield from nearest(transaction, train, test, least, self.params)

    def clusters(self, min_sim: float | None = None, options: ClusterOptions | None = None) -> Iterator[Cluster]:
        """The clusters of near-duplicates, the largest first, each with the document that is kept for it.

        Args: min_sim: the least similarity; the index's own by default.
        Raises: BelowFloor; CollectionUnknown; UsageError: a pattern of `options.prefer` is none.
        """
        with self._clustered(min_sim, options or ClusterOptions()) as (snapshot, found):
            yield from named(snapshot, found)

    def members(self, min_sim: float | None = None, options: ClusterOptions | None = None) -> Iterator[Member]:
        """`clusters`, document by document, each with its similarity to the one that is kept; the kept one first."""
        with self._clustered(min_sim, options or ClusterOptions()) as (snapshot, found):
            yield from members(snapshot, found, self.params)

    def export(
        self, out: str | Path | TextIO, min_sim: float | None = None, options: ExportOptions | None = None
    ) -> ExportReport:
        """Writes the deduplicated corpus, and an account of what was dropped from it, to files (or a text stream).

        Raises: OutputExists, OutputFailed; TextsNotKept: records of an index without texts; and as `clusters`.
        """
        chosen, least = options or ExportOptions(), self._checked(min_sim)
        target = Path(out) if isinstance(out, str) else out
        exporting = Exporting(self._store, least, chosen, target, self._progress)
        with self._answering(chosen.clusters.within) as snapshot:
            return exporting.export(snapshot)

    def query(self, document: Document, min_sim: float | None = None) -> list[Match]:
        """The near-duplicates of a document that need not be in the index, the most similar first.

        Args: min_sim: the least similarity; the index's own by default. Below it, some are not found.
        Raises: BadDocument: the document does not suit the index.
        """
        least = self._asked(min_sim)
        self._warn(least)
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
        found = [Match(*row) for row in rows]
        return [match for match in found if (match.id, match.collection) != (doc_id, collection)]

    def explain(
        self,
        left: str,
        right: str,
        collections: tuple[str, str] = ("default", "default"),
        options: ReadOptions | None = None,
        *,
        files: bool = False,
        with_diff: bool = True,
    ) -> Explanation:
        """Why two documents are a pair, or are none; either is an id, else a file, ``-`` for standard input.

        Args:
            collections: where to look for the left and the right id.
            files: both are files, even where documents have these ids.
            with_diff: find out which words differ.

        Raises: DocumentUnknown: a name is neither; PathMissing, SourceUnreadable, BadDocument; UsageError: a file
            holds many documents.
        """
        explaining = Explaining(self._store, self._suited(options or ReadOptions()), files=files)
        return explaining.explain((left, right), collections, with_diff=with_diff)

    def stats(self) -> Stats:
        """The figures of the index."""
        with self._store.reading() as transaction:
            # The runs first: whether one still goes on is asked of the system, and must be of the same moment.
            last, figures = answers.runs(transaction, SHOWN_RUNS), answers.figures(transaction)
            sizes = collected.sizes(transaction)
            num_unfinished, unfinished = sources.half_read(transaction, SHOWN_SOURCES)
            measured = measurements.last(transaction)
        return Stats(self.url, self.params, figures, tuple(last), sizes, num_unfinished, tuple(unfinished), measured)

    def hottest(self, count: int) -> list[Hottest]:
        """The largest buckets, with documents in them."""
        with self._store.reading() as transaction:
            return hottest(transaction, self.params, count)

    def outlook(self) -> Outlook:
        """What is known of the index's contents for tuning it."""
        with self._store.reading() as snapshot:
            similarities, measured = similarities_of(snapshot), measurements.last(snapshot)
        return Outlook(self.params, similarities, measured, self._store.dialect.sizes)

    def rejections(self, run: int) -> Iterator[Rejection]:
        """What a run could not ingest."""
        with self._store.reading() as transaction:
            yield from answers.rejections(transaction, run)

    def check(self, thoroughness: Thoroughness | None = None) -> Auditing:
        """An audit of everything in the index: iterate over it for its faults, each named by its kind."""
        return Auditing(self._store, thoroughness or Thoroughness(), self._progress)

    @contextmanager
    def _answering(self, within: str | None) -> Iterator[Transaction]:
        """A snapshot in which all is linked. Raises: CollectionUnknown: nothing is in the collection `within`."""
        self._link_for_answer()
        with self._store.reading() as snapshot:
            if within is not None:
                collected.require(snapshot, self.url, within)
            yield snapshot

    @contextmanager
    def _clustered(self, min_sim: float | None, options: ClusterOptions) -> Iterator[tuple[Transaction, Clusters]]:
        least = self._checked(min_sim)
        with self._answering(options.within) as snapshot:
            found = Deduplication(snapshot, self.params, least, options, self._progress).clusters()
            self._progress.done()
            yield snapshot, found

    @contextmanager
    def _run(self, verb: str, collection: str) -> Iterator[int]:
        # Done twice, it leaves the record of a run that did nothing.
        run_key = self._store.write(lambda transaction: runs.begin(transaction, verb, collection, version("lshdb")))
        try:
            yield run_key
            self._store.write(lambda transaction: runs.finish(transaction, run_key, "finished"))
        except BaseException as error:
            state = "interrupted" if isinstance(error, KeyboardInterrupt) else "failed"
            interrupts.heard()
            # An interrupt between the begin of a transaction and its block leaves it open, held by the frames.
            traceback.clear_frames(error.__traceback__)
            # Where the database itself is gone, the first error is the one to hear; the run stays "running".
            with suppress(StoreError), self._store.writing() as transaction:
                runs.finish(transaction, run_key, state)
            raise

    def _link(self, run_key: int | None, *, wait: bool = True) -> int:
        return Linking(self._store, run_key, self._progress).link(wait=wait)

    def _link_for_answer(self) -> None:
        """Links what is not linked yet; an index that another process is writing to is answered from as it is."""
        with self._store.reading() as transaction:
            num_unlinked = graph.num_unlinked(transaction)
        if not num_unlinked:
            return
        try:
            if not self._store.is_locked():
                self._link(None, wait=False)
                return
        except (IndexBusy, AccessDenied):
            pass  # A role that may only read, or a writer that came first.
        self._progress.noticed(f"{num_unlinked} contents are not linked yet and are missing from this answer")

    def _suited(self, options: ReadOptions) -> ReadOptions:
        """The options with what the index decides: the text of a page, and texts or sets."""
        return replace(options, html=self.params.html, kind=self.params.shingling.kind)

    def _checked(self, min_sim: float | None) -> float:
        least = self._asked(min_sim)
        if least < self.params.floor:
            raise BelowFloor(min_sim=least, floor=self.params.floor)
        self._warn(least)
        return least

    def _asked(self, min_sim: float | None) -> float:
        return self.params.min_sim if min_sim is None else min_sim

    def _warn(self, min_sim: float) -> None:
        """Says so where a question goes beyond what the index promises."""
        if (said := shortfall(self.params, min_sim, self.url)) is not None:
            self._progress.noticed(said)
