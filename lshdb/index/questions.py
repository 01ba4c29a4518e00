"""What an index is asked; nothing here changes a document."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TextIO

from lshdb.answers.contamination import Nearest, nearest
from lshdb.answers.explain import Explaining, Explanation
from lshdb.answers.hot_buckets import Hottest, hottest
from lshdb.answers.query import Match, matches, only_document
from lshdb.audit import Auditing, Thoroughness
from lshdb.clusters.arrange import Clusters
from lshdb.clusters.clusters import ClusterOptions, Deduplication
from lshdb.clusters.export import Exporting, ExportOptions, ExportReport
from lshdb.clusters.members import Cluster, Member, members, named
from lshdb.errors import DocumentUnknown, UsageError
from lshdb.index.opened import Opened
from lshdb.model.reports import Outlook, Pair, Stats
from lshdb.model.values import Document, Rejection
from lshdb.readers import ReadOptions
from lshdb.store import Transaction
from lshdb.store.tables import answers, collected, measurements, sources
from lshdb.tuning.promises import similarities_of

__all__ = ["Questions"]

SHOWN_RUNS: Final = 5
SHOWN_SOURCES: Final = 5


class Questions(Opened):
    """The questions an index answers."""

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
