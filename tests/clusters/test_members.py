"""Documents of clusters have the same names for any size of a batch."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from lshdb import Document, Index
from lshdb.clusters import members

TEXTS = {"a": "ant bee cat dog", "b": "ant bee cat dog elk", "c": "ANT bee cat dog", "x": "yak zebu", "y": "Yak zebu"}


@pytest.mark.parametrize("count", [1, 2, 3, 4, 100])
def test_documents_are_named_with_their_similarity_to_the_kept_one(
    url: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(members, "NAMED_DOCUMENTS", count)
    with Index.create(url, {"shingle": "word:1", "bands": 100, "rows": 1, "floor": 0.5}) as index:
        index.add(Document(doc_id, text) for doc_id, text in TEXTS.items())
        index.add(Document("b", TEXTS["b"].upper()), "other")
        clusters = [astuple(one) for one in index.clusters(0.5)]
        found = list(index.members(0.5))
    first, second = (one[0] for one in clusters)
    assert clusters == [(first, "a", ("a", "b", "c", "b")), (second, "x", ("x", "y"))]
    assert [astuple(one) for one in found] == [
        (first, "a", "a", 1.0, True, "default", "default"),
        (first, "a", "b", 0.8, True, "default", "default"),
        (first, "a", "c", 1.0, True, "default", "default"),
        (first, "a", "b", 0.8, True, "other", "default"),
        (second, "x", "x", 1.0, True, "default", "default"),
        (second, "x", "y", 1.0, True, "default", "default"),
    ]
    assert [one.is_kept for one in found] == [True, False, False, False, True, False]


def test_a_document_that_is_only_connected_with_the_kept_one_has_its_similarity_too(url: str) -> None:
    """Neighbours share 8 of 12 words, the first and the third 6 of 14: below the floor of the index."""
    words = [f"w{number}" for number in range(14)]
    with Index.create(url, {"shingle": "word:1", "bands": 100, "rows": 1, "floor": 0.5, "min_sim": 0.6}) as index:
        index.add(Document(str(first), " ".join(words[first : first + 10])) for first in (0, 2, 4))
        found = [(one.document, one.similarity, one.exact) for one in index.members(0.6)]
    assert found == [("0", 1.0, True), ("2", 8 / 12, True), ("4", 6 / 14, True)]
