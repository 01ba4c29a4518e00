"""Text files: charsets, byte order marks and names."""

from __future__ import annotations

import codecs
import gzip
import os
from pathlib import Path

import pytest

from lshdb.model.values import Document
from lshdb.readers import Reading, ReadOptions, Rejection, source_file
from tests.readers.reading_files import as_nobody, read, texts


def test_a_text_file_is_one_document_named_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one two")
    assert read(path) == [Document(str(path), "one two", source=path.as_uri())]


def test_with_a_base_the_doc_id_is_relative_to_it(tmp_path: Path) -> None:
    path = tmp_path / "crawl" / "a.txt"
    path.parent.mkdir()
    path.write_text("one two")
    [item] = read(path, ReadOptions(base=tmp_path))
    assert item.doc_id == "crawl/a.txt"
    [item] = read(path, ReadOptions(base=tmp_path / "crawl" / ".." / "elsewhere"))
    assert item.doc_id == str(path)


@pytest.mark.parametrize(
    ("bom", "charset"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_a_byte_order_mark_tells_the_charset_and_is_no_text(tmp_path: Path, bom: bytes, charset: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(bom + "née 東京".encode(charset))
    [item] = read(path)
    assert (item.text, item.num_replaced) == ("née 東京", 0)


def test_bytes_that_are_not_utf8_are_replaced_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"caf\xe9 th\xe9 " + "\ufffd".encode())
    [item] = read(path)
    assert (item.text, item.num_replaced) == ("caf\ufffd th\ufffd \ufffd", 2)


def test_a_replacement_character_that_was_written_is_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("\ufffd")
    [item] = read(path)
    assert item.num_replaced == 0


def test_half_a_character_of_utf16_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(codecs.BOM_UTF16_LE + "ab".encode("utf-16-le") + b"c")
    [item] = read(path)
    assert (item.text, item.num_replaced) == ("ab\ufffd", 1)


def test_an_empty_file_is_a_document_without_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").touch()
    assert texts(tmp_path / "a.txt") == [""]


def test_a_name_that_is_not_utf8_is_shown_with_backslashes(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.txt"))
    path.write_text("text")
    [item] = read(path)
    assert item.doc_id == f"{tmp_path}/caf\\xe9.txt"


def test_a_file_that_is_too_large_is_rejected_with_its_size_the_limit_and_the_option(tmp_path: Path) -> None:
    options = ReadOptions(max_text=1_000_000)
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 1_000_001)
    assert read(path, options) == [
        Rejection(path.as_uri(), "", "text larger than the 1 MB of --max-text: 1,000,001 bytes")
    ]
    path.write_bytes(b"x" * 1_000_000)
    assert len(texts(path, options)[0]) == 1_000_000


def test_the_limit_is_ten_megabytes_where_nobody_says_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 10_000_001)
    [item] = read(path)
    assert item == Rejection(path.as_uri(), "", "text larger than the 10 MB of --max-text: 10,000,001 bytes")
    assert len(texts(path, ReadOptions(max_text=11_000_000))[0]) == 10_000_001


def test_the_size_of_a_compressed_text_that_is_too_large_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"x" * 600_000))
    assert read(path, ReadOptions(max_text=500_000)) == [
        Rejection(path.as_uri(), "", "text larger than the 500 kB of --max-text")
    ]


def test_a_file_that_may_not_be_read_is_rejected_in_the_systems_words(public_path: Path) -> None:
    path = public_path / "a.txt"
    path.write_text("secret")
    path.chmod(0)
    assert as_nobody(lambda: read(path)) == [Rejection(path.as_uri(), "", "Permission denied")]


def test_a_file_that_is_gone_when_it_is_opened_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    source = source_file(path)
    path.unlink()
    assert list(Reading(source, ReadOptions())) == [Rejection(path.as_uri(), "", "No such file or directory")]


def test_a_pipe_that_took_the_place_of_a_file_does_not_block(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    source = source_file(path)
    path.unlink()
    os.mkfifo(path)
    assert list(Reading(source, ReadOptions())) == [Rejection(path.as_uri(), "", "not a regular file")]


def test_a_folder_is_not_a_text(tmp_path: Path) -> None:
    assert read(tmp_path) == [Rejection(tmp_path.as_uri(), "", "is a folder")]
