"""The word diff shows exactly the differences, in bounded time."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lshdb.answers import worddiff
from lshdb.answers.worddiff import Hunk, WordDiff, diff

WORDS = st.lists(st.sampled_from(["a", "b", "c", "d", "e"]), max_size=40)


def marked(found: WordDiff) -> str:
    """Return the hunks as text, ignoring white space."""
    marks = {"equal": "{}", "removed": "[-{}-]", "added": "{{+{}+}}", "elided": "..."}
    return " ".join(marks[hunk.kind].format(" ".join(hunk.text.split())) for hunk in found.hunks)


def words_of(found: WordDiff, *kinds: str) -> list[str]:
    return " ".join(hunk.text for hunk in found.hunks if hunk.kind in kinds).split()


def test_a_replaced_word_is_one_removed_and_one_added() -> None:
    found = diff("the old bridge is closed", "the new bridge is closed")
    assert marked(found) == "the [-old-] {+new+} bridge is closed"
    assert (found.num_equal, found.num_removed, found.num_added, found.is_coarse) == (4, 1, 1, False)


def test_white_space_alone_is_no_difference() -> None:
    assert diff("one  two\nthree", "one two three ").hunks == (Hunk("equal", "one two three", 3),)


def test_a_hunk_brings_the_white_space_before_it() -> None:
    assert diff("one\n\ntwo", "one\n\nthree four").hunks == (
        Hunk("equal", "one", 1),
        Hunk("removed", "\n\ntwo", 1),
        Hunk("added", "\n\nthree four", 2),
    )


def test_what_follows_a_removed_beginning_keeps_its_distance() -> None:
    assert diff("zero one", "one").hunks == (Hunk("removed", "zero", 1), Hunk("equal", " one", 1))


def test_nothing_against_something_is_all_of_it() -> None:
    assert marked(diff("", "all of it")) == "{+all of it+}"
    assert marked(diff("all of it", " ")) == "[-all of it-]"
    assert diff("", "").hunks == ()


def test_code_points_without_spaces_between_words_are_compared_one_by_one() -> None:
    assert marked(diff("茶馆早上开门", "茶馆晚上开门")) == "茶馆 [-早-] {+晚+} 上开门"


def test_features_are_compared_line_by_line() -> None:
    assert marked(diff("red car\nred van", "red bus\nred van", by_line=True)) == "[-red car-] {+red bus+} red van"


def test_long_equal_stretches_are_left_out_but_for_their_ends() -> None:
    numbers = " ".join(map(str, range(100)))
    found = diff(f"x {numbers} y", f"z {numbers} y")
    assert [(hunk.kind, hunk.num_words) for hunk in found.hunks] == [
        ("removed", 1), ("added", 1), ("equal", 12), ("elided", 77), ("equal", 12),
    ]  # fmt: skip
    assert found.hunks[2].text == " 0 1 2 3 4 5 6 7 8 9 10 11"
    assert found.hunks[4].text.endswith("98 99 y")


@pytest.fixture(params=[None, 0, 3], ids=["as it is", "anchors only", "little difflib"])
def budget(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Return the alignments by each method, all shown in full."""
    monkeypatch.setattr(worddiff, "EQUAL_CONTEXT", 10**6)
    monkeypatch.setattr(worddiff, "CHANGED_CONTEXT", 10**6)
    if request.param is not None:
        monkeypatch.setattr(worddiff, "SMALL", 0)
        monkeypatch.setattr(worddiff, "STRETCH_PAIRS", request.param)


@pytest.mark.usefixtures("budget")
def test_what_is_equal_or_removed_is_the_left_text_and_what_is_equal_or_added_the_right_one() -> None:
    @settings(max_examples=300, deadline=None)
    @given(WORDS, WORDS)
    def holds(left: list[str], right: list[str]) -> None:
        found = diff(" ".join(left), " ".join(right))
        assert words_of(found, "equal", "removed") == left
        assert words_of(found, "equal", "added") == right
        assert (found.num_equal + found.num_removed, found.num_equal + found.num_added) == (len(left), len(right))

    holds()


def test_changes_in_a_long_text_are_found_one_by_one() -> None:
    """Half a million words, far too many for difflib alone."""
    chance = random.Random(7)
    left = [f"w{chance.randrange(20_000)}" for _ in range(500_000)]
    right, places = list(left), chance.sample(range(500_000), 500)
    for place in places:
        right[place] = "changed"
    found = diff(" ".join(left), " ".join(right))
    assert (found.num_removed, found.num_added, found.is_coarse) == (500, 500, False)


def test_a_moved_half_is_found() -> None:
    numbers = [str(number) for number in range(100_000)]
    found = diff(" ".join(numbers), " ".join(numbers[50_000:] + numbers[:50_000]))
    assert (found.num_equal, found.is_coarse) == (50_000, False)


def test_what_is_too_unlike_to_compare_is_replaced_as_a_whole_and_said_so() -> None:
    chance = random.Random(7)
    one, other = (" ".join(chance.choices("abc", k=200_000)) for _ in range(2))
    found = diff(f"start {one} end", f"start {other} end")
    assert found.is_coarse
    assert [hunk.kind for hunk in found.hunks if hunk.kind != "elided"] == [
        "equal", "removed", "removed", "added", "added", "equal",
    ]  # fmt: skip
