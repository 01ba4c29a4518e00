"""The Python client answers as the index itself does, and raises its errors."""

from __future__ import annotations

import pytest

from lshdb import (
    BelowFloor,
    Client,
    ClusterOptions,
    Document,
    DocumentUnknown,
    Index,
    IndexReadOnly,
    LshdbError,
    StoreUnreachable,
    UsageError,
)
from lshdb.web.options import ServeOptions
from tests.web.conftest import ELEVEN, OTHER, TEN, serving

pytestmark = pytest.mark.sqlite
TOKEN = "a secret of 16 characters or more"


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
        assert client.runs() == index.runs()
        assert client.explain("a", "b")["comparison"] == index.explain("a", "b").as_json()["comparison"]
        assert client.stats()["figures"] == index.stats().as_json()["figures"]


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


def test_errors_are_those_of_the_index(sqlite_url: str) -> None:
    with serving(sqlite_url, ServeOptions()) as service, Client(service.address) as client:
        with pytest.raises(BelowFloor, match="below this index's floor"):
            list(client.pairs(0.1))
        with pytest.raises(IndexReadOnly, match="--writable"):
            client.remove("a")
        with pytest.raises(UsageError, match=r"body\.min_sim"):
            client.query(Document("?", TEN), 2.0)
    with pytest.raises(StoreUnreachable, match="Connection refused"):
        Client(service.address).stats()
    with pytest.raises(UsageError, match="http://"):
        Client("index.db")


def test_a_wrong_token_is_told(sqlite_url: str) -> None:
    with serving(sqlite_url, ServeOptions(token=TOKEN)) as service:
        client = Client(service.address, "wrong")
        with pytest.raises(LshdbError, match="refused the login"):
            client.stats()
        client.close()
