"""Fingerprints find every shared run of words, in any script."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from lshdb.model.params import Params, Shingling
from lshdb.model.values import Fingerprints
from lshdb.sketch.normalization import normalise
from lshdb.sketch.winnowing import fingerprints, gram_shingling
from tests.properties.strategies import texts

WORD_5 = Shingling("word", 5)

# Few different words, so that k-grams repeat within a text and between texts.
words = st.lists(st.sampled_from(["a", "b", "c", "the", "of", "water", "über", "straße", "слово"]), max_size=40)
# In these scripts, each code point is a word.
unspaced = st.text(st.sampled_from("水火木金土あいうえお中文字ไทย"), max_size=40)


def prints(text: str, num_words: int, shingling: Shingling = WORD_5) -> set[int]:
    made = fingerprints(normalise([text], shingling), shingling, num_words)
    assert made.offsets.tolist() == [0, len(made.hashes)]
    return set(made.hashes.tolist())


def test_the_grams_are_the_shingles_of_the_index_if_these_are_short_enough() -> None:
    assert gram_shingling(Shingling("word", 5), 13).size == 5
    assert gram_shingling(Shingling("word", 3), 13).size == 3
    assert gram_shingling(Shingling("word", 13), 13).size == 13
    assert gram_shingling(Shingling("word", 20), 13).size == 5
    assert gram_shingling(Shingling("char", 10), 13).size == 5
    assert gram_shingling(Shingling("char", 10), 3).size == 3


def test_a_text_shorter_than_a_passage_has_no_fingerprints() -> None:
    twelve = "one two three four five six seven eight nine ten eleven twelve"
    assert prints(twelve, 13) == set()
    assert len(prints(f"{twelve} thirteen", 13)) == 1
    assert prints("", 13) == set()


def test_about_a_fifth_of_the_words_is_kept_for_passages_of_13_words() -> None:
    chance = np.random.default_rng(1)
    text = " ".join(map(str, chance.integers(0, 1_000_000, 20_000).tolist()))
    # 2 / (w + 1) with w = 9; the standard deviation is below 40.
    assert 3_800 < len(prints(text, 13)) < 4_200


@settings(max_examples=300, deadline=None)
@given(words, words, words, words, words, st.integers(1, 14), st.sampled_from(["word:5", "word:2", "char:4"]))
def test_texts_that_share_a_run_of_words_share_a_fingerprint(
    run: list[str], before: list[str], after: list[str], other_before: list[str], other_after: list[str],
    num_words: int, shingle: str,
) -> None:  # fmt: skip
    shingling = Params(shingle=shingle).shingling
    one, other = " ".join([*before, *run, *after]), " ".join([*other_before, *run, *other_after])
    shared = prints(one, num_words, shingling) & prints(other, num_words, shingling)
    assert shared or len(run) < num_words


@settings(max_examples=200, deadline=None)
@given(unspaced, unspaced, unspaced, st.integers(1, 14))
def test_a_run_in_a_script_without_spaces_is_found(run: str, before: str, after: str, num_words: int) -> None:
    shared = prints(before + run, num_words) & prints(run + after, num_words)
    assert shared or len(run) < num_words


@settings(max_examples=200, deadline=None)
@given(st.lists(texts, max_size=4), st.integers(1, 8))
def test_the_fingerprints_of_several_texts_are_those_of_each(several: list[str], num_words: int) -> None:
    made = fingerprints(normalise(several, WORD_5), WORD_5, num_words)
    assert [set(made.chosen(np.array([row])).hashes.tolist()) for row in range(len(several))] == [
        prints(text, num_words) for text in several
    ]
    again = Fingerprints.concatenate([made.chosen(np.array([row])) for row in range(len(several))] or [made])
    np.testing.assert_array_equal(again.hashes, made.hashes)
    np.testing.assert_array_equal(again.offsets, made.offsets)
