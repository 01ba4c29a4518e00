"""Fixtures: a folder of files that are one document each, and one of files of records."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clusters.test_filter import A, B, C, D, words


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A folder with three texts, two of them the same, and an empty file."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, first in {"a.txt": 0, "b.txt": 100, "copy.txt": 0}.items():
        (folder / name).write_text(words(first))
    (folder / "empty.txt").write_text("")
    return folder


@pytest.fixture
def shards(tmp_path: Path) -> Path:
    """A folder with two files: the second one repeats a record of the first."""
    folder = tmp_path / "shards"
    (folder / "sub").mkdir(parents=True)
    (folder / "1.jsonl").write_bytes(A + b"\n" + B)
    (folder / "sub" / "2.jsonl").write_bytes(C + D.rstrip())
    return folder
