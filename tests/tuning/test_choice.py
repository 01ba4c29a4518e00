"""The choice of bands and rows: recall, cost, and impossible promises."""

from __future__ import annotations

from itertools import combinations
from math import comb
from pathlib import Path

import pytest

from lshdb.errors import InvalidParams, PromiseUnreachable
from lshdb.model.banding import SQLITE_SIZES, TYPICAL, Banding, Similarities, typical
from lshdb.model.params import Params
from lshdb.tuning.choice import COSTS, choose, keeping, least_bands, options, params_for_recall, params_of


def counted(banding: Banding, num_perm: int, equal: int) -> float:
    """Return the share of the arrangements of equal minima in which a whole band is equal."""
    arrangements = [set(chosen) for chosen in combinations(range(num_perm), equal)]
    bands = [set(range(band * banding.rows, (band + 1) * banding.rows)) for band in range(banding.bands)]
    return sum(any(band <= chosen for band in bands) for chosen in arrangements) / len(arrangements)


@pytest.mark.parametrize("banding", [Banding(3, 2), Banding(2, 3), Banding(6, 1), Banding(1, 6), Banding(2, 2)])
def test_the_chance_of_a_shared_bucket_by_equal_minima_is_that_of_all_arrangements(banding: Banding) -> None:
    expected = [counted(banding, 7, equal) for equal in range(8)]
    assert banding.sharing(7) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("similarity", [0.05, 0.3, 0.8])
def test_averaged_over_the_equal_minima_of_a_pair_the_chance_is_that_of_its_similarity(similarity: float) -> None:
    chances = [comb(100, k) * similarity**k * (1 - similarity) ** (100 - k) for k in range(101)]
    for banding in (Banding(20, 5), Banding(12, 7), Banding(33, 3), Banding(100, 1)):
        mean = sum(chance * shared for chance, shared in zip(chances, banding.sharing(100), strict=True))
        assert mean == pytest.approx(banding.candidate_probability(similarity), rel=1e-9)


def test_more_minima_than_were_compared_count_band_by_band() -> None:
    assert Banding(3, 1).sharing(1) == [0.0, 1.0]
    assert Banding(4, 2).sharing(3) == pytest.approx([0.0, 0.0, 1 - (2 / 3) ** 4, 1.0])
    assert Banding(1, 5).sharing(2) == [0.0, 0.0, 0.0]


def test_the_candidates_of_a_content_are_its_neighbours_by_their_chance() -> None:
    # Ten others have no equal minimum, four have one of two, one has both.
    similarities = Similarities((10.0, 4.0, 1.0))
    assert similarities.candidates(Banding(1, 1)) == pytest.approx(4 * 0.5 + 1)
    assert similarities.candidates(Banding(2, 1)) == pytest.approx(5.0)
    assert similarities.candidates(Banding(1, 2)) == pytest.approx(1.0)


def test_the_areas_of_an_s_curve_are_its_integrals() -> None:
    # With one band, the curve is s^r; with bands of one row, it is 1 - (1-s)^b.
    assert Banding(1, 3).false_positive_area(0.8) == pytest.approx(0.8**4 / 4)
    assert Banding(1, 3).false_negative_area(0.8) == pytest.approx(0.2 - (1 - 0.8**4) / 4)
    assert Banding(5, 1).false_positive_area(0.4) == pytest.approx(0.4 - (1 - 0.6**6) / 6)
    assert Banding(5, 1).false_negative_area(0.4) == pytest.approx(0.6**6 / 6)


def test_the_threshold_is_near_the_steepest_point_of_the_s_curve() -> None:
    # Source: Mining of Massive Datasets, section 3.4.2: about 1/2 for 16 bands of 4 rows.
    assert Banding(16, 4).threshold == pytest.approx(0.5)
    assert Banding(20, 5).threshold == pytest.approx(0.549, abs=5e-4)


def test_a_corpus_twice_as_large_has_twice_the_candidates() -> None:
    small, large = typical(1_001), typical(2_001)
    assert small.of_contents(2_001).candidates(Banding(20, 5)) == pytest.approx(large.candidates(Banding(20, 5)), 1e-3)


def test_a_small_index_is_given_the_bands_of_the_large_one_that_it_becomes() -> None:
    assert choose(0.8, 0.999, similarities=typical(1)) == choose(0.8, 0.999, similarities=typical(100_000))
    # Three unrelated contents say little about later ones.
    unlike = Similarities((2.0, *[0.0] * 64))
    assert choose(0.8, 0.999, similarities=unlike) == choose(0.8, 0.999)
    assert choose(0.8, 0.999, similarities=typical(100_000_000)).rows > choose(0.8, 0.999).rows


@pytest.mark.parametrize(
    ("min_sim", "recall", "rows", "bands"),
    [(0.8, 0.999, 5, 18), (0.8, 0.999, 13, 123), (0.5, 0.9, 1, 4), (0.9, 0.999, 7, 11), (1.0, 0.999, 40, 1)],
)
def test_the_fewest_bands_that_keep_a_promise(min_sim: float, recall: float, rows: int, bands: int) -> None:
    assert least_bands(min_sim, recall, rows) == bands
    assert Banding(bands, rows).candidate_probability(min_sim) >= recall
    if bands > 1:
        assert Banding(bands - 1, rows).candidate_probability(min_sim) < recall


def test_no_number_of_bands_finds_what_is_too_unlike_for_its_rows() -> None:
    assert least_bands(0.1, 0.9, 10) == 0


