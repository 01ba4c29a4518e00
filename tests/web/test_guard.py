"""What a service refuses: strangers, other names, long bodies, changes, and too much at once."""

from __future__ import annotations

import base64
import socket
import threading
import time
from collections.abc import Iterator
from http.client import HTTPResponse
from itertools import repeat

import pytest

from lshdb import Index, StoreError, StoreUnreachable, UsageError
from lshdb.web.desk import LINES
from lshdb.web.lists import NDJSON
from lshdb.web.options import Limits, ServeOptions
from tests.web.conftest import TEN, Service, serving

pytestmark = pytest.mark.sqlite
TOKEN = "a secret of 16 characters or more"


def test_a_service_for_other_machines_needs_a_token() -> None:
    with pytest.raises(UsageError, match="LSHDB_TOKEN"):
        ServeOptions(host="0.0.0.0")
    with pytest.raises(UsageError, match="at least 16"):
        ServeOptions(host="0.0.0.0", token="short")
    for token in (f"{TOKEN} ", f"{TOKEN}\n", f"{TOKEN}é"):
        with pytest.raises(UsageError, match="printable ASCII"):
            ServeOptions(token=token)
    assert ServeOptions(host="::1").is_loopback
    assert not ServeOptions(host="example.org", token=TOKEN).is_loopback


def test_without_the_token_only_the_health_is_told(sqlite_url: str) -> None:
    with serving(sqlite_url, ServeOptions(token=TOKEN)) as service:
        refused = service("GET", "/v1/stats")
        assert (refused.status, refused.headers["www-authenticate"][:5]) == (401, "Basic")
        for wrong in ("Bearer no", f"Bearer {TOKEN}x", f"Digest {TOKEN}", "Basic !", "Basic " + "x" * 100):
            assert service("GET", "/v1/stats", Authorization=wrong).status == 401
        assert service("GET", "/healthz").status == 200
        assert service("GET", "/v1/stats", Authorization=f"Bearer {TOKEN}").status == 200
        basic = base64.b64encode(f"me:{TOKEN}".encode()).decode()
        assert service("GET", "/v1/stats", Authorization=f"Basic {basic}", Host="lshdb.example.org").status == 200


