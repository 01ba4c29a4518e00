"""WARC and WET: records that are documents, their text, and damage."""

from __future__ import annotations

import bz2
import gzip
import io
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import zstandard
from fastwarc.stream_io import BrotliWriter
from warcio.archiveiterator import ArchiveIterator

from lshdb.model.values import Document
from lshdb.readers import Reading, ReadOptions, Rejection, Revisit, Skipped, digest, source_file
from lshdb.readers.warc.capture_ids import capture_id, microseconds, split, timestamp
from tests.readers.crawls import crawl, numbers, page, record, response, revisit, shared_folder, write
from tests.readers.reading_files import ids, read, zstd


class Unclosed(io.BytesIO):
    """A buffer that stays readable after its writer has closed it."""

    def close(self) -> None:
        """Do nothing."""


def brotli(raw: bytes) -> bytes:
    out = Unclosed()
    with BrotliWriter(out) as writer:
        writer.write(raw)
    return out.getvalue()


def only(path: Path, *records: bytes) -> Document | Rejection | Skipped:
    [item] = read(write(path, records))
    return item


def test_a_response_is_a_document_with_address_text_offset_and_date(tmp_path: Path) -> None:
    first, second = response("http://a.org/", page(1)), response("http://a.org/b", page(2))
    path = write(tmp_path / "a.warc.gz", [first, second])
    items = read(path)
    assert [type(item) for item in items] == [Document, Document]
    item = items[1]
    assert isinstance(item, Document)
    assert (item.doc_id, item.source, item.locator) == ("http://a.org/b", path.as_uri(), f"offset {len(first)}")
    assert item.text.startswith("Page 2. The quick brown fox")
    assert item.dated_at == 1_714_979_289_000_000


@pytest.mark.parametrize("name", ["a.warc", "a.WARC", "download", "page?id=7"])
def test_a_warc_is_told_by_its_ending_or_its_content(tmp_path: Path, name: str) -> None:
    assert ids(write(tmp_path / name, crawl(2, gzip=False))) == numbers(0, 1)
    assert ids(write(tmp_path / f"{name}.gz", crawl(2))) == numbers(0, 1)


def test_where_a_member_begins_is_the_locator_whatever_the_name(tmp_path: Path) -> None:
    records = crawl(3)
    expected = ["offset 0", f"offset {len(records[0])}", f"offset {len(records[0] + records[1])}"]
    for name in ("a.warc.gz", "download"):
        assert [item.locator for item in read(write(tmp_path / name, records))] == expected  # type: ignore[union-attr]


@pytest.mark.parametrize(("suffix", "compress"), [(".gz", gzip.compress), (".zst", zstd), (".bz2", bz2.compress)])
def test_a_warc_compressed_as_a_whole_or_in_blocks_is_read_too(tmp_path: Path, suffix: str, compress: object) -> None:
    raw = b"".join(crawl(5, gzip=False))
    whole = write(tmp_path / f"whole.warc{suffix}", [compress(raw)])  # type: ignore[operator]
    items = read(whole)
    assert [item.locator for item in items] == ["offset 0", *(f"offset 0 record {n}" for n in range(2, 6))]  # type: ignore[union-attr]
    assert ids(whole) == numbers(0, 1, 2, 3, 4)
    blocks = [compress(raw[start : start + 1000]) for start in range(0, len(raw), 1000)]  # type: ignore[operator]
    assert ids(write(tmp_path / f"blocks.warc{suffix}", blocks)) == numbers(0, 1, 2, 3, 4)


def test_a_zstd_frame_a_record_is_read(tmp_path: Path) -> None:
    records = [zstd(each) for each in crawl(3, gzip=False)]
    items = read(write(tmp_path / "a.warc.zst", records))
    assert [item.locator for item in items][1] == f"offset {len(records[0])}"  # type: ignore[union-attr]
    assert ids(tmp_path / "a.warc.zst") == numbers(0, 1, 2)


