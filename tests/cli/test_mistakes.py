"""The mistakes that people make first: what each prints, its exit status, and that it leaves nothing behind.

``{here}`` stands for the folder of the call. A call that ends with an error of lshdb says why in its last line.
"""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from lshdb.cli.app import main

TEN = "one two three four five six seven eight nine ten"
OTHER = "nothing of the kind is said in here at all"


@dataclass(frozen=True)
class Mistake:
    """A call, the exit status it ends with, and the lines that it prints to stderr."""

    call: str
    code: int
    said: tuple[str, ...]


MISTAKES = {
    "a typo in a path": Mistake("ingest ./carwl", 31, ("lshdb: {here}/carwl: no such file or folder.",)),
    "a typo in a verb": Mistake(
        "inges notes.txt", 2, ("lshdb: No such command 'inges'. Did you mean 'ingest'? Try: lshdb --help",)
    ),
    "no verb of this name": Mistake("frobnicate", 2, ("lshdb: No such command 'frobnicate'. Try: lshdb --help",)),
    "an option before the verb": Mistake(
        "--prune ingest notes.txt",
        2,
        ("lshdb: No such option: --prune. Write --prune after the verb. Try: lshdb --help",),
    ),
    "an option of another verb": Mistake(
        "dupes --prune", 2, ("lshdb: No such option: --prune. It is an option of ingest. Try: lshdb dupes --help",)
    ),
    "a variable that is not set, in quotes": Mistake(
        "--db '' ingest notes.txt", 2, ("lshdb: --db is empty. Is a variable of your shell not set?",)
    ),
    "a variable that is not set, without quotes": Mistake(
        "--db ingest notes.txt",
        2,
        (
            "lshdb: No such command 'notes.txt'. --db took the verb ingest as its value; is a variable of your shell "
            "not set? Try: lshdb --help",
        ),
    ),
    "a question before there is an index": Mistake(
        "dupes", 11, ("lshdb: There is no index at lshdb.db. Create one with: lshdb --db lshdb.db ingest PATH",)
    ),
    "a format that does not exist": Mistake(
        "ingest --input-format excel notes.txt",
        2,
        ("lshdb: input_format is 'excel': it must be one of warc, parquet, html, jsonl, csv, tsv, sets, text",),
    ),
    "the wrong format": Mistake(
        "ingest --input-format jsonl notes.txt",
        36,
        (
            "rejected  file://{here}/notes.txt, line 1: not JSON: Expecting value at character 1",
            "lshdb: Nothing in file://{here}/notes.txt was accepted (1 rejected: not JSON: Expecting value at "
            "character 1). The documents of other sources are kept.",
        ),
    ),
    "a column that is not there": Mistake(
        "ingest table.csv",
        36,
        (
            'rejected  file://{here}/table.csv, line 1: no column "text"; the columns are: id, body',
            'lshdb: Nothing in file://{here}/table.csv was accepted (1 rejected: no column "text"; the columns are: '
            "id, body). The documents of other sources are kept.",
        ),
    ),
    "a folder without text": Mistake(
        "ingest empty", 32, ("lshdb: empty: nothing to read here (no file that could be opened).",)
    ),
    "a folder in place of an index": Mistake(
        "--db empty ingest notes.txt",
        21,
        (
            "lshdb: Cannot open the file {here}/empty: it is a folder. Check that it is a file in a folder that "
            "exists, and that you may read both.",
        ),
    ),
    "a text in place of an index": Mistake(
        "--db notes.txt ingest table.csv",
        12,
        (
            "lshdb: notes.txt is not an lshdb index: file is not a database. Choose another path or URL with --db.",
        ),
    ),
    "an index in a folder that does not exist": Mistake(
        "--db none/lshdb.db ingest notes.txt",
        21,
        (
            "lshdb: Cannot open the file none/lshdb.db: unable to open database file. Check that it is a file in a "
            "folder that exists, and that you may read both.",
        ),
    ),
    "a share without its sign": Mistake(
        "ingest --max-rejected 0.5 notes.txt",
        2,
        ("lshdb: --max-rejected 0.5: write a number or a share, such as 100 or 5%",),
    ),
}  # fmt: skip

