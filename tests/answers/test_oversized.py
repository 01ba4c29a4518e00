"""Questions about documents in oversized buckets are answered completely, on both databases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import update

from lshdb import Document, Index, Match
from lshdb.model.expansion import Expansion
from lshdb.store.schema import pair
from tests.expanding import index_with

SMALL = Expansion(cap=4, hubs=1)
WORDS = [f"word{number}" for number in range(40)]
# Pages of one template: every pair is at 0.8 or above, and most are not stored with this expansion.
PAGES = {f"page{number:02}": " ".join([*WORDS, f"number{number}"]) for number in range(30)}
OTHERS = {"alone": "no other document has any of these words in it", "empty": ""}


def filled(url: str, texts: Mapping[str, str], expansion: Expansion = SMALL, **chosen: Any) -> Index:
    """An index of texts by id, whose buckets are oversized beyond a few texts."""
    index = index_with(expansion, url, **chosen)
    index.add(Document(doc_id, text) for doc_id, text in texts.items())
    return index


def similarity(left: str, right: str, length: int = 5) -> float:
    """Return the Jaccard similarity of two texts by their runs of words."""
    one, other = (
        {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}
        for words in (left.split(), right.split())
    )
    return len(one & other) / len(one | other)


def test_a_document_of_an_oversized_bucket_is_asked_about_completely_by_id_and_by_text(url: str) -> None:
    with filled(url, PAGES | OTHERS) as index:
        assert index.stats().figures.num_skipped_pairs
        expected = [Match(name, similarity(PAGES["page20"], text), exact=True) for name, text in PAGES.items()]
        by_id = index.query_id("page20")
        assert sorted(by_id, key=lambda match: match.id) == [match for match in expected if match.id != "page20"]
        assert [match.similarity for match in by_id] == sorted((match.similarity for match in by_id), reverse=True)
        by_text = index.query(Document("asked", PAGES["page20"]))
        assert sorted(by_text, key=lambda match: match.id) == expected
        (answer,) = index.query_many([Document("asked", PAGES["page20"])])
        assert sorted(answer.matches, key=lambda match: match.id) == expected


def test_documents_with_the_same_text_are_found_in_an_oversized_bucket_too(url: str) -> None:
    with filled(url, PAGES | {"copy": PAGES["page25"]}) as index:
        found = {match.id: match.similarity for match in index.query_id("page20")}
        assert found["copy"] == found["page25"] < 1.0
        assert index.query_id("copy")[0] == Match("page25", 1.0, exact=True)
        assert len(found) == len(PAGES)


def test_documents_without_an_oversized_bucket_are_answered_as_before(url: str) -> None:
    with filled(url, PAGES | OTHERS) as index:
        assert index.query_id("alone") == []
        assert index.query_id("empty") == []


def test_a_similarity_above_what_the_bucket_has_finds_nothing(url: str) -> None:
    with filled(url, PAGES) as index:
        assert index.query_id("page20", 0.99) == []


def test_without_texts_the_answer_is_complete_and_estimated(url: str) -> None:
    with filled(url, PAGES, keep_text=False) as index:
        found = index.query_id("page20", 0.6)
        assert {match.id for match in found} == set(PAGES) - {"page20"}
        assert not any(match.exact for match in found)


def test_a_stored_similarity_is_not_computed_again(url: str) -> None:
    """A stored pair of an index without texts can be exact. Computed again, it would be an estimate."""
    with filled(url, PAGES, keep_text=False) as index:
        with index._store.writing() as transaction:
            transaction.execute(update(pair).values(similarity=0.9375, exact=True))
        found = {match.id: match for match in index.query_id("page20", 0.6)}
        assert found["page00"] == Match("page00", 0.9375, exact=True)
        assert not found["page10"].exact
