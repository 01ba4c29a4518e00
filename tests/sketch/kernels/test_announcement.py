"""A compilation is announced once to the progress of the last index that was opened."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lshdb.sketch.kernels.announcement import announce, announce_to

INGEST = """
import sys
from lshdb import Document, Index, Progress
class Said(Progress):
    def busy(self, message):
        print(message)
with Index.ensure(sys.argv[1], {}, Said()) as index:
    index.add([Document("a", "some words"), Document("b", "some other words")])
"""


def test_it_is_announced_once_to_the_last_receiver() -> None:
    first: list[str] = []
    second: list[str] = []
    announce_to(first.append)
    announce_to(second.append)
    announce(is_cached=True)
    announce(is_cached=True)
    assert (first, second) == ([], ["compiling, once for this machine; this takes some seconds"])


def test_without_a_cache_it_says_how_to_get_one() -> None:
    said: list[str] = []
    announce_to(said.append)
    announce(is_cached=False)
    assert said == ["compiling; name a writable folder with NUMBA_CACHE_DIR to spare later runs these seconds"]


@pytest.mark.slow
def test_only_the_first_process_compiles(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def add(name: str) -> str:
        command = [sys.executable, "-c", INGEST, str(tmp_path / name)]
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout

    assert add("one.db") == "compiling, once for this machine; this takes some seconds\n"
    assert add("two.db") == ""