def test_the_health_of_a_lost_index_does_not_tell_where_it_is(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(index: Index, *_: object) -> None:
        raise StoreUnreachable(url=index.url, reason="connection to 10.0.0.7 failed")

    with serving(sqlite_url, ServeOptions(token=TOKEN)) as service:
        monkeypatch.setattr(Index, "runs", lost)
        answer = service("GET", "/healthz")
        assert (answer.status, answer.headers["retry-after"]) == (503, "1")
        assert answer.json["detail"] == "the index does not answer"
        assert sqlite_url.encode() not in answer.body
        assert b"10.0.0.7" not in answer.body


def test_a_page_from_elsewhere_cannot_reach_a_service_without_a_token(sqlite_url: str) -> None:
    with serving(sqlite_url, ServeOptions()) as service:
        for name in ("evil.example", "evil.example:8080", "127.0.0.1.evil.example", ""):
            assert service("GET", "/v1/stats", Host=name).status == 421
        for name in ("localhost:1", "LOCALHOST", "[::1]:8080", "127.0.0.1"):
            assert service("GET", "/v1/stats", Host=name).status == 200


def test_every_answer_keeps_a_browser_from_loading_other_content(sqlite_url: str) -> None:
    with serving(sqlite_url, ServeOptions()) as service:
        for path in ("/v1/stats", "/v1/nothing"):
            headers = service("GET", path).headers
            assert "default-src 'none'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"


def test_nothing_is_changed_unless_the_service_is_writable(sqlite_url: str) -> None:
    with serving(sqlite_url, ServeOptions()) as service:
        for method, path, body in (
            ("PUT", "/v1/documents/x", {"text": TEN}),
            ("DELETE", "/v1/documents/a", None),
            ("POST", "/v1/documents:add", {"documents": []}),
            ("POST", "/v1/documents:remove", {"ids": []}),
        ):
            answer = service(method, path, body)
            assert (answer.status, answer.json["title"]) == (403, "IndexReadOnly")


def test_long_bodies_and_addresses_are_refused_however_they_come(sqlite_url: str) -> None:
    with serving(sqlite_url, ServeOptions(limits=Limits(body=1_000))) as service:
        assert service("POST", "/v1/query", {"text": "x" * 1_000}).status == 413
        assert service("GET", f"/v1/documents/{'x' * 16_001}").status == 414
        assert service("GET", f"/v1/documents/{'x' * 2_601}").status == 422
        assert b" 413 " in chunked(service, b"[" * 1_001)


def test_a_document_is_named_by_the_longest_id_of_an_index(sqlite_url: str) -> None:
    # Qualified ids are longer than those that a document may have.
    with serving(sqlite_url, ServeOptions()) as service:
        for path in ("/v1/documents/", "/document?id="):
            assert service("GET", f"{path}{'x' * 2_600}").status == 404


def test_a_failure_of_the_index_is_a_line_of_the_log_wherever_it_is_met(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(index: Index, *_: object) -> None:
        raise StoreError(url=index.url, reason="disk full\nINFO: all is well")

    with serving(sqlite_url, ServeOptions()) as service:
        monkeypatch.setattr(Index, "runs", failing)
        for path in ("/healthz", "/v1/runs", "/"):
            assert service("GET", path).status == 500
            (line,) = capsys.readouterr().err.splitlines()
            assert line.startswith("ERROR:")
            assert line.endswith("disk full INFO: all is well")
        assert service("GET", "/v1/documents/unknown").status == 404
        assert not capsys.readouterr().err


def chunked(service: Service, body: bytes) -> bytes:
    """Return the answer to a body whose length is not announced."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        head = b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        connection.sendall(head + f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n")
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def test_a_client_that_offers_http_2_is_answered_in_http_1_1(sqlite_url: str) -> None:
    offer = (
        b"Connection: Upgrade, HTTP2-Settings\r\nUPGRADE: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAA\r\n"
    )
    body = b'{"text": "\\r\\nUpgrade: h2c"}'
    head = b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + offer
    with (
        serving(sqlite_url, ServeOptions()) as service,
        socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection,
    ):
        for _ in range(2):
            connection.sendall(head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
            answer = HTTPResponse(connection)
            answer.begin()
            assert (answer.version, answer.status, answer.read()) == (11, 200, b'{"matches":[]}')


@pytest.mark.parametrize("sent", [{"features": [1] * 1_000}, {str(number): 1 for number in range(1_000)}])
def test_a_body_of_many_faults_is_given_up_at_the_first(sqlite_url: str, sent: dict[str, object]) -> None:
    with serving(sqlite_url, ServeOptions()) as service:
        answer = service("POST", "/v1/query", sent)
        assert (answer.status, len(answer.json["errors"])) == (422, 1)


def test_a_body_that_does_not_come_is_given_up(sqlite_url: str) -> None:
    with (
        serving(sqlite_url, ServeOptions(limits=Limits(seconds=0.2))) as service,
        socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection,
    ):
        connection.sendall(b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{")
        assert b" 408 " in connection.recv(65_536)


@pytest.mark.parametrize(
    ("begun", "more"),
    [
        (b"", b""),
        (b"GET /healthz HTTP/1.1\r\nX: ", b"x"),
        (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /", b"x"),
    ],
    ids=["nothing", "first", "second"],
)
def test_a_head_that_does_not_end_is_given_up_however_slowly_it_comes(
    sqlite_url: str, begun: bytes, more: bytes
) -> None:
    with (
        serving(sqlite_url, ServeOptions(limits=Limits(seconds=0.5))) as service,
        socket.create_connection(("127.0.0.1", service.port), timeout=0.1) as connection,
    ):
        connection.sendall(begun)
        assert is_ended(connection, more)


def test_what_comes_after_an_early_answer_is_given_up(sqlite_url: str) -> None:
    with (
        serving(sqlite_url, ServeOptions(limits=Limits(body=1_000, seconds=0.5))) as service,
        socket.create_connection(("127.0.0.1", service.port), timeout=0.1) as connection,
    ):
        connection.sendall(b"POST /v1/query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1001\r\n\r\n")
        assert is_ended(connection, b"x")


@pytest.mark.parametrize(
    "begun",
    [b"GET /", b"GET / HTTP/1.1\r\n", b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"],
    ids=["address", "headers", "trailer"],
)
def test_a_head_without_end_is_not_held_in_memory(sqlite_url: str, begun: bytes) -> None:
    with (
        serving(sqlite_url, ServeOptions()) as service,
        socket.create_connection(("127.0.0.1", service.port), timeout=0.1) as connection,
    ):
        connection.sendall(begun)
        assert is_ended(connection, b"X: " + b"x" * 10_000 + b"\r\n" if begun.endswith(b"\n") else b"x" * 10_000)


def is_ended(connection: socket.socket, more: bytes) -> bool:
    """Send more again and again. Returns: whether the service ends the connection in time."""
    deadline = time.monotonic() + 4
    while time.monotonic() < deadline:
        try:
            connection.sendall(more)
            if not connection.recv(65_536):
                return True
        except TimeoutError:
            pass
        except ConnectionError:
            return True
    return False


def test_an_answer_that_is_not_read_is_given_up(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = threading.Event()

    def rows(*_: object, **__: object) -> Iterator[str]:
        try:
            yield from repeat("x" * 10_000)
        finally:
            closed.set()

    monkeypatch.setattr(Index, "pairs", rows)
    with (
        serving(sqlite_url, ServeOptions(limits=Limits(stream_seconds=0.5))) as service,
        socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection,
    ):
        connection.sendall(b"GET /v1/pairs HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\n\r\n")
        assert closed.wait(30)


def test_slow_questions_are_given_up_and_too_many_refused(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    going = threading.Event()
    monkeypatch.setattr(Index, "query", lambda *_: going.wait(30) and [])
    limits = Limits(seconds=0.3, threads=1, waiting=0)
    with serving(sqlite_url, ServeOptions(limits=limits)) as service:
        # Named, so that it is not answered at once.
        question = {"text": TEN, "measure": "jaccard"}
        slow = service("POST", "/v1/query", question)
        assert (slow.status, slow.json["detail"]) == (503, "no answer within 0.3 s")
        full = service("POST", "/v1/query", question)
        assert full.json["detail"] == "too many requests are waiting; try again later"
        assert full.headers["retry-after"] == "1"
        going.set()


def test_a_client_that_goes_away_while_rows_are_read_frees_its_place(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, going, closed = threading.Event(), threading.Event(), threading.Event()

    def rows(*_: object, **__: object) -> Iterator[int]:
        try:
            yield from range(LINES)
            reading.set()
            going.wait(30)
            yield 0
        finally:
            closed.set()

    monkeypatch.setattr(Index, "pairs", rows)
    with serving(sqlite_url, ServeOptions(limits=Limits(streams=1))) as service:
        with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
            connection.sendall(b"GET /v1/pairs HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\n\r\n")
            assert reading.wait(30)
        time.sleep(0.2)  # The service notices that the client is gone.
        going.set()
        assert closed.wait(30)
        deadline = time.monotonic() + 30
        while (status := service("GET", "/v1/decisions", Accept=NDJSON).status) != 200 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert status == 200


def test_a_reband_by_another_process_is_noticed(sqlite_url: str) -> None:
    with serving(sqlite_url, ServeOptions()) as service:
        with Index.open(sqlite_url) as index:
            index.reband(0.6)
        assert service("POST", "/v1/query", {"text": TEN}).status == 200
