"""Documents that a program adds individually, and the runs that this creates."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lshdb import BadDocument, Document, Index, StoreError
from lshdb.store.store import Store

WORDS = "one two three four five six seven eight nine ten"


def counts(index: Index) -> list[tuple[str, str, int]]:
    return [(row.collection, row.state, row.num_added) for row in index.runs()]


def test_single_documents_share_a_run_and_several_at_once_have_their_own(index: Index) -> None:
    reports = [index.add(Document(str(number), f"{WORDS} {number}")) for number in range(5)]
    assert len({report.run for report in reports}) == 1
    assert [report.pairs_added for report in reports] == [0, 1, 2, 3, 4]
    assert counts(index) == [("default", "finished", 5)]
    index.add(Document("x", "other"), "news")
    index.add([Document("y", "yet another")])
    index.add(Document("z", "and another"))
    assert counts(index) == [("default", "finished", 1), ("news", "finished", 1), ("default", "finished", 6)]


def test_a_run_of_single_documents_ends_after_some_time(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lshdb.index.SMALL_RUN_SECONDS", 0.0)
    for number in range(3):
        index.add(Document(str(number), WORDS))
    assert len(index.runs()) == 3
    assert len(index.runs(2)) == 2


def test_a_document_that_goes_to_an_old_run_changes_the_state(index: Index) -> None:
    index.add(Document("a", WORDS))
    for number in range(6):
        with ThreadPoolExecutor(1) as other:
            other.submit(index.add, Document(f"other {number}", f"text {number}")).result()
    states = [index.state()]
    for text in (WORDS, WORDS, "another text"):
        assert index.add(Document("b", text)).run == 1
        states.append(index.state())
    assert states[1] == states[2]
    assert len(set(states)) == 3


def test_a_run_whose_first_document_is_bad_is_not_continued(index: Index) -> None:
    with pytest.raises(BadDocument):
        index.add(Document("", WORDS))
    index.add(Document("a", WORDS))
    assert counts(index) == [("default", "finished", 1), ("default", "failed", 0)]


def test_a_buffer_adds_when_it_is_full_and_at_its_end(index: Index) -> None:
    with index.buffered(size=3, seconds=1000.0) as buffer:
        for number in range(8):
            buffer.add(Document(str(number), f"text {number}"))
        assert (len(index), len(buffer)) == (6, 2)
        buffer.flush()
        assert (len(index), len(buffer)) == (8, 0)
        buffer.add(Document("last", "the last text"))
    assert "last" in index
    assert len(index.runs()) == 1


def test_a_buffer_refuses_a_bad_document_and_keeps_the_good_ones(index: Index) -> None:
    with index.buffered() as buffer:
        buffer.add(Document("good", WORDS))
        with pytest.raises(BadDocument):
            buffer.add(Document("", WORDS))
    assert ("good" in index, len(index)) == (True, 1)


def test_a_buffer_adds_after_some_seconds_without_another_call(index: Index) -> None:
    added = threading.Event()
    with index.buffered(seconds=0.05) as buffer:
        write = buffer._write

        def noted(held: list[Document]) -> None:
            write(held)
            added.set()

        buffer._write = noted
        buffer.add(Document("a", WORDS))
        assert added.wait(60)
        assert "a" in index


def test_what_could_not_be_added_stays_in_the_buffer(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = index.buffered(size=2, seconds=1000.0)
    with monkeypatch.context() as broken:

        def fail(*_: object) -> None:
            raise StoreError(url="here", reason="down")

        broken.setattr(Store, "write", fail)
        buffer.add(Document("a", WORDS))
        with pytest.raises(StoreError):
            buffer.add(Document("b", "another text"))
    assert len(buffer) == 2
    buffer.flush()
    assert len(index) == 2


def test_a_buffer_has_one_run_whichever_thread_adds(index: Index) -> None:
    with index.buffered(seconds=1000.0) as buffer:
        for number in range(3):
            buffer.add(Document(str(number), f"text {number}"))
            thread = threading.Thread(target=buffer.flush)
            thread.start()
            thread.join()
    assert counts(index) == [("default", "finished", 3)]


def test_an_index_remembers_the_runs_of_a_thread_and_not_those_of_a_buffer_that_is_gone(index: Index) -> None:
    with index.buffered() as buffer:
        buffer.add(Document("a", WORDS))
    assert not vars(index._small_runs)
    index.add(Document("b", WORDS))
    assert list(vars(index._small_runs)) == ["default"]
    thread = threading.Thread(target=lambda: index.put(Document("c", WORDS), collection="other"))
    thread.start()
    thread.join()
    assert list(vars(index._small_runs)) == ["default"]
    assert [row.num_added for row in index.runs()] == [1, 1, 1]
