"""The Python client answers as the index itself does, and raises its errors."""

from __future__ import annotations

import asyncio
import inspect
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest

from lshdb import (
    Arrival,
    AsyncClient,
    BadDocument,
    BelowFloor,
    Client,
    ClusterOptions,
    Decision,
    DecisionsReport,
    DecisionUnknown,
    Document,
    DocumentUnknown,
    Explanation,
    Index,
    IndexReadOnly,
    LshdbError,
    Match,
    Pair,
    SameText,
    Stats,
    StoreUnreachable,
    UsageError,
)
from lshdb.web import calls
from lshdb.web.options import ServeOptions
from tests.cli.conftest import Run
from tests.cli.conftest import lshdb as lshdb
from tests.web.conftest import ELEVEN, OTHER, TEN, serving

Shown = TypeVar("Shown", Explanation, Stats)

pytestmark = pytest.mark.sqlite
TOKEN = "a secret of 16 characters or more"


def without_seed(found: Shown) -> Shown:
    return replace(found, params=replace(found.params, seed=0))


def test_questions_have_the_answers_of_the_index(sqlite_url: str) -> None:
    asked = Document("?", f"{TEN} twelve")
    with (
        serving(sqlite_url, ServeOptions()) as service,
        Client(service.address) as client,
        Index.open(sqlite_url) as index,
    ):
        assert client.query(asked, 0.5) == index.query(asked, 0.5)
        assert client.query_many([asked], 0.5) == [("?", index.query(asked, 0.5))]
        assert client.get("a") == index.get("a")
        assert client.get("none") is index.get("none")
        assert list(client.clusters(0.8)) == list(index.clusters(0.8, ClusterOptions()))
        assert sorted(client.pairs(), key=str) == sorted(index.pairs(), key=str)
        assert list(client.pairs(0.5, sort="id", limit=2)) == list(index.pairs(0.5, sort="id", limit=2))
        assert client.runs() == index.runs()
        assert client.query_id("b", 0.5, k=1) == index.query_id("b", 0.5)[:1]
        assert list(client.members(0.8)) == list(index.members(0.8))
        assert without_seed(client.explain("a", "b")) == without_seed(index.explain("a", "b"))
        assert asdict(without_seed(client.stats())) == asdict(without_seed(index.stats()))


def test_a_document_with_many_near_duplicates_has_as_many_as_in_the_index(
    sqlite_url: str, lshdb: Run, tmp_path: Path
) -> None:
    asked = [Document("?", TEN), Document("!", OTHER)]

    async def visit(address: str) -> list[object]:
        async with AsyncClient(address) as client:
            many = await client.query_many(asked)
            return [await client.query(asked[0]), await client.query_id("b"), many]

    with Index.open(sqlite_url) as index, serving(sqlite_url, ServeOptions()) as service:
        index.add([Document(f"n{number}", TEN) for number in range(1_200)])
        matches, others = index.query(asked[0]), index.query(asked[1])
        assert len(matches) == 1_203
        many = [("?", matches), ("!", others)]
        with Client(service.address) as client:
            assert [client.query(asked[0]), client.query_id("b"), client.query_many(asked)] == [
                matches,
                index.query_id("b"),
                many,
            ]
            assert client.query_many(asked, k=1_100) == [("?", matches[:1_100]), ("!", others)]
            assert client.query_many(asked, k=2) == [("?", matches[:2]), ("!", others)]
        assert asyncio.run(visit(service.address)) == [matches, index.query_id("b"), many]
        (tmp_path / "file").write_text(TEN)
        for more in ("", " -k 5000", " -k 1001"):
            question = f"query {tmp_path / 'file'}{more}".split()
            assert lshdb(service.address, *question) == lshdb(sqlite_url, *question)


