"""From shingles to fingerprints: the few shingles of a text that find every passage it shares with another text.

A passage is a run of N words. Its word k-grams fill one window of w = N - k + 1 consecutive k-grams, and the least hash
of every window is a fingerprint of the text.

Two texts that share N words in a row share a fingerprint. Proof: the run contains exactly w k-grams, in the same order,
in both texts. They are a window of each text, and the least of their hashes depends on nothing else. So it is a
fingerprint of both. This holds for every text, however its hashes are distributed.

About 2 / (w + 1) of the k-grams are fingerprints: two new minima in each w + 1 windows.

Limitations:
- A text of fewer than N words has no fingerprints.
- A fingerprint is 32 bits of a hash, so texts can share one by chance. Callers compare the words, or all 64 bits.

Source: Schleimer, Wilkerson, Aiken 2003, Winnowing: local algorithms for document fingerprinting. The paper also says
which of equal minima to choose. That does not matter here, because only the values are kept, not their positions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from lshdb.model.arrays import distinct, row_offsets
from lshdb.model.params import Shingling
from lshdb.model.values import Fingerprints, NormalForms, ShingleSets
from lshdb.sketch import kernels
from lshdb.sketch.shingling import shingle

__all__ = ["fingerprints", "fingerprints_of_shingles", "gram_shingling", "low_halves", "minima"]

# Words of a k-gram where the index's own shingles cannot be used. With k = 3, N = 13 needs a sixth fewer fingerprints,
# but in English texts each of them occurs in many more.
GRAM_WORDS: Final = 5


def gram_shingling(shingling: Shingling, num_words: int) -> Shingling:
    """Return the shingling into k-grams, under the same hash, in which repeats stay equal.

    k is the index's own shingle size if its shingles are of at most `num_words` words.
    """
    is_own = shingling.kind == "word" and shingling.size <= num_words
    size = shingling.size if is_own else min(GRAM_WORDS, num_words)
    return replace(shingling, kind="word", size=size, multiset=False)


def fingerprints(forms: NormalForms, shingling: Shingling, num_words: int) -> Fingerprints:
    """Return the fingerprints with which every run of `num_words` words is found.

    Args: forms: of texts, not of sets; shingling: of the index.
    """
    return _fingerprints(minima(forms, shingling, num_words))


def fingerprints_of_shingles(grams: ShingleSets, shingling: Shingling, num_words: int) -> Fingerprints:
    """Like `fingerprints`. Args: grams: the texts' k-grams in reading order, by `gram_shingling`."""
    return _fingerprints(_minima(grams, shingling, num_words))


def minima(forms: NormalForms, shingling: Shingling, num_words: int) -> ShingleSets:
    """Return the whole hashes whose low halves are the fingerprints. Args: as of `fingerprints`."""
    return _minima(shingle(forms, gram_shingling(shingling, num_words)), shingling, num_words)


def _minima(grams: ShingleSets, shingling: Shingling, num_words: int) -> ShingleSets:
    window = num_words - gram_shingling(shingling, num_words).size + 1
    return ShingleSets(*kernels.winnow(grams.hashes, grams.offsets, window))


def low_halves(hashes: NDArray[np.uint64]) -> NDArray[np.uint32]:
    """Return fingerprints: minima have small high halves, and low halves that are spread evenly."""
    return hashes.astype(np.uint32)


def _fingerprints(found: ShingleSets) -> Fingerprints:
    owners = np.repeat(np.arange(len(found), dtype=np.uint64), found.sizes)
    owned = distinct(owners << np.uint64(32) | low_halves(found.hashes))
    sizes = np.bincount((owned >> np.uint64(32)).astype(np.int64), minlength=len(found))
    return Fingerprints(owned.astype(np.uint32), row_offsets(sizes))
