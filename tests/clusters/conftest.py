"""Fixtures: a folder of files that are one document each."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clusters.test_filter import words


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    """A folder with three texts, two of them the same, and an empty file."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for name, first in {"a.txt": 0, "b.txt": 100, "copy.txt": 0}.items():
        (folder / name).write_text(words(first))
    (folder / "empty.txt").write_text("")
    return folder
