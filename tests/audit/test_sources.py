"""Documents that differ from their sources are found, and the next ingest after a repair restores them."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import ColumnElement, Table, delete, select, update

from lshdb import Document, Index, IngestOptions
from lshdb.audit import Auditing, Thoroughness
from lshdb.model.progress import Progress
from lshdb.readers import ReadOptions
from lshdb.store.schema import content, document, pair, source
from lshdb.store.store import Store
from tests.audit.indexes import fill
from tests.audit.planting import READ_AGAIN
from tests.audit.test_planted import ALL, audited, plant, repaired, undone
from tests.readers.crawls import page, response, revisit

AGAIN = "the next ingest reads its source again"
SOURCE_AGAIN = "the next ingest reads it again"
LATER = "2024-06-07T08:09:10Z"
WORDS = [f"word{number}" for number in range(200)]


def texts_of(count: int) -> list[str]:
    """Return texts that are all similar to each other."""
    words = random.Random(1).choices(WORDS, k=60)
    return [" ".join([*words, f"x{number}"]) for number in range(count)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Records, one of them empty and one with the id of another, a file of text, and a crawl with a revisit."""
    folder = tmp_path / "folder"
    folder.mkdir()
    rows = [{"id": f"a{number}", "text": one} for number, one in enumerate(texts_of(5))]
    rows += [{"id": "empty", "text": ""}, {"id": "a1", "text": "the second text of an id"}]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "no JSON\n")
    (folder / "b.txt").write_text(texts_of(7)[6])
    pages = [response(f"https://x.example/{number}", page(number)) for number in range(3)]
    again = revisit("https://x.example/1", date=LATER)
    (folder / "c.warc.gz").write_bytes(b"".join([*pages, again]))
    return folder


@pytest.fixture
def filled(url: str, folder: Path) -> str:
    """The URL of a sound index of the folder and of a document of a program."""
    with Index.ensure(url, {"shingle": "word:2"}) as index:
        assert index.ingest([folder]).counts.num_added == 10
        index.add([Document("handed over", "a text of a program")])
    assert audited(url) == set()
    return url


def documents_of(url: str) -> list[tuple[Any, ...]]:
    """Return each document with its place, date and text, and each pair of texts with its similarity."""
    joined = select(document.c.doc_id, source.c.uri, document.c.locator, document.c.dated_at, content.c.digest)
    joined = joined.outerjoin_from(document, source).outerjoin(content, content.c.content_key == document.c.content_key)
    with Store.open(url) as store, store.reading() as transaction:
        found = [tuple(row) for row in transaction.execute(joined.order_by(document.c.doc_id))]
        digests = dict(map(tuple, transaction.execute(select(content.c.content_key, content.c.digest))))
        pairs = transaction.execute(select(pair.c.left_key, pair.c.right_key, pair.c.similarity)).all()
    return found + sorted((*sorted((digests[left], digests[right])), similarity) for left, right, similarity in pairs)


def change(url: str, doc_id: str, **values: Any) -> int:
    """Change a document. Returns: its key."""
    with Store.open(url) as store, store.writing() as transaction:
        key = transaction.execute(select(document.c.doc_key).where(document.c.doc_id == doc_id)).scalar_one()
        transaction.execute(update(document).where(document.c.doc_key == key).values(**values))
        return int(key)


def drop(url: str, *doc_ids: str) -> None:
    """Delete the rows of documents."""
    with Store.open(url) as store, store.writing() as transaction:
        transaction.execute(delete(document).where(document.c.doc_id.in_(doc_ids)))


def audit_of(url: str, thoroughness: Thoroughness = ALL) -> Auditing:
    """Return a finished audit."""
    with Index.open(url) as index:
        audit = index.check(thoroughness)
        list(audit)
        return audit


def ingest(url: str, folder: Path) -> None:
    with Index.open(url) as index:
        index.ingest([folder])


