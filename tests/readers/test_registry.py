"""The choice of the reader, and the state after reading."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from lshdb.errors import InvalidParams
from lshdb.model.values import Document
from lshdb.readers import (
    READERS,
    Damaged,
    Reading,
    ReadOptions,
    Rejection,
    Skipped,
    SourceFile,
    digest,
    read_stream,
    source_file,
    walk,
)
from lshdb.readers.base import Reader
from lshdb.readers.bytes.streams import ByteStream
from tests.readers.reading_files import read

SOURCE = SourceFile("file:///a", Path("/a"), 0, 0, "file:///a")


def name_of(name: str, head: bytes = b"", options: ReadOptions = ReadOptions()) -> str | None:  # noqa: B008
    """Return the name of the reader that a file is passed to; None if it is passed to none."""
    source = SourceFile(f"file:///{name}", Path(f"/{name}"), 0, 0, "file:///")
    with pytest.MonkeyPatch.context() as patch:
        for reader in READERS:
            patch.setattr(reader, "read", lambda source, *_, name=reader.name: iter([Skipped(source.uri, name)]))
        [item] = read_stream(source, io.BytesIO(head), options)
    assert isinstance(item, Skipped)
    return item.reason if item.reason in {reader.name for reader in READERS} else None


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("a.txt", "text"),
        ("a.MD", "text"),
        ("a.py", "text"),
        ("a.html", "html"),
        ("a.HTM.GZ", "html"),
        ("a.jsonl.zst", "jsonl"),
        ("a.ndjson", "jsonl"),
        ("a.sets", "sets"),
    ],
)
def test_the_ending_of_the_name_chooses_the_reader(name: str, reader: str) -> None:
    assert name_of(name) == reader


@pytest.mark.parametrize(
    ("head", "reader"),
    [
        (b"<!DOCTYPE html><html>", "html"),
        (b"\xef\xbb\xbf <!-- note --> <HTML lang=en>", "html"),
        (b'{"id": 1, "text": ', "jsonl"),
        (b'{\n  "name": "printed over several lines"\n}', "text"),
        ("plain words, née".encode(), "text"),
        (b"x" * 1023 + "é".encode()[:-1], "text"),
        (b"\xff\xfea\0", "text"),
        (b"", "text"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", None),
        (b"caf\xe9", None),
        (b"SQLite format 3\0", None),
    ],
)
def test_without_a_telling_name_the_first_bytes_choose(head: bytes, reader: str | None) -> None:
    assert name_of("README", head) == reader
    assert name_of("page.php?id=7", head) == reader


def test_a_binary_file_is_skipped_in_a_folder_and_rejected_where_it_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    [found] = walk([tmp_path])
    assert isinstance(found, SourceFile)
    reason = "binary, or in an unknown format"
    assert list(Reading(found, ReadOptions())) == [Skipped(path.as_uri(), reason)]
    assert read(path) == [Rejection(path.as_uri(), "", reason)]


def test_a_binary_file_with_the_ending_of_a_text_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "film.ts"
    path.write_bytes(b"G\x40\0\x10\0\0")
    assert isinstance(read(path)[0], Rejection)


def test_the_input_format_overrules_name_and_content(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(b"<p>one\0two</p>")
    [item] = read(path, ReadOptions(input_format="text"))
    assert item.text == "<p>one\0two</p>"


def test_an_unknown_input_format_is_a_usage_error_that_names_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    with pytest.raises(InvalidParams, match=", ".join(reader.name for reader in READERS)):
        read(tmp_path / "a.txt", ReadOptions(input_format="docx"))


def test_a_page_is_not_read_as_sets(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<html>")
    [item] = read(tmp_path / "a.html", ReadOptions(kind="set"))
    assert isinstance(item, Rejection)
    assert item.reason == "not a file of feature sets"
    assert name_of("a.warc", b"WARC/1.0", ReadOptions(kind="set")) is None
    assert name_of("a.jsonl", b"{", ReadOptions(kind="set")) == "jsonl"


def test_digest_and_size_are_known_when_the_last_item_was_taken(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"word" * 100_000)
    reading = Reading(source_file(path), ReadOptions())
    assert reading.digest is None
    list(reading)
    assert reading.num_bytes == 400_000
    assert reading.digest == digest(path) == xxhash.xxh3_128_digest(b"word" * 100_000)


def test_the_digest_covers_a_file_whose_reader_gave_up_early(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_bytes(b"x" * 12_000_000)
    reading = Reading(source_file(path), ReadOptions())
    assert list(reading) == [Rejection(path.as_uri(), "", "page larger than 10 MB")]
    assert reading.digest == digest(path)


def test_there_is_no_digest_of_a_file_that_could_not_be_read(tmp_path: Path) -> None:
    reading = Reading(source_file(tmp_path), ReadOptions())
    list(reading)
    assert reading.digest is None


def test_a_reading_that_is_given_up_closes_its_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id":1,"text":"x"}\n' * 1000)
    # An unclosed file would be a ResourceWarning, which is an error here.
    items = iter(Reading(source_file(path), ReadOptions()))
    next(items)
    items.close()  # type: ignore[attr-defined]


def test_standard_input_is_read_as_a_stream() -> None:
    assert list(read_stream(SOURCE, io.BytesIO(b"one two"), ReadOptions())) == [
        Document("/a", "one two", source="file:///a")
    ]


def test_no_two_readers_share_a_name_or_an_ending() -> None:
    names = Counter(reader.name for reader in READERS)
    suffixes = Counter(suffix for reader in READERS for suffix in reader.suffixes)
    assert [one for one, count in (names + suffixes).items() if count > 1] == []


def test_a_mistake_in_a_reader_costs_one_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("lshdb.readers.text.decode", fail)
    path = tmp_path / "a.txt"
    path.write_text("word")
    assert read(path) == [Damaged(path.as_uri(), "", "KeyError: 'oops'")]


# Bytes that resemble a format, because arbitrary ones rarely pass the first check.
FRAGMENTS = [
    b"<p>", b"</p>", b"<!--", b"<meta charset=", b"utf-16", b"shift_jis", b'{"id":"a","text":"', b'"}\n', b"\\ud800",
    b"\xff\xfe", b"\xef\xbb\xbf", b"\0", b"\n", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18",
    b"\xed\xa0\x80", b"[1,2]", b"&#xD800;", b"&#0;", b"<svg><template><table>", b"\xe2\x80",
]  # fmt: skip
BYTES = st.one_of(st.binary(max_size=500), st.lists(st.sampled_from(FRAGMENTS) | st.binary(max_size=9)).map(b"".join))


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
@pytest.mark.parametrize("kind", ["word", "set"])
@settings(max_examples=300, deadline=2000)
@given(raw=BYTES, html=st.sampled_from(["main", "all"]), size=st.integers(1, 600))
def test_no_bytes_make_a_reader_fail(reader: Reader, kind: str, raw: bytes, html: str, size: int) -> None:
    pieces = iter([raw[i : i + size] for i in range(0, len(raw), size)])
    options = ReadOptions(html=html, kind=kind)  # type: ignore[arg-type]
    for item in reader.read(SOURCE, ByteStream(pieces).binary, options):
        if isinstance(item, Document):
            assert item.doc_id
            assert "\0" not in item.doc_id
            (item.doc_id + item.text + "".join(item.features or ())).encode()
            assert all(item.features or ())
            assert item.num_replaced >= 0


@pytest.mark.slow
@settings(max_examples=300, deadline=2000)
@given(raw=BYTES)
def test_no_bytes_make_a_stream_fail_and_all_of_them_are_read(raw: bytes) -> None:
    stream = ByteStream(iter([raw]))
    for item in read_stream(SOURCE, stream, ReadOptions()):
        assert not isinstance(item, Rejection) or "Error: " not in item.reason
