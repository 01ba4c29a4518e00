"""Planted faults are found and named, a sound index has none, and a repair restores the sound index."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete, select

from lshdb import Document, Index
from lshdb.audit import Auditing, Thoroughness
from lshdb.model.expansion import EXPANSION, Expansion
from lshdb.model.progress import Progress
from lshdb.store.schema import DIGEST_BAND, band_bucket, pair
from lshdb.store.statements.rules import RULES
from lshdb.store.store import Store
from lshdb.store.tables import bands
from lshdb.store.transaction import Transaction
from lshdb.tuning.reband import Rebanding
from tests.audit.indexes import FEW_IN_A_BUCKET, KINDS, fill
from tests.audit.planting import BEYOND_KNOWING, DERIVABLE, PLANTERS, Found, Place
from tests.expanding import index_with
from tests.recovery.tables import Facts, rows_of

# Of each planter.
TIMES = 2
ALL = Thoroughness(sample=None)
# Side effects of other faults: pairs of a text that cannot be trusted, a bucket that is no longer oversized, a text
# that no document has any more, documents whose text has a wrong digest.
CONSEQUENCES = {"pair-unverifiable", "skipped-not-hot", "pair-missing", "content-of-no-document", "document-differs"}
CONSEQUENCES |= {"source-excess"}


class RolledBack(Exception):
    """Roll back the transaction and its planted faults."""


@contextmanager
def undone(store: Store) -> Iterator[Transaction]:
    with suppress(RolledBack), store.writing() as transaction:
        yield transaction
        raise RolledBack


def found_in(store: Store, transaction: Transaction) -> Found:
    """Return the faults that a full audit of a transaction finds."""
    return {(fault.fault, fault.key) for fault in Auditing(store, ALL, Progress()).faults(transaction)}


def audited(url: str, thoroughness: Thoroughness = ALL) -> Found:
    """Return the faults that a full audit of the committed index finds."""
    with Index.open(url) as index:
        return {(fault.fault, fault.key) for fault in index.check(thoroughness)}


def repaired(url: str, expansion: Expansion = EXPANSION) -> Counter[str]:
    """Return the faults that a repair leaves, by kind."""
    with index_with(expansion, url) as index:
        audit = index.check(ALL)
        assert list(audit)
        index.repair(audit.counts)
        list(audit)
        return audit.counts


def plant(url: str, names: Iterable[str], seed: int) -> Found:
    """Plant faults in an index and commit them."""
    with Store.open(url) as store, store.writing() as transaction:
        place = Place(transaction, random.Random(seed), store.params)
        return {one for name in names for one in PLANTERS[name](place)}


def said(url: str) -> Facts:
    """Return every row of every table, except the run of a pair: a relinked pair has none.

    Counters are left out too, because they cannot know the keys of deleted rows.
    """
    rows = rows_of(url, generations=False)
    del rows["key_counter"]
    rows["pair"] = [row[:-1] for row in rows["pair"]]
    return rows


@pytest.fixture
def good(new_url: Callable[[], str], tmp_path: Path) -> str:
    """The URL of a sound index with oversized buckets."""
    url = new_url()
    fill(url, tmp_path / "folder", expansion=FEW_IN_A_BUCKET)
    return url


def test_faults_of_every_kind_are_each_found_and_named(good: str) -> None:
    kinds = set[str]()
    with Store.open(good) as store:
        store.expansion = FEW_IN_A_BUCKET
        for name, planter in PLANTERS.items():
            for seed in range(TIMES):
                with undone(store) as transaction:
                    expected = planter(Place(transaction, random.Random(f"{name} {seed}"), store.params))
                    found = found_in(store, transaction)
                    assert found >= expected, (name, seed)
                    assert {kind for kind, _ in found - expected} <= CONSEQUENCES, (name, seed)
                    kinds |= {kind for kind, _ in expected}
        with store.reading() as transaction:
            assert found_in(store, transaction) == set()
    # A second row of parameters needs a table without its constraints: see test_repairing.
    assert {rule.kind for rule in RULES} - kinds == {"params-row"}


def test_what_nothing_contradicts_is_beyond_knowing(good: str) -> None:
    with Store.open(good) as store:
        store.expansion = FEW_IN_A_BUCKET
        for name, planter in BEYOND_KNOWING.items():
            with undone(store) as transaction:
                planter(Place(transaction, random.Random(name), store.params))
                assert found_in(store, transaction) == set(), name


def test_pairs_that_are_all_gone_are_noticed_by_a_sample_and_computed_again(url: str, tmp_path: Path) -> None:
    fill(url, tmp_path / "folder")
    before = said(url)
    with Store.open(url) as store, store.writing() as transaction:
        transaction.execute(delete(pair))
    assert {kind for kind, _ in audited(url, Thoroughness(sample=15))} == {"pair-missing"}
    with Index.open(url) as index:
        assert {pair.similarity for pair in index.pairs(0.5)} == {1.0}  # Copies of one text need no stored pair.
    assert repaired(url) == Counter()
    assert said(url) == before


def test_a_sample_of_a_good_index_has_no_fault(url: str, tmp_path: Path) -> None:
    fill(url, tmp_path / "folder")
    for sample in range(4):
        assert audited(url, Thoroughness(sample=sample)) == set()


@pytest.mark.parametrize("kind", KINDS)
def test_a_good_index_has_no_fault(kind: str, new_url: Callable[[], str], tmp_path: Path) -> None:
    url = new_url()
    fill(url, tmp_path / "folder", **KINDS[kind])
    assert audited(url) == set()
    with Index.open(url) as index:
        index.reband(0.8, 0.9)
        assert set(index.check(ALL)) == set()
        index.reband(0.6, 0.9)
        assert set(index.check(ALL)) == set()


def test_bands_that_are_being_written_and_contents_that_are_not_linked_are_no_fault(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lshdb.tuning.reband.BATCH_MINIMA", 100)
    fill(url, tmp_path / "folder")
    with Store.open(url) as store:
        one = Rebanding(store, replace(store.params, bands=5, rows=4, first_band=-5), Progress())
        one._begin()
        one._write_batch()
        with store.reading() as snapshot:
            assert bands.coming(snapshot) is not None
            assert set(snapshot.execute(select(band_bucket.c.band)).scalars()) == {*range(-5, 8), DIGEST_BAND}
    with Index.open(url) as index:
        index.add([Document("more", "one two three four five six")], link=False)
    assert audited(url) == set()


def test_what_can_be_derived_is_as_before_after_a_repair(good: str) -> None:
    before = said(good)
    names = random.Random(1).sample(DERIVABLE, len(DERIVABLE))
    for some in (names[begin : begin + 5] for begin in range(0, len(names), 5)):
        plant(good, some, seed=1)
        # A pair of a damaged text is compared only once the text is repaired.
        if left := repaired(good, FEW_IN_A_BUCKET):
            assert set(left) <= {"similarity-differs", "estimate-differs"}, some
            assert repaired(good, FEW_IN_A_BUCKET) == Counter(), some
        assert said(good) == before, some