# In an index of notes.txt.
LATER_MISTAKES = {
    "other parameters": Mistake(
        "ingest --shingle char:5 notes.txt",
        15,
        (
            "lshdb: Index lshdb.db was created with --shingle word:5, not char:5. Omit the option, or create another "
            "index with --db.",
        ),
    ),
    "another similarity": Mistake(
        "ingest --min-sim 0.7 notes.txt",
        15,
        (
            "lshdb: Index lshdb.db was created with --min-sim 0.8, not 0.7. Omit the option, or create another index "
            "with --db. To change this one: lshdb --db lshdb.db reband --min-sim 0.7",
        ),
    ),
    "a similarity below the floor": Mistake(
        "dupes --min-sim 0.3",
        2,
        (
            "lshdb: --min-sim 0.3 is below this index's floor 0.5: less similar pairs are not stored. Ask for 0.5 or "
            "more, or create an index with a lower --floor.",
        ),
    ),
    "an unknown collection": Mistake(
        "dupes --within news", 42, ("lshdb: There is no collection 'news' in index lshdb.db. It has: 'default'.",)
    ),
    "an unknown id": Mistake(
        "remove nope", 41, ("lshdb: There is no document 'nope' in collection 'default' of index lshdb.db.",)
    ),
    "a second index in one place": Mistake(
        "init", 23, ("lshdb: There is already an index at lshdb.db. Add to it with: lshdb --db lshdb.db ingest PATH",)
    ),
    "a file that exists": Mistake(
        "backup notes.txt", 61, ("lshdb: notes.txt already exists. Choose another file, or overwrite it with --force.",)
    ),
    "a log in a folder that does not exist": Mistake(
        "ingest --log-file none/log notes.txt",
        62,
        ("lshdb: Cannot write none/log: No such file or directory. Nothing was changed.",),
    ),
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a text, a table and an empty folder, in which the calls are made."""
    folder = tmp_path / "here"
    (folder / "empty").mkdir(parents=True)
    (folder / "notes.txt").write_text(f"{TEN}\n")
    (folder / "table.csv").write_text(f"id,body\n1,{OTHER}\n")
    monkeypatch.chdir(folder)
    monkeypatch.delenv("LSHDB_URL", raising=False)
    return folder


class Shell:
    """Makes calls as a shell does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch, self._capsys = monkeypatch, capsys

    def run(self, call: str) -> tuple[int, list[str]]:
        """Return the exit status and the lines on stderr."""
        self._monkeypatch.setattr(sys, "argv", ["lshdb", *shlex.split(call)])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        return ended.value.code, self._capsys.readouterr().err.splitlines()


@pytest.fixture
def shell(here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


@pytest.mark.sqlite
@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_in_an_empty_place(mistake: Mistake, here: Path, shell: Shell) -> None:
    code, said = shell.run(mistake.call)
    assert said == [line.replace("{here}", str(here)) for line in mistake.said]
    assert code == mistake.code
    # Where something was read, there is an index, but without a document it takes other parameters.
    expected = {"empty", "notes.txt", "table.csv"}
    assert {path.name for path in here.iterdir()} - {"lshdb.db", "lshdb.db-lock"} == expected
    assert (here / "lshdb.db").exists() == (code in (32, 36))
    assert shell.run("ingest --min-sim 0.7 notes.txt") == (0, [])


@pytest.mark.sqlite
@pytest.mark.parametrize("mistake", LATER_MISTAKES.values(), ids=LATER_MISTAKES)
def test_a_mistake_with_an_index(mistake: Mistake, shell: Shell) -> None:
    assert shell.run("ingest notes.txt") == (0, [])
    assert shell.run(mistake.call) == (mistake.code, list(mistake.said))


@pytest.mark.sqlite
def test_records_without_an_id_are_named_by_their_line(here: Path, shell: Shell) -> None:
    (here / "noids.jsonl").write_text(f"{json.dumps({'text': TEN})}\n{json.dumps({'text': TEN})}\n")
    assert shell.run("ingest noids.jsonl") == (0, [])
    assert shell.run(f"query --id {here}/noids.jsonl#2") == (0, [])


@pytest.mark.sqlite
def test_two_files_with_the_same_ids_keep_both(here: Path, shell: Shell) -> None:
    for name, text in (("train", TEN), ("test", OTHER)):
        path = here / f"{name}.jsonl"
        path.write_text(json.dumps({"id": "1", "text": text}) + "\n")
        os.utime(path, (0, 0))
    code, said = shell.run("ingest train.jsonl test.jsonl")
    assert (code, said) == (
        0,
        [
            "warning  several files have the same ids with different texts: 1 got ids of the form ID@FILE "
            "(see --on-conflict)"
        ],
    )
    # A warning about data is not a note: --quiet prints it too.
    assert shell.run("--db other.db --quiet ingest train.jsonl test.jsonl") == (0, said)


@pytest.mark.sqlite
def test_a_file_that_cannot_be_read(here: Path, shell: Shell) -> None:
    # A socket, because permission bits do not stop root.
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("door")
        code, said = shell.run("ingest door")
    assert code == 32
    assert said[0] == f"rejected  file://{here}/door: not a regular file"
    assert said[-1] == "lshdb: door: nothing to read here (no file that could be opened)."


# What a folder that may not be searched does to every name in it, too, but not if root asks.
REFUSED_NAMES = {
    "--db {name} stats": 21,
    "--db {name} ingest notes.txt": 21,
    "--log-file {name} stats": 62,
    "query {name}": 31,
    "explain {name} notes.txt": 41,
    "explain --files {name} notes.txt": 34,
    "contaminated --train {name} --test ./notes.txt": 42,
    "filter {name} --out kept": 31,
    "dupes --out {name}": 62,
    "export --out {name}": 62,
    "backup {name}": 62,
    "copy lshdb.db {name}": 21,
}


@pytest.mark.sqlite
@pytest.mark.parametrize("call", REFUSED_NAMES)
def test_a_name_that_the_system_refuses_to_look_up(call: str, shell: Shell) -> None:
    assert shell.run("ingest notes.txt") == (0, [])
    code, said = shell.run(call.replace("{name}", "n" * 300))
    assert code == REFUSED_NAMES[call]
    assert said[-1].startswith("lshdb: ")


@pytest.mark.sqlite
def test_a_reader_that_is_not_installed(here: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "rows.parquet").write_bytes(b"PAR1 and so on")
    monkeypatch.setitem(sys.modules, "lshdb.readers.rows", None)
    needs = "reading Parquet needs pyarrow: pip install pyarrow"
    assert shell.run("ingest rows.parquet") == (
        37,
        [
            f"rejected  file://{here}/rows.parquet: no reader: {needs}",
            f"lshdb: file://{here}/rows.parquet: {needs}. Then run the same command again. The documents of other "
            "sources are kept.",
        ],
    )