def test_coroutines_have_the_same_answers(sqlite_url: str) -> None:
    asked = Document("?", f"{TEN} twelve")

    async def visit(address: str) -> list[object]:
        async with AsyncClient(address, TOKEN) as client:
            several = await asyncio.gather(*(client.query(asked, 0.5) for _ in range(20)))
            with pytest.raises(BelowFloor, match="below this index's floor"):
                await anext(client.pairs(0.1))
            return [
                several,
                await client.query_many([asked], 0.5),
                await client.query_id("b", 0.5),
                await client.get("a"),
                await client.get("none"),
                [pair async for pair in client.pairs(0.5, sort="id", limit=2)],
                [cluster async for cluster in client.clusters(0.8)],
                [member async for member in client.members(0.8)],
                without_seed(await client.explain("a", "b")),
                (await client.stats()).figures,
                await client.put(Document("e\u2028f", OTHER), only_new=True),
                await client.add([Document("e\u2028f", OTHER)]),
                [pair.right async for pair in client.pairs() if pair.left == "d"],
                await client.remove("e\u2028f"),
            ]

    with Index.open(sqlite_url) as index, serving(sqlite_url, ServeOptions(writable=True, token=TOKEN)) as service:
        matches = index.query(asked, 0.5)
        assert asyncio.run(visit(service.address)) == [
            [matches] * 20,
            [("?", matches)],
            index.query_id("b", 0.5),
            index.get("a"),
            None,
            list(index.pairs(0.5, sort="id", limit=2)),
            list(index.clusters(0.8)),
            list(index.members(0.8)),
            without_seed(index.explain("a", "b")),
            index.stats().figures,
            Arrival("refused", (Match("d", 1.0, True),)),
            {"added": 1, "updated": 0, "unchanged": 0, "pairs_added": 0},
            ["e\u2028f"],
            1,
        ]
    with pytest.raises(StoreUnreachable, match="connection attempts failed"):
        asyncio.run(visit(service.address))


def test_both_clients_have_the_same_methods() -> None:
    def methods(kind: type) -> dict[str, list[inspect.Parameter]]:
        named = {name: found for name, found in vars(kind).items() if inspect.isfunction(found) and name[0] != "_"}
        return {name: list(inspect.signature(found).parameters.values()) for name, found in named.items()}

    assert methods(AsyncClient) == methods(Client)


def test_documents_are_changed_through_a_service(sqlite_url: str) -> None:
    with (
        serving(sqlite_url, ServeOptions(writable=True, token=TOKEN)) as service,
        Client(service.address, TOKEN) as client,
    ):
        assert client.put(Document("e/f", OTHER), only_new=True).outcome == "refused"
        assert [match.id for match in client.put(Document("e/f", ELEVEN)).matches] == ["b", "a", "c"]
        assert client.add([Document("g", "new words")]) == {"added": 1, "updated": 0, "unchanged": 0, "pairs_added": 0}
        assert client.remove(["e/f", "g"]) == 2
        with pytest.raises(DocumentUnknown, match="no document 'g'"):
            client.remove("g")


def test_one_document_many_and_lone_surrogates_go_through_a_service(
    sqlite_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "MAX_DOCUMENTS", 2)
    several = [Document(f"n{number}", f"only {number} here") for number in range(5)]

    async def visit(address: str) -> list[object]:
        async with AsyncClient(address) as client:
            return [
                await client.add(several),
                await client.add(Document("s", "with \ud800 in it")),
                await client.query_many(iter(several)),
                await client.get("s"),
                await client.remove([one.doc_id for one in several]),
            ]

    with serving(sqlite_url, ServeOptions(writable=True)) as service, Client(service.address) as client:
        none = {"added": 0, "updated": 0, "unchanged": 0, "pairs_added": 0}
        alike = [(one.doc_id, [Match(one.doc_id, 1.0, True)]) for one in several]
        replaced = Document("s", "with \ufffd in it")
        assert asyncio.run(visit(service.address)) == [none | {"added": 5}, none | {"added": 1}, alike, replaced, 5]
        assert client.add(several) == none | {"added": 5}
        assert client.add(several[0]) == none | {"unchanged": 1}
        assert client.add([]) == none
        assert client.query_many(several[0]) == alike[:1]
        assert client.query_many(several) == alike
        with Index.open(sqlite_url) as index:
            index.add(Document("t", "another \udfff in it"))
        assert client.get("t") == Document("t", "another \ufffd in it")
        assert [match.id for match in client.query(Document("?", "another \udfff in it"))] == ["t"]
        assert client.remove([*(one.doc_id for one in several), "n0"]) == 5


