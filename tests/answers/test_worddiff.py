"""The word diff: it shows exactly the words that differ, in bounded time."""

from __future__ import annotations

import random
from difflib import Match

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from lshdb.answers.moves import moves
from lshdb.answers.worddiff import Hunk, Limits, WordDiff, diff

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


# Everything is shown; the small limits make short texts take the ways of long ones.
UNLIMITED = Limits(equal_context=10**6, changed_context=10**6)
SMALL_WINDOWS = Limits(equal_context=10**6, changed_context=10**6, window=4, far_window=8, common_run=2)
NO_PAIRS = Limits(equal_context=10**6, changed_context=10**6, window=4, far_window=8, common_run=2, window_pairs=0)
NO_FAR_SEARCHES = Limits(equal_context=10**6, changed_context=10**6, window=4, common_run=2, far_searches=0)


@pytest.mark.parametrize("limits", [UNLIMITED, SMALL_WINDOWS, NO_PAIRS, NO_FAR_SEARCHES])
def test_the_equal_and_removed_words_are_the_left_text_and_the_equal_and_added_words_the_right(limits: Limits) -> None:
    @settings(max_examples=300, deadline=None)
    @given(WORDS, WORDS)
    def holds(left: list[str], right: list[str]) -> None:
        found = diff(" ".join(left), " ".join(right), limits=limits)
        assert words_of(found, "equal", "removed") == left
        assert words_of(found, "equal", "added") == right
        assert (found.num_equal + found.num_removed, found.num_equal + found.num_added) == (len(left), len(right))

    holds()


@pytest.mark.slow
def test_changes_in_a_long_text_are_found_one_by_one() -> None:
    """Half a million words, far too many for difflib alone."""
    chance = random.Random(7)
    left = [f"w{chance.randrange(20_000)}" for _ in range(500_000)]
    right, places = list(left), chance.sample(range(500_000), 500)
    for place in places:
        right[place] = "changed"
    found = diff(" ".join(left), " ".join(right))
    assert (found.num_removed, found.num_added, found.is_coarse) == (500, 500, False)


def test_a_long_moved_passage_is_found() -> None:
    words = [str(number) for number in range(100_000)]
    moved = words[:20_000] + words[30_000:70_000] + words[20_000:30_000] + words[70_000:]
    found = diff(" ".join(words), " ".join(moved))
    assert (found.num_equal, found.num_moved, found.is_coarse) == (90_000, 10_000, False)
    assert [(hunk.kind, hunk.num_words, hunk.moved) for hunk in found.hunks if hunk.moved] == [
        ("removed", 100, 1), ("elided", 9_800, 1), ("removed", 100, 1),
        ("added", 100, 1), ("elided", 9_800, 1), ("added", 100, 1),
    ]  # fmt: skip


def moved(found: WordDiff) -> list[tuple[int | None, str, str]]:
    return [(hunk.moved, hunk.kind, hunk.text.strip()) for hunk in found.hunks if hunk.moved]


def test_passages_that_changed_places_are_found_at_both() -> None:
    one, two, three = ([f"{letter}{number}" for number in range(10)] for letter in "abc")
    found = diff(" ".join([*one, *two, "x", *three]), " ".join([*three, "y", *one, "new", *two]))
    assert moved(found) == [(1, "added", " ".join(three)), (1, "removed", " ".join(three))]
    assert (found.num_equal, found.num_moved) == (20, 10)


def test_a_moved_passage_may_stand_inside_of_other_changes() -> None:
    words = [f"w{number}" for number in range(50)]
    left = [*words[:20], "old", *words[20:28], "gone", *words[28:]]
    found = diff(" ".join(left), " ".join([*words[:20], *words[28:], "fresh", *words[20:28], "end"]))
    passage = " ".join(words[20:28])
    assert moved(found) == [(1, "removed", passage), (1, "added", passage)]
    assert marked(found).count("[-") == 3


