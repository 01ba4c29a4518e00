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
        """Return the runs that cannot be extended in the sought text, in its order."""
        longest = longest_runs(self._automaton, other.hits)
        return tuple(self._run(longest, place, other) for place in _last_places(longest.lengths).tolist())

    def _run(self, longest: Longest, place: int, other: OtherText) -> SharedRun:
        length, size = int(longest.lengths[place]), self._size
        num_words = length - 1 + size
        test = _span(self._sought.places_of(self._text), place + size - num_words, num_words)
        train = _span(other.places, int(longest.words[place]) + size - num_words, num_words)
        passage = self._sought.texts[self._text][test.first_byte : test.end_byte]
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


def _span(places: NDArray[np.int64], first_word: int, num_words: int) -> Span:
    end_word = first_word + num_words
    return Span(first_word, end_word, int(places[first_word, 0]), int(places[end_word - 1, 1]))
