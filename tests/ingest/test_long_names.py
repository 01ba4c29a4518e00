"""Ids and paths that no index entry of Postgres could hold. They cost nothing else."""

from __future__ import annotations

import io
import json
import os
import random
import string
from pathlib import Path

import pytest

from lshdb import BadDocument, Document, Index, UsageError


def name_of(size: int) -> str:
    """Return characters that do not compress."""
    return "".join(random.Random(size).choices(string.ascii_letters + string.digits, k=size))


def ids(index: Index) -> list[str]:
    out = io.StringIO()
    index.export(out)
    return out.getvalue().splitlines()


def write(path: Path, **texts: str) -> Path:
    path.write_text("".join(json.dumps({"id": name, "text": text}) + "\n" for name, text in texts.items()))
    return path


def test_an_id_that_is_too_long_is_rejected_alone(url: str, tmp_path: Path) -> None:
    longest, longer = name_of(2_000), name_of(2_001)
    path = write(tmp_path / "a.jsonl", **{longest: "one text", longer: "another text", "b": "a third text"})
    with Index.create(url) as index:
        report = index.ingest(path)
        assert sorted(ids(index)) == sorted([longest, "b"])
        [rejection] = index.rejections(report.run)
    assert rejection.locator == "line 2"
    assert rejection.reason.endswith("its id is too long: 2,001 bytes; at most 2,000 are possible")


def test_the_name_of_a_collection_has_the_same_limit_on_both_databases(url: str) -> None:
    with Index.create(url) as index:
        index.add(Document("a", "a text"), name_of(2_600))
        with pytest.raises(UsageError, match=r"a collection has at most 2,600 bytes of UTF-8, not 2,601$"):
            index.add(Document("a", "a text"), name_of(2_601))
        assert index.collections() == [name_of(2_600)]


def test_the_message_about_a_long_id_is_short(url: str) -> None:
    with Index.create(url) as index, pytest.raises(BadDocument) as caught:
        index.add(Document("é" * 1_000_000, "text"))
    assert str(caught.value).endswith("its id is too long: 2,000,000 bytes; at most 2,000 are possible")
    assert len(str(caught.value)) < 300


def test_a_qualified_id_that_would_be_too_long_names_its_file_by_a_digest(url: str, tmp_path: Path) -> None:
    doc_id = name_of(2_000)
    folder = tmp_path.joinpath(*(name_of(200 + level) for level in range(4)))
    folder.mkdir(parents=True)
    files = [write(folder / f"{name}.jsonl", **{doc_id: f"the text of {name}"}) for name in "ab"]
    for file in files:
        os.utime(file, (1, 1))
    with Index.create(url) as index:
        index.ingest(files)
        first, second = sorted(ids(index), key=len)
    assert first == doc_id
    assert second.startswith(f"{doc_id}@")
    assert len(second) == 2_000 + 1 + 32


def test_a_path_that_is_too_long_is_rejected_alone(url: str, tmp_path: Path) -> None:
    folder = tmp_path.joinpath(*("文" * 80 for _ in range(4)))
    folder.mkdir(parents=True)
    (folder / "a.txt").write_text("one text")
    (tmp_path / "b.txt").write_text("another text")
    with Index.create(url) as index:
        report = index.ingest(tmp_path)
        assert ids(index) == [str(tmp_path / "b.txt")]
        [rejection] = index.rejections(report.run)
    assert rejection.reason.endswith("bytes; at most 2,600 are possible")
