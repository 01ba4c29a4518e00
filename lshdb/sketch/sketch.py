"""From documents to sketches, the values that the store keeps.

Owns the order of the stages, and which text stands for a document.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.errors import BadDocument
from lshdb.model.batches import in_batches
from lshdb.model.params import Params
from lshdb.model.values import (
    MAX_DATE,
    MAX_ID_BYTES,
    MIN_DATE,
    Document,
    Fingerprints,
    NormalForms,
    ShingleSets,
    Signatures,
    Sketches,
    unstorable,
)
from lshdb.sketch.banding import band_keys
from lshdb.sketch.minhash import sign
from lshdb.sketch.normalization import digests, normalise_utf8, words_utf8
from lshdb.sketch.shingling import shingle
from lshdb.sketch.texts import beside, encode, pack_all
from lshdb.sketch.winnowing import fingerprints, fingerprints_of_shingles, gram_shingling

__all__ = [
    "Sketching",
    "begin",
    "fits",
    "require_fit",
    "shingle_sets",
    "shingle_sets_utf8",
    "signed",
    "sketch",
    "sketch_encoded",
    "text_of",
]

# Bytes of text that become shingles at a time. The intermediate arrays are 12 times as large, and fit in memory
# that the process already has. With 25 MB at a time, getting new pages from the system took as long as the kernels.
PART_BYTES: Final = 1_000_000


def sketch(documents: Sequence[Document], params: Params) -> Sketches:
    """Return the sketches of documents, texts included; row i belongs to document i.

    Raises: BadDocument: a document does not fit the index; see `text_of`.
    """
    return begin(documents, params).sketches()


def begin(documents: Sequence[Document], params: Params) -> Sketching:
    """Like `sketch`, but do not wait for the digests, nor for the texts to be compressed. Raises: BadDocument."""
    for document in documents:
        _require_id(document)
    encoded = [encode(text_of(document, params)) for document in documents]
    texts = beside(partial(pack_all, encoded)) if params.keep_text else None
    forms, sets, signatures = signed(encoded, params)
    found = beside(partial(digests, forms, params.table_version))
    return Sketching(_incomplete(forms, sets, signatures, params), found, texts)


def sketch_encoded(encoded: Sequence[bytes], params: Params) -> Sketches:
    """Return the sketches of texts, without the texts. Args: encoded: from `text_of`, encoded by `texts.encode`."""
    forms, sets, signatures = signed(encoded, params)
    found = digests(forms, params.table_version)
    return _incomplete(forms, sets, signatures, params)(digests=found, texts=None)


def _incomplete(
    forms: NormalForms, sets: ShingleSets, signatures: Signatures, params: Params
) -> Callable[..., Sketches]:
    """Return the sketches of texts, except for their digests and the texts themselves."""
    return partial(
        Sketches,
        num_shingles=sets.sizes,
        signatures=signatures,
        band_keys=band_keys(signatures, params.banding),
        fingerprints=_fingerprints(forms, sets, params) if params.passages else None,
    )


def signed(encoded: Sequence[bytes], params: Params) -> tuple[NormalForms, ShingleSets, Signatures]:
    """Return texts normalised, their shingles with repeats, and their signatures: what a question needs of a sketch."""
    forms = normalise_utf8(encoded, params.shingling)
    sets = shingle(forms, params.shingling)
    return forms, sets, sign(sets, params.permutations)


def _fingerprints(forms: NormalForms, sets: ShingleSets, params: Params) -> Fingerprints:
    """Return the fingerprints of texts, from their shingles if these are the k-grams that passages are made of."""
    grams = gram_shingling(params.shingling, params.passages)
    if params.shingling == grams:
        return fingerprints_of_shingles(sets, grams, params.passages)
    return fingerprints(forms, params.shingling, params.passages)


class Sketching(Struct, frozen=True):
    """Sketches whose digests and texts another thread is making."""

    incomplete: Callable[..., Sketches]
    digests: Future[NDArray[np.uint8]]
    texts: Future[tuple[bytes, ...]] | None

    def sketches(self) -> Sketches:
        """Wait for the other thread, and return the sketches."""
        texts = None if self.texts is None else self.texts.result()
        return self.incomplete(digests=self.digests.result(), texts=texts)


def shingle_sets(texts: Sequence[str], params: Params) -> ShingleSets:
    """Return the shingles of texts, with repeats, for exact similarities. Args: texts: from `text_of`."""
    return shingle_sets_utf8([encode(text) for text in texts], params)


def shingle_sets_utf8(encoded: Sequence[bytes], params: Params, part_bytes: int = PART_BYTES) -> ShingleSets:
    """Like `shingle_sets`, for texts that `texts.encode` has already encoded.

    Args: part_bytes: how many bytes of text to process at a time; the result does not depend on it.
    """
    parts = [*in_batches(encoded, len, part_bytes)] or [[]]
    return ShingleSets.concatenate([_shingled(part, params) for part in parts])


def _shingled(encoded: Sequence[bytes], params: Params) -> ShingleSets:
    shingling = params.shingling
    forms = words_utf8(encoded) if shingling.kind == "word" else normalise_utf8(encoded, shingling)
    sets = shingle(forms, shingling)
    # The array of the kernel has room for a shingle per character.
    return ShingleSets(sets.hashes.copy(), sets.offsets)


def text_of(document: Document, params: Params) -> str:
    """Return the text that stands for a document: its own, or its sorted features, one per line.

    Repeated features are dropped unless the index counts repeats. So the same set in another order is the same content.

    Raises: BadDocument: the document is a text and the index holds sets, or the reverse; or a feature is empty or has
        a line end.
    """
    _require_content(document, params)
    if document.features is None:
        return document.text
    return "\n".join(sorted(document.features if params.multiset else set(document.features)))


def require_fit(document: Document, params: Params) -> None:
    """Check that a document has a usable id and date and fits the index. Raises: BadDocument; or as `text_of`."""
    _require_id(document)
    if document.dated_at is not None and not _is_date(document.dated_at):
        raise _bad(document, "its date is no number of microseconds since 1970, in the years 1 to 9999")
    _require_content(document, params)


def fits(document: Document, params: Params) -> bool:
    """Return whether a document fits the index; see `require_fit`."""
    try:
        require_fit(document, params)
    except BadDocument:
        return False
    return True


def _require_id(document: Document) -> None:
    if (reason := _fault_of_id(document.doc_id)) is not None:
        raise _bad(document, reason)


def _is_date(moment: object) -> bool:
    return isinstance(moment, int) and MIN_DATE <= moment <= MAX_DATE


def _require_content(document: Document, params: Params) -> None:
    if document.features is None:
        if params.shingle == "set":
            raise _bad(document, "this index holds sets of features, and the document is a text")
        if not isinstance(document.text, str):
            raise _bad(document, f"its text is {_a_type(document.text)}, not a string")
        return
    if params.shingle != "set":
        raise _bad(document, "this index holds texts, and the document is a set of features")
    _require_features(document, document.features)


def _fault_of_id(doc_id: object) -> str | None:
    """Return why no document can have this id, or None."""
    if not isinstance(doc_id, str):
        return f"its id is {_a_type(doc_id)}, not a string"
    if not doc_id:
        return "its id is empty"
    if (character := unstorable(doc_id)) is not None:
        return f"its id holds {character}"
    if len(doc_id) > MAX_ID_BYTES // 4 and (num_bytes := len(doc_id.encode())) > MAX_ID_BYTES:
        return f"its id is too long: {num_bytes:,} bytes; at most {MAX_ID_BYTES:,} are possible"
    return None


def _require_features(document: Document, features: object) -> None:
    # Not an iterator: it would be exhausted by this check.
    if isinstance(features, (str, bytes)) or not isinstance(features, Collection):
        raise _bad(document, f"its features are {_a_type(features)}, not a tuple or another collection of strings")
    for feature in features:
        if not isinstance(feature, str):
            raise _bad(document, f"its features hold {_a_type(feature)}; features are strings")
        if not feature or "\n" in feature:
            raise _bad(document, f"feature {feature!r} is empty or has a line end")


def _a_type(value: object) -> str:
    name = type(value).__name__
    return f"an {name}" if name[0] in "aeiou" else f"a {name}"


def _bad(document: Document, reason: str) -> BadDocument:
    locator = f", {document.locator}" if document.locator else ""
    name = f"document {document.doc_id!r:.100}"
    return BadDocument(source=document.source or name, locator=locator, reason=reason)
