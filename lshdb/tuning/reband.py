"""Give an index other bands, from its stored signatures, without reading any document.

The new rows are written batch by batch next to the old ones, which keep answering. If the process is killed, the next
call continues after the last batch. One transaction then switches to the new rows and marks all contents as unlinked.
Linking removes pairs that the new bands do not find, so the result equals an index that was created with these bands.
Limitation: until that linking is finished, answers of other processes lack pairs, and say so.
"""

from __future__ import annotations

import time
from typing import Final

from lshdb.errors import IndexBusy
from lshdb.linking.link import Linking
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.upkeep import RebandReport
from lshdb.model.values import Signatures
from lshdb.sketch.banding import band_keys
from lshdb.store.merging import Merging
from lshdb.store.running import recorded_run
from lshdb.store.store import Store
from lshdb.store.tables import bands, graph
from lshdb.store.transaction import Transaction
from lshdb.tuning.promises import outlook_of, rebanded

__all__ = ["Rebanding", "reband"]

# Minima whose buckets are written in one transaction: 4 MB of signatures.
BATCH_MINIMA: Final = 1_000_000


def reband(store: Store, min_sim: float, recall: float, progress: Progress) -> RebandReport:
    """Give an index bands that find a pair at `min_sim` with probability `recall`, and link it again, as one run.

    Raises:
        PromiseUnreachable: the signatures are too short.
        IndexBusy: another process is changing the bands.
    """
    started, before = time.monotonic(), store.params
    wanted = rebanded(before, min_sim, recall, outlook_of(store).similarities)
    with recorded_run(store, "reband") as run_key:
        Rebanding(store, wanted, progress).reband()
        Linking(store, run_key, progress).link()
    return RebandReport(run_key, before, store.params, store.read(graph.num_pairs), time.monotonic() - started)


class Rebanding:
    """Changes an index to parameters that differ only in bands, rows and promise."""

    def __init__(self, store: Store, wanted: Params, progress: Progress) -> None:
        self._store = store
        self._wanted = wanted
        self._progress = progress

    def reband(self) -> None:
        """Write the missing rows and switch to them. All contents are unlinked afterwards.

        Raises: StoreError: committed batches stay, and the old bands keep answering.
        """
        if self._wanted.banding == self._store.params.banding:
            self._keep()
        else:
            self._begin()
            merging = Merging(self._store)
            while not self._write_batch():
                merging.advance()
        self._store.reload()
        self.sweep()

    def sweep(self) -> None:
        """Delete the rows of bands that are no longer used."""
        more = True
        while more:
            with self._store.writing() as transaction:
                is_free = bands.coming(transaction) is None
                more = is_free and bands.delete_other(transaction, self._store.params.banding)

    def _keep(self) -> None:
        """Change the promise of the current bands."""
        with self._store.writing() as transaction:
            bands.give_up(transaction)
            self._promise(transaction)

    def _promise(self, transaction: Transaction) -> None:
        bands.promise(transaction, self._wanted.min_sim, self._wanted.recall, self._wanted.floor)

    def _begin(self) -> None:
        """Continue an unfinished change to the same parameters, or start a new one."""
        with self._store.writing() as transaction:
            begun = bands.coming(transaction)
            if begun is not None and begun.banding == self._wanted.banding:
                return
            bands.give_up(transaction)
        self.sweep()
        with self._store.writing() as transaction:
            if bands.coming(transaction) is None:
                bands.begin(transaction, self._wanted.banding)

    def _write_batch(self) -> bool:
        """Write the rows of one batch of contents; the last batch also switches. Returns: whether it switched."""
        wanted, count = self._wanted, max(1, BATCH_MINIMA // self._wanted.num_perm)
        with self._store.writing() as transaction:
            position = self._position(transaction)
            contents = bands.next_contents(transaction, position, count)
            if len(contents.keys):
                keys = band_keys(Signatures.read(contents.signatures, wanted.permutations), wanted.banding)
                bands.put(transaction, contents.keys, keys)
            is_last = len(contents.keys) < count
            if is_last:
                bands.take_over(transaction, wanted.banding)
                self._promise(transaction)
            share = 1.0 if is_last else int(contents.keys[-1]) / (bands.last_content(transaction) or 1)
        self._progress.advanced("reband", share)
        return is_last

    def _position(self, transaction: Transaction) -> int:
        begun = bands.coming(transaction)
        if begun is None or begun.banding != self._wanted.banding:
            raise IndexBusy(url=self._store.url, reason="a reband to other bands is not finished")
        return begun.position
