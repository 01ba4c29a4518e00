"""lshdb from the command line: ``ingest``, which also links, then ``dupes``. On SQLite, or on Postgres with a URL."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from typing import Final

import msgspec

from benchmarks.peers.protocol import BANDS, ROWS, Answer, Task, run
from benchmarks.runs.ingest import default_command

DEFAULT_FLOOR: Final = 0.5


def duplicates(task: Task) -> Iterator[Answer]:
    """Yield the pairs with their exact similarity. Raises: subprocess.CalledProcessError."""
    call = [*default_command().split(), "--quiet", "--db", task.url or str(task.work / "index.db")]
    settings = ["--bands", str(BANDS), "--rows", str(ROWS), "--workers", str(task.workers)]
    settings += ["--floor", str(min(DEFAULT_FLOOR, task.min_sim))]
    subprocess.run([*call, "ingest", *settings, str(task.file)], check=True, stdout=subprocess.DEVNULL)
    dupes = [*call, "dupes", "--min-sim", str(task.min_sim), "--expand", "--format", "jsonl"]
    done = subprocess.run(dupes, check=True, stdout=subprocess.PIPE)
    yield from map(msgspec.json.Decoder(Answer).decode, done.stdout.splitlines())


if __name__ == "__main__":
    run(duplicates)