@pytest.mark.parametrize("names", [READ_AGAIN[begin::7] for begin in range(7)], ids=" and ".join)
def test_the_next_ingest_after_a_repair_restores_the_documents(names: list[str], url: str, tmp_path: Path) -> None:
    fill(url, tmp_path / "folder")
    before = documents_of(url)
    for seed, name in enumerate(names):
        plant(url, [name], seed)
        assert repaired(url) == {}
        with Index.open(url) as index:
            index.ingest([tmp_path / "folder"], IngestOptions(prune=True))
        assert documents_of(url) == before
        assert audited(url) == set()


def test_a_lost_document_comes_back(filled: str, folder: Path) -> None:
    before = documents_of(filled)
    drop(filled, "a2", "https://x.example/0")
    ingest(filled, folder)
    assert documents_of(filled) != before  # The files did not change.
    with Index.open(filled) as index:
        audit = index.check(ALL)
        found = [(one.fault, one.detail, one.repair) for one in audit if one.table == "source"]
        assert found == [
            ("document-missing", f"the index lacks 1 of its documents, such as {doc_id!r}", SOURCE_AGAIN)
            for doc_id in ("a2", "https://x.example/0")
        ]
        assert index.repair(audit.counts) == 2
        assert list(index.check(ALL)) == []
    ingest(filled, folder)
    assert documents_of(filled) == before


def test_a_document_that_its_file_lost_and_another_file_still_has_comes_back(url: str, tmp_path: Path) -> None:
    (folder := tmp_path / "folder").mkdir()
    for name in "ab":
        rows = [{"id": one, "text": text} for one, text in zip(("both", name), texts_of(2), strict=True)]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Index.ensure(url, {"shingle": "word:2"}) as index:
        index.ingest([folder])
        (folder / "b.jsonl").unlink()
        index.ingest([folder], IngestOptions(prune=True))
        assert ("both" in index, "a" in index) == (False, True)
        audit = index.check(ALL)
        assert [(one.fault, one.detail) for one in audit] == [
            ("document-missing", "the index lacks 1 of its documents, such as 'both'")
        ]
        assert index.repair(audit.counts) == 1
        index.ingest([folder], IngestOptions(prune=True))
        assert ("both" in index, list(index.check(ALL))) == (True, [])


def test_two_records_of_an_id_may_have_two_documents_because_of_another_file(url: str, tmp_path: Path) -> None:
    (folder := tmp_path / "folder").mkdir()
    one, other = texts_of(2)
    for name, texts in (("a", [one]), ("b", [other, one])):
        rows = [json.dumps({"id": "both", "text": text}) for text in texts]
        (folder / f"{name}.jsonl").write_text("".join(f"{row}\n" for row in rows))
    with Index.ensure(url, {"shingle": "word:2"}) as index:
        index.ingest([folder], IngestOptions(on_conflict="qualify"))
        assert [name in index for name in ("both", f"both@{folder}/b.jsonl")] == [True, True]
        assert list(index.check(ALL)) == []
        (folder / "b.jsonl").write_text((folder / "b.jsonl").read_text() + "\n")
        index.ingest([folder], IngestOptions(on_conflict="qualify"))
        assert list(index.check(ALL)) == []


