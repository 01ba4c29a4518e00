"""How many portions become one transaction."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lshdb import batches
from lshdb.model import Document
from lshdb.params import Params
from lshdb.pipeline import sketch
from lshdb.portions import Portion

EMPTY = sketch([], Params())


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_DOCUMENTS", 10)
    monkeypatch.setattr(batches, "BATCH_BYTES", 1_000)


def portions(count: int, num_documents: int, num_bytes: int) -> Iterator[Portion]:
    for number in range(count):
        documents = tuple(Document(f"{number}-{index}", "") for index in range(num_documents))
        yield Portion(number, True, documents, EMPTY, (), (), num_bytes, 0)


def sizes(made: Iterator[Portion], num_contents: int) -> list[int]:
    return [len(batch) for batch in batches.batches(made, lambda: num_contents)]


def test_a_batch_ends_behind_so_many_documents_or_bytes() -> None:
    assert sizes(portions(7, num_documents=4, num_bytes=1), 0) == [3, 3, 1]
    assert sizes(portions(7, num_documents=1, num_bytes=500), 0) == [2, 2, 2, 1]


def test_batches_grow_with_the_index_up_to_a_bound() -> None:
    assert sizes(portions(8, num_documents=5, num_bytes=1), 40 * 10) == [2, 2, 2, 2]
    assert sizes(portions(8, num_documents=5, num_bytes=1), 40 * 20) == [4, 4]
    assert sizes(portions(20, num_documents=5, num_bytes=1), 10**9) == [8, 8, 4]
    assert sizes(portions(20, num_documents=1, num_bytes=500), 10**9) == [8, 8, 4]


def test_a_batch_ends_however_little_there_is_when_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "BATCH_SECONDS", -1.0)
    assert sizes(portions(3, num_documents=1, num_bytes=1), 0) == [1, 1, 1]
