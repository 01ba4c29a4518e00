"""Files to filter, opened: their bytes, decompressed, in large blocks."""

from __future__ import annotations

import gzip
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from lshdb.clusters.rows import opened as module
from lshdb.clusters.rows.opened import OpenedFile, opened
from lshdb.errors import SourceUnreadable
from lshdb.readers import ReadOptions, SourceFile, source_at
from lshdb.readers.bytes.streams import ByteStream

TEXT = b"".join(b'{"id": "%d", "text": "one of many lines"}\n' % number for number in range(2_000))


def file_of(path: Path, raw: bytes) -> SourceFile:
    path.write_bytes(raw)
    found = source_at(path.as_uri())
    assert found is not None
    return found


@pytest.mark.parametrize("raw", [TEXT, gzip.compress(TEXT)], ids=["plain", "gzip"])
@pytest.mark.parametrize("size", [1_000, len(TEXT), 1 << 20])
def test_blocks_are_the_bytes_of_the_file(
    size: int, raw: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "READ_BYTES", size)
    file: OpenedFile = opened(file_of(tmp_path / "in.jsonl", raw), ReadOptions())
    blocks = list(file.blocks())
    assert b"".join(blocks) == TEXT
    assert all(len(block) >= size for block in blocks[:-1])
    assert len(blocks) <= len(TEXT) // size + 1
    assert file.format == "jsonl"
    assert (file.stream.origin is file.binary) == (raw == TEXT)
    assert file.compression == ("gzip" if raw != TEXT else None)
    file.close()
    assert file.binary.closed


def test_small_pieces_are_joined_to_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ_BYTES", 1_000)
    with closing(opened(file_of(tmp_path / "in.jsonl", TEXT), ReadOptions())) as file:
        pieces = [bytes([number]) * 250 for number in range(10)]
        blocks = list(replace(file, stream=ByteStream(iter(pieces))).blocks())
    assert [len(block) for block in blocks] == [1_000, 1_000, 500]
    assert b"".join(blocks) == b"".join(pieces)


def test_a_file_that_is_opened_is_not_read_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "READ_BYTES", 1_000)
    with closing(opened(file_of(tmp_path / "in.jsonl", TEXT), ReadOptions())) as file:
        assert file.binary.tell() < len(TEXT)


def test_a_file_of_no_format_has_none(tmp_path: Path) -> None:
    file = opened(file_of(tmp_path / "in.bin", bytes(range(256))), ReadOptions())
    assert file.format is None
    file.close()


def test_a_file_that_is_gone_or_damaged_cannot_be_read(tmp_path: Path) -> None:
    file = file_of(tmp_path / "in.jsonl", gzip.compress(TEXT)[:-4])
    with (
        closing(opened(file, ReadOptions())) as damaged,
        pytest.raises(SourceUnreadable, match=r"in\.jsonl: gzip stream is truncated"),
    ):
        list(damaged.blocks())
    file.path.unlink()
    with pytest.raises(SourceUnreadable, match=r"in\.jsonl: No such file or directory"):
        opened(file, ReadOptions())
