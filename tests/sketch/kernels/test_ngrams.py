"""Numbering N-grams and finding them: what their hashes cannot tell apart, their words do."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from lshdb.overlap.probing import Probe
from lshdb.sketch import kernels
from lshdb.sketch.kernels import codepoints
from lshdb.sketch.kernels.ngram_values import NgramTable
from lshdb.sketch.words import words

# Adds the first and the third letter of a word, so that "abc" and "cba" have the same hash.
WEAK = np.array([0, 1], np.uint64)


def probe_of(texts: list[str], size: int) -> Probe:
    """Return a probe for the N-grams of texts, all of whose hashes are in one filter."""
    found = words([text.encode() for text in texts], seed=1)
    hashes, slots = np.zeros(64, np.uint64), np.full(64, -1, np.int32)
    numbered = kernels.number_ngrams(
        found.forms.codepoints, found.forms.offsets, found.bounds, size, codepoints.table(), WEAK, hashes, slots
    )
    sizes = np.unique(numbered[2])[::-1].copy()
    filters, offsets = np.full(2 * len(sizes), 2**64 - 1, np.uint64), 2 * np.arange(len(sizes) + 1)
    ngrams = NgramTable(found.forms.codepoints, found.bounds, *numbered, hashes, slots, sizes, filters, offsets)
    return Probe(ngrams, WEAK)


def hits(probe: Probe, *texts: str) -> list[list[int]]:
    found: NDArray[np.int64] = probe.hits_of(words([text.encode() for text in texts], seed=1).forms)
    return found.tolist()


@pytest.mark.parametrize("size", [1, 2])
def test_words_of_the_same_hash_have_different_numbers(size: int) -> None:
    probe = probe_of(["abc", "cba", "abc"], size)
    assert probe.ngrams.numbers.tolist() == [0, 1, 0]
    found = hits(probe, "abc bbb cba abc", "cba")
    assert found == [[0, 0, 0], [0, 2, 1], [0, 3, 0], [1, 0, 1]]


def test_words_that_only_have_the_hash_of_an_ngram_are_not_found() -> None:
    probe = probe_of(["abc def ghi", "abc"], 2)
    assert hits(probe, "cba def ghi") == [[0, 1, 1]]


def test_a_whole_short_text_is_found_once_in_each_text_and_other_ngrams_everywhere() -> None:
    probe = probe_of(["a", "b c d"], 2)
    assert probe.ngrams.lone.tolist() == [True, False, False]
    assert hits(probe, "a b c a b c", "a") == [[0, 1, 1], [0, 4, 1], [0, 0, 0], [1, 0, 0]]


def test_a_run_does_not_go_on_into_the_next_text() -> None:
    probe = probe_of(["a b", "c d"], 2)
    assert hits(probe, "a b c d") == [[0, 0, 0], [0, 2, 1]]
    assert hits(probe_of(["a", "b"], 1), "a b") == [[0, 0, 0], [0, 1, 1]]
