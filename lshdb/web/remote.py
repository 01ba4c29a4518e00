"""A service as the command line uses it: a client that also reads files, shows progress, and refuses what it cannot do.

Output is that of the index itself. Limitation: a service compares no files with `explain`, and its figures may be five
seconds old.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from lshdb.answers.asking import Questions
from lshdb.answers.explain import Explanation
from lshdb.answers.many import Answer
from lshdb.answers.query import Match, only_document
from lshdb.clusters.clusters import ClusterOptions
from lshdb.clusters.decisions import decisions_in
from lshdb.clusters.members import Cluster, Member
from lshdb.errors import TextsNotKept
from lshdb.model.choices import PairOrder
from lshdb.model.decisions import Decision, DecisionsReport
from lshdb.model.params import Params
from lshdb.model.passages import Containing
from lshdb.model.progress import Progress
from lshdb.model.reports import Pair
from lshdb.readers import ReadOptions, meant_ids
from lshdb.tuning.promises import shortfall
from lshdb.web import calls
from lshdb.web.calls import refused
from lshdb.web.client import Client

__all__ = ["Remote"]


class Remote(Client):
    """The methods of an index that the questions of the command line need.

    Args: progress: receives the rejected documents of a question, and notes.
    """

    def __init__(self, url: str, token: str | None, progress: Progress) -> None:
        super().__init__(url, token)
        self._progress = progress

    def __getattr__(self, name: str) -> Any:
        """Raises: UsageError: only the index itself has this method."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise refused("answer that")

    @cached_property
    def params(self) -> Params:
        """The parameters of the index, but for the seed."""
        return self.stats().params

    def collections(self) -> list[str]:
        """Return the names of the collections that have documents, sorted."""
        return sorted(self.stats().collections)

    def meant(self, name: str, collection: str = "default") -> str:
        """Return the id of the document that a person means by a name; see `Index.meant`."""
        return next((one for one in meant_ids(name) if self._has(one, collection)), name)

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
        """Yield the pairs of near-duplicates; see `Index.pairs`."""
        if complete:
            raise refused("take --complete")
        self._warn(min_sim, self.params.floor)
        return super().pairs(
            min_sim, expand=expand, between=between, within=within, max_sim=max_sim, sort=sort, limit=limit
        )

    def clusters(self, min_sim: float | None = None, options: ClusterOptions | None = None) -> Iterator[Cluster]:
        """Yield the clusters, the largest first, each with the document to keep."""
        self._warn(min_sim, self.params.floor)
        return super().clusters(min_sim, options)

    def members(self, min_sim: float | None = None, options: ClusterOptions | None = None) -> Iterator[Member]:
        """Yield the documents of `clusters`, the kept one first, each with its similarity to the kept one."""
        self._warn(min_sim, self.params.floor)
        return super().members(min_sim, options)

    def query_id(
        self, doc_id: str, min_sim: float | None = None, collection: str = "default", k: int | None = None
    ) -> list[Match]:
        """Return the near-duplicates of a document of the index, without itself."""
        self._warn(min_sim, self.params.floor)
        return super().query_id(doc_id, min_sim, collection, k)

    def query_files(
        self,
        paths: Sequence[str],
        min_sim: float | None = None,
        k: int | None = None,
        options: ReadOptions | None = None,
        *,
        with_lines: bool = False,
    ) -> Iterator[Answer]:
        """Yield an answer for each document in files, which are read here; see `Index.query_files`."""
        self._warn(min_sim)
        ways = (options or ReadOptions()).suited(self.params)
        questions = Questions(paths, ways, self.params, self._progress.rejected, with_lines=with_lines)
        for chunk in calls.chunked(questions, lambda one: one.document):
            found = self.query_many([one.document for one in chunk], min_sim, k)
            for one, (doc_id, matches) in zip(chunk, found, strict=True):
                yield Answer(doc_id, tuple(matches), one.document.locator, one.line)

    def containing_file(
        self, path: str, min_containment: float, options: ReadOptions, *, reverse: bool = False
    ) -> list[Containing]:
        """Return the documents that contain the one document in a file."""
        if reverse:
            raise refused("take --reverse")
        document = only_document(path, options.suited(self.params))
        return self._asked(calls.containing(document, min_containment))

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
        """Return why two documents of the index are a pair, or why not."""
        if files or "-" in (left, right):
            raise refused("compare files")
        return super().explain(left, right, collections, with_diff=with_diff)

    def import_decisions(self, made: str | Path | Iterable[Decision]) -> DecisionsReport:
        """Store decisions that were made elsewhere, or earlier; a file is read here."""
        return super().import_decisions(decisions_in(made) if isinstance(made, (str, Path)) else made)

    def _has(self, doc_id: str, collection: str) -> bool:
        try:
            return self.get(doc_id, collection) is not None
        except TextsNotKept:
            return True

    def _warn(self, min_sim: float | None, least: float = 0.0) -> None:
        """Say so if the index promises a lower recall at this similarity. Below `least`, there will be an error."""
        if min_sim is not None and min_sim >= least:
            notice = shortfall(self.params, min_sim, self.stats().url)
            if notice is not None:
                self._progress.noticed(notice)
