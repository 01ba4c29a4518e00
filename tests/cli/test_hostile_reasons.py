"""A reason for a rejection may quote what a stranger wrote. It is stored on every database and printed without harm."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.cli.conftest import TEN, Run


def test_control_characters_in_a_reason_are_spelled_out(lshdb: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEN)
    pq.write_table(pa.table({"id": ["a"], "text": [{"x\0y\x1b[2J\n\x9b": 1}]}), tmp_path / "a.parquet")
    ended = lshdb(url, "ingest", "--base", tmp_path, tmp_path)
    assert "1 added, 1 rejected" in ended.out
    told = ended.out + ended.err + lshdb(url, "stats", "--rejected").out
    assert r"x\x00y\x1b[2J\n\x9b" in told
    assert not {"\0", "\x1b", "\x9b"} & set(told)


def test_a_long_reason_is_shortened(lshdb: Run, url: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(TEN)
    pq.write_table(pa.table({"id": ["a"], "text": [{"x" * 100_000: 1}]}), tmp_path / "a.parquet")
    ended = lshdb(url, "ingest", tmp_path)
    assert "1 added, 1 rejected" in ended.out
    assert len(ended.out + ended.err) < 5_000
