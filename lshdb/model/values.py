"""The frozen values that pass between the packages.

A batch of n documents travels as::

    Document -> NormalForms -> ShingleSets -> Signatures -> BandKeys -> Sketches -> the store
    CandidatePairs -> VerifiedPairs

Arrays are never changed after they are created.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.model.arrays import row_offsets
from lshdb.model.choices import MINIMUM_BYTES, Scheme
from lshdb.model.params import Permutations

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "MAX_ID_BYTES",
    "MAX_NAME_BYTES",
    "BandKeys",
    "CandidatePairs",
    "Conflicts",
    "Counts",
    "Document",
    "Fingerprints",
    "NormalForms",
    "Rejection",
    "ShingleSets",
    "Signatures",
    "Sketches",
    "VerifiedPairs",
    "num_characters",
    "stored_type",
    "summed",
    "unstorable",
]

_Counts = TypeVar("_Counts", bound="DataclassInstance")

# Bytes of UTF-8 of an indexed name. An entry of a Postgres index holds 2,704.
MAX_NAME_BYTES: Final = 2_600
# An id has fewer, because a qualified id adds the name of a file.
MAX_ID_BYTES: Final = 2_000


# Neither database can store one.
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def unstorable(text: str) -> str | None:
    """Return which character keeps a text from being stored, or None."""
    if "\0" in text:
        return "a NUL character"
    return "a lone surrogate" if not text.isascii() and _SURROGATE.search(text) else None


# The years 1 to 9999, in microseconds since 1970 UTC.
MIN_DATE: Final = -62_135_596_800_000_000
MAX_DATE: Final = 253_402_300_799_999_999


# A dataclass takes ten times as long to make. An ingest makes three of each: as read, without its text, as received.
class Document(Struct, frozen=True, gc=False):
    """One occurrence of a text, or of a set of features, such as a file or a record.

    Args:
        doc_id: the user's name for it: 1 to 2,000 bytes of UTF-8, without NUL characters.
        text: the text; empty if there are `features`.
        features: the elements of a document that is a set already: a list, tuple or set of strings without line ends;
            None for a text.
        source: the URI of the file it came from; None if a program added it.
        locator: where it is in the source (``line 17``); empty if the document is the whole source.
        num_replaced: the number of undecodable byte sequences that were replaced by U+FFFD.
        dated_at: the date of its record (WARC-Date), in microseconds since 1970 UTC, in the years 1 to 9999; None if it
            has none. A document does not replace one with the same id that has a later date.
    """

    doc_id: str
    text: str = ""
    features: Collection[str] | None = None
    source: str | None = None
    locator: str = ""
    num_replaced: int = 0
    dated_at: int | None = None


def num_characters(document: Document) -> int:
    """Return the size of a document's text or features."""
    return len(document.text) + sum(map(len, document.features or ()))


class NormalForms(Struct, frozen=True):
    """The normal forms of n texts, ragged: text i has ``codepoints[offsets[i]:offsets[i + 1]]``.

    Args:
        codepoints: uint32, shape (C,).
        offsets: int64, shape (n + 1,).
    """

    codepoints: NDArray[np.uint32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1


class _RaggedHashes(Struct, frozen=True):
    hashes: NDArray[Any]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of hashes of each text, int64, shape (n,)."""
        return np.diff(self.offsets)

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return the texts of one or more parts, in their order."""
        if len(parts) == 1:
            return parts[0]
        sizes = np.concatenate([part.sizes for part in parts])
        return cls(np.concatenate([part.hashes for part in parts]), row_offsets(sizes))


class ShingleSets(_RaggedHashes, frozen=True):
    """The shingles of n texts, ragged: text i has ``hashes[offsets[i]:offsets[i + 1]]``.

    Args:
        hashes: uint64, shape (S,); in reading order, with repeats.
        offsets: int64, shape (n + 1,).
    """

    hashes: NDArray[np.uint64]


class Fingerprints(_RaggedHashes, frozen=True):
    """The fingerprints of n texts, ragged: text i has ``hashes[offsets[i]:offsets[i + 1]]``, sorted and distinct.

    Args:
        hashes: uint32, shape (F,).
        offsets: int64, shape (n + 1,).
    """

    hashes: NDArray[np.uint32]

    def chosen(self, rows: NDArray[np.int64]) -> Fingerprints:
        """Return the fingerprints of some of the texts, in the given order."""
        parts = [self.hashes[self.offsets[row] : self.offsets[row + 1]] for row in rows.tolist()]
        return Fingerprints(np.concatenate([np.empty(0, np.uint32), *parts]), row_offsets(self.sizes[rows]))


def stored_type(scheme: Scheme) -> str:
    """Return the NumPy type of the minima that an index stores."""
    return f"<u{MINIMUM_BYTES[scheme]}"


class Signatures(Struct, frozen=True):
    """MinHash signatures: ``minima`` uint32, shape (n, num_perm), made by `scheme`.

    The row of an empty set has the greatest value of the scheme throughout, and is in no bucket.
    """

    minima: NDArray[np.uint32]
    scheme: Scheme

    @staticmethod
    def read(stored: bytes, permutations: Permutations) -> Signatures:
        """Return signatures from the concatenated bytes of `stored`."""
        # Always a copy: Numba would compile another version for a read-only array.
        minima = np.frombuffer(stored, dtype=stored_type(permutations.scheme)).astype(np.uint32)
        return Signatures(minima.reshape(-1, permutations.num_perm), permutations.scheme)

    @property
    def stored(self) -> NDArray[np.generic]:
        """The minima as an index stores them, contiguous, shape (n, num_perm)."""
        return np.ascontiguousarray(self.minima, dtype=stored_type(self.scheme))

    def __len__(self) -> int:
        return len(self.minima)


class BandKeys(Struct, frozen=True):
    """The bucket hash of each band of n signatures: ``keys`` uint64, shape (n, bands).

    Args: first_band: the number of the first band in the table of buckets.
    """

    keys: NDArray[np.uint64]
    first_band: int = 0

    def __len__(self) -> int:
        return len(self.keys)

    def by_band(self) -> list[BandKeys]:
        """Return the hashes of each band, shape (n, 1)."""
        return [BandKeys(hashes[:, None], self.first_band + place) for place, hashes in enumerate(self.keys.T)]


class Sketches(Struct, frozen=True):
    """What the store needs to know about n documents; row i of each array belongs to document i.

    Args:
        digests: uint8, shape (n, 16); the content's identity; all zero for an empty document.
        num_shingles: int64, shape (n,), with repeats; 0 for an empty document, which has no content.
        signatures: shape (n, num_perm).
        band_keys: shape (n, bands).
        texts: n zstd frames of the UTF-8 text; None if the index keeps no texts.
        fingerprints: of the passages of n texts; None if the index has no passages.
    """

    digests: NDArray[np.uint8]
    num_shingles: NDArray[np.int64]
    signatures: Signatures
    band_keys: BandKeys
    texts: tuple[bytes, ...] | None
    fingerprints: Fingerprints | None = None

    def __len__(self) -> int:
        return len(self.digests)


class CandidatePairs(Struct, frozen=True):
    """Pairs of contents that share a bucket: ``keys`` int64, shape (m, 2), left < right, without repeats."""

    keys: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.keys)


