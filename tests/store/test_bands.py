"""New bands are invisible until they replace the old ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import select, text

from lshdb.errors import IndexBusy, IndexRebanded
from lshdb.ingest.removal import retire
from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.values import Document
from lshdb.store.schema import DIGEST_BAND, band_bucket, index_params, oversized_bucket, pair, unlinked
from lshdb.store.store import Store
from lshdb.store.tables import bands, documents, graph, shared_buckets
from lshdb.tuning.reband import Rebanding
from tests.store.conftest import PARAMS, Minima, add, content_key_of, count, link, linked_pairs, sketches_of

# Of the three minima, the first two are one band.
WANTED = replace(PARAMS, bands=1, rows=2, first_band=-1)
_BANDS = select(band_bucket.c.band).where(band_bucket.c.band < DIGEST_BAND)
_IN_BANDS = select(band_bucket.c.content_key).where(band_bucket.c.band < DIGEST_BAND)
CONTENTS = {"a": (1, 2, 3), "b": (1, 9, 9), "c": (1, 2, 8), "d": (7, 7, 7)}


def rebanding(store: Store, wanted: Params = WANTED) -> Rebanding:
    return Rebanding(store, wanted, Progress())


def band_numbers(store: Store) -> list[int]:
    with store.reading() as transaction:
        return sorted(set(transaction.execute(_BANDS).scalars()))


def add_now(store: Store, contents: dict[str, Minima]) -> None:
    """Store documents with the current bands of the store."""
    batch = [Document(doc_id) for doc_id in contents]
    sketches = sketches_of(list(contents.values()), store.params)
    with store.writing() as transaction:
        documents.put(transaction, batch, sketches, documents.Place(1, "default", {}))


def begin(store: Store, wanted: Params = WANTED) -> Rebanding:
    """A reband that has started and written no row."""
    one = rebanding(store, wanted)
    one._begin()
    return one


def buckets_seen(store: Store) -> dict[tuple[str, int], list[list[int]]]:
    """Return the contents of each bucket, by banding and band, as people see them."""
    statement = "SELECT banding, band, bucket_hash, content_key FROM lshdb_buckets ORDER BY content_key"
    found: dict[tuple[str, int], dict[int, list[int]]] = {}
    with store.reading() as transaction:
        for banding, band, bucket_hash, content_key in transaction.execute(text(statement)):
            found.setdefault((banding, band), {}).setdefault(bucket_hash, []).append(content_key)
    return {place: list(buckets.values()) for place, buckets in found.items()}


@pytest.fixture
def filled(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Four linked contents, and batches of two."""
    monkeypatch.setattr("lshdb.tuning.reband.BATCH_MINIMA", 6)
    add(store, CONTENTS)
    link(store)
    return store


def test_the_index_has_the_new_bands_and_no_row_of_the_old_ones(filled: Store) -> None:
    assert band_numbers(filled) == [0, 1, 2]
    rebanding(filled).reband()
    assert band_numbers(filled) == [-1]
    assert filled.params == WANTED
    with filled.reading() as transaction:
        assert count(transaction, band_bucket) == 4
        assert [count(transaction, table) for table in (pair, oversized_bucket)] == [0, 0]
        assert graph.unlinked_keys(transaction).tolist() == [1, 2, 3, 4]
    link(filled)
    assert linked_pairs(filled) == {("a", "c")}


def test_going_back_takes_the_first_numbers_again(filled: Store) -> None:
    expected = linked_pairs(filled)
    rebanding(filled).reband()
    rebanding(filled, PARAMS).reband()
    link(filled)
    assert band_numbers(filled) == [0, 1, 2]
    assert linked_pairs(filled) == expected == {("a", "b"), ("a", "c"), ("b", "c")}


def test_the_old_bands_answer_while_the_new_rows_are_written(filled: Store) -> None:
    one = begin(filled)
    assert not one._write_batch()
    assert band_numbers(filled) == [-1, 0, 1, 2]
    add(filled, {"e": (7, 0, 0)})
    assert link(filled) == 1
    assert linked_pairs(filled) == {("a", "b"), ("a", "c"), ("b", "c"), ("d", "e")}


def test_what_is_added_and_removed_meanwhile_is_in_the_new_bands_or_not(filled: Store) -> None:
    one = begin(filled)
    one._write_batch()
    add(filled, {"e": (7, 7, 0)})
    with filled.writing() as transaction:
        gone = content_key_of(transaction, "a")
        assert gone == 1
        doc_keys = transaction.execute(select(documents.document.c.doc_key).where(documents.document.c.doc_id == "a"))
        retire(transaction, documents.remove(transaction, list(doc_keys.scalars())), filled.params)
    assert not one._write_batch()
    assert one._write_batch()
    filled.reload()
    one.sweep()
    with filled.reading() as transaction:
        assert sorted(transaction.execute(_IN_BANDS).scalars()) == [2, 3, 4, 5]
    link(filled)
    assert linked_pairs(filled) == {("d", "e")}


