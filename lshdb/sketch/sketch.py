"""The pure half: from documents to what the store keeps of them.

Owns the order of the stages and what text a document stands for. Knows no SQL and no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Final

from lshdb.errors import BadDocument
from lshdb.model.params import Params
from lshdb.model.values import Document, ShingleSets, Sketches
from lshdb.sketch.banding import band_keys
from lshdb.sketch.minhash import sign
from lshdb.sketch.normalization import digests, normalise_utf8
from lshdb.sketch.shingling import distinct, shingle
from lshdb.sketch.texts import encode, packing

__all__ = [
    "Sketching",
    "begin",
    "require_fit",
    "shingle_sets",
    "shingle_sets_utf8",
    "sketch",
    "sketch_encoded",
    "text_of",
]

# Text that becomes sorted shingles at a time. What is made of it on the way is 12 times as large, and stays in memory
# that the process has already: with 25 MB at a time, the system handing out new pages took as long as the kernels.
PART_BYTES: Final = 1_000_000


def sketch(documents: Sequence[Document], params: Params) -> Sketches:
    """All that the store needs of documents; row i belongs to document i.

    Raises: BadDocument: a document does not suit the index; see `text_of`.
    """
    return begin(documents, params).sketches()


def begin(documents: Sequence[Document], params: Params) -> Sketching:
    """`sketch`, but for waiting until the texts are packed. Raises: BadDocument."""
    encoded = [encode(text_of(document, params)) for document in documents]
    packed = packing(encoded) if params.keep_text else None
    return Sketching(sketch_encoded(encoded, params), packed)


def sketch_encoded(encoded: Sequence[bytes], params: Params) -> Sketches:
    """The sketches of texts, as `text_of` returns them and `texts.encode` encodes them; without the texts."""
    forms = normalise_utf8(encoded, params.shingling)
    sets = shingle(forms, params.shingling)
    signatures = sign(sets, params.permutations)
    return Sketches(digests(forms), sets.sizes, signatures, band_keys(signatures, params.banding), None)


@dataclass(frozen=True, slots=True)
class Sketching:
    """Sketches whose texts are being packed in another thread."""

    unpacked: Sketches
    packed: Future[tuple[bytes, ...]] | None

    def sketches(self) -> Sketches:
        """The sketches with their texts."""
        return self.unpacked if self.packed is None else replace(self.unpacked, texts=self.packed.result())


def shingle_sets(texts: Sequence[str], params: Params) -> ShingleSets:
    """The distinct shingles of texts (as `text_of` returns them), sorted, for exact similarities."""
    return shingle_sets_utf8([encode(text) for text in texts], params)


def shingle_sets_utf8(encoded: Sequence[bytes], params: Params) -> ShingleSets:
    """`shingle_sets` of texts that are encoded already, by `texts.encode`."""
    return ShingleSets.concatenate([_distinct(part, params) for part in _parts(encoded)])


def _distinct(encoded: Sequence[bytes], params: Params) -> ShingleSets:
    return distinct(shingle(normalise_utf8(encoded, params.shingling), params.shingling))


def _parts(encoded: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """The texts in order, some PART_BYTES of them at a time; one part where there is none."""
    begin = num_bytes = 0
    for end, utf8 in enumerate(encoded, 1):
        num_bytes += len(utf8)
        if num_bytes >= PART_BYTES:
            yield encoded[begin:end]
            begin, num_bytes = end, 0
    if begin < len(encoded) or not encoded:
        yield encoded[begin:]


def text_of(document: Document, params: Params) -> str:
    """The text that stands for a document: its own, or its features sorted, one a line.

    Features are unique unless the index counts repeats, so one set in another order is the same content.

    Raises: BadDocument: a text for a ``set`` index or features for another; an empty feature or one with a line end.
    """
    require_fit(document, params)
    if document.features is None:
        return document.text
    return "\n".join(sorted(document.features if params.multiset else set(document.features)))


def require_fit(document: Document, params: Params) -> None:
    """Raises: BadDocument: `text_of` would."""
    if document.features is None:
        if params.shingle == "set":
            raise _bad(document, "this index holds sets of features, and the document is a text")
        return
    if params.shingle != "set":
        raise _bad(document, "this index holds texts, and the document is a set of features")
    for feature in document.features:
        if not feature or "\n" in feature:
            raise _bad(document, f"feature {feature!r} is empty or has a line end")


def _bad(document: Document, reason: str) -> BadDocument:
    locator = f", {document.locator}" if document.locator else ""
    return BadDocument(source=document.source or document.doc_id, locator=locator, reason=reason)
