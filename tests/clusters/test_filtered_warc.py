"""Filtered WARC files have the wanted records whole, in the compression that they had."""

from __future__ import annotations

import errno
import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from lshdb import ClusterOptions, Decision, FilterOptions, Index, IngestOptions, RecordCounts
from lshdb.clusters.rows import warc
from lshdb.model.choices import Keep
from lshdb.readers import ReadOptions
from lshdb.readers.bytes.streams import ByteStream
from lshdb.readers.warc.records import Record, records
from tests.clusters.test_filter import filtered, ingested, words
from tests.readers import crawls


def record(kind: str, name: str, body: str) -> bytes:
    """Return a record as crawlers write it."""
    block = (
        body.encode() if kind != "response" else f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{body}".encode()
    )
    fields = f"WARC-Type: {kind}\r\nWARC-Target-URI: http://a/{name}\r\nContent-Length: {len(block)}\r\n"
    return f"WARC/1.0\r\n{fields}\r\n".encode() + block + b"\r\n\r\n"


INFO, REQUEST = record("warcinfo", "info", "by hand"), record("request", "1", "GET / HTTP/1.1")
ONE, TWO = record("response", "1", words(0)), record("response", "2", words(100))
COPY, IMAGE = record("response", "copy", words(0)), record("response", "image", "\0\0")
ALL = [INFO, REQUEST, ONE, COPY, IMAGE, TWO]
KEPT = [INFO, REQUEST, ONE, IMAGE, TWO]
COUNTS = RecordCounts(num_kept=2, num_dropped=1, num_unknown=1, num_other=2)


def packed(raw: bytes) -> bytes:
    """Return a gzip member without the time of its compression."""
    return gzip.compress(raw, mtime=0)