def test_a_reband_goes_on_with_what_was_begun(filled: Store) -> None:
    begin(filled)._write_batch()
    with filled.reading() as transaction:
        assert bands.coming(transaction) == bands.Coming(WANTED.banding, 2)
    rebanding(filled).reband()
    with filled.reading() as transaction:
        assert sorted(transaction.execute(_IN_BANDS).scalars()) == [1, 2, 3, 4]
        assert bands.coming(transaction) is None


def test_a_reband_to_other_bands_gives_up_what_was_begun(filled: Store) -> None:
    first = begin(filled)
    first._write_batch()
    other = replace(PARAMS, bands=2, rows=1, first_band=-2)
    second = begin(filled, other)
    with pytest.raises(IndexBusy, match="reband to other bands is not finished"):
        first._write_batch()
    assert band_numbers(filled) == [0, 1, 2]
    second.reband()
    assert band_numbers(filled) == [-2, -1]
    with filled.reading() as transaction:
        assert count(transaction, band_bucket) == 8


def test_the_bands_that_are_there_only_change_their_promise(filled: Store) -> None:
    begin(filled)._write_batch()
    rebanding(filled, replace(PARAMS, min_sim=0.3)).reband()
    assert (filled.params.min_sim, filled.params.banding) == (0.3, PARAMS.banding)
    assert band_numbers(filled) == [0, 1, 2]
    with filled.reading() as transaction:
        assert count(transaction, unlinked) == 0
        assert bands.coming(transaction) is None
        recall = transaction.execute(select(index_params.c.recall)).scalar_one()
    assert recall == pytest.approx(1 - 0.7**3)


def test_who_opened_the_index_before_can_neither_write_nor_ask_by_the_old_bands(filled: Store) -> None:
    address = filled._address.render_as_string(hide_password=False)
    with Store.open(address) as earlier:
        rebanding(filled).reband()
        with pytest.raises(IndexRebanded, match="run the same command again") as caught, earlier.writing():
            pass
        assert caught.value.exit_code == 25
        with pytest.raises(IndexRebanded), earlier.reading():
            pass
        earlier.reload()
        add_now(earlier, {"e": (7, 7, 0)})
    with filled.reading() as transaction:
        assert np.unique(transaction.execute(_BANDS).scalars().all()).tolist() == [-1]


def test_a_reader_that_began_before_sees_the_old_bands_to_its_end(filled: Store) -> None:
    with filled.reading() as snapshot:
        before = [rows.tolist() for rows in shared_buckets.of_band(snapshot, 0)]
        with Store.open(filled._address.render_as_string(hide_password=False)) as other:
            rebanding(other).reband()
        assert [rows.tolist() for rows in shared_buckets.of_band(snapshot, 0)] == before
        assert len(before[0]) == 3


def test_an_empty_index_has_the_new_bands_at_once(store: Store) -> None:
    rebanding(store).reband()
    add_now(store, CONTENTS)
    link(store)
    assert linked_pairs(store) == {("a", "c")}


CURRENT = {
    ("current", 0): [[1, 2, 3], [4]],
    ("current", 1): [[1, 3], [2], [4]],
    ("current", 2): [[1], [2], [3], [4]],
}


def test_the_view_of_buckets_tells_current_bands_from_coming_ones_and_numbers_both_from_0(filled: Store) -> None:
    assert buckets_seen(filled) == CURRENT
    one = begin(filled)
    assert buckets_seen(filled) == CURRENT
    one._write_batch()
    assert buckets_seen(filled) == {**CURRENT, ("coming", 0): [[1], [2]]}
    one._write_batch()
    assert buckets_seen(filled) == {**CURRENT, ("coming", 0): [[1, 3], [2], [4]]}
    assert one._write_batch()
    filled.reload()
    # The old rows are still in the table, and belong to no bands.
    assert band_numbers(filled) == [-1, 0, 1, 2]
    assert buckets_seen(filled) == {("current", 0): [[1, 3], [2], [4]]}


def test_the_view_of_buckets_has_no_row_of_bands_that_were_given_up(filled: Store) -> None:
    begin(filled)._write_batch()
    with filled.writing() as transaction:
        bands.give_up(transaction)
    assert band_numbers(filled) == [-1, 0, 1, 2]
    assert buckets_seen(filled) == CURRENT


def test_the_view_of_buckets_numbers_coming_bands_from_0_if_the_current_ones_are_negative(filled: Store) -> None:
    rebanding(filled).reband()
    begin(filled, PARAMS)._write_batch()
    assert buckets_seen(filled) == {
        ("current", 0): [[1, 3], [2], [4]],
        ("coming", 0): [[1, 2]],
        ("coming", 1): [[1], [2]],
        ("coming", 2): [[1], [2]],
    }
