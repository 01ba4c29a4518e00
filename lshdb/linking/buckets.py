"""From buckets to candidate pairs, in arrays. The rule itself is `Expansion`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.model.arrays import places_within, runs_of, slices_within
from lshdb.model.expansion import Expansion

__all__ = ["Piece", "expand", "expand_piece", "pieces", "with_any"]

# Candidate pairs made at a time: 64 MB of keys.
SLICE_PAIRS: Final = 4_000_000


def with_any(rows: NDArray[np.int64], is_sought: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which rows are in a bucket that has one of the sought contents, bool, shape (n,).

    Args:
        rows: (bucket_hash, content_key) of whole buckets, int64, shape (n, 2), sorted.
        is_sought: bool, shape (n,).
    """
    starts, sizes = runs_of(rows[:, 0])
    return np.repeat(np.logical_or.reduceat(is_sought, starts), sizes)


class Piece(Struct, frozen=True):
    """Sorted bucket rows, of which the first bucket may have begun in an earlier piece, and the last may continue.

    Args:
        rows: (bucket, content_key), int64, shape (n, 2), sorted.
        num_held: how many of the rows repeat the first contents of a bucket that began earlier.
        num_before: how many contents that bucket had in earlier pieces.
        is_last: whether the last bucket ends here.
    """

    rows: NDArray[np.int64]
    num_held: int = 0
    num_before: int = 0
    is_last: bool = True

    def sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where each bucket starts, and how many contents it has so far, int64, shape (b,)."""
        starts, sizes = runs_of(self.rows[:, 0])
        if self.num_held:
            sizes[0] += self.num_before - self.num_held
        return starts, sizes

    def oversized(self, expansion: Expansion) -> NDArray[np.int64]:
        """Return (bucket, num_contents) of the hot buckets that end here, int64, shape (m, 2)."""
        starts, sizes = self.sizes()
        hot = expansion.is_oversized(sizes)
        hot[len(hot) if self.is_last else -1 :] = False
        return np.column_stack([self.rows[starts[hot], 0], sizes[hot]])


def pieces(blocks: Iterator[NDArray[np.int64]], expansion: Expansion) -> Iterator[Piece]:
    """Yield sorted rows in pieces that can be expanded one by one. Memory: a block and `cap` rows, for any bucket.

    Args: blocks: (bucket, content_key), int64, shape (n, 2), sorted across all blocks.
    """
    held, num_before = np.empty((0, 2), dtype=np.int64), 0
    for block in blocks:
        if not len(block):
            continue
        piece = Piece(np.concatenate([held, block]), len(held), num_before, is_last=False)
        yield piece
        starts, sizes = piece.sizes()
        # Later contents of the last bucket are paired with some of these only.
        held, num_before = piece.rows[starts[-1] :][: expansion.cap], int(sizes[-1])
    if len(held):
        yield Piece(held, len(held), num_before)


def expand(
    rows: NDArray[np.int64], is_new: NDArray[np.bool_], expansion: Expansion, slice_pairs: int = SLICE_PAIRS
) -> Iterator[NDArray[np.int64]]:
    """Yield the candidate pairs of whole buckets that have a new content, int64, shape (m, 2), left < right.

    Args:
        rows: (bucket, content_key), int64, shape (n, 2), sorted.
        is_new: bool, shape (n,).
        slice_pairs: roughly how many pairs are made at a time.
    """
    return expand_piece(Piece(rows), is_new, expansion, slice_pairs)


def expand_piece(
    piece: Piece, is_new: NDArray[np.bool_], expansion: Expansion, slice_pairs: int = SLICE_PAIRS
) -> Iterator[NDArray[np.int64]]:
    """Yield the candidate pairs of a piece that have a new content, and that no earlier piece has. As `expand`."""
    rows = piece.rows
    starts, sizes = runs_of(rows[:, 0])
    first = np.repeat(starts, sizes)
    rank = np.arange(len(rows)) - first
    if piece.num_held:
        rank[piece.num_held : sizes[0]] += piece.num_before - piece.num_held
    # A content that is not new has no pair unless an earlier one is new. Large buckets are mostly such contents.
    num_earlier: NDArray[np.int64] = np.cumsum(is_new) - is_new
    has_pair = is_new | (num_earlier > num_earlier[first])
    num_mates = np.where(has_pair, expansion.num_mates(rank), 0)
    num_mates[: piece.num_held] = 0
    for some in slices_within(num_mates, slice_pairs):
        counts = num_mates[some]
        later = np.repeat(np.arange(some.start, some.stop), counts)
        # The place within its run is the rank of a mate.
        earlier = first[later] + places_within(counts)
        kept = is_new[earlier] | is_new[later]
        yield np.column_stack([rows[earlier[kept], 1], rows[later[kept], 1]])
