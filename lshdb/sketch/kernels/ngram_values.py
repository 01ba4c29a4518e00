"""The values that the kernels of shared runs take and return. Importing them does not import Numba."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Automaton", "NgramTable", "Reached", "Tallies"]


class NgramTable(NamedTuple):
    """Numbered N-grams, for kernels.

    Args:
        codepoints: of the normal forms that hold them, uint32.
        bounds: the words of these normal forms: code points [start, stop), int64, shape (W, 2).
        numbers: the N-gram that begins at each word, int32, shape (W,), -1 for none.
        words: for each N-gram, the first word of its first occurrence, int64, shape (G,).
        sizes: for each N-gram, its number of words, int64, shape (G,).
        lone: for each N-gram, whether it is the whole of every text that has it, and no other N-gram has its hash;
            bool, shape (G,).
        hashes, slots: a hash table with linear probing: hash, uint64; N-gram, int32, -1 if empty.
        distinct_sizes: int64, descending.
        filters: for each size, bits of the hashes, uint64, ragged. They rule out most of the hashes that are not in the
            table. A size that few N-grams have costs little, because its filter fits into the first-level cache.
        filter_offsets: int64.
    """

    codepoints: NDArray[np.uint32]
    bounds: NDArray[np.int64]
    numbers: NDArray[np.int32]
    words: NDArray[np.int64]
    sizes: NDArray[np.int64]
    lone: NDArray[np.bool_]
    hashes: NDArray[np.uint64]
    slots: NDArray[np.int32]
    distinct_sizes: NDArray[np.int64]
    filters: NDArray[np.uint64]
    filter_offsets: NDArray[np.int64]


class Automaton(NamedTuple):
    """A suffix automaton of sequences of N-grams.

    Args:
        lengths, links: of each state, the length of its longest run, and its suffix link; int32.
        ends: the state of each N-gram of the texts, in reading order, int32.
        sources, symbols, targets, nexts: of each transition: its states, its N-gram, and the next one of its source.
        slots: a hash table of transitions, int32; 0 for empty, or else the transition + 1.
    """

    lengths: NDArray[np.int32]
    links: NDArray[np.int32]
    ends: NDArray[np.int32]
    sources: NDArray[np.int32]
    symbols: NDArray[np.int32]
    targets: NDArray[np.int32]
    nexts: NDArray[np.int32]
    slots: NDArray[np.int32]


class Reached(NamedTuple):
    """The longest run that reached each state of an automaton: its number of N-grams, and where its last one is.

    Args: lengths: int32, 0 for none; texts: int64, keys; words: int64, the first words of the last N-grams.
    """

    lengths: NDArray[np.int32]
    texts: NDArray[np.int64]
    words: NDArray[np.int64]


class Tallies(NamedTuple):
    """How many texts share an N-gram with each sought text, and the texts that share the most of them.

    A group is a set of sought texts; each N-gram belongs to the group of all texts that have it. A text that meets a
    single group is counted there once, so that it costs the same for an N-gram of one sought text and of all.

    Args:
        groups: the group of each N-gram, int64, shape (G,).
        offsets, members: the sought texts of each group, int64, ragged.
        found: which N-grams were found, bool, shape (G,).
        counts, keys, shared: for each row the weight of its texts, int64; the keys of the best, int64, shape (R, k);
            and how many N-grams these share, int64, -1 for none. The first rows are the sought texts, the others the
            groups.
        seen: for each N-gram, then group, then sought text, the last text that met it, int64.
        numbers: for each group, then sought text, how many N-grams that text shares, int64.
    """

    groups: NDArray[np.int64]
    offsets: NDArray[np.int64]
    members: NDArray[np.int64]
    found: NDArray[np.bool_]
    counts: NDArray[np.int64]
    keys: NDArray[np.int64]
    shared: NDArray[np.int64]
    seen: NDArray[np.int64]
    numbers: NDArray[np.int64]
