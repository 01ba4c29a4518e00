"""The REST interface: questions, documents, lists and their cursors, on both databases."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from lshdb import Index
from lshdb.web.options import ServeOptions
from tests.web.conftest import ELEVEN, OTHER, TEN, Answer, Service, serving


@pytest.fixture
def service(filled: str) -> Iterator[Service]:
    """A service that takes changes."""
    with serving(filled, ServeOptions(writable=True)) as service:
        yield service


def test_questions_are_answered_with_near_duplicates_and_nothing_is_added(service: Service) -> None:
    found = service("POST", "/v1/query", {"text": ELEVEN, "k": 2})
    assert found.status == 200
    assert found.json == {
        "matches": [
            {"id": "b", "similarity": 1.0, "exact": True, "collection": "default"},
            {"id": "a", "similarity": 6 / 7, "exact": True, "collection": "default"},
        ]
    }
    page = service("POST", "/v1/query", {"html": f"<title>x</title><p>{OTHER}<script>no()</script>"})
    assert [match["id"] for match in page.json["matches"]] == ["d"]
    several = service("POST", "/v1/query:batch", {"documents": [{"id": "?", "text": OTHER}, {"text": "new"}]})
    answers = [(one["id"], [match["id"] for match in one["matches"]]) for one in several.json["answers"]]
    assert answers == [("?", ["d"]), ("1", [])]
    assert service("GET", "/v1/stats").json["figures"]["documents"] == 4


def test_a_document_is_added_changed_read_and_removed(service: Service) -> None:
    path = service.document("a/b?c#d %2F")
    added = service("PUT", path, {"text": f"{ELEVEN} twelve"})
    assert added.status == 201
    assert added.json["outcome"] == "added"
    assert [match["id"] for match in added.json["matches"]] == ["b"]
    assert service("PUT", path, {"text": OTHER}).json["outcome"] == "updated"
    assert service("PUT", path, {"text": OTHER}).json["outcome"] == "unchanged"
    stored = service("GET", path).json
    assert (stored["id"], stored["text"], stored["source"]) == ("a/b?c#d %2F", OTHER, None)
    refused = service("PUT", f"{service.document('e')}?only_new=true", {"text": OTHER})
    assert (refused.status, refused.json["outcome"]) == (200, "refused")
    assert [match["id"] for match in refused.json["matches"]] == ["d", "a/b?c#d %2F"]
    assert service("DELETE", path).json == {"removed": 1}
    assert service("GET", path).status == 404
    many = service("POST", "/v1/documents:add?collection=news", {"documents": [{"id": "1", "text": TEN}]})
    assert many.json == {"added": 1, "updated": 0, "unchanged": 0, "pairs_added": 0}
    assert service("POST", "/v1/documents:remove?collection=news", {"ids": ["1"]}).json == {"removed": 1}


def test_of_near_duplicates_that_arrive_at_once_one_is_added(filled: str) -> None:
    with serving(filled, ServeOptions(writable=True)) as one, serving(filled, ServeOptions(writable=True)) as other:
        words = " ".join(f"word{number}" for number in range(40))

        def put(number: int) -> str:
            service = (one, other)[number % 2]
            text = f"{words} group{number // 8} {number}"
            answer = service("PUT", f"{service.document(f'n{number}')}?only_new=true", {"text": text})
            return str(answer.json["outcome"])

        with ThreadPoolExecutor(8) as pool:
            outcomes = list(pool.map(put, range(24)))
    # All 24 are near-duplicates of each other, whichever comes first.
    assert sorted(outcomes) == ["added"] + ["refused"] * 23
    with Index.open(filled) as index:
        assert len(index) == 5


def test_lists_continue_at_their_cursors_and_stream_as_lines(service: Service) -> None:
    whole = service("GET", "/v1/pairs?min_sim=0.5").json
    assert [(pair["left"], pair["right"]) for pair in whole["items"]] == [("a", "c"), ("a", "b")]
    assert whole["next"] is None
    first = service("GET", "/v1/pairs?min_sim=0.5&limit=1").json
    second = service("GET", f"/v1/pairs?min_sim=0.5&limit=1&cursor={first['next']}").json
    assert first["items"] + second["items"] == whole["items"]
    assert service("GET", f"/v1/pairs?min_sim=0.5&limit=1&cursor={second['next']}").json == {"items": [], "next": None}
    lines = service("GET", "/v1/pairs?min_sim=0.5", Accept="application/x-ndjson")
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert [json.loads(line) for line in lines.body.splitlines()] == whole["items"]
    newest = service("GET", "/v1/runs?limit=1").json
    assert newest["items"][0]["num_added"] == 4
    assert service("GET", f"/v1/runs?limit=1&cursor={newest['next']}").json == {"items": [], "next": None}


def test_clusters_are_listed_searched_and_read(service: Service) -> None:
    found = service("GET", "/v1/clusters?min_sim=0.8").json
    assert found["total"] == 1
    cluster = found["items"][0]
    assert cluster | {"cluster": ""} == {
        "cluster": "",
        "keep": "a",
        "keep_collection": "default",
        "num_documents": 3,
        "num_texts": 2,
        "examples": ["b", "c"],
    }
    members = service("GET", f"/v1/clusters/{cluster['cluster']}?min_sim=0.8").json["members"]
    assert [(one["document"], round(one["similarity"], 4)) for one in members] == [("a", 1), ("b", 0.8571), ("c", 1)]
    assert service("GET", "/v1/clusters?min_sim=0.8&holding=b").json["total"] == 1
    assert service("GET", "/v1/clusters?min_sim=0.8&holding=d").json["total"] == 0
    assert service("GET", "/v1/clusters/0000000000000000").status == 404
    lines = service("GET", "/v1/clusters", Accept="application/x-ndjson").body.splitlines()
    assert [json.loads(line)["members"] for line in lines] == [["a", "b", "c"]]


def test_two_documents_are_explained_by_their_ids_alone(service: Service) -> None:
    found = service("GET", "/v1/explain?a=a&b=b").json
    assert found["status"] == "pair"
    assert found["comparison"]["shared_shingles"] == 6
    assert found["diff"]["num_added"] == 1
    for path in ("/etc/passwd", "-", "setup.py"):
        answer = service("GET", f"/v1/explain?a={path}&b=b")
        assert (answer.status, answer.json["title"]) == (404, "DocumentUnknown")


def test_ids_hold_line_ends_but_no_other_bytes_than_utf8(service: Service) -> None:
    for doc_id in ("new\nline", "\n", "end\n", "\r\n/\u2028"):
        path = service.document(doc_id)
        assert service("PUT", path, {"text": "words of its own"}).json["id"] == doc_id
        assert service("GET", path).json["id"] == doc_id
        assert service("DELETE", path).json == {"removed": 1}
    for path in ("/v1/documents/%ff", "/v1/documents/a%fe?collection=x", "/v1/documents/a?collection=%ff"):
        answer = service("PUT", path, {"text": "words"})
        assert (answer.status, answer.json["detail"]) == (422, "the address is not UTF-8")
    assert service("GET", "/v1/stats").json["figures"]["documents"] == 4


def test_a_request_that_is_nearly_right_hears_what_is_wrong(service: Service) -> None:
    for kind in ("application/x-www-form-urlencoded", "text/json", "application/x-ndjson"):
        sent = service("POST", "/v1/query", b'{"text": "a"}', Content_Type=kind)
        assert (sent.status, sent.json["detail"]) == (415, "the body is JSON: send Content-Type: application/json")
    assert "give one of text, html, features and id" in service("POST", "/v1/query", {}).json["detail"]
    assert "body.only_new" in service("PUT", service.document("a"), {"text": "a", "only_new": True}).json["detail"]
    for path in ("/v1/documents:add", "/v1/documents:remove", "/v1/query:batch", "/v1/decisions:undo"):
        assert "body.other" in service("POST", path, {"other": 1}).json["detail"]


def test_head_is_get_without_a_body_and_other_methods_hear_which_there_are(service: Service) -> None:
    for path in ("/healthz", "/v1/stats", "/", service.document("a")):
        head, get = service("HEAD", path), service("GET", path)
        assert (head.status, head.body) == (200, b"")
        assert head.headers["content-length"] == get.headers["content-length"]
    assert service("HEAD", service.document("none")).status == 404
    for method, path, allowed in (
        ("POST", "/v1/stats", "GET, HEAD"),
        ("HEAD", "/v1/query", "POST"),
        ("POST", service.document("a"), "DELETE, GET, HEAD, PUT"),
        ("PUT", "/v1/decisions", "GET, HEAD, POST"),
    ):
        answer = service(method, path, {} if method != "HEAD" else None)
        assert (answer.status, answer.headers["allow"]) == (405, allowed)


def test_errors_are_problems_with_the_names_of_lshdb(service: Service) -> None:
    below = service("GET", "/v1/pairs?min_sim=0.1")
    assert below.status == 400
    assert below.headers["content-type"] == "application/problem+json"
    assert below.json["type"] == "urn:lshdb:error:BelowFloor"
    assert below.json["fields"] == {"min_sim": 0.1, "floor": 0.5}
    assert service("POST", "/v1/query", {"features": ["a"]}).json["title"] == "BadDocument"
    assert service("POST", "/v1/query", {"text": "a", "measure": "containment"}).json["title"] == "PassagesMissing"
    both = service("POST", "/v1/query", {"text": "a", "html": "b"})
    assert (both.status, both.json["type"]) == (422, "about:blank")
    assert service("GET", "/v1/pairs?cursor=nonsense").json["detail"] == "the cursor is not one of this list"
    assert service("GET", "/v1/nothing").json["title"] == "Not Found"


@pytest.mark.parametrize("path", ["/v1/runs", "/v1/decisions", "/v1/clusters"])
@pytest.mark.parametrize("key", [2**63, -1])
def test_a_forged_cursor_is_refused(service: Service, path: str, key: int) -> None:
    forged = base64.urlsafe_b64encode(json.dumps([key]).encode()).decode().rstrip("=")
    answer = service("GET", f"{path}?cursor={forged}")
    assert (answer.status, answer.json["detail"]) == (400, "the cursor is not one of this list")


def test_figures_are_there_for_people_and_for_prometheus_but_not_the_seed(service: Service) -> None:
    stats = service("GET", "/v1/stats").json
    assert stats["figures"]["pairs"] == 1
    assert "seed" not in stats["params"]
    assert b"lshdb_documents 4\n" in service("GET", "/metrics").body
    assert service("GET", "/healthz").json == {"status": "ok"}


def test_the_description_names_every_type_of_answer(service: Service) -> None:
    described = service("GET", "/v1/openapi.json").json
    assert described["openapi"].startswith("3.")
    answer = described["paths"]["/v1/query"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": "#/components/schemas/Matches"}
    assert "security" not in described
    matches = described["components"]["schemas"]["Matches"]["properties"]["matches"]["anyOf"]
    assert [one["items"]["$ref"].rpartition("/")[2] for one in matches] == ["Match", "Containing"]


@pytest.mark.sqlite
def test_what_is_answered_is_described(sqlite_url: str) -> None:
    token = "a secret of 16 characters or more"
    with serving(sqlite_url, ServeOptions(writable=True, token=token)) as service:

        def ask(method: str, path: str, body: object = None, accept: str = "*/*") -> Answer:
            return service(method, path, body, Authorization=f"Bearer {token}", Accept=accept)

        described = ask("GET", "/v1/openapi.json").json
        assert described["security"] == [{"token": []}]
        assert described["components"]["securitySchemes"] == {"token": {"type": "http", "scheme": "bearer"}}
        assert described["paths"]["/healthz"]["get"]["security"] == []
        made = ask("POST", "/v1/decisions", {"kind": "keep", "id": "a", "who": "Ada"})
        assert str(made.status) == "201"
        assert set(described["paths"]["/v1/decisions"]["post"]["responses"]) == {"201", "4XX", "5XX"}
        for path in ("/v1/pairs", "/v1/clusters", "/v1/clusters?members=true", "/v1/decisions", "/v1/runs"):
            found = ask("GET", path, accept="application/x-ndjson")
            content = described["paths"][path.partition("?")[0]]["get"]["responses"]["200"]["content"]
            kinds = content[found.headers["content-type"]]["schema"]["anyOf"]
            fields = set(json.loads(found.body.splitlines()[0]))
            assert fields in [set(kind["properties"]) for kind in kinds]
            assert set(content) == {"application/json", "application/x-ndjson"}
