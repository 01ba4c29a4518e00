"""Decisions: by REST, by the forms of pages, and that only our own pages can send a form."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from http.cookies import SimpleCookie
from itertools import pairwise
from urllib.parse import urlencode

import pytest

from lshdb import Document, Index
from lshdb.web.options import ServeOptions
from tests.web.conftest import Answer, Service, serving
from tests.web.test_pages import HOSTILE, SCRIPT, Parsed

FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def service(filled: str) -> Iterator[Service]:
    """A service that takes changes; a and c have the same text, b is similar to them."""
    with serving(filled, ServeOptions(writable=True)) as service:
        yield service


class Visit:
    """What a browser does without a script: it keeps cookies, and sends the forms of the last page."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.cookies = SimpleCookie()
        self.page = Answer(0, {}, b"")

    @property
    def cookie(self) -> str:
        """The header that brings the cookies back."""
        return "; ".join(f"{name}={one.value}" for name, one in self.cookies.items())

    @property
    def token(self) -> str:
        """What the forms of the page hold."""
        return re.findall(r'name="token" value="(\w+)"', self.page.body.decode())[0]

    def open(self, path: str) -> Parsed:
        """Load a page."""
        self.page = self._service("GET", path, Cookie=self.cookie)
        self.cookies.load(self.page.headers.get("set-cookie", ""))
        return Parsed(self.page.body)

    def actions(self, word: str) -> list[str]:
        """Return the addresses that the forms of the page send to."""
        named = [fields for _, fields in Parsed(self.page.body).elements]
        sent = [fields.get("formaction") or fields.get("action") or "" for fields in named]
        return [action for action in sent if action.startswith(word)]

    def send(
        self, path: str, *, cookie: str | None = None, headers: dict[str, str] | None = None, **fields: str
    ) -> Answer:
        """Send a form, and follow where it leads."""
        body = urlencode({"token": self.token, "who": "Ada"} | fields).encode()
        cookie = self.cookie if cookie is None else cookie
        answer = self._service("POST", path, body, **{"Content_Type": FORM, "Cookie": cookie} | (headers or {}))
        if answer.status == 303:
            self.cookies.load(answer.headers.get("set-cookie", ""))
            self.open(answer.headers["location"])
        return answer


def clusters(service: Service) -> list[list[str]]:
    lines = service("GET", "/v1/clusters", Accept="application/x-ndjson").body.splitlines()
    return [json.loads(line)["members"] for line in lines]


def test_decisions_are_made_listed_and_undone(service: Service) -> None:
    asked = {"kind": "different", "id": "b", "other": "a", "who": "Ada", "reason": "two editions"}
    assert service("GET", "/v1/clusters").json["items"][0]["num_documents"] == 3
    made = service("POST", "/v1/decisions", asked)
    assert (made.status, made.json | {"decided_at": ""}) == (
        201,
        {
            "decision": 1, "kind": "different", "id": "a", "other": "b", "collection": "default",
            "other_collection": "default", "who": "Ada", "reason": "two editions", "decided_at": "", "state": "valid",
        },
    )  # fmt: skip
    # At once, also in the answers that are kept.
    assert service("GET", "/v1/clusters").json["items"][0]["num_documents"] == 2
    assert clusters(service) == [["a", "c"]]
    assert service("POST", "/v1/decisions", {"kind": "keep", "id": "c", "who": "Ada"}).status == 201
    assert clusters(service) == [["c", "a"]]
    first = service("GET", "/v1/decisions?limit=1").json
    second = service("GET", f"/v1/decisions?limit=1&cursor={first['next']}").json
    assert [one["decision"] for one in first["items"] + second["items"]] == [2, 1]
    lines = service("GET", "/v1/decisions", Accept="application/x-ndjson").body.splitlines()
    assert [json.loads(line)["decision"] for line in lines] == [2, 1]
    assert service("DELETE", "/v1/decisions/1").json == {"undone": 1}
    assert clusters(service) == [["c", "a", "b"]]
    again = service("POST", "/v1/decisions:add", {"decisions": second["items"]})
    assert again.status == 200, again.body
    assert again.json == {"added": 1, "unchanged": 0}
    assert clusters(service) == [["c", "a"]]


def test_what_cannot_be_decided_is_a_problem(service: Service) -> None:
    def refused(**given: object) -> tuple[int, str]:
        answer = service("POST", "/v1/decisions", {"kind": "different", "id": "a", "other": "b", "who": "Ada"} | given)
        return answer.status, answer.json["title"]

    assert refused(other="c") == (409, "SameText")
    assert refused(other="none") == (404, "DocumentUnknown")
    assert refused(other="a") == (400, "UsageError")
    assert refused(kind="keep") == (400, "UsageError")
    assert refused(kind="drop")[0] == 422
    assert refused(who="")[0] == 422
    assert refused(who="\u00e9" * 150) == (400, "UsageError")
    assert refused(reason="\0") == (400, "UsageError")
    assert service("DELETE", "/v1/decisions/7").json["title"] == "DecisionUnknown"
    assert service("DELETE", f"/v1/decisions/{2**64}").status == 422
    assert service("GET", "/v1/decisions").json["items"] == []


