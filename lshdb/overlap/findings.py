"""What was found of the sought texts so far: their N-grams, the texts that have most of them, and the longest runs.

Memory depends on the sought texts only, not on the number of texts that were searched.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.model.arrays import are_first, distinct, row_offsets
from lshdb.overlap.sought import Sought
from lshdb.overlap.training import Part
from lshdb.sketch import kernels
from lshdb.sketch.kernels.ngram_values import Automaton, Reached, Tallies

__all__ = ["Findings", "Longest", "longest_runs"]


class Longest(Struct, frozen=True):
    """The longest run that ends at each N-gram of some texts, in reading order.

    Args:
        lengths: its number of N-grams, int32; 0 for none.
        keys: the text that has it, int64.
        words: the first word of its last N-gram there, int64.
    """

    lengths: NDArray[np.int32]
    keys: NDArray[np.int64]
    words: NDArray[np.int64]


class Findings:
    """Collects what is found of some texts. Args: k: how many texts to remember for each of them."""

    def __init__(self, sought: Sought, k: int) -> None:
        self._sought = sought
        self._automaton = kernels.link_runs(sought.numbers, sought.offsets)
        self._reached = _nothing(self._automaton)
        self._tallies = _tallies(sought, k)

    def take(self, part: Part) -> None:
        """Take what was found in some texts, and accept those that are among the texts to remember so far."""
        kernels.follow_runs(part.hits, part.keys, self._automaton, self._reached, part.accepted)
        kernels.tally(part.hits, part.keys, part.weights, self._tallies, part.accepted)

    @property
    def found(self) -> NDArray[np.bool_]:
        """Which of the N-grams were found, bool, shape (G,)."""
        return self._tallies.found

    def longest(self) -> Longest:
        """Return the longest runs of all sought texts. Call it at the end."""
        return _settled(self._automaton, self._reached)

    def num_texts(self, text: int) -> int:
        """Return how many documents share an N-gram with a sought text."""
        return int(self._tallies.counts[self._rows(text)].sum())

    def best(self, text: int) -> list[int]:
        """Return the keys of the texts that share most N-grams with a sought text; among equals, the lowest key."""
        rows = self._rows(text)
        keys, shared = self._tallies.keys[rows].ravel(), self._tallies.shared[rows].ravel()
        order = np.lexsort((keys, -shared))
        return [int(key) for key in keys[order[shared[order] > 0]]]

    def _rows(self, text: int) -> NDArray[np.int64]:
        """Return the rows of the tallies that concern a sought text: its own, and those of its groups."""
        groups = np.unique(self._tallies.groups[self._sought.numbers_of(text)])
        return np.concatenate([[text], len(self._sought) + groups])


def longest_runs(automaton: Automaton, hits: NDArray[np.int64]) -> Longest:
    """Return the longest runs of the automaton's texts in one text. Args: hits: of this text."""
    reached = _nothing(automaton)
    kernels.follow_runs(hits, np.zeros(1, np.int64), automaton, reached, np.zeros(1, np.bool_))
    return _settled(automaton, reached)


def _nothing(automaton: Automaton) -> Reached:
    num_states = len(automaton.lengths)
    return Reached(np.zeros(num_states, np.int32), np.zeros(num_states, np.int64), np.zeros(num_states, np.int64))


def _settled(automaton: Automaton, reached: Reached) -> Longest:
    kernels.settle_runs(np.argsort(automaton.lengths, kind="stable"), automaton, reached)
    ends = automaton.ends
    return Longest(reached.lengths[ends], reached.texts[ends], reached.words[ends])


def _tallies(sought: Sought, k: int) -> Tallies:
    """Return tallies in which nothing is counted yet."""
    groups, offsets, members = _groups(sought)
    num_rows = len(sought) + len(offsets) - 1
    return Tallies(
        groups=groups,
        offsets=offsets,
        members=members,
        found=np.zeros(sought.num_ngrams, np.bool_),
        counts=np.zeros(num_rows, np.int64),
        keys=np.zeros((num_rows, k), np.int64),
        shared=np.full((num_rows, k), -1, np.int64),
        seen=np.full(sought.num_ngrams + num_rows, -1, np.int64),
        numbers=np.zeros(num_rows, np.int64),
    )


def _groups(sought: Sought) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the group of each N-gram, and the texts of each group, ragged: N-grams of the same texts are a group."""
    ngrams, owners = np.divmod(distinct(sought.numbers * np.int64(len(sought)) + sought.owners), max(len(sought), 1))
    starts = np.flatnonzero(are_first(ngrams))
    # The sums of two random numbers of each text name a set of texts; two sets agree in both with probability 2**-128.
    chance = np.random.default_rng().integers(0, 2**64, (2, max(len(sought), 1)), np.uint64)
    names = np.array([np.add.reduceat(drawn[owners], starts) for drawn in chance]) if len(owners) else chance[:, :0]
    order = np.lexsort(names)
    is_first = are_first(*names[:, order])
    groups = np.empty(len(order), np.int64)
    groups[order] = np.cumsum(is_first) - 1
    firsts = order[is_first]
    stops = np.append(starts[1:], len(owners))
    members = [owners[starts[first] : stops[first]] for first in firsts.tolist()]
    sizes = np.fromiter(map(len, members), np.int64, len(members))
    return groups, row_offsets(sizes), np.concatenate([np.empty(0, np.int64), *members])