def test_decisions_are_made_and_undone_through_a_service(sqlite_url: str) -> None:
    asked = Decision("different", "a", "b", who="Ada", reason="two editions")

    async def undone(address: str) -> list[Decision]:
        async with AsyncClient(address) as client:
            made = await client.decide(Decision("keep", "c", who="Ada"))
            assert await client.undo(made.decision or 0) == 1
            return [one async for one in client.decisions()]

    with (
        serving(sqlite_url, ServeOptions(writable=True)) as service,
        Client(service.address) as client,
        Index.open(sqlite_url) as index,
    ):
        made = client.decide(asked)
        assert [made] == list(client.decisions()) == index.decisions() == asyncio.run(undone(service.address))
        with pytest.raises(SameText, match="'a' and 'c' have the same text"):
            client.decide(Decision("different", "a", "c", who="Ada"))
        assert client.undo(1) == 1
        with pytest.raises(DecisionUnknown, match="no decision 1 in index http://"):
            client.undo(1)


def test_several_decisions_are_undone_or_none_and_added_again(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "DECISIONS", 1)

    async def added(address: str, made: list[Decision]) -> DecisionsReport:
        async with AsyncClient(address) as client:
            return await client.import_decisions(made)

    with (
        serving(sqlite_url, ServeOptions(writable=True)) as service,
        Client(service.address) as client,
        Index.open(sqlite_url) as index,
    ):
        client.decide(Decision("keep", "c", who="Ada"))
        client.decide(Decision("different", "a", "b", who="Ada"))
        made = index.decisions()
        assert list(client.decisions(limit=1)) == index.decisions(limit=1) == made[:1]
        with pytest.raises(DecisionUnknown, match="no decision 7"):
            client.undo([1, 7, 2])
        assert index.decisions() == made
        assert client.undo([1, 2]) == 2
        assert index.decisions() == []
        absent = Decision("keep", "not there", who="Ada")
        assert client.import_decisions([*made, absent]) == DecisionsReport(3, 0)
        assert asyncio.run(added(service.address, made)) == DecisionsReport(0, 2)
        assert {(one.kind, one.id, one.decided_at) for one in made} < {
            (one.kind, one.id, one.decided_at) for one in index.decisions()
        }
        for numbers in ([0], ["1"], [2**63], list(range(1, 1_002))):
            assert service("POST", "/v1/decisions:undo", {"decisions": numbers}).status == 422


def test_documents_keep_their_dates_through_a_service(sqlite_url: str) -> None:
    async def dated(address: str) -> int | None:
        async with AsyncClient(address) as client:
            await client.put(Document("e", "some words", dated_at=-5))
            found = await client.get("e")
            return found.dated_at if found else None

    with serving(sqlite_url, ServeOptions(writable=True)) as service, Client(service.address) as client:
        assert asyncio.run(dated(service.address)) == -5
        client.add([Document("f", "other words", dated_at=7), Document("g", "no date")])
        assert [one.dated_at for one in map(client.get, "fg") if one] == [7, None]
        # The document with the later date stays.
        assert client.put(Document("f", "older words", dated_at=6)).outcome == "unchanged"
        assert client.get("f") == Document("f", "other words", dated_at=7)
        assert client.put(Document("f", "newer words", dated_at=8)).outcome == "updated"
        assert client.query_many([Document("?", "newer words", dated_at=1)])[0][1][0].id == "f"
        for date in (-(10**17), 2**63, 10**18, 1.5, "2020"):
            assert service("PUT", service.document("h"), {"text": "words", "dated_at": date}).status == 422
        assert service("PUT", service.document("h"), {"html": "<p>words", "dated_at": 9}).status == 201
        assert service("GET", service.document("h")).json["dated_at"] == 9


