"""An open index: its store, its runs, and linking before an answer. What it is asked and told is beside it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.metadata import version
from typing import Self

from lshdb.errors import AccessDenied, BelowFloor, IndexBusy, StoreError
from lshdb.linking.link import Linking
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.readers import ReadOptions
from lshdb.store import Store, interrupts
from lshdb.store.tables import graph, runs
from lshdb.tuning.promises import shortfall

__all__ = ["Opened"]


class Opened:
    """An open index; `Index` is what programs use.

    Args: store: closed with it. progress: hears of long work.
    """

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