def test_each_fault_names_its_document_and_what_differs(filled: str) -> None:
    with Store.open(filled) as store:
        with store.reading() as snapshot:
            key = dict(map(tuple, snapshot.execute(select(document.c.doc_id, document.c.doc_key))))
            contents = dict(map(tuple, snapshot.execute(select(document.c.doc_id, document.c.content_key))))

        def found(table: Table, where: ColumnElement[bool], **values: Any) -> list[tuple[str, str, str, str, str]]:
            with undone(store) as transaction:
                transaction.execute(update(table).where(where).values(**values))
                auditing = Auditing(store, ALL, Progress())
                faults = [one for one in auditing.faults(transaction) if one.table in ("document", "source")]
            return [(one.fault, one.table, one.key, one.detail, one.repair) for one in faults]

        def of(doc_id: str, **values: Any) -> list[tuple[str, str, str, str, str]]:
            return found(document, document.c.doc_id == doc_id, **values)

        def of_source(**values: Any) -> list[tuple[str, str, str, str, str]]:
            return found(source, source.c.source_key == 1, **values)

        def differs(doc_id: str, what: str) -> list[tuple[str, str, str, str, str]]:
            return [("document-differs", "document", str(key[doc_id]), f"its source has {what} for {doc_id!r}", AGAIN)]

        assert of("a0", content_key=None) == differs("a0", "a text")
        assert of("a0", content_key=contents["a2"]) == differs("a0", "another text")
        assert of("empty", content_key=contents["a2"]) == differs("empty", "no text")
        assert of("a3", locator="line 99") == [
            ("locator-differs", "document", str(key["a3"]), "its source has 'a3' at another place", AGAIN)
        ]
        assert of("a0", dated_at=5) == [
            ("date-differs", "document", str(key["a0"]), "its source has another date for 'a0'", AGAIN)
        ]
        shown = "x" * 100 + "..."
        for doc_id, said in (("x" * 100, "x" * 100), ("x" * 101, shown)):
            assert found(document, document.c.doc_id == "a0", doc_id=doc_id) == [
                ("document-unknown", "document", str(key["a0"]), f"its source has no {said!r}", f"deleted; {AGAIN}"),
                ("document-missing", "source", "1", "the index lacks 1 of its documents, such as 'a0'", SOURCE_AGAIN),
            ]
        assert of_source(num_documents=8) == [
            ("source-count", "source", "1", "it has 7 documents, not 8", SOURCE_AGAIN)
        ]
        assert of_source(num_documents=5) == [
            ("source-excess", "source", "1", "6 documents of it are stored, and 5 were read", SOURCE_AGAIN),
            ("source-count", "source", "1", "it has 7 documents, not 5", SOURCE_AGAIN),
        ]
        assert of_source(position=9) == [("source-count", "source", "1", "it has 8 items, not 9", SOURCE_AGAIN)]
        assert of_source(digest=bytes(16)) == [
            ("source-digest", "source", "1", "the file has another digest, but the same size and time", SOURCE_AGAIN)
        ]


def test_a_text_that_no_document_has_makes_a_repair_look_for_the_document(filled: str, folder: Path) -> None:
    before = documents_of(filled)
    drop(filled, "a2")
    with Index.open(filled) as index:
        assert index.repair(["content-of-no-document"]) == 1
    ingest(filled, folder)
    assert documents_of(filled) == before


def test_the_date_of_a_capture_may_be_later_but_not_earlier_than_that_of_its_record(filled: str) -> None:
    key = change(filled, "https://x.example/0", dated_at=2 * 10**15)
    assert audited(filled) == set()
    change(filled, "https://x.example/0", dated_at=10**15)
    assert audited(filled) == {("date-differs", str(key))}
    change(filled, "https://x.example/0", dated_at=None)
    assert audited(filled) == {("date-differs", str(key))}


def test_documents_that_were_removed_by_their_ids_are_not_missing(filled: str, folder: Path) -> None:
    with Index.open(filled) as index:
        index.remove(["a0", "a3"])
        index.remove([str(folder / "b.txt")])
    assert audited(filled) == set()
    drop(filled, "a4")
    assert {kind for kind, _ in audited(filled)} == {"document-missing", "content-of-no-document"}


def test_a_document_that_came_back_counts_as_removed_no_longer(filled: str, folder: Path) -> None:
    with Index.open(filled) as index:
        index.remove(["a0"])
        (folder / "a.jsonl").write_text((folder / "a.jsonl").read_text() + "\n")
        index.ingest([folder])
    drop(filled, "a0")
    assert "document-missing" in {kind for kind, _ in audited(filled)}


