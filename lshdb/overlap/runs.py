"""The runs of words that a sought text shares with one other text, with their places in both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lshdb.model.overlap import SharedRun, Span
from lshdb.overlap.findings import Longest, longest_runs
from lshdb.overlap.sought import Sought
from lshdb.sketch import kernels
from lshdb.sketch.texts import decode
from lshdb.sketch.words import words

__all__ = ["OtherText", "Runs", "num_covered"]


class OtherText:
    """A text that shares runs with sought texts. Args: utf8: the text."""

    def __init__(self, utf8: bytes, sought: Sought) -> None:
        found = words([utf8], seed=1)
        self.places = found.places
        self.hits = sought.probe.hits_of(found.forms)


class Runs:
    """Finds the runs that one of the sought texts shares with others."""

    def __init__(self, sought: Sought, text: int) -> None:
        self._sought = sought
        self._text = text
        numbers = sought.numbers_of(text)
        self._automaton = kernels.link_runs(numbers, np.array([0, len(numbers)]))

    def shared_with(self, other: OtherText) -> tuple[SharedRun, ...]:
        """Return the runs that cannot be extended in the sought text, in its order; see `SharedRun`."""
        longest = longest_runs(self._automaton, other.hits)
        ends = _last_places(longest.lengths)
        return tuple(self._run(longest, end, other) for end in _needed(ends, longest.lengths[ends], self._size))

    def _run(self, longest: Longest, place: int, other: OtherText) -> SharedRun:
        length, size = int(longest.lengths[place]), self._size
        num_words = length - 1 + size
        test = _span(self._sought.places_of(self._text), place + size - num_words, num_words)
        train = _span(other.places, int(longest.words[place]) + size - num_words, num_words)
        passage = self._sought.passage(self._text, test.first_word, test.end_word)
        return SharedRun(num_words, test, train, decode(passage))

    @property
    def _size(self) -> int:
        """The number of words of the text's N-grams."""
        return min(self._sought.size, self._sought.num_words(self._text))


def num_covered(runs: Sequence[SharedRun]) -> int:
    """Return the number of words in at least one of the runs, which are in the order of their ends."""
    covered, end = 0, 0
    for run in runs:
        covered += run.test.end_word - max(run.test.first_word, end)
        end = run.test.end_word
    return covered


def _last_places(lengths: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the places at which a run ends that does not go on at the next place."""
    goes_on = np.append(lengths[1:] > lengths[:-1], False)
    return np.flatnonzero((lengths > 0) & ~goes_on)


def _needed(ends: NDArray[np.int64], lengths: NDArray[np.int32], size: int) -> list[int]:
    """Return the ends of the first longest run, and of those that have a word which is in no other.

    Texts of 10,000 words that repeat one phrase can share 5,000 runs of 5,000 words. Each word stays in three.
    """
    firsts, stops, longest = ends - lengths + 1, ends + size, int(np.argmax(lengths)) if len(lengths) else 0
    kept: list[int] = []
    for run in range(len(ends)):
        if len(kept) > 1 and kept[-1] != longest and firsts[run] <= stops[kept[-2]]:
            kept.pop()
        kept.append(run)
    return [int(ends[run]) for run in kept]


def _span(places: NDArray[np.int64], first_word: int, num_words: int) -> Span:
    end_word = first_word + num_words
    return Span(first_word, end_word, int(places[first_word, 0]), int(places[end_word - 1, 1]))