class VerifiedPairs(Struct, frozen=True):
    """Pairs with their similarity.

    Args:
        keys: int64, shape (m, 2), left < right.
        similarity: float64, shape (m,), Jaccard in [0, 1].
        exact: bool, shape (m,); False if the similarity was estimated from the signatures.
    """

    keys: NDArray[np.int64]
    similarity: NDArray[np.float64]
    exact: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.keys)

    @classmethod
    def estimated(cls, keys: NDArray[np.int64], similarity: NDArray[np.float64]) -> VerifiedPairs:
        """Return pairs whose similarities are all estimates."""
        return cls(keys, similarity, np.zeros(len(keys), dtype=np.bool_))

    @classmethod
    def joined(cls, parts: Sequence[VerifiedPairs]) -> VerifiedPairs:
        """Return the pairs of one or more parts."""
        return cls(
            np.concatenate([pairs.keys for pairs in parts]),
            np.concatenate([pairs.similarity for pairs in parts]),
            np.concatenate([pairs.exact for pairs in parts]),
        )

    def chosen(self, which: NDArray[np.bool_] | NDArray[np.int64] | slice) -> VerifiedPairs:
        """Return some of the pairs, by flags or by positions."""
        return VerifiedPairs(self.keys[which], self.similarity[which], self.exact[which])


# In a reason, the particulars of one item follow one of these.
_PARTICULAR = re.compile(r"[:;]| \(| after | at ")


@dataclass(frozen=True, slots=True)
class Rejection:
    """An item that was skipped: ``reason`` says why, ``locator`` where in the source it is (may be empty)."""

    source: str
    locator: str
    reason: str

    @property
    def kind(self) -> str:
        """The reason without the particulars of this item, such as ``: 7 bytes`` or ``after line 3``."""
        return _PARTICULAR.split(self.reason, 1)[0]


@dataclass(frozen=True, slots=True)
class Counts:
    """What a run or a batch did: numbers of documents, and of new distinct texts and bytes read."""

    num_added: int = 0
    num_updated: int = 0
    num_unchanged: int = 0
    num_removed: int = 0
    num_empty: int = 0
    num_rejected: int = 0
    num_replaced: int = 0
    num_contents: int = 0
    num_bytes: int = 0

    @property
    def num_seen(self) -> int:
        """The number of documents that the run met, the rejected ones included."""
        return self.num_added + self.num_updated + self.num_unchanged + self.num_rejected

    def __add__(self, other: Counts) -> Counts:
        return summed(self, other)


@dataclass(frozen=True, slots=True)
class Conflicts:
    """Numbers of documents whose id already belonged to a different text.

    Two captures of an address are not a conflict, because their dates decide between them.

    Args:
        num_replaced: they took the place of a document from another source.
        num_left_out: they were not stored, because a document from another source has their id.
        num_qualified: they were stored under qualified ids, because a document from another source has their id.
        num_repeated: they took the place of an earlier record in the same source.
    """

    num_replaced: int = 0
    num_left_out: int = 0
    num_qualified: int = 0
    num_repeated: int = 0

    def __add__(self, other: Conflicts) -> Conflicts:
        return summed(self, other)


def summed(one: _Counts, other: _Counts) -> _Counts:
    """Return the sums of the fields of two values of one class."""
    return type(one)(*(getattr(one, field.name) + getattr(other, field.name) for field in fields(one)))
