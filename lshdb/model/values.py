"""The frozen values that pass between the stages, and nothing that computes.

A batch of n documents travels as::

    Document -> NormalForms -> ShingleSets -> Signatures -> BandKeys -> Sketches -> the store
    CandidatePairs -> VerifiedPairs

Arrays are never written to after they are made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from lshdb.model.arrays import row_offsets
from lshdb.model.params import Scheme

__all__ = [
    "BandKeys",
    "CandidatePairs",
    "Counts",
    "Document",
    "NormalForms",
    "Rejection",
    "ShingleSets",
    "Signatures",
    "Sketches",
    "VerifiedPairs",
]


@dataclass(frozen=True, slots=True)
class Document:
    """One place where a text (or a set of features) was seen.

    Args:
        doc_id: the user's name for it; not empty, no NUL character.
        text: the text; empty where `features` is given.
        features: the elements of a document that already is a set, as strings without line ends; None for a text.
        source: the URI of the file it came from; None where a program handed it over.
        locator: where in the source (``line 17``); empty where the document is the whole source.
        num_replaced: how many undecodable byte sequences of it became U+FFFD.
        dated_at: when it was seen there, as its record says (WARC-Date): microseconds since 1970 UTC; None where
            nothing says so.
    """

    doc_id: str
    text: str = ""
    features: tuple[str, ...] | None = None
    source: str | None = None
    locator: str = ""
    num_replaced: int = 0
    dated_at: int | None = None


@dataclass(frozen=True, slots=True)
class NormalForms:
    """The normal forms of n texts, ragged: text i has ``codepoints[offsets[i]:offsets[i + 1]]``.

    Args:
        codepoints: uint32, shape (C,).
        offsets: int64, shape (n + 1,).
    """

    codepoints: NDArray[np.uint32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class ShingleSets:
    """The shingles of n texts, ragged: text i has ``hashes[offsets[i]:offsets[i + 1]]``.

    Args:
        hashes: uint64, shape (S,); in reading order, repeats included, unless a function says sorted and unique.
        offsets: int64, shape (n + 1,).
    """

    hashes: NDArray[np.uint64]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of hashes of each text, int64, shape (n,)."""
        return np.diff(self.offsets)

    @classmethod
    def concatenate(cls, parts: Sequence[ShingleSets]) -> ShingleSets:
        """The texts of the parts, of which there is one at least, one behind the other."""
        if len(parts) == 1:
            return parts[0]
        sizes = np.concatenate([part.sizes for part in parts])
        return cls(np.concatenate([part.hashes for part in parts]), row_offsets(sizes))


@dataclass(frozen=True, slots=True)
class Signatures:
    """MinHash signatures: ``minima`` uint32, shape (n, num_perm), made by `scheme`.

    The row of an empty set is all ones (2**32 - 1); such a row is never banded.
    """

    minima: NDArray[np.uint32]
    scheme: Scheme

    def __len__(self) -> int:
        return len(self.minima)


@dataclass(frozen=True, slots=True)
class BandKeys:
    """The bucket hash of each band of n signatures: ``keys`` uint64, shape (n, bands).

    Args: first_band: the number that the first band's buckets are kept under.
    """

    keys: NDArray[np.uint64]
    first_band: int = 0

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class Sketches:
    """All that the store needs of n documents, row i of each belonging to document i.

    Args:
        digests: uint8, shape (n, 16); the content's identity; all zero for an empty document.
        num_shingles: int64, shape (n,), repeats included; 0 for an empty document, which has no content.
        signatures: shape (n, num_perm).
        band_keys: shape (n, bands).
        texts: n zstd frames of the UTF-8 text; None where the index keeps no text.
    """

    digests: NDArray[np.uint8]
    num_shingles: NDArray[np.int64]
    signatures: Signatures
    band_keys: BandKeys
    texts: tuple[bytes, ...] | None

    def __len__(self) -> int:
        return len(self.digests)


@dataclass(frozen=True, slots=True)
class CandidatePairs:
    """Pairs of contents that share a bucket: ``keys`` int64, shape (m, 2), left < right, no pair twice."""

    keys: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, slots=True)
class VerifiedPairs:
    """Pairs with their similarity.

    Args:
        keys: int64, shape (m, 2), left < right.
        similarity: float64, shape (m,), Jaccard in [0, 1].
        exact: bool, shape (m,); False where the similarity is the signatures' estimate.
    """

    keys: NDArray[np.int64]
    similarity: NDArray[np.float64]
    exact: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def estimated(cls, keys: NDArray[np.int64], similarity: NDArray[np.float64]) -> VerifiedPairs:
        """Pairs of which no similarity is exact."""
        return cls(keys, similarity, np.zeros(len(keys), dtype=np.bool_))

    def chosen(self, which: NDArray[np.bool_] | slice) -> VerifiedPairs:
        """Some of the pairs."""
        return VerifiedPairs(self.keys[which], self.similarity[which], self.exact[which])


# What a reason goes on with when it comes to the particulars.
_PARTICULAR = re.compile(r"[:;]| \(| after | at ")


@dataclass(frozen=True, slots=True)
class Rejection:
    """One bad item that was left out: ``reason`` says why, ``locator`` where in the source (may be empty)."""

    source: str
    locator: str
    reason: str

    @property
    def kind(self) -> str:
        """The reason without what is particular to this item, which stands last: ``: 7 bytes``, ``after line 3``."""
        return _PARTICULAR.split(self.reason, 1)[0]


@dataclass(frozen=True, slots=True)
class Counts:
    """What a run, or one batch of it, did; documents but for the last two."""

    num_added: int = 0
    num_updated: int = 0
    num_unchanged: int = 0
    num_removed: int = 0
    num_empty: int = 0
    num_rejected: int = 0
    num_replaced: int = 0
    num_contents: int = 0
    num_bytes: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(self)))
