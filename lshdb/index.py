"""The class `Index`, through which people and programs use an index.

Each method checks its arguments, calls the package that does the work, and returns a value of `lshdb.model` or of that
package. It imports that package itself, because importing all of them takes a third of the time of a short command.
Nothing here knows SQL.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Self, TextIO, TypeAlias, TypeVar

from lshdb.errors import (
    BadDocument,
    BelowFloor,
    DocumentUnknown,
    IndexNotEmpty,
    ParamsMismatch,
    PassagesMissing,
    UsageError,
)
from lshdb.model import arguments
from lshdb.model.arguments import Documents, Names, Paths, Place, Sides
from lshdb.model.banding import DEFAULT_RECALL
from lshdb.model.choices import MIN_CONTAINMENT, FaultKind, PairOrder
from lshdb.model.params import Params, check_choice
from lshdb.model.progress import Progress
from lshdb.model.reports import IngestReport
from lshdb.model.values import Counts, Document, Rejection, unstorable
from lshdb.sketch.kernels.announcement import announce_to
from lshdb.store.dialect import INGEST
from lshdb.store.merging import Merging
from lshdb.store.running import recorded_run
from lshdb.store.store import Store
from lshdb.store.tables import answers, collections, inspection
from lshdb.store.tables.answers import Chosen
from lshdb.store.transaction import Transaction

if TYPE_CHECKING:
    from lshdb.answers.captures import Capture
    from lshdb.answers.contamination import Nearest
    from lshdb.answers.explain import Explanation
    from lshdb.answers.hot_buckets import Hottest
    from lshdb.answers.many import Answer
    from lshdb.answers.pairs import Listed
    from lshdb.answers.query import Arrival, Match
    from lshdb.audit import Auditing, Thoroughness
    from lshdb.audit.verify import Scope
    from lshdb.clusters.arrange import Clusters
    from lshdb.clusters.catalogue import Catalogue
    from lshdb.clusters.clusters import ClusterOptions
    from lshdb.clusters.export import ExportOptions, ExportReport
    from lshdb.clusters.members import Cluster, Member
    from lshdb.clusters.rows.options import DeletionReport, FilterOptions, FilterReport
    from lshdb.ingest.buffer import Buffer
    from lshdb.ingest.ingest import Ingestion
    from lshdb.ingest.options import IngestOptions
    from lshdb.model.decisions import Decision, DecisionsReport
    from lshdb.model.overlap import Overlap, OverlapOptions
    from lshdb.model.passages import Boilerplate, Contained, Containing, Passage
    from lshdb.model.reports import Measurement, Pair, RunRow, Stats
    from lshdb.model.upkeep import (
        BackupReport,
        CopyReport,
        Outlook,
        PassagesReport,
        RebandReport,
        Upgrade,
        VacuumReport,
        VerifyReport,
    )
    from lshdb.readers import ReadOptions

__all__ = ["Index"]

_Row = TypeVar("_Row")

# The run of the documents that a thread or a buffer adds to each collection, and when it began.
_SmallRuns: TypeAlias = dict[str, tuple[int, float]]

# Documents of `add` and `remove` that go into one transaction.
ADDED_DOCUMENTS: Final = 5_000

# Documents expire by the start of the run that saw them last, so a run of single documents must not last for days.
SMALL_RUN_SECONDS: Final = 600.0

STAY_REMOVED: Final = (
    "the next ingest does not bring these documents back unless their files change; with --forget-source it does"
)


class Index:
    """A near-duplicate index in a SQLite file or a Postgres database.

    ::

        with Index.ensure("crawl.db") as index:
            index.ingest(["./crawl"])
            for pair in index.pairs(min_sim=0.8):
                print(pair.left, pair.right, pair.similarity)

    Get one from `open`, `create` or `ensure`; close it, or use it in a ``with`` statement. Methods check their
    arguments when they are called. Those that return pairs first link the documents that are not linked yet. An
    iterator reads one snapshot of the index: it keeps a read transaction open until it is exhausted or closed.
    """

    def __init__(self, store: Store, progress: Progress | None = None) -> None:
        self._store = store
        self._progress = progress or Progress()
        # Each thread has its own: if two changed the counts of a run, a repeated transaction could go unnoticed.
        self._small_runs = threading.local()
        store.noticed = self._progress.noticed
        announce_to(self._progress.busy)

    @classmethod
    def open(cls, url: Place, progress: Progress | None = None, *, read_only: bool = False) -> Index:
        """Open an existing index.

        Args:
            url: a SQLAlchemy URL, or a plain path for SQLite.
            progress: receives reports about long work.
            read_only: let the database refuse every write. Documents that are not linked yet are then missing from
                answers.

        Raises: IndexMissing, NotAnIndex, IndexOutdated, IndexTooNew, StoreUnreachable, AccessDenied.
        """
        return cls(Store.open(arguments.place(url), reads_only=read_only), progress)

    @classmethod
    def create(
        cls, url: Place, params: Params | Mapping[str, Any] | None = None, progress: Progress | None = None
    ) -> Index:
        """Create an empty index.

        Args: params: all parameters, or those that differ from the defaults; bands and rows follow from ``min_sim`` and
            ``recall``.
        Raises: IndexExists: there is one already; InvalidParams, and as `open`.
        """
        from lshdb.tuning.choice import params_of

        made = params if isinstance(params, Params) else params_of(arguments.params(params))
        return cls(Store.create(arguments.place(url), made, version("lshdb")), progress)

    @classmethod
    def ensure(cls, url: Place, chosen: Mapping[str, Any] | None = None, progress: Progress | None = None) -> Index:
        """Open an index, and create it if there is none.

        Args: chosen: parameters that the index must have; a new index takes defaults for the others, and an index
            without documents takes the chosen ones.
        Raises: ParamsMismatch: the index was created with other parameters; InvalidParams, and as `open`.
        """
        from lshdb.tuning.choice import params_of

        given = arguments.params(chosen)
        store = Store.ensure(arguments.place(url), params_of(given), version("lshdb"))
        try:
            _agree(store, given)
        except BaseException:
            store.close()
            raise
        return cls(store, progress)

    @staticmethod
    def upgrade(url: Place, *, dry_run: bool = False, progress: Progress | None = None) -> Upgrade:
        """Bring an index to the schema of this version. A SQLite file is copied first.

        Then the digests of an older index, which can be forged, are replaced. If this is interrupted, the same call
        continues it.

        Args: dry_run: roll the upgrade of the schema back, and return its SQL.
        """
        from lshdb.audit.digests import renew_digests
        from lshdb.store import whole

        location = arguments.place(url)
        with Store.at(location) as store:
            done = whole.rehearse(store) if dry_run else whole.perform(store)
        if dry_run:
            return done
        with Store.open(location) as store:
            return replace(done, digests=renew_digests(store, progress or Progress()))

    @staticmethod
    def backup(url: Place, path: str | Path, *, force: bool = False, progress: Progress | None = None) -> BackupReport:
        """Copy a SQLite index of any revision to a file, while others use it and write to it.

        Args: force: overwrite an existing file.
        Raises: OutputExists, OutputFailed, IndexDamaged; UsageError: the index is in Postgres.
        """
        from lshdb.store import whole

        with Store.at(arguments.place(url)) as store:
            return whole.back_up(store, arguments.path(path), progress or Progress(), force=force)

    def copy(self, url: Place) -> CopyReport:
        """Copy a snapshot of the index to a URL or path that has none yet, and compare both.

        Raises: IndexExists, NotAnIndex: the destination is not empty; CopyDiffers, OutputFailed.
        """
        from lshdb.store import whole

        return whole.copy_to(self._store, arguments.place(url), self._progress)

    def vacuum(self, *, full: bool = False) -> VacuumReport:
        """Free the space of removed documents.

        Args: full: on Postgres, return the space to the system; nobody can use the index meanwhile.
        Raises: IndexBusy: another process is writing.
        """
        from lshdb.store import whole

        return whole.vacuum(self._store, full=full)

    def close(self) -> None:
        """Close the database. An answer that is not read to its end raises UsageError at its next step."""
        self._progress.done()
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        params = self.params
        return f"<Index {self.url!r}: {params.shingle}, {params.bands} bands of {params.rows} rows>"

    def __bool__(self) -> bool:
        # An index without documents is as open as any other.
        return True

    def __len__(self) -> int:
        """Return the number of documents of all collections."""
        return self._store.read(inspection.num_documents)

    def __contains__(self, doc_id: object) -> bool:
        """Return whether the collection ``default`` has a document with this id."""
        if not isinstance(doc_id, str) or unstorable(doc_id):
            return False
        from lshdb.store.tables import locators

        return bool(self._store.read(partial(locators.doc_keys, collection="default", doc_ids=[doc_id])))

    @property
    def url(self) -> str:
        """Where the index is, without a password."""
        return self._store.url

    @property
    def params(self) -> Params:
        """The parameters that the index was created with."""
        return self._store.params

    def ingest(
        self,
        paths: Paths,
        options: IngestOptions | None = None,
        *,
        link: bool = True,
        wait: bool = False,
    ) -> IngestReport:
        """Add or refresh documents from files and folders; unchanged files are not read.

        Args:
            paths: a file or folder, or several.
            link: compute the new pairs at the end; otherwise the first question that needs them does.
            wait: wait until another ingest into the same SQLite file has finished.

        Raises: IndexBusy: another process is writing; PathMissing, NothingToRead, TooManyRejected, PruneRefused,
            IdConflict, StoreError: everything committed before is kept.
        """
        from lshdb.ingest.ingest import Ingestion
        from lshdb.ingest.options import IngestOptions

        named, given = arguments.paths(paths), arguments.options(options, IngestOptions)
        options = replace(given, read=given.read.suited(self.params), exclude=given.exclude | self._store.files)
        started = time.monotonic()
        with self._store.sole_work(INGEST, wait), recorded_run(self._store, "ingest", options.collection) as run_key:
            ingestion = Ingestion(self._store, run_key, options, self._progress)
            ingestion.ingest(named)
            num_pairs = self._link(run_key) if link else 0
        return _report(run_key, ingestion, num_pairs, started)

    def load(self, folder: str | Path, collection: str = "default", *, pairs: bool = True) -> IngestReport:
        """Fill an empty index from a work folder of `lshdb.spark`, as an ingest of the same files would have filled it.

        The index gets the parameters of the folder. Later ingests continue it.

        Args: pairs: load the pairs, too; otherwise the first question for pairs computes them.
        Raises: IndexNotEmpty; FolderUnusable: the folder is not complete; IndexBusy: another process is writing.
        """
        from lshdb.stages.folder import WorkFolder
        from lshdb.stages.load import load_documents, load_pairs

        work, started = WorkFolder(arguments.path(folder)), time.monotonic()
        name = arguments.collection_name(collection)
        work.require("sketches", *(["contents", "occurrences", "pairs"] if pairs else []))
        with self._store.sole_work("a load", wait=False):
            if not self._store.replace_params(work.params):
                raise IndexNotEmpty(url=self.url)
            with recorded_run(self._store, "load", name) as run_key:
                ingestion = load_documents(self._store, work, run_key, name, self._progress)
                num_pairs = load_pairs(self._store, work, run_key, self._progress) if pairs else 0
        return _report(run_key, ingestion, num_pairs, started)

    def add(self, added: Documents, collection: str = "default", *, link: bool = True) -> IngestReport:
        """Add or refresh a document, or several, from memory; their `source` is not stored.

        Single documents that one thread adds within ten minutes belong to one run.

        Args: link: compute the new pairs at the end; otherwise the first question that needs them does.
        Raises: BadDocument: an id or a text is unusable, or does not fit the index; UsageError: an element is not a
            Document. Documents of earlier transactions are kept.
        """
        runs = vars(self._small_runs) if isinstance(added, Document) else None
        return self._add(arguments.documents(added), arguments.collection_name(collection), link, runs)

    def buffered(
        self, size: int = 1_000, seconds: float = 5.0, collection: str = "default", *, link: bool = False
    ) -> Buffer:
        """Return a buffer for documents that arrive individually; use it in a ``with`` statement.

        ::

            with index.buffered(size=500, seconds=2.0) as buffer:
                buffer.add(Document("a", "a text"))

        The buffer adds its documents when it holds `size` of them, `seconds` after the first one arrived, at `flush`,
        and at the end of the block. From then on they are durable. If the process is killed, it loses the documents
        still in the buffer.

        Args: link: compute the new pairs each time; otherwise the first question that needs them does.
        """
        from lshdb.ingest.buffer import Buffer

        arguments.count("size", size)
        arguments.seconds(seconds, threading.TIMEOUT_MAX)
        arguments.collection_name(collection)
        # A buffer has its own: it adds from any thread, one batch at a time.
        runs: _SmallRuns = {}
        return Buffer(lambda held: self._add(iter(held), collection, link, runs), self.params, size, seconds)

    def _add(self, added: Iterator[Document], collection: str, link: bool, runs: _SmallRuns | None) -> IngestReport:
        from lshdb.ingest.write import add_documents

        merging, started = Merging(self._store), time.monotonic()
        counts, num_pairs, is_linked = Counts(), 0, False
        with (
            recorded_run(self._store, "add", collection) if runs is None else self._adding(runs, collection) as run_key
        ):
            while batch := list(islice(added, ADDED_DOCUMENTS)):
                added_counts, new_pairs = add_documents(self._store, batch, run_key, collection, link=link)
                counts += added_counts
                num_pairs += new_pairs or 0
                is_linked = new_pairs is not None
                # A single document does not wait for a merge.
                if len(batch) > 1:
                    merging.advance()
            if link and not is_linked:
                num_pairs += self._link(run_key)
        return IngestReport(run_key, counts, 0, num_pairs, time.monotonic() - started)

    @contextmanager
    def _adding(self, runs: _SmallRuns, collection: str) -> Iterator[int]:
        """Yield the run of the small additions of a thread or a buffer; a new one every ten minutes."""
        run_key, since = runs.get(collection, (0, -math.inf))
        if time.monotonic() - since < SMALL_RUN_SECONDS:
            yield run_key
            return
        since = time.monotonic()
        with recorded_run(self._store, "add", collection) as run_key:
            yield run_key
        runs[collection] = (run_key, since)

    def put(
        self,
        document: Document,
        min_sim: float | None = None,
        collection: str = "default",
        *,
        only_new: bool = False,
    ) -> Arrival:
        """Add or refresh one document, and return its near-duplicates in the index, the most similar first.

        Those that somebody decided to be different from it are left out. Both steps are one transaction: of two
        near-duplicates that arrive at the same time, one finds the other.

        ::

            if index.put(Document("a", "a text"), only_new=True).outcome == "refused":
                print("there is a near-duplicate")

        Args:
            min_sim: the least similarity; the index's own by default.
            only_new: do not add it if it has a near-duplicate.

        Raises: BadDocument: an id or a text is unusable, or does not fit the index; StoreError.
        """
        from lshdb.answers.query import Arrival, matches
        from lshdb.ingest.write import add_document
        from lshdb.sketch.sketch import require_fit
        from lshdb.store.tables import decisions

        added, least = arguments.document(document), self._warned(self._asked(min_sim))
        require_fit(added, self.params)

        def meet(transaction: Transaction) -> list[Match]:
            left_out = decisions.apart_from(transaction, (collection, added.doc_id)) | {(collection, added.doc_id)}
            found = matches(transaction, added, least, self.params)
            return [match for match in found if (match.collection, match.id) not in left_out]

        with self._adding(vars(self._small_runs), arguments.collection_name(collection)) as run_key:
            counts, met = add_document(self._store, added, run_key, collection, meet, only_new=only_new)
        if counts == Counts():
            return Arrival("refused", tuple(met))
        return Arrival("added" if counts.num_added else "updated" if counts.num_updated else "unchanged", tuple(met))

    def remove(self, doc_ids: Names, collection: str = "default", *, forget_sources: bool = False) -> int:
        """Remove a document, or several, and the texts and pairs that only they had. Returns: their number.

        Args:
            doc_ids: ids, documents, or paths of files that were ingested under their absolute names.
            forget_sources: let the next ingest read their files again, which brings the documents back. Otherwise it
                does so only if the files change. The path of a file or folder that was ingested then means that all its
                files are read again; its documents stay.

        Raises: DocumentUnknown: one of them does not exist; its transaction removes nothing.
        """
        from lshdb.ingest.removal import remove_documents
        from lshdb.readers import source_at

        number, sources, iterator = 0, set[str](), iter(dict.fromkeys(arguments.names(doc_ids)))
        with recorded_run(self._store, "remove", arguments.collection_name(collection)) as run_key:
            while batch := list(islice(iterator, ADDED_DOCUMENTS)):
                removed = remove_documents(self._store, batch, run_key, collection, forget_sources=forget_sources)
                number += removed.number
                sources.update(removed.sources)
        if not forget_sources and any(source_at(uri) is not None for uri in sources):
            self._progress.noticed(STAY_REMOVED)
        return number

    def remove_collection(self, collection: str) -> int:
        """Remove all documents of a collection. Returns: their number.

        The next ingest into the collection reads its files again, even those that have not changed.

        Raises: CollectionUnknown: the collection has no documents; IndexBusy: another process is writing.
        """
        from lshdb.ingest.removal import remove_collection

        name = arguments.collection_name(collection)
        with self._store.sole_work("a removal", wait=False), recorded_run(self._store, "remove", name) as run_key:
            return remove_collection(self._store, name, run_key, ADDED_DOCUMENTS)

    def meant(self, name: str, collection: str = "default") -> str:
        """Return the id of the document that a person means by a name.

        It is the name itself, or the absolute path of that name. If the collection has neither, this returns the name.
        """
        from lshdb.readers import meant_ids
        from lshdb.store.tables import locators

        arguments.document_name(name, collection)
        candidates = list(meant_ids(name))
        with self._store.reading() as snapshot:
            known = locators.doc_keys(snapshot, collection, candidates)
        return next((one for one in candidates if one in known), name)

    def link(self) -> int:
        """Compute the pairs of documents that were ingested without linking. Returns: how many pairs were added."""
        return self._link(None)

    def verify(self, scope: Scope | None = None) -> VerifyReport:
        """Recompute stored pairs exactly from the texts, and store the changed similarities.

        Args: scope: which pairs; all by default.
        """
        from lshdb.audit.verify import Reverification, Scope

        self._link(None)
        options = self._suited()
        return Reverification(self._store, options, self._progress, arguments.options(scope, Scope)).verify()

    def reband(self, min_sim: float, recall: float = DEFAULT_RECALL, *, wait: bool = False) -> RebandReport:
        """Give the index bands that find a pair at `min_sim` with probability `recall`, without reading documents.

        The old bands answer until the new ones replace them; then everything is linked again. If the call is
        interrupted, the same call continues it.

        Raises: PromiseUnreachable: the signatures are too short; IndexBusy: another process is writing.
        """
        from lshdb.tuning.reband import reband

        with self._store.sole_work("a reband", wait):
            return reband(self._store, min_sim, recall, self._progress)

    def build_passages(self, num_words: int = 13, *, wait: bool = False) -> PassagesReport:
        """Add an index of passages, by which every run of `num_words` words that two texts share is found.

        If the call is interrupted, the same call continues it. An index of passages of another length is replaced.

        Raises: InvalidParams: the index holds sets, or keeps no texts; IndexBusy: another process is writing.
        """
        from lshdb.passages.build import build

        with self._store.sole_work("an indexing of passages", wait):
            return build(self._store, num_words, self._progress)

    def drop_passages(self, *, wait: bool = False) -> None:
        """Drop the passage index. Raises: IndexBusy: another process is writing."""
        from lshdb.passages.build import drop

        with self._store.sole_work("a removal of passages", wait):
            drop(self._store)

    def measure(self, num_probes: int | None = None, seed: int = 1, seconds: float = 60.0) -> Measurement:
        """Measure recall and similarities on a sample of the index's own texts, and store the result.

        Args:
            num_probes: texts that are compared with all others; by default as many as it takes until both ends of the
                confidence interval are within 0.02 of the recall.
            seconds: stop sampling after this time, if `num_probes` is not given.
        """
        from lshdb.tuning.recall import Measuring

        arguments.limit("num_probes", num_probes)
        arguments.count("seed", seed, least=0)
        arguments.seconds(seconds, math.inf)
        self._link(None)
        with recorded_run(self._store, "tune") as run_key:
            return Measuring(self._store, run_key, self._progress).measure(num_probes, seed, seconds)

    def check(self, thoroughness: Thoroughness | None = None) -> Auditing:
        """Return an audit of everything in the index; iterate over it for the faults."""
        from lshdb.audit import Auditing, Thoroughness

        return Auditing(self._store, arguments.options(thoroughness, Thoroughness), self._progress)

    def repair(self, kinds: Collection[str], *, wait: bool = False) -> int:
        """Repair all faults of these kinds whose correct value can be derived, and link the affected documents again.

        Args:
            kinds: as the audit names them.
            wait: wait until an ingest into the same SQLite file has finished.

        Returns: the number of sources that the next ingest reads again, because their documents are wrong or missing.
        Raises: IndexBusy: another process is writing; StoreError: everything committed before is kept; UsageError.
        """
        from lshdb.audit.repair import Repairing

        named = arguments.several("kinds", kinds)
        for kind in named:
            check_choice("kinds", kind, FaultKind)
        with self._store.sole_work("a repair", wait):
            return Repairing(self._store, named, self._progress).repair()

    def get(self, doc_id: str, collection: str = "default") -> Document | None:
        """Return a stored document, or None if there is none with this id.

        Its text may differ from its file in case, punctuation and white space, if another document with the same words
        came first.

        Raises: TextsNotKept: the index keeps no texts.
        """
        from lshdb.answers.document import stored_document

        arguments.document_name(doc_id, collection)
        with self._store.reading() as snapshot:
            return stored_document(snapshot, doc_id, collection, self.params, self.url)

    def page(self, doc_id: str, html: str) -> Document:
        """Return the document of an HTML page, with its text as `ingest` takes it from a file.

        Raises: BadDocument: the page takes too much time or memory to parse.
        """
        from lshdb.readers.base import Unfit
        from lshdb.readers.extraction import page_text

        try:
            return Document(doc_id, page_text(arguments.html(html), self.params.html))
        except Unfit as error:
            raise BadDocument(source=f"document {doc_id!r:.100}", locator="", reason=str(error)) from None

    def collections(self) -> list[str]:
        """Return the collections that have documents, sorted by name."""
        return self._store.read(collections.names)

    def pairs(
        self,
        min_sim: float | None = None,
        *,
        expand: bool = False,
        between: tuple[str, str] | None = None,
        within: str | None = None,
        max_sim: float = 1.0,
        sort: PairOrder | None = None,
        limit: int | None = None,
        complete: bool = False,
    ) -> Iterator[Pair]:
        """Return the pairs of near-duplicates, exact copies first.

        Args:
            min_sim: the least similarity; the index's own by default.
            expand: every pair of documents. Otherwise a text that many documents share is named by the first of them,
                and the others are pairs (first, other, 1.0).
            between: two collections: the left document is in the first, the right document in the second.
            within: the collection of both documents.
            max_sim: the largest similarity.
            sort: ``similarity``, the largest first, or ``id``, those of the left documents first.
            limit: the largest number of pairs.
            complete: also compute the pairs that are not stored because their buckets are oversized. This takes time in
                proportion to the square of the bucket; `Progress.noticed` receives the largest number of comparisons.

        Raises: BelowFloor: such pairs are not stored; CollectionUnknown; UsageError: `between` names one collection
            twice, or is given together with `within`.
        """
        from lshdb.answers.pairs import pairs

        listed = _listed(expand, between, within, complete=complete)
        chosen = _chosen(self._checked(min_sim), arguments.similarity(max_sim, "max_sim"), sort, limit)
        self._complete(within, *(between or ()))
        return self._stream(lambda snapshot: pairs(snapshot, chosen, listed, self.params, self._progress))

    def contaminated(
        self,
        train: Sides,
        test: Sides,
        options: OverlapOptions | None = None,
        read: ReadOptions | None = None,
    ) -> Iterator[Overlap]:
        """Return every test document with the runs of words that it shares with training documents.

        It finds text of N words or more that was copied word for word, even inside a long document. It does not find
        paraphrases, translations, or copies with a change in every N words. Case, punctuation and white space do not
        matter.

        ::

            for found in index.contaminated("crawl", Path("questions.jsonl")):
                if found.is_contaminated:
                    print(found.test, found.train, found.longest)

        Args:
            train, test: where the documents are, or several such places: a string is a collection of the index, a Path
                is a file or folder.
            options: the length of a run, and how many training documents to list.
            read: how files are read.

        Raises: CollectionUnknown, PathMissing; UsageError: one place is on both sides, or the index holds sets of
            features; when it is reached SourceUnreadable: a test file has no documents; at the end SearchIncomplete:
            the index does not keep some texts, and their sources are gone.
        """
        from lshdb.model.overlap import OverlapOptions
        from lshdb.overlap.searching import Searching, require_apart, require_words

        wanted, trained, tested = (
            arguments.options(options, OverlapOptions),
            arguments.sides(train),
            arguments.sides(test),
        )
        require_words(self.params)
        require_apart(trained, tested)
        self._require(*(one for one in (*trained, *tested) if isinstance(one, str)))
        searching = Searching(self.params, self._suited(read), wanted, self._progress, self.url)
        return self._stream(lambda snapshot: searching.overlaps(snapshot, trained, tested))

    @staticmethod
    def contaminated_files(
        train: Paths,
        test: Paths,
        options: OverlapOptions | None = None,
        read: ReadOptions | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Overlap]:
        """Return what `contaminated` returns for documents in files and folders, without an index.

        Args: progress: receives reports about the search.
        Raises: PathMissing; when it is reached SourceUnreadable.
        """
        from lshdb.model.overlap import OverlapOptions
        from lshdb.overlap.searching import Searching, require_apart
        from lshdb.readers import ReadOptions

        trained, tested = ([Path(path) for path in arguments.paths(given)] for given in (train, test))
        require_apart(trained, tested)
        reporting = progress or Progress()
        announce_to(reporting.busy)
        searching = Searching(
            Params(), arguments.options(read, ReadOptions), arguments.options(options, OverlapOptions), reporting
        )
        return searching.overlaps(None, trained, tested)

    def nearest(self, train: str, test: str, min_sim: float | None = None) -> Iterator[Nearest]:
        """Return every document of the collection `test`, by its id, with its nearest document in `train`, if any.

        It finds documents that are alike as a whole; `contaminated` finds a short text inside a long one.

        Args: min_sim: the least similarity; the index's own by default.
        Raises: BelowFloor, CollectionUnknown; UsageError: both are the same collection.
        """
        from lshdb.answers.contamination import nearest
        from lshdb.overlap.searching import require_apart

        sides = [arguments.collection_name(one) for one in (train, test)]
        require_apart(sides[:1], sides[1:])
        least = self._checked(min_sim)
        self._complete(*sides)
        return self._stream(lambda snapshot: nearest(snapshot, train, test, least, self.params))

    def captures(
        self, address: str | None = None, min_sim: float | None = None, collection: str = "default"
    ) -> Iterator[Capture]:
        """Return the captures of an address, or of all addresses, by date, and which of them are redundant.

        Args: min_sim: a capture this similar to the last one that is not redundant is redundant; the index's own by
            default.
        Raises: CaptureUnknown: there are none.
        """
        from lshdb.answers.captures import captures

        least = self._asked(min_sim)
        arguments.collection_name(collection)
        if address is not None:
            arguments.name("an address", address)
        return self._stream(lambda snapshot: captures(snapshot, address, collection, least, self.params, self.url))

    def clusters(self, min_sim: float | None = None, options: ClusterOptions | None = None) -> Iterator[Cluster]:
        """Return the clusters of near-duplicates, the largest first, each with the document to keep.

        Args: min_sim: the least similarity; the index's own by default.
        Raises: BelowFloor, CollectionUnknown; SpillFailed: no disk space for the pairs.
        """
        from lshdb.clusters.clusters import ClusterOptions
        from lshdb.clusters.members import named

        return self._clustered(min_sim, arguments.options(options, ClusterOptions), named)

    def catalogue(self, min_sim: float | None = None, options: ClusterOptions | None = None) -> Catalogue:
        """Return a snapshot of the clusters, in which they can be looked up.

        Raises: as `clusters`.
        """
        from lshdb.clusters.catalogue import catalogue_of
        from lshdb.clusters.clusters import ClusterOptions, Deduplication

        chosen = arguments.options(options, ClusterOptions)
        least = self._least(min_sim, chosen)
        self._complete(chosen.within)
        with self._store.reading() as snapshot:
            found = Deduplication(snapshot, self.params, least, chosen, self._progress).clusters()
            return catalogue_of(self._store, snapshot, found)

    def members(self, min_sim: float | None = None, options: ClusterOptions | None = None) -> Iterator[Member]:
        """Return the documents of `clusters`, the kept one first, each with its similarity to the kept one."""
        from lshdb.clusters.clusters import ClusterOptions
        from lshdb.clusters.members import members

        return self._clustered(
            min_sim,
            arguments.options(options, ClusterOptions),
            lambda snapshot, found: members(snapshot, found, self.params),
        )

    def export(
        self, out: str | Path | TextIO, min_sim: float | None = None, options: ExportOptions | None = None
    ) -> ExportReport:
        """Write the deduplicated corpus, and a list of the dropped documents, to files (or a text stream).

        Raises: OutputExists, OutputFailed; TextsNotKept: records of an index without texts; BelowFloor,
            CollectionUnknown.
        """
        from lshdb.clusters.export import Exporting, ExportOptions

        chosen = arguments.options(options, ExportOptions)
        least = self._least(min_sim, chosen.clusters)
        target = Path(out) if isinstance(out, str) else out
        exporting = Exporting(self._store, least, chosen, target, self._progress)
        self._complete(chosen.clusters.within)
        with self._store.reading() as snapshot:
            return exporting.export(snapshot)

    def filter(
        self,
        paths: Paths,
        out: str | Path,
        min_sim: float | None = None,
        options: FilterOptions | None = None,
    ) -> FilterReport:
        """Write the original records of the documents that are kept, file by file, to a folder.

        Args: paths: files and folders that were ingested, and have not changed since.
        Raises: PathMissing, NotIngested, NothingToRead, OutputExists, OutputFailed: nothing was written; OutputStopped:
            the same call continues; RecordsUnknown; BelowFloor, CollectionUnknown, PassagesMissing.
        """
        from lshdb.clusters.rows.filtering import Filtering
        from lshdb.clusters.rows.options import FilterOptions

        chosen = arguments.options(options, FilterOptions)
        least = self._least(min_sim, chosen.clusters)
        named, target = arguments.paths(paths), arguments.path(out)
        if chosen.without_boilerplate is not None:
            self._require_passages()
        filtering = Filtering(self._store, least, chosen, self._suited(), self._progress)
        self._complete(chosen.clusters.within)
        with self._store.reading() as snapshot:
            return filtering.filter(snapshot, named, target)

    def filter_lines(
        self, source: BinaryIO, out: BinaryIO, min_sim: float | None = None, options: FilterOptions | None = None
    ) -> FilterReport:
        """Pass on the JSON lines of a stream whose documents are kept. Their ids are looked up in the index.

        Raises: SourceUnreadable, RecordsUnknown, BelowFloor, CollectionUnknown.
        """
        from lshdb.clusters.rows.filtering import dropped_documents
        from lshdb.clusters.rows.options import FilterOptions
        from lshdb.clusters.rows.stream import filter_stream

        chosen = arguments.options(options, FilterOptions)
        least = self._least(min_sim, chosen.clusters)
        self._complete(chosen.clusters.within, chosen.collection)
        with self._store.reading() as snapshot:
            dropped = dropped_documents(snapshot, self._store, least, chosen, self._progress)
            return filter_stream(snapshot, dropped, source, out, chosen)

    def wanted_files(
        self, paths: Paths, min_sim: float | None = None, options: FilterOptions | None = None
    ) -> Iterator[Path]:
        """Return the files, of those that are one document each, whose documents are kept.

        Raises: PathMissing, NotIngested; UsageError: a file has many records; BelowFloor, CollectionUnknown.
        """
        from lshdb.clusters.rows.files import wanted_files
        from lshdb.clusters.rows.filtering import dropped_documents
        from lshdb.clusters.rows.judging import Judging
        from lshdb.clusters.rows.options import FilterOptions
        from lshdb.clusters.rows.shards import Shards
        from lshdb.clusters.rows.verdicts import wanted

        chosen, named = arguments.options(options, FilterOptions), arguments.paths(paths)
        least = self._least(min_sim, chosen.clusters)
        self._complete(chosen.clusters.within)

        def ask(snapshot: Transaction) -> Iterator[Path]:
            dropped = dropped_documents(snapshot, self._store, least, chosen, self._progress)
            shards = Shards(snapshot, named, chosen, self._store.files)
            return wanted_files(shards, Judging(snapshot, dropped, self._suited()), wanted(chosen))

        return self._stream(ask)

    def delete_files(
        self,
        paths: Paths,
        min_sim: float | None = None,
        options: FilterOptions | None = None,
        *,
        dry_run: bool = False,
    ) -> DeletionReport:
        """Delete the files that are one document each and whose documents are dropped.

        A file is spared if the document kept for it no longer exists or has changed. The index does not change; run
        `ingest` with `prune` afterwards.

        Args: dry_run: list the files only.
        Raises: PathMissing, NotIngested, BelowFloor, CollectionUnknown.
        """
        from lshdb.clusters.rows.files import delete_dropped
        from lshdb.clusters.rows.filtering import dropped_documents
        from lshdb.clusters.rows.options import FilterOptions
        from lshdb.clusters.rows.shards import Shards

        chosen, named = arguments.options(options, FilterOptions), arguments.paths(paths)
        least = self._least(min_sim, chosen.clusters)
        self._complete(chosen.clusters.within)
        with self._store.reading() as snapshot:
            shards = Shards(snapshot, named, chosen, self._store.files)
            deque(shards.groups(), maxlen=0)  # Refuse before the first file is deleted.
            dropped = dropped_documents(snapshot, self._store, least, chosen, self._progress)
            return delete_dropped(snapshot, shards, dropped, dry_run=dry_run)

    def decide(self, decision: Decision) -> Decision:
        """Store what somebody decided now, for `clusters`, `export`, `filter`, `captures` and `put` to follow.

        It replaces an earlier decision about the same documents, and holds until it is undone, even if texts change, or
        documents are removed and come back. See `Decision` for its states.

        ::

            index.decide(Decision("different", "a", "b", who="Ada", reason="two editions"))
            index.decide(Decision("keep", "a", who="Ada"))

        Returns: the decision as it is stored, with its number.
        Raises: DocumentUnknown; SameText: two documents with the same text are decided to be different.
        """
        from lshdb.clusters.decisions import decide

        made = replace(arguments.decision(decision), decided_at=None)
        return self._store.write(lambda transaction: decide(transaction, made, self.url))

    def decisions(
        self,
        among: Iterable[tuple[str, str]] | None = None,
        *,
        before: int | None = None,
        limit: int | None = None,
    ) -> list[Decision]:
        """Return the decisions that people made, the newest first.

        Args:
            among: only those that name no other documents than these, each a collection and an id.
            before: only decisions with a smaller number than this one.
            limit: how many.
        """
        from lshdb.store.tables import decisions

        arguments.limit("before", before)
        arguments.limit("limit", limit)
        names = None if among is None else arguments.places("among", among)
        return self._store.read(lambda snapshot: decisions.page(snapshot, before, limit, names))

    def undo(self, numbers: int | Iterable[int]) -> int:
        """Delete decisions by their numbers. Returns: how many.

        Raises: DecisionUnknown: one of them does not exist, and nothing is deleted.
        """
        from lshdb.clusters.decisions import undo

        wanted = arguments.numbers(numbers)
        return self._store.write(lambda transaction: undo(transaction, wanted, self.url))

    def import_decisions(self, made: str | Path | Decision | Iterable[Decision]) -> DecisionsReport:
        """Store decisions that were made elsewhere, or earlier. Of two about the same documents, the later one stays.

        The index need not have the documents. A call that was interrupted can be repeated.

        Args: made: decisions, or a file that ``lshdb decisions --format jsonl`` wrote; ``-`` is standard input.
        Raises: PathMissing; SourceUnreadable: a line holds no decision. The decisions before it may be stored.
        """
        from lshdb.clusters.decisions import decisions_in, put_all

        return put_all(self._store, decisions_in(made) if isinstance(made, (str, Path)) else arguments.decisions(made))

    def state(self) -> Hashable:
        """Return a value that changes with each run, and with each decision that is made or undone.

        It also changes with each document that `add` or `put` add to their run.
        """
        from lshdb.store.tables import decisions, runs

        return self.params, self._store.read(lambda snapshot: (runs.state(snapshot), decisions.state(snapshot)))

    def query(self, document: Document, min_sim: float | None = None) -> list[Match]:
        """Return the near-duplicates of a document, in the index or not, the most similar first.

        Args: min_sim: the least similarity; the index's own by default. Some that are less similar are not found.
        Raises: BadDocument: the document does not fit the index.
        """
        from lshdb.answers.query import matches

        least = self._warned(self._asked(min_sim))
        asked = arguments.document(document)
        return self._store.read_briefly(lambda snapshot: matches(snapshot, asked, least, self.params))

    def query_at_once(self, document: Document, min_sim: float | None = None) -> list[Match] | None:
        """Return what `query` returns if that takes a millisecond, otherwise None.

        It does not if a server answers, or if many texts share a bucket with the document.
        """
        from lshdb.answers.query import QUICK_CANDIDATES, matches_among

        if not self._store.dialect.is_local:
            return None
        least = self._warned(self._asked(min_sim))
        with self._store.reading() as snapshot:
            return matches_among(snapshot, arguments.document(document), least, self.params, QUICK_CANDIDATES)

    def query_file(
        self, path: str | Path, min_sim: float | None = None, options: ReadOptions | None = None
    ) -> list[Match]:
        """Return the near-duplicates of the one document in a file; ``-`` is standard input.

        Raises: PathMissing, SourceUnreadable; UsageError: the file holds many documents; BadDocument.
        """
        from lshdb.answers.query import only_document

        return self.query(only_document(arguments.path(path), self._suited(options)), min_sim)

    def containing(
        self, document: Document, min_containment: float = MIN_CONTAINMENT, *, reverse: bool = False
    ) -> list[Containing]:
        """Return the documents that contain a document, in the index or not; those that contain most of it first.

        Containment is the share of the document's shingles that the other document also has. Only documents that share
        a passage with it, a run of `Params.passages` words, are found.

        Args:
            min_containment: the least share.
            reverse: return the documents that it contains instead.

        Raises:
            PassagesMissing: the index has no passages.
            TextTooShort: the document is shorter than a passage.
            BadDocument: it does not fit the index.
        """
        from lshdb.passages.containment import containing

        self._require_passages()
        least = arguments.similarity(min_containment, "min_containment")
        with self._store.reading() as snapshot:
            found = containing(snapshot, arguments.document(document), least, self.params, reverse=reverse)
        if found.num_left_out:
            self._progress.warned(
                f"{found.num_left_out:,} more texts share only passages with it that more than "
                f"{self._store.expansion.cap} texts have; they were not compared"
            )
        return list(found.documents)

    def containing_file(
        self,
        path: str | Path,
        min_containment: float = MIN_CONTAINMENT,
        options: ReadOptions | None = None,
        *,
        reverse: bool = False,
    ) -> list[Containing]:
        """Return the documents that contain the one document in a file; ``-`` is standard input.

        Raises: PathMissing, SourceUnreadable; UsageError: the file holds many documents; and as `containing`.
        """
        from lshdb.answers.query import only_document

        document = only_document(arguments.path(path), self._suited(options))
        return self.containing(document, min_containment, reverse=reverse)

    def containing_id(
        self,
        doc_id: str,
        min_containment: float = MIN_CONTAINMENT,
        collection: str = "default",
        *,
        reverse: bool = False,
    ) -> list[Containing]:
        """Return the documents that contain a document of the index, without itself.

        Raises: DocumentUnknown; and as `containing`.
        """
        self._require_passages()
        document = self.get(doc_id, collection)
        if document is None:
            raise DocumentUnknown(doc_id=doc_id, collection=collection, url=self.url)
        found = self.containing(document, min_containment, reverse=reverse)
        return [one for one in found if (one.id, one.collection) != (doc_id, collection)]

    def contained_pairs(
        self,
        min_containment: float = MIN_CONTAINMENT,
        *,
        expand: bool = False,
        between: tuple[str, str] | None = None,
        within: str | None = None,
        max_containment: float = 1.0,
        sort: PairOrder | None = None,
        limit: int | None = None,
    ) -> Iterator[Contained]:
        """Return the pairs of documents in which one contains the other.

        Args:
            min_containment: the least share of the shingles of the smaller one that the larger one also has.
            expand: every pair of documents. Otherwise each text is named by its first document.
            between: two collections: the small document is in the first, the large one in the second.
            within, sort, limit: as in `pairs`.
            max_containment: the largest share.

        Raises: PassagesMissing: the index has no passages; CollectionUnknown; UsageError.
        """
        from lshdb.answers.pairs import contained_pairs

        self._require_passages()
        least = arguments.similarity(min_containment, "min_containment")
        most = arguments.similarity(max_containment, "max_containment")
        chosen, listed = _chosen(least, most, sort, limit), _listed(expand, between, within)
        self._require(within, *(between or ()))
        return self._stream(lambda snapshot: contained_pairs(snapshot, chosen, listed, self.params, self._progress))

    def passages(self, doc_id: str, collection: str = "default") -> list[Passage]:
        """Return the passages of a document that other documents contain, in reading order.

        Raises: PassagesMissing: the index has no passages; DocumentUnknown.
        """
        from lshdb.passages.shared import passages_of

        self._require_passages()
        arguments.document_name(doc_id, collection)
        with self._store.reading() as snapshot:
            return passages_of(snapshot, doc_id, collection, self.params, self.url)

    def boilerplate(
        self, min_documents: int = 2, limit: int = 20, within: str | None = None, prefix: str | None = None
    ) -> list[Boilerplate]:
        """Return the passages that many documents share, the most frequent first.

        Args:
            min_documents: the least number of documents of a passage.
            limit: how many passages.
            within: count only documents of this collection.
            prefix: count only documents whose ids begin with this, such as the address of a site.

        Raises: PassagesMissing: the index has no passages; CollectionUnknown.
        """
        from lshdb.passages.boilerplate import boilerplate

        self._require_passages()
        arguments.count("limit", limit)
        arguments.count("min_documents", min_documents)
        if prefix:
            arguments.name("a prefix", prefix)
        self._require(within)
        with self._store.reading() as snapshot:
            return boilerplate(snapshot, self.params, min_documents, limit, within, prefix)

    def query_many(self, documents: Documents, min_sim: float | None = None, k: int | None = None) -> Iterator[Answer]:
        """Return an answer for each of many documents, in their order. They need not be in the index.

        They are looked up in chunks, and not compared with each other. Each chunk sees the index as it is then.

        Args:
            min_sim: the least similarity; the index's own by default.
            k: the largest number of matches of a document.

        Raises: BadDocument, when it is reached: a document does not fit the index.
        """
        from lshdb.answers.many import Question, answered

        least = self._warned(self._asked(min_sim))
        questions = (Question(document) for document in arguments.documents(documents))
        return self._store.stream(answered(self._store, questions, least, arguments.limit("k", k)))

    def query_files(
        self,
        paths: Paths,
        min_sim: float | None = None,
        k: int | None = None,
        options: ReadOptions | None = None,
        *,
        with_lines: bool = False,
    ) -> Iterator[Answer]:
        """Return an answer for each document in files and folders; ``-`` is standard input. Nothing is added.

        Args:
            min_sim, k: as in `query_many`.
            with_lines: return each answer with the line of its document, byte for byte.

        Raises: PathMissing; and when it is reached SourceUnreadable: most records could not be read; UsageError: lines
            are wanted, and a file does not hold one document per line.
        """
        from lshdb.answers.asking import Questions
        from lshdb.answers.many import answered

        least, ways = self._warned(self._asked(min_sim)), self._suited(options)
        found = arguments.paths(paths)
        questions = Questions(found, ways, self.params, self._progress.rejected, with_lines=with_lines)
        return self._store.stream(answered(self._store, questions, least, arguments.limit("k", k)))

    def query_id(self, doc_id: str, min_sim: float | None = None, collection: str = "default") -> list[Match]:
        """Return the near-duplicates of a document of the index, without itself.

        Raises: DocumentUnknown, BelowFloor.
        """
        from lshdb.answers.query import stored_matches
        from lshdb.linking.pending import link_pending

        least = self._checked(min_sim)
        arguments.document_name(doc_id, collection)
        link_pending(self._store, self._progress)
        with self._store.reading() as snapshot:
            return stored_matches(snapshot, doc_id, collection, least, self.params, self.url)

    def explain(
        self,
        left: str,
        right: str,
        collections: tuple[str, str] = ("default", "default"),
        options: ReadOptions | None = None,
        *,
        files: bool = False,
        ids: bool = False,
        with_diff: bool = True,
    ) -> Explanation:
        """Return why two documents are a pair, or why they are not. Each is an id, or otherwise a file; ``-`` is stdin.

        Args:
            collections: where to look for the left and the right id.
            files: both are files, even if documents have these ids.
            ids: both are ids, and no file is opened, not even the source of a text that is not kept.
            with_diff: find out which words differ.

        Raises: DocumentUnknown: a name is neither an id nor a file; PathMissing, SourceUnreadable, BadDocument;
            UsageError: a file holds many documents.
        """
        from lshdb.answers.explain import Explaining

        explaining = Explaining(self._store, self._suited(options), files=files, ids=ids)
        places = arguments.pair("collections", collections)
        if files:
            arguments.paths((left, right))
        else:
            for name, place in zip((left, right), places, strict=True):
                arguments.document_name(name, place)
        return explaining.explain((left, right), places, with_diff=with_diff)

    def stats(self) -> Stats:
        """Return the figures of the index."""
        from lshdb.answers.stats import stats_of

        return stats_of(self._store)

    def histogram(self, num_bins: int = 25, within: str | None = None) -> list[int]:
        """Return the number of stored pairs in each of `num_bins` equal ranges of similarity from the floor to 1.

        Similarities are rounded to a thousandth.

        Args: within: only pairs of texts that both occur in this collection.
        """
        arguments.count("num_bins", num_bins)
        if within is not None:
            arguments.collection_name(within)
        bins, floor = [0] * num_bins, self.params.floor
        found = self._store.read(lambda snapshot: inspection.num_pairs_by_similarity(snapshot, within))
        for step, number in found.items():
            share = (step / 1_000 - floor) / (1 - floor) if floor < 1 else 1.0
            bins[min(max(int(share * num_bins), 0), num_bins - 1)] += number
        return bins

    def runs(self, count: int = 20, before: int | None = None) -> list[RunRow]:
        """Return the last runs that wrote to the index and their results, the newest first.

        Args: before: only runs with a smaller number than this one.
        """
        arguments.count("count", count)
        arguments.limit("before", before)
        return self._store.read(lambda snapshot: answers.runs(snapshot, count, before))

    def hottest(self, count: int) -> list[Hottest]:
        """Return the largest buckets, with documents in them."""
        from lshdb.answers.hot_buckets import hottest

        arguments.count("count", count)
        with self._store.reading() as snapshot:
            return hottest(snapshot, self.params, count)

    def outlook(self) -> Outlook:
        """Return the figures about the index's texts that tuning needs."""
        from lshdb.tuning.promises import outlook_of

        return outlook_of(self._store)

    def rejections(self, run: int) -> Iterator[Rejection]:
        """Return the items that a run could not ingest."""
        arguments.count("run", run)
        return self._stream(lambda snapshot: answers.rejections(snapshot, run))

    def _stream(self, ask: Callable[[Transaction], Iterator[_Row]]) -> Iterator[_Row]:
        def rows() -> Generator[_Row, None, None]:
            with self._store.reading() as snapshot:
                yield from ask(snapshot)

        return self._store.stream(rows())

    def _clustered(
        self,
        min_sim: float | None,
        options: ClusterOptions,
        show: Callable[[Transaction, Clusters], Iterator[_Row]],
    ) -> Iterator[_Row]:
        from lshdb.clusters.clusters import Deduplication

        least = self._least(min_sim, options)
        self._complete(options.within)

        def ask(snapshot: Transaction) -> Iterator[_Row]:
            found = Deduplication(snapshot, self.params, least, options, self._progress).clusters()
            self._progress.done()
            return show(snapshot, found)

        return self._stream(ask)

    def _complete(self, *wanted: str | None) -> None:
        """Link all unlinked documents. Raises: CollectionUnknown: one of the collections has no documents."""
        from lshdb.linking.pending import link_pending

        self._require(*wanted)
        link_pending(self._store, self._progress)
        # The answer follows, perhaps in a pager on the same terminal.
        self._progress.done()

    def _suited(self, options: ReadOptions | None = None) -> ReadOptions:
        """Return how files are read into this index, by default or with the given options."""
        from lshdb.readers import ReadOptions

        return arguments.options(options, ReadOptions).suited(self.params)

    def _require_passages(self) -> None:
        if not self.params.passages:
            raise PassagesMissing(url=self.url)

    def _require(self, *wanted: str | None) -> None:
        """Raises: CollectionUnknown: one of the collections, except for None, has no documents."""
        if names := [arguments.collection_name(one) for one in wanted if one is not None]:
            self._store.read(lambda snapshot: collections.require(snapshot, self.url, *names))

    def _link(self, run_key: int | None) -> int:
        from lshdb.linking.link import Linking

        return Linking(self._store, run_key, self._progress).link()

    def _least(self, min_sim: float | None, options: ClusterOptions) -> float:
        """Return the least similarity, or the least containment. Raises: BelowFloor, PassagesMissing."""
        if options.measure == "jaccard":
            return self._checked(min_sim)
        self._require_passages()
        return MIN_CONTAINMENT if min_sim is None else arguments.similarity(min_sim)

    def _checked(self, min_sim: float | None) -> float:
        """Return the least similarity. Raises: BelowFloor."""
        least = self._asked(min_sim)
        if least < self.params.floor:
            raise BelowFloor(min_sim=least, floor=self.params.floor)
        return self._warned(least)

    def _warned(self, min_sim: float) -> float:
        """Return the similarity, and warn if the index promises a lower recall there."""
        from lshdb.tuning.promises import shortfall

        if (notice := shortfall(self.params, min_sim, self.url)) is not None:
            self._progress.noticed(notice)
        return min_sim

    def _asked(self, min_sim: float | None) -> float:
        return self.params.min_sim if min_sim is None else arguments.similarity(min_sim)


