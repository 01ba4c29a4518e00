"""From normal forms to shingles: k-grams of words or characters, or features, as 64-bit hashes.

The hash of a shingle depends on its tokens alone, not on its position. A text with fewer tokens than the shingle
size has one shingle of all its tokens. An empty text has none.

In an index of version ``unicode14-2``, the hash also depends on a secret that comes from the index's seed. Without the
seed, nobody can choose shingles that collide.

Limitation: a hash stands for its shingle. Some two of n different shingles collide with probability n*n / 2**65. The
hash of ``unicode14-1`` has a public key: texts without a common word can be made to collide in every shingle.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from lshdb.model.params import FORGEABLE_HASHES, Shingling
from lshdb.model.values import NormalForms, ShingleSets
from lshdb.sketch import kernels
from lshdb.sketch.kernels import codepoints

__all__ = ["secret_of", "shingle"]


def shingle(forms: NormalForms, shingling: Shingling) -> ShingleSets:
    """Return the shingles of normal forms, in reading order, with repeats.

    With `multiset`, the i-th repeat of a shingle counts as a different element. The Jaccard similarity of the result
    is then the bag Jaccard of the texts.

    Returns: hashes uint64, shape (S,); offsets int64, shape (n + 1,).
    Source: Broder 1997, On the resemblance and containment of documents; the rolling hash: Karp, Rabin 1987.
    """
    sets = ShingleSets(*_hashes(forms, shingling))
    if not shingling.multiset:
        return sets
    return ShingleSets(kernels.number_occurrences(sets.hashes, sets.offsets), sets.offsets)


def _hashes(forms: NormalForms, shingling: Shingling) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    if shingling.version in FORGEABLE_HASHES:
        return _public_hashes(forms, shingling)
    secret = secret_of(shingling.seed)
    if shingling.kind == "word":
        return kernels.keyed_words(forms.codepoints, forms.offsets, shingling.size, codepoints.table(), secret)
    if shingling.kind == "char":
        return kernels.keyed_chars(forms.codepoints, forms.offsets, shingling.size, secret)
    return kernels.keyed_lines(forms.codepoints, forms.offsets, secret)


def _public_hashes(forms: NormalForms, shingling: Shingling) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    if shingling.kind == "word":
        return kernels.shingle_words(forms.codepoints, forms.offsets, shingling.size, codepoints.table())
    if shingling.kind == "char":
        return kernels.shingle_chars(forms.codepoints, forms.offsets, shingling.size)
    return kernels.shingle_lines(forms.codepoints, forms.offsets)


@lru_cache(maxsize=8)
def secret_of(seed: int) -> NDArray[np.uint64]:
    """Return what each code point is combined with: uint64, shape (2,); the second is odd."""
    digest = blake2b(seed.to_bytes(8, "little"), digest_size=16, person=b"lshdb shingles").digest()
    return np.frombuffer(digest, "<u8").astype(np.uint64) | np.array([0, 1], np.uint64)
