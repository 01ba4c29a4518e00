"""Texts to exact shingle sets, straight from the definition: the oracle's own half.

Written apart from lshdb: no table, no hash and no kernel of it is used. The rules, over Python's `unicodedata`:

- Fold until nothing changes: NFKC, drop the characters that are not seen (category Cf, the variation selectors, the
  combining grapheme joiner), lower-case one to one (U+0130 becomes i, final sigma is sigma). The zero width space
  U+200B stays: it stands between words.
- A word is a run of letters, numbers, combining marks and underscores (categories L, N, M and U+005F).
- A letter or mark of a script that is written without spaces (Han, kana, Thai, Lao, Khmer, Myanmar) is a word of its
  own, and so are the Han numbers; the other digits of those scripts make ordinary words.
- Everything else separates.
- A shingle is five consecutive words; a text of one to four words is one shingle of all its words; a text without words
  has none.

Shingles are *numbered*, not hashed: two shingles have one number if and only if their words are equal.
Limitation: all words of the corpus are held as 8-byte numbers, about 40 bytes a word at the peak.
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
    """The shingle sets of n texts: text i has ``members[offsets[i]:offsets[i + 1]]``, ascending, each once.

    Args:
        members: int64, shape (S,), numbers of shingles.
        offsets: int64, shape (n + 1,).
        bound: the members are below it.
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
    """The words of a text, in order."""
    return word_pattern().findall(text.lower() if text.isascii() else fold(text))


def fold(text: str) -> str:
    """The text normalised, without its unseen characters and in lower case; folding it again changes nothing."""
    while (folded := unicodedata.normalize("NFKC", text).translate(folding())) != text:
        text = folded
    return text


@cache
def folding() -> Mapping[int, str | None]:
    """What becomes of each character that does not stay: its lower case, or nothing where it is not seen."""
    mapping: dict[int, str | None] = {}
    for character in map(chr, range(sys.maxunicode + 1)):
        if is_unseen(character):
            mapping[ord(character)] = None
        elif (lower := simple_lower(character)) != character:
            mapping[ord(character)] = lower
    return mapping


def is_unseen(character: str) -> bool:
    """Whether a character only advises how others are shown."""
    if unicodedata.category(character) == "Cf":
        return character != ZERO_WIDTH_SPACE
    name = unicodedata.name(character, "")
    return "VARIATION SELECTOR" in name or name == "COMBINING GRAPHEME JOINER"


def simple_lower(character: str) -> str:
    """The one-to-one lower case, sigma for a final sigma."""
    return {"\u03c2": "\u03c3", "\u0130": "i"}.get(character) or character.lower()


@cache
def word_pattern() -> re.Pattern[str]:
    """Matches one word: a solo character, or the longest run of the other word characters."""
    kinds = [kind(chr(codepoint)) for codepoint in range(sys.maxunicode + 1)]
    return re.compile(f"[{ranges(kinds, 'word')}]+|[{ranges(kinds, 'solo')}]")


def kind(character: str) -> str:
    """``word``, ``solo`` or ``separator``."""
    category = unicodedata.category(character)
    name = unicodedata.name(character, "")
    is_number = category[0] == "N" and not name.startswith(("IDEOGRAPHIC NUMBER", "HANGZHOU"))
    if category[0] not in "LNM":
        return "word" if character == "_" else "separator"
    return "solo" if name.startswith(SOLO_NAMES) and not is_number else "word"


def ranges(kinds: list[str], wanted: str) -> str:
    """The code points of one kind as the inside of a character class."""
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
    """The exact shingle set of each text."""
    numbers, counts = numbered_words(texts)
    return sets_of(*numbered_shingles(numbers, counts, size), num_texts=len(counts))


def numbered_words(texts: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(the words of all texts as numbers, how many each text has)."""
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
    """(row of the text, number of the shingle) of each shingle of each text, repeats included.

    A short text's only shingle is its words followed by a filler, which is not the number of any word.
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
    """A number for each pair (left[i], right[i]), the same for equal pairs only; all from 0 without gaps."""
    width = int(right.max()) + 1
    assert int(left.max()) < (2**63 - 1) // width, "the pair does not fit 63 bits"
    numbers: NDArray[np.int64] = np.unique(left * width + right, return_inverse=True)[1]
    return numbers


def sets_of(rows: NDArray[np.int64], shingles: NDArray[np.int64], num_texts: int) -> ExactSets:
    """The (row, shingle) entries as sets: each once, ascending."""
    bound = int(shingles.max(initial=0)) + 1
    entries = np.unique(rows * bound + shingles)
    counts = np.bincount(entries // bound, minlength=num_texts)
    offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return ExactSets(entries % bound, offsets, bound)


def batches(rows: NDArray[np.int64], sizes: NDArray[np.int64], max_members: int) -> Iterator[NDArray[np.int64]]:
    """The rows in pieces whose sets have at most `max_members` members together (or are one row)."""
    total = np.cumsum(sizes[rows])
    start = 0
    while start < len(rows):
        before = total[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + max_members, side="right")))
        yield rows[start:stop]
        start = stop
