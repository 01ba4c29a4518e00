"""Shingles, their repeats, and sets of them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lshdb.model.params import ShingleKind, Shingling
from lshdb.sketch.normalization import normalise
from lshdb.sketch.shingling import shingle


def shingles(text: str, kind: ShingleKind = "word", size: int = 1, *, multiset: bool = False) -> list[int]:
    shingling = Shingling(kind, size, multiset)
    return shingle(normalise([text], shingling), shingling).hashes.tolist()


def test_a_text_of_ten_words_has_six_shingles_of_five() -> None:
    assert len(set(shingles("a b c d e f g h i j", size=5))) == 6


def test_a_text_of_ten_letters_has_six_shingles_of_five() -> None:
    assert len(set(shingles("abcdefghij", "char", 5))) == 6


def test_spaces_are_letters_of_char_shingles() -> None:
    assert len(shingles("ab  cd", "char", 5)) == 1
    assert shingles("ab cd", "char", 5) != shingles("abcd", "char", 5)


def test_a_text_shorter_than_a_shingle_is_one_shingle_of_all_its_tokens() -> None:
    assert len(shingles("two words", size=5)) == 1
    assert shingles("two words", size=5) == shingles("two words", size=3) == shingles("two words", size=2)
    assert shingles("two words", size=5) != shingles("words two", size=5)
    assert len(shingles("abc", "char", 5)) == 1


def test_an_empty_text_has_no_shingles() -> None:
    for kind in ("word", "char", "set"):
        assert shingles("", kind) == []


def test_short_texts_that_differ_do_not_collapse() -> None:
    texts = [
        "yes",
        "no",
        "\u0646\u0639\u0645",
        "\u0644\u0627",
        "\u0939\u093e\u0901",
        "\u0e43\u0e0a\u0e48",
        "\u662f",
        "\u4e0d",
    ]
    assert len({tuple(shingles(text, size=5)) for text in texts}) == len(texts)


def test_a_shingle_hash_does_not_depend_on_its_position() -> None:
    for kind, size in (("word", 3), ("char", 9)):
        alone = shingles("red green blue", kind, size)
        inside = shingles("zz yy red green blue xx", kind, size)
        assert set(alone) <= set(inside)


def test_every_letter_of_a_script_without_spaces_is_a_token() -> None:
    assert len(shingles("\u4eba\u4eba\u751f\u800c abc\u4eba")) == 6
    assert len(shingles("\u0e01\u0e34\u0e19 \u0e51\u0e52")) == 4


def test_marks_do_not_split_words() -> None:
    assert len(shingles("\u0938\u094d\u0924\u094d\u0930\u0940")) == 1
    assert len(shingles("\u0643\u064e\u062a\u064e\u0628\u064e")) == 1


def test_features_are_one_shingle_each() -> None:
    once = shingles("two words\nOne\none", "set")
    assert len(set(once)) == 3
    assert shingles("one", "set") == once[2:]


def test_repeats_are_kept_in_reading_order() -> None:
    a, b, again = shingles("a b a")
    assert a == again != b


def test_in_a_multiset_each_repeat_is_a_different_element() -> None:
    plain, numbered = shingles("a b a a b"), shingles("a b a a b", multiset=True)
    assert numbered[:2] == plain[:2]
    assert len(set(numbered)) == 5


def test_the_repeats_of_a_shingle_are_the_same_elements_in_every_text() -> None:
    assert set(shingles("a a b a", multiset=True)) == set(shingles("b a a a", multiset=True))
    assert set(shingles("a a", multiset=True)) < set(shingles("a a a", multiset=True))


@pytest.mark.parametrize("kind", ["word", "char"])
def test_different_shingles_of_real_size_do_not_collide(kind: ShingleKind) -> None:
    words = np.random.default_rng(1).integers(0, 500, 60_000).tolist()
    text = " ".join(f"w{word:o}" for word in words)
    tokens = text.split(" ") if kind == "word" else list(text)
    grams = Counter(zip(*(tokens[i:] for i in range(5)), strict=False))
    assert Counter(Counter(shingles(text, kind, 5)).values()) == Counter(grams.values())


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(["a", "b", "ab", "ba"]), max_size=20), st.integers(1, 4))
def test_shingle_hashes_are_equal_if_and_only_if_the_tokens_are(words: list[str], size: int) -> None:
    grams = [tuple(words[i : i + size]) for i in range(max(len(words) - size + 1, min(1, len(words))))]
    hashes = shingles(" ".join(words), size=size)
    assert len(hashes) == len(grams)
    assert len(set(hashes)) == len(set(grams)) == len(set(zip(hashes, grams, strict=True)))
