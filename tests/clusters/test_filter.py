"""Original records that are kept, written to a folder: which, from which files, and what happens half-way."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from lshdb import (
    ClusterOptions,
    FilterOptions,
    FilterReport,
    Index,
    IngestOptions,
    LshdbError,
    NothingToRead,
    NotIngested,
    OutputExists,
    OutputFailed,
    OutputStopped,
    ReadOptions,
    RecordCounts,
    RecordsUnknown,
    UsageError,
)
from lshdb.clusters.rows import shards as rows_shards
from lshdb.clusters.rows.formats import FORMATS
from lshdb.readers import READERS, changes


def words(first: int) -> str:
    """Return a text that is like no other one."""
    return " ".join(f"w{number}" for number in range(first, first + 20))


def line(doc_id: str, first: int, **others: object) -> bytes:
    """Return a JSON line with more fields than lshdb reads."""
    return json.dumps({"meta": {"n": first}, "id": doc_id, "text": words(first), **others}).encode() + b"\n"


A, B, C, D = line("a", 0), line("b", 100), line("copy of a", 0, lang="de"), line("d", 200)


def ingested(url: str, *paths: Path, options: IngestOptions | None = None) -> str:
    with Index.ensure(url) as index:
        index.ingest(paths, options)
    return url


def filtered(url: str, paths: Path | list[Path], out: Path, options: FilterOptions | None = None) -> FilterReport:
    with Index.open(url) as index:
        return index.filter(paths, out, options=options)


def test_the_records_of_every_reader_can_be_filtered() -> None:
    assert {reader.name for reader in READERS if reader.holds_records} == set(FORMATS)


def test_kept_lines_are_written_as_they_are_under_the_names_of_their_files(
    url: str, shards: Path, tmp_path: Path
) -> None:
    report = filtered(ingested(url, shards), shards, tmp_path / "out")
    assert (tmp_path / "out" / "1.jsonl").read_bytes() == A + b"\n" + B
    assert (tmp_path / "out" / "sub" / "2.jsonl").read_bytes() == D.rstrip()
    assert report.counts == RecordCounts(num_kept=3, num_dropped=1)
    assert (report.num_files, report.num_elsewhere, report.failed) == (2, 0, ())


def test_dropped_lines_are_written_instead(url: str, shards: Path, tmp_path: Path) -> None:
    report = filtered(ingested(url, shards), shards, tmp_path / "out", FilterOptions(dropped=True))
    assert (tmp_path / "out" / "1.jsonl").read_bytes() == b""
    assert (tmp_path / "out" / "sub" / "2.jsonl").read_bytes() == C
    assert report.counts == RecordCounts(num_kept=3, num_dropped=1)


def test_policies_choose_what_is_kept(url: str, shards: Path, tmp_path: Path) -> None:
    chosen = FilterOptions(clusters=ClusterOptions(prefer=("^copy",)))
    filtered(ingested(url, shards), shards, tmp_path / "out", chosen)
    assert (tmp_path / "out" / "1.jsonl").read_bytes() == b"\n" + B
    assert (tmp_path / "out" / "sub" / "2.jsonl").read_bytes() == C + D.rstrip()


COMPRESSIONS: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    ".gz": (gzip.compress, gzip.decompress),
    ".zst": (zstandard.compress, zstandard.decompress),
    ".bz2": (bz2.compress, bz2.decompress),
    ".xz": (lzma.compress, lzma.decompress),
}


def stream_decompressed(suffix: str, raw: bytes) -> bytes:
    """Return the content of a compressed file, as the tool of its compression reads it."""
    if suffix == ".zst":
        return zstandard.ZstdDecompressor().decompressobj().decompress(raw)
    return COMPRESSIONS[suffix][1](raw)


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_a_compressed_file_stays_compressed(url: str, tmp_path: Path, suffix: str) -> None:
    # More than one block of a parallel compression.
    lines = [line(str(number), 50 * number) for number in range(3_000)]
    source = tmp_path / f"in.jsonl{suffix}"
    source.write_bytes(COMPRESSIONS[suffix][0](b"".join([*lines, *(line(f"again {n}", 50 * n) for n in range(99))])))
    filtered(ingested(url, source), source, tmp_path / "out")
    assert stream_decompressed(suffix, (tmp_path / "out" / source.name).read_bytes()) == b"".join(lines)


def test_a_file_without_anything_to_leave_out_is_copied_as_it_is(url: str, tmp_path: Path) -> None:
    # Two members, which a compression of our own would join.
    source = tmp_path / "in.jsonl.gz"
    source.write_bytes(gzip.compress(A) + gzip.compress(B))
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert (tmp_path / "out" / source.name).read_bytes() == source.read_bytes()
    assert report.counts == RecordCounts(num_kept=2)


@pytest.mark.parametrize("first", [A + B, A + C])
def test_a_file_that_the_disk_cannot_read_again_is_reported(
    first: bytes, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "1.jsonl").write_bytes(first)
    (tmp_path / "2.jsonl").write_bytes(D)
    paths = [tmp_path / "1.jsonl", tmp_path / "2.jsonl"]
    ingested(url, *paths)
    inode, pread = paths[0].stat().st_ino, os.pread

    class Failing(io.FileIO):
        def read(self, _num_bytes: int | None = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    def opened(path: Path) -> io.FileIO:
        return Failing(path) if path == paths[0] else io.FileIO(path)

    def failing(descriptor: int, num_bytes: int, position: int) -> bytes:
        if os.fstat(descriptor).st_ino == inode:
            raise OSError(5, "Input/output error")
        return pread(descriptor, num_bytes, position)

    monkeypatch.setattr("lshdb.clusters.rows.opened.open_regular", opened)
    monkeypatch.setattr(os, "pread", failing)
    report = filtered(url, paths, tmp_path / "out")
    assert [(one.source, one.reason) for one in report.failed] == [(paths[0].as_uri(), "Input/output error")]
    assert (tmp_path / "out" / "2.jsonl").read_bytes() == D


def test_records_are_told_apart_by_their_place_and_not_by_their_id(url: str, tmp_path: Path) -> None:
    one, other = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    for path, firsts in ((one, (0, 100)), (other, (0, 200))):
        path.write_bytes(b"".join(json.dumps({"text": words(first)}).encode() + b"\n" for first in firsts))
    filtered(ingested(url, one, other), [one, other], tmp_path / "out")
    assert (tmp_path / "out" / "1.jsonl").read_bytes() == one.read_bytes()
    assert (tmp_path / "out" / "2.jsonl").read_bytes() == other.read_bytes().splitlines(keepends=True)[1]


REJECTED = b'{"id": "bad"}\n'


@pytest.mark.parametrize(("unknown", "expected"), [("keep", REJECTED + A + B), ("drop", A + B)])
def test_records_that_were_rejected_are_kept_or_dropped_as_asked(
    url: str, tmp_path: Path, unknown: str, expected: bytes
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(REJECTED + A + C + B)
    options = FilterOptions(unknown=unknown)  # type: ignore[arg-type]
    report = filtered(ingested(url, source), source, tmp_path / "out", options)
    assert (tmp_path / "out" / "in.jsonl").read_bytes() == expected
    assert report.counts == RecordCounts(num_kept=2, num_dropped=1, num_rejected=1)
    assert report.counts.num_records == 4


def test_unknown_records_can_be_an_error_that_leaves_nothing_half_written(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(REJECTED + A + C)
    with pytest.raises(RecordsUnknown) as raised:
        filtered(ingested(url, source), source, tmp_path / "out", FilterOptions(unknown="error"))
    assert (raised.value.path, raised.value.number) == (source, 1)
    assert not (tmp_path / "out" / "in.jsonl").exists()


def test_a_record_whose_id_another_one_took_is_not_in_the_index(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(line("a", 300) + A + C)
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert report.counts == RecordCounts(num_kept=1, num_dropped=1, num_unknown=1)
    assert (tmp_path / "out" / "in.jsonl").read_bytes() == line("a", 300) + A


def test_a_record_in_the_place_of_one_that_an_earlier_run_rejected_is_not_rejected(url: str, tmp_path: Path) -> None:
    other, source = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    other.write_bytes(D)
    source.write_bytes(REJECTED + B)
    ingested(url, other, source)
    source.write_bytes(A + B + A)
    report = filtered(ingested(url, other, source), [other, source], tmp_path / "out")
    assert report.counts == RecordCounts(num_kept=3, num_dropped=1)
    assert (tmp_path / "out" / "2.jsonl").read_bytes() == B + A


def test_records_that_repeat_the_id_and_the_text_of_another_one_are_dropped(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    again, other, empty = line("a", 0, lang="de"), line("a", 300), line("empty", 0, text="")
    source.write_bytes(A + other + empty + b"\n" + REJECTED + empty + again + B + A)
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert report.counts == RecordCounts(num_kept=3, num_dropped=3, num_unknown=1, num_rejected=1)
    assert report.num_elsewhere == 0
    assert (tmp_path / "out" / "in.jsonl").read_bytes() == other + b"\n" + REJECTED + empty + B + A
    report = filtered(url, source, tmp_path / "dropped", FilterOptions(dropped=True))
    assert (tmp_path / "dropped" / "in.jsonl").read_bytes() == A + empty + again
    # The second line ends a run that may have no unknown records.
    with pytest.raises(RecordsUnknown):
        filtered(url, source, tmp_path / "none", FilterOptions(unknown="error"))


@pytest.mark.parametrize("on_conflict", [None, "replace", "keep", "qualify", "error"])
def test_shards_that_overlap_keep_one_record_of_each_text(url: str, tmp_path: Path, on_conflict: Any) -> None:
    one, other = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    one.write_bytes(A + B)
    other.write_bytes(B + D)
    ingested(url, one, other, options=IngestOptions(on_conflict=on_conflict))
    report = filtered(url, [one, other], tmp_path / "out")
    assert report.counts == RecordCounts(num_kept=3, num_dropped=1)
    assert (tmp_path / "out" / "1.jsonl").read_bytes() == A
    assert (tmp_path / "out" / "2.jsonl").read_bytes() == B + D
    alone = filtered(url, one, tmp_path / "alone")
    assert (alone.counts, alone.num_elsewhere) == (RecordCounts(num_kept=1, num_dropped=1), 1)


def test_a_repetition_of_a_document_with_a_qualified_id_is_dropped(url: str, tmp_path: Path) -> None:
    one, other = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    one.write_bytes(A)
    other.write_bytes(line("a", 300) + line("a", 300))
    ingested(url, one, other, options=IngestOptions(on_conflict="qualify"))
    report = filtered(url, [one, other], tmp_path / "out")
    assert report.counts == RecordCounts(num_kept=2, num_dropped=1)


def test_a_record_stays_if_the_one_that_it_repeated_is_gone(url: str, tmp_path: Path) -> None:
    one, other = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    one.write_bytes(A)
    other.write_bytes(A + B)
    ingested(url, one, other)
    other.write_bytes(B)
    ingested(url, other)
    report = filtered(url, [one, other], tmp_path / "out")
    assert report.counts == RecordCounts(num_kept=1, num_unknown=1)
    assert (tmp_path / "out" / "1.jsonl").read_bytes() == A


def test_repetitions_count_in_each_collection_of_a_file(url: str, shards: Path, tmp_path: Path) -> None:
    (shards / "3.jsonl").write_bytes(A + D)
    ingested(url, shards / "3.jsonl", options=IngestOptions(collection="one"))
    ingested(url, shards, options=IngestOptions(collection="other"))
    report = filtered(url, shards, tmp_path / "out", FilterOptions(clusters=ClusterOptions(within="other")))
    assert report.counts == RecordCounts(num_kept=3, num_dropped=3)
    # In the collection "one", the records of this file are documents of its own.
    assert filtered(url, shards, tmp_path / "both").counts.num_unknown == 0


def test_records_that_vanished_from_a_file_do_not_count_for_their_place(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_bytes(A + C + B)
    ingested(url, source)
    # Line 2 was a copy of line 1; now it is another record, and the copy is still in the index.
    source.write_bytes(A + B + D)
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert (tmp_path / "out" / "in.jsonl").read_bytes() == A + B + D
    assert report.counts == RecordCounts(num_kept=3)


def test_records_that_are_dropped_for_documents_of_other_files_are_counted(
    url: str, shards: Path, tmp_path: Path
) -> None:
    report = filtered(ingested(url, shards), shards / "sub", tmp_path / "out")
    assert report.counts == RecordCounts(num_kept=1, num_dropped=1)
    assert report.num_elsewhere == 1


def test_one_collection_can_be_filtered_by_itself(url: str, shards: Path, tmp_path: Path) -> None:
    ingested(url, shards / "1.jsonl", options=IngestOptions(collection="one"))
    ingested(url, shards / "sub", options=IngestOptions(collection="other"))
    alone = FilterOptions(clusters=ClusterOptions(within="other"))
    assert filtered(url, shards / "sub", tmp_path / "out", alone).counts == RecordCounts(num_kept=2)
    assert filtered(url, shards / "sub", tmp_path / "all").counts == RecordCounts(num_kept=1, num_dropped=1)


def test_a_file_in_two_collections_keeps_its_records(url: str, shards: Path, tmp_path: Path) -> None:
    for collection in ("one", "other"):
        ingested(url, shards, options=IngestOptions(collection=collection))
    report = filtered(url, shards, tmp_path / "out")
    assert report.counts == RecordCounts(num_kept=3, num_dropped=1)


def test_names_relative_to_a_base_make_no_difference(url: str, shards: Path, tmp_path: Path) -> None:
    ingested(url, shards, options=IngestOptions(read=ReadOptions(base=shards, id_prefix="x/")))
    assert filtered(url, shards, tmp_path / "out").counts == RecordCounts(num_kept=3, num_dropped=1)


# CSV and TSV.

HEADER = b'\xef\xbb\xbf"id",note,text\r\n'
ROWS = [
    f'1,"two\r\nlines, ""quoted""\n","{words(0)}"\r\n'.encode(),
    b"\r\n",
    f"2,plain,{words(100)}\n".encode(),
    f'3,"\n\n",{words(0)}\n'.encode(),
    b"too,few\n",
    f"4,\xe9 \xff,{words(200)}".encode("latin-1"),
]


def test_a_document_below_the_threshold_is_kept(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    near = json.dumps({"id": "near", "text": words(0) + " more"}).encode() + b"\n"  # 16 of 17 shingles
    source.write_bytes(A + near)
    with Index.open(ingested(url, source)) as index:
        assert index.filter(source, tmp_path / "out").counts == RecordCounts(num_kept=1, num_dropped=1)
        assert index.filter(source, tmp_path / "more", 0.95).counts == RecordCounts(num_kept=2)


def test_a_header_of_several_lines_may_begin_with_a_byte_order_mark(url: str, tmp_path: Path) -> None:
    rows = [b'\xef\xbb\xbf"a\nnote",id,text\n', *(f",{n},{words(n % 2 * 100)}\n".encode() for n in range(3))]
    source = tmp_path / "in.csv"
    source.write_bytes(b"".join(rows))
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert (tmp_path / "out" / "in.csv").read_bytes() == b"".join(rows[:-1])
    assert report.counts == RecordCounts(num_kept=2, num_dropped=1)


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_rows_of_csv_are_copied_with_their_quotes_and_line_ends(url: str, tmp_path: Path, suffix: str) -> None:
    pack, unpack = COMPRESSIONS.get(suffix, (bytes, bytes))
    source, out = tmp_path / f"in.csv{suffix}", tmp_path / "out" / f"in.csv{suffix}"
    source.write_bytes(pack(HEADER + b"".join(ROWS)))
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert unpack(out.read_bytes()) == HEADER + b"".join(ROWS[:3] + ROWS[4:])
    assert report.counts == RecordCounts(num_kept=3, num_dropped=1, num_rejected=1)
    filtered(url, source, tmp_path / "dropped", FilterOptions(dropped=True))
    assert unpack((tmp_path / "dropped" / source.name).read_bytes()) == HEADER + ROWS[3]


def test_rows_of_csv_that_are_too_long_are_rejected(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lshdb.readers.lines.BLOCK_BYTES", 50)
    monkeypatch.setattr("lshdb.readers.base.MAX_LINE_BYTES", 200)
    monkeypatch.setattr("lshdb.readers.base.MAX_BYTES_A_BYTE", 1)
    begin = f'2,{words(0)},"'.encode()
    longest, longer = begin.ljust(200, b"x") + b"\n", begin.ljust(201, b"x") + b"\n"
    # The longer line is read as an empty one, so that its quote does not take the next row.
    rows = [b"id,text,note\n", longest, b'end"\n', longer, f"3,{words(100)},\n".encode()]
    (tmp_path / "in.csv").write_bytes(b"".join(rows))
    read = ReadOptions(max_text=200)
    ingested(url, tmp_path / "in.csv", options=IngestOptions(read=read))
    report = filtered(url, tmp_path / "in.csv", tmp_path / "out", FilterOptions(unknown="drop"))
    assert (tmp_path / "out" / "in.csv").read_bytes() == b"".join(rows[:3] + rows[4:])
    assert report.counts == RecordCounts(num_kept=2, num_rejected=1)


def test_rows_of_tsv_too(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.tsv"
    rows = [f"{number}\t{words(first)}\n" for number, first in enumerate((0, 100, 0))]
    source.write_text("id\ttext\n" + "".join(rows))
    filtered(ingested(url, source), source, tmp_path / "out")
    assert (tmp_path / "out" / "in.tsv").read_text() == "id\ttext\n" + "".join(rows[:2])


# Files that are one document each.


def test_files_that_are_documents_are_copied_with_their_times(url: str, pages: Path, tmp_path: Path) -> None:
    (pages / "image.bin").write_bytes(bytes(range(256)))
    report = filtered(ingested(url, pages), pages, tmp_path / "out")
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == [".lshdb", "a.txt", "b.txt", "empty.txt", "image.bin"]
    assert (tmp_path / "out" / "a.txt").stat().st_mtime_ns == (pages / "a.txt").stat().st_mtime_ns
    assert report.counts == RecordCounts(num_kept=3, num_dropped=1, num_unknown=1)
    assert report.num_left_out == 1


def test_a_file_whose_document_was_removed_is_unknown(url: str, pages: Path, tmp_path: Path) -> None:
    with Index.open(ingested(url, pages)) as index:
        index.remove([str(pages / "b.txt")])
    report = filtered(url, pages, tmp_path / "out")
    assert report.counts == RecordCounts(num_kept=2, num_dropped=1, num_unknown=1)


def test_files_can_be_hard_links(url: str, pages: Path, tmp_path: Path) -> None:
    filtered(ingested(url, pages), pages, tmp_path / "out", FilterOptions(link=True))
    assert (tmp_path / "out" / "a.txt").samefile(pages / "a.txt")


def test_a_file_that_is_dropped_now_disappears_from_the_folder(url: str, pages: Path, tmp_path: Path) -> None:
    ingested(url, pages)
    filtered(url, pages, tmp_path / "out")
    filtered(url, pages, tmp_path / "out", FilterOptions(clusters=ClusterOptions(prefer=("copy",))))
    assert sorted(path.name for path in (tmp_path / "out").glob("*.txt")) == ["b.txt", "copy.txt", "empty.txt"]


# Again, and half-way.


def test_complete_files_are_left_as_they_are(url: str, shards: Path, tmp_path: Path) -> None:
    first = filtered(ingested(url, shards), shards, tmp_path / "out")
    inodes = [path.stat().st_ino for path in sorted((tmp_path / "out").rglob("*.jsonl"))]
    second = filtered(url, shards, tmp_path / "out")
    assert [path.stat().st_ino for path in sorted((tmp_path / "out").rglob("*.jsonl"))] == inodes
    assert (second.num_present, second.counts, second.num_elsewhere) == (2, first.counts, 0)


def test_a_file_is_written_again_if_other_records_of_it_are_kept(url: str, shards: Path, tmp_path: Path) -> None:
    filtered(ingested(url, shards), shards, tmp_path / "out")
    chosen = FilterOptions(clusters=ClusterOptions(prefer=("^copy",)))
    assert filtered(url, shards, tmp_path / "out", chosen).num_present == 0
    assert (tmp_path / "out" / "sub" / "2.jsonl").read_bytes() == C + D.rstrip()


def test_a_file_that_was_changed_or_deleted_in_the_folder_is_written_again(
    url: str, shards: Path, tmp_path: Path
) -> None:
    filtered(ingested(url, shards), shards, tmp_path / "out")
    (tmp_path / "out" / "1.jsonl").unlink()
    (tmp_path / "out" / "sub" / "2.jsonl").write_bytes(b"")
    assert filtered(url, shards, tmp_path / "out").num_present == 0
    assert (tmp_path / "out" / "1.jsonl").read_bytes() == A + b"\n" + B
    assert (tmp_path / "out" / "sub" / "2.jsonl").read_bytes() == D.rstrip()


def test_a_full_disk_ends_the_filter_and_the_next_one_continues(
    url: str, shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingested(url, shards)
    synced: list[int] = []

    def full(descriptor: int) -> None:
        synced.append(descriptor)
        # One for the first file, one for the list of complete files, and the third for the second file.
        if len(synced) == 3:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(OutputStopped, match="No space left on device"):
            filtered(url, shards, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").rglob("*.jsonl") if path.name[0].isdigit()] == ["1.jsonl"]
    report = filtered(url, shards, tmp_path / "out")
    assert (report.num_present, report.counts) == (1, RecordCounts(num_kept=3, num_dropped=1))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 5))
def test_a_filter_that_is_killed_leaves_complete_files_only_and_the_next_one_continues(
    url: str, shards: Path, tmp_path: Path, number: int
) -> None:
    ingested(url, shards)
    program = (
        "import os, signal, sys; from lshdb import Index; calls = []\n"
        "def fsync(_): calls.append(1); len(calls) == int(sys.argv[1]) and os.kill(os.getpid(), signal.SIGKILL)\n"
        "os.fsync = fsync; Index.open(sys.argv[2]).filter(sys.argv[3], sys.argv[4])"
    )
    call = [sys.executable, "-c", program, str(number), url, str(shards), str(tmp_path / "out")]
    assert subprocess.run(call, check=False).returncode == -signal.SIGKILL
    complete = {"1.jsonl": A + b"\n" + B, "2.jsonl": D.rstrip()}
    for path in (tmp_path / "out").rglob("[12].jsonl"):
        assert path.read_bytes() == complete[path.name]
    report = filtered(url, shards, tmp_path / "out")
    assert report.num_present == (number > 2)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("[12].jsonl")} == complete
    assert [path.name for path in (tmp_path / "out" / ".lshdb").iterdir()] == ["written.jsonl"]


def test_half_a_line_in_the_list_of_complete_files_does_no_harm(url: str, shards: Path, tmp_path: Path) -> None:
    filtered(ingested(url, shards), shards, tmp_path / "out")
    with (tmp_path / "out" / ".lshdb" / "written.jsonl").open("ab") as file:
        file.write(b'{"name": "1.js')
    assert filtered(url, shards, tmp_path / "out").num_present == 2
    chosen = FilterOptions(dropped=True)
    filtered(url, shards, tmp_path / "out", chosen)
    assert filtered(url, shards, tmp_path / "out", chosen).num_present == 2


# Refusals: nothing is written.


def refused(url: str, paths: Path | list[Path], out: Path, kind: type[LshdbError]) -> LshdbError:
    with pytest.raises(kind) as raised:
        filtered(url, paths, out)
    assert not list(out.rglob("*.jsonl")) or out.name != "out"
    return raised.value


def test_a_file_that_is_not_in_the_index_is_refused(url: str, shards: Path, tmp_path: Path) -> None:
    ingested(url, shards)
    (shards / "new.jsonl").write_bytes(A)
    error = refused(url, shards, tmp_path / "out", NotIngested)
    assert str(error) == f"{shards}/new.jsonl is not in the index. Run first: lshdb ingest {shards}/new.jsonl"
    assert filtered(url, shards, tmp_path / "out", FilterOptions(exclude_globs=("new*",))).num_files == 2


def test_a_file_that_has_changed_is_refused_but_not_one_that_was_only_touched(
    url: str, shards: Path, tmp_path: Path
) -> None:
    ingested(url, shards)
    os.utime(shards / "1.jsonl", ns=(1, 1))
    assert filtered(url, shards, tmp_path / "touched").num_files == 2
    (shards / "1.jsonl").write_bytes(A + b"\n" + B.replace(b"w1", b"w2"))
    assert "has changed since it was ingested" in str(refused(url, shards, tmp_path / "out", NotIngested))


def test_a_file_of_another_size_has_changed_whatever_its_time(url: str, shards: Path, tmp_path: Path) -> None:
    ingested(url, shards)
    at = (shards / "1.jsonl").stat().st_mtime_ns
    (shards / "1.jsonl").write_bytes(A + B)
    os.utime(shards / "1.jsonl", ns=(at, at))
    assert "has changed since it was ingested" in str(refused(url, shards, tmp_path / "out", NotIngested))


def test_a_file_that_was_not_ingested_to_its_end_is_refused(url: str, shards: Path, tmp_path: Path) -> None:
    ingested(url, shards, options=IngestOptions(limit=1))
    assert "was not ingested to its end" in str(refused(url, shards / "1.jsonl", tmp_path / "out", NotIngested))


def test_a_touched_file_that_cannot_be_read_is_refused(
    url: str, shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(_path: Path) -> bytes:
        raise OSError(5, "Input/output error")

    ingested(url, shards)
    os.utime(shards / "1.jsonl", ns=(1, 1))
    monkeypatch.setattr(changes, "digest", unreadable)
    assert "cannot be read (Input/output error)" in str(refused(url, shards, tmp_path / "out", NotIngested))


def test_a_touched_file_is_compared_with_each_collection_that_has_it(url: str, shards: Path, tmp_path: Path) -> None:
    ingested(url, shards, options=IngestOptions(collection="second"))
    (shards / "1.jsonl").write_bytes((shards / "1.jsonl").read_bytes().replace(b"w1", b"w2"))
    ingested(url, shards, options=IngestOptions(collection="first"))
    os.utime(shards / "1.jsonl", ns=(1, 1))
    assert "has changed since it was ingested" in str(refused(url, shards, tmp_path / "out", NotIngested))


def test_a_touched_file_is_read_once_for_all_its_collections(
    url: str, shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for collection in ("one", "other"):
        ingested(url, shards, options=IngestOptions(collection=collection))
    os.utime(shards / "1.jsonl", ns=(1, 1))
    digested: list[Path] = []
    digest = changes.digest
    monkeypatch.setattr(changes, "digest", lambda path: digested.append(path) or digest(path))
    filtered(url, shards, tmp_path / "out")
    assert digested == [shards / "1.jsonl"]


def test_only_files_that_are_included_are_filtered(url: str, shards: Path, tmp_path: Path) -> None:
    ingested(url, shards)
    (shards / "new.json").write_bytes(A)
    assert filtered(url, shards, tmp_path / "out", FilterOptions(include=("2*",))).num_files == 1
    assert not (tmp_path / "out" / "1.jsonl").exists()


@pytest.mark.parametrize("follow_links", [False, True])
def test_links_out_of_a_folder_are_followed_on_demand(
    follow_links: bool, url: str, shards: Path, tmp_path: Path
) -> None:
    (tmp_path / "3.jsonl").write_bytes(line("e", 300))
    (shards / "3.jsonl").symlink_to(tmp_path / "3.jsonl")
    ingested(url, shards, options=IngestOptions(follow_links=True))
    report = filtered(url, shards, tmp_path / "out", FilterOptions(follow_links=follow_links))
    assert report.num_files == 2 + follow_links


def test_standard_input_is_no_file_to_filter(url: str, shards: Path, tmp_path: Path) -> None:
    ingested(url, shards)
    assert filtered(url, [Path("-"), shards], tmp_path / "out").num_files == 2
    refused(url, Path("-"), tmp_path / "nothing", NothingToRead)


def test_files_are_looked_up_in_groups(url: str, shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_shards, "PLANNED_FILES", 1)
    report = filtered(ingested(url, shards), shards, tmp_path / "out")
    assert (report.num_files, report.counts) == (2, RecordCounts(num_kept=3, num_dropped=1))


def test_a_folder_inside_the_one_that_is_read_is_refused(url: str, shards: Path, tmp_path: Path) -> None:
    ingested(url, shards)
    (tmp_path / "link").symlink_to(shards)
    for out in (shards, shards / "out", tmp_path / "link", tmp_path / "link" / "out"):
        refused(url, shards, out, OutputFailed)
    refused(url, shards / "1.jsonl", shards, OutputFailed)
    assert sorted(path.name for path in shards.iterdir()) == ["1.jsonl", "sub"]


def test_a_link_in_the_folder_does_not_lead_back_to_the_files_that_are_read(
    url: str, shards: Path, tmp_path: Path
) -> None:
    ingested(url, shards)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "sub").symlink_to(shards / "sub")
    refused(url, shards, tmp_path / "out", OutputFailed)
    assert (shards / "sub" / "2.jsonl").read_bytes() == C + D.rstrip()


def test_files_of_others_are_not_overwritten_without_being_told_to(url: str, shards: Path, tmp_path: Path) -> None:
    ingested(url, shards)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "1.jsonl").write_text("mine")
    with pytest.raises(OutputExists):
        filtered(url, shards, tmp_path / "out")
    assert (tmp_path / "out" / "1.jsonl").read_text() == "mine"
    filtered(url, shards, tmp_path / "out", FilterOptions(force=True))
    assert (tmp_path / "out" / "1.jsonl").read_bytes() == A + b"\n" + B


@pytest.mark.parametrize("name", ["1.jsonl", "1.jsonl-wal"])
def test_a_file_never_replaces_an_index_or_its_log(name: str, url: str, tmp_path: Path) -> None:
    (tmp_path / "crawl").mkdir()
    (tmp_path / "crawl" / name).write_bytes(A)
    ingested(url, tmp_path / "crawl" / name)
    (tmp_path / "out").mkdir()
    Index.create(tmp_path / "out" / "1.jsonl").close()
    with pytest.raises(OutputFailed, match="a database"):
        filtered(url, tmp_path / "crawl" / name, tmp_path / "out", FilterOptions(force=True))
    assert Index.open(tmp_path / "out" / "1.jsonl").close() is None


def test_two_folders_with_a_file_of_the_same_name_are_refused(url: str, shards: Path, tmp_path: Path) -> None:
    (shards / "sub" / "1.jsonl").write_bytes(D)
    ingested(url, shards)
    error = refused(url, [shards / "sub", shards / "1.jsonl"], tmp_path / "out", UsageError)
    assert "would be the same file" in str(error)


def test_a_second_filter_to_the_same_folder_is_refused(url: str, shards: Path, tmp_path: Path) -> None:
    import fcntl

    filtered(ingested(url, shards), shards, tmp_path / "out")
    with (tmp_path / "out" / ".lshdb" / "written.jsonl").open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(OutputFailed, match="another lshdb filter"):
            filtered(url, shards, tmp_path / "out")


def test_a_file_that_cannot_be_read_is_reported_and_the_others_are_written(
    url: str, shards: Path, tmp_path: Path
) -> None:
    damaged = shards / "damaged.jsonl.gz"
    whole = gzip.compress(b"".join(line(str(number), 0) for number in range(9)))
    damaged.write_bytes(whole[:-20])
    report = filtered(ingested(url, shards), shards, tmp_path / "out")
    assert [Path(one.source).name for one in report.failed] == ["damaged.jsonl.gz"]
    assert sorted(path.name for path in (tmp_path / "out").rglob("*.jsonl*") if path.parent.name != ".lshdb") == [
        "1.jsonl",
        "2.jsonl",
    ]
