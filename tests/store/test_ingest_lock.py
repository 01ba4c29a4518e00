"""The lock that keeps a second ingest off a SQLite file."""

from __future__ import annotations

from pathlib import Path

import pytest

from lshdb.errors import IndexBusy
from lshdb.model.params import Params
from lshdb.store.store import Store

pytestmark = pytest.mark.sqlite


def test_the_lock_of_a_relative_path_stays_where_the_index_was_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    with Store.create("index.db", Params(), "test") as first, Store.open("index.db") as second:
        monkeypatch.chdir(elsewhere)
        with first.sole_ingest(wait=False):
            monkeypatch.chdir(tmp_path)
            with pytest.raises(IndexBusy, match="an ingest, process"), second.sole_ingest(wait=False):
                pass
    assert list(elsewhere.iterdir()) == []
    assert first.url == "index.db"
