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
from itertools import pairwise

import numpy as np
import xxhash
from numpy.typing import NDArray

from lshdb.model.arrays import row_offsets
from lshdb.model.params import Shingling
from lshdb.model.values import NormalForms
from lshdb.sketch import kernels
from lshdb.sketch.kernels import codepoints
from lshdb.sketch.texts import decode, encode

__all__ = ["digests", "normalise", "normalise_utf8"]


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
    return _verbatim(encoded) if shingling.kind == "set" else _folded(encoded)


def digests(forms: NormalForms) -> NDArray[np.uint8]:
    """Return the identity of each normal form: xxh3_128 of its UTF-32-LE bytes; zero for an empty one.

    Returns: uint8, shape (n, 16), the canonical (big-endian) bytes of the digest.
    """
    rows = bytearray(16 * len(forms))
    content = forms.codepoints.astype("<u4", copy=False).view(np.uint8).data
    offsets = (4 * forms.offsets).tolist()
    for row, (start, stop) in enumerate(pairwise(offsets)):
        if start < stop:
            rows[16 * row : 16 * row + 16] = xxhash.xxh3_128_digest(content[start:stop])
    return np.frombuffer(rows, np.uint8).reshape(-1, 16)


def _verbatim(encoded: Sequence[bytes]) -> NormalForms:
    texts = [decode(utf8) for utf8 in encoded]
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    joined = "".join(texts).encode("utf-32-le", "surrogatepass")
    return NormalForms(np.frombuffer(joined, "<u4").astype(np.uint32), row_offsets(lengths))


def _folded(encoded: Sequence[bytes]) -> NormalForms:
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    ascii_only = np.fromiter((utf8.isascii() for utf8 in encoded), np.bool_, len(encoded))
    joined, offsets, table = b"".join(encoded), row_offsets(lengths), codepoints.table()
    utf8 = np.frombuffer(joined, np.uint8)
    spans = kernels.contextual_spans(utf8, offsets, ascii_only, table)
    settled = [_settled(joined[start:stop]) for start, stop in spans.tolist()]
    settled_offsets = row_offsets(np.fromiter(map(len, settled), np.int64, len(settled)))
    return NormalForms(
        *kernels.fold(utf8, offsets, table, spans, np.frombuffer(b"".join(settled), np.uint8), settled_offsets)
    )


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
