"""Texts made to collide under the hashes of ``unicode14-1``; forge.py tells how."""

from __future__ import annotations

import json

import pytest

from lshdb.model.params import Params
from lshdb.model.values import Document
from lshdb.sketch.sketch import shingle_sets, sketch
from tests.sketch.forge import FORGED

OLD, NEW = Params(table_version="unicode14-1"), Params(table_version="unicode14-2")
WORDS, TEXTS = (json.loads(FORGED.read_text())[name] for name in ("words", "texts"))


def similarity(texts: list[str], params: Params) -> float:
    sets = shingle_sets(texts, params)
    one, other = (set(sets.hashes[sets.offsets[i] : sets.offsets[i + 1]].tolist()) for i in (0, 1))
    return len(one & other) / len(one | other)


def digests(texts: list[str], params: Params) -> list[bytes]:
    return [row.tobytes() for row in sketch([Document("a", text) for text in texts], params).digests]


def test_two_texts_without_a_common_word_have_all_their_old_shingles_in_common() -> None:
    assert not set(WORDS[0].split()) & set(WORDS[1].split())
    assert similarity(WORDS, OLD) == 1.0


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_they_have_no_keyed_shingle_in_common(seed: int) -> None:
    for shingle in ("word:1", "word:5"):
        assert similarity(WORDS, Params(shingle=shingle, seed=seed)) == 0.0


def test_a_text_with_other_letters_has_the_old_digest_of_the_genuine_one() -> None:
    assert TEXTS[0] != TEXTS[1]
    assert len(set(digests(TEXTS, OLD))) == 1


def test_it_has_another_digest_now() -> None:
    assert len(set(digests(TEXTS, NEW))) == 2


@pytest.mark.parametrize("shingle", ["word:1", "char:4", "set"])
def test_the_seed_changes_every_keyed_shingle(shingle: str) -> None:
    texts = ["one two three four five"] * 2
    one, other = (set(shingle_sets(texts, Params(shingle=shingle, seed=seed)).hashes.tolist()) for seed in (1, 2))
    assert not one & other


@pytest.mark.parametrize("shingle", ["word:1", "char:4", "set"])
def test_the_seed_changes_no_old_shingle(shingle: str) -> None:
    texts = ["one two three four five"] * 2
    one, other = (
        shingle_sets(texts, Params(shingle=shingle, table_version="unicode14-1", seed=seed)).hashes for seed in (1, 2)
    )
    assert one.tolist() == other.tolist()
