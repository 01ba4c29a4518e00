"""``lshdb check`` on both databases: its output, exit status and repairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sqlalchemy import delete, select, update

from lshdb.store.schema import band_bucket, document, index_params, pair
from lshdb.store.store import Store
from tests.cli.conftest import Run

WORDS = " ".join(f"word{number}" for number in range(60))


@pytest.fixture
def filled(lshdb: Run, url: str, tmp_path: Path) -> str:
    """An index of three similar contents."""
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"id": str(name), "text": f"{WORDS} {name}"}) + "\n" for name in (1, 2, 3)))
    assert lshdb(url, "ingest", path).code == 0
    return url


def tamper(url: str) -> tuple[int, int]:
    """Delete a row of band 3 and change the similarity of two pairs. Return (bucket_hash, content_key)."""
    with Store.open(url) as store, store.writing() as transaction:
        mine = (band_bucket.c.band == 3, band_bucket.c.content_key == 2)
        (bucket_hash,) = transaction.execute(select(band_bucket.c.bucket_hash).where(*mine)).scalars()
        transaction.execute(delete(band_bucket).where(*mine))
        transaction.execute(update(pair).where(pair.c.left_key == 1).values(similarity=0.75))
        return bucket_hash, 2


def test_a_good_index_has_no_fault_and_ends_with_0(lshdb: Run, filled: str) -> None:
    ended = lshdb(filled, "check")
    assert (ended.code, ended.rows) == (0, [])
    assert ended.err.startswith(
        "0 faults; 3 contents checked, 3 texts sketched, 3 pairs computed and 3 documents read again; "
    )


def test_faults_are_rows_and_the_exit_code_is_26(lshdb: Run, filled: str) -> None:
    bucket_hash, key = tamper(filled)
    ended = lshdb(filled, "check", "--format", "jsonl")
    rows = [json.loads(line) for line in ended.out.splitlines()]
    assert ended.code == 26
    assert rows[0] == {
        "fault": "bucket-missing",
        "table": "band_bucket",
        "key": f"3,{bucket_hash},{key}",
        "detail": "its signature has this bucket, too",
        "repair": "recomputed from the signature",
    }
    assert [(row["fault"], row["key"]) for row in rows[1:]] == [
        ("similarity-differs", "1,2"),
        ("similarity-differs", "1,3"),
    ]
    assert "has faults: 2 similarity-differs, 1 bucket-missing. The column repair says what" in ended.err


def test_a_limit_leaves_the_rest_of_a_kind_unlisted_and_says_so(lshdb: Run, filled: str) -> None:
    tamper(filled)
    ended = lshdb(filled, "check", "--limit", "1")
    assert [row[0] for row in ended.rows] == ["bucket-missing", "similarity-differs"]
    assert ended.err.startswith("3 faults, 1 of them not listed; ")


def test_repair_mends_and_checks_again(lshdb: Run, filled: str) -> None:
    before = lshdb(filled, "dupes").out
    tamper(filled)
    ended = lshdb(filled, "check", "--repair")
    assert (ended.code, len(ended.rows)) == (0, 3)
    assert ended.err.splitlines()[1].startswith("repaired: 0 faults; ")
    assert lshdb(filled, "check", "--all").code == 0
    assert lshdb(filled, "dupes").out == before


def test_json_is_one_object(lshdb: Run, filled: str) -> None:
    tamper(filled)
    ended = lshdb(filled, "check", "--json", "--repair")
    said = json.loads(ended.out)
    assert (ended.code, said["faults"], said["left"]["faults"]) == (0, 3, 0)
    assert said["by_kind"] == {"bucket-missing": 1, "similarity-differs": 2}
    assert (said["contents"], said["texts_sketched"], said["pairs_recomputed"]) == (3, 3, 3)


def test_without_a_sample_only_what_looks_wrong_is_recomputed(lshdb: Run, filled: str) -> None:
    tamper(filled)
    said = json.loads(lshdb(filled, "check", "--sample", "0", "--json").out)
    assert said["by_kind"] == {"bucket-missing": 1}
    assert (said["texts_sketched"], said["pairs_recomputed"]) == (1, 0)


def test_the_seed_chooses_the_sample(lshdb: Run, filled: str) -> None:
    with Store.open(filled) as store, store.writing() as transaction:
        transaction.execute(update(pair).values(similarity=0.75))

    def found(seed: int) -> str:
        [row] = lshdb(filled, "check", "--sample", 1, "--seed", seed).rows
        return row[2]

    keys = [found(seed) for seed in range(4)]
    assert len(set(keys)) > 1
    assert found(0) == keys[0]


def test_a_repair_links_the_contents_whose_buckets_it_mended(lshdb: Run, filled: str) -> None:
    before = lshdb(filled, "dupes").rows
    assert len(before) == 3
    with Store.open(filled) as store, store.writing() as transaction:
        transaction.execute(delete(band_bucket).where(band_bucket.c.content_key == 2))
        transaction.execute(delete(pair).where((pair.c.left_key == 2) | (pair.c.right_key == 2)))
    # Without a sample, the audit does not look for missing pairs.
    ended = lshdb(filled, "check", "--sample", 0, "--repair")
    assert {row[0] for row in ended.rows} == {"bucket-missing"}
    assert (ended.code, lshdb(filled, "dupes").rows) == (0, before)


def test_all_and_a_sample_is_a_usage_error(lshdb: Run, filled: str) -> None:
    assert lshdb(filled, "check", "--all", "--sample", "3").code == 2


def test_parameters_that_cannot_be_are_a_damaged_index(lshdb: Run, filled: str) -> None:
    with Store.open(filled) as store, store.writing() as transaction:
        transaction.execute(update(index_params).values(shingle="word:none"))
    ended = lshdb(filled, "check")
    assert ended.code == 24
    assert "shingle is 'word:none'" in ended.err


def test_a_lost_document_comes_back_with_the_ingest_after_a_repair(lshdb: Run, filled: str, tmp_path: Path) -> None:
    before = {frozenset(row) for row in lshdb(filled, "dupes").rows}
    with Store.open(filled) as store, store.writing() as transaction:
        transaction.execute(delete(document).where(document.c.doc_id == "2"))
    found = lshdb(filled, "check")
    assert (found.code, [row[0] for row in found.rows]) == (26, ["content-of-no-document", "document-missing"])
    ended = lshdb(filled, "check", "--repair")
    assert ended.code == 0
    assert ended.err.splitlines()[2:] == [
        "1 source not compared: 1 unfinished",
        "1 source lacks documents or differs; the next ingest reads it again",
    ]
    lshdb(filled, "ingest", tmp_path / "a.jsonl")
    assert {frozenset(row) for row in lshdb(filled, "dupes").rows} == before


def test_sources_that_are_gone_are_counted(lshdb: Run, filled: str, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").unlink()
    ended = lshdb(filled, "check")
    assert (ended.code, ended.err.splitlines()[1]) == (0, "1 source not compared: 1 gone")
    said = json.loads(lshdb(filled, "check", "--json").out)
    assert (said["documents_read"], said["sources_read"], said["sources_not_read"]) == (0, 0, {"gone": 1})
