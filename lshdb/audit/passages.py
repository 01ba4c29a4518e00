"""Check the fingerprints of passages against the texts they come from.

One pass over the table adds up the fingerprints of each content: their number, and a sum of their hashes. So the check
needs 24 bytes for each content, and no lookup for each fingerprint. Two different sets of fingerprints have the same
sum with probability 2**-64. Entries of deleted contents are no fault; `vacuum` deletes them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.audit.contents import readable
from lshdb.audit.faults import FROM_TEXT, Fault
from lshdb.linking.comparison import text_groups
from lshdb.model.params import Params
from lshdb.model.values import Fingerprints
from lshdb.sketch.kernels.constants import GOLDEN, MIX_1
from lshdb.sketch.sketch import sketch_encoded
from lshdb.store.tables import audit, fingerprints
from lshdb.store.transaction import Transaction

__all__ = ["correct_fingerprints", "passage_faults"]


class _Sums(Struct, frozen=True):
    """For each of n contents the number of its fingerprints, int64, and the sum of their hashes, uint64."""

    counts: NDArray[np.int64]
    hashes: NDArray[np.uint64]


def passage_faults(snapshot: Transaction, content_keys: NDArray[np.int64], params: Params) -> Iterator[Fault]:
    """Yield the contents whose fingerprints are not those of their text.

    Contents whose text cannot be read, or is that of another content, are left out: `contents` reports them.

    Args: content_keys: int64, ascending. params: of an index with passages.
    """
    stored = _stored_sums(snapshot, content_keys)
    for keys, prints in correct_fingerprints(snapshot, content_keys, params):
        rows = np.searchsorted(content_keys, keys)
        correct = _sums(np.repeat(np.arange(len(keys)), prints.sizes), prints.hashes, len(keys))
        wrong = (correct.counts != stored.counts[rows]) | (correct.hashes != stored.hashes[rows])
        for key, count, expected in zip(
            keys[wrong].tolist(), stored.counts[rows][wrong].tolist(), correct.counts[wrong].tolist(), strict=True
        ):
            detail = f"its {count} fingerprints are not the {expected} of its text"
            yield Fault("fingerprints-differ", "fingerprint_block", str(key), detail, FROM_TEXT)


def correct_fingerprints(
    transaction: Transaction, content_keys: NDArray[np.int64], params: Params
) -> Iterator[tuple[NDArray[np.int64], Fingerprints]]:
    """Yield contents whose text is sound, int64, ascending, with the fingerprints of their texts."""
    for keys, encoded in text_groups(transaction, content_keys, unpack=readable):
        digests = audit.contents(transaction, keys).digests
        sketches = sketch_encoded(encoded, params)
        is_sound = [sketches.digests[row].tobytes() == digest for row, digest in enumerate(digests)]
        rows = np.flatnonzero(is_sound)
        if sketches.fingerprints is not None:
            yield keys[rows], sketches.fingerprints.chosen(rows)


def _stored_sums(snapshot: Transaction, content_keys: NDArray[np.int64]) -> _Sums:
    total = _Sums(np.zeros(len(content_keys), np.int64), np.zeros(len(content_keys), np.uint64))
    for entries in fingerprints.all_entries(snapshot) if len(content_keys) else ():
        rows = np.minimum(np.searchsorted(content_keys, entries.content_keys), len(content_keys) - 1)
        mine = content_keys[rows] == entries.content_keys
        part = _sums(rows[mine], entries.hashes[mine], len(content_keys))
        total.counts[:] += part.counts
        total.hashes[:] += part.hashes
    return total


def _sums(rows: NDArray[np.int64], hashes: NDArray[np.uint32], count: int) -> _Sums:
    mixed = (hashes.astype(np.uint64) + GOLDEN) * MIX_1
    mixed = (mixed ^ mixed >> np.uint64(32)) * GOLDEN
    sums = np.zeros(count, np.uint64)
    np.add.at(sums, rows, mixed)
    return _Sums(np.bincount(rows, minlength=count), sums)
