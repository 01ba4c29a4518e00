"""ARC, versions 1 and 2: the same documents as those of a WARC, and damage."""

from __future__ import annotations

import bz2
import gzip
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lshdb.model.values import Document
from lshdb.readers import ReadOptions, Rejection, Skipped
from tests.readers.crawls import arc_crawl, arc_head, arc_record, arc_response, crawl, numbers, page, write
from tests.readers.reading_files import ids, read

HEAD = arc_head(gzip=False)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("is_compressed", [False, True])
@pytest.mark.parametrize("name", ["a.arc", "download"])
def test_an_arc_has_the_documents_of_the_same_warc(
    tmp_path: Path, version: int, is_compressed: bool, name: str
) -> None:
    suffix = ".gz" if is_compressed else ""
    arc = write(tmp_path / f"{name}{suffix}", arc_crawl(5, version=version, gzip=is_compressed))
    warc = write(tmp_path / f"a.warc{suffix}", crawl(5, gzip=is_compressed))
    found, expected = read(arc), read(warc)
    assert [type(item) for item in found] == [Document] * 5
    assert [(item.doc_id, item.text, item.dated_at) for item in found if isinstance(item, Document)] == [
        (item.doc_id, item.text, item.dated_at) for item in expected if isinstance(item, Document)
    ]


@pytest.mark.parametrize("is_compressed", [False, True])
def test_the_locator_is_where_the_record_begins(tmp_path: Path, is_compressed: bool) -> None:
    records = arc_crawl(2, gzip=is_compressed)
    expected = [f"offset {len(records[0])}", f"offset {len(records[0] + records[1])}"]
    assert [item.locator for item in read(write(tmp_path / "a.arc", records))] == expected  # type: ignore[union-attr]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_an_arc_compressed_as_a_whole_is_read_too(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    path = write(tmp_path / "download", [compress(b"".join(arc_crawl(5, gzip=False)))])
    assert ids(path) == numbers(0, 1, 2, 3, 4)


def test_an_arc_without_its_first_record_is_read_too(tmp_path: Path) -> None:
    assert ids(write(tmp_path / "a.arc.gz", arc_crawl(3)[1:])) == numbers(0, 1, 2)


def test_the_id_of_a_capture_is_its_address_and_its_date(tmp_path: Path) -> None:
    [item] = read(write(tmp_path / "a.arc.gz", arc_crawl(1)), ReadOptions(captures="all"))
    assert isinstance(item, Document)
    assert item.doc_id == "http://a.org/0@20240506070809"


@pytest.mark.parametrize(
    ("line", "doc_id"),
    [
        ("http://a.org/a b c 1.2.3.4 20240506070809 text/html {}", "http://a.org/a b c"),
        ("http://a.org/ 1.2.3.4 20240506070809 text/html; charset=utf-8 {}", "http://a.org/"),
        ("http://a.org/ - 20240506070809 - {}", "http://a.org/"),
        ("http://a.org/ 20240101000000 1.2.3.4 20240506070809 text/html {}", "http://a.org/ 20240101000000"),
        ("http://a.org/é ::1 20240506070809 text/html {}", "http://a.org/é"),
        ("http://a.org/ 1.2.3.4 20240506070809 text/html 200 0 - 5 x.arc {} \r", "http://a.org/"),
        (f"http://a.org/{'x' * 5_000} 1.2.3.4 20240506070809 text/html {{}}", f"http://a.org/{'x' * 5_000}"),
    ],
)
def test_header_lines_are_read_from_the_place_of_their_date(tmp_path: Path, line: str, doc_id: str) -> None:
    block = b"HTTP/1.0 200 OK\nContent-Type: text/html\n\n" + page(7)
    path = write(tmp_path / "a.arc", [HEAD, line.format(len(block)).encode(), b"\n", block, b"\n"])
    assert ids(path) == [doc_id]


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (arc_record("dns:a.org", b"a.org 1.2.3.4", kind="text/dns"), "media type text/dns"),
        (arc_record("http://a.org/", b"HTTP/1.1 404 Not Found\n\nno"), "HTTP status 404"),
        (arc_response("http://a.org/", b"\x89PNG", kind="image/png"), "media type image/png"),
        (arc_record("ftp://a.org/x", b"\x00\x01", kind="no-type"), "media type no-type"),
    ],
)
def test_what_is_no_page_is_skipped_and_counted(tmp_path: Path, record: bytes, reason: str) -> None:
    path = write(tmp_path / "a.arc.gz", [arc_head(), record])
    assert read(path) == [Skipped(path.as_uri(), reason)]


