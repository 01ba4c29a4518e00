"""Hostile ids: on a terminal, in a spreadsheet, and in messages."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from pathlib import Path

import pytest

from lshdb import Document, Index
from lshdb.cli.render import Output, print_rows, visible
from tests.cli.conftest import OTHER, TEN, Run, write_jsonl

# The 8-bit form of ESC [, a right-to-left override, an isolate, and a line separator.
HOSTILE = "a\x9b2J\u202eb\u2066c\u2028\x7f"
SPELLED = "a\\x9b2J\\u202eb\\u2066c\\u2028\\x7f"
FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\uff1d1+1"]
LONG = "x" * 1_000_000


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(monkeypatch: pytest.MonkeyPatch, output: Output, *values: str) -> str:
    """Return what a terminal receives for one row."""
    monkeypatch.setattr(sys, "stdout", terminal := _Terminal())
    print_rows([f"c{number}" for number in range(len(values))], [values], output)
    return terminal.getvalue()


def on_terminal(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """Return what a terminal receives from a call."""
    from lshdb.cli.app import main

    terminal = _Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(sys, "argv", ["lshdb", *arguments])
    monkeypatch.setenv("TERM", "dumb")
    with pytest.raises(SystemExit):
        main()
    return terminal.getvalue()


def in_csv(out: str) -> list[str]:
    """Return the first fields of CSV, without the header."""
    return [row[0] for row in csv.reader(io.StringIO(out, newline=""))][1:]


@pytest.fixture
def formulas(lshdb: Run, url: str, tmp_path: Path) -> str:
    """An index of pages whose ids are formulas."""
    assert lshdb(url, "ingest", write_jsonl(tmp_path / "a.jsonl", dict.fromkeys(FORMULAS, OTHER))).code == 0
    return url


def test_c1_controls_and_changes_of_direction_are_spelled_out() -> None:
    assert visible(HOSTILE) == SPELLED
    assert visible("a\u061cb\u200ec\u200f") == "a\\u061cb\\u200ec\\u200f"
    assert visible("שלום 中 é") == "שלום 中 é"


@pytest.mark.parametrize("form", ["table", "tsv", "csv"])
def test_a_terminal_receives_no_control_characters(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out = printed(monkeypatch, Output(form, no_pager=True), HOSTILE, "\x1b[2J")  # type: ignore[arg-type]
    assert SPELLED in out
    assert "\\x1b[2J" in out
    assert not {"\x9b", "\x1b", "\u202e", "\u2028"} & set(out)


def test_json_on_a_terminal_stays_json(monkeypatch: pytest.MonkeyPatch) -> None:
    out = printed(monkeypatch, Output("jsonl"), HOSTILE)
    assert not {"\x9b", "\u202e"} & set(out)
    assert json.loads(out) == {"c0": HOSTILE}


def test_control_characters_are_printed_as_they_are_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    assert printed(monkeypatch, Output("tsv", raw=True), HOSTILE) == f"c0\n{HOSTILE}\n"


def test_a_file_or_a_pipe_receives_them_as_they_are(lshdb: Run, url: str, tmp_path: Path) -> None:
    lshdb(url, "ingest", write_jsonl(tmp_path / "a.jsonl", {HOSTILE: TEN}))
    assert lshdb(url, "export").out == f"{HOSTILE}\n"
    lshdb(url, "export", "--out", tmp_path / "kept.txt")
    assert (tmp_path / "kept.txt").read_text() == f"{HOSTILE}\n"


def test_an_export_to_a_terminal_spells_them_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Index.create(tmp_path / "index.db") as index:
        index.add(Document(HOSTILE, TEN))
    for arguments, expected in (((), SPELLED), (("--raw",), HOSTILE)):
        assert on_terminal(monkeypatch, "--db", str(tmp_path / "index.db"), "export", *arguments) == f"{expected}\n"


def test_reports_on_a_terminal_spell_them_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / f"{HOSTILE}.db"
    with Index.create(place) as index:
        index.add(Document("a", TEN))
        index.add(Document(HOSTILE, TEN), collection=HOSTILE)
    for arguments in (
        ("stats",),
        ("stats", "--json"),
        ("runs", "--json"),
        ("explain", "a", HOSTILE, "--collection", "default", "--collection", HOSTILE, "--json"),
        ("backup", str(tmp_path / f"{HOSTILE}2.db")),
        ("contaminated", "--train", "default", "--test", HOSTILE),
        ("contaminated", "--train", "default", "--test", HOSTILE, "--measure", "jaccard"),
    ):
        out = on_terminal(monkeypatch, "--db", str(place), *arguments)
        assert "\\u202eb" in out
        assert not {"\x9b", "\u202e", "\u2028", "\x7f"} & set(out)


def test_a_filter_on_a_terminal_spells_out_names_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl, place = tmp_path / f"{HOSTILE}\x1b[2J\n", str(tmp_path / "index.db")
    crawl.mkdir()
    for name in "ab":
        (crawl / f"{name}.txt").write_text(TEN)
        # Its beginning is read, and its end is missing.
        whole = "".join(json.dumps({"id": f"{name}{number}", "text": OTHER}) + "\n" for number in range(9))
        (crawl / f"{name}.jsonl.gz").write_bytes(gzip.compress(whole.encode())[:-20])
    with Index.create(place) as index:
        index.ingest([crawl])
    (crawl / "a.txt").unlink()
    for arguments, said in (
        (("--delete", "--dry-run"), "spared"),
        (("--out", str(tmp_path / "out"), "--exclude", "*.txt"), "failed"),
    ):
        out = on_terminal(monkeypatch, "--db", place, "filter", str(crawl), *arguments)
        assert f"{said}  {tmp_path}/{SPELLED}\\x1b[2J\\x0a/" in out
        assert not {"\x9b", "\x1b", "\u202e", "\u2028", "\x7f"} & set(out)


def test_csv_holds_no_formulas(lshdb: Run, formulas: str) -> None:
    rows = lshdb(formulas, "dupes", "--format", "csv", "--sort", "id").out
    assert sorted({field[0] for field in in_csv(rows)}) == ["'"]
    assert in_csv(lshdb(formulas, "export", "--what", "kept", "--format", "csv").out) == ["'=1+1"]
    assert in_csv(lshdb(formulas, "export", "--what", "dropped", "--format", "csv").out) == [
        f"'{each}" for each in FORMULAS[1:]
    ]


def test_csv_for_programs_holds_the_ids_as_they_are(lshdb: Run, formulas: str) -> None:
    assert in_csv(lshdb(formulas, "export", "--what", "dropped", "-f", "csv", "--raw").out) == FORMULAS[1:]
    rows = lshdb(formulas, "dupes", "--format", "csv", "--raw").out
    assert set(in_csv(rows)) <= set(FORMULAS)


def test_numbers_and_other_texts_stay_as_they_are_in_csv(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(["a", "b", "c", "d"], [[-1.5, "a=b", "", None]], Output("csv"))
    assert capsys.readouterr().out == "a,b,c,d\n-1.5,a=b,,\n"


def test_an_id_of_a_megabyte_is_shortened_in_messages(lshdb: Run, url: str, tmp_path: Path) -> None:
    lshdb(url, "ingest", write_jsonl(tmp_path / "a.jsonl", {"a": TEN}))
    (tmp_path / "ids").write_text(LONG)
    ended = lshdb(url, "remove", "--from-file", tmp_path / "ids")
    assert ended.code == 41
    assert len(ended.err) < 2_000
    assert "xxx ... (1,000,000 characters) ... xxx" in ended.err
    assert " in collection 'default' of index " in ended.err


def test_long_ids_in_a_conflict_and_an_explanation_are_shortened(lshdb: Run, url: str, tmp_path: Path) -> None:
    longest = "x" * 2_000
    one = write_jsonl(tmp_path / "a.jsonl", {longest: TEN})
    two = write_jsonl(tmp_path / "b.jsonl", {longest: OTHER})
    ended = lshdb(url, "ingest", "--on-conflict", "error", one, two)
    assert (ended.code, "xxx ... (2,000 characters) ... xxx" in ended.err) == (44, True)
    lshdb(url, "ingest", one)
    assert lshdb(url, "explain", longest, longest, "--no-diff").out.count(" ... (2,000 characters) ... ") == 2


def test_a_rejection_of_a_megabyte_is_shortened_where_it_is_printed(lshdb: Run, url: str, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps({LONG: 1, "id": "a"}) + "\n" + json.dumps({"id": "b", "text": TEN}) + "\n")
    assert len(lshdb(url, "ingest", path).err) < 5_000
