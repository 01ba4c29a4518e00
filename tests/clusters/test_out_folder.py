"""The folder that filtered files are written to: what is in it after each step, and what the next run finds."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import pytest

from lshdb import NotIngested, OutputExists, OutputFailed, OutputStopped
from lshdb.clusters.rows.folder import OutFolder
from lshdb.clusters.rows.options import RecordCounts, Taken
from lshdb.clusters.rows.shards import Shard
from lshdb.readers import SourceFile

COUNTS, TAKEN = RecordCounts(num_kept=2, num_dropped=1), Taken(num_records=1, num_words=7)
RELATIVE = Path("sub") / "a.txt"


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A folder with a file in a folder."""
    (tmp_path / "crawl" / "sub").mkdir(parents=True)
    (tmp_path / "crawl" / RELATIVE).write_text("a text")
    os.utime(tmp_path / "crawl" / RELATIVE, ns=(10**18, 10**18))
    return tmp_path / "crawl"


def shard_of(crawl: Path, relative: Path = RELATIVE) -> Shard:
    path = crawl / relative
    status = path.stat()
    return Shard(SourceFile(path.as_uri(), path, status.st_size, status.st_mtime_ns, crawl.as_uri()), relative, ())


def opened(crawl: Path, *, force: bool = False) -> OutFolder:
    return OutFolder(crawl.with_name("out"), force=force)


def files(crawl: Path) -> list[str]:
    """The files of the folder, without those of lshdb itself."""
    out = crawl.with_name("out")
    found = (str(path.relative_to(out)) for path in sorted(out.rglob("*")) if path.is_file())
    return [name for name in found if name != ".lshdb/written.jsonl"]


def written(folder: OutFolder, shard: Shard, content: bytes, made_of: str) -> None:
    with folder.writing(shard) as file:
        file.write(content)
    folder.complete(shard, made_of, COUNTS, TAKEN)


@pytest.mark.parametrize("link", [False, True])
def test_a_copy_has_the_bytes_and_the_time_of_its_file(crawl: Path, link: bool) -> None:
    shard = shard_of(crawl)
    with opened(crawl) as folder:
        assert not folder.has_copy(shard)
        folder.copy(shard, COUNTS, link=link)
        assert folder.has_copy(shard)
    copy = crawl.with_name("out") / RELATIVE
    assert (copy.read_text(), copy.stat().st_mtime_ns, copy.samefile(shard.file.path)) == ("a text", 10**18, link)
    assert files(crawl) == ["sub/a.txt"]


