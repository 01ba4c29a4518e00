"""Published data sets, which are not part of this repository. LSHDB_TEST_DATA names their folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

VARIABLE = "LSHDB_TEST_DATA"
BESIDE = Path(__file__).parents[3] / "shared" / "data"


def data_file(folder: str, name: str) -> Path:
    """Return the file, or skip the test with a reason if it does not exist."""
    path = Path(os.environ.get(VARIABLE) or BESIDE) / folder / name
    if not path.exists():
        pytest.skip(f"no {folder}/{name} here; set {VARIABLE} to the folder that holds {folder}")
    return path