PACKED = {
    "": bytes,
    ".gz": packed,
    ".zst": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("suffix", PACKED)
def test_records_are_copied_with_the_bytes_that_they_have(url: str, tmp_path: Path, suffix: str) -> None:
    source, pack = tmp_path / f"in.warc{suffix}", PACKED[suffix]
    source.write_bytes(b"".join(map(pack, ALL)))
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert report.counts == COUNTS
    assert (tmp_path / "out" / source.name).read_bytes() == b"".join(map(pack, KEPT))


def test_dropped_records_are_written_after_the_note_about_the_file(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.warc.gz"
    source.write_bytes(b"".join(map(packed, ALL)))
    filtered(ingested(url, source), source, tmp_path / "out", FilterOptions(dropped=True))
    assert (tmp_path / "out" / source.name).read_bytes() == packed(INFO) + packed(COPY)


@pytest.mark.parametrize("copied", [7, 1 << 20])
def test_records_that_are_compressed_together_are_taken_apart(
    copied: int, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warc, "COPIED_BYTES", copied)
    source = tmp_path / "in.warc.gz"
    source.write_bytes(packed(b"".join(ALL[:4])) + packed(b"".join(ALL[4:])))
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert report.counts == COUNTS
    written = (tmp_path / "out" / source.name).read_bytes()
    assert gzip.decompress(written) == b"".join(KEPT)
    assert written.endswith(packed(b"".join(ALL[4:])))
    filtered(url, source, tmp_path / "dropped", FilterOptions(dropped=True))
    assert gzip.decompress((tmp_path / "dropped" / source.name).read_bytes()) == INFO + COPY


def test_records_that_are_taken_apart_are_compressed_at_the_level_asked_for(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.warc.gz"
    several = [record("response", str(number), words(number % 70)) for number in range(300)]
    source.write_bytes(packed(b"".join(several)))
    ingested(url, source)
    sizes = []
    for level in (1, 9):
        filtered(url, source, tmp_path / str(level), FilterOptions(level=level))
        sizes.append((tmp_path / str(level) / source.name).stat().st_size)
    assert sizes[0] > sizes[1]


def test_records_of_a_frame_with_a_dictionary_stay_together_or_the_file_is_refused(url: str, tmp_path: Path) -> None:
    dictionary = zstandard.train_dictionary(2000, [one[start:] for one in ALL for start in range(0, 200, 5)])
    content = dictionary.as_bytes()
    frame = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
    pack = zstandard.ZstdCompressor(dict_data=dictionary).compress
    apart, together = tmp_path / "apart.warc.zst", tmp_path / "together.warc.zst"
    apart.write_bytes(frame + b"".join(map(pack, ALL)))
    filtered(ingested(url, apart), apart, tmp_path / "out")
    assert (tmp_path / "out" / apart.name).read_bytes() == frame + b"".join(map(pack, KEPT))
    together.write_bytes(frame + pack(b"".join([*ALL[:3], record("response", "3", words(0))])))
    ingested(url, together)
    (failed,) = filtered(url, together, tmp_path / "out").failed
    assert failed.source == together.as_uri()


def test_a_damaged_record_is_copied_with_those_around_it(url: str, tmp_path: Path) -> None:
    members = [packed(one) for one in (ONE, TWO, COPY)]
    members[1] = members[1][:40] + b"\0" * 9 + members[1][49:]
    source = tmp_path / "in.warc.gz"
    source.write_bytes(b"".join(members))
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert report.counts == RecordCounts(num_kept=1, num_dropped=1, num_rejected=1)
    assert (tmp_path / "out" / source.name).read_bytes() == b"".join(members[:2])


def test_a_file_that_cannot_be_read_again_is_reported_and_the_others_are_written(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "1.warc", tmp_path / "2.warc"
    first.write_bytes(INFO + ONE)
    second.write_bytes(INFO + TWO)
    ingested(url, first, second)
    inode, read = first.stat().st_ino, os.pread

    def failing(descriptor: int, num_bytes: int, position: int) -> bytes:
        if os.fstat(descriptor).st_ino == inode:
            raise OSError(errno.EIO, "a bad sector")
        return read(descriptor, num_bytes, position)

    monkeypatch.setattr(os, "pread", failing)
    report = filtered(url, [first, second], tmp_path / "out")
    assert [(one.source, one.reason) for one in report.failed] == [(first.as_uri(), "a bad sector")]
    assert (tmp_path / "out" / "2.warc").read_bytes() == INFO + TWO


def arc_record(name: str, body: str) -> bytes:
    """Return a record of an ARC, the predecessor of WARC."""
    block = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n{body}".encode()
    return f"http://a/{name} 10.0.0.1 20260101000000 text/plain {len(block)}\n".encode() + block + b"\n"


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_records_of_an_arc_too(url: str, tmp_path: Path, suffix: str) -> None:
    about = b"1 0 test\nURL IP-address Archive-date Content-type Archive-length\n"
    first = f"filedesc://in.arc 0.0.0.0 20260101000000 text/plain {len(about)}\n".encode() + about + b"\n"
    kept = [first, arc_record("1", words(0)), arc_record("2", words(100))]
    source, pack = tmp_path / f"in.arc{suffix}", PACKED[suffix]
    source.write_bytes(b"".join(map(pack, [*kept[:2], arc_record("copy", words(0)), kept[2]])))
    report = filtered(ingested(url, source), source, tmp_path / "out")
    assert report.counts == RecordCounts(num_kept=2, num_dropped=1, num_other=1)
    assert (tmp_path / "out" / source.name).read_bytes() == b"".join(map(pack, kept))


def test_filtered_records_can_be_ingested(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.warc"
    source.write_bytes(b"".join(ALL))
    filtered(ingested(url, source), source, tmp_path / "out")
    with (tmp_path / "out" / "in.warc").open("rb") as file:
        found = []
        for one in records(ByteStream(iter([file.read()]))):
            assert isinstance(one, Record)
            assert one.close() is None
            found.append(one.fields["warc-target-uri"])
    assert found == ["http://a/info", "http://a/1", "http://a/1", "http://a/image", "http://a/2"]


def test_a_record_that_two_files_have_is_kept_once(url: str, tmp_path: Path) -> None:
    dated = ONE.replace(b"\r\n", b"\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n", 1)
    for name, others in (("1.warc.gz", TWO), ("2.warc.gz", IMAGE)):
        (tmp_path / name).write_bytes(packed(INFO) + packed(dated) + packed(others))
    paths = [tmp_path / "1.warc.gz", tmp_path / "2.warc.gz"]
    ingested(url, *paths)
    with Index.open(url) as index:
        report = index.filter(paths, tmp_path / "out")
    assert report.counts == RecordCounts(num_kept=2, num_dropped=1, num_unknown=1, num_other=2)


FIRST, *AGAIN = (f"2024-0{month}-01T00:00:00Z" for month in range(5, 9))
ADDRESS = "http://a.org/"
PAGE = crawls.response(ADDRESS, crawls.page(1), date=FIRST, gzip=False)
REVISITS = [gzip.decompress(crawls.revisit(ADDRESS, refers_to=(ADDRESS, FIRST), date=date)) for date in AGAIN]


@pytest.mark.parametrize("pack", [lambda records: b"".join(map(packed, records)), lambda records: b"".join(records),
                                  lambda records: packed(b"".join(records))])  # fmt: skip
@pytest.mark.parametrize("chosen", ["newest", "shortest-id", "decided"])
def test_the_page_of_a_kept_revisit_stays(
    pack: Callable[[list[bytes]], bytes], chosen: str, url: str, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    elsewhere = crawls.response("http://a/b", crawls.page(1), date=FIRST, gzip=False)
    (folder / "1.warc").write_bytes(pack([elsewhere, PAGE]))
    brief = gzip.decompress(crawls.revisit("http://a/", refers_to=(ADDRESS, FIRST), date=FIRST))
    (folder / "2.warc").write_bytes(pack([*REVISITS, brief]))
    ingested(url, folder, options=IngestOptions(read=ReadOptions(captures="all")))
    with Index.open(url) as index:
        if chosen == "decided":
            index.decide(Decision("keep", f"{ADDRESS}@20240601000000", who="Ada"))
        keep: Keep = "newest" if chosen == "newest" else "shortest-id" if chosen == "shortest-id" else "first"
        report = index.filter(folder, tmp_path / "out", options=FilterOptions(clusters=ClusterOptions(keep=keep)))
    assert report.counts == RecordCounts(num_kept=2, num_dropped=4)
    kept = {"newest": REVISITS[-1], "shortest-id": brief, "decided": REVISITS[0]}[chosen]
    assert plain(tmp_path / "out" / "1.warc") == PAGE
    assert plain(tmp_path / "out" / "2.warc") == kept


def test_a_kept_page_needs_no_other_and_a_dropped_one_leaves_no_revisit(url: str, tmp_path: Path) -> None:
    source = tmp_path / "in.warc"
    source.write_bytes(PAGE + b"".join(REVISITS))
    ingested(url, source, options=IngestOptions(read=ReadOptions(captures="all")))
    assert filtered(url, source, tmp_path / "out").counts == RecordCounts(num_kept=1, num_dropped=3)
    assert (tmp_path / "out" / "in.warc").read_bytes() == PAGE


def test_revisits_of_a_page_that_a_near_duplicate_replaces_are_counted(url: str, tmp_path: Path) -> None:
    copy = crawls.response("http://b.org/", crawls.page(1) + b"<p>b", date=FIRST, gzip=False)
    again = gzip.decompress(crawls.revisit("http://b.org/", refers_to=("http://b.org/", FIRST), date=AGAIN[0]))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.warc").write_bytes(again + PAGE + REVISITS[0])
    (tmp_path / "in" / "2.warc").write_bytes(copy)
    report = filtered(ingested(url, tmp_path / "in"), tmp_path / "in", tmp_path / "out")
    assert report.counts == RecordCounts(num_kept=1, num_dropped=1, num_unknown=2)
    assert report.num_dangling == report.as_json()["dangling"] == 1


def plain(path: Path) -> bytes:
    """Return the bytes of a file, decompressed if they are compressed."""
    raw = path.read_bytes()
    return gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
