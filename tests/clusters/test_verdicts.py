"""What is decided about the records of files, by their numbers and by their places."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from lshdb.clusters.arrange import Clusters
from lshdb.clusters.rows import verdicts
from lshdb.clusters.rows.options import FilterOptions, RecordCounts
from lshdb.clusters.rows.verdicts import DROPPED, KEPT, REJECTED, UNKNOWN, Dropped, Verdicts, counted, wanted
from lshdb.store.tables import locators


def numbers(*values: int) -> NDArray[np.int64]:
    return np.array(values, dtype=np.int64)


def dropped() -> Dropped:
    """Two clusters: 8 is kept for 5 and 7, and 6 for 1."""
    return Dropped(Clusters(numbers(8, 5, 7, 6, 1), numbers(4, 4, 2, 3, 1), numbers(0, 3, 5), numbers(5, 1), "jaccard"))


def test_documents_of_clusters_are_dropped_except_the_kept_one_and_all_others_are_kept() -> None:
    found = dropped().verdicts(numbers(9, 8, 7, 6, 5, 4, 1, 0))
    assert found.tolist() == [KEPT, KEPT, DROPPED, KEPT, DROPPED, KEPT, DROPPED, KEPT]
    assert found.dtype == np.uint8


def test_each_dropped_document_has_one_that_is_kept_for_it() -> None:
    assert dropped().kept_for(numbers(1, 5, 7)).tolist() == [6, 8, 8]


def test_contents_that_no_kept_document_has_are_dropped() -> None:
    assert dropped().content_keys.tolist() == [1, 2]


def test_dropped_documents_whose_kept_one_was_not_met_are_elsewhere() -> None:
    found = dropped()
    assert found.num_elsewhere == 0
    found.verdicts(numbers(5))
    assert found.num_elsewhere == 1
    found.verdicts(numbers(5, 7, 1, 2))
    assert found.num_elsewhere == 3
    found.verdicts(numbers(8))
    assert found.num_elsewhere == 1
    found.verdicts(numbers(6))
    assert found.num_elsewhere == 0


def test_of_a_single_dropped_document_later_ones_are_kept() -> None:
    found = Dropped(Clusters(numbers(2, 3), numbers(1, 1), numbers(0, 2), numbers(2), "jaccard"))
    assert found.verdicts(numbers(1, 2, 3, 4)).tolist() == [KEPT, KEPT, DROPPED, KEPT]


def test_without_clusters_nothing_is_dropped() -> None:
    none = Dropped(Clusters(numbers(), numbers(), numbers(0), numbers(), "jaccard"))
    assert none.verdicts(numbers(1, 2)).tolist() == [KEPT, KEPT]
    assert none.verdicts(numbers()).tolist() == []
    assert none.num_elsewhere == 0


def test_records_beyond_the_last_one_are_unknown() -> None:
    about = Verdicts(np.array([0, KEPT, DROPPED], np.uint8), {})
    assert about.of_numbers(1, 2).tolist() == [KEPT, DROPPED]
    assert about.of_numbers(2, 3).tolist() == [DROPPED, UNKNOWN, UNKNOWN]
    assert about.of_numbers(7, 1).tolist() == [UNKNOWN]
    about.of_numbers(1, 2)[:] = REJECTED
    assert about.of_numbers(1, 1).tolist() == [KEPT]


def test_verdicts_by_number_and_by_place_are_counted_together_but_not_the_unknown() -> None:
    about = Verdicts(np.array([0, KEPT, 0, DROPPED, KEPT], np.uint8), {"a": KEPT, "b": REJECTED})
    assert about.counts.tolist() == [0, 3, 1, 1, 0]
    assert [about.count(verdict) for verdict in range(5)] == [0, 3, 1, 1, 0]


def test_a_digest_tells_verdicts_apart_but_not_the_order_of_the_places() -> None:
    empty = np.empty(0, np.uint8)
    assert Verdicts(empty, {"a": 1, "b": 2}).digest() == Verdicts(empty, {"b": 2, "a": 1}).digest()
    different = [
        Verdicts(np.array([1, 2], np.uint8), {}),
        Verdicts(np.array([2, 1], np.uint8), {}),
        Verdicts(empty, {"a": 1}),
        Verdicts(empty, {"a": 2}),
        Verdicts(empty, {"b": 1}),
        Verdicts(empty, {"a": 1, "b": 1}),
        Verdicts(empty, {"a1": 1}),
        Verdicts(empty, {}),
    ]
    assert len({one.digest() for one in different}) == 8
    assert len(different[0].digest()) == 16


SOURCE: Any = object()
NOWHERE: Any = object()


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two collections with the same file: record 3 is dropped in one and kept in the other."""
    rows = iter([[(5, 2), (7, 3), (9, 2_000)], [(8, 3), (1, 4)]])
    blocks = iter([[([5], ("b",)), ([7], ("c",))], [([8, 1, 9], ("c", "d", "e"))]])

    def numbered(_snapshot: object, _source: object, unit: str) -> list[NDArray[np.int64]]:
        assert unit == "line"
        return [np.array(next(rows), dtype=np.int64)]

    monkeypatch.setattr(locators, "numbered_records", numbered)

    def named(*_: object) -> list[tuple[NDArray[np.int64], tuple[str, ...]]]:
        return [(np.array(keys), places) for keys, places in next(blocks)]

    monkeypatch.setattr(locators, "named_records", named)


