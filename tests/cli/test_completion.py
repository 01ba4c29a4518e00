"""The shell completes verbs, options and choices."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def completed(line: str) -> list[str]:
    """Return what bash offers for the last word of a line."""
    words = line.split(" ")
    environment = os.environ | {
        "_LSHDB_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    code = "import sys; sys.argv = ['lshdb']; from lshdb.cli.app import main; main()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("lshdb inge", ["ingest"]),
        ("lshdb ingest --max-re", ["--max-rejected"]),
        ("lshdb ingest --scheme ", ["fss2", "fss1", "universal"]),
        ("lshdb dupes --progress j", ["json"]),
        ("lshdb --sch", ["--schema"]),
    ],
)
def test_bash_completes(line: str, expected: list[str]) -> None:
    assert completed(line) == expected
