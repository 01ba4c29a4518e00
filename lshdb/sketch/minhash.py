"""From shingle sets to signatures, and from two signatures to an estimated similarity.

Owns the two schemes and where their hash functions come from. A signature depends on the set alone: neither
order nor repeats change it. Signatures of different schemes, seeds or lengths do not compare; the seed is the
caller's to watch, for it is not in the signature.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from lshdb.errors import InvalidParams
from lshdb.model.params import Permutations
from lshdb.model.values import ShingleSets, Signatures
from lshdb.sketch import kernels
from lshdb.sketch.kernels.constants import GOLDEN, SPLITMIX_1, SPLITMIX_2

__all__ = ["estimate", "sign"]


def sign(sets: ShingleSets, permutations: Permutations) -> Signatures:
    """The signature of each set; all ones for an empty one.

    ``fss1``: in round i < num_perm every element has a random slot and a random value; each slot keeps the least
    (round, value), and the rounds end when no slot is empty; rounds from num_perm on fill one slot each.
    ``universal``: each of num_perm functions a*x+b mod 2**64, a odd, keeps its least value.
    Either is mixed before 32 of its 64 bits are kept: the high bits of a minimum are mostly zero.

    Returns: uint32, shape (n, num_perm).
    Source: Dahlgaard, Knudsen, Thorup 2017, Fast similarity sketching (fss1); Broder 1997 (universal).
    """
    if permutations.scheme == "fss1":
        seeds = _stream(permutations.seed, 2 * permutations.num_perm)
        minima = kernels.fss1_minima(sets.hashes, sets.offsets, seeds, permutations.num_perm)
    else:
        stream = _stream(permutations.seed, 2 * permutations.num_perm)
        multipliers, addends = stream[0::2] | np.uint64(1), stream[1::2].copy()
        minima = kernels.universal_minima(sets.hashes, sets.offsets, multipliers, addends)
    return Signatures(minima, permutations.scheme)


def estimate(left: Signatures, right: Signatures) -> NDArray[np.float64]:
    """The estimated Jaccard similarity of aligned signatures: the fraction of equal minima.

    Args: left, right: uint32, shape (m, num_perm); row i of each is one pair.
    Returns: float64, shape (m,), in [0, 1]; standard error at most sqrt(J(1-J)/num_perm). Two empty sets are alike.
    Raises: InvalidParams: the two differ in scheme or shape.
    Source: Broder 1997, On the resemblance and containment of documents.
    """
    if left.scheme != right.scheme:
        raise InvalidParams(name="scheme", value=right.scheme, reason=f"the other signatures are {left.scheme}")
    if left.minima.shape != right.minima.shape:
        raise InvalidParams(name="shape", value=right.minima.shape, reason=f"the other's is {left.minima.shape}")
    fractions: NDArray[np.float64] = np.mean(left.minima == right.minima, axis=1)
    return fractions


@lru_cache(maxsize=8)
def _stream(seed: int, length: int) -> NDArray[np.uint64]:
    """The first numbers of SplitMix64. Source: Steele, Lea, Flood 2014, Fast splittable pseudorandom generators."""
    x = np.uint64(seed) + GOLDEN * np.arange(1, length + 1, dtype=np.uint64)
    x = (x ^ (x >> np.uint64(30))) * SPLITMIX_1
    x = (x ^ (x >> np.uint64(27))) * SPLITMIX_2
    return x ^ (x >> np.uint64(31))
