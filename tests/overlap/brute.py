"""Overlap by its definition: every run of words of one text is looked up in every other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lshdb.overlap.probing import Probe
from lshdb.overlap.tested import Tested
from lshdb.overlap.training import Part
from lshdb.sketch.texts import encode, pack
from lshdb.sketch.words import words


def words_of(text: str) -> list[str]:
    """Return the words of a text as strings."""
    found = words([encode(text)], seed=1)
    return [found.spelled(word, word + 1) for word in range(len(found.hashes))]


@dataclass(frozen=True, slots=True)
class Expected:
    """What one text shares with others. Args: shared: for each of them, how many different N-grams and words."""

    num_words: int
    num_covered: int
    longest: int
    num_train: int
    longest_with: dict[int, int]
    covered_with: dict[int, int]
    ngrams_with: dict[int, int]


def expected(test: str, training: Sequence[str], size: int) -> Expected:
    """Return what the definition says about a test text."""
    mine = words_of(test)
    size = min(size, len(mine))
    covered: set[int] = set()
    longest_with, covered_with, ngrams_with = {}, {}, {}
    for number, theirs in enumerate(spaced(words_of(text)) for text in training):
        runs = [
            (start, end)
            for start in range(len(mine))
            for end in range(start + size, len(mine) + 1)
            if size and spaced(mine[start:end]) in theirs
        ]
        if runs:
            words_in_runs = {word for start, end in runs for word in range(start, end)}
            longest_with[number] = max(end - start for start, end in runs)
            covered_with[number] = len(words_in_runs)
            ngrams_with[number] = len({tuple(mine[start:end]) for start, end in runs if end - start == size})
            covered |= words_in_runs
    longest = max(longest_with.values(), default=0)
    return Expected(len(mine), len(covered), longest, len(longest_with), longest_with, covered_with, ngrams_with)


def spaced(words: Sequence[str]) -> str:
    """Return words as a string in which a run of words is found where the words are the same as a whole."""
    return f" {' '.join(words)} "


class TextTraining:
    """Training texts in memory, some at a time."""

    def __init__(self, texts: Sequence[str], part: int = 3) -> None:
        self.num_unread = 0
        self._texts = texts
        self._part = part

    def parts(self, probe: Probe) -> Iterator[Part]:
        for first in range(0, len(self._texts), self._part):
            encoded = [encode(text) for text in self._texts[first : first + self._part]]
            found = probe.found_in(encoded)
            rows = found.texts.tolist()
            frames = [pack(encoded[row]) for row in rows]
            ones, none = np.ones(len(rows), np.int64), np.zeros(len(rows), np.bool_)
            yield Part(found.texts + first, ones, found.hits, frames, none)

    def names(self, key: int, count: int) -> list[str]:
        return [str(key)][:count]


def side_of(*texts: str) -> Tested:
    """Return texts as a test side, each named by its number."""
    return Tested("test", list(map(str, range(len(texts)))), range(len(texts)), [encode(text) for text in texts])


def maximal(runs: Sequence[tuple[int, int]]) -> bool:
    """Return whether no run of words [start, end) lies in another, and they are in order."""
    return all(one[0] < other[0] and one[1] < other[1] for one, other in pairwise(runs))
