"""What differs between two texts, word by word: a pure function of the two.

Owns words, their alignment and what is left out. A word is what white space separates, and each Han, kana, Thai,
Lao, Khmer and Myanmar code point. Differences in white space alone are none.

Time and memory are linear in the texts but for what `_Alignment` may spend on places that nothing anchors: long
runs of words that occur once in both texts are found first, then shorter ones between them, then single words,
and what lies between is compared by difflib, which is quadratic, while it is small and the budget lasts.
Limitation: a stretch beyond that is one removed and one added stretch, and the diff is marked coarse.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Hunk", "HunkKind", "WordDiff", "diff"]

HunkKind = Literal["equal", "removed", "added", "elided"]

# Words shown of a stretch on each side of what is left out of it.
EQUAL_CONTEXT: Final = 12
CHANGED_CONTEXT: Final = 100

# Words in a row that occur once in both texts and so anchor the alignment; each size between the last one's anchors.
ANCHORS: Final = (8, 3, 1)

# Pairs of equal words, which are what difflib's time follows: about 0.1 us each and a few times over.
STRETCH_PAIRS: Final = 250_000
ALL_PAIRS: Final = 5_000_000
# Below this product of lengths, counting the pairs costs more than it saves.
SMALL: Final = 10_000

_SOLO: Final = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD: Final = re.compile(rf"[{_SOLO}]|[^\s{_SOLO}]+")
_LINE: Final = re.compile(r"[^\n]+")

Block = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Hunk:
    """A stretch of words: in both texts, in the left only (removed), in the right only (added), or left out.

    Args: text: with the white space before it; empty where it is left out. That of an equal stretch is the right
        text's, but for the words that the right text begins with.
    """

    kind: HunkKind
    text: str
    num_words: int


@dataclass(frozen=True, slots=True)
class WordDiff:
    """The hunks in reading order, and how many words they stand for; `is_coarse`: some were not compared singly."""

    hunks: tuple[Hunk, ...]
    num_equal: int
    num_removed: int
    num_added: int
    is_coarse: bool


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a text: `ids` int64, equal for equal words of both texts; `ends` int64, where each ends."""

    text: str
    ids: NDArray[np.int64]
    ends: NDArray[np.int64]

    def stretch(self, start: int, stop: int) -> str:
        """The words from `start` up to `stop`, with the white space before them."""
        begin = int(self.ends[start - 1]) if start else 0
        return self.text[begin : int(self.ends[stop - 1])]


def diff(left: str, right: str, *, by_line: bool = False) -> WordDiff:
    """What turns the left text into the right one.

    Args: by_line: a word is a whole line, as with features.
    """
    known: dict[str, int] = {}
    pattern = _LINE if by_line else _WORD
    ours, theirs = _words(left, pattern, known), _words(right, pattern, known)
    alignment = _Alignment(ours.ids, theirs.ids)
    blocks = list(alignment.blocks(0, len(ours.ids), 0, len(theirs.ids), ANCHORS))
    num_equal = sum(length for _, _, length in blocks)
    removed, added = len(ours.ids) - num_equal, len(theirs.ids) - num_equal
    return WordDiff(tuple(_hunks(ours, theirs, blocks)), num_equal, removed, added, alignment.is_coarse)


def _words(text: str, pattern: re.Pattern[str], known: dict[str, int]) -> _Words:
    ids, ends = array("q"), array("q")
    for match in pattern.finditer(text):
        ids.append(known.setdefault(match[0], len(known)))
        ends.append(match.end())
    return _Words(text, np.asarray(ids, dtype=np.int64), np.asarray(ends, dtype=np.int64))


