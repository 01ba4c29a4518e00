"""From shingle sets to signatures, and from two signatures to an estimated similarity.

Owns the two schemes and their hash functions. A signature depends on the set alone: order and repeats do not
change it. Signatures of different schemes, seeds or lengths cannot be compared.

Limitation: a signature does not record its seed, so the caller must not mix seeds.
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
    """Return the signature of each set; all bits are ones for an empty set.

    ``fss2``: the low 16 bits of the minima of ``fss1``. Two that differ are taken for equal once in 65,536 times.
    ``fss1``: in each round below num_perm, every element gets a random slot and a random value. A slot keeps its
    least (round, value). The rounds end when no slot is empty; from round num_perm on, each fills a single slot.
    ``universal``: each of num_perm functions a*x+b mod 2**64, a odd, keeps its least value.
    All mix a minimum before they keep some of its 64 bits, because its high bits are mostly zero.

    Returns: uint32, shape (n, num_perm).
    Source: Dahlgaard, Knudsen, Thorup 2017, Fast similarity sketching (fss1); Li, König 2010, b-bit minwise hashing
    (fss2); Broder 1997 (universal).
    """
    if permutations.scheme != "universal":
        seeds = _stream(permutations.seed, 2 * permutations.num_perm)
        minima = kernels.fss1_minima(sets.hashes, sets.offsets, seeds, permutations.num_perm)
        if permutations.scheme == "fss2":
            minima &= np.uint32(0xFFFF)
    else:
        stream = _stream(permutations.seed, 2 * permutations.num_perm)
        multipliers, addends = stream[0::2] | np.uint64(1), stream[1::2].copy()
        minima = kernels.universal_minima(sets.hashes, sets.offsets, multipliers, addends)
    return Signatures(minima, permutations.scheme)


def estimate(left: Signatures, right: Signatures) -> NDArray[np.float64]:
    """Return the estimated Jaccard similarity of pairs of signatures: the fraction of equal minima.

    Two empty sets have similarity 1.

    Args: left, right: uint32, shape (m, num_perm); row i of each makes one pair.
    Returns: float64, shape (m,), in [0, 1]; standard error at most sqrt(J(1-J)/num_perm).
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
    """Return the first numbers of SplitMix64.

    Source: Steele, Lea, Flood 2014, Fast splittable pseudorandom number generators.
    """
    x = np.uint64(seed) + GOLDEN * np.arange(1, length + 1, dtype=np.uint64)
    x = (x ^ (x >> np.uint64(30))) * SPLITMIX_1
    x = (x ^ (x >> np.uint64(27))) * SPLITMIX_2
    return x ^ (x >> np.uint64(31))
