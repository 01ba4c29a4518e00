"""Find the N-grams that are sought in other texts. Runs in threads and in worker processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Generic, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.model.batches import in_batches
from lshdb.model.params import Shingling
from lshdb.model.values import NormalForms
from lshdb.sketch import kernels
from lshdb.sketch.kernels import codepoints
from lshdb.sketch.kernels.ngram_values import NgramTable
from lshdb.sketch.normalization import normalise_utf8

__all__ = ["BATCH_BYTES", "Found", "Probe", "Probed", "batches", "joined"]

_Key = TypeVar("_Key")

# Words do not depend on how an index shingles its texts.
WORDS: Final = Shingling("word", 1)
# Text that is probed at a time. The arrays of the kernels are 20 times as large.
BATCH_BYTES: Final = 1_000_000


class Found(Struct, frozen=True):
    """The N-grams found in n texts that have at least one each.

    Args:
        texts: which of the given texts they are, int64, shape (n,), ascending.
        hits: (text, first word, N-gram), int64, shape (m, 3), sorted; texts are counted from 0 to n - 1.
    """

    texts: NDArray[np.int64]
    hits: NDArray[np.int64]


class Probe(Struct, frozen=True):
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
        """Return (text, first word, N-gram) in normal forms, as `find_ngrams` does."""
        return kernels.find_ngrams(forms.codepoints, forms.offsets, codepoints.table(), self.secret, self.ngrams)


class Probed(Struct, Generic[_Key], frozen=True):
    """Those of `num_read` texts that have N-grams that are sought: n keys, hits as of `Found`, n zstd frames."""

    keys: Sequence[_Key]
    hits: NDArray[np.int64]
    frames: Sequence[bytes]
    num_read: int


def batches(texts: Iterable[tuple[_Key, bytes]], num_bytes: int) -> Iterator[list[tuple[_Key, bytes]]]:
    """Yield (key, text) in batches of about this size."""
    return in_batches(texts, lambda one: len(one[1]), num_bytes)


def joined(parts: Sequence[Probed[_Key]]) -> Probed[_Key]:
    """Return several results as one."""
    hits = [np.empty((0, 3), np.int64)]
    before = 0
    for part in parts:
        hits.append(part.hits + np.array([before, 0, 0]))
        before += len(part.keys)
    return Probed(
        [key for part in parts for key in part.keys],
        np.concatenate(hits),
        [frame for part in parts for frame in part.frames],
        sum(part.num_read for part in parts),
    )
