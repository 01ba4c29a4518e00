"""Every fault of a tiny index, word for word, and a repair of one kind of fault at a time."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import delete, insert, select, update

from lshdb import Document, Index, Params
from lshdb.audit import Auditing, Thoroughness, audit, rows
from lshdb.audit.audit import _Drawing, num_in_batch
from lshdb.audit.rows import miscounted
from lshdb.errors import InvalidParams
from lshdb.model.expansion import Expansion
from lshdb.model.progress import Progress
from lshdb.sketch.texts import pack
from lshdb.store.schema import (
    band_bucket,
    content,
    content_text,
    document,
    index_params,
    key_counter,
    oversized_bucket,
    pair,
)
from lshdb.store.store import Store
from lshdb.store.tables.audit import Missing
from lshdb.store.transaction import Transaction
from tests.audit.indexes import FEW_IN_A_BUCKET, fill
from tests.audit.planting import DERIVABLE, READ_AGAIN
from tests.audit.test_planted import ALL, plant, said, undone
from tests.expanding import index_with
from tests.recovery.tables import Facts

# Single words are shingles, and each of six minima is a band; a and b share a bucket, and their similarity is 0.8.
PARAMS = Params(shingle="word:1", bands=6, rows=1, num_perm=6, floor=0.5)
FOUR, FIVE, OTHER = "ant bee cat dog", "ant bee cat dog elk", "yak zebu"
FROM_TEXT, FROM_SIGNATURE = "recomputed from the kept text", "recomputed from the signature"
LOST = "none: restore it from a backup"
WRONG_PAIR = "recomputed, or deleted below the floor"

Row = tuple[str, str, str, str, str]


@contextmanager
def opened(folder: Path, *, keep_text: bool) -> Iterator[Store]:
    """Make a sound index of three contents. Tests roll back what they change."""
    url = str(folder / "index.db")
    with Index.create(url, replace(PARAMS, keep_text=keep_text)) as index:
        index.add([Document("a", FOUR), Document("b", FIVE), Document("c", OTHER)])
    with Store.open(url) as store:
        yield store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """An index with texts."""
    with opened(tmp_path_factory.mktemp("texts"), keep_text=True) as store:
        yield store


@pytest.fixture(scope="module")
def textless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """An index without texts."""
    with opened(tmp_path_factory.mktemp("textless"), keep_text=False) as store:
        yield store


def faults(store: Store, transaction: Transaction, thoroughness: Thoroughness = ALL) -> list[Row]:
    found = Auditing(store, thoroughness, Progress()).faults(transaction)
    return [(one.fault, one.table, one.key, one.detail, one.repair) for one in found]


def of_content(**values: object) -> Callable[[Transaction], None]:
    """Change the second content."""
    return lambda transaction: transaction.execute(update(content).where(content.c.content_key == 2).values(**values))


def of_text(text: bytes) -> Callable[[Transaction], None]:
    """Replace the text of the second content."""
    mine = content_text.c.content_key == 2
    return lambda transaction: transaction.execute(update(content_text).where(mine).values(text=text))


UNVERIFIABLE = ("pair-unverifiable", "pair", "1,2", "one of its texts is not the original one", LOST)
PLANTED: dict[str, tuple[Callable[[Transaction], None], list[Row]]] = {
    "signature": (
        of_content(signature=bytes(12)),
        [("signature-differs", "content", "2", "the text has another signature", FROM_TEXT)],
    ),
    "short signature": (
        of_content(signature=bytes(11)),
        [("signature-length", "content", "2", "the text has another signature", FROM_TEXT)],
    ),
    "number of shingles": (
        of_content(num_shingles=9),
        [("num-shingles-differs", "content", "2", "the text has 5 shingles, not 9", FROM_TEXT)],
    ),
    "digest": (
        of_content(digest=bytes(16)),
        [("digest-differs", "content", "2", "the text has another digest", FROM_TEXT)],
    ),
    "another text": (
        of_text(pack(b"owl pig")),
        [("text-differs", "content_text", "2", "it is the text of another content", LOST), UNVERIFIABLE],
    ),
    "no text": (
        of_text(b"no frame"),
        [("text-unreadable", "content_text", "2", "it cannot be unpacked", LOST), UNVERIFIABLE],
    ),
    "similarity": (
        lambda transaction: transaction.execute(update(pair).values(similarity=0.75)),
        [("similarity-differs", "pair", "1,2", "stored 0.75, recomputed 0.8", WRONG_PAIR)],
    ),
    "pair": (
        lambda transaction: transaction.execute(delete(pair)),
        [
            (
                "pair-missing",
                "pair",
                "1,2",
                "its contents share a bucket, and their similarity is 0.8",
                "its contents are linked again",
            )
        ],
    ),
    "pair below the floor": (
        lambda transaction: transaction.execute(
            insert(pair).values(left_key=1, right_key=3, similarity=0.5, exact=True)
        ),
        [("similarity-differs", "pair", "1,3", "stored 0.5, recomputed 0.0", WRONG_PAIR)],
    ),
    "recall": (
        lambda transaction: transaction.execute(update(index_params).values(recall=0.25)),
        [
            (
                "params-recall",
                "index_params",
                "1",
                f"recall is 0.25; the bands promise {PARAMS.recall}",
                "set to what the bands promise",
            )
        ],
    ),
    "counter": (
        lambda transaction: transaction.execute(
            update(key_counter).where(key_counter.c.name == "content").values(last_key=2)
        ),
        [("counter-behind", "key_counter", "content", "counted to 2, and there is a key 3", "raised")],
    ),
    "oversized bucket": (
        lambda transaction: transaction.execute(
            insert(oversized_bucket).values(band=0, bucket_hash=7, num_contents=2, num_pairs=0)
        ),
        [
            ("skipped-not-hot", "oversized_bucket", "0,7", "the bucket is not that large", "deleted"),
            (
                "skipped-count",
                "oversized_bucket",
                "0,7",
                "2 contents do not leave 0 pairs that are not expanded",
                "linked and counted again",
            ),
        ],
    ),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_fault_says_what_is_wrong_and_what_a_repair_does(store: Store, name: str) -> None:
    change, expected = PLANTED[name]
    with undone(store) as transaction:
        change(transaction)
        assert faults(store, transaction) == expected


@pytest.mark.parametrize("other", [{"signature": bytes(12)}, {"num_shingles": 4}])
def test_a_text_that_has_neither_the_digest_nor_the_signature_is_of_another_content(
    store: Store, other: dict[str, object]
) -> None:
    with undone(store) as transaction:
        of_content(digest=bytes(16), **other)(transaction)
        found = [row for row in faults(store, transaction) if row[1] != "band_bucket"]
        assert found == [("text-differs", "content_text", "2", "it is the text of another content", LOST)]


def test_a_signature_of_another_length_without_a_text_is_lost(textless: Store) -> None:
    with undone(textless) as transaction:
        of_content(signature=bytes(11))(transaction)
        assert faults(textless, transaction) == [
            ("signature-length", "content", "2", "11 bytes instead of 12", LOST),
        ]


def test_an_estimate_is_compared_with_the_signatures(textless: Store) -> None:
    with undone(textless) as transaction:
        right = transaction.execute(select(pair.c.similarity)).scalar_one()
        transaction.execute(update(pair).values(similarity=0.51))
        detail = f"stored 0.51, recomputed {right}"
        assert faults(textless, transaction) == [("estimate-differs", "pair", "1,2", detail, WRONG_PAIR)]


@pytest.mark.parametrize("kind", ["store", "textless"])
def test_rows_of_buckets_that_are_missing_wrong_or_of_no_content_are_named(
    kind: str, request: pytest.FixtureRequest
) -> None:
    either: Store = request.getfixturevalue(kind)
    with undone(either) as transaction:
        mine = (band_bucket.c.band == 2, band_bucket.c.content_key == 3)
        bucket = transaction.execute(select(band_bucket.c.bucket_hash).where(*mine)).scalar_one()
        transaction.execute(update(band_bucket).where(*mine).values(bucket_hash=7))
        transaction.execute(insert(band_bucket).values(generation=0, band=4, bucket_hash=8, content_key=99))
        transaction.execute(insert(band_bucket).values(generation=0, band=6, bucket_hash=9, content_key=1))
        assert faults(either, transaction) == [
            ("bucket-of-no-band", "band_bucket", "0,6,9,1", "no bands of the index have number 6", "deleted"),
            ("bucket-missing", "band_bucket", f"2,{bucket},3", "its signature has this bucket, too", FROM_SIGNATURE),
            ("bucket-wrong", "band_bucket", "2,7,3", "its signature has another bucket in this band", "deleted"),
            ("bucket-of-no-content", "band_bucket", "4,8,99", "there is no content 99", "deleted"),
        ]


def test_wrong_buckets_of_a_wrong_signature_are_judged_by_the_text(store: Store) -> None:
    with undone(store) as transaction:
        of_content(signature=bytes(12))(transaction)
        transaction.execute(insert(band_bucket).values(generation=0, band=1, bucket_hash=7, content_key=2))
        assert [row[:3] for row in faults(store, transaction, Thoroughness(sample=0))] == [
            ("signature-differs", "content", "2"),
            ("bucket-wrong", "band_bucket", "1,7,2"),
        ]


def test_an_audit_counts_what_it_has_looked_at_and_begins_again_each_time(store: Store) -> None:
    auditing = Auditing(store, ALL, Progress())
    for _ in range(2):
        assert list(auditing) == []
        assert auditing.as_json() | {"seconds": 0} == {
            "faults": 0,
            "by_kind": {},
            "contents": 3,
            "texts_sketched": 3,
            "pairs_recomputed": 1,
            "documents_read": 0,
            "sources_read": 0,
            "sources_not_read": {},
            "seconds": 0,
        }
        assert 0 < auditing.seconds < 60


@pytest.mark.parametrize("page", [1, 2, 20])
def test_a_sample_of_pairs_has_its_size_whatever_the_pages(
    tmp_path: Path, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "PAGE_PAIRS", page)
    with Index.create(str(tmp_path / "index.db"), replace(PARAMS, floor=0.1)) as index:
        index.add(Document(str(number), f"{FOUR} {number}") for number in range(4))
        for sample, expected in ((0, 0), (5, 5), (7, 6), (None, 6)):
            auditing = index.check(Thoroughness(sample))
            assert list(auditing) == []
            assert auditing.num_pairs == expected
            assert auditing.num_texts == (4 if sample is None else min(sample, 4))


@pytest.mark.parametrize(("sample", "expected"), [(None, 10), (0, 0), (1, 1), (4, 4), (10, 10), (11, 10)])
def test_a_drawing_draws_exactly_its_sample(sample: int | None, expected: int) -> None:
    for seed in range(5):
        drawing = _Drawing(10, sample, np.random.default_rng(seed))
        drawn = [drawing.draw(count) for count in (3, 3, 4)]
        assert [len(some) for some in drawn] == [3, 3, 4]
        assert sum(int(some.sum()) for some in drawn) == expected
        assert drawing.draw(0).tolist() == []


def test_a_drawing_draws_each_item_equally_often() -> None:
    """600 of 1,200 expected for each; the standard deviation is 17."""
    chance, times = np.random.default_rng(1), np.zeros(4)
    for _ in range(1_200):
        drawing = _Drawing(4, 2, chance)
        times += np.concatenate([drawing.draw(1), drawing.draw(3)])
    assert (np.abs(times - 600) < 5 * 17.4).all()


def test_signatures_are_checked_in_batches_of_two_megabytes() -> None:
    assert [num_in_batch(num_perm) for num_perm in (1, 100, 128, 500_000, 500_001)] == [500_000, 5_000, 3_906, 1, 1]


def test_buckets_are_miscounted_unless_they_leave_out_what_their_size_does() -> None:
    """With a cap of 6 and 2 hubs, 7 contents have 21 pairs, of which 15 + 2 are expanded."""
    counts = np.array([[0, 1, 6, 0], [0, 2, 7, 4], [0, 3, 7, 5], [0, 4, 6, -1]])
    assert miscounted(counts, Expansion(cap=6, hubs=2)).tolist() == [[0, 1, 6, 0], [0, 3, 7, 5]]


def test_what_the_schema_lacks_and_the_database_finds_says_what_a_repair_does(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = [
        Missing("index-missing", "content", "by_digest", is_repairable=True),
        Missing("key-missing", "pair", "pk"),
    ]
    monkeypatch.setattr(rows.audit, "schema_faults", lambda _: lacking)
    monkeypatch.setattr(rows.audit, "damages", lambda _, full: [f"page 3 is damaged; all pages: {full}"])
    monkeypatch.setattr(rows.audit, "invalid_indexes", lambda _: [("pair", "by_right")])
    with undone(store) as transaction:
        expected = [
            ("index-missing", "content", "by_digest", "it is missing", "created"),
            ("key-missing", "pair", "pk", "it is missing", LOST),
            ("database-damaged", "", "", "page 3 is damaged; all pages: True", LOST),
            ("index-invalid", "pair", "by_right", "the database does not use it", "rebuilt"),
        ]
        assert faults(store, transaction) == expected
        expected[2] = ("database-damaged", "", "", "page 3 is damaged; all pages: False", LOST)
        assert faults(store, transaction, Thoroughness(0)) == expected
        # Without a table, nothing else can be checked.
        lacking.append(Missing("table-missing", "pair", "pair", is_fatal=True))
        transaction.execute(update(pair).values(similarity=0.75))
        assert len(faults(store, transaction)) == 5


# Repairs of one kind.


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Facts]:
    """The file of a sound index with oversized buckets, and its rows."""
    folder = tmp_path_factory.mktemp("sound")
    fill(str(folder / "index.db"), folder / "folder", expansion=FEW_IN_A_BUCKET)
    return folder / "index.db", said(str(folder / "index.db"))


@pytest.mark.parametrize("name", DERIVABLE)
def test_a_repair_of_one_kind_restores_what_it_can_derive(sound: tuple[Path, Facts], tmp_path: Path, name: str) -> None:
    url = str(shutil.copy(sound[0], tmp_path))
    kinds = {kind for kind, _ in plant(url, [name], 1)}
    with index_with(FEW_IN_A_BUCKET, url) as index:
        assert index.repair(kinds) == 0
    assert said(url) == sound[1]


@pytest.mark.parametrize("name", READ_AGAIN)
def test_a_repair_of_one_kind_has_the_source_read_again(sound: tuple[Path, Facts], tmp_path: Path, name: str) -> None:
    url = str(shutil.copy(sound[0], tmp_path))
    kinds = {kind for kind, _ in plant(url, [name], 1)}
    with index_with(FEW_IN_A_BUCKET, url) as index:
        num_sources = index.repair(kinds)
        auditing = index.check(ALL)
        # A text whose only document was lost waits for it.
        assert {fault.fault for fault in auditing} <= {"content-of-no-document"}
        assert auditing.unexamined == {"unfinished": num_sources}


def test_texts_of_no_document_are_deleted_with_their_buckets_whatever_their_signatures(tmp_path: Path) -> None:
    with opened(tmp_path, keep_text=False) as store:
        with store.writing() as transaction:
            transaction.execute(delete(document).where(document.c.doc_id.in_(["b", "c"])))
            of_content(signature=bytes(11))(transaction)
        with Index.open(tmp_path / "index.db") as index:
            index.repair(["content-of-no-document"])
            assert list(index.check(ALL)) == []
        with store.reading() as transaction:
            assert transaction.execute(select(content.c.content_key)).scalars().all() == [1]
            assert set(transaction.execute(select(band_bucket.c.content_key)).scalars()) == {1}
            assert transaction.execute(select(pair)).all() == []


def test_other_kinds_are_left_alone(sound: tuple[Path, Facts], tmp_path: Path) -> None:
    url = str(shutil.copy(sound[0], tmp_path))
    planted = plant(url, ["wrong_similarity", "missing_bucket", "counter_behind", "other_recall", "missing_view"], 3)
    with index_with(FEW_IN_A_BUCKET, url) as index:
        index.repair(["pair-missing", "text-missing"])
        assert {(fault.fault, fault.key) for fault in index.check(ALL)} == planted


def test_a_kind_that_does_not_exist_is_refused_with_those_that_do(sound: tuple[Path, Facts]) -> None:
    with (
        index_with(FEW_IN_A_BUCKET, str(sound[0])) as index,
        pytest.raises(InvalidParams, match=r"kinds is 'typo': it must be one of .*pair-missing"),
    ):
        index.repair(["pair-missing", "typo"])