class _Alignment:
    """Finds the equal stretches of two sequences of word ids."""

    def __init__(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> None:
        self._left = left
        self._right = right
        self._budget = ALL_PAIRS
        self.is_coarse = False

    def blocks(self, left: int, left_end: int, right: int, right_end: int, anchors: tuple[int, ...]) -> Iterator[Block]:
        """(start in left, start in right, length) of the equal stretches between these words, in order."""
        head = _num_common(self._left[left:left_end], self._right[right:right_end])
        if head:
            yield left, right, head
        left, right = left + head, right + head
        tail = _num_common(self._left[left:left_end][::-1], self._right[right:right_end][::-1])
        yield from self._inner(left, left_end - tail, right, right_end - tail, anchors)
        if tail:
            yield left_end - tail, right_end - tail, tail

    def _inner(self, left: int, left_end: int, right: int, right_end: int, anchors: tuple[int, ...]) -> Iterator[Block]:
        ours, theirs = self._left[left:left_end], self._right[right:right_end]
        # One word against one is a change, for equal ones were common.
        if not len(ours) or not len(theirs) or len(ours) == len(theirs) == 1:
            return
        if self._affords(ours, theirs):
            for block in SequenceMatcher(None, ours.tolist(), theirs.tolist(), autojunk=False).get_matching_blocks():
                if block.size:
                    yield left + block.a, right + block.b, block.size
            return
        if not anchors:
            self.is_coarse = True
            return
        yield from self._between(_anchored(ours, theirs, anchors[0]), (left, left_end, right, right_end), anchors[1:])

    def _between(
        self, anchored: list[Block], bounds: tuple[int, int, int, int], anchors: tuple[int, ...]
    ) -> Iterator[Block]:
        """The anchored stretches, and the equal ones between them."""
        left, left_end, right, right_end = bounds
        begin, other = left, right
        for start, start_right, length in anchored:
            yield from self.blocks(begin, left + start, other, right + start_right, anchors)
            yield left + start, right + start_right, length
            begin, other = left + start + length, right + start_right + length
        yield from self.blocks(begin, left_end, other, right_end, anchors)

    def _affords(self, ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> bool:
        """Whether difflib may compare these, which is then taken off the budget."""
        cost = len(ours) * len(theirs)
        if cost > SMALL:
            cost = _num_equal_pairs(ours, theirs)
        if cost > min(STRETCH_PAIRS, self._budget):
            return False
        self._budget -= cost
        return True


def _num_common(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> int:
    """The number of equal words that both begin with."""
    length = min(len(ours), len(theirs))
    differs = ours[:length] != theirs[:length]
    return int(differs.argmax()) if differs.any() else length


def _num_equal_pairs(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> int:
    words, counts = np.unique(ours, return_counts=True)
    others, other_counts = np.unique(theirs, return_counts=True)
    _, mine, other = np.intersect1d(words, others, assume_unique=True, return_indices=True)
    return int(counts[mine] @ other_counts[other])


def _anchored(ours: NDArray[np.int64], theirs: NDArray[np.int64], size: int) -> list[Block]:
    """Stretches made of `size` words in a row that each of the two has once, in an order that both agree on.

    Source: Bram Cohen's patience diff, with runs of words in the place of lines.
    """
    left, right = _common_once(_grams(ours, size), _grams(theirs, size))
    chosen = _longest_ascent(right)
    left, right = left[chosen], right[chosen]
    if not len(left):
        return []
    is_first = np.r_[True, (np.diff(left) > size) | (np.diff(right) != np.diff(left))]
    firsts = np.flatnonzero(is_first)
    lasts = np.append(firsts[1:], len(left)) - 1
    runs = zip(left[firsts].tolist(), right[firsts].tolist(), (left[lasts] - left[firsts] + size).tolist(), strict=True)
    return list(_apart(runs))


def _apart(runs: Iterator[Block]) -> Iterator[Block]:
    """The runs without the words that the one before has already."""
    end, end_right = 0, 0
    for start, start_right, length in runs:
        taken = max(0, end - start, end_right - start_right)
        if taken < length:
            yield start + taken, start_right + taken, length - taken
            end, end_right = start + length, start_right + length


def _grams(ids: NDArray[np.int64], size: int) -> NDArray[np.uint64]:
    """A 64-bit hash of each run of `size` words, shape (max(0, n - size + 1),)."""
    # Odd multipliers of a splitmix step: what matters is that few runs collide, 1 in 2**64.
    mixed = (ids.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    number = max(0, len(ids) - size + 1)
    hashes = np.zeros(number, dtype=np.uint64)
    for offset in range(size):
        hashes = hashes * np.uint64(0x94D049BB133111EB) + mixed[offset : offset + number]
    return hashes


def _common_once(ours: NDArray[np.uint64], theirs: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the hashes stand that each of the two has exactly once, in the order of ours."""
    (values, places), (others, other_places) = _once(ours), _once(theirs)
    _, mine, other = np.intersect1d(values, others, assume_unique=True, return_indices=True)
    left, right = places[mine], other_places[other]
    order = np.argsort(left)
    return left[order], right[order]


def _once(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """(the hashes that occur once, where)."""
    values, where, counts = np.unique(hashes, return_index=True, return_counts=True)
    return values[counts == 1], where[counts == 1]


def _longest_ascent(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where a longest ascending subsequence of distinct numbers stands, ascending.

    Source: Fredman 1975, On computing the length of longest increasing subsequences.
    """
    if (np.diff(numbers) > 0).all():
        return np.arange(len(numbers))
    tops: list[int] = []
    piles: list[int] = []
    before = array("q")
    for place, number in enumerate(numbers.tolist()):
        pile = bisect_left(tops, number)
        before.append(piles[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [number]
        piles[pile : pile + 1] = [place]
    found = array("q")
    place = piles[-1]
    while place >= 0:
        found.append(place)
        place = before[place]
    return np.asarray(found, dtype=np.int64)[::-1]


def _hunks(ours: _Words, theirs: _Words, blocks: list[Block]) -> Iterator[Hunk]:
    bounds = [(0, 0, 0), *blocks, (len(ours.ids), len(theirs.ids), 0)]
    for (left, right, length), (next_left, next_right, next_length) in pairwise(_merged(bounds)):
        yield from _shown("removed", ours, left + length, next_left, CHANGED_CONTEXT)
        yield from _shown("added", theirs, right + length, next_right, CHANGED_CONTEXT)
        # What the right text begins with has no white space before it, but may have some in the left one.
        words, begin = (theirs, next_right) if next_right or not next_left else (ours, next_left)
        yield from _shown("equal", words, begin, begin + next_length, EQUAL_CONTEXT)


def _merged(blocks: list[Block]) -> list[Block]:
    """The blocks, those that continue each other as one."""
    merged = blocks[:1]
    for left, right, length in blocks[1:]:
        last_left, last_right, last = merged[-1]
        if len(merged) > 1 and (last_left + last, last_right + last) == (left, right):
            merged[-1] = (last_left, last_right, last + length)
        else:
            merged.append((left, right, length))
    return merged


def _shown(kind: HunkKind, words: _Words, start: int, stop: int, context: int) -> Iterator[Hunk]:
    """The stretch as a hunk, or as its two ends where it is long; none where it is empty."""
    if stop - start <= 2 * context + 1:
        if stop > start:
            yield Hunk(kind, words.stretch(start, stop), stop - start)
        return
    yield Hunk(kind, words.stretch(start, start + context), context)
    yield Hunk("elided", "", stop - start - 2 * context)
    yield Hunk(kind, words.stretch(stop - context, stop), context)
