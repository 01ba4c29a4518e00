"""Pairs that are verified page by page: what is counted, corrected, deleted, and named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from lshdb import Document, Index, Params
from lshdb.audit import verify
from lshdb.model.upkeep import VerifyCounts
from lshdb.store.schema import pair
from lshdb.store.store import Store

PARAMS = Params(shingle="word:1", bands=12, rows=1, num_perm=12, floor=0.5)
TEXTS = {"a": "ant bee cat dog", "b": "ant bee cat dog elk", "c": "ant bee cat dog elk fox", "z": "yak zebu"}


@pytest.fixture(params=[1, 2, 100])
def page(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The number of pairs that are verified at a time."""
    monkeypatch.setattr(verify, "PAGE_PAIRS", request.param)
    return int(request.param)


@pytest.mark.usefixtures("page")
def test_pairs_are_confirmed_corrected_made_exact_or_deleted(tmp_path: Path) -> None:
    url = str(tmp_path / "index.db")
    with Index.create(url, PARAMS) as index:
        index.add(Document(doc_id, text) for doc_id, text in TEXTS.items())
        with Store.open(url) as store, store.writing() as transaction:
            transaction.execute(update(pair).where(pair.c.right_key == 2).values(similarity=0.9))
            transaction.execute(update(pair).where(pair.c.left_key == 1, pair.c.right_key == 3).values(exact=False))
            transaction.execute(insert(pair).values(left_key=1, right_key=4, similarity=0.625, exact=True))
        report = index.verify()
        assert report.counts == VerifyCounts(num_pairs=4, num_confirmed=2, num_changed=2, num_dropped=1, num_unknown=0)
        assert (report.largest_difference, report.gone) == (0.625, ())
        assert 0 < report.seconds < 60
    with Store.open(url) as store, store.reading() as transaction:
        columns = (pair.c.left_key, pair.c.right_key, pair.c.similarity, pair.c.exact)
        found = [tuple(row) for row in transaction.execute(select(*columns).order_by(*columns[:2]))]
    assert found == [(1, 2, 0.8, True), (1, 3, 4 / 6, True), (2, 3, 5 / 6, True)]


@pytest.mark.usefixtures("page")
def test_pairs_whose_texts_are_gone_are_counted_and_named_after_their_first_documents(tmp_path: Path) -> None:
    with Index.create(str(tmp_path / "index.db"), replace(PARAMS, keep_text=False)) as index:
        index.add(Document(doc_id, text) for doc_id, text in TEXTS.items())
        index.add([Document("copy", TEXTS["a"])])
        report = index.verify()
    assert report.counts == VerifyCounts(num_pairs=3, num_confirmed=0, num_changed=0, num_dropped=0, num_unknown=3)
    assert (report.largest_difference, report.gone) == (0.0, (("a", "b"), ("a", "c"), ("b", "c")))