def test_a_copy_that_fails_leaves_nothing_and_names_the_file(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(_source: BinaryIO, target: BinaryIO, _size: int) -> None:
        target.write(b"a t")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", half)
    with opened(crawl) as folder, pytest.raises(OutputStopped, match=r"out/sub/a\.txt.*No space left on device"):
        folder.copy(shard_of(crawl), COUNTS, link=False)
    assert files(crawl) == []


def test_a_file_that_changes_while_it_is_copied_is_no_copy(crawl: Path) -> None:
    shard = shard_of(crawl)
    shard.file.path.write_text("another text")
    with opened(crawl) as folder, pytest.raises(NotIngested, match="has changed while it was read"):
        folder.copy(shard, COUNTS, link=False)
    assert files(crawl) == []


def test_a_written_file_is_complete_until_its_inputs_or_itself_change(crawl: Path) -> None:
    shard, place = shard_of(crawl), crawl.with_name("out") / RELATIVE
    with opened(crawl) as folder:
        written(folder, shard, b"one", "inputs")
    with opened(crawl) as folder:
        found = folder.before(shard, "inputs")
        assert found is not None
        assert (found.counts, found.taken, found.size) == (COUNTS, TAKEN, 3)
        assert folder.before(shard, "others") is None
        place.write_text("onetwo")
        assert folder.before(shard, "inputs") is None
        place.unlink()
        assert folder.before(shard, "inputs") is None


def test_the_last_of_several_entries_counts_and_half_a_line_does_no_harm(crawl: Path) -> None:
    shard = shard_of(crawl)
    (crawl / "b.txt").write_text("b")
    other = shard_of(crawl, Path("b.txt"))
    with opened(crawl) as folder:
        written(folder, shard, b"one", "first")
        written(folder, other, b"two", "other")
    listed = crawl.with_name("out") / ".lshdb" / "written.jsonl"
    listed.write_bytes(listed.read_bytes() + b'{"name": "sub/')
    with opened(crawl) as folder:
        written(folder, shard, b"three", "second")
    folder = opened(crawl)
    assert [folder.before(shard, made_of) is not None for made_of in ("first", "second")] == [False, True]
    assert folder.before(other, "other") is not None


def test_a_file_that_is_left_out_loses_its_copy_but_no_other_file_of_that_name(crawl: Path) -> None:
    shard = shard_of(crawl)
    with opened(crawl) as folder:
        folder.leave_out(shard)
        folder.copy(shard, COUNTS, link=False)
        folder.leave_out(shard)
        assert files(crawl) == []
        (crawl.with_name("out") / RELATIVE).write_text("mine")
        folder.leave_out(shard)
    assert files(crawl) == ["sub/a.txt"]


def test_only_our_own_files_are_replaced_and_others_with_force(crawl: Path) -> None:
    shard, place = shard_of(crawl), crawl.with_name("out") / RELATIVE
    opened(crawl).require_place(shard)
    with opened(crawl) as folder:
        folder.copy(shard, COUNTS, link=False)
        folder.require_place(shard)
    place.write_text("changed since")
    opened(crawl).require_place(shard)
    (crawl.with_name("out") / ".lshdb" / "written.jsonl").unlink()
    with pytest.raises(OutputExists):
        opened(crawl).require_place(shard)
    opened(crawl, force=True).require_place(shard)
    place.unlink()
    place.mkdir()
    with pytest.raises(OutputExists):
        opened(crawl).require_place(shard)


def test_no_file_is_written_among_those_that_are_read(crawl: Path) -> None:
    shard = shard_of(crawl)
    for out in (crawl, crawl / "sub"):
        with pytest.raises(OutputFailed, match="it would be among the files that are read"):
            OutFolder(out, force=True).require_place(shard)
    # A file that the caller named may have others beside it.
    named = Shard(SourceFile(shard.file.uri, shard.file.path, 6, 10**18, shard.file.uri), Path("a.txt"), ())
    with pytest.raises(OutputFailed):
        OutFolder(crawl / "sub", force=True).require_place(named)
    OutFolder(crawl, force=True).require_place(named)


def test_a_second_process_is_kept_out(crawl: Path) -> None:
    with opened(crawl), pytest.raises(OutputFailed, match="another lshdb filter is writing"), opened(crawl):
        pass


@pytest.mark.parametrize("name", [".lshdb/written.jsonl", ".lshdb"])
def test_a_link_in_place_of_a_file_of_ours_is_refused_and_its_target_kept(crawl: Path, name: str) -> None:
    victim, link = crawl.with_name("victim"), crawl.with_name("out") / name
    link.parent.mkdir(parents=True)
    if name == ".lshdb":
        victim.mkdir()
    else:
        victim.write_text("precious")
    link.symlink_to(victim)
    with pytest.raises(OutputFailed), opened(crawl):
        pass
    assert list(victim.iterdir()) == [] if victim.is_dir() else victim.read_text() == "precious"


def test_a_link_in_place_of_the_file_being_written_is_not_followed(
    crawl: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard, victim, part = shard_of(crawl), crawl.with_name("victim"), crawl.with_name("out") / ".lshdb" / "part"
    victim.write_text("precious")
    unlink = os.unlink

    def unlink_and_link(path: str, **given: int) -> None:
        with suppress(FileNotFoundError):
            unlink(path, **given)
        part.symlink_to(victim)

    with opened(crawl) as folder:
        monkeypatch.setattr(os, "unlink", unlink_and_link)
        with pytest.raises(OutputStopped, match="File exists"):
            folder.copy(shard, COUNTS, link=False)
        with pytest.raises(OutputStopped, match="File exists"):
            written(folder, shard, b"one", "inputs")
    assert victim.read_text() == "precious"


def test_a_link_in_place_of_a_folder_is_refused_before_and_while_files_are_written(crawl: Path) -> None:
    shard, elsewhere, out = shard_of(crawl), crawl.with_name("elsewhere"), crawl.with_name("out")
    elsewhere.mkdir()
    with opened(crawl) as folder:
        folder.require_place(shard)
        (out / "sub").symlink_to(elsewhere)
        with pytest.raises(OutputFailed, match="a link leads out of the folder"):
            folder.require_place(shard)
        with pytest.raises(OutputStopped):
            folder.copy(shard, COUNTS, link=False)
        with pytest.raises(OutputStopped):
            written(folder, shard, b"one", "inputs")
        shutil.copy2(shard.file.path, elsewhere / "a.txt")
        with pytest.raises(OutputStopped):
            folder.leave_out(shard)
    assert (elsewhere / "a.txt").read_text() == "a text"


def test_the_folder_may_be_a_link_that_the_caller_named(crawl: Path) -> None:
    crawl.with_name("elsewhere").mkdir()
    crawl.with_name("out").symlink_to("elsewhere")
    with opened(crawl) as folder:
        folder.require_place(shard_of(crawl))
        folder.copy(shard_of(crawl), COUNTS, link=False)
    assert (crawl.with_name("elsewhere") / RELATIVE).read_text() == "a text"


def test_only_we_may_write_to_our_subfolder(crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = crawl.with_name("out") / ".lshdb"
    with opened(crawl):
        assert own.stat().st_mode & 0o777 == 0o700
    own.chmod(0o775)
    with opened(crawl):
        assert own.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(os, "geteuid", lambda: own.stat().st_uid + 1)
    with pytest.raises(OutputFailed, match="belongs to another user"):
        opened(crawl)


def test_a_file_of_the_crawl_does_not_replace_our_list(crawl: Path) -> None:
    (crawl / ".lshdb").mkdir()
    (crawl / ".lshdb" / "written.jsonl").write_text("a forged list")
    for force in (False, True):
        with pytest.raises(OutputFailed, match=r"--exclude \.lshdb"):
            opened(crawl, force=force).require_place(shard_of(crawl, Path(".lshdb", "written.jsonl")))