@pytest.mark.parametrize("compress", [bytes, zstd], ids=["plain", "compressed"])
def test_frames_with_a_dictionary_of_their_file_are_read(tmp_path: Path, compress: object) -> None:
    records = crawl(5, gzip=False)
    dictionary = zstandard.train_dictionary(2000, [record[start:] for record in records for start in range(0, 400, 20)])
    content = compress(dictionary.as_bytes())  # type: ignore[operator]
    frame = b"\x5d\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content
    compressor = zstandard.ZstdCompressor(dict_data=dictionary)
    path = write(tmp_path / "a.warc.zst", [frame, *map(compressor.compress, records)])
    assert ids(path) == numbers(0, 1, 2, 3, 4)
    assert read(path)[0].locator == f"offset {len(frame)}"  # type: ignore[union-attr]


@pytest.mark.parametrize("coding", ["gzip", "x-gzip", "deflate", "bare deflate", "br", "zstd", "gzip, br"])
def test_content_codings_are_undone(tmp_path: Path, coding: str) -> None:
    raw = page(7)
    coded = {
        "gzip": gzip.compress(raw),
        "x-gzip": gzip.compress(raw),
        "deflate": zlib.compress(raw),
        "bare deflate": zlib.compress(raw, wbits=-15),
        "br": brotli(raw),
        "zstd": zstd(raw),
        "gzip, br": brotli(gzip.compress(raw)),
    }[coding]
    item = only(tmp_path / "a.warc", response("u", coded, ("Content-Encoding", coding.removeprefix("bare "))))
    assert isinstance(item, Document)
    assert item.text.startswith("Page 7.")


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "identity"])
def test_a_coding_that_the_crawler_has_undone_already_is_none(tmp_path: Path, coding: str) -> None:
    chunked = ("Transfer-Encoding", "chunked")
    item = only(tmp_path / "a.warc", response("u", page(7), ("Content-Encoding", coding), chunked))
    assert isinstance(item, Document)
    assert item.text.startswith("Page 7.")


@pytest.mark.parametrize("end", [b"0\r\n\r\n", b"0;last\r\nTrailer: x\r\n\r\n", b""])
def test_chunks_are_joined(tmp_path: Path, end: bytes) -> None:
    coded = gzip.compress(page(7))
    body = b"5\r\n" + coded[:5] + b"\r\n" + b"%X; a=b\r\n" % len(coded[5:]) + coded[5:] + b"\r\n" + end
    headers = [("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")]
    item = only(tmp_path / "a.warc", response("u", body, *headers))
    assert isinstance(item, Document)
    assert item.text.startswith("Page 7.")


@pytest.mark.parametrize(
    ("body", "headers", "reason"),
    [
        (b"5\r\nabcdeXX\r\n", [("Transfer-Encoding", "chunked")], "chunked body is damaged after 5 bytes"),
        (b"50\r\nabcde", [("Transfer-Encoding", "chunked")], "chunked body is truncated after 5 bytes"),
        (gzip.compress(page(1))[:-4], [("Content-Encoding", "gzip")], "gzip stream is truncated"),
        (brotli(page(1))[:-9], [("Content-Encoding", "br")], "Brotli stream is damaged or truncated"),
        (zlib.compress(page(1))[:-9], [("Content-Encoding", "deflate")], "deflate stream is truncated"),
        (b"abc", [("Content-Encoding", "sdch")], "unknown content coding: 'sdch'"),
    ],
)
def test_a_body_that_cannot_be_decoded_is_rejected_and_costs_no_other(
    tmp_path: Path, body: bytes, headers: list[tuple[str, str]], reason: str
) -> None:
    good = response("http://a.org/0", page(0))
    path = write(tmp_path / "a.warc.gz", [good, response("u", body, *headers), good])
    items = read(path)
    assert items[1] == Rejection(path.as_uri(), f"offset {len(good)}", reason)
    assert ids(path) == numbers(0, 0)


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("text/html; charset=ISO-8859-1", b"<p>caf\xe9 \x80</p>", "café €"),
        ("text/html", b"<meta charset=koi8-r><p>\xd4\xc5\xcb\xd3\xd4</p>", "текст"),
        ("text/html; charset=utf-8", b"<meta charset=koi8-r><p>\xd4\xc5\xcb\xd3\xd4</p>", "текст"),
        ("text/html; charset=nonsense", "<p>née</p>".encode(), "née"),
        ("text/plain; charset=windows-1251", "текст".encode("cp1251"), "текст"),
        ("text/html", "<p>née</p>".encode("utf-16"), "née"),
        ("text/html; charset=UTF-16LE", "<p>née, текст</p>".encode("utf-16-le"), "née, текст"),
        ("text/plain; charset=utf-16be", "née".encode("utf-16-be"), "née"),
        ("", b"<html><p>word</p>", "word"),
        ("", b"plain words", "plain words"),
        ("application/xhtml+xml", b"<html><body><p>word</p></body></html>", "word"),
    ],
)
def test_the_charset_is_the_headers_else_the_pages(tmp_path: Path, kind: str, body: bytes, expected: str) -> None:
    item = only(tmp_path / "a.warc", response("u", body, kind=kind))
    assert isinstance(item, Document)
    assert (item.text, item.num_replaced) == (expected, 0)


