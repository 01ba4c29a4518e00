"""The pages without a script: what they show, and that hostile ids and texts are text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from lshdb import Document, Index
from lshdb.web import charts
from lshdb.web.options import ServeOptions
from lshdb.web.templating import environment
from tests.web.conftest import ELEVEN, TEN, Service, serving

SCRIPT = "<script>alert('id')</script>"
HOSTILE = (
    SCRIPT,
    "javascript:alert(1)",
    '" onload="x',
    "\u202egnp.exe",
    "a\x1b[31m",
    "\u05e9\u05dc\u05d5\u05dd",
    "x" * 1_999,
)


class Parsed(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page.decode())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def links(self) -> list[str]:
        """Every address in the page."""
        return [value or "" for _, named in self.elements for key, value in named.items() if key in ("href", "src")]


@pytest.fixture
def service(url: str) -> Iterator[Service]:
    """A service of an index with ordinary and hostile documents."""
    with Index.create(url, {"passages": 6}) as index:
        index.add([Document("a", TEN), Document("b", ELEVEN)])
        index.add([Document(doc_id, f"{SCRIPT} \x07 & one two three four five six") for doc_id in HOSTILE])
    with serving(url, ServeOptions()) as service:
        yield service


def page_of(service: Service, path: str, **query: object) -> Parsed:
    answer = service("GET", f"{path}?{urlencode({k: str(v) for k, v in query.items()})}")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return Parsed(answer.body)


def test_the_pages_show_the_index_and_lead_to_each_other(service: Service) -> None:
    assert "22.2 %" not in page_of(service, "/").text
    assert re.search(r"Documents\s*9\s*Distinct texts\s*3", page_of(service, "/").text)
    clusters = page_of(service, "/clusters")
    assert "2 clusters, 1 to 2" in clusters.text
    assert "1 cluster, 1 to 1" in page_of(service, "/clusters", search="b", sort="newest").text
    (address,) = (link for link in page_of(service, "/clusters", min_sim=0.8, search="b").links() if "cluster=" in link)
    found = service("GET", address)
    assert b"0.8571" in found.body
    compared = page_of(service, "/compare", a="a", b="b")
    assert "They are a pair." in compared.text
    assert [tag for tag, _ in compared.elements if tag in ("ins", "del")] == ["ins"]
    assert "6 of 20" in compared.text or "of 20" in compared.text
    assert "one two three four five six" in page_of(service, "/boilerplate").text
    assert page_of(service, "/document", id="b").text.count("0.8571") == 1


def test_a_pasted_text_is_asked_about_as_a_page_or_as_a_part_of_one(service: Service) -> None:
    form = {"Content_Type": "application/x-www-form-urlencoded"}
    body = urlencode({"text": f"{TEN} twelve"}).encode()
    whole = service("POST", "/ask", body, **form)
    assert b"<html" in whole.body
    assert b"2 near-duplicates" in whole.body or b"1 near-duplicate" in whole.body
    part = service("POST", "/ask", body, X_Part="answer", **form)
    assert b"<html" not in part.body
    assert b"<del>twelve</del>" in part.body
    assert b"Nothing in the index" in service("POST", "/ask", b"text=other+words", **form).body
    assert service("POST", "/ask", b"&".join([b"text=words"] * 11), **form).status == 400


@pytest.mark.sqlite
def test_an_index_of_sets_is_asked_about_features(tmp_path: Path) -> None:
    path = str(tmp_path / "sets.db")
    with Index.create(path, {"shingle": "set"}) as index:
        index.add(
            [Document("cars", features=("red", "fast", "two doors", "old", "loud")), Document("x", features=("y",))]
        )
    with serving(path, ServeOptions()) as service:
        assert b"Features, one per line" in service("GET", "/ask").body
        # A form separates lines by CR LF; white space is a part of a feature.
        for typed, similarity in (
            ("red\r\nloud\r\n\r\nfast\r\ntwo doors", 0.8),
            ("two doors\nold\nred\nfast\nloud", 1),
        ):
            body = urlencode({"text": typed}).encode()
            found = Parsed(service("POST", "/ask", body, Content_Type="application/x-www-form-urlencoded").body)
            assert f"{similarity:.4f}" in found.text
            assert [tag for tag, _ in found.elements if tag in ("del", "ins")] == (["ins"] if similarity < 1 else [])
        assert b"Nothing in the index" in service("POST", "/ask", b"text=nothing").body


def test_hostile_ids_and_texts_are_shown_as_text(service: Service) -> None:
    pages = [page_of(service, path) for path in ("/", "/clusters", "/boilerplate")]
    pages += [page_of(service, "/clusters", search=doc_id[:50]) for doc_id in HOSTILE]
    pages += [page_of(service, "/document", id=doc_id) for doc_id in HOSTILE]
    pages += [page_of(service, "/compare", a=doc_id, b=SCRIPT) for doc_id in HOSTILE]
    pages.append(Parsed(service("GET", f"/document?id={quote('<b>none</b>')}").body))
    for page in pages:
        assert all(named == {"src": "/static/ask.js", "defer": None} for tag, named in page.elements if tag == "script")
        assert not any(key.startswith("on") or key == "style" for _, named in page.elements for key in named)
        assert [link for link in page.links() if not link.startswith("/") or link.startswith("//")] == ["#main"]
        assert "\u202e" not in page.text
        assert "\x1b" not in page.text
        assert "\x07" not in page.text
    assert SCRIPT in pages[-2].text
    assert any("\\u202egnp.exe" in page.text for page in pages)


def test_what_is_not_there_is_a_page_that_says_so(service: Service) -> None:
    expected = {
        "/document?id=none": 404,
        "/cluster?cluster=0": 404,
        "/document": 400,
        "/clusters?page=x&min_sim=nan": 200,
    }
    for path, status in expected.items():
        answer = service("GET", path)
        assert (answer.status, answer.headers["content-type"][:9]) == (status, "text/html")
    assert service("GET", "/static/../pages.py").status == 404
    assert service("GET", "/static/..%2Fpages.py").status == 404
    assert service("GET", "/static/ask.js").headers["content-type"].startswith("text/javascript")


def test_a_change_of_words_does_not_cover_the_space_before_it() -> None:
    from lshdb.answers.worddiff import diff

    hunks = diff("a b c", "a x c").hunks
    shown = environment().get_template("hunks.html").render(hunks=hunks, links=True)
    assert shown == "a <del>b</del> <ins>x</ins> c"


def test_the_two_places_of_a_passage_that_moved_lead_to_each_other(url: str) -> None:
    words = [f"w{number}" for number in range(60)]
    moved = [*words[:10], *words[20:50], *words[10:20], *words[50:], "new"]
    with Index.create(url) as index:
        index.add([Document("a", " ".join(words)), Document("b", " ".join(moved))])
    with serving(url, ServeOptions()) as service:
        for view in ("sides", "inline"):
            page = page_of(service, "/compare", a="a", b="b", view=view)
            places = [named for tag, named in page.elements if tag == "a" and "id" in named]
            assert [(named["id"], named["href"]) for named in places] == [
                ("away-1", "#here-1"), ("here-1", "#away-1"),
            ]  # fmt: skip
            assert [named.get("class") for tag, named in page.elements if tag in ("del", "ins")] == [
                "moved", "moved", None,
            ]  # fmt: skip
            assert "10 words removed, 11 added (10 of them moved), 50 equal." in page.text


def test_the_bars_grow_with_the_logarithm_and_say_their_number() -> None:
    assert charts.bars([0, 0], 0.5) == []
    low, high = charts.bars([1, 3], 0.5)
    assert (low.height, high.height) == (77.5, 155.0)
    assert high.title == "0.75 to 1.00: 3"
