"""JSON lines of a stream, passed on by the ids of their records."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import pytest

from lshdb import (
    FilterOptions,
    FilterReport,
    Index,
    IngestOptions,
    ReadOptions,
    RecordCounts,
    RecordsUnknown,
    SourceUnreadable,
)
from lshdb.clusters.rows import stream
from tests.clusters.test_filter import A, B, C, D, ingested, line

UNKNOWN = [b"no JSON\n", b'{"text": "no id"}\n', b'{"id": "\xff"}\n', b'{"id": "b"}\n']


def passed(url: str, raw: bytes, options: FilterOptions | None = None) -> tuple[bytes, FilterReport]:
    out = io.BytesIO()
    with Index.open(url) as index:
        report = index.filter_lines(io.BytesIO(raw), out, options=options)
    return out.getvalue(), report


def test_a_compressed_stream_is_passed_on_in_its_compression(url: str, shards: Path) -> None:
    written, report = passed(ingested(url, shards), gzip.compress(A + b"\n" + C + D.rstrip()))
    assert gzip.decompress(written) == A + b"\n" + D.rstrip()
    assert report.counts == RecordCounts(num_kept=2, num_dropped=1)
    assert (report.num_elsewhere, report.num_files, report.num_present, report.num_left_out) == (0, 1, 0, 0)
    assert (report.failed, report.out) == ((), None)


def test_a_copy_whose_kept_document_is_not_in_the_stream_is_counted(url: str, shards: Path) -> None:
    written, report = passed(ingested(url, shards), C)
    assert (written, report.num_elsewhere) == (b"", 1)


@pytest.mark.parametrize("batch", [1, 2, 1_000])
def test_records_are_found_by_their_prefix_and_collection(
    batch: int, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "BATCH_LINES", batch)
    one, copy = line("x", 0).replace(b'"x"', b"1"), line("2", 0)
    read = ReadOptions(id_prefix="x/")
    (tmp_path / "in.jsonl").write_bytes(one + copy)
    ingested(url, tmp_path / "in.jsonl", options=IngestOptions(collection="c", read=read))
    raw = b"".join([one, b" \n", UNKNOWN[0], copy, *UNKNOWN[1:], one])
    for unknown, left in (("keep", raw.replace(copy, b"")), ("drop", one + b" \n" + one)):
        options = FilterOptions(collection="c", read=read, unknown=unknown)  # type: ignore[arg-type]
        written, report = passed(url, raw, options)
        assert written == left
        assert report.counts == RecordCounts(num_kept=2, num_dropped=1, num_unknown=4)
    assert passed(url, raw, FilterOptions(collection="c", read=read, dropped=True))[0] == copy


def test_a_record_whose_id_no_index_can_hold_is_unknown_and_stands_for_no_document(url: str, shards: Path) -> None:
    raw = A.replace(b'"a"', b'"a\\u0000"') + A.replace(b'"a"', b'"a\\u0000b"') + C
    assert raw.count(b"u0000") == 2
    written, report = passed(ingested(url, shards), raw)
    assert written == raw.removesuffix(C)
    assert (report.counts, report.num_elsewhere) == (RecordCounts(num_dropped=1, num_unknown=2), 1)


def test_an_unknown_record_ends_a_stream_that_may_have_none(
    url: str, shards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingested(url, shards)
    monkeypatch.setattr(stream, "BATCH_LINES", 2)
    options, out = FilterOptions(unknown="error"), io.BytesIO()
    with Index.open(url) as index, pytest.raises(RecordsUnknown) as raised:
        index.filter_lines(io.BytesIO(A + B + line("new", 0) + D), out, options=options)
    assert (str(raised.value.path), raised.value.number) == ("-", 1)
    assert out.getvalue() == A + B
    assert passed(url, A + B + D, options)[0] == A + B + D


def test_a_damaged_stream_is_an_error(url: str, shards: Path) -> None:
    raw = gzip.compress(A + B)
    with pytest.raises(SourceUnreadable, match="gzip stream is truncated") as raised:
        passed(ingested(url, shards), raw[:-4])
    assert str(raised.value.path) == "-"


def test_a_stream_is_compressed_at_its_own_level_or_the_one_that_is_asked_for(url: str, shards: Path) -> None:
    ingested(url, shards)
    raw = b"".join(line(str(number % 700), number) for number in range(2_000))
    best, fastest = (len(passed(url, gzip.compress(raw), FilterOptions(level=level))[0]) for level in (9, 1))
    assert best < fastest
    assert len(passed(url, gzip.compress(raw, 9))[0]) == best
    assert len(passed(url, gzip.compress(raw, 1))[0]) == fastest