def test_documents_that_another_source_has_taken_are_not_missing(filled: str, folder: Path) -> None:
    (folder / "d.jsonl").write_text(json.dumps({"id": "a2", "text": "a newer text"}) + "\n")
    os.utime(folder / "d.jsonl", (4 * 10**9, 4 * 10**9))
    (folder / "e.jsonl").write_text(json.dumps({"id": "a3", "text": "an older text"}) + "\n")
    os.utime(folder / "e.jsonl", (10**9, 10**9))
    ingest(filled, folder)
    with Index.open(filled) as index:
        assert index.get(f"a3@{folder / 'e.jsonl'}") is not None
    assert audited(filled) == set()


def test_records_of_sets_and_of_their_own_names_are_compared(new_url: Any, tmp_path: Path) -> None:
    (tmp_path / "sets.jsonl").write_text('{"text": ["one", "two"]}\n{"text": ["two", "one", "one"]}\n{"text": []}\n')
    url = new_url()
    with Index.ensure(url, {"shingle": "set"}) as index:
        index.ingest([tmp_path / "sets.jsonl"], IngestOptions(read=ReadOptions(id_prefix="{stem}/", base=tmp_path)))
    assert audited(url) == set()
    assert audit_of(url).num_documents == 3
    change(url, "sets/sets.jsonl#1", content_key=None)
    assert {kind for kind, _ in audited(url)} == {"document-differs"}


def test_sources_that_are_gone_or_changed_are_counted_and_not_examined(filled: str, folder: Path) -> None:
    assert audit_of(filled).unexamined == {}
    drop(filled, "a0")
    (folder / "a.jsonl").write_text("changed\n")
    (folder / "b.txt").unlink()
    os.utime(folder / "c.warc.gz", (1, 1))  # Touched only.
    audit = audit_of(filled)
    assert audit.unexamined == {"changed": 1, "gone": 1}
    assert audit.as_json()["sources_not_read"] == {"changed": 1, "gone": 1}
    assert (audit.counts, audit.num_sources, audit.num_documents) == ({"content-of-no-document": 1}, 1, 3)


def test_a_file_that_changed_within_its_size_and_time_is_a_fault(filled: str, folder: Path) -> None:
    path = folder / "b.txt"
    status = path.stat()
    path.write_text(path.read_text().replace("x6", "y6"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert {kind for kind, _ in audited(filled)} == {"document-differs", "source-digest"}
    assert repaired(filled) == {}
    ingest(filled, folder)
    assert audited(filled) == set()


def test_a_source_that_was_not_read_to_its_end_is_counted(filled: str, folder: Path) -> None:
    with Index.open(filled) as index:
        drop(filled, "a2")
        index.repair(["document-missing"])
    assert audit_of(filled).unexamined == {"unfinished": 1}


def test_a_sample_reads_about_that_many_documents(filled: str) -> None:
    for sample in range(5):
        assert audited(filled, Thoroughness(sample)) == set()
    assert (audit_of(filled, Thoroughness(0)).num_documents, audit_of(filled, Thoroughness(2)).num_documents) == (0, 2)
    assert audit_of(filled, Thoroughness(100)).num_documents == audit_of(filled).num_documents == 11


def test_a_sample_begins_with_the_sources_that_lack_documents(url: str, tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.txt").write_text(f"the text of number {number}")
    with Index.ensure(url, {"shingle": "word:2"}) as index:
        index.ingest([tmp_path], IngestOptions(include=("*.txt",)))
    drop(url, str(tmp_path / "17.txt"))
    for seed in range(3):
        assert "document-missing" in {kind for kind, _ in audited(url, Thoroughness(1, seed))}


def test_small_parts_find_the_same(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    change(filled, "a0", content_key=None)
    change(filled, "a3", locator="line 99")
    drop(filled, "a4")
    found = audited(filled)
    monkeypatch.setattr("lshdb.audit.origin.PART_DOCUMENTS", 1)
    assert audited(filled) == found
    assert {kind for kind, _ in found} >= {"document-differs", "locator-differs", "document-missing"}