def test_a_date_that_no_calendar_has_is_refused(sqlite_url: str) -> None:
    with Index.open(sqlite_url) as index:
        for date in (-(2**63), 2**63 - 1, 10**20, 1.0):
            with pytest.raises(BadDocument, match="its date is no number of microseconds"):
                index.put(Document("e", "words", dated_at=date))  # type: ignore[arg-type]


def test_errors_are_those_of_the_index(sqlite_url: str) -> None:
    with serving(sqlite_url, ServeOptions()) as service, Client(service.address) as client:
        with pytest.raises(BelowFloor, match="below this index's floor"):
            list(client.pairs(0.1))
        with pytest.raises(IndexReadOnly, match="--writable"):
            client.remove("a")
    with pytest.raises(StoreUnreachable, match="Connection refused"):
        Client(service.address).stats()
    with pytest.raises(UsageError, match="http://"):
        Client("index.db")


def test_arguments_are_refused_as_by_the_index(sqlite_url: str) -> None:
    good, nan = Document("e", TEN), float("nan")
    bad: list[Any] = [b"bytes", Document("e", b"bytes")]  # type: ignore[arg-type]
    unusable: list[Any] = [Document(""), Document(1)]  # type: ignore[arg-type]
    attempts: list[Callable[[Any], object]] = [
        *(lambda at, one=one: at.query(one) for one in bad),
        *(lambda at, one=one: list(at.query_many([one])) for one in bad),
        *(lambda at, one=one: at.put(one) for one in bad + unusable),
        *(lambda at, one=one: at.add([one]) for one in bad + unusable),
        *(lambda at, least=least: at.query(good, least) for least in (nan, 2.0, "0.5")),
        lambda at: list(at.query_many([good], nan)),
        lambda at: list(at.query_many([good], k=0)),
        lambda at: at.query_id("a", nan),
        lambda at: at.query_id(1),
        lambda at: at.get(b"a"),
        lambda at: at.put(good, nan),
        lambda at: at.put(Document("e", TEN, dated_at=2**70)),
        lambda at: list(at.pairs(nan)),
        lambda at: list(at.pairs(max_sim=nan)),
        lambda at: list(at.pairs(limit=0)),
        lambda at: list(at.decisions(limit="1")),
        lambda at: list(at.clusters(nan)),
        lambda at: list(at.clusters(options={"limit": 1})),
        lambda at: list(at.members(options="first")),
        lambda at: at.decide("a"),
        lambda at: at.import_decisions(["a"]),
        lambda at: at.undo("12"),
    ]

    def refusal(attempt: Callable[[Any], object], at: object) -> tuple[type[LshdbError], str]:
        with pytest.raises(LshdbError) as raised:
            attempt(at)
        return raised.type, str(raised.value)

    with (
        serving(sqlite_url, ServeOptions(writable=True)) as service,
        Client(service.address) as client,
        Index.open(sqlite_url) as index,
    ):
        for attempt in attempts:
            assert refusal(attempt, client) == refusal(attempt, index)
        with pytest.raises(BadDocument, match="features are strings"):
            client.put(Document("e", features=(b"f",)))  # type: ignore[arg-type]
        assert len(index) == 4


@pytest.mark.parametrize("client", [Client, AsyncClient])
@pytest.mark.parametrize(
    "url",
    [
        "http://", "http://:80", "ftp://a.org", "http://a.org:65536", "http://a.org:eighty", "http://[::1",
        "http://a b.org", "http://a.org ", "http://a\x7fb", "http://a..org", f"http://{'x' * 64}.org", "http://a.org/\xfc",
    ],
)  # fmt: skip
def test_what_is_no_address_of_a_service_is_refused(client: type[Client | AsyncClient], url: str) -> None:
    with pytest.raises(UsageError, match="http://HOST:PORT"):
        client(url)
    with pytest.raises(UsageError, match="http://HOST:PORT"):
        client(None)  # type: ignore[arg-type]


