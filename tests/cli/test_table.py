"""Tables for people: the layout at any width, the pager, and files."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.cells import cell_len

from lshdb import Document, Index
from lshdb.cli.output import Output
from lshdb.cli.render import print_rows
from lshdb.cli.table import Listing, counted, write_table
from tests.cli.conftest import TEN, Run

PAIRS = Listing(("left", "right", "similarity", "exact"), ("left", "right"), "pair")


def lines(listing: Listing, rows: Sequence[Sequence[object]], width: int | None = None) -> list[str]:
    """Return the lines of a table."""
    out = io.StringIO()
    write_table(listing, rows, out, width)
    return out.getvalue().splitlines()


def test_the_similarity_comes_first_and_ids_lose_what_they_share() -> None:
    rows = [("/srv/crawl/a.html", "/srv/crawl/x/b.html", 1.0, True), ("/srv/crawl/a.html", "/srv/crawl/c", 0.5, True)]
    assert lines(PAIRS, rows) == [
        "ids begin with /srv/crawl/",
        "similarity  left    right",
        "1.0000      a.html  x/b.html",
        "0.5000      a.html  c",
        "",
        "2 pairs",
    ]


def test_whether_a_similarity_is_exact_is_said_only_where_some_are_not() -> None:
    assert lines(PAIRS, [("a", "b", 1.0, True), ("a", "c", 0.5, False)])[:3] == [
        "similarity  left  right  exact",
        "1.0000      a     b      true",
        "0.5000      a     c      false",
    ]


def test_nothing_is_taken_off_where_an_id_would_be_empty_or_little_is_gained() -> None:
    for ids in (
        ("a.org/", "a.org/b"),
        ("/a", "/b"),
        ("doc-000001", "doc-000002"),
        ("same/id", "same/id"),
    ):
        assert not lines(PAIRS, [(*ids, 1.0, True)])[0].startswith("ids begin"), ids
    assert lines(PAIRS, [("https://a.org/x/", "https://a.org/x/y", 1.0, True)])[0] == "ids begin with https://a.org/"


def test_a_count_says_whether_the_list_was_cut_off() -> None:
    assert lines(PAIRS, [("a", "b", 1.0, True)])[-1] == "1 pair"
    assert lines(PAIRS, []) == ["0 pairs"]
    limited = Listing(PAIRS.columns, PAIRS.ids, "pair", limit=1)
    assert lines(limited, [("a", "b", 1.0, True)])[-1] == "the first 1 pair"


LONG = "2024-05/" + "k" * 60 + "/" + "z" * 40 + "/page.html"
WIDE = "日本語の記事/" * 7 + "頁.html"


@pytest.mark.parametrize("width", [40, 79, 80, 100, 160])
def test_a_line_fits_the_width_and_columns_line_up_with_characters_of_double_width(width: int) -> None:
    table = lines(PAIRS, [(LONG, WIDE, 1.0, True), (WIDE, "short", 0.5, True)], width)[:-2]
    assert max(map(cell_len, table)) <= width
    second = cell_len(table[0][: table[0].index("right")])
    assert cell_len(table[2][: table[2].index("short")]) == second
    assert table[1].split()[1].startswith("2024-0")
    assert table[1].split()[1].endswith(".html")
    assert "…" in table[1]


def test_what_fits_is_not_shortened_even_beside_what_does_not() -> None:
    (_, row) = lines(PAIRS, [("a short id, whole", LONG, 1.0, True)], 80)[:2]
    assert "a short id, whole" in row
    assert cell_len(row) == 80


def test_without_a_width_nothing_is_shortened() -> None:
    assert lines(PAIRS, [(LONG, WIDE, 1.0, True)])[1] == f"1.0000      {LONG}  {WIDE}"


def test_later_rows_that_do_not_fit_get_a_header_of_their_own() -> None:
    first = [("/srv/a/x", "/srv/a/y", 1.0, True)] * 500
    for later, header in (
        (("/tmp/b/x", "/tmp/b/y", 1.0, True), "ids begin with /tmp/b/"),
        (("/srv/a/x", "/srv/a/y", 1.0, False), "ids begin with /srv/a/"),
        (("/srv/a/long", "/srv/a/longer", 1.0, True), "ids begin with /srv/a/"),
    ):
        assert lines(PAIRS, [*first, later])[-6:-4] == ["", header]
    assert len(lines(PAIRS, [*first, first[0]])) == 2 + 501 + 2


def test_a_list_shows_its_first_values_without_their_prefix() -> None:
    listing = Listing(("keep", "members"), ("keep", "members"), "cluster")
    rows = [("/srv/a/1", ("/srv/a/1", "/srv/a/2", "/srv/a/3", "/elsewhere"))]
    assert lines(listing, rows)[:3] == ["ids begin with /srv/a/", "keep  members", "1     1, 2, 3, and 1 more"]


def test_a_prefix_shows_control_characters() -> None:
    assert lines(PAIRS, [("a\x1b[2J/b", "a\x1b[2J/c", 1.0, True)])[0] == "ids begin with a\\x1b[2J/"


# Files


def test_rows_go_to_a_file_in_the_format_of_its_suffix(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, first in {"a.csv": "n", "a.tsv": "n", "a.jsonl": '{"n": 1}', "a": "n"}.items():
        print_rows(("n",), [(1,)], Output(out=tmp_path / name))
        assert (tmp_path / name).read_text().splitlines()[0] == first
    print_rows(("n",), [(1,)], Output(form="csv", out=Path("-")))
    assert capsys.readouterr().out == "n\n1\n"


def test_an_existing_file_is_overwritten_only_with_force_and_an_index_never(
    lshdb: Run, filled: str, tmp_path: Path
) -> None:
    out = tmp_path / "pairs.jsonl"
    assert lshdb(filled, "dupes", "--out", out).out == ""
    before = out.read_text()
    assert json.loads(before.splitlines()[0])["left"] == "a.txt"
    assert lshdb(filled, "dupes", "--out", out).code == 61
    assert lshdb(filled, "dupes", "--out", out, "--force").code == 0
    assert out.read_text() == before
    Index.create(tmp_path / "other.db").close()
    ended = lshdb(filled, "dupes", "--out", tmp_path / "other.db", "--force")
    assert (ended.code, "it is a database" in ended.err) == (62, True)


def test_a_question_that_fails_leaves_no_file(lshdb: Run, filled: str, tmp_path: Path) -> None:
    assert lshdb(filled, "dupes", "--min-sim", "0.1", "--out", tmp_path / "pairs.csv").code == 2
    assert not (tmp_path / "pairs.csv").exists()


# The pager


def on_a_terminal(url: str, *arguments: str, **environment: str) -> str:
    """Return what a call prints on a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    defaults = {"TERM": "xterm", "COLUMNS": "80", "LINES": "24"}
    without = {name: value for name, value in os.environ.items() if name not in {"PAGER", "LSHDB_PAGER", "LESS"}}
    command = [sys.executable, "-m", "lshdb", "--db", url, *arguments]
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL, env={**without, **defaults, **environment}
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            block = os.read(ours, 65_536)
        except OSError:  # The terminal is closed.
            break
        if not block:
            break
        shown += block
    os.close(ours)
    assert process.wait() == 0
    return shown.decode().replace("\r\n", "\n")