def test_a_charset_that_nothing_declares_is_guessed(tmp_path: Path) -> None:
    text = "Съешь же ещё этих мягких французских булок, да выпей чаю. " * 20
    item = only(tmp_path / "a.warc", response("u", text.encode("cp1251"), kind="text/plain"))
    assert isinstance(item, Document)
    assert item.text == text


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (response("u", page(1), status="404 Not Found"), "HTTP status 404"),
        (response("u", b"", status="302 Found"), "HTTP status 302"),
        (response("u", b"\x89PNG\r\n\x1a\n\0\0", kind="image/png"), "media type image/png"),
        (response("u", b"%PDF-1.4 \xff\0", kind=""), "media type unknown"),
        (response("u", b"\x89PNG\r\n\x1a\n\0\0"), "binary, although declared as text/html"),
        (
            response("u", b"\x89PNG\r\n\x1a\n\0\0", kind="text/html; charset=utf-16le"),
            "binary, although declared as text/html",
        ),
        (record("resource", "dns:a.org", b"a.org 1.2.3.4", kind="text/dns"), "media type text/dns"),
        (record("continuation", "u", b"words"), "record type continuation"),
        (revisit("u", kind="image/png"), "media type image/png"),
        (revisit("u", status="404 Not Found"), "HTTP status 404"),
        (revisit("u", profile="http://example.org/other"), "revisit with the profile other"),
    ],
)
def test_what_is_no_page_is_skipped_and_counted(tmp_path: Path, made: bytes, reason: str) -> None:
    path = tmp_path / "a.warc.gz"
    assert only(path, made) == Skipped(path.as_uri(), reason)


NOT_MODIFIED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


@pytest.mark.parametrize(
    ("made", "newest", "all_captures"),
    [
        (
            revisit("u", refers_to=("v", "2024-01-02T03:04:05Z")),
            ("v", "v\x01"),
            ("v@20240102030405", "v@20240102030405:"),
        ),
        (revisit("u", profile=NOT_MODIFIED, status="304 Not Modified"), ("u", "u\x01"), ("u@", "u@20240506070809")),
        # The record before it has the same address and second: the named capture cannot be the revisit itself.
        (
            revisit("u", refers_to=("u", "2024-05-06T07:08:09Z"), date="2024-05-06T07:08:09.5Z"),
            ("u", "u\x01"),
            ("u@20240506070809", "u@20240506070809500000"),
        ),
        (revisit("u", refers_to=("<v>", "")), ("v", "v\x01"), ("v@", "v@20240506070809")),
    ],
)
def test_a_revisit_names_a_capture_by_a_range_of_ids(
    tmp_path: Path, made: bytes, newest: tuple[str, str], all_captures: tuple[str, str]
) -> None:
    path = write(tmp_path / "a.warc.gz", [made])
    for captures, expected in (("newest", newest), ("all", all_captures)):
        [item] = read(path, ReadOptions(captures=captures))  # type: ignore[arg-type]
        assert isinstance(item, Revisit)
        assert (item.first_id, item.end_id) == expected


def test_the_ids_of_a_revisit_get_the_prefix(tmp_path: Path) -> None:
    [item] = read(write(tmp_path / "a.warc.gz", [revisit("u", refers_to=("v", ""))]), ReadOptions(id_prefix="p/"))
    assert isinstance(item, Revisit)
    assert (item.capture.doc_id, item.first_id, item.end_id) == ("p/u", "p/v", "p/v\x01")


