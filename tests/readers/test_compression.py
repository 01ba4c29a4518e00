"""gzip, zstd, bzip2 and xz with every textual format: whole, concatenated and damaged."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lshdb.model.values import Document
from lshdb.readers import Damaged, Reading, ReadOptions, Rejection, digest, source_file
from lshdb.readers.bytes.compression import compression_of, member
from lshdb.readers.bytes.streams import BLOCK_BYTES
from tests.readers.reading_files import read, texts, zstd

Compress = Callable[[bytes], bytes]
SKIPPABLE_FRAME = b"\x50\x2a\x4d\x18\x05\x00\x00\x00skip!"


def xz(raw: bytes) -> bytes:
    return lzma.compress(raw, preset=0)


FORMATS = pytest.mark.parametrize(
    ("suffix", "compress"), [(".gz", gzip.compress), (".zst", zstd), (".bz2", bz2.compress), (".xz", xz)]
)


def records(count: int) -> list[bytes]:
    # Random words, so that enough bytes remain after compression.
    draw = random.Random(7)
    return [
        json.dumps({"id": i, "text": " ".join(f"{draw.getrandbits(64):x}" for _ in range(50))}).encode() + b"\n"
        for i in range(count)
    ]


@FORMATS
@pytest.mark.parametrize("name", ["page.html", "notes.txt", "x.jsonl", "README", "X.TXT"])
def test_compression_is_a_layer_around_any_textual_format(
    tmp_path: Path, name: str, suffix: str, compress: Compress
) -> None:
    raw = b'{"id": "a", "text": "word"}' if name == "x.jsonl" else b"word"
    path = tmp_path / (name + suffix)
    path.write_bytes(compress(raw))
    assert texts(path) == ["word"]


@FORMATS
def test_the_first_bytes_tell_the_compression_and_not_the_name(tmp_path: Path, suffix: str, compress: Compress) -> None:
    (tmp_path / "a.txt").write_bytes(compress(b"word"))
    (tmp_path / f"b.txt{suffix}").write_bytes(b"word")
    assert texts(tmp_path / "a.txt") == texts(tmp_path / f"b.txt{suffix}") == ["word"]


@FORMATS
def test_every_member_of_a_file_is_read(tmp_path: Path, suffix: str, compress: Compress) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(b"".join(compress(record) for record in records(300)))
    assert [item.doc_id for item in read(path)] == [str(i) for i in range(300)]


def test_zeros_after_the_last_gzip_member_and_skippable_zstd_frames_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"one ") + gzip.compress(b"two") + bytes(200_000))
    (tmp_path / "b.txt.zst").write_bytes(SKIPPABLE_FRAME + zstd(b"one ") + SKIPPABLE_FRAME + zstd(b"two"))
    assert texts(tmp_path / "a.txt.gz") == texts(tmp_path / "b.txt.zst") == ["one two"]


@FORMATS
def test_a_truncated_file_keeps_the_lines_before_the_end(tmp_path: Path, suffix: str, compress: Compress) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(compress(b"".join(records(3000)))[:-200_000])
    *good, last = read(path)
    kind = {".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2", ".xz": "xz"}[suffix]
    assert 1000 < len(good) < 3000
    assert [item.locator for item in good] == [f"line {i}" for i in range(1, len(good) + 1)]
    assert last == Damaged(path.as_uri(), f"line {len(good) + 1}", f"{kind} stream is truncated after line {len(good)}")


@FORMATS
def test_a_damaged_file_keeps_the_lines_before_the_damage(tmp_path: Path, suffix: str, compress: Compress) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    first, second = compress(b"".join(records(2000))), bytearray(compress(b"".join(records(2000))))
    second[500:600] = b"\xff" * 100
    path.write_bytes(first + second)
    *good, last = read(path)
    assert all(isinstance(item, Document) for item in good[:2000])
    assert isinstance(last, Rejection)
    assert "stream is damaged (" in last.reason


@FORMATS
def test_a_truncated_page_is_rejected_as_a_whole(tmp_path: Path, suffix: str, compress: Compress) -> None:
    path = tmp_path / f"a.html{suffix}"
    path.write_bytes(compress(b"<p>" + b"".join(records(10)))[:-5])
    [item] = read(path)
    assert isinstance(item, Rejection)
    assert item.reason.endswith("stream is truncated")


@FORMATS
def test_the_digest_is_of_the_compressed_bytes_even_of_those_behind_the_damage(
    tmp_path: Path, suffix: str, compress: Compress
) -> None:
    path = tmp_path / f"a.txt{suffix}"
    for raw in (compress(b"word"), compress(b"word") * 2 + b"garbage" * 100_000, compress(b"word")[:-2]):
        path.write_bytes(raw)
        reading = Reading(source_file(path), ReadOptions())
        assert reading.digest is None
        list(reading)
        assert (reading.digest, reading.num_bytes) == (digest(path), len(raw))


@pytest.mark.slow
@FORMATS
def test_a_bomb_is_not_held_in_memory(tmp_path: Path, suffix: str, compress: Compress) -> None:
    path = tmp_path / f"a.txt{suffix}"
    path.write_bytes(compress(bytes(100_000_000)) * 40)
    program = f"""
import resource
from pathlib import Path
from lshdb.readers import ReadOptions, Reading, source_file
resource.setrlimit(resource.RLIMIT_AS, ({2_000_000_000}, {2_000_000_000}))
[item] = Reading(source_file(Path({str(path)!r})), ReadOptions(input_format="text"))
print(item.reason)
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert answer.stdout == "text larger than the 10 MB of --max-text\n"


@FORMATS
def test_no_piece_of_a_bomb_is_larger_than_a_block(suffix: str, compress: Compress) -> None:
    bomb = compress(bytes(50_000_000))
    compression = compression_of(bomb)
    assert compression is not None
    sizes = [len(piece) for piece in member(io.BytesIO(bomb), compression)]
    assert (sum(sizes), max(sizes)) == (50_000_000, BLOCK_BYTES)


@FORMATS
@pytest.mark.parametrize("name", ["a.csv", "a.sets", "a.txt", "a.jsonl", "a.html"])
def test_a_compressed_file_whose_beginning_is_damaged_is_not_read_as_text(
    tmp_path: Path, name: str, suffix: str, compress: Compress
) -> None:
    path = tmp_path / (name + suffix)
    path.write_bytes(b"\x05" + compress(b"id,text\n" + b"".join(records(20))))
    [item] = read(path)
    assert isinstance(item, Rejection)
    assert item.reason == f"damaged: it is named {suffix}, but is neither compressed nor text"


@FORMATS
def test_plain_text_that_is_named_as_if_it_were_compressed_is_read(
    tmp_path: Path, suffix: str, compress: Compress
) -> None:
    path = tmp_path / ("a.txt" + suffix)
    path.write_bytes("café au lait".encode("latin-1"))
    assert texts(path) == ["caf\ufffd au lait"]