def test_fewer_words_or_words_without_an_order_of_their_own_have_not_moved() -> None:
    words = [f"w{number}" for number in range(50)]
    assert diff(" ".join(words), " ".join([*words[7:], *words[:7]])).num_moved == 0
    assert diff(" ".join(words), " ".join([*words[8:], *words[:8]])).num_moved == 8
    same = ["same"] * 20
    assert diff(" ".join([*same, *words]), " ".join([*words, *same])).num_moved == 0
    # A copy has not moved, because it is still at its first place.
    assert diff(" ".join(words), " ".join([*words, *words[:20]])).num_moved == 0


@pytest.mark.parametrize("limits", [UNLIMITED, SMALL_WINDOWS, NO_PAIRS])
def test_what_moved_is_the_same_words_at_two_places(limits: Limits) -> None:
    @settings(max_examples=300, deadline=None)
    @given(WORDS, st.randoms(use_true_random=False))
    def holds(words: list[str], chance: random.Random) -> None:
        cut, other = (chance.randrange(len(words) + 1) for _ in range(2))
        turned = [*words[cut:], *words[:cut]]
        right = [*turned[:other], *chance.choices("abcdef", k=3), *turned[other:]]
        found = diff(" ".join(words), " ".join(right), limits=replace(limits, moved_run=3))
        runs = [
            {hunk.moved: hunk.text.split() for hunk in found.hunks if hunk.moved and hunk.kind == kind}
            for kind in ("removed", "added")
        ]
        assert runs[0] == runs[1]
        assert list(runs[0]) == list(range(1, len(runs[0]) + 1))
        assert all(len(run) >= 3 for run in runs[0].values())
        assert found.num_moved == sum(map(len, runs[0].values()))
        assert words_of(found, "equal", "removed") == words
        assert words_of(found, "equal", "added") == right

    holds()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["repeated", "reversed", "shuffled"])
def test_hostile_texts_are_searched_for_moves_in_linear_time(kind: str) -> None:
    """Where each word was compared with each other word, this would take hours."""
    chance, blocks = random.Random(3), [[f"{block}x{place}" for place in range(9)] for block in range(20_000)]
    other = list(reversed(blocks)) if kind == "reversed" else chance.sample(blocks, len(blocks))
    if kind == "repeated":
        blocks, other = [["a", "b", "c"] * 60_000], [["b", "a", "c"] * 60_000]
    left, right = (np.asarray([hash(word) for block in side for word in block]) for side in (blocks, other))
    found = moves(left, right, [Match(0, 0, 0)], 8)
    assert sum(run.size for run in found) == (0 if kind == "repeated" else 180_000)


def test_text_after_a_long_insertion_is_still_compared() -> None:
    words = [str(number) for number in range(30_000)]
    inserted = [f"new{number}" for number in range(10_000)]
    found = diff(
        " ".join(words), " ".join([*words[:10_000], *inserted, *words[10_000:20_000], "changed", *words[20_001:]])
    )
    assert (found.num_removed, found.num_added, found.is_coarse) == (1, 10_001, False)


@pytest.mark.slow
def test_a_passage_that_moved_too_far_to_be_found_makes_the_diff_coarse() -> None:
    words = [str(number) for number in range(50_000)]
    found = diff(" ".join(words), " ".join(words[25_000:] + words[:25_000]))
    assert (found.num_equal, found.num_removed, found.num_moved, found.is_coarse) == (0, 50_000, 50_000, True)


@pytest.mark.slow
def test_texts_that_agree_in_every_other_word_are_compared_in_windows() -> None:
    """difflib alone would take minutes: its time grows with the square of the number of changes."""
    left = " ".join(f"same{number} old{number}" for number in range(10_000))
    right = " ".join(f"same{number} new{number}" for number in range(10_000))
    found = diff(left, right)
    assert (found.num_equal, found.num_removed, found.num_added, found.is_coarse) == (10_000, 10_000, 10_000, False)


def test_texts_with_too_many_equal_words_to_compare_make_the_diff_coarse() -> None:
    chance = random.Random(7)
    one, other = (" ".join(chance.choices("abc", k=20_000)) for _ in range(2))
    found = diff(f"start {one} end", f"start {other} end")
    assert found.is_coarse
    assert words_of(found, "equal")[0] == "start"
    assert words_of(found, "equal")[-1] == "end"
    assert found.num_removed > 19_000
