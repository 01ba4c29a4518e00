"""Buckets written at the end of their transaction, and transactions of several batches."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray
from sqlalchemy import select, update

from lshdb import Document, Index, IngestOptions
from lshdb.ingest.options import Budgets
from lshdb.ingest.removal import retire
from lshdb.ingest.write import Writer
from lshdb.model.expansion import Expansion
from lshdb.model.progress import Progress
from lshdb.model.reports import Figures
from lshdb.model.values import Counts
from lshdb.sketch.banding import band_keys
from lshdb.store.schema import DIGEST_BAND, band_bucket, bucket_generation, oversized_bucket
from lshdb.store.store import Store
from lshdb.store.tables import bands, documents, generations, identities, lookups, repairs
from lshdb.store.tables.held_buckets import HeldBuckets
from lshdb.store.transaction import Transaction
from tests.audit.test_planted import audited
from tests.store.conftest import PARAMS, Minima, add, link, linked_pairs, possible, sketches_of
from tests.store.test_late_indexes import WORDS, write


def rows(store: Store) -> list[tuple[int, int, int, int]]:
    with store.reading() as transaction:
        statement = select(band_bucket).order_by(*band_bucket.primary_key.columns)
        return [tuple(row) for row in transaction.execute(statement)]


def test_held_buckets_are_those_that_are_written_at_once(new_store: Callable[[], Store]) -> None:
    at_once, later = new_store(), new_store()
    contents: list[dict[str, Minima]] = [{"a": (1, 2, 3), "b": (7, 2, 3)}, {"c": (1, 9, 3)}, {}, {"d": (1, 2, 3)}]
    for batch in contents:
        add(at_once, batch)
    with later.writing() as transaction:
        held = HeldBuckets()
        for batch in contents:
            put_held(transaction, batch, held)
        held.write(transaction)
        held.write(transaction)  # there is nothing more
    assert len(rows(later)) == 3 * (3 + 1)  # bands and a digest
    assert rows(later) == rows(at_once)


def test_a_load_that_fills_a_generation_has_a_filter_at_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generations, "YOUNG_ROWS", 6)
    put_load(store, {"a": (1, 2, 3), "b": (4, 2, 6)})
    with store.reading() as transaction:
        [own] = generations.numbers(transaction)
        assert not lookups.wrong(transaction, own)
        unknown = band_keys(sketches_of([(10, 11, 12)]).signatures, PARAMS.banding)
        assert not possible(transaction, unknown)
        digests = identities.as_digests([bytes(16)])
        assert not possible(transaction, identities.buckets_of(digests))


def test_a_load_finds_the_digests_of_its_earlier_batches(new_store: Callable[[], Store]) -> None:
    store, held = new_store(), HeldBuckets()
    with store.writing() as transaction:
        put_held(transaction, {"a": (1, 2, 3), "b": (4, 5, 6)}, held)
        assert put_held(transaction, {"c": (4, 5, 6), "d": (7, 8, 9)}, held).counts.num_contents == 1
        assert put_held(transaction, {"e": (7, 8, 9), "f": (1, 2, 3)}, held).counts.num_contents == 0
        held.write(transaction)
    found = {(band, key) for _, band, _, key in rows(store)}
    assert found == {(band, key) for band in (0, 1, 2, DIGEST_BAND) for key in (1, 2, 3)}


def test_held_digests_with_the_same_first_bytes_are_told_apart(store: Store) -> None:
    digests = [bytes(8) + bytes([number] * 8) for number in range(3)]
    batches = [digests[:2], [digests[1], digests[2]], [digests[2], digests[0]]]
    held, num_contents = HeldBuckets(), list[int]()
    with store.writing() as transaction:
        for number, batch in enumerate(batches):
            sketches = replace(
                sketches_of([(1, 2, 3), (4, 5, 6)]), digests=np.frombuffer(b"".join(batch), np.uint8).reshape(2, 16)
            )
            documents_of = [Document(f"{number}{place}") for place in range(2)]
            outcome = documents.put(transaction, documents_of, sketches, documents.Place(1, "default", {}), held)
            num_contents.append(outcome.counts.num_contents)
        held.write(transaction)
    assert num_contents == [2, 1, 0]
    assert [key for _, band, _, key in rows(store) if band == DIGEST_BAND] == [1, 2, 3]


def test_loads_that_share_a_generation_leave_it_without_a_filter(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generations, "YOUNG_ROWS", 6)
    # As in Postgres during the first ingest.
    monkeypatch.setattr(generations, "lacks_key", lambda _transaction: True)
    for contents in ({"a": (1, 2, 3), "b": (4, 2, 6)}, {"c": (7, 8, 9), "d": (4, 8, 6)}):
        put_load(store, contents)
    with store.reading() as transaction:
        assert generations.numbers(transaction) == [0]
        assert not lookups.wrong(transaction, 0)
        asked = band_keys(sketches_of([(1, 2, 3)]).signatures, PARAMS.banding)
        assert len(possible(transaction, asked)) == 3


def test_a_content_that_goes_before_its_transaction_ends_leaves_no_bucket(store: Store) -> None:
    with store.writing() as transaction:
        held = HeldBuckets()
        put_held(transaction, {"a": (1, 2, 3), "b": (4, 5, 6)}, held)
        outcome = put_held(transaction, {"a": (7, 8, 9)}, held)
        retire(transaction, outcome.released, PARAMS)
        # It is not found again.
        assert put_held(transaction, {"c": (1, 2, 3)}, held).counts.num_contents == 1
        held.write(transaction)
    assert len(outcome.released) == 1
    assert {key for *_, key in rows(store)} == {2, 3, 4}


def put_held(transaction: Transaction, contents: dict[str, Minima], held: HeldBuckets) -> documents.PutOutcome:
    batch, place = [Document(doc_id) for doc_id in contents], documents.Place(1, "default", {})
    return documents.put(transaction, batch, sketches_of(list(contents.values())), place, held)


def put_load(store: Store, contents: dict[str, Minima]) -> None:
    """Add contents as a load does."""
    with store.writing() as transaction:
        held = HeldBuckets()
        put_held(transaction, contents, held)
        held.write(transaction)


def filled(store: Store, *content_keys: int) -> tuple[set[int], list[int]]:
    """Return the generations that some of these contents fill, and these contents."""
    keys = np.asarray(content_keys, dtype=np.int64)
    with store.reading() as transaction:
        numbers, are_theirs = generations.filled_by(transaction, keys)
    return numbers, keys[are_theirs].tolist()


def test_a_load_that_fills_a_generation_is_told_by_its_contents(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generations, "YOUNG_ROWS", 8)
    put_load(store, {"a": (1, 2, 3)})
    for first in (10, 20):
        put_load(store, {f"d{number}": (number, number, number) for number in range(first, first + 2)})
    assert filled(store, 1, 2, 3, 4, 5) == ({1, 2}, [2, 3, 4, 5])
    assert filled(store, 2, 3, 5, 6) == ({1}, [2, 3])
    assert filled(store, 1, 2, 4) == filled(store) == (set(), [])
    with store.writing() as transaction:
        transaction.execute(update(bucket_generation).where(bucket_generation.c.generation == 1).values(merges_into=0))
    assert filled(store, 2, 3, 4, 5) == ({2}, [4, 5])
    with store.writing() as transaction:
        retire(transaction, documents.remove(transaction, [4]), PARAMS)
    assert filled(store, 2, 3, 5) == filled(store, 2, 3, 4, 5) == (set(), [])


@pytest.mark.parametrize("way", ["bands", "repair"])
def test_rows_that_are_written_later_may_be_in_any_generation(
    store: Store, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(generations, "YOUNG_ROWS", 8)
    put_load(store, {"a": (1, 2, 3), "b": (4, 2, 6)})
    assert filled(store, 1, 2) == ({0}, [1, 2])
    with store.writing() as transaction:
        if way == "bands":
            bands.take_over(transaction, PARAMS.banding)
        else:
            repairs.add_buckets(transaction, np.asarray([[0, 5, 1]]))
    assert filled(store, 1, 2) == (set(), [])


@pytest.mark.parametrize("cap", [3, 1000], ids=["hot", "below the cap"])
@pytest.mark.parametrize("seed", range(2))
def test_a_link_finds_the_same_without_reading_what_a_load_has_written(
    new_store: Callable[[], Store], monkeypatch: pytest.MonkeyPatch, seed: int, cap: int
) -> None:
    monkeypatch.setattr(generations, "YOUNG_ROWS", 16)
    monkeypatch.setattr("lshdb.linking.link.SCANNED_CONTENTS", 0)
    found, filled_by, num_filled = [], generations.filled_by, 0

    def counted(transaction: Transaction, content_keys: NDArray[np.int64]) -> tuple[set[int], NDArray[np.bool_]]:
        nonlocal num_filled
        numbers, are_theirs = filled_by(transaction, content_keys)
        num_filled += len(numbers)
        return numbers, are_theirs

    for filling in (counted, lambda _, keys: (set(), np.zeros(len(keys), np.bool_))):
        monkeypatch.setattr(generations, "filled_by", filling)
        chance, store = random.Random(seed), new_store()
        store.expansion = Expansion(cap, 1)
        for begin in range(0, 60, 6):
            size = chance.choice([2, 4, 6])
            some: dict[str, Minima] = {
                f"d{number:02}": tuple(chance.choices(range(12), k=3)) for number in range(begin, begin + size)
            }
            put_load(store, some)
            if chance.random() < 0.3:
                with store.writing() as transaction:
                    retire(transaction, documents.remove(transaction, [chance.randrange(begin + 1)]), PARAMS)
            if chance.random() < 0.5:
                store.write(generations.merge_some)
            if chance.random() < 0.7:
                link(store)
        link(store)
        with store.reading() as transaction:
            hot = transaction.execute(select(oversized_bucket).order_by(*oversized_bucket.primary_key.columns)).all()
        found.append((linked_pairs(store), list(map(tuple, hot))))
    assert num_filled > 3
    assert found[0] == found[1]
    assert found[0][0]
    assert (len(found[0][1]) > 0) == (cap == 3)


def test_a_link_reads_no_row_that_the_load_before_it_has_written(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generations, "YOUNG_ROWS", 16)
    monkeypatch.setattr("lshdb.linking.link.SCANNED_CONTENTS", 0)
    for first in range(3):
        put_load(store, {f"{first}{number}": (number, 100 * first + number, 7 + first) for number in range(4)})
        if first < 2:
            link(store)
    read, hashes_from = set[int](), lookups.hashes_from

    def watched(transaction: Transaction, generation: int, *others: int) -> NDArray[np.int64]:
        read.add(generation)
        return hashes_from(transaction, generation, *others)

    monkeypatch.setattr(lookups, "hashes_from", watched)
    assert link(store) == 4 * 2 + 6
    assert read == {0, 1}


class Watcher(Progress):
    """Record how many documents another process sees whenever some are reported."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.said: list[int] = []
        self.seen: list[int] = []

    def ingested(self, counts: Counts) -> None:
        self.said.append(counts.num_added)
        self.seen.append(figures(self._url).num_documents)


