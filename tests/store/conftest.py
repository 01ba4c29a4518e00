"""Fixtures: a store on each database, and contents with chosen buckets.

A content is written as its minima, ``(7, 1, 2)``: with one row a band, each number names a bucket. Two contents
with one number at one place share that bucket, and their estimated similarity is the share of such places.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import pytest
from sqlalchemy import Table, func, select

from lshdb.errors import StoreFailed
from lshdb.linking.link import Linking
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.values import BandKeys, Document, Signatures, Sketches
from lshdb.sketch.banding import band_keys
from lshdb.store import retrying
from lshdb.store.schema import DIGEST_BAND, band_bucket
from lshdb.store.store import Store
from lshdb.store.tables import answers, documents, filters, lookups, runs
from lshdb.store.tables.answers import Chosen
from lshdb.store.tables.lookups import BucketPlace
from lshdb.store.transaction import Transaction

Minima = tuple[int, ...]

# Every candidate pair is stored: sharing one band of three is a similarity of 1/3.
PARAMS = Params(shingle="set", bands=3, rows=1, floor=0.1, min_sim=0.1, keep_text=False)


def new_store_at(url: str, params: Params = PARAMS) -> Store:
    """An empty store with a few runs, numbered from 1, to which tests can assign the rows they write."""
    store = Store.create(url, params, "test")
    with store.writing() as transaction:
        for _ in range(9):
            runs.begin(transaction, "add", "default", "test")
    return store


@pytest.fixture
def postgres_store(new_postgres_url: Callable[[], str]) -> Iterator[Store]:
    with new_store_at(new_postgres_url()) as store:
        yield store


@pytest.fixture
def new_store(new_url: Callable[[], str]) -> Iterator[Callable[[], Store]]:
    """A function that returns empty stores on each database in turn."""
    opened: list[Store] = []

    def make() -> Store:
        opened.append(new_store_at(new_url()))
        return opened[-1]

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def store(new_store: Callable[[], Store]) -> Store:
    """An empty store."""
    return new_store()


def sketches_of(contents: Sequence[Minima | None], params: Params = PARAMS) -> Sketches:
    """Return sketches with these minima. None stands for an empty document."""
    minima = np.array([[0] * params.num_perm if one is None else one for one in contents], dtype=np.uint32)
    signatures = Signatures(minima.reshape(-1, params.num_perm), params.scheme)
    digests = [bytes(16) if one is None else hashlib.md5(repr(one).encode()).digest() for one in contents]
    return Sketches(
        digests=np.frombuffer(b"".join(digests), dtype=np.uint8).reshape(-1, 16),
        num_shingles=np.array([one is not None for one in contents], dtype=np.int64),
        signatures=signatures,
        band_keys=band_keys(signatures, params.banding),
        texts=tuple(repr(one).encode() for one in contents) if params.keep_text else None,
    )


def put(
    transaction: Transaction, contents: Mapping[str, Minima | None] | Sequence[tuple[str, Minima | None]]
) -> documents.PutOutcome:
    """Store documents by id, as one batch of run 1."""
    items = list(contents.items()) if isinstance(contents, Mapping) else list(contents)
    batch = [Document(doc_id) for doc_id, _ in items]
    sketches = sketches_of([one for _, one in items])
    return documents.put(transaction, batch, sketches, documents.Place(1, "default", {}))


def add(store: Store, contents: Mapping[str, Minima | None]) -> documents.PutOutcome:
    """Store documents in one transaction."""
    with store.writing() as transaction:
        return put(transaction, contents)


def link(store: Store) -> int:
    """Link all unlinked contents."""
    return Linking(store, None, Progress()).link()


def linked_pairs(store: Store) -> set[tuple[str, str]]:
    """Return the pairs of documents with different contents, each in alphabetical order."""
    with store.reading() as transaction:
        rows = list(answers.pairs(transaction, Chosen(0.0), expand=True))
    return {(min(left, right), max(left, right)) for left, right, similarity, *_ in rows if similarity < 1.0}


def commits_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every other writing transaction fail after its commit, as if the connection were lost during the commit."""
    writing, number = Store.writing, itertools.count()

    @contextmanager
    def lost(store: Store, *, refers_safely: bool = False) -> Iterator[Transaction]:
        with writing(store, refers_safely=refers_safely) as transaction:
            yield transaction
        if next(number) % 2 == 0:
            error = StoreFailed(url=store.url, reason="the connection is lost")
            error.is_passing = True
            raise error

    monkeypatch.setattr(Store, "writing", lost)
    monkeypatch.setattr(retrying, "FIRST_PAUSE", 0.0)


def count(transaction: Transaction, table: Table) -> int:
    """The number of rows. Of `band_bucket`, only those of a banding."""
    rows = select(func.count()).select_from(table)
    if table is band_bucket:
        rows = rows.where(band_bucket.c.band < DIGEST_BAND)
    return int(transaction.execute(rows).scalar_one())


def counts(url: str, *tables: Table) -> list[int]:
    """The numbers of rows of tables, as `count` returns them."""
    with Store.open(url) as store, store.reading() as transaction:
        return [count(transaction, table) for table in tables]


def content_key_of(transaction: Transaction, doc_id: str) -> int | None:
    """Return the content of a document."""
    is_there, key = answers.content_of(transaction, "default", doc_id)
    assert is_there, doc_id
    return key


def possible(transaction: Transaction, asked: BandKeys) -> list[BucketPlace]:
    """Return where the buckets of one sketch may be. Args: asked: shape (1, bands)."""
    young, filtered = lookups.possible(transaction, filters.scheme_of(transaction), asked)
    return young + filtered
