"""The lock that keeps a second ingest off a SQLite file."""

from __future__ import annotations

from pathlib import Path

import pytest

from lshdb.errors import IndexBusy, StoreFailed
from lshdb.model.params import Params
from lshdb.store.dialect import INGEST
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
        with first.sole_work(INGEST, wait=False):
            monkeypatch.chdir(tmp_path)
            with pytest.raises(IndexBusy, match="an ingest, process"), second.sole_work(INGEST, wait=False):
                pass
    assert list(elsewhere.iterdir()) == []
    assert first.url == "index.db"


def test_two_names_of_one_index_have_one_lock(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "index.db")
    with (
        Store.create(str(tmp_path / "index.db"), Params(), "test") as first,
        Store.open(str(tmp_path / "link.db")) as second,
        first.sole_work(INGEST, wait=False),
        pytest.raises(IndexBusy),
        second.sole_work(INGEST, wait=False),
    ):
        pass


def test_a_lock_file_that_is_a_link_is_refused_and_its_target_kept(tmp_path: Path) -> None:
    (tmp_path / "diary.txt").write_text("Dear diary")
    (tmp_path / "index.db-lock").symlink_to(tmp_path / "diary.txt")
    with (
        Store.create(str(tmp_path / "index.db"), Params(), "test") as store,
        pytest.raises(StoreFailed, match=r"index\.db-lock: it is a symbolic link"),
        store.sole_work(INGEST, wait=False),
    ):
        pass
    assert (tmp_path / "diary.txt").read_text() == "Dear diary"
