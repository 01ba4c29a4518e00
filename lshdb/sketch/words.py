"""The words of texts: their hashes, and where they are, in the normal form and in the original text.

A word is what a word shingle is made of: a run of letters, marks, digits and underscores in lower case, or one code
point of a script that puts no spaces between words. Texts that differ in case, punctuation or white space only have the
same words.

Limitation: a hash stands for its word. Callers that need certainty compare the code points; see `Words.spelled`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.model.params import Shingling
from lshdb.model.values import NormalForms, ShingleSets
from lshdb.sketch import kernels
from lshdb.sketch.kernels import codepoints
from lshdb.sketch.normalization import prepared
from lshdb.sketch.shingling import shingle

__all__ = ["Words", "ngrams", "words"]


class Words(Struct, frozen=True):
    """The words of n texts, ragged: text i has words offsets[i] to offsets[i + 1].

    Args:
        forms: the normal forms, which consist of these words and spaces.
        hashes: uint64, shape (W,); equal words have equal hashes.
        bounds: int64, shape (W, 2): word w is ``forms.codepoints[bounds[w, 0]:bounds[w, 1]]``.
        places: int64, shape (W, 2): word w comes from bytes [places[w, 0], places[w, 1]) of its text in UTF-8.
        offsets: int64, shape (n + 1,).
    """

    forms: NormalForms
    hashes: NDArray[np.uint64]
    bounds: NDArray[np.int64]
    places: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def spelled(self, start: int, stop: int) -> str:
        """Return the words [start, stop), counted from the first word of the first text, with single spaces."""
        bounds = self.bounds[start:stop].tolist()
        return " ".join("".join(map(chr, self.forms.codepoints[first:last].tolist())) for first, last in bounds)


def words(encoded: Sequence[bytes], seed: int) -> Words:
    """Return the words of texts.

    Args:
        encoded: texts in UTF-8, as `texts.encode` returns them.
        seed: decides the hashes; see `shingling`.
    """
    folding = prepared(encoded)
    forms = NormalForms(*kernels.fold(*folding, False))
    bounds, offsets = kernels.split_words(forms.codepoints, forms.offsets, codepoints.table())
    places, _ = kernels.place_words(*folding)
    return Words(forms, ngrams(forms, 1, seed).hashes, bounds, places, offsets)


def ngrams(forms: NormalForms, size: int, seed: int) -> ShingleSets:
    """Return the hashes of the N-grams of words, in reading order: the i-th begins with word i of its text.

    A text of fewer words has one N-gram of all its words. A text without words has none.

    Args: size: N; seed: as of `words`.
    Returns: hashes uint64, shape (S,); offsets int64, shape (n + 1,).
    """
    return shingle(forms, Shingling("word", size, seed=seed))
