"""Choose the texts to keep, so that each of the others is contained in a kept one.

A text is kept unless a longer kept text contains it. The longest text is therefore kept, and the decision about any
other depends on longer ones only. So there is exactly one answer, even where texts contain each other, and:

- Each dropped text is contained in the kept one itself, not only through a chain of containments, each of which loses a
  little.
- No kept text is contained in another one.

Of texts with the same number of shingles, the better-ranked one counts as longer.

Knows no threshold and no storage.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.passages.containment import ContainedPairs

__all__ = ["containers"]


def containers(pairs: ContainedPairs, best: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each content the row of the content that is kept for it: itself, or one that contains it.

    If several kept texts contain a text, it is dropped for the one that contains most of it, and among equals for the
    best-ranked one.

    Args:
        pairs: with rows instead of keys.
        best: int64, shape (n,); the least rank of each content; 0 is the best.

    Returns: int64, shape (n,).
    """
    sizes = np.zeros(len(best), np.int64)
    sizes[pairs.keys] = pairs.num_shingles
    place = np.empty(len(best), np.int64)
    place[np.lexsort((best, -sizes))] = np.arange(len(best))
    small, large = pairs.keys.T
    # Texts of equal size contain the same share of each other.
    turned = place[small] < place[large]
    small, large = np.where(turned, large, small), np.where(turned, small, large)
    order = np.lexsort((best[large], -pairs.containment, place[small]))
    kept = np.arange(len(best))
    for one, other in zip(small[order].tolist(), large[order].tolist(), strict=True):
        if kept[one] == one and kept[other] == other:
            kept[one] = other
    return kept
