"""Which files must be read, given what the index knows."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from sqlalchemy import update

from lshdb import Index, IngestOptions, PathMissing, ReadOptions
from lshdb.ingest import plan
from lshdb.ingest.make import Task
from lshdb.ingest.options import Budgets
from lshdb.ingest.plan import Plan, resume_position
from lshdb.model.values import Rejection
from lshdb.readers import STDIN_NAME, SourceFile, changes, digest, source_file
from lshdb.store.schema import source
from lshdb.store.store import Store
from lshdb.store.tables import sources
from lshdb.store.tables.sources import DONE, READING, SourceState
from tests.store.conftest import new_store_at


def write_records(file: Path, count: int) -> None:
    records = [{"id": f"d{number}", "text": f"{number} and some words more"} for number in range(count)]
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records))


def num_bytes_read(url: str, file: Path, read: ReadOptions) -> int:
    with Index.ensure(url, {}) as index:
        return index.ingest([file], IngestOptions(read=read)).counts.num_bytes


def test_options_that_are_written_out_are_the_defaults_they_equal(url: str, tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", 3)
    # As parsed from a command line: equal to the defaults, but not identical.
    written_out = ReadOptions(text_field="".join("text"), max_text=int("10000000"))
    assert num_bytes_read(url, tmp_path / "a.jsonl", ReadOptions()) > 0
    assert num_bytes_read(url, tmp_path / "a.jsonl", written_out) == 0


def test_defaults_that_an_earlier_release_wrote_out_are_still_the_defaults(url: str, tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", 3)
    num_bytes_read(url, tmp_path / "a.jsonl", ReadOptions())
    with Store.open(url) as store, store.writing() as transaction:
        transaction.execute(update(source).values(options='{"max_text":10000000}'))
    assert num_bytes_read(url, tmp_path / "a.jsonl", ReadOptions()) == 0


def test_a_file_that_was_read_with_other_options_is_read_again(url: str, tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", 3)
    num_bytes_read(url, tmp_path / "a.jsonl", ReadOptions())
    with Index.open(url) as index:
        report = index.ingest([tmp_path / "a.jsonl"], IngestOptions(read=ReadOptions(id_prefix="news/")))
    assert report.counts.num_added == 3


def test_a_touched_file_that_cannot_be_hashed_does_not_count_as_unchanged(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    write_records(tmp_path / "a.jsonl", 3)
    num_bytes_read(url, tmp_path / "a.jsonl", ReadOptions())
    os.utime(tmp_path / "a.jsonl", (0, 0))
    monkeypatch.setattr(changes, "digest", refuse)
    assert num_bytes_read(url, tmp_path / "a.jsonl", ReadOptions()) > 0


# The plan itself.


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    with new_store_at(url) as store:
        yield store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files a, b and c, of 1, 2 and 3 bytes."""
    (made := tmp_path / "crawl").mkdir()
    for size, name in enumerate("abc", start=1):
        (made / f"{name}.txt").write_text(name * size)
    return made


def found_in(folder: Path, *names: str) -> list[SourceFile]:
    """Return the files as a walk of the folder finds them."""
    return [replace(source_file(folder / f"{name}.txt"), root=folder.as_uri()) for name in names]


def planned(store: Store, *paths: Path | str, options: IngestOptions | None = None) -> list[Plan]:
    return list(plan.plan(store, paths, options or IngestOptions()))


def state(file: SourceFile, *, position: int = 2, ended: bool = True, number: int = 1) -> SourceState:
    """What an index records of the file as it is now."""
    read = digest(file.path) if ended else None
    return SourceState(file.uri, file.size, file.mtime_ns, read, DONE if ended else READING, position, number, "{}", 1)


def record(store: Store, *states: SourceState, collection: str = "default") -> None:
    with store.writing() as transaction:
        sources.put(transaction, collection, states, 1)


def test_all_files_of_a_new_folder_are_to_be_read(store: Store, folder: Path) -> None:
    files = found_in(folder, "a", "b", "c")
    record(store, *map(state, files), collection="other")
    assert planned(store, folder) == [
        Plan(tuple(map(Task, files)), {}, (), (), 0, frozenset({folder.as_uri()}), 3, 6, is_last=True)
    ]


@pytest.mark.parametrize(("size", "expected"), [(1, [1, 1, 1, 0]), (2, [2, 1]), (3, [3, 0]), (4, [3])])
def test_files_are_compared_a_few_at_a_time(store: Store, folder: Path, size: int, expected: list[int]) -> None:
    found = planned(store, folder, options=IngestOptions(budgets=Budgets(planned_files=size)))
    assert [one.num_files for one in found] == expected
    assert [one.is_last for one in found] == [False] * (len(expected) - 1) + [True]


