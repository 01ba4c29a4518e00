"""Fixtures: the command line in this process, a small crawl, and its index."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
import typer.main

from lshdb.cli.app import main

Run = Callable[..., "Ended"]

TEN = "one two three four five six seven eight nine ten"
ELEVEN = f"{TEN} eleven"  # 6 and 7 shingles of 5 words, 6 in common
OTHER = "nothing of the kind is said in here at all"

# Typer builds all verbs with all options for each call, which takes 17 ms: as long as a short question.
build_once = cache(typer.main.get_command)


@dataclass(frozen=True)
class Ended:
    """The exit status and output of a call."""

    code: int
    out: str
    err: str

    @property
    def rows(self) -> list[list[str]]:
        """The fields of TSV output, without the header."""
        return [line.split("\t") for line in self.out.splitlines()[1:]]


@pytest.fixture
def lshdb(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """``lshdb(url, "dupes", "--min-sim", "0.8")``: a call of the command line; `stdin` is bytes for ``-``."""
    monkeypatch.delenv("LSHDB_URL", raising=False)
    monkeypatch.setattr("typer.main.get_command", build_once)

    def run(url: object, *arguments: object, stdin: bytes = b"") -> Ended:
        monkeypatch.setattr(sys, "argv", ["lshdb", "--db", str(url), *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Ended(ended.value.code, captured.out, captured.err)

    return run


def write_jsonl(path: Path, texts: dict[str, str]) -> Path:
    """Write a file of documents by id."""
    path.write_text("".join(json.dumps({"id": doc_id, "text": text}) + "\n" for doc_id, text in texts.items()))
    return path


@pytest.fixture
def crawl(tmp_path: Path) -> Path:
    """A folder: a and c have the same text, b is similar to them, d is not, e is empty."""
    folder = tmp_path / "crawl"
    folder.mkdir()
    for name, text in {"a": TEN, "b": ELEVEN, "c": TEN.upper(), "d": OTHER, "e": ""}.items():
        (folder / f"{name}.txt").write_text(text)
    return folder


@pytest.fixture
def filled(lshdb: Run, url: str, crawl: Path) -> str:
    """The URL of an index of the crawl, with ids relative to its folder."""
    assert lshdb(url, "ingest", "--base", crawl, crawl).code == 0
    return url
