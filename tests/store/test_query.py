"""Queries of one document: answers, compared with shingles counted here, and the number of statements."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection

from lshdb import Document, Index, Match
from lshdb.answers import query
from lshdb.linking.comparison import text_groups
from lshdb.model.params import Params
from lshdb.store.store import Store
from tests.store.hearing import heard

WORDS = [f"word{number}" for number in range(60)]
ASKED = " ".join(WORDS)
CORPUS: Mapping[str, str] = {
    "same": ASKED,
    "same but for its case": ASKED.upper(),
    "longer": " ".join([*WORDS, "one", "more"]),
    "other start": " ".join(["new", *WORDS[3:]]),
    "half": " ".join(WORDS[:30]),
    "nothing in common": " ".join(f"other{number}" for number in range(60)),
    "empty": "",
}


def similarity(left: str, right: str) -> float:
    """Return the Jaccard similarity of two texts by their runs of five words."""
    one, other = ({tuple(words[i : i + 5]) for i in range(len(words) - 4)} for words in (left.split(), right.split()))
    return len(one & other) / len(one | other)


def filled(url: str, texts: Mapping[str, str], **chosen: Any) -> Index:
    """An index of texts by id."""
    index = Index.create(url, Params(**chosen))
    index.add([Document(doc_id, text) for doc_id, text in texts.items()])
    return index


EXPECTED = [
    Match("same", 1.0, exact=True),
    Match("same but for its case", 1.0, exact=True),
    Match("longer", similarity(ASKED, CORPUS["longer"]), exact=True),
    Match("other start", similarity(ASKED, CORPUS["other start"]), exact=True),
]


def test_a_query_finds_what_is_similar_the_most_similar_first(url: str) -> None:
    with filled(url, CORPUS) as index:
        assert index.query(Document("asked", ASKED)) == EXPECTED


def test_a_query_asks_for_the_buckets_of_the_bands_that_are(url: str) -> None:
    """The numbers of bands that took over are negative."""
    with filled(url, CORPUS) as index:
        index.reband(0.7)
        assert index.params.first_band < 0
        assert index.query(Document("asked", ASKED), 0.8) == EXPECTED


@pytest.mark.parametrize("text", ["", "quite another text with quite other words", "word1"])
def test_a_query_without_candidates_finds_nothing(url: str, text: str) -> None:
    with filled(url, CORPUS) as index:
        assert index.query(Document("asked", text)) == []


def test_a_query_of_an_empty_index_finds_nothing(url: str) -> None:
    with filled(url, {}) as index:
        assert index.query(Document("asked", ASKED)) == []


def test_a_query_of_an_index_without_texts_estimates(url: str) -> None:
    with filled(url, CORPUS, keep_text=False) as index:
        found = index.query(Document("asked", ASKED), 0.7)
    assert found[:2] == [Match("same", 1.0, exact=False), Match("same but for its case", 1.0, exact=False)]
    assert {match.id for match in found} == {match.id for match in EXPECTED}
    assert not any(match.exact for match in found)


def test_a_query_finds_all_of_a_hot_bucket_however_many_texts_are_held(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = {f"page {number}": f"{ASKED} {number}" for number in range(300)}
    with filled(url, pages) as index:
        assert index.stats().figures.num_hot_buckets
        found = index.query(Document("asked", ASKED))
        monkeypatch.setattr(query, "text_groups", partial(text_groups, group_bytes=100))
        assert index.query(Document("asked", ASKED)) == found
    assert found == [Match(doc_id, similarity(ASKED, text), exact=True) for doc_id, text in pages.items()]


@pytest.mark.sqlite
def test_a_text_of_the_index_has_its_pairs_already(tmp_path: Path) -> None:
    url = str(tmp_path / "index.db")
    with filled(url, CORPUS) as index:
        index.link()
    statements: list[str] = []

    def note(_connection: Connection, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    with Store.open(url) as store, store.reading() as transaction, heard(transaction, note):
        assert query.matches(transaction, Document("asked", ASKED), 0.8, store.params) == EXPECTED
        assert query.matches_among(transaction, Document("asked", ASKED), 0.8, store.params, 3) == EXPECTED
        assert query.matches_among(transaction, Document("asked", ASKED), 0.8, store.params, 2) is None
    assert not any("content.signature" in statement for statement in statements)


def test_a_text_of_the_index_is_compared_if_its_pairs_are_not_all_stored(url: str, tmp_path: Path) -> None:
    with filled(url, CORPUS) as index:
        below_the_floor = index.query(Document("asked", ASKED), 0.1)
        half = Match("half", similarity(ASKED, CORPUS["half"]), exact=True)
        assert below_the_floor == [*EXPECTED, half]
        more = tmp_path / "more.txt"
        more.write_text(f"{ASKED} more")
        index.ingest([more], link=False)
        assert index.stats().figures.num_unlinked == 1
        nearest = Match(str(more), similarity(ASKED, more.read_text()), exact=True)
        assert nearest in index.query(Document("asked", ASKED))


def test_a_query_takes_few_statements_and_no_temporary_table(url: str) -> None:
    filled(url, CORPUS).close()
    statements: list[str] = []

    def note(_connection: Connection, _cursor: object, statement: str, *_: object) -> None:
        statements.append(statement)

    with Store.open(url) as store, store.reading() as transaction, heard(transaction, note):
        assert query.matches(transaction, Document("asked", ASKED), 0.8, store.params) == EXPECTED
    # SQLite finds the text by its digest, and its stored pairs. No generation has a filter, so Postgres looks up the
    # contents of its buckets, their texts, and their documents.
    expected = ["SELECT", "WITH"] if store.dialect.is_local else ["SELECT"] * 4
    assert [statement.split()[0] for statement in statements] == expected
