"""The runs of words that two texts share, if their words repeat so often that not all places can be compared."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from lshdb.passages import runs

N = 5


def test_of_repetitive_texts_fewer_places_are_compared_and_each_shared_word_is_in_a_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    one, other = (rng.integers(0, 2, 3_000) for _ in range(2))
    one[1_000:1_100] = 2
    # Two N-grams have the same number if and only if they have the same words.
    grams = [(sliding_window_view(words, N) @ 3 ** np.arange(N)).astype(np.uint64) for words in (one, other)]
    num_places = list[int]()
    segments = runs._segments

    def counted(places: NDArray[np.int64], diagonals: NDArray[np.int64], num_words: int) -> NDArray[np.int64]:
        num_places.append(len(places))
        return segments(places, diagonals, num_words)

    monkeypatch.setattr(runs, "_segments", counted)
    for most in (10**6, 20_000, 1):
        monkeypatch.setattr(runs, "MAX_PLACES", most)
        is_covered = np.zeros(len(one), np.bool_)
        for start, stop in runs.shared_runs(*grams, N).tolist():
            assert any((other[i : i + stop - start] == one[start:stop]).all() for i in range(len(other)))
            is_covered[start:stop] = True
        # Each five words of two kinds are somewhere in the other text.
        assert (is_covered == (one < 2)).all()
    assert num_places[1] <= 20_000 < num_places[0]
    # One of each cannot be left out.
    assert num_places[2] == np.isin(*grams).sum()
