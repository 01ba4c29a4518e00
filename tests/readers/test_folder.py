"""The walk: files found, their order, and files skipped."""

from __future__ import annotations

import inspect
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from lshdb.errors import PathMissing, SourceUnreadable
from lshdb.model.values import MAX_NAME_BYTES, Document
from lshdb.readers import (
    OutwardLink,
    Reading,
    ReadOptions,
    Rejection,
    Skipped,
    SourceFile,
    listed,
    path_uri,
    source_at,
    stdin_source,
    walk,
)
from tests.readers.reading_files import as_nobody


def names(*paths: Path, exclude: frozenset[Path] = frozenset()) -> list[str]:
    return [found.path.name for found in walk(paths, exclude) if isinstance(found, SourceFile)]


def write(path: Path, content: str = "text") -> Path:
    os.makedirs(path.parent, exist_ok=True)  # noqa: PTH103  (Path.mkdir recurses)
    path.write_text(content)
    return path


def test_files_come_sorted_by_name_folder_by_folder(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.txt", "a/b/c.txt", "c.txt", "a.txt"):
        write(tmp_path / name)
    assert names(tmp_path) == ["c.txt", "z.txt", "a.txt", "b.txt", "c.txt"]


def test_a_file_is_described_by_uri_size_time_and_root(tmp_path: Path) -> None:
    path = write(tmp_path / "a b.txt", "four")
    os.utime(path, ns=(0, 1_234_567_890_123_456_789))
    [found] = walk([tmp_path])
    assert found == SourceFile(
        uri=f"{tmp_path.as_uri()}/a%20b.txt",
        path=path,
        size=4,
        mtime_ns=1_234_567_890_123_456_789,
        root=tmp_path.as_uri(),
    )


def test_a_named_file_is_its_own_root(tmp_path: Path) -> None:
    [found] = walk([write(tmp_path / "a.txt")])
    assert isinstance(found, SourceFile)
    assert found.root == found.uri
    assert found.named


def test_two_dots_in_a_path_are_resolved_and_symbolic_links_are_not(tmp_path: Path) -> None:
    write(tmp_path / "real" / "a.txt")
    (tmp_path / "link").symlink_to("real")
    [found] = walk([tmp_path / "real" / ".." / "link"])
    assert isinstance(found, SourceFile)
    assert found.path == tmp_path / "link" / "a.txt"


def test_a_relative_path_gives_the_same_uri_as_an_absolute_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a.txt")
    monkeypatch.chdir(tmp_path)
    assert list(walk(["a.txt"])) == list(walk([tmp_path / "a.txt"]))


def test_a_linked_file_is_read_and_a_linked_folder_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    (tmp_path / "b.txt").symlink_to("a.txt")
    (tmp_path / "loop").symlink_to(".")
    assert [type(found) for found in walk([tmp_path])] == [SourceFile, SourceFile, Skipped]
    assert list(walk([tmp_path]))[-1] == Skipped(f"{tmp_path.as_uri()}/loop", "symbolic link to a folder")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with a text, beside the folder ``in`` that links to both."""
    write(tmp_path / "out" / "secret.txt")
    write(tmp_path / "in" / "page.txt")
    (tmp_path / "in" / "file.txt").symlink_to(tmp_path / "out" / "secret.txt")
    (tmp_path / "in" / "folder").symlink_to("../out")
    return tmp_path / "in"


def linked(*paths: Path) -> list[str]:
    """Return the files of a walk that follows links, below the first path."""
    found = walk(paths, follow_links=True)
    return [os.path.relpath(one.path, paths[0]) for one in found if isinstance(one, SourceFile)]


def test_a_link_that_leads_out_of_the_folder_is_not_followed(outside: Path) -> None:
    assert names(outside) == ["page.txt"]
    links = [found for found in walk([outside]) if isinstance(found, OutwardLink)]
    assert [found.source for found in links] == [f"{outside.as_uri()}/{name}" for name in ("file.txt", "folder")]
    # A path that the caller names is the caller's choice.
    assert names(outside / "folder") == ["secret.txt"]
    assert names(outside / "file.txt") == ["file.txt"]


def test_a_link_to_another_of_the_paths_is_no_way_out(outside: Path) -> None:
    assert names(outside, outside.parent / "out") == ["file.txt", "page.txt", "secret.txt"]


def test_a_link_that_leads_out_is_followed_on_request(outside: Path) -> None:
    assert linked(outside) == ["file.txt", "folder/secret.txt", "page.txt"]


def test_a_loop_of_links_ends_and_each_folder_is_entered_once(outside: Path) -> None:
    out = outside.parent / "out"
    write(out / "deep" / "note.txt")
    (out / "back").symlink_to("../in")
    (out / "again").symlink_to(".")
    (outside / "up").symlink_to("..")
    (outside / "z").symlink_to("../out/deep")
    assert linked(outside) == ["file.txt", "folder/deep/note.txt", "folder/secret.txt", "page.txt"]


def test_paths_that_links_lead_to_keep_their_own_names(outside: Path) -> None:
    out = outside.parent / "out"
    (outside / "up").symlink_to("..")
    assert linked(outside, out) == ["file.txt", "page.txt", "../out/secret.txt"]


def test_a_link_that_leads_out_is_chosen_by_the_patterns(outside: Path) -> None:
    assert not [found for found in walk([outside], exclude_globs=["f*"]) if isinstance(found, OutwardLink)]
    assert len([found for found in walk([outside], include_globs=["p*"]) if isinstance(found, OutwardLink)]) == 1


def test_links_that_lead_nowhere_are_rejected_with_their_reason(tmp_path: Path) -> None:
    (tmp_path / "gone").symlink_to("nothing")
    (tmp_path / "self").symlink_to("self")
    reasons = [found.reason for found in walk([tmp_path]) if isinstance(found, Rejection)]
    assert reasons == ["broken symbolic link", "Too many levels of symbolic links"]


def test_pipes_and_sockets_are_skipped_without_being_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        reasons = [found.reason for found in walk([tmp_path]) if isinstance(found, Skipped)]
    assert reasons == ["not a regular file", "not a regular file"]


def test_a_named_pipe_that_was_asked_for_is_rejected(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    assert list(walk([tmp_path / "pipe.txt"])) == [Rejection(f"{tmp_path.as_uri()}/pipe.txt", "", "not a regular file")]


def test_hidden_files_are_read_and_version_control_is_not(tmp_path: Path) -> None:
    for name in (".hidden.txt", ".config/a.txt", ".git/config", ".hg/store", ".svn/entries"):
        write(tmp_path / name)
    assert names(tmp_path) == ["a.txt", ".hidden.txt"]


def test_excluded_files_are_passed_over(tmp_path: Path) -> None:
    for name in ("lshdb.db", "lshdb.db-wal", "lshdb.db.txt"):
        write(tmp_path / name)
    assert names(tmp_path, exclude=frozenset({tmp_path / "lshdb.db", tmp_path / "lshdb.db-wal"})) == ["lshdb.db.txt"]


def test_a_missing_path_is_an_error_before_anything_is_walked(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    with pytest.raises(PathMissing, match=r"b\.txt: no such file or folder"):
        walk([tmp_path / "a.txt", tmp_path / "b.txt"])


def test_a_path_that_is_named_twice_or_lies_under_another_is_walked_once(tmp_path: Path) -> None:
    inner = write(tmp_path / "a" / "b.txt")
    write(tmp_path / "c.txt")
    assert names(tmp_path, tmp_path, tmp_path / "a", inner) == ["c.txt", "b.txt"]


def test_a_name_that_is_not_utf8_or_has_a_line_end_survives_in_the_uri(tmp_path: Path) -> None:
    for name in (b"caf\xe9.txt", b"two\nlines.txt"):
        (Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))).write_text("text")
    uris = [found.uri for found in walk([tmp_path]) if isinstance(found, SourceFile)]
    assert uris == [f"{tmp_path.as_uri()}/caf%E9.txt", f"{tmp_path.as_uri()}/two%0Alines.txt"]
    assert uris == [found.path.as_uri() for found in walk([tmp_path]) if isinstance(found, SourceFile)]


def test_a_folder_that_may_not_be_read_is_rejected_and_the_others_are_walked(public_path: Path) -> None:
    write(public_path / "closed" / "a.txt")
    write(public_path / "open" / "b.txt")
    (public_path / "closed").chmod(0o700 if os.geteuid() == 0 else 0)
    found = as_nobody(lambda: list(walk([public_path])))
    (public_path / "closed").chmod(0o755)
    assert found[0] == Rejection(f"{public_path.as_uri()}/closed", "", "Permission denied")
    assert [type(each) for each in found[1:]] == [SourceFile]


def test_a_file_that_vanishes_during_the_walk_is_rejected(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    doomed = write(tmp_path / "b.txt")
    found = walk([tmp_path])
    next(found)
    doomed.unlink()
    assert list(found) == [Rejection(doomed.as_uri(), "", "it no longer exists")]


def test_a_folder_that_vanishes_during_the_walk_is_rejected(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    (tmp_path / "b").mkdir()
    found = walk([tmp_path])
    next(found)
    (tmp_path / "b").rmdir()
    assert list(found) == [Rejection(f"{tmp_path.as_uri()}/b", "", "No such file or directory")]


def test_a_file_with_the_longest_address_is_found_and_one_with_a_longer_one_is_not(tmp_path: Path) -> None:
    # A byte of such a name takes three characters of the address.
    folder = tmp_path.joinpath(*[os.fsdecode(b"\xe9" * 180)] * 4)
    left = MAX_NAME_BYTES - len(f"{folder.as_uri()}//")
    longest = write(folder / ("d" * (left // 2)) / ("f" * (left - left // 2)))
    longer = write(longest.with_name(longest.name + "f"))
    first, second = walk([tmp_path])
    assert isinstance(first, SourceFile)
    assert (first.path, len(first.uri)) == (longest, 2_600)
    reason = "its address is too long: 2,601 bytes; at most 2,600 are possible"
    assert second == Rejection(longer.as_uri(), "", reason)


def test_the_file_of_an_address_is_found_until_it_is_gone(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9 1.txt")
    [found] = walk([write(path)])
    assert isinstance(found, SourceFile)
    assert source_at(found.uri) == found
    path.unlink()
    assert source_at(found.uri) is None


def test_folders_nest_deeper_than_python_recurses(tmp_path: Path) -> None:
    write(tmp_path.joinpath(*["d"] * 400, "a.txt"))
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)
    try:
        assert names(tmp_path) == ["a.txt"]
    finally:
        sys.setrecursionlimit(limit)


def test_an_empty_folder_gives_nothing(tmp_path: Path) -> None:
    assert list(walk([tmp_path])) == []


def globbed(root: Path, include: list[str], exclude: list[str]) -> list[str]:
    found = walk([root], include_globs=include, exclude_globs=exclude)
    return [str(each.path.relative_to(root)) for each in found if isinstance(each, SourceFile)]


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ([], [], ["a/b/c.html", "a/d.txt", "e.html", "f.HTML"]),
        (["*.html"], [], ["a/b/c.html", "e.html"]),
        (["*.html", "*.txt"], ["a/b"], ["a/d.txt", "e.html"]),
        (["*.[hH][tT][mM][lL]"], [], ["a/b/c.html", "e.html", "f.HTML"]),
        (["a/*"], [], ["a/b/c.html", "a/d.txt"]),
        (["./a/?/*"], [], ["a/b/c.html"]),
        ([], ["a"], ["e.html", "f.HTML"]),
        ([], ["a/b/"], ["a/d.txt", "e.html", "f.HTML"]),
        ([], ["?.html"], ["a/d.txt", "f.HTML"]),
        (["*.html"], ["*"], []),
    ],
)
def test_globs_fit_the_path_below_the_root_or_the_name(
    tmp_path: Path, include: list[str], exclude: list[str], expected: list[str]
) -> None:
    for name in ("a/b/c.html", "a/d.txt", "e.html", "f.HTML"):
        write(tmp_path / name)
    assert globbed(tmp_path, include, exclude) == expected


def test_globs_hold_for_named_files_by_their_name(tmp_path: Path) -> None:
    paths = [write(tmp_path / "a.html"), write(tmp_path / "a.css")]
    assert [found.path.name for found in walk(paths, include_globs=["*.html"])] == ["a.html"]  # type: ignore[union-attr]


def test_a_folder_that_is_excluded_is_not_entered(public_path: Path) -> None:
    write(public_path / "closed" / "a.txt")
    (public_path / "closed").chmod(0o700 if os.geteuid() == 0 else 0)
    found = as_nobody(lambda: list(walk([public_path], exclude_globs=["closed"])))
    (public_path / "closed").chmod(0o755)
    assert found == []


def test_a_missing_path_of_a_list_is_rejected_and_the_others_are_walked(tmp_path: Path) -> None:
    gone, there = tmp_path / "gone.txt", write(tmp_path / "there.txt")
    first, second = walk([gone, there], must_exist=False)
    assert first == Rejection(gone.as_uri(), "", "No such file or directory")
    assert isinstance(second, SourceFile)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (b"a.txt\nb c.txt\n\n", ["a.txt", "b c.txt"]),
        (b"a.txt\r\nb.txt", ["a.txt", "b.txt"]),
        (b"a.txt\0two\nlines.txt\0", ["a.txt", "two\nlines.txt"]),
        (b"caf\xe9.txt\n", [os.fsdecode(b"caf\xe9.txt")]),
        (b"", []),
    ],
)
def test_a_list_names_a_path_a_line(tmp_path: Path, raw: bytes, expected: list[str]) -> None:
    (tmp_path / "list").write_bytes(raw)
    assert listed(tmp_path / "list") == expected


def test_a_list_is_read_from_the_standard_input_of_this_process(tmp_path: Path) -> None:
    (tmp_path / "list").write_bytes(b"a\nb\n")
    before = os.dup(0)
    try:
        with (tmp_path / "list").open() as stdin:
            os.dup2(stdin.fileno(), 0)
        assert listed("-") == ["a", "b"]
    finally:
        os.dup2(before, 0)
        os.close(before)


def test_a_list_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PathMissing):
        listed(tmp_path / "list")
    with pytest.raises(SourceUnreadable, match="is a folder"):
        listed(tmp_path)


def python(program: str, stdin: bytes) -> list[str]:
    answer = subprocess.run([sys.executable, "-c", program], input=stdin, capture_output=True, timeout=60, check=True)
    return answer.stdout.decode().splitlines()


def test_a_list_may_come_from_standard_input() -> None:
    assert python("from lshdb.readers import listed; print(listed('-'))", b"a\nb\n") == ["['a', 'b']"]


STDIN = """
from lshdb.readers import ReadOptions, Reading, walk
[source] = walk(["-"])
reading = Reading(source, ReadOptions())
for item in reading:
    print(item.source, item.doc_id, item.locator, item.text)
print(reading.num_bytes, len(reading.digest))
"""


def test_a_dash_is_standard_input_whatever_its_format() -> None:
    assert python(STDIN, b"one two") == ["stdin: -  one two", "7 16"]
    assert python(STDIN, b'{"id": 7, "text": "one"}\n') == ["stdin: 7 line 1 one", "25 16"]


def test_standard_input_is_never_as_it_was_and_is_no_file() -> None:
    first, second = stdin_source(), stdin_source()
    assert first.is_stdin
    assert first.named
    assert first.mtime_ns < second.mtime_ns
    assert source_at(first.uri) is None
    assert path_uri("-") == first.uri == first.root == "stdin:"


def test_a_file_named_dash_is_read_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "-", "words")
    [source] = walk(["./-"])
    assert isinstance(source, SourceFile)
    [item] = Reading(source, ReadOptions())
    assert isinstance(item, Document)
    assert item.text == "words"