def _report(run_key: int, ingestion: Ingestion, num_pairs: int, started: float) -> IngestReport:
    """Return what a run did. Args: started: when, by `time.monotonic`."""
    return IngestReport(
        run=run_key,
        counts=ingestion.counts,
        num_skipped=ingestion.num_skipped,
        pairs_added=num_pairs,
        seconds=time.monotonic() - started,
        conflicts=ingestion.conflicts,
        is_limited=ingestion.is_limited,
        rejected_by_reason=ingestion.reasons.as_dict(),
        num_rejected_before=sum(file.num_rejected for file in ingestion.rejected_before),
        last_rejected_before=max((file.run_key for file in ingestion.rejected_before), default=None),
        num_resumed=ingestion.num_resumed,
        num_rejected_sources=ingestion.rejected_sources.number,
        rejected_sources=tuple(ingestion.rejected_sources.named),
        num_unfollowed=ingestion.num_unfollowed,
        num_spared=ingestion.num_spared,
        num_given_up=ingestion.given_up.number,
        given_up=tuple(ingestion.given_up.named),
    )


def _listed(expand: bool, between: tuple[str, str] | None, within: str | None, *, complete: bool = False) -> Listed:
    """Return which documents of pairs are listed. Raises: UsageError."""
    from lshdb.answers.pairs import Listed

    if between is not None and (within is not None or len(set(arguments.pair("between", between))) < 2):
        raise UsageError(reason="--between takes two different collections; --within is for pairs within one")
    return Listed(expand, between, within, complete)


def _chosen(least: float, most: float, sort: PairOrder | None, limit: int | None) -> Chosen:
    """Return which pairs are listed. Raises: UsageError."""
    if most < least:
        raise UsageError(reason=f"no similarity is at least {least} and at most {most}")
    if sort is not None:
        check_choice("sort", sort, PairOrder)
    return Chosen(least, most, sort, arguments.limit("limit", limit))


def _agree(store: Store, chosen: Mapping[str, Any]) -> None:
    """Give the index the chosen parameters if it has no documents. Raises: ParamsMismatch: it has some."""
    from lshdb.tuning.choice import params_after, require_chosen

    try:
        require_chosen(store.params, chosen, store.url)
    except ParamsMismatch:
        if not store.replace_params(params_after(store.params, chosen)):
            raise