def test_a_visitor_decides_and_undoes_on_the_pages(service: Service) -> None:
    visit = Visit(service)
    visit.open("/clusters")
    (cluster,) = (link for link in Parsed(visit.page.body).links() if "cluster=" in link)
    assert "the document that was added first" in visit.open(cluster).text
    # b is similar; c is a copy, so it can be kept, but is no other document.
    assert [re.findall(r"kind=(\w+)", action)[0] for action in visit.actions("/decide")] == [
        "keep",
        "different",
        "keep",
    ]
    visit.send(visit.actions("/decide?kind=keep")[1], who="Ada  <b>", reason="the print")
    assert "c, as Ada <b> decided (the print)" in Parsed(visit.page.body).text
    assert visit.page.body.count(b'value="Ada &lt;b&gt;"') == 1
    visit.send(visit.actions("/decide?kind=different")[0])
    assert "Somebody decided that they are not duplicates." in Parsed(visit.page.body).text
    assert clusters(service) == [["c", "a"]]
    assert visit.open("/decisions").text.count("Not duplicates") == 1
    assert visit.actions("/undo") == ["/undo?decision=2", "/undo?decision=1"]
    visit.send("/undo?decision=2")
    assert visit.page.body.count(b"Not duplicates") == 0
    assert clusters(service) == [["c", "a", "b"]]
    assert visit.send("/undo?decision=2").status == 404
    assert visit.send("/undo?decision=x").status == 400
    assert visit.send("/decide?kind=different&id=a&other=c").status == 409
    assert visit.send("/decide?kind=keep&id=none").status == 404
    assert visit.send("/decide?kind=keep&id=a", who=" ").status == 400


def test_a_form_is_taken_from_our_own_pages_only(service: Service) -> None:
    visit, stranger = Visit(service), Visit(service)
    for one in (visit, stranger):
        one.open("/decisions")
        one.open("/compare?a=a&b=b")
    keep = "/decide?kind=keep&id=c"
    assert visit.token != stranger.token
    assert visit.send(keep, token="").status == 403
    assert visit.send(keep, token=stranger.token).status == 403
    assert visit.send(keep, cookie="").status == 403
    assert visit.send(keep, cookie=stranger.cookie).status == 403
    for elsewhere in ("cross-site", "same-site"):
        assert visit.send(keep, headers={"Sec_Fetch_Site": elsewhere}).status == 403
    for origin in ("https://evil.example", "null", f"http://127.0.0.1:{service.port + 1}"):
        assert visit.send(keep, headers={"Origin": origin}).status == 403
    assert service("GET", "/v1/decisions").json["items"] == []
    assert visit.send(keep, headers={"Origin": service.address, "Sec_Fetch_Site": "same-origin"}).status == 303
    assert visit.send(keep, headers={"Origin": service.address}).status == 303
    assert len(service("GET", "/v1/decisions").json["items"]) == 1


def test_no_page_from_elsewhere_changes_documents_either(service: Service) -> None:
    for headers in ({"Origin": "https://evil.example"}, {"Sec_Fetch_Site": "cross-site"}):
        # Without a type, a browser asks nobody before it sends the request.
        sent = service("POST", "/v1/documents:remove", {"ids": ["a"]}, **headers | {"Content_Type": ""})
        assert (sent.status, sent.json["detail"]) == (403, "a page from elsewhere has sent this request")
        assert service("DELETE", service.document("a"), **headers).status == 403
    assert service("GET", service.document("a"), Sec_Fetch_Site="cross-site").status == 200


def test_the_cookies_are_not_for_scripts_and_no_page_with_a_token_is_kept(service: Service) -> None:
    visit = Visit(service)
    visit.open("/decisions")
    said = visit.page.headers["set-cookie"].lower()
    assert all(part in said for part in ("httponly", "samesite=lax", "path=/"))
    assert visit.page.headers["cache-control"] == "no-store"
    before = visit.cookie
    visit.open("/decisions")
    assert visit.cookie == before


@pytest.mark.sqlite
def test_a_read_only_service_shows_decisions_and_has_no_forms(sqlite_url: str) -> None:
    with serving(sqlite_url, ServeOptions(writable=True)) as service:
        service("POST", "/v1/decisions", {"kind": "keep", "id": "c", "who": SCRIPT, "reason": SCRIPT})
    with serving(sqlite_url, ServeOptions()) as service:
        page = service("GET", "/decisions")
        assert SCRIPT in Parsed(page.body).text
        assert b"<form" not in page.body
        assert "set-cookie" not in page.headers
        assert b"<button" not in service("GET", "/compare?a=a&b=b").body
        assert service("POST", "/v1/decisions", {"kind": "keep", "id": "a", "who": "Ada"}).status == 403
        assert service("POST", "/decide?kind=keep&id=a", b"token=", Content_Type=FORM).status == 403


@pytest.mark.sqlite
def test_decisions_about_hostile_ids_are_made_and_shown_as_text(tmp_path: object) -> None:
    url = f"{tmp_path}/index.db"
    with Index.create(url) as index:
        index.add([Document(doc_id, f"one two three four five six {number}") for number, doc_id in enumerate(HOSTILE)])
        index.add(Document("\u5b57" * 600, "one two three four five six"))
        ids = [*HOSTILE, "\u5b57" * 600]
    with serving(url, ServeOptions(writable=True)) as service:
        visit = Visit(service)
        for one, other in pairwise(ids):
            visit.open(f"/compare?{urlencode({'a': one, 'b': other})}")
            for kind in ("different", "keep"):
                answer = visit.send(
                    visit.actions(f"/decide?kind={kind}")[0], who=f"{SCRIPT}\u202e", reason="javascript:x"
                )
                assert answer.status == 303, answer.body
        page = visit.open("/decisions")
        assert page.text.count(SCRIPT) >= 2 * (len(ids) - 1)
        assert "\u202e" not in page.text
        assert all(tag != "script" for tag, _ in page.elements)
        found = service("GET", "/v1/decisions").json["items"]
        assert {one["id"] for one in found} | {one["other"] for one in found} - {None} == set(ids)


@pytest.mark.sqlite
def test_the_forms_of_all_processes_have_the_same_secret() -> None:
    options = ServeOptions(writable=True, workers=2)
    assert len(options.secret) == 32
    assert options.secret != ServeOptions().secret
    assert "secret" not in repr(options)
