"""Compressed output: one whole member, whatever pieces it is written in, at the level of the input."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import zlib
from collections.abc import Callable

import pytest
import zstandard

from lshdb.clusters.rows import compression
from lshdb.clusters.rows.compression import compressing, usual_level
from lshdb.readers.bytes.compression import Compression

READ: dict[Compression | None, Callable[[bytes], bytes]] = {
    None: bytes,
    "gzip": gzip.decompress,
    "bzip2": bz2.decompress,
    "xz": lzma.decompress,
    "zstd": lambda raw: zstandard.ZstdDecompressor().stream_reader(raw).read(),
}


def compressed(kind: Compression | None, *pieces: bytes | memoryview, level: int = 1) -> bytes:
    out = io.BytesIO()
    with compressing(out, kind, level) as write:
        for piece in pieces:
            write(piece)
    return out.getvalue()


@pytest.mark.parametrize("kind", READ, ids=str)
def test_what_is_written_is_what_is_read(kind: Compression | None) -> None:
    text = b"some words " * 100
    assert READ[kind](compressed(kind, text, memoryview(b"and more"), b"")) == text + b"and more"
    assert READ[kind](compressed(kind)) == b""


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 128, 1_000, 6_400])
def test_a_gzip_file_of_any_number_of_blocks_is_one_member(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "BLOCK_BYTES", 64)
    monkeypatch.setattr(compression, "WINDOW_BYTES", 32)
    text = b"X" * (size // 2) + random.Random(size).randbytes(size - size // 2)
    for step in (1_000, 7):
        raw = compressed("gzip", *(text[begin : begin + step] for begin in range(0, size, step)), level=6)
        reading = zlib.decompressobj(31)
        assert (reading.decompress(raw), reading.eof, reading.unused_data) == (text, True, b"")


def test_a_block_of_gzip_uses_the_one_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "BLOCK_BYTES", 1_000)
    monkeypatch.setattr(compression, "WINDOW_BYTES", 1_000)
    text = random.Random(1).randbytes(1_000)
    # 200 bytes of each further block are its frame.
    assert 1_000 < len(compressed("gzip", text * 10, level=6)) < 1_000 + 9 * 200


def test_a_higher_level_compresses_further() -> None:
    chance = random.Random(1)
    text = " ".join(chance.choices([f"word{number}" for number in range(300)], k=5_000)).encode()
    for kind in ("gzip", "xz", "zstd"):
        assert len(compressed(kind, text, level=9)) < len(compressed(kind, text, level=1))
    # The level of bzip2 is the size of its blocks, which its head names.
    assert [compressed("bzip2", text, level=level)[:4] for level in (1, 9)] == [b"BZh1", b"BZh9"]


@pytest.mark.parametrize("kind", READ, ids=str)
def test_a_level_that_a_compression_does_not_have_is_its_highest(kind: Compression | None) -> None:
    text = b"some words " * 100
    assert READ[kind](compressed(kind, text, level=22)) == text


def test_a_zstd_frame_has_a_checksum() -> None:
    assert zstandard.get_frame_parameters(compressed("zstd", b"text")).has_checksum


@pytest.mark.parametrize(
    ("kind", "head", "level"),
    [
        (None, b"text", 0),
        ("gzip", gzip.compress(b"text", 9, mtime=0), 9),
        ("gzip", gzip.compress(b"text", 1, mtime=0), 1),
        ("gzip", gzip.compress(b"text", 6, mtime=0), 6),
        ("gzip", b"\x1f\x8b\x08\0\0\0\0\0", 6),
        ("gzip", b"\x1f\x8b\x08\0\0\0\0\0\x02", 9),
        ("zstd", b"\0" * 8 + b"\x02", 3),
        ("bzip2", b"", 9),
        ("xz", b"", 6),
    ],
)
def test_the_level_of_a_file_is_that_of_its_head_or_the_usual_one(
    kind: Compression | None, head: bytes, level: int
) -> None:
    assert usual_level(kind, head) == level