def test_a_file_is_unchanged_read_on_or_read_anew(store: Store, folder: Path) -> None:
    done, half, changed = found_in(folder, "a", "b", "c")
    states = [state(done), state(half, ended=False), replace(state(changed), size=9)]
    record(store, *states)
    assert planned(store, folder) == [
        Plan(
            tasks=(Task(half, 2), Task(changed, 0)),
            known={half.uri: states[1], changed.uri: states[2]},
            unchanged=(states[0],),
            unwalked=(),
            num_skipped=0,
            roots=frozenset({folder.as_uri()}),
            num_files=3,
            num_bytes=5,
            is_last=True,
        )
    ]


def test_a_touched_file_is_unchanged_if_its_content_is(store: Store, folder: Path) -> None:
    touched, rewritten, undigested = found_in(folder, "a", "b", "c")
    states = [replace(state(file), mtime_ns=5) for file in (touched, rewritten, undigested)]
    states[1], states[2] = replace(states[1], digest=b"d" * 16), replace(states[2], digest=None)
    record(store, *states)
    [found] = planned(store, folder)
    assert found.unchanged == (state(touched),)
    assert found.tasks == (Task(rewritten), Task(undigested))


def test_a_file_that_was_not_read_to_its_end_is_not_unchanged_though_its_digest_is(store: Store, folder: Path) -> None:
    [file] = found_in(folder, "a")
    record(store, replace(state(file), state=READING))
    assert planned(store, folder / "a.txt")[0].unchanged == ()


def test_standard_input_is_always_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even if a file of that name in the current folder has the digest of what was read before."""
    monkeypatch.setattr(changes, "digest", lambda _path: b"d" * 16)
    [task] = planned(store, STDIN_NAME)[0].tasks
    record(store, SourceState(task.source.uri, 0, 1, b"d" * 16, DONE, 1, 1, "{}", 1))
    [again] = planned(store, STDIN_NAME)
    assert ([one.source.uri for one in again.tasks], again.unchanged) == ([task.source.uri], ())


def test_what_was_not_found_is_named_and_what_is_not_meant_is_counted(
    store: Store, folder: Path, tmp_path: Path
) -> None:
    for target in ("elsewhere", "inside"):
        (tmp_path / target).mkdir()
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    (folder / "other").symlink_to(tmp_path / "inside")
    missing = tmp_path / "missing"
    [found] = planned(store, folder, tmp_path / "inside", missing, options=IngestOptions(must_exist=False))
    assert found.unwalked == (Rejection(missing.as_uri(), "", "No such file or directory"),)
    assert found.unfollowed == ((folder / "link").as_uri(),)
    assert found.unread == (missing.as_uri(), (folder / "link").as_uri())
    assert (found.num_skipped, found.num_files) == (1, 3)


def test_a_missing_path_is_an_error_before_anything_is_planned(store: Store, folder: Path) -> None:
    with pytest.raises(PathMissing):
        next(plan.plan(store, [folder, folder / "missing"], IngestOptions()))


def names(found: list[Plan]) -> list[str]:
    return [task.source.path.name for one in found for task in one.tasks]


def test_options_choose_the_files(store: Store, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "d.txt").write_text("d")
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    assert names(planned(store, folder, options=IngestOptions(include=("a*", "b*")))) == ["a.txt", "b.txt"]
    assert names(planned(store, folder, options=IngestOptions(exclude_globs=("b*",)))) == ["a.txt", "c.txt"]
    assert names(planned(store, folder, options=IngestOptions(exclude=frozenset({folder / "a.txt"})))) == [
        "b.txt",
        "c.txt",
    ]
    followed = IngestOptions(follow_links=True)
    assert names(planned(store, folder, options=followed)) == ["a.txt", "b.txt", "c.txt", "d.txt"]


def test_a_file_goes_on_where_it_was_left_unless_it_changed_or_was_read_to_its_end(folder: Path) -> None:
    [file] = found_in(folder, "a")
    half = state(file, ended=False)
    assert resume_position(file, half) == 2
    assert resume_position(file, None) == 0
    assert resume_position(file, state(file)) == 0
    assert resume_position(file, replace(half, size=2)) == 0
    assert resume_position(file, replace(half, mtime_ns=2)) == 0
