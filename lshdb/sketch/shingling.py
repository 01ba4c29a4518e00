"""From normal forms to shingles: k-grams of words or characters, or features, as 64-bit hashes.

The hash of a shingle depends on its tokens alone, never on where it stands. A text of fewer tokens than the
shingle size is one shingle of them all; an empty one has none.

Limitation: a hash stands for its shingle; two of n different shingles share one with probability n*n / 2**65.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lshdb.model.params import Shingling
from lshdb.model.values import NormalForms, ShingleSets
from lshdb.sketch import kernels
from lshdb.sketch.kernels import codepoints

__all__ = ["distinct", "shingle"]


def shingle(forms: NormalForms, shingling: Shingling) -> ShingleSets:
    """The shingles of normal forms, in reading order with repeats.

    With `multiset` the i-th repeat of a shingle is an element of its own, so that the Jaccard similarity of
    what comes out is the bag Jaccard of the texts.

    Returns: hashes uint64, shape (S,); offsets int64, shape (n + 1,).
    Source: Broder 1997, On the resemblance and containment of documents; the rolling hash: Karp, Rabin 1987.
    """
    sets = ShingleSets(*_hashes(forms, shingling))
    if not shingling.multiset:
        return sets
    return ShingleSets(kernels.number_occurrences(sets.hashes, sets.offsets), sets.offsets)


def distinct(sets: ShingleSets) -> ShingleSets:
    """The same sets, each sorted and without repeats."""
    hashes, offsets = sets.hashes.copy(), sets.offsets.tolist()
    for start, stop in pairwise(offsets):
        hashes[start:stop].sort()
    return ShingleSets(*kernels.first_occurrences(hashes, sets.offsets))


def _hashes(forms: NormalForms, shingling: Shingling) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    if shingling.kind == "word":
        return kernels.shingle_words(forms.codepoints, forms.offsets, shingling.size, codepoints.table())
    if shingling.kind == "char":
        return kernels.shingle_chars(forms.codepoints, forms.offsets, shingling.size)
    return kernels.shingle_lines(forms.codepoints, forms.offsets)
