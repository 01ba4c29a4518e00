"""News stories of chrisjmccormick/MinHash, some of them plagiarised: one story per line, ``id text``."""

from __future__ import annotations

from pathlib import Path

import pytest

from lshdb import Document, Index
from tests.oracle.measured_data import data_file

# Stories of a few hundred words. With shingles of three words, as there, the copies are far above all others.
PARAMS = {"shingle": "word:3"}


def stories(path: Path) -> list[Document]:
    rows = [line.split(" ", 1) for line in path.read_text().splitlines()]
    return [Document(doc_id, text) for doc_id, text in rows]


def truth(path: Path) -> set[frozenset[str]]:
    return {frozenset(line.split()) for line in path.with_suffix(".truth").read_text().splitlines()}


@pytest.mark.parametrize(("name", "num_stories", "num_copied"), [("articles_100", 100, 5), ("articles_1000", 1000, 10)])
def test_the_plagiarised_stories_are_found_and_no_others(
    name: str, num_stories: int, num_copied: int, url: str
) -> None:
    path = data_file("mccormick", f"{name}.train")
    with Index.ensure(url, PARAMS) as index:
        assert index.add(stories(path)).counts.num_added == num_stories
        found = {frozenset((pair.left, pair.right)) for pair in index.pairs(0.5)}
        assert all(pair.exact for pair in index.pairs(0.5))
    assert len(truth(path)) == num_copied
    assert found == truth(path)


@pytest.mark.sqlite
def test_a_story_that_comes_later_finds_what_it_was_copied_from(tmp_path: Path) -> None:
    path = data_file("mccormick", "articles_100.train")
    documents = {document.doc_id: document for document in stories(path)}
    with Index.ensure(str(tmp_path / "stories.db"), PARAMS) as index:
        index.add(documents.values())
        for left, right in map(sorted, truth(path)):
            assert [match.id for match in index.query(documents[left], 0.5)] == [left, right]
            assert [match.id for match in index.query_id(right, 0.5)] == [left]
