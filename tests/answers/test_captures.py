"""How a page changed over time, and which of its captures are redundant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lshdb import Decision, Index
from lshdb.answers.captures import Capture, captures
from lshdb.answers.cdxj import cdxj_line
from lshdb.errors import CaptureUnknown
from lshdb.model.values import Document
from lshdb.readers.warc.capture_ids import capture_id

NewUrl = Callable[[], str]
ADDRESS = "http://a.org/"
WORDS = [f"word{number}" for number in range(100)]


def text(num_changed: int) -> str:
    """Return a text of 96 shingles that differs from ``text(0)`` in its first words, one shingle for each."""
    return " ".join([*(f"new{number}" for number in range(num_changed)), *WORDS[num_changed:]])


def at(day: int) -> int:
    """Return a date of January 2026 in microseconds."""
    return int(datetime(2026, 1, day, tzinfo=UTC).timestamp()) * 1_000_000


def capture(day: int, content: str, address: str = ADDRESS) -> Document:
    return Document(capture_id(address, at(day)), content, dated_at=at(day))


def judged(found: Iterator[Capture]) -> list[tuple[str, float | None, bool]]:
    """Return (day, similarity, redundant) of captures."""
    return [
        (one.date[8:10], None if one.similarity is None else round(one.similarity, 4), one.redundant) for one in found
    ]


def test_each_capture_has_its_similarity_to_the_one_before_it(index: Index) -> None:
    index.add(
        [capture(3, text(2)), capture(1, text(0)), capture(2, text(0)), capture(4, "something else entirely now")]
    )
    found = list(index.captures(ADDRESS, 0.9))
    assert judged(iter(found)) == [("01", None, False), ("02", 1.0, True), ("03", 0.9592, True), ("04", 0.0, False)]
    first = f"{ADDRESS}@20260101000000"
    assert found[1] == Capture(
        id=f"{ADDRESS}@20260102000000",
        address=ADDRESS,
        date="2026-01-02T00:00:00Z",
        similarity=1.0,
        exact=True,
        redundant=True,
        kept=first,
        source=None,
        locator="",
    )
    assert [one.kept for one in found] == [None, first, first, first]


def test_a_page_that_changes_little_by_little_keeps_some_captures(index: Index) -> None:
    """Each is compared with the last one that is kept, not with its neighbour."""
    index.add(capture(day, text(day)) for day in range(1, 7))
    assert judged(index.captures(ADDRESS, 0.9)) == [
        ("01", None, False),
        ("02", 0.9592, True),
        ("03", 0.9394, True),
        ("04", 0.92, True),
        ("05", 0.901, True),
        ("06", 0.901, False),
    ]


def test_at_similarity_1_only_captures_with_the_same_text_are_redundant(index: Index) -> None:
    index.add([capture(1, text(0)), capture(2, text(1)), capture(3, text(1).upper()), capture(4, text(0))])
    assert [one.redundant for one in index.captures(ADDRESS, 1.0)] == [False, False, True, False]


def test_without_a_similarity_that_of_the_index_decides(new_url: NewUrl) -> None:
    for min_sim, expected in ((0.5, True), (0.99, False)):
        with Index.create(new_url(), {"min_sim": min_sim}) as index:
            index.add([capture(1, text(0)), capture(2, text(2))])
            assert [one.redundant for one in index.captures(ADDRESS)] == [False, expected]


def test_a_capture_is_not_redundant_next_to_one_that_it_is_different_from(index: Index) -> None:
    index.add([capture(day, text(day)) for day in (1, 2, 3)])
    assert [one.redundant for one in index.captures(ADDRESS, 0.5)] == [False, True, True]
    first, second = (capture_id(ADDRESS, at(day)) for day in (1, 2))
    index.decide(Decision("different", first, second, who="Ada"))
    assert [one.redundant for one in index.captures(ADDRESS, 0.5)] == [False, False, True]


def test_an_empty_capture_is_similar_to_none(index: Index) -> None:
    index.add([capture(1, ""), capture(2, ""), capture(3, text(0)), capture(4, "")])
    assert judged(index.captures(ADDRESS, 0.0)) == [
        ("01", None, False),
        ("02", 0.0, False),
        ("03", 0.0, True),
        ("04", 0.0, False),
    ]


def test_without_texts_similarities_are_estimates(new_url: NewUrl) -> None:
    with Index.create(new_url(), {"keep_text": False}) as index:
        index.add([capture(1, text(0)), capture(2, text(2)), capture(3, text(2))])
        found = list(index.captures(ADDRESS, 0.5))
    assert [(one.exact, one.redundant) for one in found] == [(True, False), (False, True), (True, True)]
    assert found[1].similarity == pytest.approx(94 / 98, abs=0.15)


def test_all_addresses_are_listed_and_none_is_compared_with_another(index: Index) -> None:
    index.add(
        capture(day, text(0), address) for day in (1, 2) for address in ("http://b.org/", ADDRESS, "http://a.org")
    )
    found = [(one.address, one.redundant) for one in index.captures()]
    addresses = ["http://a.org/", "http://a.org", "http://b.org/"]
    assert found == [(address, redundant) for address in addresses for redundant in (False, True)]


def test_an_address_means_its_own_captures_only(index: Index) -> None:
    others = ["http://a.org", "http://a.org/b", "http://a.org/@20250101000000x"]
    index.add([capture(1, text(0)), *(capture(1, text(0), other) for other in others)])
    index.add([Document(f"{ADDRESS}@20260105000000", text(0))])  # Without a date.
    assert [one.id for one in index.captures(ADDRESS)] == [f"{ADDRESS}@20260101000000"]


def test_the_newest_capture_is_one_without_all_others(index: Index) -> None:
    index.add([Document(ADDRESS, text(0), dated_at=at(1)), Document("http://b.org/", text(0))])
    assert [one.id for one in index.captures(ADDRESS)] == [ADDRESS]
    assert [one.id for one in index.captures()] == [ADDRESS]


def test_captures_are_of_one_collection(index: Index) -> None:
    index.add([capture(1, text(0))])
    index.add([capture(2, text(0))], "other")
    assert judged(index.captures(ADDRESS, collection="other")) == [("02", None, False)]


def test_the_result_does_not_depend_on_how_much_is_read_at_a_time(index: Index) -> None:
    index.add(capture(day, text(2 * (day % 5) if day % 3 else 4)) for day in range(1, 29))
    expected = list(index.captures(ADDRESS, 0.95))
    assert 0 < sum(one.redundant for one in expected) < 27
    with index._store.reading() as snapshot:
        for limit in (1, 200, 1000):
            found = captures(snapshot, ADDRESS, "default", 0.95, index.params, index.url, read_shingles=limit)
            assert list(found) == expected


@pytest.mark.parametrize("address", [None, "http://b.org/", "http://c.org/"])
def test_without_a_capture_the_error_says_where_captures_come_from(index: Index, address: str | None) -> None:
    index.add([Document("http://b.org/", text(0))])
    of_address = "" if address is None else f" of {address}"
    message = f"There is no capture{of_address} in collection 'default' of index .*; captures are dated records of WARC"
    with pytest.raises(CaptureUnknown, match=message.replace("; c", r"\. C")):
        list(index.captures(address))


def redundant(locator: str, source: str | None) -> Capture:
    return Capture("id", "http://www.a.org/é?b", "2026-01-02T03:04:05.250000Z", 1.0, True, True, "id0", source, locator)


def test_a_cdxj_line_has_what_the_index_knows_of_the_record(tmp_path: Path) -> None:
    source = (tmp_path / "my crawl.warc.gz").as_uri()
    assert cdxj_line(redundant("offset 123", source)) == (
        'org,a)/%c3%a9?b 20260102030405 {"url": "http://www.a.org/\\u00e9?b", "offset": "123", '
        '"filename": "my crawl.warc.gz"}'
    )
    # The record is inside of a compressed member, where nobody can begin to read.
    assert "offset" not in cdxj_line(redundant("offset 0 record 3", source))
    assert cdxj_line(redundant("", None)).endswith(' 20260102030405 {"url": "http://www.a.org/\\u00e9?b"}')
