"""The words of texts, and where they are."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from lshdb.model.params import Shingling
from lshdb.sketch.normalization import normalise
from lshdb.sketch.shingling import shingle
from lshdb.sketch.texts import encode
from lshdb.sketch.words import Words, ngrams, words
from tests.properties.strategies import batches


def words_of(*texts: str) -> Words:
    return words([encode(text) for text in texts], seed=1)


def spelled(found: Words, text: int = 0) -> list[str]:
    start, stop = found.offsets[text : text + 2].tolist()
    return [found.spelled(word, word + 1) for word in range(start, stop)]


def in_text(text: str) -> list[str]:
    return [encode(text)[start:stop].decode() for start, stop in words_of(text).places.tolist()]


def test_words_are_lower_case_and_without_punctuation() -> None:
    assert spelled(words_of("The quick -- (brown) FOX!")) == ["the", "quick", "brown", "fox"]


def test_words_know_their_bytes_in_the_text() -> None:
    assert in_text("Caf\u00e9s, na\u00efve; \u00c9T\u00c9.") == ["Caf\u00e9s", "na\u00efve", "\u00c9T\u00c9"]


def test_a_composed_word_has_the_bytes_of_its_parts() -> None:
    assert in_text("un cafe\u0301 noir") == ["un", "cafe\u0301", "noir"]
    assert spelled(words_of("un cafe\u0301 noir")) == ["un", "caf\u00e9", "noir"]


def test_each_character_of_a_script_without_spaces_is_a_word() -> None:
    assert in_text("GPU\u8ba1\u7b97 \u0e01\u0e32") == ["GPU", "\u8ba1", "\u7b97", "\u0e01", "\u0e32"]


def test_the_words_of_a_ligature_share_its_place() -> None:
    found = words_of("a \u337f b")
    assert spelled(found) == ["a", "\u682a", "\u5f0f", "\u4f1a", "\u793e", "b"]
    assert found.places.tolist() == [[0, 1], [2, 5], [2, 5], [2, 5], [2, 5], [6, 7]]


def test_dropped_characters_belong_to_no_word_but_may_stand_inside_of_one() -> None:
    assert in_text("\ufeffhyp\u00adhen\u00ad ated") == ["hyp\u00adhen", "ated"]


@pytest.mark.parametrize("text", ["", " .,! ", "\u00ad\u00ad"])
def test_a_text_may_have_no_words(text: str) -> None:
    found = words_of(text)
    assert (found.offsets.tolist(), found.hashes.tolist(), found.places.tolist()) == ([0, 0], [], [])


def test_places_are_counted_from_the_beginning_of_each_text() -> None:
    found = words_of("one two", "", "three")
    assert found.offsets.tolist() == [0, 2, 2, 3]
    assert found.places.tolist() == [[0, 3], [4, 7], [0, 5]]


def test_the_seed_decides_the_hashes() -> None:
    assert words([b"a b"], seed=1).hashes.tolist() != words([b"a b"], seed=2).hashes.tolist()


@settings(max_examples=300, deadline=None)
@given(batches)
def test_words_are_those_of_the_word_shingles(batch: list[str]) -> None:
    found = words_of(*batch)
    single = shingle(normalise(batch, Shingling("word", 1)), Shingling("word", 1))
    assert found.offsets.tolist() == single.offsets.tolist()
    assert found.hashes.tolist() == single.hashes.tolist()
    assert len(found.places) == len(found.bounds) == len(found.hashes)


@settings(max_examples=300, deadline=None)
@given(batches)
def test_the_bytes_of_a_word_hold_the_word(batch: list[str]) -> None:
    found = words_of(*batch)
    for text, (start, stop) in zip(batch, pairwise(found.offsets.tolist()), strict=True):
        places = found.places[start:stop].tolist()
        assert [first for first, _ in places] == sorted(first for first, _ in places)
        for word, (first, last) in zip(range(start, stop), places, strict=True):
            assert 0 <= first < last <= len(encode(text))
            cut = encode(text)[first:last].decode("utf-8", "surrogatepass")
            assert found.spelled(word, word + 1) in spelled(words_of(cut))


@settings(max_examples=100, deadline=None)
@given(batches)
def test_equal_ngrams_are_equal_words_in_a_row(batch: list[str]) -> None:
    found, size = words_of(*batch), 3
    grams = ngrams(found.forms, size, 1)
    known: dict[int, str] = {}
    for text in range(len(batch)):
        start, stop = found.offsets[text : text + 2].tolist()
        hashes = grams.hashes[grams.offsets[text] : grams.offsets[text + 1]].tolist()
        assert len(hashes) == (max(stop - start - size + 1, 1) if stop > start else 0)
        for word, gram in enumerate(hashes, start):
            run = found.spelled(word, min(word + size, stop))
            assert known.setdefault(gram, run) == run


def test_normal_forms_can_be_read_as_words() -> None:
    found = words_of("Some words, more words")
    assert re.fullmatch(r"\w+( \w+)*", found.spelled(0, 4))
    assert np.unique(found.hashes).size == 3
