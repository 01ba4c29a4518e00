"""Clusters are searched by id, by text and by source, on the page and by REST."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from lshdb import Document, Index
from lshdb.web.options import ServeOptions
from lshdb.web.pages import clusters as page
from tests.web.conftest import ELEVEN, TEN, Answer, Service, serving

FORM = "application/x-www-form-urlencoded"
BIRDS = "the swifts come back to the tower in the first week of may and leave again in august"


@pytest.fixture
def service(url: str, tmp_path: Path) -> Iterator[Service]:
    """A service of an index with a cluster from files in two folders, and one that a program added."""
    for name, text in {"left/1.txt": TEN, "right/2.txt": ELEVEN}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with Index.create(url, {"passages": 6}) as index:
        index.ingest([tmp_path / "left", tmp_path / "right"])
        index.add([Document("birds 1", BIRDS), Document("birds 2", f"{BIRDS} too"), Document("alone", "no other one")])
    with serving(url, ServeOptions()) as service:
        yield service


def keeps(service: Service, **query: object) -> list[str]:
    """The kept documents of the clusters that a search finds by REST."""
    answer = service("GET", f"/v1/clusters?{urlencode(query)}")
    assert answer.status == 200
    return [Path(one["keep"]).name for one in answer.json["items"]]


def sent(service: Service, **fields: object) -> Answer:
    """What a browser receives that sends the form, after it has followed where that leads."""
    answer = service("POST", "/clusters", urlencode(fields).encode(), Content_Type=FORM)
    return answer if answer.status != 303 else service("GET", answer.headers["location"])


def test_a_text_finds_the_clusters_of_its_near_duplicates_and_a_phrase_of_those_that_contain_it(
    service: Service,
) -> None:
    assert keeps(service, text=f"{TEN} twelve") == ["1.txt"]
    assert keeps(service, text="swifts come back to the tower") == ["birds 1"]
    assert keeps(service, text="no other one") == []
    assert keeps(service, text="other words") == []
    assert keeps(service, text=TEN, holding="birds") == []


def test_a_source_finds_the_clusters_with_a_document_of_it(service: Service) -> None:
    assert keeps(service, source="/right/") == ["1.txt"]
    assert keeps(service, source="/right/", holding="2.txt") == ["1.txt"]
    assert keeps(service, source="birds") == []
    assert keeps(service, source="%") == []


def test_the_box_of_the_page_takes_an_id_or_a_text(service: Service) -> None:
    for search in ("birds 2", f"{BIRDS} once more", "back to the tower in the"):
        shown = sent(service, search=search).body
        assert b"1 cluster, 1 to 1" in shown
        assert b"cluster=" in shown
    assert b"0 clusters" in sent(service, search=BIRDS, source="/left/").body
    assert b"1 cluster, 1 to 1" in sent(service, search="txt", source="/left/").body
    assert b"2 clusters" in sent(service, search="", min_sim=0.7).body


def test_a_short_search_has_an_address_and_a_long_text_is_sent_whole(service: Service) -> None:
    short = service("POST", "/clusters", urlencode({"search": "a b", "min_size": 3}).encode(), Content_Type=FORM)
    assert (short.status, short.headers["location"].startswith("/clusters?search=a+b&")) == (303, True)
    assert "min_size=3" in short.headers["location"]
    # The shingles of a text that repeats itself are those of the text, and of the places where it begins again.
    text = " ".join([BIRDS] * 40)
    assert len(text) > page.IN_ADDRESS
    answer = service("POST", "/clusters", urlencode({"search": text, "min_sim": 0.7}).encode(), Content_Type=FORM)
    assert (answer.status, b"1 cluster, 1 to 1" in answer.body) == (200, True)
    assert text.encode() in answer.body


@pytest.mark.sqlite
def test_a_search_that_is_cut_short_says_so(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lshdb.clusters.catalogue.FOUND_DOCUMENTS", 2)
    monkeypatch.setattr(page, "FOUND_DOCUMENTS", 2)
    assert b"only the first 2 were looked at" in sent(service, search="txt").body
    assert b"were looked at" not in sent(service, search="alone").body


HOSTILE = (
    "\0",
    "'; DROP TABLE document; --",
    "%_\\/",
    "<script>",
    "\u202e",
    "a" * 2_000,
    "\x1b" * 3,
    "\ud800",
    "%" * 1_999,
)


def test_hostile_searches_find_nothing_and_break_nothing(service: Service) -> None:
    for text in HOSTILE:
        given = {name: text.encode("utf-8", "surrogatepass") for name in ("search", "source", "within", "sort")}
        assert sent(service, **given).status == 200
        assert sent(service, **given | {"search": given["search"] * 60}).status == 200
        for name in ("text", "holding", "source"):
            query = urlencode({name: given["search"]})
            assert service("GET", f"/v1/clusters?{query}").status in (200, 400, 422)


def test_lines_are_all_clusters(service: Service) -> None:
    for query in ("holding=a", "source=a", "text=a"):
        answer = service("GET", f"/v1/clusters?{query}", Accept="application/x-ndjson")
        assert (answer.status, answer.json["title"]) == (400, "UsageError")


@pytest.mark.sqlite
def test_an_index_of_sets_is_searched_by_features(tmp_path: Path) -> None:
    path = str(tmp_path / "sets.db")
    with Index.create(path, {"shingle": "set"}) as index:
        index.add([Document(name, features=(*"abcdefghi", name)) for name in ("1", "2")])
    with serving(path, ServeOptions()) as service:
        # A form separates lines by CR LF.
        assert b"1 cluster, 1 to 1" in sent(service, search="\r\n".join("abcdefghi")).body
        assert b"0 clusters" in sent(service, search="a\r\nb").body
        assert keeps(service, text="\n".join("abcdefghi")) == ["1"]
