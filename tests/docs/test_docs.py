"""The links in the README and in docs/, and what the pages list."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.pages import PAGES, ROOT

README, BENCHMARKS = ROOT / "README.md", ROOT / "docs" / "benchmarks.md"
# What the README calls a tool of the benchmarks.
CALLED = {"datasketch, with our hashes": "datasketch", "datatrove, with our words": "datatrove"}


def test_links_between_the_pages_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_exit_code_of_the_usage_page_belongs_to_an_error_and_every_error_has_a_row() -> None:
    from lshdb import errors

    page = (ROOT / "docs" / "usage.md").read_text()
    codes: set[int] = set()
    for row in re.findall(r"^\| ([\d, to]+) \|", page, flags=re.MULTILINE):
        for part in row.split(","):
            first, _, last = part.partition(" to ")
            codes |= set(range(int(first), int(last or first) + 1))
    general = {errors.LshdbError, errors.StoreError, errors.SourceError, errors.OutputError}
    raised = {kind.exit_code for name in errors.__all__ if (kind := getattr(errors, name)) not in general}
    assert codes - {0, 1, 70, 130, 141, 143} == raised


def test_the_verbs_that_exit_with_status_1_are_those_whose_help_says_so() -> None:
    from lshdb.cli.app import Commands
    from scripts.make_man import OTHER_STATUSES

    row = re.search(r"^\| 1 \| (.*) \|$", (ROOT / "docs" / "usage.md").read_text(), flags=re.MULTILINE)
    verbs = Commands()
    told = {verb for verb in verbs if re.search(r"\bstatus\s1\b", verbs[verb].epilog)}
    raising = {verb for verb in verbs if "raise typer.Exit(" in (ROOT / "lshdb" / "cli" / f"{verb}.py").read_text()}
    assert row is not None
    assert set(re.findall(r"`(\w+)`", row[1])) == told == raising
    assert OTHER_STATUSES[1] == row[1].replace("`", "")


def figures(page: Path, num_columns: int) -> list[list[str]]:
    """Return the rows of the tables of a page that have so many columns, with a figure in the second one."""
    lines = (line[1:-1].split("|") for line in page.read_text().splitlines() if line.startswith("| "))
    rows = [[cell.strip() for cell in line] for line in lines if len(line) == num_columns]
    return [row for row in rows if row[1][0].isdigit()]


def test_the_readme_has_the_figures_of_the_benchmarks() -> None:
    measured = {(tool, one[0]): (one[2], one[10], one[11]) for tool, *one in figures(BENCHMARKS, 14)}
    shown = {tool: (seconds, recall, precision) for tool, seconds, recall, precision, _ in figures(README, 5)}
    assert len(shown) == 6
    assert {tool: measured[CALLED.get(tool, tool), "1"] for tool in shown} == shown
    sqlite, postgres = measured["lshdb, SQLite", "2"][0], measured["lshdb, Postgres", "2"][0]
    assert f"lshdb takes {sqlite} seconds, on Postgres {postgres}." in README.read_text()
