"""The high bits of all digests of an index, which a writer holds in memory from one load to the next.

The digests of a batch are spread over all digests, so that a large index would read the filters of all of them for each
batch: 0.2 s with ten million contents. But nearly all are new. So a writer reads these filters once, and then looks up
only the digests whose high bits are there.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Self

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from lshdb.model.arrays import distinct
from lshdb.model.choices import Scheme
from lshdb.store.schema import DIGEST_BAND
from lshdb.store.tables import filters
from lshdb.store.tables.bands import last_content
from lshdb.store.tables.filters import LABEL_BITS
from lshdb.store.tables.generation_list import generations
from lshdb.store.tables.generations import lacks_key, num_contents
from lshdb.store.transaction import Transaction

__all__ = ["StoredDigests"]

# Looking a digest up takes half as long as reading those of this many contents, and a load has several batches.
CONTENTS_A_LOOKUP: Final = 1_000
# Their digests take 64 MB. With more contents, each batch is looked up.
MOST_CONTENTS: Final = 16_000_000

_POSITIONS: Final = filters.band_positions(DIGEST_BAND)


def _are_worth_reading(transaction: Transaction, num_digests: int) -> bool:
    """Return whether looking up this many digests takes longer than reading all, and these fit in memory.

    Before the first ingest of Postgres has built the key of the buckets, they would not be read in order.
    """
    fit = num_contents(transaction) <= min(CONTENTS_A_LOOKUP * num_digests, MOST_CONTENTS)
    return fit and not lacks_key(transaction)


class StoredDigests(Struct, frozen=True):
    """The 32 high bits of the digests of all contents up to one, and perhaps of some that were deleted.

    Keys ascend. So these are all digests of an index as long as it has no greater key.

    Args:
        scheme: of the index.
        last_key: the greatest content_key; 0 if there are no contents.
        parts: uint32, shape (n,), each ascending. The last is of contents that were added since the others were read.
    """

    scheme: Scheme
    last_key: int
    parts: tuple[NDArray[np.uint32], ...]

    @classmethod
    def of(cls, transaction: Transaction, num_digests: int, known: Self | None = None) -> Self | None:
        """Return the digests of an index; None if reading them is not worth it to look up `num_digests` digests.

        Args: known: those that it had earlier. They are not read again unless somebody has added others.
        """
        last_key = last_content(transaction) or 0
        if known is not None and known.last_key == last_key:
            return known
        return cls.read(transaction, last_key) if _are_worth_reading(transaction, num_digests) else None

    @classmethod
    def read(cls, transaction: Transaction, last_key: int) -> Self:
        """Read the filters of all digests, and the digests of generations without a filter."""
        known = generations(transaction)
        numbers = sorted({one.filter for one in known if one.filter is not None})
        filtered = [map(filters.unpacked, filters.parts_in(transaction, number, _POSITIONS)) for number in numbers]
        young = [filters.rows_in(transaction, one.number, _POSITIONS) for one in known if one.filter is None]
        added = np.empty(0, dtype=np.uint32)
        return cls(filters.scheme_of(transaction), last_key, (*map(_places, [*filtered, *young]), added))

    def with_added(self, hashes: NDArray[np.int64], last_key: int) -> Self | None:
        """Return these digests and those of the contents that were added next; None if there are too many.

        Args: hashes: in DIGEST_BAND, int64, shape (n,); a few runs of them ascend. last_key: of the contents.
        """
        *read, added = self.parts
        added = distinct(np.concatenate([added, self._places_of(hashes)]), in_runs=True)
        parts = (*read, added)
        return replace(self, last_key=last_key, parts=parts) if sum(map(len, parts)) <= MOST_CONTENTS else None

    def may_have(self, hashes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which digests may be there, bool, shape (n,). Args: hashes: in DIGEST_BAND, int64, shape (n,)."""
        wanted = self._places_of(hashes)
        found = np.zeros(len(hashes), dtype=np.bool_)
        for part in self.parts:
            if len(part):
                found |= part.take(np.searchsorted(part, wanted), mode="clip") == wanted
        return found

    def _places_of(self, hashes: NDArray[np.int64]) -> NDArray[np.uint32]:
        return filters.positions_of(hashes, DIGEST_BAND, self.scheme).astype(np.uint32)


def _places(blocks: Iterable[NDArray[np.int64]]) -> NDArray[np.uint32]:
    """Return the low 32 bits of the positions of entries. Args: blocks: of whole positions with labels."""
    places = [(entries >> LABEL_BITS).astype(np.uint32) for entries in blocks]
    return np.concatenate([np.empty(0, dtype=np.uint32), *places])