# Each file is a batch, and is compared with the index separately.
SMALL = Budgets(planned_files=1, chunk_items=2, batch_documents=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four files of two texts."""
    folder = tmp_path / "folder"
    folder.mkdir()
    for number in range(4):
        write_two(folder / f"{number}.jsonl", number)
    return folder


def write_two(file: Path, number: int, *, doc_id: str | None = None) -> None:
    near, far = [f"other{number}", *WORDS], [f"{number}{one}" for one in WORDS]
    write(file, {doc_id or f"near{number}": near, f"far{number}": far})


def figures(url: str) -> Figures:
    with Index.open(url) as index:
        return index.stats().figures


def load(url: str, *paths: Path | str) -> tuple[Watcher, Counts]:
    watcher = Watcher(url)
    with Index.ensure(url, {}, progress=watcher) as index:
        report = index.ingest(paths, IngestOptions(workers=1, must_exist=False, budgets=SMALL))
    return watcher, report.counts


@pytest.mark.sqlite
def test_on_sqlite_batches_that_come_soon_are_one_transaction(folder: Path, tmp_path: Path) -> None:
    url = str(tmp_path / "index.db")
    watcher, _ = load(url, folder)
    assert (watcher.said, watcher.seen) == ([2, 4, 6, 8], [8, 8, 8, 8])
    assert audited(url) == set()


@pytest.mark.sqlite
def test_what_did_not_change_is_seen_within_the_same_transaction(folder: Path, tmp_path: Path) -> None:
    url = str(tmp_path / "index.db")
    load(url, folder)
    write_two(folder / "0.jsonl", 10)
    write_two(folder / "4.jsonl", 4)
    _, counts = load(url, folder, folder / "missing.jsonl")
    assert (counts.num_added, counts.num_unchanged, counts.num_rejected) == (4, 6, 1)
    assert audited(url) == set()


@pytest.mark.sqlite
def test_a_document_that_two_batches_of_a_transaction_have_is_the_later_one(folder: Path, tmp_path: Path) -> None:
    url = str(tmp_path / "index.db")
    for number in range(4):
        write_two(folder / f"{number}.jsonl", number, doc_id="same")
    _, counts = load(url, folder)
    assert (counts.num_added, counts.num_updated) == (5, 3)
    assert audited(url) == set()
    assert figures(url).num_contents == 5


@pytest.mark.sqlite
def test_an_error_takes_the_whole_transaction_back(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, put = str(tmp_path / "index.db"), documents.put
    calls: list[int] = []

    def failing(*arguments: object) -> documents.PutOutcome:
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("the third batch")
        return put(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(documents, "put", failing)
    with pytest.raises(RuntimeError):
        load(url, folder)
    assert figures(url).num_documents == 0
    assert audited(url) == set()
    monkeypatch.undo()
    load(url, folder)
    assert figures(url).num_documents == 8


@pytest.mark.sqlite
def test_what_comes_from_another_program_is_committed_batch_by_batch(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = str(tmp_path / "index.db")
    with (folder / "0.jsonl").open("rb") as stdin, monkeypatch.context() as patch:
        patch.setattr("sys.stdin", stdin)
        watcher, _ = load(url, folder, "-")
    assert watcher.seen == watcher.said
    assert len(set(watcher.seen)) > 1


@pytest.mark.parametrize(("pool_bytes", "num_read"), [(1, 1), (10**9, 0)])
def test_the_digests_are_read_while_the_first_of_many_documents_are_made(
    folder: Path, url: str, monkeypatch: pytest.MonkeyPatch, pool_bytes: int, num_read: int
) -> None:
    prepared, made = list[int](), list[int]()
    monkeypatch.setattr(Writer, "prepare", lambda _writer: prepared.append(len(made)))
    put = documents.put

    def counted(*given: object) -> documents.PutOutcome:
        made.append(1)
        return put(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(documents, "put", counted)
    with Index.create(url) as index:
        index.ingest([folder], IngestOptions(workers=1, budgets=dataclasses.replace(SMALL, pool_bytes=pool_bytes)))
    assert (prepared, len(made) > 0) == ([0] * num_read, True)