def test_a_page_without_an_http_header_has_the_media_type_of_its_line(tmp_path: Path) -> None:
    [item] = read(write(tmp_path / "a.arc.gz", [arc_head(), arc_record("http://a.org/", page(3))]))
    assert isinstance(item, Document)
    assert item.text.startswith("Page 3.")


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "too short": lambda raw: renumbered(raw, -200),
    "too long by a few bytes": lambda raw: renumbered(raw, 40),
    "too long by a record": lambda raw: renumbered(raw, 700),
    "longer than the file": lambda raw: renumbered(raw, 10**16),
    "negative": lambda raw: raw.replace(b"text/html ", b"text/html -", 1),
    "no date": lambda raw: raw.replace(b" 20240506070809 ", b" yesterday ", 1),
    "no header": lambda raw: raw.partition(b"\n")[2],
    "cut": lambda raw: raw[:-200] + b"\n",
    "an endless header": lambda raw: raw.replace(b"http://", b"http://" + b"x" * 100_000, 1),
}


def renumbered(raw: bytes, more: int) -> bytes:
    """Return a record with another length."""
    line, _, block = raw.partition(b"\n")
    before, _, length = line.rpartition(b" ")
    return b"%b %d\n%b" % (before, int(length) + more, block)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
@pytest.mark.parametrize("compress", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_damaged_record_costs_no_other(
    tmp_path: Path, damage: Callable[[bytes], bytes], compress: Callable[[bytes], bytes]
) -> None:
    records = arc_crawl(7, gzip=False)
    records[4] = damage(records[4])
    path = write(tmp_path / "a.arc", [compress(each) for each in records])
    assert [number for number in ids(path) if number != "http://a.org/3"] == numbers(0, 1, 2, 4, 5, 6)
    assert len([item for item in read(path) if isinstance(item, Rejection)]) == 1


def test_damaged_members_cost_no_others(tmp_path: Path) -> None:
    records = arc_crawl(7)
    middle = len(records[4]) // 2
    records[4] = records[4][:middle] + b"\xff" * 20 + records[4][middle + 20 :]
    assert ids(write(tmp_path / "a.arc.gz", records)) == numbers(0, 1, 2, 4, 5, 6)
    records[0] = b"\x1f\x8b\x08\0" + b"\xff" * 40  # The member that says what the file is.
    assert ids(write(tmp_path / "b.arc.gz", records)) == numbers(0, 1, 2, 4, 5, 6)


def test_a_header_that_the_end_of_the_file_cuts_off_is_called_so(tmp_path: Path) -> None:
    whole, last = arc_crawl(2, gzip=False)[-2:]
    path = write(tmp_path / "a.arc", [HEAD, whole, last[:20]])
    document, rejection = read(path)
    assert isinstance(document, Document)
    assert isinstance(rejection, Rejection)
    assert (rejection.locator, rejection.reason) == (f"offset {len(HEAD + whole)}", "the header is cut off")


def test_a_page_that_quotes_a_header_line_is_one_page(tmp_path: Path) -> None:
    quoted = b"<pre>\nhttp://b.org/ 1.2.3.4 20240506070809 text/html 5\nHello\n</pre>"
    records = [HEAD, arc_response("http://a.org/0", quoted, gzip=False), *arc_crawl(2, gzip=False)[2:]]
    path = write(tmp_path / "a.arc", records)
    assert ids(path) == numbers(0, 1)


@pytest.mark.parametrize(
    "filler",
    [b"a:", b"a: 1 ", b"http://a.org/ 1.2.3.4 20240506070809 ", b"20240506070809 " * 9 + b"\n", b"a: 1\n", b"a:\t1 \r"],
)
def test_hostile_lines_take_no_long_time(tmp_path: Path, filler: bytes) -> None:
    path = write(tmp_path / "a.arc", [HEAD, filler * (2_000_000 // len(filler)), b"\n", *arc_crawl(2, gzip=False)[1:]])
    started = time.process_time()
    assert ids(path) == numbers(0, 1)
    assert time.process_time() - started < 5