@pytest.mark.parametrize("name", ["warcinfo", "request", "metadata"])
def test_the_crawls_own_notes_are_no_items(tmp_path: Path, name: str) -> None:
    assert read(write(tmp_path / "a.warc.gz", [record(name, "u", b"words", kind="text/plain")])) == []


def test_conversions_and_resources_are_texts(tmp_path: Path) -> None:
    records = [
        record("conversion", "http://a.org/", "née\n".encode(), kind="text/plain"),
        record("resource", "file:///b.html", page(1), kind="text/html"),
    ]
    first, second = read(write(tmp_path / "a.warc.wet.gz", records))
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (first.doc_id, first.text) == ("http://a.org/", "née\n")
    assert (second.doc_id, second.text[:7]) == ("file:///b.html", "Page 1.")


@pytest.mark.parametrize(
    ("uri", "doc_id"),
    [
        (b"<http://a.org/>", "http://a.org/"),
        (b"http://a.org/a b c", "http://a.org/a b c"),
        ("http://a.org/é".encode(), "http://a.org/é"),
        (b"http://a.org/\xe9", "http://a.org/\\xe9"),
    ],
)
def test_odd_addresses_are_kept(tmp_path: Path, uri: bytes, doc_id: str) -> None:
    made = response("http://a.org/X", page(1), gzip=False).replace(b"http://a.org/X", uri)
    assert ids(write(tmp_path / "a.warc", [made])) == [doc_id]


def test_a_record_without_an_address_is_rejected(tmp_path: Path) -> None:
    made = response("http://a.org/X", page(1), gzip=False).replace(b"WARC-Target-URI", b"X-Target-URI")
    item = only(tmp_path / "a.warc", made)
    assert isinstance(item, Rejection)
    assert item.reason == "the id is empty"


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:01.5Z", 1_500_000),
        ("1970-01-01T00:00:00.123456789Z", 123_456),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T00:01", 60_000_000),
        ("1970-01-02", 86_400_000_000),
        ("1971", 31_536_000_000_000),
        ("1969-12-31T23:59:59Z", -1_000_000),
        ("", None),
        ("1970-13-01", None),
        ("0001-01-01T00:00:00+01:00", None),
        ("yesterday", None),
    ],
)
def test_dates_are_read_at_any_precision(date: str, expected: int | None) -> None:
    assert microseconds(date) == expected


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2026-01-02T03:04:05Z", "20260102030405"),
        ("2026-01-02T03:04:05.5Z", "20260102030405500000"),
        ("0001-01-01", "00010101000000"),
    ],
)
def test_a_timestamp_has_a_fraction_only_if_the_date_has_one(date: str, expected: str) -> None:
    assert timestamp(microseconds(date) or 0) == expected


