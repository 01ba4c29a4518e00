"""Compiled kernels that find the longest runs of N-grams that some texts share with others, and count the others.

Texts are sequences of numbered N-grams here. A suffix automaton of the sought texts has a state for each set of places
at which some run of N-grams ends. Another text walks through it in one pass, however often its runs occur. Each state
keeps the longest run that reached it, so memory does not grow with the number of texts that were followed.

Source: Blumer, Blumer, Haussler, Ehrenfeucht, Chen, Seiferas 1985, The smallest automaton recognizing the subwords of
a text.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.sketch.kernels.compilation import kernel, mix
from lshdb.sketch.kernels.ngram_values import Automaton, Reached, Tallies

__all__ = ["follow_runs", "link_runs", "settle_runs", "tally"]

ROOT, NONE = 0, -1


@kernel
def _slot(
    state: int,
    symbol: int,
    sources: NDArray[np.int32],
    symbols: NDArray[np.int32],
    slots: NDArray[np.int32],
) -> np.uint64:
    """Return the slot of a transition, or the empty slot where it belongs."""
    mask = np.uint64(len(slots) - 1)
    slot = mix(np.uint64(state) << np.uint64(32) | np.uint64(symbol)) & mask
    while slots[slot] and (sources[slots[slot] - 1] != state or symbols[slots[slot] - 1] != symbol):
        slot = slot + np.uint64(1) & mask
    return slot


@kernel
def link_runs(numbers: NDArray[np.int32], offsets: NDArray[np.int64]) -> Automaton:
    """Return the suffix automaton of n sequences. Takes time and memory in proportion to their length.

    Args: numbers: int32, shape (G,); offsets: int64, shape (n + 1,).
    """
    most = 2 * len(numbers) + 1
    lengths, links = np.zeros(most, np.int32), np.full(most, NONE, np.int32)
    firsts = np.full(most, NONE, np.int32)
    ends = np.empty(len(numbers), np.int32)
    # A suffix automaton of G symbols has fewer than 3 G transitions.
    num_slots = 16
    while num_slots < 6 * len(numbers):
        num_slots *= 2
    sources, symbols = np.empty(3 * len(numbers) + 1, np.int32), np.empty(3 * len(numbers) + 1, np.int32)
    targets, nexts = np.empty(3 * len(numbers) + 1, np.int32), np.empty(3 * len(numbers) + 1, np.int32)
    slots = np.zeros(num_slots, np.int32)
    num_states, num_edges = 1, 0
    for text in range(len(offsets) - 1):
        last = ROOT
        for i in range(offsets[text], offsets[text + 1]):
            symbol = numbers[i]
            slot = _slot(last, symbol, sources, symbols, slots)
            if slots[slot]:
                # An earlier text has this run, too: no new state, unless its state stands for longer runs as well.
                state, place = NONE, last
            else:
                state, place = num_states, last
                num_states += 1
                lengths[state], links[state] = lengths[last] + 1, ROOT
                while place != NONE:
                    slot = _slot(place, symbol, sources, symbols, slots)
                    if slots[slot]:
                        break
                    sources[num_edges], symbols[num_edges], targets[num_edges] = place, symbol, state
                    nexts[num_edges], firsts[place] = firsts[place], num_edges
                    num_edges += 1
                    slots[slot] = num_edges
                    place = links[place]
            if place != NONE:
                target = targets[slots[_slot(place, symbol, sources, symbols, slots)] - 1]
                if lengths[target] != lengths[place] + 1:
                    # Split off the shorter runs of the target: they end at more places from now on.
                    copy = num_states
                    num_states += 1
                    lengths[copy], links[copy] = lengths[place] + 1, links[target]
                    edge = firsts[target]
                    while edge != NONE:
                        sources[num_edges], symbols[num_edges], targets[num_edges] = copy, symbols[edge], targets[edge]
                        nexts[num_edges], firsts[copy] = firsts[copy], num_edges
                        num_edges += 1
                        slots[_slot(copy, symbols[edge], sources, symbols, slots)] = num_edges
                        edge = nexts[edge]
                    links[target] = copy
                    while place != NONE:
                        edge = slots[_slot(place, symbol, sources, symbols, slots)] - 1
                        if edge == NONE or targets[edge] != target:
                            break
                        targets[edge] = copy
                        place = links[place]
                    target = copy
                if state == NONE:
                    state = target
                else:
                    links[state] = target
            last = state
            ends[i] = state
    return Automaton(
        lengths[:num_states].copy(),
        links[:num_states].copy(),
        ends,
        sources[:num_edges].copy(),
        symbols[:num_edges].copy(),
        targets[:num_edges].copy(),
        nexts[:num_edges].copy(),
        slots,
    )


@kernel
def follow_runs(
    hits: NDArray[np.int64],
    keys: NDArray[np.int64],
    automaton: Automaton,
    reached: Reached,
    accepted: NDArray[np.bool_],
) -> None:
    """Follow the N-grams that some texts share with those of the automaton, and note the longest runs in `reached`.

    Args:
        hits: (text, word, number), int64, shape (m, 3), as `find_ngrams` returns them.
        keys: the key of each text, int64, shape (n,).
        accepted: bool, shape (n,): set to True for each text that has a new longest run.
    """
    state, length = ROOT, 0
    for i in range(len(hits)):
        text, word, symbol = hits[i]
        if i == 0 or hits[i - 1, 0] != text or hits[i - 1, 1] + 1 != word:
            state, length = ROOT, 0
        edge = automaton.slots[_slot(state, symbol, automaton.sources, automaton.symbols, automaton.slots)] - 1
        while edge == NONE and state != ROOT:
            state = automaton.links[state]
            length = automaton.lengths[state]
            edge = automaton.slots[_slot(state, symbol, automaton.sources, automaton.symbols, automaton.slots)] - 1
        if edge == NONE:
            continue
        state = automaton.targets[edge]
        length += 1
        if length > reached.lengths[state]:
            reached.lengths[state], reached.texts[state], reached.words[state] = length, keys[text], word
            accepted[text] = True


@kernel
def settle_runs(order: NDArray[np.int64], automaton: Automaton, reached: Reached) -> None:
    """Give each state the longest of its runs that is part of any run that was followed, in place.

    Args: order: the states by length, int64.
    """
    for state in order[::-1]:
        # Whatever has a run has its suffixes, too.
        link = automaton.links[state]
        if link != NONE and reached.lengths[state] and reached.lengths[link] < automaton.lengths[link]:
            reached.lengths[link] = automaton.lengths[link]
            reached.texts[link], reached.words[link] = reached.texts[state], reached.words[state]
    for state in order:
        # Where a run of this state ends in a sought text, those of its suffix link end, too.
        link = automaton.links[state]
        if link != NONE and reached.lengths[link] > reached.lengths[state]:
            reached.lengths[state] = reached.lengths[link]
            reached.texts[state], reached.words[state] = reached.texts[link], reached.words[link]


@kernel
def _offer(tallies: Tallies, row: int, key: int, number: int) -> bool:
    """Add a text to the best of a row if it shares more than the last of them; return whether it does."""
    place = tallies.keys.shape[1]
    while place > 0 and tallies.shared[row, place - 1] < number:
        place -= 1
    if place == tallies.keys.shape[1]:
        return False
    for later in range(tallies.keys.shape[1] - 1, place, -1):
        tallies.keys[row, later], tallies.shared[row, later] = (
            tallies.keys[row, later - 1],
            tallies.shared[row, later - 1],
        )
    tallies.keys[row, place], tallies.shared[row, place] = key, number
    return True


@kernel
def tally(
    hits: NDArray[np.int64],
    keys: NDArray[np.int64],
    weights: NDArray[np.int64],
    tallies: Tallies,
    accepted: NDArray[np.bool_],
) -> None:
    """Count the texts that share N-grams with the sought texts, in place.

    Args:
        hits: (text, word, number), int64, shape (m, 3), as `find_ngrams` returns them.
        keys: the key of each text, int64, ascending, from 0; weights: how much each counts, int64.
        accepted: bool, shape (n,): set to True for each text that is now among the best.
    """
    num_ngrams, num_groups = len(tallies.groups), len(tallies.offsets) - 1
    num_sought = len(tallies.counts) - num_groups
    met_groups, met_sought = np.empty(num_groups, np.int64), np.empty(num_sought, np.int64)
    start = 0
    while start < len(hits):
        text, stop = hits[start, 0], start
        key = keys[text]
        num_met = 0
        while stop < len(hits) and hits[stop, 0] == text:
            ngram = hits[stop, 2]
            stop += 1
            tallies.found[ngram] = True
            if tallies.seen[ngram] == key:
                continue
            tallies.seen[ngram] = key
            group = tallies.groups[ngram]
            if tallies.seen[num_ngrams + group] != key:
                tallies.seen[num_ngrams + group] = key
                tallies.numbers[group] = 0
                met_groups[num_met] = group
                num_met += 1
            tallies.numbers[group] += 1
        start = stop
        if num_met == 1:
            row = num_sought + met_groups[0]
            tallies.counts[row] += weights[text]
            accepted[text] |= _offer(tallies, row, key, tallies.numbers[met_groups[0]])
            continue
        num_texts = 0
        for group in met_groups[:num_met]:
            for sought in tallies.members[tallies.offsets[group] : tallies.offsets[group + 1]]:
                if tallies.seen[num_ngrams + num_groups + sought] != key:
                    tallies.seen[num_ngrams + num_groups + sought] = key
                    tallies.numbers[num_groups + sought] = 0
                    met_sought[num_texts] = sought
                    num_texts += 1
                tallies.numbers[num_groups + sought] += tallies.numbers[group]
        for sought in met_sought[:num_texts]:
            tallies.counts[sought] += weights[text]
            accepted[text] |= _offer(tallies, sought, key, tallies.numbers[num_groups + sought])
