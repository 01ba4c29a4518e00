"""Hostile files that ask for more memory or time than a reader gives; SECURITY.md lists the limits."""

from __future__ import annotations

import gzip
import json
import lzma
import time
from pathlib import Path

import pytest
import zstandard

from lshdb.errors import SourceUnreadable
from lshdb.model.values import Document
from lshdb.readers import Rejection, listed
from tests.readers.crawls import crawl, page, response
from tests.readers.reading_files import ids, read


def only_reason(path: Path) -> str:
    [item] = read(path)
    assert isinstance(item, Rejection)
    return item.reason


def test_an_xz_stream_that_needs_a_large_dictionary_is_rejected(tmp_path: Path) -> None:
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 28}]
    path = tmp_path / "a.txt.xz"
    path.write_bytes(lzma.compress(b"word " * 1_000, filters=filters))
    assert only_reason(path) == "xz stream is damaged (memory usage limit exceeded)"


def test_a_zstd_frame_that_needs_a_large_window_is_rejected(tmp_path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=28, enable_ldm=False)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path = tmp_path / "a.txt.zst"
    path.write_bytes(compressor.compress(b"word " * 1_000) + compressor.flush())
    assert "requires too much memory" in only_reason(path)


def test_a_record_whose_header_has_no_end_costs_no_other(tmp_path: Path) -> None:
    first, second, third = crawl(3, gzip=False)
    endless = b"WARC/1.0\r\nWARC-Type: response\r\nX: " + b"x" * 100_000 + b"\r\n\r\n"
    path = tmp_path / "a.warc"
    path.write_bytes(b"".join((first, endless, second, third)))
    assert ids(path) == [f"http://a.org/{number}" for number in range(3)]
    assert len([item for item in read(path) if isinstance(item, Rejection)]) == 1


@pytest.mark.parametrize("field", ["Content-Encoding", "Transfer-Encoding"])
def test_a_page_with_many_codings_costs_only_itself(tmp_path: Path, field: str) -> None:
    body = page(1)
    for _ in range(300):
        body = gzip.compress(body)
    hostile = response("http://a.org/1", body, (field, ", ".join(["gzip"] * 300)))
    path = tmp_path / "a.warc.gz"
    path.write_bytes(b"".join((crawl(1)[0], hostile, response("http://a.org/2", page(2)))))
    assert ids(path) == ["http://a.org/0", "http://a.org/2"]
    [rejection] = [item for item in read(path) if isinstance(item, Rejection)]
    assert rejection.reason == "more than 5 codings of its body"


def test_json_that_nests_without_end_costs_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    good = json.dumps({"id": "b", "text": "word"})
    path.write_text('{"id": "a", "text": "word", "x": ' + "[" * 1_000_000 + "\n" + good + "\n")
    first, second = read(path)
    assert isinstance(first, Rejection)
    assert isinstance(second, Document)


def test_a_file_of_nothing_but_beginnings_of_members_takes_little_time(tmp_path: Path) -> None:
    path = tmp_path / "a.warc.gz"
    path.write_bytes(crawl(1)[0] + b"\x1f\x8b\x08\x00" * 1_000_000)
    started = time.process_time()
    items = read(path)
    assert time.process_time() - started < 5
    assert len(items) < 1_000


def test_a_list_of_more_than_256_megabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list"
    with path.open("wb") as file:
        file.truncate(256_000_001)
    with pytest.raises(SourceUnreadable, match="larger than 256 MB"):
        listed(path)
