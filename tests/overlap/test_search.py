"""What test documents share with training documents equals what the definition says."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lshdb.errors import InvalidParams
from lshdb.model.overlap import Overlap, OverlapOptions
from lshdb.overlap.search import overlaps
from lshdb.sketch.texts import encode
from tests.overlap.brute import TextTraining, expected, maximal, side_of, words_of
from tests.properties.strategies import texts as tricky

# Few different words, so that texts share runs, repeat themselves and overlap with themselves.
few_words = st.lists(st.sampled_from(["a", "b", "c", "A,", "\u6f22", "e\u0301", "\u0e01\u0e32"]), max_size=30)
plain = few_words.map(" ".join)
lists = st.lists(st.one_of(plain, tricky), max_size=7)


def search(tests: list[str], training: list[str], ngram: int = 3, k: int = 10) -> list[Overlap]:
    return list(overlaps([side_of(*tests)], TextTraining(training), OverlapOptions(ngram, k)))


def test_a_question_in_a_long_page_is_found_whole() -> None:
    question = "what is the name of the river that flows through the old town of Basel?"
    inner = "What is the NAME of the river that flows through the old town of Basel"
    page = f"{'other words ' * 2000} so: {inner}? {'x ' * 99}"
    (found,) = search([question], ["nothing here", page], ngram=13)
    assert (found.num_words, found.num_covered, found.longest, found.num_train) == (15, 15, 15, 1)
    ((run,),) = [match.runs for match in found.matches]
    assert run.passage == found.passage == question.rstrip("?")
    (brief,) = search([question], ["nothing here", page], ngram=13, k=0)
    assert brief == replace(found, matches=())
    train = encode(page)[run.train.first_byte : run.train.end_byte].decode()
    assert train == inner
    assert (run.train.first_word, run.train.end_word) == (4001, 4016)


def test_a_changed_word_splits_the_run() -> None:
    (found,) = search(["a b c d e f g h"], ["x a b c d y f g h z"], ngram=3)
    assert (found.num_covered, found.longest) == (7, 4)
    assert [(run.test.first_word, run.test.end_word, run.passage) for run in found.matches[0].runs] == [
        (0, 4, "a b c d"),
        (5, 8, "f g h"),
    ]


def test_a_shorter_document_must_be_contained_as_a_whole() -> None:
    found = search(["b c", "c b", "b", ""], ["a b c d"], ngram=3)
    assert [(one.num_words, one.num_covered, one.longest) for one in found] == [
        (2, 2, 2),
        (2, 0, 0),
        (1, 1, 1),
        (0, 0, 0),
    ]
    assert [one.share for one in found] == [1.0, 0.0, 1.0, 0.0]


def test_the_longest_run_stands_in_one_training_document() -> None:
    (found,) = search(["a b c d e f"], ["a b c d", "c d e f", "b c d e"], ngram=3)
    assert (found.num_covered, found.longest, found.num_train) == (6, 4, 3)


def test_the_document_with_the_longest_run_comes_first_however_many_share_a_shorter_one() -> None:
    (found,) = search(["a b c d e f"], [*["a b c"] * 20, "a b c d e f", *["d e f"] * 20], ngram=3, k=2)
    assert (found.num_train, found.longest) == (41, 6)
    assert [(match.train, match.longest) for match in found.matches] == [("20", 6), ("0", 3)]


def test_documents_that_are_not_listed_are_counted() -> None:
    found = search(["template a b c one", "template a b c two"], ["x template a b c y"] * 1000, ngram=3, k=5)
    assert [(one.num_train, len(one.matches)) for one in found] == [(1000, 5), (1000, 5)]


def test_equal_test_documents_have_equal_answers() -> None:
    first, second = search(["a b c d", "a b c d"], ["b c d e"])
    assert (first.test, second.test) == ("0", "1")
    assert (first.matches, first.num_covered) == (second.matches, 3)


def test_a_text_that_repeats_itself_a_thousand_times_takes_no_longer() -> None:
    (found,) = search(["na " * 30_000], ["na " * 20_000, "na " * 40_000])
    assert (found.longest, found.num_covered, found.num_train) == (30_000, 30_000, 2)
    assert [match.longest for match in found.matches] == [30_000, 20_000]


def test_runs_that_others_cover_are_left_out_except_for_the_longest() -> None:
    ((found,),) = [one.matches for one in search(["a b c d e f g h i"], ["a b c d x b c d e x d e f g h x e f g h i"])]
    assert [run.passage for run in found.runs] == ["a b c d", "d e f g h", "e f g h i"]
    assert (found.longest, found.num_covered) == (5, 9)
    ((found,),) = [one.matches for one in search(["a b c d e f g"], ["a b c d x b c d e x c d e f x d e f g"])]
    assert [run.passage for run in found.runs] == ["a b c d", "d e f g"]


def test_a_phrase_that_both_sides_repeat_is_listed_a_few_times() -> None:
    (found,) = search(["na " * 3_000], ["na " * 1_000] * 50, ngram=13)
    assert (found.longest, found.num_covered, found.num_train) == (1_000, 3_000, 50)
    for match in found.matches:
        assert sum(run.num_words for run in match.runs) <= 3 * 3_000


@pytest.mark.parametrize("arguments", [{"ngram": 0}, {"ngram": 101}, {"k": -1}, {"k": True}, {"workers": 0}])
def test_options_out_of_range_are_refused(arguments: dict[str, int]) -> None:
    with pytest.raises(InvalidParams):
        OverlapOptions(**arguments)


@settings(max_examples=400, deadline=None)
@given(lists, lists, st.integers(1, 6), st.integers(1, 4), st.integers(1, 4))
def test_answers_equal_brute_force(tests: list[str], training: list[str], ngram: int, k: int, part: int) -> None:
    sides = [side_of(*tests[:2]), side_of(*tests[2:])]
    found = list(overlaps(sides, TextTraining(training, part), OverlapOptions(ngram, k)))
    assert [one.test for one in found] == [doc_id for side in sides for doc_id in side.doc_ids]
    for text, one in zip(tests, found, strict=True):
        said = expected(text, training, ngram)
        assert (one.num_words, one.num_covered) == (said.num_words, said.num_covered)
        assert (one.longest, one.num_train) == (said.longest, said.num_train)
        assert len(one.matches) == min(k, said.num_train)
        listed = [int(match.train) for match in one.matches]
        assert one.train == (one.matches[0].train if listed else None)
        if listed:
            assert said.longest_with[listed[0]] == said.longest
        # The others are those that share most N-grams.
        others = sorted((key for key in said.ngrams_with if key != listed[0]), key=lambda key: -said.ngrams_with[key])
        assert [said.ngrams_with[key] for key in listed[1:]] == [said.ngrams_with[key] for key in others[: k - 1]]
        for match in one.matches:
            key = int(match.train)
            assert (match.longest, match.num_covered) == (said.longest_with[key], said.covered_with[key])
            assert maximal([(run.test.first_word, run.test.end_word) for run in match.runs])
            for run in match.runs:
                mine = words_of(text)[run.test.first_word : run.test.end_word]
                assert len(mine) == run.num_words
                assert words_of(training[key])[run.train.first_word : run.train.end_word] == mine
                cut = encode(text)[run.test.first_byte : run.test.end_byte]
                assert cut.decode("utf-8", "surrogatepass") == run.passage
