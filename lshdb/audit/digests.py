"""Replace the digests of an older index, which can be forged, by those of new indexes.

They are computed from the kept texts, or else from the sources, in batches. The new digests wait in the table
`new_digest`, while the index is used as before. Once every text has one, a single transaction replaces them all. So an
index never has digests of both kinds, and an upgrade that was interrupted continues after its last batch.

Limitations:
- If a text is neither kept nor in its source, the index keeps its old digests. A later upgrade needs only that text.
- A text that passed for another one was never stored. `check` finds it if its source is still there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Final

import numpy as np

from lshdb.audit.contents import readable
from lshdb.errors import IndexRebanded
from lshdb.linking.comparison import text_groups
from lshdb.linking.rereading import read_again
from lshdb.model.params import FORGEABLE_DIGESTS, SAFE_DIGESTS, Params
from lshdb.model.progress import Progress
from lshdb.model.upkeep import DigestReport
from lshdb.readers import ReadOptions
from lshdb.sketch.normalization import digests, normalise_utf8
from lshdb.sketch.texts import unpack_utf8
from lshdb.store.store import Store
from lshdb.store.tables import lost, new_digests
from lshdb.store.transaction import Transaction

__all__ = ["renew_digests"]

# Contents whose digests are written in one transaction.
BATCH_CONTENTS: Final = 5_000


def renew_digests(store: Store, progress: Progress, batch_contents: int = BATCH_CONTENTS) -> DigestReport | None:
    """Replace the digests of an index if they can be forged; the index is used as before meanwhile.

    Args: batch_contents: how many digests to write in one transaction.
    Returns: None if they cannot be forged.
    Raises: StoreError: everything computed before is kept.
    """
    if not _is_old(store):
        return None
    with store.sole_work("an upgrade", wait=True):
        store.reload()
        return _Renewal(store, progress, batch_contents).run() if _is_old(store) else None


def _is_old(store: Store) -> bool:
    return store.params.table_version == FORGEABLE_DIGESTS


class _Renewal:
    """One upgrade of the digests of an index."""

    def __init__(self, store: Store, progress: Progress, batch_contents: int) -> None:
        self._store = store
        self._batch_contents = batch_contents
        self._params = store.params
        self._progress = progress
        self._num_computed = 0
        self._num_before = store.read(new_digests.num_left)

    def run(self) -> DigestReport:
        """Compute the digests, and replace the old ones if all are known."""
        try:
            num_left = self._renew()
        except IndexRebanded:
            # On Postgres, another process may have replaced them.
            self._store.reload()
            if _is_old(self._store):
                raise
            num_left = 0
        self._store.reload()
        self._progress.done()
        return DigestReport(self._num_computed, num_left)

    def _renew(self) -> int:
        """Compute and replace the digests. Returns: how many texts have none, so that nothing was replaced."""
        self._renew_kept()
        self._renew_lost()
        num_left = self._store.write(_replace)
        # Others may have added contents meanwhile.
        while num_left and self._renew_kept():
            num_left = self._store.write(_replace)
        return num_left

    def _renew_kept(self) -> int:
        """Compute the missing digests of kept texts. Returns: how many."""
        if not self._params.keep_text:
            return 0
        before, position = self._num_computed, -1
        while old := self._store.read(partial(new_digests.without, position=position, count=self._batch_contents)):
            self._put(self._store.read(partial(self._of_kept, old=old)))
            position = max(old)
        return self._num_computed - before

    def _of_kept(self, transaction: Transaction, old: Mapping[int, bytes]) -> dict[int, bytes]:
        """Return the new digests of contents by key, if their text is kept and has their old digest."""
        keys, found = np.asarray(list(old), dtype=np.int64), dict[int, bytes]()
        for some, encoded in text_groups(transaction, keys, unpack=readable):
            found |= _renewed(dict(zip(some.tolist(), encoded, strict=True)), old, self._params)
        return found

    def _renew_lost(self) -> None:
        """Compute the missing digests of texts that are not kept, but still in their sources."""
        with self._store.reading() as snapshot:
            found = self._of_lost(snapshot)
            while some := dict(islice(found, self._batch_contents)):
                self._put(some)

    def _of_lost(self, snapshot: Transaction) -> Iterator[tuple[int, bytes]]:
        options = ReadOptions().suited(self._params)
        for source in lost.sources_of_old_digests(snapshot):
            old = {text.content_key: text.digest for text in source.texts}
            for key, frame in read_again(source, self._params, options):
                yield from _renewed({key: unpack_utf8(frame)}, old, self._params).items()

    def _put(self, found: Mapping[int, bytes]) -> None:
        if not found:
            return
        self._store.write(partial(new_digests.put, digests=found))
        self._num_computed += len(found)
        self._progress.advanced("upgrade", min(1.0, self._num_computed / max(1, self._num_before)))


def _renewed(texts: Mapping[int, bytes], old: Mapping[int, bytes], params: Params) -> dict[int, bytes]:
    """Return the new digests of the texts that have the expected old digests, by content key."""
    forms = normalise_utf8(list(texts.values()), params.shingling)
    before, after = digests(forms, params.table_version), digests(forms, SAFE_DIGESTS)
    return {key: after[row].tobytes() for row, key in enumerate(texts) if before[row].tobytes() == old[key]}


def _replace(transaction: Transaction) -> int:
    """Replace the old digests if all new ones are known. Returns: how many are not."""
    if not (num_left := new_digests.num_left(transaction)):
        new_digests.replace(transaction, SAFE_DIGESTS)
    return num_left
