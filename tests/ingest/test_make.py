"""Splitting sources into work, which gives the same chunks in threads and processes."""

from __future__ import annotations

import gzip
import json
import pickle
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from lshdb.ingest.make import (
    Chunk,
    Files,
    Left,
    Records,
    SourceProgress,
    Tally,
    Task,
    Work,
    cut,
    make,
    make_first,
)
from lshdb.ingest.options import Budgets
from lshdb.model.params import Params
from lshdb.model.values import Document, Rejection
from lshdb.readers import Deferred, ReadOptions, Skipped, digest, source_file
from tests.readers.crawls import response, revisit

SMALL = Budgets(chunk_bytes=1_000, chunk_items=10, chunk_chars=1_000)
OPTIONS = ReadOptions()


def write_records(path: Path, count: int, num_words: int = 1) -> Task:
    lines = [json.dumps({"id": f"d{number}", "text": f"{number} " * num_words}) for number in range(count)]
    path.write_text("".join(f"{line}\n" for line in lines))
    return Task(source_file(path))


def write_texts(folder: Path, count: int, size: int) -> list[Task]:
    folder.mkdir(exist_ok=True)
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


def compressed(task: Task) -> Task:
    path = task.source.path.with_suffix(".jsonl.gz")
    path.write_bytes(gzip.compress(task.source.path.read_bytes(), 0))
    return Task(source_file(path))


def test_a_large_file_is_cut_into_ranges_of_records(tmp_path: Path) -> None:
    ranges = works([compressed(write_records(tmp_path / "a.jsonl", 45))])
    assert [len(work.steps) for work in ranges if isinstance(work, Records)] == [10, 10, 10, 10, 5]
    assert [work.progress.num_items for work in ranges if isinstance(work, Records)] == [10, 10, 10, 10, 5]
    assert [work.progress.ended for work in ranges if isinstance(work, Records)] == [False] * 4 + [True]


