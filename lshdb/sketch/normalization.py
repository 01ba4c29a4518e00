"""From texts to normal forms, and from a normal form to the identity of a content.

To normalise a text, lshdb applies NFKC, drops invisible characters, lower-cases, and puts one space between runs of
letters. Texts with the same normal form are the same content. Normalising a normal form changes nothing.

Limitations:
- Lower-casing is one to one: a German sharp s does not become ss.
- Soft hyphens, joiners and variation selectors are dropped.
- Punctuation and emoji are separators, so a text that consists of emoji is empty.
- A letter with more than 256 bytes of marks is normalised in parts.
- NFKC comes from the running Python. Its result is the same in every Unicode version for code points that were
  assigned in the version of the shipped table.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import TypeAlias

import numpy as np
import xxhash
from numpy.typing import NDArray

from lshdb.model.arrays import row_offsets
from lshdb.model.params import FORGEABLE_DIGESTS, Shingling, TableVersion
from lshdb.model.values import NormalForms
from lshdb.sketch import kernels
from lshdb.sketch.kernels import codepoints
from lshdb.sketch.texts import decode, encode

__all__ = ["digests", "normalise", "normalise_utf8", "prepared", "words_utf8"]

# UTF-8 and its offsets, the code-point table, the contextual spans, what replaces them and its offsets.
Prepared: TypeAlias = tuple[
    NDArray[np.uint8],
    NDArray[np.int64],
    NDArray[np.uint32],
    NDArray[np.int64],
    NDArray[np.uint8],
    NDArray[np.int64],
]


def normalise(texts: Sequence[str], shingling: Shingling) -> NormalForms:
    """Return the normal forms of texts.

    In a ``set`` index, a text holds one feature per line and is its own normal form.

    Args: texts: any strings, including lone surrogates.
    Returns: code points uint32, shape (C,); offsets int64, shape (n + 1,).
    Source: Unicode Standard Annex 15, Unicode Normalization Forms.
    """
    return normalise_utf8([encode(text) for text in texts], shingling)


def normalise_utf8(encoded: Sequence[bytes], shingling: Shingling) -> NormalForms:
    """Like `normalise`, for texts that `texts.encode` has already encoded."""
    return _verbatim(encoded) if shingling.kind == "set" else _folded(encoded, spaced=False)


def words_utf8(encoded: Sequence[bytes]) -> NormalForms:
    """Return forms of texts that have the same words as their normal forms, but keep all separators.

    That takes four fifths of the time of a normal form.
    """
    return _folded(encoded, spaced=True)


def digests(forms: NormalForms, version: TableVersion) -> NDArray[np.uint8]:
    """Return the identity of each normal form; zero for an empty one.

    ``unicode14-2`` and ``unicode14-1-sha256``: half of a SHA-256. If all code points are below 256, the first half of
    that of one byte per code point, which takes a quarter of the time; else the second half of that of the UTF-32-LE
    bytes.
    ``unicode14-1``: xxh3_128 of the UTF-32-LE bytes, big-endian. Anybody can make another text with the same digest.

    Returns: uint8, shape (n, 16).
    Source: FIPS 180-4, Secure Hash Standard.
    """
    rows = bytearray(16 * len(forms))
    wide = forms.codepoints.astype("<u4", copy=False).view(np.uint8).data
    narrow = forms.codepoints.astype(np.uint8).data
    filled = np.flatnonzero(np.diff(forms.offsets))
    starts, stops = forms.offsets[filled], forms.offsets[filled + 1]
    greatest = np.maximum.reduceat(forms.codepoints, starts) if len(filled) else starts
    is_narrow = (greatest < 256) & (version != FORGEABLE_DIGESTS)
    for row, start, stop, fits in zip(
        filled.tolist(), starts.tolist(), stops.tolist(), is_narrow.tolist(), strict=True
    ):
        if fits:
            digest = sha256(narrow[start:stop]).digest()[:16]
        elif version == FORGEABLE_DIGESTS:
            digest = xxhash.xxh3_128_digest(wide[4 * start : 4 * stop])
        else:
            digest = sha256(wide[4 * start : 4 * stop]).digest()[16:]
        rows[16 * row : 16 * row + 16] = digest
    return np.frombuffer(rows, np.uint8).reshape(-1, 16)


def _verbatim(encoded: Sequence[bytes]) -> NormalForms:
    texts = [decode(utf8) for utf8 in encoded]
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return NormalForms(np.frombuffer(joined, "<u4").astype(np.uint32), row_offsets(lengths))


def _folded(encoded: Sequence[bytes], *, spaced: bool) -> NormalForms:
    return NormalForms(*kernels.fold(*prepared(encoded), spaced))


def prepared(encoded: Sequence[bytes]) -> Prepared:
    """Return texts as `kernels.fold` and `kernels.place_words` take them: with what replaces their contextual spans."""
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    joined, offsets, table = b"".join(encoded), row_offsets(lengths), codepoints.table()
    utf8 = np.frombuffer(joined, np.uint8)
    spans = kernels.contextual_spans(utf8, offsets, table)
    settled = [_settled(joined[start:stop]) for start, stop in spans.tolist()]
    settled_offsets = row_offsets(np.fromiter(map(len, settled), np.int64, len(settled)))
    return utf8, offsets, table, spans, np.frombuffer(b"".join(settled), np.uint8), settled_offsets


# Most spans are a letter and its mark, so they repeat: 0.1 us for a known one, 2 us for a new one.
@lru_cache(maxsize=65_536)
def _settled(span: bytes) -> bytes:
    """Return the span after NFKC, dropping and lower-casing, repeated until nothing changes."""
    table = codepoints.table()
    text = span.decode("utf-8", "surrogatepass")
    while True:
        entries = [int(table[ord(character)]) for character in unicodedata.normalize("NFKC", text)]
        kept = [entry for entry in entries if entry >> codepoints.KIND_SHIFT & 3 != codepoints.DROPPED]
        folded = "".join(chr(entry & codepoints.CODEPOINT_MASK) for entry in kept)
        if folded == text:
            return text.encode("utf-8", "surrogatepass")
        text = folded
