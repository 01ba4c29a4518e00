"""Runs the command line in this process, and keeps what it said and how it ended."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from lshdb.cli.app import main

Run = Callable[..., "Ended"]


@dataclass(frozen=True)
class Ended:
    """How a call ended."""

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
