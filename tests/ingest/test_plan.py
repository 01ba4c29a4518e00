"""Which files must be read, given what the index knows."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from sqlalchemy import update

from lshdb import Index, IngestOptions, ReadOptions
from lshdb.ingest import plan
from lshdb.store.schema import source
from lshdb.store.store import Store


def write_records(file: Path, count: int) -> None:
    records = [{"id": f"d{number}", "text": f"{number} and some words more"} for number in range(count)]
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records))


def num_bytes_read(url: str, file: Path, read: ReadOptions) -> int:
    with Index.ensure(url, {}) as index:
        return index.ingest([file], IngestOptions(read=read)).counts.num_bytes


def test_options_that_are_written_out_are_the_defaults_they_equal(url: str, tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", 3)
    # As parsed from a command line: equal to the defaults, but not identical.
    written_out = ReadOptions(text_field="".join("text"), max_text=int("10000000"))
    assert num_bytes_read(url, tmp_path / "a.jsonl", ReadOptions()) > 0
    assert num_bytes_read(url, tmp_path / "a.jsonl", written_out) == 0


def test_defaults_that_an_earlier_release_wrote_out_are_still_the_defaults(url: str, tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", 3)
    num_bytes_read(url, tmp_path / "a.jsonl", ReadOptions())
    with Store.open(url) as store, store.writing() as transaction:
        transaction.execute(update(source).values(options='{"max_text":10000000}'))
    assert num_bytes_read(url, tmp_path / "a.jsonl", ReadOptions()) == 0


def test_a_file_that_was_read_with_other_options_is_read_again(url: str, tmp_path: Path) -> None:
    write_records(tmp_path / "a.jsonl", 3)
    num_bytes_read(url, tmp_path / "a.jsonl", ReadOptions())
    with Index.open(url) as index:
        report = index.ingest([tmp_path / "a.jsonl"], IngestOptions(read=ReadOptions(id_prefix="news/")))
    assert report.counts.num_added == 3


def test_a_touched_file_that_cannot_be_hashed_does_not_count_as_unchanged(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    write_records(tmp_path / "a.jsonl", 3)
    num_bytes_read(url, tmp_path / "a.jsonl", ReadOptions())
    os.utime(tmp_path / "a.jsonl", (0, 0))
    monkeypatch.setattr(plan, "digest", refuse)
    assert num_bytes_read(url, tmp_path / "a.jsonl", ReadOptions()) > 0
