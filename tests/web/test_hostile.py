"""Hundreds of requests with hostile values: each has an answer that the description foresees, and none is an error of
the service."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from lshdb.web.options import ServeOptions
from tests.web.conftest import TEN, Service, serving

pytestmark = [pytest.mark.sqlite, pytest.mark.slow]

HOSTILE = [
    "<script>alert(1)</script>", "javascript:alert(1)", "\0", "a\0b", "\ud800", "\u202egnirts", "../../etc/passwd", "-",
    "'; DROP TABLE document; --", "%", "_", "\\", "{{7*7}}", "\r\nSet-Cookie: x=y", "x" * 3_000, "", "NaN", "1e999",
]  # fmt: skip

names = some.one_of(some.sampled_from(HOSTILE), some.text(max_size=30), some.sampled_from(["a", "b", "default"]))
numbers = some.one_of(some.floats(), some.integers(), some.sampled_from([0.8, 0.5, 1, -1, 10**400]))
values = some.recursive(
    some.one_of(some.none(), some.booleans(), numbers, names, some.just(TEN)),
    lambda inner: some.one_of(some.lists(inner, max_size=4), some.dictionaries(names, inner, max_size=4)),
    max_leaves=8,
)


def text_of(name: object) -> str:
    return quote(str(name).encode("utf-8", "surrogatepass"), safe="")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A writable service of a small index."""
    from lshdb import Document, Index

    path = str(tmp_path_factory.mktemp("hostile") / "index.db")
    with Index.create(path) as index:
        index.add([Document("a", TEN), Document("b", f"{TEN} eleven")])
    with serving(path, ServeOptions(writable=True)) as running:
        yield running


@pytest.fixture(scope="module")
def operations(service: Service) -> list[tuple[str, str, dict[str, Any]]]:
    """Each method and path of the description, with its parameters and answers."""
    paths = service("GET", "/v1/openapi.json").json["paths"]
    found = [
        (method.upper(), path, operation)
        for path, methods in sorted(paths.items())
        for method, operation in sorted(methods.items())
    ]
    assert len(found) >= 14
    return found


@settings(
    max_examples=500,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(draw=some.data())
def test_no_request_breaks_the_service(
    service: Service, operations: list[tuple[str, str, dict[str, Any]]], draw: some.DataObject
) -> None:
    method, path, operation = draw.draw(some.sampled_from(operations))
    query = []
    for parameter in operation.get("parameters", []):
        value = text_of(draw.draw(some.one_of(names, numbers)))
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", value)
        elif draw.draw(some.booleans()):
            query.append(f"{parameter['name']}={value}")
    keys = ["text", "html", "features", "min_sim", "k", "measure", "documents", "ids", "id", "collection"]
    keys += ["dated_at", "decisions"]
    body = draw.draw(some.one_of(values, some.dictionaries(some.sampled_from(keys), values, max_size=4)))
    sent = json.dumps(body).encode() if draw.draw(some.integers(0, 9)) else draw.draw(some.binary(max_size=40))
    answer = service(method, f"{path}?{'&'.join(query)}", sent if method in ("POST", "PUT") else None)
    assert answer.status < 500, (method, path, query, body, answer.body)
    described = operation["responses"]
    foreseen = described.get(str(answer.status)) or described[f"{answer.status // 100}XX"]
    assert answer.headers["content-type"].split(";")[0] in foreseen["content"], (method, path, answer)
    if answer.status >= 400:
        assert answer.json["status"] == answer.status
