"""Small texts that share long runs of words, and what brute force says about them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from lshdb import Document, Index
from lshdb.sketch.sketch import sketch
from lshdb.tuning.choice import params_of

N, K = 7, 3
PARAMS = {"passages": N, "shingle": f"word:{K}"}

Words = list[str]

# Runs of a few words in Latin and Han, where each character is a word; put together, they share long runs.
WORDS = ["one", "two", "three", "four", "水", "火", "straße"]
runs = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)
chunks = st.sampled_from([WORDS, WORDS[::-1], ["木", "x", "金", "y", "土", "z", "one", "one"], ["one", "two"] * 6])
texts = st.lists(st.one_of(runs, chunks), min_size=1, max_size=5).map(lambda parts: [w for part in parts for w in part])
corpora = st.lists(texts, min_size=2, max_size=6, unique_by=tuple)


def shingles(words: Words) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + K]) for i in range(max(1, len(words) - K + 1))}


def contained(small: Words, large: Words) -> float:
    return len(shingles(small) & shingles(large)) / len(shingles(small))


def has_run(words: Words, run: Sequence[str]) -> bool:
    return any(words[i : i + len(run)] == list(run) for i in range(len(words) - len(run) + 1))


def share_a_run(one: Words, other: Words) -> bool:
    return any(has_run(other, one[i : i + N]) for i in range(len(one) - N + 1))


def are_candidates(one: Words, other: Words) -> bool:
    """Whether two texts share a fingerprint: every two that share a run do, and some others."""
    found = sketch([Document("one", " ".join(one)), Document("other", " ".join(other))], params_of(PARAMS)).fingerprints
    assert found is not None
    is_shared = bool(np.isin(*np.split(found.hashes, [found.offsets[1]])).any())
    assert is_shared or not share_a_run(one, other)
    return is_shared


def refill(index: Index, corpus: list[Words]) -> None:
    """Replace the documents of an index by d0, d1, ... What the old ones leave behind must not show in any answer."""
    index.remove([f"d{number}" for number in range(len(index))])
    index.add(Document(f"d{number}", " ".join(words)) for number, words in enumerate(corpus))
