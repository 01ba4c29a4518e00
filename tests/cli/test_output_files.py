"""No file that a command writes takes the place of a database, or of the files that SQLite keeps next to one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lshdb import Document, Index
from tests.cli.conftest import Run

ENDINGS = ("", "-wal", "-shm", "-journal", "-lock")
COMMANDS: dict[str, Callable[[Path], tuple[object, ...]]] = {
    "rows": lambda file: ("dupes", "--force", "--out", file),
    "lines": lambda file: ("query", "-", "--force", "--out", file),
    "export": lambda file: ("export", "--force", "--out", file),
    "audit": lambda file: ("export", "--force", "--audit", file),
    "figures of runs": lambda file: ("runs", "--prometheus", file),
    "plot": lambda file: ("tune", "--plot", file),
    "log": lambda file: ("--log-file", file, "stats"),
}


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("command", COMMANDS)
def test_an_output_never_replaces_a_database_or_its_log(command: str, ending: str, lshdb: Run, tmp_path: Path) -> None:
    url, other = str(tmp_path / "index.db"), tmp_path / ("other.svg" if command == "plot" else "other.db")
    for place in (url, other):
        with Index.create(place) as index:
            index.add([Document("a", "one two three four five six")])
    file = tmp_path / f"{other.name}{ending}"
    # SQLite may have no such file at the moment.
    before = file.read_bytes() if file.exists() else None
    ended = lshdb(url, *COMMANDS[command](file))
    assert ended.code == (2 if command == "plot" and ending else 62)
    assert (file.read_bytes() if file.exists() else None) == before
