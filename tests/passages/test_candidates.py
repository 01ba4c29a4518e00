"""Pairs of contents that share fingerprints, without those that share them by chance."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lshdb import Document, Index
from lshdb.model.expansion import Expansion
from lshdb.passages.candidates import candidate_pairs
from lshdb.store.store import Store
from lshdb.store.tables import fingerprints
from lshdb.store.tables.entries import Entries
from tests.passages.corpora import PARAMS, N

# 400,000 fingerprints of 32 bits: some twenty of them are equal by chance.
WORDS = np.char.mod("w%d", np.random.default_rng(1).integers(0, 10**6, (400, 3_000)))
# Documents that share one run, d0 and d1 at its least length.
SHARING = [(0, 1, N), (2, 3, 50), (5, 2, 12), (9, 399, 3 * N)]


def documents() -> Iterator[Document]:
    words = WORDS.copy()
    for left, right, length in SHARING:
        words[right, 900 + left : 900 + left + length] = words[left, 100 : 100 + length]
    for number, row in enumerate(words):
        yield Document(f"d{number}", " ".join(row.tolist()))


def pairs_of(store: Store) -> set[tuple[int, int]]:
    with store.reading() as transaction:
        keys, num_skipped = candidate_pairs(transaction, store.params)
    assert not num_skipped
    assert keys.tolist() == sorted(keys.tolist())
    # Contents are numbered from 1, in the order of the documents.
    return {(left - 1, right - 1) for left, right in keys.tolist()}


def pairs_with_equal_fingerprints(store: Store) -> set[tuple[int, int]]:
    with store.reading() as transaction:
        entries = Entries.concatenate(list(fingerprints.all_entries(transaction)))
    entries = entries.chosen(np.lexsort((entries.content_keys, entries.hashes)))
    places = np.flatnonzero(entries.hashes[1:] == entries.hashes[:-1])
    keys = np.column_stack([entries.content_keys[places], entries.content_keys[places + 1]])
    return {(left - 1, right - 1) for left, right in keys.tolist()}


def test_texts_that_share_fingerprints_by_chance_are_no_candidates(url: str) -> None:
    with Index.create(url, PARAMS) as index:
        index.add(documents())
        sharing = {(min(pair), max(pair)) for *pair, _ in SHARING}
        assert len(pairs_with_equal_fingerprints(index._store) - sharing) > 10
        assert pairs_of(index._store) == sharing
        index.remove("d3")
        assert pairs_of(index._store) == {(0, 1), (2, 5), (9, 399)}


def test_a_text_that_has_a_fingerprint_repeatedly_is_one_of_those_that_share_it(url: str) -> None:
    run = " ".join(f"run{number}" for number in range(N))
    with Index.create(url, PARAMS) as index:
        index.add(Document(f"d{n}", f"{run} {n} {n * n} {n + 1} " * 5) for n in range(100, 104))
        # With the repeats, a bucket would have 20 texts, of which the later ones are paired with the first only.
        index._store.expansion = Expansion(cap=4, hubs=1)
        assert pairs_of(index._store) == {(left, right) for right in range(4) for left in range(right)}