def test_addresses_of_services_have_no_password() -> None:
    for url, address in (
        ("http://localhost:8080", "http://localhost:8080"),
        ("https://me:hush@b\xfccher.example/crawl/", "https://b\xfccher.example/crawl"),
        ("http://[::1]:80", "http://[::1]:80"),
    ):
        assert Client(url).url == address


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_a_token_that_no_header_can_hold_is_refused(client: type[Client | AsyncClient]) -> None:
    for token in (f"{TOKEN}\n", f" {TOKEN}", f"{TOKEN}é", f"{TOKEN}…"):
        with pytest.raises(UsageError, match="printable ASCII"):
            client("http://localhost:8080", token)


def test_a_wrong_token_is_told(sqlite_url: str) -> None:
    with serving(sqlite_url, ServeOptions(token=TOKEN)) as service:
        client = Client(service.address, "wrong")
        with pytest.raises(LshdbError, match="refused the login"):
            client.stats()
        client.close()


@contextmanager
def sending(*blocks: bytes) -> Iterator[str]:
    """Send an answer to each of two connections, and end it. Returns: the address."""

    def answer() -> None:
        for _ in range(2):
            with listening.accept()[0] as connection:
                connection.recv(65_536)
                for block in blocks:
                    connection.sendall(block)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join(30)


def chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def read_by_both(address: str) -> list[list[Pair | type[Exception]]]:
    """Return the pairs that each client reads until the end, or until an error and its type."""

    async def read(found: list[Pair | type[Exception]]) -> None:
        async with AsyncClient(address) as client:
            async for pair in client.pairs():
                found.append(pair)

    both: list[list[Pair | type[Exception]]] = [[], []]
    with Client(address) as client, ending_in_error(both[0]):
        both[0].extend(client.pairs())
    with ending_in_error(both[1]):
        asyncio.run(read(both[1]))
    return both


@contextmanager
def ending_in_error(found: list[Pair | type[Exception]]) -> Iterator[None]:
    try:
        yield
    except LshdbError as error:
        found.append(type(error))


HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
PAIR = Pair("a", "b\u2028", 1.0, True)
LINE = msgspec.json.encode(PAIR) + b"\n"
CUT = {
    "before a chunk": (CHUNKED, chunk(LINE)),
    "in a chunk": (CHUNKED, chunk(LINE), chunk(LINE)[:40]),
    "in the size of a chunk": (CHUNKED, chunk(LINE), b"1"),
    "before the length": (HEAD + b"Content-Length: 1000\r\n\r\n", LINE),
    "in a line": (HEAD + b"\r\n", LINE + LINE[:-1]),
}


@pytest.mark.parametrize("place", CUT)
def test_an_answer_that_is_cut_off_is_an_error(place: str) -> None:
    with sending(*CUT[place]) as address:
        assert read_by_both(address) == [[PAIR, StoreUnreachable]] * 2


def test_a_line_may_be_long_and_spread_over_chunks() -> None:
    long = Pair("a" * 300_000, "b", 1.0, True)
    sent = LINE + msgspec.json.encode(long) + b"\n" + LINE
    chunks = [chunk(sent[begin : begin + 7_001]) for begin in range(0, len(sent), 7_001)]
    with sending(CHUNKED, *chunks, b"0\r\n\r\n") as address:
        assert read_by_both(address) == [[PAIR, long, PAIR]] * 2


STRANGE = [(200, b"<html>"), (200, b"[]"), (301, b""), (599, b"[]"), (400, b'{"type": "urn:lshdb:error:BelowFloor"}')]


@pytest.mark.parametrize(("status", "body"), STRANGE)
def test_an_answer_that_is_none_of_lshdb_is_an_error_in_one_line(status: int, body: bytes) -> None:
    with pytest.raises(LshdbError) as raised:
        calls.stats().result(status, body, "http://strange")
    assert "\n" not in str(raised.value)
