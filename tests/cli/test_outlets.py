"""Where progress, notes, warnings and errors go."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import pytest

from lshdb.cli.display import Display
from lshdb.cli.outlets import JsonLines, LogFile, Quiet, TextLines
from lshdb.model.values import Rejection
from tests.cli.conftest import Run

REJECTION = Rejection("file:///a.jsonl", "line 2", "not JSON")


def tell(display: Display) -> None:
    """Report one of each kind."""
    display.advanced("link", 0.5)
    display.rejected(REJECTION)
    display.noticed("waiting for the database")
    display.warned("3 documents were displaced")
    display.summarised("run 1: 5 added")


def test_text_lines_show_everything_but_the_summary_which_is_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    tell(Display([TextLines(0.0)]))
    assert capsys.readouterr().err.splitlines() == [
        "link    [###############...............]  50%",
        "rejected  file:///a.jsonl, line 2: not JSON",
        "note  waiting for the database",
        "warning  3 documents were displaced",
    ]


def test_what_takes_long_is_a_step_of_progress(capsys: pytest.CaptureFixture[str]) -> None:
    Display([TextLines(0.0)]).busy("compiling")
    Display([TextLines(60.0)]).busy("compiling")
    assert capsys.readouterr().err == "compiling\n"


def test_json_lines_on_a_terminal_have_no_control_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    Display([JsonLines(0.0)]).warned("a\x9b2J\u202e\x7f")
    assert json.loads(terminal.getvalue())["message"] == "a\x9b2J\u202e\x7f"
    assert terminal.getvalue().isascii()


def test_progress_can_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    Display([TextLines(None)]).advanced("link", 0.5)
    assert capsys.readouterr().err == ""


def test_progress_in_a_log_comes_once_in_an_interval(capsys: pytest.CaptureFixture[str]) -> None:
    display = Display([TextLines(3600.0)])
    for share in range(100):
        display.advanced("link", share / 100)
    assert capsys.readouterr().err == ""


def test_quiet_shows_only_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    tell(Display([Quiet(TextLines(0.0))]))
    assert capsys.readouterr().err == "warning  3 documents were displaced\n"


def test_json_lines_hold_the_figures(capsys: pytest.CaptureFixture[str]) -> None:
    tell(Display([JsonLines(0.0)]))
    assert [json.loads(line) for line in capsys.readouterr().err.splitlines()] == [
        {
            "event": "progress",
            "message": "link    [###############...............]  50%",
            "stage": "link",
            "share": 0.5,
        },
        {
            "event": "rejected",
            "message": "file:///a.jsonl, line 2: not JSON",
            "source": "file:///a.jsonl",
            "locator": "line 2",
            "reason": "not JSON",
        },
        {"event": "note", "message": "waiting for the database"},
        {"event": "warning", "message": "3 documents were displaced"},
    ]


def test_control_characters_do_not_break_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    Display([TextLines(0.0)]).noticed("a\nb\x1b[2J")
    assert capsys.readouterr().err == "note  a\\x0ab\\x1b[2J\n"


def test_a_log_file_is_appended_to_and_has_the_summary_too(tmp_path: Path) -> None:
    for _ in range(2):
        log = LogFile(tmp_path / "lshdb.log", TextLines(None))
        tell(Display([log]))
        log.close()
    lines = (tmp_path / "lshdb.log").read_text().splitlines()
    assert len(lines) == 8
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  ", line) for line in lines)
    assert lines[3].endswith("Z  run 1: 5 added")


def test_a_call_writes_its_warnings_and_its_end_to_the_log(lshdb: Run, url: str, crawl: Path, tmp_path: Path) -> None:
    log = tmp_path / "lshdb.log"
    assert lshdb(url, "ingest", crawl, "--quiet", "--log-file", log).code == 0
    ended = lshdb(url, "--log-file", log, "query", "--id", "nothing")
    done, failed = (line.split("  ", 1)[1] for line in log.read_text().splitlines())
    assert done.startswith("run 1: 5 added, 1 of them empty; ")
    assert ended.code == 41
    assert f"{failed}\n" == ended.err


def test_a_log_that_cannot_be_written_ends_the_call(lshdb: Run, url: str, crawl: Path, tmp_path: Path) -> None:
    ended = lshdb(url, "ingest", crawl, "--log-file", tmp_path / "none" / "lshdb.log")
    assert ended.code == 62
    assert ended.err == (
        f"lshdb: Cannot write {tmp_path}/none/lshdb.log: No such file or directory. Nothing was changed.\n"
    )


def test_a_log_on_a_full_disk_costs_one_warning_and_not_the_call(lshdb: Run, url: str, crawl: Path) -> None:
    ended = lshdb(url, "ingest", crawl, "--log-file", "/dev/full")
    assert ended.code == 0
    assert ended.err == "warning  The log file /dev/full is incomplete: No space left on device.\n"
    assert ended.out.startswith("run 1: 5 added")


def test_an_error_is_an_object_with_its_status_under_progress_json(lshdb: Run, tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    ended = lshdb(path, "dupes", "--progress", "json")
    assert json.loads(ended.err) == {
        "event": "error",
        "message": f"There is no index at {path}. Create one with: lshdb --db {path} ingest PATH",
        "status": 11,
    }
