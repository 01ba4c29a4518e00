"""The charts of a cluster: a heat map that is bounded and has a text for all it shows, and a timeline."""

from __future__ import annotations

import re
from pathlib import Path

from lshdb import Document, Index
from lshdb.clusters.portrait import Compared, Portrait
from lshdb.model.values import MAX_DATE, MIN_DATE
from lshdb.web.options import ServeOptions
from lshdb.web.portraits import heat_map, timeline
from lshdb.web.templating import date_of
from tests.web.conftest import Service, serving
from tests.web.test_pages import HOSTILE, Parsed

DAY = 86_400_000_000


def drawn(*dates: int | None, pairs: tuple[Compared, ...] = ()) -> Portrait:
    return Portrait((), (), dates, pairs)


def test_a_heat_map_has_a_cell_for_each_pair_and_lists_the_least_similar() -> None:
    pairs = (Compared(0, 1, 0.75, True), Compared(0, 2, 0.4, True), Compared(1, 2, 0.999, False))
    found = heat_map(drawn(pairs=pairs), floor=0.5, min_sim=0.8)
    assert found is not None
    assert [(one.x, one.y, one.strength, one.number) for one in found.cells] == [
        (0, 34, 0.5, "0.75"), (0, 68, 0.0, "0.40"), (34, 68, 1.0, "0.99"),
    ]  # fmt: skip
    assert found.cells[2].title == "2 and 3: 0.9990 (estimated)"
    assert (found.num_texts, found.num_apart, found.is_numbered) == (3, 2, True)
    assert [(pair.left, pair.right) for pair in found.farthest] == [(0, 2), (0, 1), (1, 2)]
    assert heat_map(drawn(pairs=pairs[:1]), 0.5, 0.8) is None
    whole = heat_map(drawn(pairs=pairs), floor=1.0, min_sim=1.0)
    assert whole is not None
    assert whole.cells[0].strength == 1.0


def test_a_timeline_gathers_documents_of_about_the_same_date() -> None:
    assert timeline(drawn(3 * DAY, None)) is None
    found = timeline(drawn(None, 0, 1, 1000 * DAY))
    assert found is not None
    assert [(dot.x, dot.radius, dot.title) for dot in found.dots] == [
        (12.0, 5.7, "1970-01-01: 2 documents"), (428.0, 4.0, "1972-09-27: 1 document"),
    ]  # fmt: skip
    assert (found.kept, found.num_dated) == (None, 3)
    once = timeline(drawn(DAY, DAY))
    assert once is not None
    assert once.kept is not None
    assert (once.first, once.last, once.kept.x) == ("1970-01-02", "1970-01-02", 220.0)


def page_of_first_cluster(service: Service) -> Parsed:
    cluster = service("GET", "/v1/clusters").json["items"][0]["cluster"]
    answer = service("GET", f"/cluster?cluster={cluster}")
    assert answer.status == 200
    return Parsed(answer.body)


def test_a_large_cluster_shows_the_first_texts_and_says_how_many_it_does_not(tmp_path: Path) -> None:
    path, words = str(tmp_path / "index.db"), " ".join(f"w{number}" for number in range(60))
    with Index.create(path) as index:
        index.add([Document(str(number), f"{words} {number}", dated_at=number * 40 * DAY) for number in range(45)])
    with serving(path, ServeOptions()) as service:
        page = page_of_first_cluster(service)
    assert "The first 40 of 45 texts; 5 are not shown." in page.text
    assert "All 780 pairs have a similarity of 0.8 or more." in page.text
    assert sum(tag == "rect" for tag, _ in page.elements) == 780
    assert "45 of 45 documents have a date." in page.text
    assert "text 45, 1974-10-27" in page.text
    labels = [named.get("aria-label") or "" for tag, named in page.elements if tag == "svg"]
    assert labels == [
        "Heat map of the similarities of 40 texts, from 0.9655 on",
        "45 documents with a date, from 1970-01-01 to 1974-10-27",
    ]


def test_a_chain_says_that_some_of_its_pairs_are_less_similar(tmp_path: Path) -> None:
    path, words = str(tmp_path / "index.db"), [f"w{number}" for number in range(40)]
    with Index.create(path) as index:
        index.add([Document(str(first), " ".join(words[first : first + 30])) for first in (0, 2, 4)])
    with serving(path, ServeOptions()) as service:
        page = page_of_first_cluster(service)
    assert "1 of 3 pairs are less similar than 0.8." in page.text
    assert re.search(r"1 and 3\s*0\.\d{4}\s*compare", page.text)


def test_a_date_beyond_the_calendar_is_no_error() -> None:
    assert [date_of(moment) for moment in (-(2**63), 2**63 - 1)] == ["before the year 1", "after 9999"]


def test_hostile_ids_and_dates_are_text_and_the_page_stays_short(url: str) -> None:
    with Index.create(url) as index:
        words = " ".join(f"w{number}" for number in range(60))
        given = enumerate(HOSTILE)
        index.add([Document(doc_id, f"{words} {n}", dated_at=(MIN_DATE, MAX_DATE)[n % 2]) for n, doc_id in given])
    with serving(url, ServeOptions()) as service:
        page = page_of_first_cluster(service)
    assert not any(tag == "script" or "style" in named for tag, named in page.elements)
    assert "9999-12-31" in page.text
    assert "0001-01-01" in page.text
    assert "\u202e" not in page.text
    assert len(page.text) < 10_000
