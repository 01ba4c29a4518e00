"""How rows are printed."""

from __future__ import annotations

import json

import pytest

from lshdb.cli.render import Output, print_rows, visible


def test_columns_of_a_table_line_up_with_characters_of_double_width(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(("id", "similarity"), [("日本", 0.5), ("abcdef", 1.0)], Output("table"))
    assert capsys.readouterr().out == "similarity  id\n0.5000      日本\n1.0000      abcdef\n"


def test_a_cell_wider_than_the_measured_rows_is_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(("id", "n"), [*([("a", 1)] * 500), ("a long one", 2)], Output("table"))
    assert capsys.readouterr().out.endswith("a   1\n\nid          n\na long one  2\n")


def test_a_table_shows_the_first_values_of_a_list_and_no_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_rows(("all",), [(("a\x1b", "b", "c", "d", "e"),)], Output("table"))
    assert capsys.readouterr().out.splitlines()[1] == "a\\x1b, b, c, and 2 more"


def test_rows_are_printed_as_they_come(capsys: pytest.CaptureFixture[str]) -> None:
    def rows() -> object:
        yield (1,)
        yield (2,)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        print_rows(("n",), rows(), Output("jsonl"))  # type: ignore[arg-type]
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [{"n": 1}, {"n": 2}]


def test_a_question_that_fails_prints_no_header(capsys: pytest.CaptureFixture[str]) -> None:
    def rows() -> object:
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        print_rows(("n",), rows(), Output("csv"))  # type: ignore[arg-type]
    assert capsys.readouterr().out == ""


def test_control_characters_are_spelled_out_but_for_those_to_keep() -> None:
    assert visible("a\tb\x7f") == "a\\x09b\\x7f"
    assert visible("a\tb\n", keep="\t") == "a\tb\\x0a"
