"""Convert texts to exact shingle sets, for the oracle.

This implements the definition independently: it uses no table, hash or kernel of lshdb. The rules are based on Python's
`unicodedata`:

- Fold until nothing changes: apply NFKC, drop invisible characters (category Cf, the variation selectors, the combining
  grapheme joiner), and lower-case one to one (U+0130 becomes i, final sigma becomes sigma). Keep the zero width space
  U+200B, which separates words.
- A word is a run of letters, numbers, combining marks and underscores (categories L, N, M and U+005F).
- Each letter or mark of a script without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) is a word, and so is each Han
  number. The other digits of these scripts form ordinary words.
- Everything else separates words.
- A shingle is five consecutive words. A text of one to four words is a single shingle. A text without words has none.

Shingles are *numbered*, not hashed: two shingles have the same number if and only if their words are equal.
Limitation: all words of the corpus are in memory as 8-byte numbers, at most about 40 bytes per word.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

SHINGLE_SIZE: Final = 5

ZERO_WIDTH_SPACE: Final = "\u200b"
SOLO_NAMES: Final = (
    "CJK UNIFIED IDEOGRAPH",
    "CJK COMPATIBILITY IDEOGRAPH",
    "COMBINING KATAKANA-HIRAGANA",
    "HANGZHOU NUMERAL",
    "HENTAIGANA",
    "HIRAGANA",
    "IDEOGRAPHIC CLOSING MARK",
    "IDEOGRAPHIC ITERATION MARK",
    "IDEOGRAPHIC NUMBER",
    "KATAKANA",
    "KHMER ",
    "LAO ",
    "MYANMAR ",
    "THAI ",
    "VERTICAL IDEOGRAPHIC ITERATION MARK",
)


@dataclass(frozen=True, slots=True)
class ExactSets:
    """The shingle sets of n texts. Text i has ``members[offsets[i]:offsets[i + 1]]``, ascending and distinct.

    Args:
        members: int64, shape (S,): numbers of shingles.
        offsets: int64, shape (n + 1,).
        bound: greater than every member.
    """

    members: NDArray[np.int64]
    offsets: NDArray[np.int64]
    bound: int

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> NDArray[np.int64]:
        return self.members[self.offsets[row] : self.offsets[row + 1]]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of shingles in each set, int64, shape (n,)."""
        return np.diff(self.offsets)


def words(text: str) -> list[str]:
    """Return the words of a text, in order."""
    return word_pattern().findall(text.lower() if text.isascii() else fold(text))


def fold(text: str) -> str:
    """Normalise a text, drop invisible characters and lower-case it, until nothing changes."""
    while (folded := unicodedata.normalize("NFKC", text).translate(folding())) != text:
        text = folded
    return text


@cache
def folding() -> Mapping[int, str | None]:
    """Return the characters that change: each maps to its lower case, or to None if it is invisible."""
    mapping: dict[int, str | None] = {}
    for character in map(chr, range(sys.maxunicode + 1)):
        if is_invisible(character):
            mapping[ord(character)] = None
        elif (lower := simple_lower(character)) != character:
            mapping[ord(character)] = lower
    return mapping


def is_invisible(character: str) -> bool:
    """Return whether a character only affects how others are displayed."""
    if unicodedata.category(character) == "Cf":
        return character != ZERO_WIDTH_SPACE
    name = unicodedata.name(character, "")
    return "VARIATION SELECTOR" in name or name == "COMBINING GRAPHEME JOINER"


def simple_lower(character: str) -> str:
    """Return the one-to-one lower case; final sigma becomes sigma."""
    return {"\u03c2": "\u03c3", "\u0130": "i"}.get(character) or character.lower()


@cache
def word_pattern() -> re.Pattern[str]:
    """Return the pattern of a word: a solo character, or the longest run of other word characters."""
    kinds = [kind(chr(codepoint)) for codepoint in range(sys.maxunicode + 1)]
    return re.compile(f"[{ranges(kinds, 'word')}]+|[{ranges(kinds, 'solo')}]")


def kind(character: str) -> str:
    """Return ``word``, ``solo`` or ``separator``."""
    category = unicodedata.category(character)
    name = unicodedata.name(character, "")
    is_number = category[0] == "N" and not name.startswith(("IDEOGRAPHIC NUMBER", "HANGZHOU"))
    if category[0] not in "LNM":
        return "word" if character == "_" else "separator"
    return "solo" if name.startswith(SOLO_NAMES) and not is_number else "word"


def ranges(kinds: list[str], wanted: str) -> str:
    """Return the code points of one kind, as the inside of a character class."""
    found: list[str] = []
    start = None
    for codepoint, each in enumerate([*kinds, "end"]):
        if each == wanted and start is None:
            start = codepoint
        elif each != wanted and start is not None:
            found.append(f"\\U{start:08x}-\\U{codepoint - 1:08x}")
            start = None
    return "".join(found)


def shingle_sets(texts: Iterable[str], size: int = SHINGLE_SIZE) -> ExactSets:
    """Return the exact shingle set of each text."""
    numbers, counts = numbered_words(texts)
    return sets_of(*numbered_shingles(numbers, counts, size), num_texts=len(counts))


def numbered_words(texts: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (the words of all texts as numbers, the number of words of each text)."""
    vocabulary: defaultdict[str, int] = defaultdict()
    vocabulary.default_factory = vocabulary.__len__
    numbers, counts = array("q"), array("q")
    for text in texts:
        before = len(numbers)
        numbers.extend(map(vocabulary.__getitem__, words(text)))
        counts.append(len(numbers) - before)
    return np.array(numbers, np.int64), np.array(counts, np.int64)


def numbered_shingles(
    numbers: NDArray[np.int64], counts: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (row of the text, number of the shingle) of each shingle of each text, repeats included.

    The only shingle of a short text is its words, padded with a number that no word has.
    """
    filler = int(numbers.max(initial=-1)) + 1
    padding = np.where((counts > 0) & (counts < size), size - counts, 0)
    ends = np.repeat(np.cumsum(counts), padding)
    numbers = np.insert(numbers, ends, filler)
    rows = np.repeat(np.arange(len(counts)), counts + padding)
    if len(numbers) < size:
        return rows[:0], numbers[:0]
    last = len(numbers) - size + 1
    shingles = numbers[:last]
    for place in range(1, size):
        shingles = number_pairs(shingles, numbers[place : last + place])
    within = rows[:last] == rows[size - 1 :]
    return rows[:last][within], shingles[within]


def number_pairs(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each pair (left[i], right[i]): equal for equal pairs only, from 0 without gaps."""
    width = int(right.max()) + 1
    assert int(left.max()) < (2**63 - 1) // width, "the pair does not fit 63 bits"
    numbers: NDArray[np.int64] = np.unique(left * width + right, return_inverse=True)[1]
    return numbers


def sets_of(rows: NDArray[np.int64], shingles: NDArray[np.int64], num_texts: int) -> ExactSets:
    """Return the (row, shingle) entries as sets."""
    bound = int(shingles.max(initial=0)) + 1
    entries = np.unique(rows * bound + shingles)
    counts = np.bincount(entries // bound, minlength=num_texts)
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return ExactSets(entries % bound, offsets, bound)


def batches(rows: NDArray[np.int64], sizes: NDArray[np.int64], max_members: int) -> Iterator[NDArray[np.int64]]:
    """Yield the rows in batches whose sets have at most `max_members` members in total, or of a single row."""
    total = np.cumsum(sizes[rows])
    start = 0
    while start < len(rows):
        before = total[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + max_members, side="right")))
        yield rows[start:stop]
        start = stop