def test_the_choice_is_the_cheapest_of_those_that_keep_the_promise() -> None:
    chosen = choose(0.8, 0.999, num_perm=100)
    assert (chosen.bands, chosen.rows) == (18, 5)
    found = list(keeping(0.8, 0.999, 100))
    assert [(banding.bands, banding.rows) for banding in found] == [(5, 1), (7, 2), (10, 3), (14, 4), (18, 5)]
    costs = {banding: COSTS.of(banding, 100, TYPICAL.candidates(banding)) for banding in found}
    assert min(costs, key=costs.__getitem__) == chosen


def test_what_is_given_is_kept_and_the_rest_follows() -> None:
    assert choose(0.8, 0.999, rows=4) == Banding(14, 4)
    assert choose(0.8, 0.999, bands=20).bands == 20
    assert choose(0.8, 0.999, bands=20).candidate_probability(0.8) >= 0.999
    assert choose(0.8, 0.999, bands=30, rows=4) == Banding(30, 4)


def test_a_promise_that_the_minima_cannot_keep_is_refused_with_the_nearest_that_they_can() -> None:
    with pytest.raises(PromiseUnreachable) as caught:
        choose(0.05, 0.999, num_perm=100)
    assert caught.value.exit_code == 2
    assert (caught.value.reachable, caught.value.least) == (0.994, 0.067)
    assert choose(0.05, 0.994, num_perm=100) == Banding(100, 1)
    assert choose(0.067, 0.999, num_perm=100) == Banding(100, 1)


def test_bands_and_rows_that_cannot_keep_the_promise_are_refused() -> None:
    with pytest.raises(PromiseUnreachable, match=r"^9 bands of 13 rows .* recall 0.3988 at 0.8, or .* from 0.954 on"):
        choose(0.8, 0.999, bands=9, rows=13)
    with pytest.raises(PromiseUnreachable):
        choose(0.8, 0.999, num_perm=100, bands=30, rows=4)


def test_the_bytes_of_a_content_are_its_signature_and_its_rows() -> None:
    assert SQLITE_SIZES.of(Banding(20, 5), 100) == 60 + 200 + 20 * 18.5


def test_the_table_has_what_keeps_the_promise_up_to_twice_the_rows_of_the_choice() -> None:
    found = options(0.8, 0.999)
    assert [each.banding.rows for each in found] == list(range(1, 12))
    assert [each.num_perm for each in found] == [100, 100, 100, 100, 100, 138, 210, 304, 432, 610, 847]
    assert all(each.recall >= 0.999 for each in found)
    assert [each.candidates for each in found] == sorted((each.candidates for each in found), reverse=True)


# Parameters.


def test_parameters_for_a_recall_keep_it_and_have_minima_enough_to_estimate_by() -> None:
    params = params_for_recall(0.8, 0.9)
    assert (params.bands, params.rows, params.num_perm, params.min_sim, params.floor) == (8, 6, 100, 0.8, 0.5)
    assert params.recall == pytest.approx(0.9122, abs=1e-4)
    assert params_for_recall(0.5, 0.999).num_perm == 52 * 3


def test_the_floor_follows_the_similarity_down_unless_it_is_given() -> None:
    assert params_for_recall(0.3, 0.9).floor == 0.3
    assert params_for_recall(0.3, 0.9, floor=0.4).floor == 0.4
    assert params_of({"min_sim": 0.3, "bands": 50, "rows": 2}).floor == 0.3


def test_nothing_chosen_is_twenty_bands_of_five() -> None:
    params = params_of({})
    assert params == Params()
    assert (params.bands, params.rows, params.num_perm, round(params.recall, 4)) == (20, 5, 100, 0.9996)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        ({"recall": 0.99}, (16, 6, 0.8)),
        ({"min_sim": 0.7}, (26, 4, 0.7)),
        ({"min_sim": 0.7, "num_perm": 100}, (17, 3, 0.7)),
        ({"min_sim": 0.7, "rows": 3}, (17, 3, 0.7)),
        ({"min_sim": 0.7, "bands": 9, "rows": 13}, (9, 13, 0.7)),
        ({"bands": 40}, (40, 5, 0.8)),
    ],
)
def test_bands_and_rows_follow_from_what_is_chosen(chosen: dict[str, float], expected: tuple[int, int, float]) -> None:
    params = params_of(chosen)
    assert (params.bands, params.rows, params.min_sim) == expected


def test_a_signature_may_have_more_minima_than_its_bands_take_but_not_fewer() -> None:
    assert Params(bands=3, rows=2).num_perm == 6
    assert Params(bands=3, rows=2, num_perm=50).num_perm == 50
    with pytest.raises(InvalidParams, match="bands"):
        Params(bands=3, rows=2, num_perm=5)


@pytest.mark.parametrize("recall", [0.0, 1.0, -1.0, 2.0])
def test_a_recall_is_above_nothing_and_below_certainty(recall: float) -> None:
    with pytest.raises(InvalidParams, match="recall"):
        params_for_recall(0.8, recall)


def test_the_table_of_the_parameters_page_is_what_is_chosen() -> None:
    page = (Path(__file__).parents[2] / "docs" / "parameters.md").read_text()
    for recall in (0.9, 0.99, 0.999):
        chosen = [choose(min_sim, recall) for min_sim in (0.5, 0.6, 0.7, 0.8, 0.9)]
        cells = " | ".join(f"{banding.bands} x {banding.rows}" for banding in chosen)
        assert f"\n| {recall} | {cells} |\n" in page
