"""Compute exact similarity and containment, and the number of equal minima below which a pair is not worth computing.

Knows no threshold and no storage.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.errors import InvalidParams
from lshdb.model.arrays import distinct
from lshdb.model.values import ShingleSets
from lshdb.sketch import kernels

__all__ = ["containment", "groups", "intersections", "jaccard", "jaccard_with_first", "min_agreement"]

# Chooses the slots of hash tables, so that nobody can write texts whose shingles all fall into one slot.
MULTIPLIER: Final = np.uint64(secrets.randbits(64) | 1)

# Shingles of the sets of a group: 64 MB of hashes, and up to four times as much for the numbers of one family of all.
GROUP_SHINGLES: Final = 8_000_000

# 8 MB of bits: more would not stay in the cache.
MATRIX_WORDS: Final = 1 << 20
# Measured: 0.3 ns a word, 1 ns a lookup.
LOOKUP_WORDS: Final = 3


def jaccard(sets: ShingleSets, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the exact Jaccard similarity of pairs of sets: the size of the intersection divided by that of the union.

    Args: left, right: int64, shape (m,); set left[i] and set right[i] form a pair. Repeats in a set do not count.

    Returns: float64, shape (m,), in [0, 1]; 0 if both sets are empty, because an empty document has no duplicates.
    Source: Jaccard 1912, The distribution of the flora in the alpine zone.
    """
    shared, sizes = intersections(sets, left, right)
    return _similarity(shared, sizes[left], sizes[right])


def jaccard_with_first(sets: ShingleSets) -> NDArray[np.float64]:
    """Return the exact Jaccard similarity of the first set and each of the others, float64, shape (n - 1,).

    Like `jaccard`, but a question has no families to find, which takes longer than comparing a few texts.
    """
    texts, ends = np.arange(len(sets)), np.asarray([0, len(sets)])
    pairs = np.stack([np.zeros_like(texts[1:]), texts[1:]])
    shared, sizes = _intersections(sets, texts, ends, pairs, ends - [0, 1])
    return _similarity(shared, sizes[0], sizes[1:])


def _similarity(
    shared: NDArray[np.int64], left: NDArray[np.int64] | np.int64, right: NDArray[np.int64]
) -> NDArray[np.float64]:
    union = left + right - shared
    similarity = np.zeros(len(shared), np.float64)
    np.divide(shared, union, out=similarity, where=union > 0)
    return similarity


def containment(sets: ShingleSets, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the containment of each left set: the size of the intersection divided by that of the left set.

    Args: as of `jaccard`.
    Returns: float64, shape (m,), in [0, 1]; 0 if the left set is empty.
    Source: Broder 1997, On the resemblance and containment of documents.
    """
    shared, sizes = intersections(sets, left, right)
    share = np.zeros(len(left), np.float64)
    np.divide(shared, sizes[left], out=share, where=sizes[left] > 0)
    return share


def intersections(
    sets: ShingleSets, left: NDArray[np.int64], right: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the size of the intersection of each pair, int64, shape (m,), and of each set, int64, shape (n,).

    Sets that are connected by pairs form a family; see `kernels.shared_in_families`. The size of a set that is in no
    pair is 0.

    Args: as of `jaccard`.
    """
    labels = np.arange(len(sets), dtype=np.int64)
    kernels.unite(labels, left, right)
    kernels.settle(labels)
    texts = np.argsort(labels, kind="stable")
    places = np.empty_like(texts)
    places[texts] = np.arange(len(texts))
    # Within a family by the right text, whose hashes are then marked only once.
    order = np.lexsort((places[right], labels[left]))
    pairs = np.stack([places[left[order]], places[right[order]]])
    first = np.flatnonzero(np.diff(labels[texts], prepend=-1))
    families = np.append(first, len(texts))
    ends = np.append(np.searchsorted(labels[left[order]], labels[texts[first]]), len(left))
    shared = np.empty(len(left), dtype=np.int64)
    shared[order], sizes = _intersections(sets, texts, families, pairs, ends)
    return shared, sizes


def _intersections(
    sets: ShingleSets,
    texts: NDArray[np.int64],
    families: NDArray[np.int64],
    pairs: NDArray[np.int64],
    ends: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what `intersections` does. Args: as of `kernels.shared_in_families`."""
    return kernels.shared_in_families(
        sets.hashes, sets.offsets, texts, families, pairs, ends, MULTIPLIER, MATRIX_WORDS, LOOKUP_WORDS
    )


def groups(
    num_shingles: NDArray[np.int64], pairs: NDArray[np.int64], most: int = GROUP_SHINGLES
) -> Iterator[NDArray[np.int64]]:
    """Yield groups of pairs whose sets have at most `most` shingles together; a single pair may have more.

    If all sets together have more, they are cut into blocks, and the pairs of two blocks stay together. So a set of a
    large family is in a group for each block, and not for each of its pairs.

    Args:
        num_shingles: int64, shape (n,), of each set.
        pairs: int64, shape (m, 2), of rows of `num_shingles`.

    Yields: int64, ascending: which pairs.
    """
    if not len(pairs):
        return
    is_used = np.zeros(len(num_shingles), np.bool_)
    is_used[pairs] = True
    total = np.cumsum(np.where(is_used, num_shingles, 0))
    if total[-1] <= most:
        yield np.arange(len(pairs))
        return
    # Of a third, so that two blocks also fit if the last set of each is a large one.
    blocks = total // max(1, most // 3)
    tiles = blocks[pairs] @ [blocks[-1] + 1, 1]
    order = np.argsort(tiles, kind="stable")
    # Where the pairs of other blocks start: ranges are cut there as long as they can be.
    starts = np.flatnonzero(np.diff(tiles[order])) + 1
    ranges = [(0, len(pairs))]
    while ranges:
        begin, end = ranges.pop()
        if end - begin == 1 or num_shingles[distinct(pairs[order[begin:end]])].sum() <= most:
            yield np.sort(order[begin:end])
            continue
        first, last = np.searchsorted(starts, [begin + 1, end]).tolist()
        middle = int(starts[(first + last) // 2]) if first < last else (begin + end) // 2
        # Pushed in reverse, so that groups stay in their order.
        ranges += [(middle, end), (begin, middle)]


def min_agreement(num_perm: int, similarity: float, loss: float = 1e-5) -> int:
    """Return the least number of equal minima that keeps a pair of the given similarity.

    Each of the num_perm minima of a pair is equal with probability J, so their number is binomial. The result is the
    greatest t with P(Binomial(num_perm, similarity) < t) <= loss. A pair at or above the similarity has fewer equal
    minima with a probability of at most `loss`.

    Args: similarity, loss: in [0, 1].
    Raises: InvalidParams: an argument is out of range.
    Source: Broder 1997 (one minimum agrees with probability J); the binomial distribution's lower tail, summed.
    """
    for name, value in (("similarity", similarity), ("loss", loss)):
        if not 0.0 <= value <= 1.0:
            raise InvalidParams(name=name, value=value, reason="it must be from 0 to 1")
    if similarity == 1.0:
        return num_perm
    below, agreement = 0.0, 0
    while agreement < num_perm:
        below += _binomial(num_perm, agreement, similarity)
        if below > loss:
            break
        agreement += 1
    return agreement


def _binomial(trials: int, successes: int, probability: float) -> float:
    """Return P(Binomial(trials, probability) = successes), by logarithms: coefficients overflow from 1,030 trials."""
    if probability == 0.0:
        return float(successes == 0)
    choose = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(trials - successes + 1)
    return math.exp(choose + successes * math.log(probability) + (trials - successes) * math.log1p(-probability))