def test_uncompressed_lines_are_cut_into_parts_of_equal_size(tmp_path: Path) -> None:
    task = write_records(tmp_path / "a.jsonl", 45)
    parts = [work.tasks[0].part for work in works([task]) if isinstance(work, Files) and len(work.tasks) == 1]
    sizes = [part.num_bytes for part in parts if part is not None]
    assert sum(sizes) == task.source.size
    longest = max(map(len, task.source.path.read_bytes().splitlines(keepends=True)))
    assert len(sizes) == -(-task.source.size // SMALL.chunk_bytes)
    # A part ends with the line in which its bytes end, and the last part has fewer for that.
    assert all(0 <= size - task.source.size / len(sizes) <= longest for size in sizes[:-1])
    made, whole = chunks([task]), chunks([task], Budgets())
    assert len(made) > len(parts) > 1
    assert max(len(chunk.documents) for chunk in made) == SMALL.chunk_items
    assert [one for chunk in made for one in chunk.documents] == list(whole[0].documents)
    assert sum(chunk.sources[0].num_items for chunk in made) == 45
    assert sum(chunk.num_bytes for chunk in made) == task.source.size
    assert [chunk.sources[0].ended for chunk in made] == [False] * (len(made) - 1) + [True]
    assert made[-1].sources[0].digest == whole[0].sources[0].digest == digest(task.source.path)


def test_a_part_is_not_divided_into_the_parts_of_its_file(tmp_path: Path) -> None:
    task = write_records(tmp_path / "a.jsonl", 45)
    tasks = [work.tasks[0] for work in works([task]) if isinstance(work, Files)]
    expected = [one.doc_id for chunk in chunks([task]) for one in chunk.documents]
    assert len(tasks) > 1
    assert [one.doc_id for chunk in chunks(tasks) for one in chunk.documents] == expected


def test_a_file_that_is_replaced_while_its_parts_are_read_has_not_ended(tmp_path: Path) -> None:
    task, other = write_records(tmp_path / "a.jsonl", 45), write_records(tmp_path / "other.jsonl", 45, num_words=3)
    first, *others = works([task])
    before = list(make([first], Params(), OPTIONS, SMALL))
    other.source.path.replace(task.source.path)
    after = list(make(others, Params(), OPTIONS, SMALL))
    assert before[0].documents
    assert not any(chunk.documents for chunk in after)
    assert {one.reason for chunk in after for one in chunk.rejections} == {
        "replaced by another file while it was read; the next run reads that one"
    }
    assert not any(chunk.sources[0].ended for chunk in (*before, *after))


def test_small_files_before_a_large_one_stay_before_it(tmp_path: Path) -> None:
    large = compressed(write_records(tmp_path / "a.jsonl", 45))
    tasks = [*write_texts(tmp_path, 2, size=1), large, *write_texts(tmp_path, 1, 1)]
    assert [type(work) for work in works(tasks)] == [Files, *[Records] * 5, Files]


def test_a_range_begins_after_what_was_read_before(tmp_path: Path) -> None:
    task = write_records(tmp_path / "a.jsonl", 45)
    made = chunks([Task(task.source, position=38)])
    assert [document.doc_id for chunk in made for document in chunk.documents] == [f"d{n}" for n in range(38, 45)]
    assert made[-1].sources[0].num_items == 7


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
    numbers = [(chunk.num_bytes, chunk.num_skipped, chunk.revisits) for chunk in here]
    assert [(chunk.num_bytes, chunk.num_skipped, chunk.revisits) for chunk in back] == numbers


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


def test_a_file_of_just_the_size_of_a_chunk_is_small(tmp_path: Path) -> None:
    below, above = write_texts(tmp_path / "b", 1, 1_000)[0], write_texts(tmp_path / "a", 1, 1_001)[0]
    assert [type(work) for work in works([below, above])] == [Files, Records, Records]


def test_ranges_end_after_so_many_bytes_of_records_or_characters_of_texts(tmp_path: Path) -> None:
    plain = write_records(tmp_path / "a.jsonl", 4, num_words=40)
    [one, *_] = lines = plain.source.path.read_text().splitlines()
    task = compressed(plain)
    for size, expected in ((len(one), [1, 1, 1, 1, 0]), (len(one) + 1, [2, 2, 0])):
        ranges = works([task], Budgets(chunk_bytes=size))
        assert [len(work.steps) for work in ranges if isinstance(work, Records)] == expected
    assert len(lines) == 4


@pytest.mark.parametrize("packed", [compressed, lambda task: task])
def test_a_large_file_that_is_given_up_is_not_read_further(packed: Callable[[Task], Task], tmp_path: Path) -> None:
    task = packed(write_records(tmp_path / "a.jsonl", 45))
    asked: list[str] = []

    def is_given_up(uri: str) -> bool:
        asked.append(uri)
        return len(asked) == 2

    ranges = list(cut([task], OPTIONS, SMALL, is_given_up))
    assert len(ranges) == 2
    assert asked == [task.source.uri] * 2


def progress(task: Task, num_items: int, number: int, *, ended: bool = True, opened: bool = True) -> SourceProgress:
    """What is expected of a file. Its digest is there if it was read to its end and there is something to read."""
    known = digest(task.source.path) if ended and opened else None
    return SourceProgress(task.source, num_items, number, known, ended, opened)


def write_lines(path: Path, *lines: str) -> Task:
    """Write JSON lines: a line that is a single word is a document with this id and text."""
    made = [json.dumps({"id": line, "text": line}) if line.isalnum() else line for line in lines]
    path.write_text("".join(f"{line}\n" for line in made))
    return Task(source_file(path))


def test_a_chunk_tells_what_every_file_has(tmp_path: Path) -> None:
    tasks = [
        write_lines(tmp_path / "a.jsonl", "ant", "{", "bee"),
        write_lines(tmp_path / "b.jsonl", "cat"),
        write_lines(tmp_path / "empty.jsonl"),
        replace(write_lines(tmp_path / "c.jsonl", "x", "{", "dog"), position=2),
    ]
    [chunk] = chunks(tasks, Budgets())
    assert [(one.doc_id, one.text, one.source, one.locator) for one in chunk.documents] == [
        ("ant", "", tasks[0].source.uri, "line 1"), ("bee", "", tasks[0].source.uri, "line 3"),
        ("cat", "", tasks[1].source.uri, "line 1"), ("dog", "", tasks[3].source.uri, "line 3"),
    ]  # fmt: skip
    expected = zip(tasks, (3, 1, 0, 1), (2, 1, 0, 1), strict=True)
    assert chunk.sources == tuple(progress(*one) for one in expected)
    assert [(one.source, one.locator) for one in chunk.rejections] == [(tasks[0].source.uri, "line 2")]
    assert (chunk.num_bytes, chunk.num_skipped) == (sum(task.source.size for task in tasks), 0)
    assert len(chunk.sketches) == 4


def test_a_file_that_cannot_be_opened_is_neither_open_nor_ended(tmp_path: Path) -> None:
    task = write_lines(tmp_path / "a.jsonl", "ant")
    task.source.path.unlink()
    [chunk] = chunks([task])
    assert not chunk.sources[0].opened
    assert chunk.num_bytes == 0
    assert [one.source for one in chunk.rejections] == [task.source.uri]


def test_a_file_without_a_reader_is_not_open_so_that_the_next_run_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and what follows")
    monkeypatch.delitem(sys.modules, "lshdb.readers.rows", raising=False)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    [chunk] = chunks([Task(source_file(tmp_path / "a.parquet"))], Budgets())
    assert [one.kind for one in chunk.rejections] == ["no reader"]
    assert not chunk.sources[0].opened


def test_what_is_skipped_is_counted_and_revisits_are_kept(tmp_path: Path) -> None:
    records = [
        response("http://a.org/", b"<p>one"),
        response("http://a.org/i", b"image", kind="image/png"),
        revisit("http://a.org/2", refers_to=("http://a.org/", "2024-05-01T00:00:00Z")),
    ]
    (tmp_path / "a.warc").write_bytes(b"".join(records))
    for budgets in (Budgets(), Budgets(chunk_bytes=1)):
        made = chunks([Task(source_file(tmp_path / "a.warc"))], budgets)
        assert [one.doc_id for chunk in made for one in chunk.documents] == ["http://a.org/"]
        assert sum(chunk.num_skipped for chunk in made) == 1
        [found] = [one for chunk in made for one in chunk.revisits]
        assert (found.capture.doc_id, found.named) == ("http://a.org/2", "http://a.org/")
        back = [one for chunk in made for one in pickle.loads(pickle.dumps(chunk)).revisits]
        assert back == [found]


def test_rejections_fill_a_chunk_too(tmp_path: Path) -> None:
    task = write_lines(tmp_path / "a.jsonl", *["{"] * 30)
    made = chunks([task], Budgets(chunk_chars=500))
    assert len(made) > 2
    size = len(task.source.uri) + len(made[0].rejections[0].reason)
    assert {len(chunk.rejections) for chunk in made[:-1]} == {-(-500 // size)}
    assert sum(len(chunk.rejections) for chunk in made) == 30
    assert sum(chunk.sources[0].num_items for chunk in made) == 30


def test_a_small_file_of_rejections_is_given_up(tmp_path: Path) -> None:
    tasks = [write_lines(tmp_path / "a.jsonl", *["{"] * 9), write_lines(tmp_path / "b.jsonl", "ant")]
    for made in (
        chunks(tasks, Budgets(source_rejections=4)),
        list(make_first(tasks, Left(5), Params(), OPTIONS, Budgets(source_rejections=4))),
    ):
        [chunk] = made
        assert len(chunk.rejections) == 5
        assert chunk.sources == (progress(tasks[0], 5, 0, ended=False), progress(tasks[1], 1, 1))


def test_a_source_is_given_up_beyond_a_number_and_a_share_of_rejections() -> None:
    budgets = Budgets(source_rejections=20, rejected_share=0.5)
    expected = {(0, 20): False, (0, 21): True, (20, 21): True, (21, 21): False, (22, 21): False, (60, 61): True}
    assert {numbers: Tally(*numbers).is_flood(budgets) for numbers in expected} == expected


def test_a_tally_counts_documents_and_rejections() -> None:
    tally = Tally()
    for item in (Document("a"), Rejection("a", "", "bad"), Document("b"), Skipped("a", "an image")):
        tally.count(item)
    assert tally == Tally(2, 1, Rejection("a", "", "bad"))


def test_no_work_is_no_chunk() -> None:
    assert chunks([]) == []
    assert list(make_first([], Left(5), Params(), OPTIONS, SMALL)) == []


def test_a_limit_is_taken_one_by_one_and_is_reached_when_more_is_wanted() -> None:
    left = Left(2)
    assert [left.take(), left.take(), left.is_reached, left.take(), left.is_reached] == [True, True, False, False, True]
    assert (left.number, left.take(0)) == (0, False)
    other = Left(3)
    assert (other.take(3), other.take(0), other.number, other.is_reached) == (True, False, 0, True)


def first(tasks: list[Task], number: int, budgets: Budgets = SMALL) -> tuple[list[Chunk], Left]:
    left = Left(number)
    return list(make_first(tasks, left, Params(), OPTIONS, budgets)), left


def test_the_first_documents_end_in_the_middle_of_a_file_as_if_the_run_were_killed(tmp_path: Path) -> None:
    tasks = [
        write_lines(tmp_path / "a.jsonl", "ant", "{", "bee"),
        write_lines(tmp_path / "b.jsonl", "cat", "{", "dog", "elk"),
    ]
    [chunk], left = first(tasks, 3)
    assert left.is_reached
    assert [one.doc_id for one in chunk.documents] == ["ant", "bee", "cat"]
    assert [one.locator for one in chunk.rejections] == ["line 2", "line 2"]
    assert chunk.sources == (progress(tasks[0], 3, 2), progress(tasks[1], 2, 1, ended=False))
    assert chunk.num_bytes == sum(task.source.size for task in tasks)
    [chunk], left = first(tasks, 5)
    assert not left.is_reached
    assert chunk.sources == (progress(tasks[0], 3, 2), progress(tasks[1], 4, 3))


def test_the_first_documents_come_in_chunks_of_so_much_text(tmp_path: Path) -> None:
    task = write_records(tmp_path / "a.jsonl", 5, num_words=200)
    made, _ = first([task], 9, Budgets(chunk_chars=800))
    assert [[one.doc_id for one in chunk.documents] for chunk in made] == [["d0", "d1"], ["d2", "d3"], ["d4"]]
    assert [chunk.sources for chunk in made] == [
        (progress(task, 2, 2, ended=False),), (progress(task, 2, 2, ended=False),), (progress(task, 1, 1),)
    ]  # fmt: skip
    assert sum(chunk.num_bytes for chunk in made) == task.source.size
