"""Standard streams that are full, broken or closed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lshdb import Document, Index
from lshdb.cli.app import Commands
from tests.cli.conftest import ELEVEN, TEN, Ended, Run

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")

FULL = (
    "lshdb: Cannot write standard output: No space left on device. The output is incomplete; everything committed is "
    "kept.\n"
)
CLOSED = FULL.replace("No space left on device", "Bad file descriptor")
# What makes each verb print at least a line; {} is a folder with two documents. --help, if that needs more than this.
PRINTING = {
    "ingest": "--json {}/crawl",
    "link": "",
    "init": "--db {}/other.db",
    "spark": "--help",
    "load": "--help",
    "dupes": "",
    "clusters": "",
    "query": "--id c",
    "explain": "a b",
    "passages": "--build",
    "boilerplate": "--help",
    "captures": "--help",
    "contaminated": "--train default --test {}/crawl",
    "stats": "",
    "runs": "",
    "serve": "--help",
    "report": "-",
    "export": "",
    "filter": "--json --out {}/filtered {}/crawl",
    "decisions": "",
    "remove": "d",
    "tune": "",
    "reband": "--min-sim 0.7",
    "verify": "",
    "check": "",
    "upgrade": "",
    "backup": "{}/backup.db",
    "copy": "{}/index.db {}/copy.db",
    "vacuum": "",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index, and a folder of two documents in it."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "crawl").mkdir()
    for name, text in (("a", TEN), ("b", ELEVEN)):
        (folder / "crawl" / f"{name}.txt").write_text(text)
    with Index.create(folder / "index.db") as index:
        index.ingest([folder / "crawl"])
        index.add([Document("a", TEN), Document("b", ELEVEN), Document("c", TEN[:-4]), Document("d", TEN)])
        index.link()
    return folder


@pytest.fixture
def full(lshdb: Run, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Run]:
    """A call whose standard output is full."""

    def run(*arguments: str) -> Ended:
        # As at the start of a process, and not of the test.
        with Path("/dev/full").open("w") as out, monkeypatch.context() as patched:
            for name in ("stdout", "__stdout__"):
                patched.setattr(sys, name, out)
            ended = lshdb(folder / "index.db", *arguments)
            sys.stdout.flush()  # As Python does at exit.
        return ended

    return run


def process(arguments: str, **streams: int | None) -> subprocess.CompletedProcess[str]:
    """A call in a process of its own. Args: streams: where they lead, by name; None closes them."""
    closed = [number for number, name in enumerate(("stdin", "stdout", "stderr")) if streams.get(name, 0) is None]
    given = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
    return subprocess.run(
        [sys.executable, "-m", "lshdb", *arguments.split()],
        preexec_fn=lambda: [os.close(number) for number in closed],
        text=True,
        check=False,
        **given,
    )  # type: ignore[call-overload, no-any-return]


def test_every_verb_is_tested() -> None:
    assert sorted(PRINTING) == sorted(Commands())


@pytest.mark.parametrize("arguments", [f"{verb} {rest}" for verb, rest in PRINTING.items()] + ["--help", "--version"])
def test_a_full_standard_output_is_an_error_of_its_own(arguments: str, full: Run, folder: Path) -> None:
    ended = full(*arguments.format(*[folder] * 2).split())
    assert (ended.code, ended.err.splitlines(keepends=True)[-1:]) == (62, [FULL])


def test_an_error_of_the_call_is_told_before(full: Run, folder: Path) -> None:
    (folder / "bad.jsonl").write_text("{\n")
    ended = full("ingest", str(folder / "bad.jsonl"))
    assert ended.code == 62
    assert [line.split()[1] for line in ended.err.splitlines()[-2:]] == ["Nothing", "Cannot"]


def test_a_process_with_a_full_or_closed_output_says_so_in_one_line(folder: Path) -> None:
    arguments = f"--db {folder}/index.db query --id c"
    with Path("/dev/full").open("w") as out:
        ended = process(arguments, stdout=out.fileno())
    assert (ended.returncode, ended.stderr) == (62, FULL)
    ended = process(arguments, stdout=None)
    assert (ended.returncode, ended.stderr) == (62, CLOSED)


def test_messages_that_cannot_be_written_do_not_change_the_status(folder: Path) -> None:
    arguments = f"--db {folder}/index.db query --id nothing"
    assert process(arguments, stderr=None).returncode == 41
    with Path("/dev/full").open("w") as out:
        assert process(arguments, stderr=out.fileno()).returncode == 41


def test_a_closed_standard_input_cannot_be_read(folder: Path) -> None:
    ended = process(f"--db {folder}/index.db filter -", stdin=None)
    assert (ended.returncode, ended.stderr) == (34, "lshdb: -: Bad file descriptor\n")


def test_a_reader_that_closes_the_pipe_ends_the_call_without_a_message(folder: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    ended = process(f"--db {folder}/index.db dupes", stdout=write)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (141, "")


def test_a_full_pipe_that_does_not_block_is_an_error(folder: Path) -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    with suppress(BlockingIOError):
        while True:
            os.write(write, bytes(4096))
    ended = process(f"--db {folder}/index.db dupes", stdout=write)
    os.close(read)
    os.close(write)
    assert ended.returncode == 62
    assert ended.stderr == FULL.replace("No space left on device", "it is full and does not block")
