"""Find the N-grams that are sought in other texts. Runs in threads and in worker processes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lshdb.model.params import Shingling
from lshdb.model.values import NormalForms
from lshdb.sketch import kernels
from lshdb.sketch.kernels import codepoints
from lshdb.sketch.kernels.ngram_values import NgramTable
from lshdb.sketch.normalization import normalise_utf8

__all__ = ["WORDS", "Found", "Probe"]

# Words do not depend on how an index shingles its texts.
WORDS = Shingling("word", 1)


@dataclass(frozen=True, slots=True)
class Found:
    """The N-grams found in n texts that have at least one each.

    Args:
        texts: which of the given texts they are, int64, shape (n,), ascending.
        hits: (text, first word, N-gram), int64, shape (m, 3), sorted; texts are counted from 0 to n - 1.
    """

    texts: NDArray[np.int64]
    hits: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Probe:
    """Finds numbered N-grams. Args: secret: what their hashes depend on, uint64, shape (2,)."""

    ngrams: NgramTable
    secret: NDArray[np.uint64]

    def found_in(self, encoded: Sequence[bytes]) -> Found:
        """Return what texts in UTF-8 hold of these N-grams."""
        hits = self.hits_of(normalise_utf8(encoded, WORDS))
        texts, rows = np.unique(hits[:, 0], return_inverse=True)
        hits[:, 0] = rows
        return Found(texts, hits)

    def hits_of(self, forms: NormalForms) -> NDArray[np.int64]:
        """Return (text, first word, N-gram) in normal forms, int64, shape (m, 3), by text, size and word."""
        return kernels.find_ngrams(forms.codepoints, forms.offsets, codepoints.table(), self.secret, self.ngrams)