def test_the_id_of_a_capture_is_its_address_and_its_date(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", [response("http://a.org/@20200101000000", page(1))])
    [item] = read(path, ReadOptions(captures="all"))
    assert isinstance(item, Document)
    assert item.doc_id == "http://a.org/@20200101000000@20240506070809"
    assert split(item.doc_id) == ("http://a.org/@20200101000000", "20240506070809")
    assert ids(path) == ["http://a.org/@20200101000000"]


@pytest.mark.parametrize("doc_id", ["http://a.org/", "me@a.org", "a@2024", "a@202405060708091"])
def test_an_id_without_a_timestamp_is_an_address(doc_id: str) -> None:
    assert split(doc_id) == (doc_id, "")
    assert capture_id(doc_id, None) == doc_id


def lengthened(raw: bytes, length: int) -> bytes:
    before, _, behind = raw.partition(b"Content-Length: ")
    return before + b"Content-Length: %d\r\n" % length + behind.partition(b"\r\n")[2]


def without_block_length(raw: bytes) -> bytes:
    return raw.replace(b"Content-Length:", b"X-Length:", 1)


def up_to_the_next_block(raw: bytes) -> bytes:
    # All records have the same size. Two line ends follow there, but they belong to the next header.
    header = raw.index(b"\r\n\r\n")
    return lengthened(raw, len(raw) - header - 4 + header)


DAMAGES = {
    "up to the next block": up_to_the_next_block,
    "cut in its header": lambda raw: raw[:150],
    "too short": lambda raw: lengthened(raw, 100),
    "too long by a few bytes": lambda raw: lengthened(raw, len(raw) - raw.index(b"HTTP/1.1") + 4),
    "too long by a record": lambda raw: lengthened(raw, len(raw) + 500),
    "longer than the file": lambda raw: lengthened(raw, 10**17),
    "negative": lambda raw: lengthened(raw, -1),
    "missing": without_block_length,
    "no record": lambda raw: raw.replace(b"WARC/", b"WBRC/", 1),
    "cut": lambda raw: raw[:-200],
    "an endless header": lambda raw: raw.replace(b"WARC-Date", b"X: " + b"x" * 100_000 + b"\r\nWARC-Date"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
@pytest.mark.parametrize("compress", [None, gzip.compress, zstd], ids=["plain", "gzip", "zstd"])
def test_a_record_whose_length_lies_costs_no_other(tmp_path: Path, damage: object, compress: object) -> None:
    records = crawl(7, gzip=False)
    records[3] = damage(records[3])  # type: ignore[operator]
    if compress is not None:
        records = [compress(each) for each in records]  # type: ignore[operator]
    path = write(tmp_path / "a.warc", records)
    assert ids(path) == numbers(0, 1, 2, 4, 5, 6)
    assert len([item for item in read(path) if isinstance(item, Rejection)]) == 1


def damaged(raw: bytes) -> bytes:
    middle = len(raw) // 2
    return raw[:middle] + b"\xff" * 20 + raw[middle + 20 :]


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize(
    "damage", [damaged, lambda raw: raw[:-100], lambda raw: raw[50:]], ids=["bits", "end", "start"]
)
@pytest.mark.parametrize("compress", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_damaged_members_cost_no_others(tmp_path: Path, compress: object, damage: object, count: int) -> None:
    records = [compress(each) for each in crawl(9, gzip=False)]  # type: ignore[operator]
    for number in range(3, 3 + count):
        records[number] = damage(records[number])  # type: ignore[operator]
    path = write(tmp_path / "a.warc.gz", records)
    assert [number for number in ids(path) if number not in numbers(3, 4, 5)] == numbers(0, 1, 2, 6, 7, 8)
    assert ids(path) == numbers(*(number for number in range(9) if not 3 <= number < 3 + count))
    reading = Reading(source_file(path), ReadOptions())
    rejections = [item for item in list(reading) if isinstance(item, Rejection)]
    assert any("stream is" in item.reason for item in rejections)
    assert (reading.digest, reading.num_bytes) == (digest(path), path.stat().st_size)


def test_a_page_about_warcs_is_one_page(tmp_path: Path) -> None:
    body = b"<pre>\r\n\r\nWARC/1.0\r\nWARC-Type: response\r\nContent-Length: 5\r\n\r\nHello\r\n\r\n</pre>"
    records = [response("http://a.org/0", body, gzip=False), *crawl(2, gzip=False)[1:]]
    path = write(tmp_path / "a.warc", records)
    assert ids(path) == numbers(0, 1)
    assert "WARC-Type: response" in read(path)[0].text  # type: ignore[union-attr]


def test_a_truncated_file_says_so_and_keeps_what_came_before(tmp_path: Path) -> None:
    path = write(tmp_path / "a.warc.gz", crawl(3))
    path.write_bytes(path.read_bytes()[:-30])
    assert ids(path) == numbers(0, 1)
    [rejection] = [item for item in read(path) if isinstance(item, Rejection)]
    assert rejection.reason == "gzip stream is truncated"


@pytest.mark.parametrize("num_bytes", [2, 30])
def test_a_file_that_is_truncated_in_a_header_has_one_damage(tmp_path: Path, num_bytes: int) -> None:
    *whole, last = crawl(3, gzip=False)
    packing = zlib.compressobj(wbits=31)
    (tmp_path / "a.warc.gz").write_bytes(
        packing.compress(b"".join(whole) + last[:num_bytes]) + packing.flush(zlib.Z_SYNC_FLUSH)
    )
    assert ids(tmp_path / "a.warc.gz") == numbers(0, 1)
    [rejection] = [item for item in read(tmp_path / "a.warc.gz") if isinstance(item, Rejection)]
    assert (rejection.locator, rejection.reason) == (f"offset 0 record {len(whole) + 1}", "gzip stream is truncated")


def test_an_index_of_sets_reads_no_crawl(tmp_path: Path) -> None:
    [item] = read(write(tmp_path / "a.warc", crawl(1, gzip=False)), ReadOptions(kind="set"))
    assert isinstance(item, Rejection)


@pytest.mark.slow
def test_pages_and_texts_that_are_too_large_are_rejected_in_bounded_memory(tmp_path: Path) -> None:
    bomb = gzip.compress(gzip.compress(bytes(500_000_000)))
    records = [
        response("u", bomb, ("Content-Encoding", "gzip, gzip")),
        response("u", gzip.compress(b"word " * 3_000_000), ("Content-Encoding", "gzip")),
        response("u", brotli(b"word " * 3_000_000), ("Content-Encoding", "br")),
        response("u", zstd(b"word " * 20_000_000), ("Content-Encoding", "zstd"), kind="text/plain"),
        response("u", b"word " * 20_000_000, kind="text/plain"),
        response("http://a.org/0", page(0)),
    ]
    path = write(tmp_path / "a.warc.gz", records)
    program = f"""
import resource
from pathlib import Path
from lshdb.readers import ReadOptions, Reading, source_file
resource.setrlimit(resource.RLIMIT_AS, ({2_000_000_000}, {2_000_000_000}))
for item in Reading(source_file(Path({str(path)!r})), ReadOptions()):
    print(getattr(item, "reason", "a document"))
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert answer.stdout.splitlines() == [
        "binary, although declared as text/html",
        "page larger than 10 MB",
        "page larger than 10 MB",
        "text larger than the 10 MB of --max-text",
        "text larger than the 10 MB of --max-text",
        "a document",
    ]


SHARED = shared_folder("warc")
FILES = sorted(path for path in SHARED.glob("*/*") if not path.name.startswith("LICENSE")) if SHARED else []
# The counts of warcio differ for a reason: it gives up on deliberately damaged records, does not decode
# Brotli, and accepts truncated records.
COUNTS = {
    "example-bad.warc.gz.bad": 1,
    "example-bad-non-chunked.warc.gz": 1,
    "transfer_compression_brotli.warc": 2,
    "transfer_compression_brotli.warc.gz": 2,
    "example-wrong-chunks.warc.gz": 1,
    "clipped.warc.gz": 0,
    "example-trunc.warc": 0,
    "example-extra.warc": 1,
    "example-space-in-url.arc": 0,
    "bad.arc": 1,
    # warcio stops at the metadata of the first record.
    "IAH-20080430204825-00000-blackbook-truncated.arc": 4,
    "warcfile.warc.lz4": 0,
    "block-sized-records.warc.lz4": 0,
}


@pytest.mark.skipif(SHARED is None, reason="no folder shared/data/warc beside the checkout, nor LSHDB_TEST_DATA")
@pytest.mark.filterwarnings("ignore:Unclosed file:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_of_real_files_as_many_documents_are_read_as_warcio_counts(path: Path) -> None:
    expected = COUNTS.get(path.name)
    assert len(ids(path)) == (count_of_warcio(path) if expected is None else expected)


def count_of_warcio(path: Path) -> int:
    with path.open("rb") as file:
        return sum(map(is_text, ArchiveIterator(file)))


def is_text(made: object) -> bool:
    if made.rec_type not in ("response", "resource", "conversion"):  # type: ignore[attr-defined]
        return False
    http = made.http_headers  # type: ignore[attr-defined]
    if http is not None and not http.get_statuscode().startswith("2"):
        return False
    kind = (http or made.rec_headers).get_header("Content-Type") or ""  # type: ignore[attr-defined]
    kind = kind.partition(";")[0].strip().lower()
    return kind == "application/xhtml+xml" or (kind.startswith("text/") and kind != "text/dns")
