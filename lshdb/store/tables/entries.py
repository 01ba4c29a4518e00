"""Fingerprints of contents, packed into rows of `fingerprint_block`.

An entry is a fingerprint and a content that has it. The entries whose fingerprints share their high 16 bits and that
are written together form a block, one row of the table. An entry takes 6 bytes there, and a row of its own would take
12 bytes in SQLite and 72 in Postgres. On 24,560 manual pages with 314 fingerprints each, rows of their own took 173 us
of processor time for each page, and blocks take 70.

Limitation: a fingerprint cannot be looked up in plain SQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.store.dialect import Columns

__all__ = ["Entries", "packed", "unpacked"]

# A row of SQLite stays on its page up to 4 kB, and one of Postgres up to 2 kB.
BLOCK_ENTRIES: Final = 256

_ENTRY: Final = np.dtype([("low", "<u2"), ("ahead", "<u4")])
_LOW_BITS: Final = 16


class Entries(Struct, frozen=True):
    """Fingerprints and contents that have them.

    Args:
        hashes: uint32, shape (n,).
        content_keys: int64, shape (n,).
    """

    hashes: NDArray[np.uint32]
    content_keys: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.hashes)

    def chosen(self, which: NDArray[np.bool_] | NDArray[np.int64]) -> Entries:
        """Return some of the entries."""
        return Entries(self.hashes[which], self.content_keys[which])

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Entries:
        """Return the entries of several parts, in their order."""
        return Entries(
            np.concatenate([np.empty(0, np.uint32), *(part.hashes for part in parts)]),
            np.concatenate([np.empty(0, np.int64), *(part.content_keys for part in parts)]),
        )


def packed(entries: Entries) -> Columns:
    """Return distinct entries in any order as columns of `fingerprint_block`, sorted like the table."""
    if not len(entries):
        return {"prefix": [], "first_content_key": [], "entries": []}
    ordered = entries.chosen(_order(entries))
    prefixes, keys = ordered.hashes >> np.uint32(_LOW_BITS), ordered.content_keys
    starts = _block_starts(prefixes, keys)
    stops = np.append(starts[1:], len(keys))
    rows = np.empty(len(keys), _ENTRY)
    rows["low"] = ordered.hashes.astype(np.uint16)
    rows["ahead"] = keys - np.repeat(keys[starts], stops - starts)
    joined, size = rows.tobytes(), _ENTRY.itemsize
    spans = zip((size * starts).tolist(), (size * stops).tolist(), strict=True)
    return {
        "prefix": prefixes[starts].astype(np.int32),
        "first_content_key": keys[starts],
        "entries": [joined[start:stop] for start, stop in spans],
    }


def unpacked(prefixes: Sequence[int], first_keys: Sequence[int], blocks: Sequence[bytes]) -> Entries:
    """Return the entries of rows of `fingerprint_block`, in their order. Bytes that are no whole entry are ignored."""
    size = _ENTRY.itemsize
    counts = np.fromiter((len(block) // size for block in blocks), np.int64, len(blocks))
    whole = (block[: len(block) // size * size] for block in blocks)
    rows = np.frombuffer(b"".join(whole), _ENTRY)
    high = np.repeat(np.asarray(prefixes, np.uint32) << np.uint32(_LOW_BITS), counts)
    keys = np.repeat(np.asarray(first_keys, np.int64), counts) + rows["ahead"]
    return Entries(high | rows["low"], keys)


def _order(entries: Entries) -> NDArray[np.int64]:
    """Return the order by prefix, content_key and fingerprint."""
    least = int(entries.content_keys.min())
    if int(entries.content_keys.max()) - least >= 2**32:
        prefixes = entries.hashes >> np.uint32(_LOW_BITS)
        return np.lexsort((entries.hashes, entries.content_keys, prefixes))
    # One number for each entry: sorting them takes a fifth of the time.
    ahead = (entries.content_keys - least).astype(np.uint64)
    hashes = entries.hashes.astype(np.uint64)
    low = hashes & np.uint64(2**_LOW_BITS - 1)
    codes = hashes >> np.uint64(_LOW_BITS) << np.uint64(48) | ahead << np.uint64(_LOW_BITS) | low
    order: NDArray[np.int64] = np.argsort(codes)
    return order


def _block_starts(prefixes: NDArray[np.uint32], keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where blocks begin: int64, ascending. No two blocks of a prefix begin with the same content."""
    changes = prefixes[1:] != prefixes[:-1]
    first = np.flatnonzero(np.append(True, changes))
    ranks = np.arange(len(keys)) - np.repeat(first, np.diff(np.append(first, len(keys))))
    is_next_content = keys[1:] != keys[:-1]
    is_full = (ranks[1:] % BLOCK_ENTRIES == 0) & is_next_content
    # What a key is ahead of the first must fit in 32 bits.
    is_far = keys[1:] >> 32 != keys[:-1] >> 32
    return np.flatnonzero(np.append(True, changes | is_full | is_far))
