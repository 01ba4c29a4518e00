"""The views for people: they list what the commands list."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlalchemy import text

from lshdb import Document, Index, IngestOptions, ReadOptions
from lshdb.store.store import Store

SAMPLE = Path(__file__).parents[2] / "sample_data"


def ask(url: str, statement: str) -> list[tuple[Any, ...]]:
    """Return the rows of a statement."""
    with Store.open(url) as store, store.reading() as transaction:
        return [tuple(row) for row in transaction.execute(text(statement))]


def ingest_sample(index: Index) -> None:
    """Fill two collections; the second one holds copies of documents of the first."""
    for collection, folder in (("default", SAMPLE / "crawl"), ("test", SAMPLE / "crawl" / "recipes")):
        index.ingest([folder], IngestOptions(collection=collection, read=ReadOptions(base=SAMPLE)))


def test_the_view_of_pairs_lists_every_pair_of_documents_identical_ones_too(url: str) -> None:
    with Index.create(url) as index:
        ingest_sample(index)
        pairs = index.pairs(index.params.floor, expand=True)
        expected = sorted(
            (one.left, one.right, one.similarity, one.exact, one.left_collection, one.right_collection) for one in pairs
        )
    columns = "left_id, right_id, similarity, exact, left_collection, right_collection"
    found = ask(url, f"SELECT {columns} FROM lshdb_pairs")
    assert sorted((*row[:3], bool(row[3]), *row[4:]) for row in found) == expected
    assert {row[4:] for row in expected} >= {("default", "default"), ("default", "test"), ("test", "test")}
    assert {row[2] == 1.0 for row in expected} == {True, False}


def test_the_view_of_documents_lists_every_document_empty_ones_too(url: str) -> None:
    with Index.create(url) as index:
        ingest_sample(index)
        index.add([Document("mine", "one two three four five six"), Document("nothing", "")])
        num_documents = index.stats().figures.num_documents
    assert ask(url, "SELECT count(*), count(DISTINCT collection) FROM lshdb_documents") == [(num_documents, 2)]
    columns = "collection, source, locator, content_key IS NULL, num_shingles, first_seen_at = last_seen_at"
    mine = ask(url, f"SELECT doc_id, {columns} FROM lshdb_documents WHERE doc_id IN ('mine', 'nothing') ORDER BY 1")
    assert mine == [
        ("mine", "default", None, "", False, 2, True),
        ("nothing", "default", None, "", True, None, True),
    ]
