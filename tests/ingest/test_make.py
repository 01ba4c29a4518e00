"""Splitting sources into work, which gives the same chunks in threads and processes."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lshdb.ingest.make import Chunk, Files, Records, Task, Work, cut, make
from lshdb.ingest.options import Budgets
from lshdb.model.params import Params
from lshdb.model.values import Document, Rejection
from lshdb.readers import Deferred, ReadOptions, source_file
from tests.readers.crawls import response

SMALL = Budgets(chunk_bytes=1_000, chunk_items=10, chunk_chars=1_000)
OPTIONS = ReadOptions()


def write_records(path: Path, count: int, num_words: int = 1) -> Task:
    lines = [json.dumps({"id": f"d{number}", "text": f"{number} " * num_words}) for number in range(count)]
    path.write_text("".join(f"{line}\n" for line in lines))
    return Task(source_file(path))


def write_texts(folder: Path, count: int, size: int) -> list[Task]:
    paths = [folder / f"{number}.txt" for number in range(count)]
    for path in paths:
        path.write_text("x" * size)
    return [Task(source_file(path)) for path in paths]


def works(tasks: list[Task], budgets: Budgets = SMALL) -> list[Work]:
    return list(cut(tasks, OPTIONS, budgets))


def chunks(tasks: list[Task], budgets: Budgets = SMALL) -> list[Chunk]:
    return list(make(cut(tasks, OPTIONS, budgets), Params(), OPTIONS, budgets))


def test_small_files_are_one_work_up_to_so_many_bytes_or_files(tmp_path: Path) -> None:
    tasks = write_texts(tmp_path, 25, size=1)
    assert [len(work.tasks) for work in works(tasks) if isinstance(work, Files)] == [10, 10, 5]
    tasks = write_texts(tmp_path, 5, size=500)
    assert [len(work.tasks) for work in works(tasks) if isinstance(work, Files)] == [2, 2, 1]


def test_a_large_file_is_cut_into_ranges_of_records(tmp_path: Path) -> None:
    ranges = works([write_records(tmp_path / "a.jsonl", 45)])
    assert [len(work.steps) for work in ranges if isinstance(work, Records)] == [10, 10, 10, 10, 5]
    assert [work.progress.position for work in ranges if isinstance(work, Records)] == [10, 20, 30, 40, 45]
    assert [work.progress.ended for work in ranges if isinstance(work, Records)] == [False] * 4 + [True]


def test_small_files_before_a_large_one_stay_before_it(tmp_path: Path) -> None:
    tasks = [*write_texts(tmp_path, 2, size=1), write_records(tmp_path / "a.jsonl", 45), *write_texts(tmp_path, 1, 1)]
    assert [type(work) for work in works(tasks)] == [Files, *[Records] * 5, Files]


def test_a_range_begins_after_what_was_read_before(tmp_path: Path) -> None:
    task = write_records(tmp_path / "a.jsonl", 45)
    made = chunks([Task(task.source, position=38)])
    assert [document.doc_id for chunk in made for document in chunk.documents] == [f"d{n}" for n in range(38, 45)]
    assert made[-1].sources[0].position == 45


def test_small_files_that_hold_much_text_become_several_chunks(tmp_path: Path) -> None:
    budgets = Budgets(chunk_chars=1_000)
    made = chunks([write_records(tmp_path / "a.jsonl", 10, num_words=200)], budgets)
    assert [len(chunk.documents) for chunk in made] == [3, 3, 3, 1]
    assert sum(chunk.sources[0].num_documents for chunk in made) == 10
    assert [chunk.sources[0].ended for chunk in made][-1]


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.warc", "a.sets", "a.html"])
def test_work_that_has_crossed_to_another_process_is_the_same(name: str, tmp_path: Path) -> None:
    path, options = tmp_path / name, ReadOptions(kind="set" if name == "a.sets" else "word", id_prefix="news/")
    FILES[name](path)
    params = Params(shingle="set") if name == "a.sets" else Params()
    budgets = Budgets(chunk_bytes=1)

    def made(works: Iterator[Work]) -> list[Chunk]:
        return list(make(works, params, options, budgets))

    here = made(cut([Task(source_file(path))], options, budgets))
    there = made(pickle.loads(pickle.dumps(work)) for work in cut([Task(source_file(path))], options, budgets))
    back = [pickle.loads(pickle.dumps(chunk)) for chunk in there]
    assert sum(len(chunk.documents) for chunk in here) == 2 - (name == "a.html")
    assert [chunk.documents for chunk in back] == [chunk.documents for chunk in here]
    assert [chunk.sketches.texts for chunk in back] == [chunk.sketches.texts for chunk in here]
    assert [chunk.sketches.digests.tobytes() for chunk in back] == [c.sketches.digests.tobytes() for c in here]
    assert [(chunk.rejections, chunk.sources) for chunk in back] == [(c.rejections, c.sources) for c in here]


FILES: dict[str, Callable[[Path], object]] = {
    "a.jsonl": lambda path: path.write_text('{"id": 1, "text": "one"}\nno JSON\n{"id": 2, "text": "two"}\n'),
    "a.csv": lambda path: path.write_text("id,text\n1,one\n2,two\n"),
    "a.warc": lambda path: path.write_bytes(
        response("http://a.org/", b"<p>one") + response("http://a.org/2", b"two", kind="text/plain")
    ),
    "a.sets": lambda path: path.write_text("1 a b\n2\n3 c\n"),
    "a.html": lambda path: path.write_text("<title>page</title><p>one"),
}


def test_a_document_that_does_not_suit_the_index_is_a_rejection(tmp_path: Path) -> None:
    task = write_records(tmp_path / "a.jsonl", 1)
    [chunk] = make(cut([task], OPTIONS, SMALL), Params(shingle="set"), OPTIONS, SMALL)
    reason = "this index holds sets of features, and the document is a text"
    assert chunk.rejections == (Rejection(task.source.uri, "line 1", reason),)
    assert chunk.documents == ()


def test_a_deferred_item_is_made_where_its_range_is_made(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>words")
    work, rest = cut([Task(source_file(tmp_path / "a.html"))], OPTIONS, Budgets(chunk_bytes=1))
    assert isinstance(rest, Records)
    assert (len(rest.steps), rest.progress.ended) == (0, True)
    assert isinstance(work, Records)
    [step] = work.steps
    assert isinstance(step, Deferred)
    assert isinstance(step.make(), Document)