@pytest.fixture
def pair(tmp_path: Path) -> str:
    """The URL of an index with a pair."""
    with Index.create(tmp_path / "pair.db") as index:
        index.add([Document("a", TEN), Document("b", TEN)])
        return index.url


TABLE = "similarity  left  right\n1.0000      a     b\n\n1 pair\n"


@pytest.mark.slow
def test_a_table_on_a_terminal_goes_through_the_pager_that_is_chosen(pair: str) -> None:
    marked = TABLE.replace("a     b", "[a     b]")
    assert on_a_terminal(pair, "dupes", LSHDB_PAGER="sed 's/a     b/[&]/'", PAGER="false") == marked
    assert on_a_terminal(pair, "dupes", PAGER="sed 's/a     b/[&]/'") == marked
    assert on_a_terminal(pair, "dupes", PAGER="printenv LESS; cat") == f"FRX\n{TABLE}"
    assert on_a_terminal(pair, "dupes", PAGER="printenv LESS; cat", LESS="S") == f"S\n{TABLE}"


@pytest.mark.slow
def test_no_pager_is_started_where_none_is_wanted(pair: str) -> None:
    assert on_a_terminal(pair, "dupes", "--no-pager", PAGER="false") == TABLE
    assert on_a_terminal(pair, "dupes", PAGER="") == TABLE
    assert on_a_terminal(pair, "dupes", PAGER="cat", LSHDB_PAGER="") == TABLE
    assert on_a_terminal(pair, "dupes", PAGER="false", TERM="dumb") == TABLE
    assert on_a_terminal(pair, "dupes", "--format", "tsv", PAGER="false").startswith("left\tright")


@pytest.mark.slow
def test_leaving_the_pager_early_is_no_error(tmp_path: Path) -> None:
    with Index.create(tmp_path / "many.db") as index:
        index.add(Document(f"document {number}", TEN) for number in range(20_000))
    assert on_a_terminal(str(tmp_path / "many.db"), "dupes", PAGER="head -1") == "similarity  left        right\n"


def test_off_a_terminal_there_is_never_a_pager(lshdb: Run, filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "false")
    assert lshdb(filled, "dupes", "--format", "table").out.endswith("\n2 pairs\n")


def test_a_number_has_the_form_of_its_noun() -> None:
    assert [counted(number, "pair") for number in (0, 1, 2, 1000)] == ["0 pairs", "1 pair", "2 pairs", "1,000 pairs"]
    assert [counted(number, "file has", "files have") for number in (1, 2)] == ["1 file has", "2 files have"]
