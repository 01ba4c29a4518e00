"""The portrait of a cluster: its documents with their texts and dates, and the similarities of all its texts."""

from __future__ import annotations

import pytest

from lshdb import Document, Index
from lshdb.clusters.portrait import Compared

WORDS = [f"w{number}" for number in range(14)]
PARAMS = {"shingle": "word:1", "bands": 100, "rows": 1, "floor": 0.5, "min_sim": 0.6}


@pytest.fixture
def index(url: str) -> Index:
    """A chain: neighbours share 8 of 12 words, the first and the third text 6 of 14, which is below the floor."""
    index = Index.create(url, PARAMS)
    texts = {str(first): " ".join(WORDS[first : first + 10]) for first in (0, 2, 4)}
    dates = {"0": 5, "4": -7}
    index.add([Document(name, text, dated_at=dates.get(name)) for name, text in texts.items()])
    index.add([Document("copy", texts["2"].upper(), dated_at=9)], "other")
    return index


def test_every_pair_of_texts_is_compared_whether_it_is_stored_or_not(index: Index) -> None:
    with index:
        found = index.catalogue().portrait(0, 10, 10)
    assert [one.document for one in found.members] == ["0", "2", "4", "copy"]
    assert found.texts == (0, 1, 2, 1)
    assert found.dates == (5, None, -7, 9)
    assert found.pairs == (Compared(0, 1, 8 / 12, True), Compared(0, 2, 6 / 14, True), Compared(1, 2, 8 / 12, True))


def test_only_the_first_documents_and_texts_are_looked_at(index: Index) -> None:
    with index:
        catalogue = index.catalogue()
        found = catalogue.portrait(0, 3, 2)
        assert (catalogue.size(0), catalogue.num_texts(0)) == (4, 3)
    assert [len(part) for part in (found.members, found.texts, found.dates)] == [3, 3, 3]
    assert found.pairs == (Compared(0, 1, 8 / 12, True),)


def test_documents_that_are_gone_are_left_out(index: Index) -> None:
    with index:
        catalogue = index.catalogue()
        index.remove(["0", "2"])
        found = catalogue.portrait(0, 10, 10)
        assert [(one.document, text) for one, text in zip(found.members, found.texts, strict=True)] == [
            ("4", 0), ("copy", 1),
        ]  # fmt: skip
        index.remove("4")
        index.remove("copy", "other")
        assert catalogue.portrait(0, 10, 10).members == ()


def test_without_texts_similarities_are_estimates(url: str) -> None:
    with Index.create(url, {"keep_text": False}) as index:
        text = " ".join(WORDS)
        index.add([Document("a", text), Document("b", f"{text} more")])
        (pair,) = index.catalogue().portrait(0, 10, 10).pairs
    assert (pair.left, pair.right, pair.exact) == (0, 1, False)
    assert abs(pair.similarity - 10 / 11) < 0.2
