"""Memory from the system: one heap for all threads."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

# Each thread keeps 10 kB, which Python takes from malloc; malloc_stats prints every arena.
PROGRAM = """
import ctypes, threading
from lshdb.cli.memory import share_one_arena
{call}
together, kept = threading.Barrier(4), []
def hold():
    together.wait()
    kept.append(bytearray(10_000))
    together.wait()
threads = [threading.Thread(target=hold) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
ctypes.CDLL(None).malloc_stats()
"""


def num_arenas(call: str) -> int:
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(call=call)], stderr=subprocess.PIPE, check=True)
    return done.stderr.count(b"Arena ")


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_stats"), reason="needs glibc")
def test_threads_share_one_arena() -> None:
    assert num_arenas("") > 1
    assert num_arenas("share_one_arena()") == 1
