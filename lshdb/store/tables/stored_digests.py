"""The high bits of all digests of an index, held in memory while a load looks its digests up.

The digests of a batch are spread over all digests, so that a large index would read the filters of all of them for each
batch: 0.2 s with ten million contents. But nearly all are new. So a load reads these filters once, and then looks up
only the digests whose high bits are there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Self

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.model.choices import Scheme
from lshdb.store.schema import DIGEST_BAND
from lshdb.store.tables import filters
from lshdb.store.tables.filters import LABEL_BITS
from lshdb.store.tables.generation_list import generations
from lshdb.store.tables.generations import num_contents
from lshdb.store.transaction import Transaction

__all__ = ["StoredDigests", "are_worth_reading"]

# Looking a digest up takes half as long as reading those of this many contents, and a load has several batches.
CONTENTS_A_LOOKUP: Final = 1_000
# Their digests take 64 MB. With more contents, each batch is looked up.
MOST_CONTENTS: Final = 16_000_000

_POSITIONS: Final = filters.band_positions(DIGEST_BAND)


def are_worth_reading(transaction: Transaction, num_digests: int) -> bool:
    """Return whether looking up this many digests takes longer than reading all, and these fit in memory."""
    return num_contents(transaction) <= min(CONTENTS_A_LOOKUP * num_digests, MOST_CONTENTS)


class StoredDigests(Struct, frozen=True):
    """The 32 high bits of all digests of an index.

    Args:
        scheme: of the index.
        parts: uint32, shape (n,), each ascending.
    """

    scheme: Scheme
    parts: tuple[NDArray[np.uint32], ...]

    @classmethod
    def read(cls, transaction: Transaction) -> Self:
        """Read the filters of all digests, and the digests of generations without a filter."""
        known = generations(transaction)
        numbers = sorted({one.filter for one in known if one.filter is not None})
        filtered = [map(filters.places_of, filters.parts_in(transaction, number, _POSITIONS)) for number in numbers]
        young = [
            map(_places, filters.rows_in(transaction, one.number, _POSITIONS)) for one in known if one.filter is None
        ]
        return cls(filters.scheme_of(transaction), tuple(map(_joined, filtered + young)))

    def may_have(self, hashes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which digests may be there, bool, shape (n,). Args: hashes: in DIGEST_BAND, int64, shape (n,)."""
        wanted = filters.positions_of(hashes, DIGEST_BAND, self.scheme).astype(np.uint32)
        found = np.zeros(len(hashes), dtype=np.bool_)
        for part in self.parts:
            if len(part):
                found |= part.take(np.searchsorted(part, wanted), mode="clip") == wanted
        return found


def _places(entries: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return the low 32 bits of positions. Args: entries: whole positions with labels."""
    return (entries >> LABEL_BITS).astype(np.uint32)


def _joined(blocks: Iterable[NDArray[np.uint32]]) -> NDArray[np.uint32]:
    return np.concatenate([np.empty(0, dtype=np.uint32), *blocks])