@pytest.mark.usefixtures("stored")
def test_a_numbered_record_is_kept_if_one_of_its_documents_is_and_rejected_if_it_has_none() -> None:
    rejected = ["line 1", "line 2", "row 4", "line 5", "line 3"]
    about = verdicts.numbered(NOWHERE, [SOURCE, SOURCE], "line", dropped(), rejected)
    assert about.by_number[:7].tolist() == [UNKNOWN, REJECTED, DROPPED, KEPT, DROPPED, REJECTED, UNKNOWN]
    assert (len(about.by_number), int(about.by_number[2_000])) == (2_001, KEPT)
    assert about.by_locator == {}
    assert about.counts.tolist() == [0, 2, 2, 2, 0]


@pytest.mark.usefixtures("stored")
def test_a_record_at_a_place_is_kept_if_one_of_its_documents_is() -> None:
    about = verdicts.named(NOWHERE, [SOURCE, SOURCE], dropped(), ["a", "b"])
    assert about.by_locator == {"a": REJECTED, "b": DROPPED, "c": KEPT, "d": DROPPED, "e": KEPT}
    assert about.by_number.tolist() == []


def test_a_file_without_records_has_no_verdicts() -> None:
    assert verdicts.numbered(NOWHERE, [], "line", dropped(), []).by_number.tolist() == []
    assert verdicts.numbered(NOWHERE, [], "line", dropped(), ["line 0"]).by_number.tolist() == [REJECTED]


def test_a_table_of_verdicts_grows_to_any_number() -> None:
    """It begins with 1,024 places, and grows by half."""
    for last in (1_023, 1_024, 1_025, 1_535, 1_536, 100_000):
        about = verdicts.numbered(NOWHERE, [], "line", dropped(), [f"line {last}", "line 1"])
        assert len(about.by_number) == last + 1
        assert np.flatnonzero(about.by_number).tolist() == [1, last]


@pytest.mark.usefixtures("stored")
def test_unknown_records_can_be_dropped_afterwards() -> None:
    by_number = verdicts.numbered(NOWHERE, [SOURCE, SOURCE], "line", dropped(), ["line 1"])
    named = verdicts.named(NOWHERE, [SOURCE, SOURCE], dropped(), ["a"])
    for about, new in ((by_number, ["line 0", "line 9", "line 5000"]), (named, ["x", "y", "z"])):
        before = about.digest(), about.count(DROPPED)
        assert all(map(about.is_unknown, new))
        about.drop([])
        about.drop(new[:1])
        about.drop(new[1:])
        assert not any(map(about.is_unknown, new))
        assert about.count(DROPPED) == before[1] + 3
        assert about.digest() != before[0]
    assert [by_number.is_unknown(f"line {number}") for number in (1, 2, 3, 2_000)] == [False] * 4
    assert by_number.of_numbers(4_999, 3).tolist() == [UNKNOWN, DROPPED, UNKNOWN]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (FilterOptions(), [True, True, False, True, True]),
        (FilterOptions(unknown="error"), [True, True, False, True, True]),
        (FilterOptions(unknown="drop"), [False, True, False, False, True]),
        (FilterOptions(dropped=True), [False, False, True, False, False]),
        (FilterOptions(dropped=True, unknown="drop"), [False, False, True, False, False]),
    ],
)
def test_the_options_say_which_records_are_written(options: FilterOptions, expected: list[bool]) -> None:
    """Of unknown, kept, dropped, rejected and other records."""
    assert wanted(options).tolist() == expected


def test_counts_have_their_names() -> None:
    assert counted(numbers(1, 2, 3, 4, 5)) == RecordCounts(
        num_kept=2, num_dropped=3, num_unknown=1, num_rejected=4, num_other=5
    )
    assert counted(numbers(1, 2, 3, 4, 5)).num_records == 15
    both = counted(numbers(1, 2, 3, 4, 5)) + counted(numbers(10, 20, 30, 40, 50))
    assert both.as_json() == {"records": 165, "kept": 22, "dropped": 33, "unknown": 11, "rejected": 44, "other": 55}
