"""Short texts are answered at once, and with the same bytes as all other questions."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lshdb import Document, Index
from lshdb.web.desk import Desk
from lshdb.web.options import ServeOptions
from tests.web.conftest import ELEVEN, OTHER, TEN, Service, serving

QUESTIONS = [
    {"text": ELEVEN},
    {"text": ELEVEN, "k": 1},
    {"text": TEN, "k": None},
    {"text": ELEVEN, "min_sim": 0.9},
    {"text": OTHER, "min_sim": 1},
    {"text": ""},
    {"text": "none of it was ever seen"},
]
UNUSUAL = [
    {"text": TEN, "k": 0},
    {"text": TEN, "k": 1.5},
    {"text": TEN, "min_sim": 2},
    {"text": TEN, "html": TEN},
    {"text": TEN, "measure": "none"},
    {"text": 1},
    {},
    [],
    b"{",
    b'{"text": "\\ud800"}',
    b'\xef\xbb\xbf{"text": "a"}',
    {"text": TEN * 5_000},
]


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """A list to which every question that reaches the index adds whether it was answered at once."""
    found: list[bool] = []
    at_once = Desk.at_once

    def noted(desk: Desk, question: Any) -> Any:
        answer = at_once(desk, question)
        found.append(answer is not None)
        return answer

    monkeypatch.setattr(Desk, "at_once", noted)
    return found


@pytest.fixture
def service(sqlite_url: str, answered: list[bool]) -> Iterator[Service]:
    """A service whose kernels are loaded."""
    with serving(sqlite_url, ServeOptions()) as service:
        while not answered or not answered[-1]:
            service("POST", "/v1/query", {"text": TEN})
            time.sleep(0.01)
        answered.clear()
        yield service


def test_short_texts_are_answered_at_once_like_all_others(service: Service, answered: list[bool]) -> None:
    for question in QUESTIONS:
        quick = service("POST", "/v1/query", question)
        # Naming what is the default makes a question unusual.
        other = service("POST", "/v1/query", {**question, "measure": "jaccard"})
        assert (quick.status, quick.body, quick.headers) == (200, other.body, other.headers)
    assert answered == [True] * len(QUESTIONS)


@pytest.mark.parametrize("question", UNUSUAL, ids=lambda question: repr(question)[:40])
def test_what_is_unusual_is_left_to_the_application(service: Service, answered: list[bool], question: object) -> None:
    body = question if isinstance(question, bytes) else json.dumps(question).encode()
    found = service("POST", "/v1/query", body)
    # Without its type, no body is read as JSON; with a parameter of it, FastAPI reads the same one.
    other = service("POST", "/v1/query", body, Content_Type="application/json; charset=utf-8")
    assert (found.status, found.body) == (other.status, other.body)
    assert True not in answered


def test_an_error_of_a_short_text_is_the_problem_of_all_others(tmp_path: Path) -> None:
    with Index.create(path := tmp_path / "sets.db", {"shingle": "set"}) as index:
        index.add([Document("a", features=("x", "y"))])
    with serving(str(path), ServeOptions()) as service:
        quick = service("POST", "/v1/query", {"text": TEN})
        other = service("POST", "/v1/query", {"text": TEN, "measure": "jaccard"})
    assert quick.json["title"] == "BadDocument"
    assert (quick.status, quick.body, quick.headers) == (422, other.body, other.headers)


def test_a_text_with_many_candidates_is_answered_in_a_thread(sqlite_url: str, answered: list[bool]) -> None:
    with Index.open(sqlite_url) as index:
        index.add([Document(f"n{number}", f"{TEN} {number}") for number in range(21)])
        assert index.query_at_once(Document("?", TEN)) is None
        expected = [match.id for match in index.query(Document("?", TEN))]
    with serving(sqlite_url, ServeOptions()) as service:
        assert service("GET", "/").status == 200
        found = service("POST", "/v1/query", {"text": TEN})
    assert [match["id"] for match in found.json["matches"]] == expected
    assert len(expected) > 20
    assert True not in answered


def test_no_question_to_a_server_of_postgres_is_answered_at_once(filled: str) -> None:
    with Index.open(filled) as index:
        at_once = index.query_at_once(Document("?", TEN))
        assert at_once == (None if filled.startswith("postgresql") else index.query(Document("?", TEN)))
