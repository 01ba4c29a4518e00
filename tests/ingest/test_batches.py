"""The number of portions in a transaction, and the number of workers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lshdb.ingest import batches
from lshdb.ingest.portions import Portion, Task
from lshdb.model.params import Params
from lshdb.model.values import Document
from lshdb.readers import ReadOptions, SourceFile
from lshdb.sketch.sketch import sketch

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


def test_a_load_has_the_batches_that_come_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(batches.time, "monotonic", lambda: clock[0])

    def read(seconds: list[float]) -> Iterator[list[Portion]]:
        for each in seconds:
            clock[0] += each
            yield [*portions(1, 1, 1)]

    def sizes(seconds: list[float]) -> list[int]:
        return [sum(1 for _ in load) for load in batches.loads(read(seconds), 10.0)]

    assert sizes([2.0] * 12) == [4, 4, 4]
    assert sizes([1.0] * 3) == [3]
    assert sizes([4.0, 4.0, 1.0]) == [2, 1]
    # If earlier portions predict a long wait, the lock is released before it.
    assert sizes([30.0] * 3) == [1, 1, 1]
    assert sizes([]) == []


def num_workers(names: list[str], workers: int | None, options: ReadOptions | None = None, size: int = 10**9) -> int:
    files = [SourceFile(f"file:///{name}", Path(f"/{name}"), size, 0, "file:///") for name in names]
    tasks, count = batches.staffed(map(Task, files), workers, options or ReadOptions())
    assert [task.source for task in tasks] == files
    return count


@pytest.mark.parametrize(("cores", "with_pages", "without"), [(1, 1, 1), (2, 2, 1), (3, 3, 1), (8, 8, 4)])
def test_pages_are_worth_a_worker_for_each_core(
    cores: int, with_pages: int, without: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "num_cores", lambda: cores)
    for names in (["a.html"], ["a.warc.gz"], ["a.jsonl", "named by nothing"]):
        assert num_workers(names, None) == with_pages
    for names in (["a.jsonl"], ["a.jsonl.zst", "b.CSV"], ["c.parquet", "d.txt"]):
        assert num_workers(names, None) == without
    assert num_workers(["a.jsonl"], None, ReadOptions(input_format="html")) == with_pages


def test_as_many_workers_as_were_asked_for_unless_there_is_little_to_read() -> None:
    assert num_workers(["a.jsonl", "b.html"], 5) == 5
    assert num_workers(["a.html"] * 300, 5, size=100) == 1
    assert num_workers([], None) == 1
