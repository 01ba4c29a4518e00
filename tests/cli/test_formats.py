"""Every verb honours ``--format``, ``--out`` and ``--json``, or refuses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
import typer.main

from lshdb.cli.app import app
from lshdb.cli.options import Format
from lshdb.clusters.tabular import WRITERS
from lshdb.model.choices import ExportFormat
from tests.cli.conftest import Run

VERBS: dict[str, Any] = dict(typer.main.get_command(app).commands)

# Arguments with which a verb prints rows.
WITH_ROWS: dict[str, tuple[str, ...]] = {
    "dupes": (),
    "clusters": (),
    "contaminated": ("--train", "default", "--test", "other", "--all", "--max-share", "1"),
    "query": ("--id", "a.txt"),
    "passages": ("a.txt",),
    "boilerplate": (),
    "stats": ("--hot",),
    "runs": (),
    "decisions": (),
    "check": (),
    "tune": (),
    "export": (),
}
# What would be unreadable in a table.
ONLY_IN_JSON_LINES = {"contaminated": ["matches"], "passages": ["start_byte", "stop_byte", "documents"]}
# Arguments that a verb needs, if it prints no rows.
NEEDED: dict[str, tuple[str, ...]] = {
    "explain": ("a.txt", "b.txt"),
    "ingest": ("nothing",),
    "remove": ("nothing",),
    "backup": ("copy.db",),
    "copy": ("copy.db",),
    "reband": ("--min-sim", "0.7"),
}


def options_of(verb: str) -> set[str]:
    return {name for parameter in VERBS[verb].params for name in parameter.opts}


@pytest.fixture
def index(lshdb: Run, filled: str, tmp_path: Path) -> str:
    """An index with a second collection, passages and a decision."""
    (tmp_path / "more.jsonl").write_text('{"id": "m", "text": "more of something else"}\n')
    assert lshdb(filled, "ingest", "--collection", "other", tmp_path / "more.jsonl").code == 0
    assert lshdb(filled, "passages", "--build", "--words", "5").code == 0
    assert lshdb(filled, "decisions", "--keep", "a.txt").code == 0
    return filled


def test_every_verb_that_takes_a_format_is_walked_over() -> None:
    # test_captures.py tests the captures of a crawl.
    assert {verb for verb in VERBS if "--format" in options_of(verb)} == {*WITH_ROWS, "captures"}


def test_a_verb_with_rows_prints_and_writes_them_in_the_format_that_is_asked_for(
    lshdb: Run, index: str, tmp_path: Path
) -> None:
    for verb, arguments in WITH_ROWS.items():
        ended = {form: lshdb(index, verb, *arguments, "--format", form).out for form in ("jsonl", "csv", "tsv")}
        rows = [json.loads(line) for line in ended["jsonl"].splitlines()]
        assert rows or verb == "check", f"{verb}: only check has no rows, because there are no faults"
        columns = ended["csv"].splitlines()[0].split(",")
        assert ended["tsv"].splitlines()[0].split("\t") == columns
        assert not rows or list(rows[0]) == columns + ONLY_IN_JSON_LINES.get(verb, [])
        assert lshdb(index, verb, *arguments, "--format", "csv", "--out", "-").out == ended["csv"]
        lshdb(index, verb, *arguments, "--format", "csv", "--out", tmp_path / f"{verb}.csv")
        assert (tmp_path / f"{verb}.csv").read_text() == ended["csv"]


def test_every_format_has_a_writer() -> None:
    assert {*get_args(Format), *get_args(ExportFormat)} - {"table", "parquet"} == set(WRITERS)


# Refused before the index is opened.


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_a_verb_refuses_a_format_that_it_does_not_have(verb: str, lshdb: Run, tmp_path: Path) -> None:
    ended = lshdb(tmp_path / "none.db", verb, *WITH_ROWS.get(verb, NEEDED.get(verb, ())), "--format", "xml")
    assert (ended.code, ended.out) == (2, "")


@pytest.mark.parametrize("verb", sorted(verb for verb in WITH_ROWS if "--json" in options_of(verb)))
def test_one_object_and_rows_are_not_printed_at_once(verb: str, lshdb: Run, tmp_path: Path) -> None:
    arguments = () if verb == "stats" else WITH_ROWS[verb]
    ended = lshdb(tmp_path / "none.db", verb, "--json", "--format", "csv", *arguments)
    assert (ended.code, ended.out) == (2, "")


@pytest.mark.parametrize("option", [("--format", "csv"), ("--out", "figures.csv")])
def test_the_figures_of_an_index_are_no_rows(option: tuple[str, str], lshdb: Run, tmp_path: Path) -> None:
    ended = lshdb(tmp_path / "none.db", "stats", *option)
    assert (ended.code, ended.out) == (2, "")
    assert "--json" in ended.err
    for contradiction in (("--json", "--hot"), ("--json", "--rejected", "1"), ("--hot", "--rejected", "1")):
        assert lshdb(tmp_path / "none.db", "stats", *contradiction).code == 2
