"""The words that differ between two texts.

A word is a run of characters between white space. Each Han, kana, Thai, Lao, Khmer and Myanmar character counts as one
word, because these scripts put no spaces between words. Differences in white space alone do not count.

difflib aligns the words. Its time is quadratic, so it only ever sees windows of the two texts, and the number of equal
words that it may look at is limited. Limitation: parts of a text that exceed these limits are shown as removed and
added as a whole, and so is a long text after a passage of more than 20,000 words was inserted or moved. The diff is
then marked as coarse.

A run of words that is removed at one place and added at another has moved. Its words count as removed and as added.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import Match, SequenceMatcher
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.answers.moves import moves

__all__ = ["Hunk", "HunkKind", "Limits", "WordDiff", "diff"]

HunkKind = Literal["equal", "removed", "added", "elided"]

_SOLO: Final = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORD: Final = re.compile(rf"[{_SOLO}]|[^\s{_SOLO}]+")
_LINE: Final = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Hunk:
    """Consecutive words that are in both texts, only in the left (removed), only in the right (added), or left out.

    Args:
        text: the words with the white space before them; empty if they are left out. The text of equal words is that
            of the right document, except at its very beginning.
        moved: the number of the run that moved, the same where it is removed and where it is added; None for others.
    """

    kind: HunkKind
    text: str
    num_words: int
    moved: int | None = None


@dataclass(frozen=True, slots=True)
class WordDiff:
    """The hunks in reading order and the number of words of each kind.

    Args:
        is_coarse: some parts were too long or too different to compare word by word.
        num_moved: how many of the removed words, and of the added ones, have moved.
    """

    hunks: tuple[Hunk, ...]
    num_equal: int
    num_removed: int
    num_added: int
    is_coarse: bool
    num_moved: int = 0


class Limits(Struct, frozen=True):
    """How much a diff shows, and how much work it may do.

    Args:
        equal_context: words shown at each end of a long equal hunk.
        changed_context: words shown at each end of a long removed or added hunk.
        window: words of each text that difflib aligns at a time.
        far_window: words of each text that are searched for a common run if `window` words have none.
        far_searches: how often this may be done: up to 0.4 s each.
        common_run: equal words in a row that are taken as the same place in both texts.
        window_pairs: pairs of equal words that difflib may look at in one call: about 0.1 us each, several times.
        all_pairs: the same for all calls together.
        moved_run: words in a row that count as moved.
    """

    equal_context: int = 12
    changed_context: int = 100
    window: int = 500
    far_window: int = 20_000
    far_searches: int = 40
    common_run: int = 8
    window_pairs: int = 20_000
    all_pairs: int = 10_000_000
    moved_run: int = 8


class _Words(Struct, frozen=True):
    """The words of a text.

    Args:
        ids: int64; the same number for the same word in both texts.
        ends: where each word ends in `text`.
    """

    text: str
    ids: NDArray[np.int64]
    ends: list[int]

    def between(self, start: int, stop: int) -> str:
        """Return the words from `start` up to `stop`, with the white space before them."""
        return self.text[self.ends[start - 1] if start else 0 : self.ends[stop - 1]]


class _Run(NamedTuple):
    """Words that moved, on one side."""

    start: int
    stop: int
    number: int


DEFAULT_LIMITS: Final = Limits()


def diff(left: str, right: str, *, by_line: bool = False, limits: Limits = DEFAULT_LIMITS) -> WordDiff:
    """Return the changes that turn the left text into the right one.

    Args: by_line: a word is a whole line, as for features.
    """
    known: dict[str, int] = {}
    pattern = _LINE if by_line else _WORD
    ours, theirs = _words(left, pattern, known), _words(right, pattern, known)
    alignment = _Alignment(ours.ids, theirs.ids, limits)
    matches = alignment.matches()
    moved = moves(ours.ids, theirs.ids, matches, limits.moved_run)
    num_equal, num_moved = (sum(run.size for run in runs) for runs in (matches, moved))
    hunks = tuple(_hunks(ours, theirs, matches, moved, limits))
    removed, added = len(ours.ids) - num_equal, len(theirs.ids) - num_equal
    return WordDiff(hunks, num_equal, removed, added, alignment.is_coarse, num_moved)


def _words(text: str, pattern: re.Pattern[str], known: dict[str, int]) -> _Words:
    found = list(pattern.finditer(text))
    ids = np.fromiter((known.setdefault(match[0], len(known)) for match in found), dtype=np.int64, count=len(found))
    return _Words(text, ids, [match.end() for match in found])


class _Alignment:
    """Finds the equal words of two sequences of word ids, from the beginning to the end."""

    def __init__(self, left: NDArray[np.int64], right: NDArray[np.int64], limits: Limits) -> None:
        self._tail = _num_common(left[::-1], right[::-1])
        self._left = left[: len(left) - self._tail]
        self._right = right[: len(right) - self._tail]
        self._limits = limits
        self._pairs_left = limits.all_pairs
        self._far_searches = 0
        self.is_coarse = False

    def matches(self) -> list[Match]:
        """Return the runs of equal words, in order; adjacent runs are joined, and an empty one marks the end."""
        found, left, right = [Match(0, 0, 0)], 0, 0
        while left < len(self._left) and right < len(self._right):
            for match in self._next(left, right):
                _append(found, Match(left + match.a, right + match.b, match.size))
            left, right = left + match.a + match.size, right + match.b + match.size
        _append(found, Match(len(self._left), len(self._right), self._tail))
        return [*found, Match(len(self._left) + self._tail, len(self._right) + self._tail, 0)]

    def _next(self, left: int, right: int) -> list[Match]:
        """Return the next runs of equal words; the alignment continues after the last of them, which may be empty."""
        ours, theirs = self._left[left:], self._right[right:]
        head = _num_common(ours, theirs)
        if head:
            return [Match(0, 0, head)]
        window = self._limits.window
        if max(len(ours), len(theirs)) <= window:
            return [*self._compared(ours, theirs), Match(len(ours), len(theirs), 0)]
        run = self._common_run(ours, theirs)
        if run is not None:
            return [*self._compared(ours[: run.a], theirs[: run.b]), run]
        found = self._compared(ours[:window], theirs[:window])
        self.is_coarse = self.is_coarse or not found
        return found or [Match(len(ours[:window]), len(theirs[:window]), 0)]

    def _common_run(self, ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> Match | None:
        """Return a long run of equal words near the beginning of both, if there is one."""
        for size in (self._limits.window, self._limits.far_window):
            if size == self._limits.far_window:
                self._far_searches += 1
                if self._far_searches > self._limits.far_searches:
                    return None
            # autojunk: no run starts with a word that makes up more than 1 % of the window. It would take too long.
            run = SequenceMatcher(None, ours[:size].tolist(), theirs[:size].tolist()).find_longest_match()
            if run.size >= self._limits.common_run:
                return run
        return None

    def _compared(self, ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> list[Match]:
        """Return the runs of equal words that difflib finds, or an empty list if that would take too long."""
        counts = Counter(theirs.tolist())
        num_pairs = sum(counts[word] for word in ours.tolist())
        is_large = len(ours) * len(theirs) > self._limits.window**2
        if is_large or num_pairs > min(self._limits.window_pairs, self._pairs_left):
            self.is_coarse = True
            return []
        self._pairs_left -= num_pairs
        found = SequenceMatcher(None, ours.tolist(), theirs.tolist(), autojunk=False).get_matching_blocks()
        return [match for match in found if match.size]


def _append(found: list[Match], match: Match) -> None:
    """Append a run of equal words, or make the last run longer."""
    last = found[-1]
    if match.size and (last.a + last.size, last.b + last.size) == (match.a, match.b) and len(found) > 1:
        found[-1] = Match(last.a, last.b, last.size + match.size)
    elif match.size:
        found.append(match)


def _num_common(ours: NDArray[np.int64], theirs: NDArray[np.int64]) -> int:
    """Return the number of equal words that both begin with."""
    length = min(len(ours), len(theirs))
    differs = ours[:length] != theirs[:length]
    return int(differs.argmax()) if differs.any() else length


def _hunks(ours: _Words, theirs: _Words, matches: list[Match], moved: list[Match], limits: Limits) -> Iterator[Hunk]:
    away = deque(_Run(run.a, run.a + run.size, number) for number, run in enumerate(moved, 1))
    here = deque(sorted(_Run(run.b, run.b + run.size, number) for number, run in enumerate(moved, 1)))
    context = limits.changed_context
    for before, match in pairwise(matches):
        yield from _changed("removed", ours, before.a + before.size, match.a, away, context)
        yield from _changed("added", theirs, before.b + before.size, match.b, here, context)
        # The first word of the right text has no white space before it, but its counterpart in the left may have.
        words, begin = (theirs, match.b) if match.b or not match.a else (ours, match.a)
        yield from _shown("equal", words, begin, begin + match.size, limits.equal_context)


def _changed(kind: HunkKind, words: _Words, start: int, stop: int, moved: deque[_Run], context: int) -> Iterator[Hunk]:
    """Yield the words as hunks. Args: moved: runs in order, from `start` on; those before `stop` are taken out."""
    while moved and moved[0].start < stop:
        run = moved.popleft()
        yield from _shown(kind, words, start, run.start, context)
        yield from _shown(kind, words, run.start, run.stop, context, run.number)
        start = run.stop
    yield from _shown(kind, words, start, stop, context)


def _shown(
    kind: HunkKind, words: _Words, start: int, stop: int, context: int, moved: int | None = None
) -> Iterator[Hunk]:
    """Yield the words as one hunk, or only their two ends if there are many."""
    if stop - start > 2 * context + 1:
        yield Hunk(kind, words.between(start, start + context), context, moved)
        yield Hunk("elided", "", stop - start - 2 * context, moved)
        yield Hunk(kind, words.between(stop - context, stop), context, moved)
    elif stop > start:
        yield Hunk(kind, words.between(start, stop), stop - start, moved)
