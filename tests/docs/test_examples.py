"""The examples in the README and in docs/ work as shown."""

from __future__ import annotations

import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, Block, blocks, sections
from tests.docs.renew import renew
from tests.docs.shell import Shell, agree, commands, run_section

# Programs of other projects in the examples. `.ci/run` installs them.
OTHERS = ("jq", "sqlite3")


def lacking(section: list[Block]) -> list[str]:
    """Return the programs that a section calls and this machine does not have."""
    text = "".join(block.text for block in section if block.language == "console")
    return [
        name for name in OTHERS if re.search(rf"(^[$>]|\|) +{name} ", text, re.MULTILINE) and not shutil.which(name)
    ]


def consoles() -> list[object]:
    return [
        pytest.param(
            page, found, id=f"{page.name}-{next(block.line for block in found if block.language == 'console')}"
        )
        for page in PAGES
        for found in sections(page)
        if any(block.language == "console" for block in found)
    ]


def programs(page: Path) -> list[tuple[Block, str | None]]:
    """The programs without a title, each with the output that the page shows, if it does."""
    return [
        (block, after.text if after.language == "text" else None)
        for block, after in pairwise([*blocks(page), Block("", None, "", 0, 0)])
        if block.language == "python" and block.title is None
    ]


@pytest.mark.parametrize(("page", "section"), consoles())
def test_what_a_console_example_prints_is_what_it_shows(
    page: Path, section: list[Block], shell: Shell, tmp_path: Path
) -> None:
    if missing := lacking(section):
        pytest.skip(f"not installed: {', '.join(missing)}")
    for command, shown, printed in run_section(section, shell, tmp_path):
        renewal = f"run: python -m tests.docs.renew {page.relative_to(ROOT)}"
        assert agree(shown, printed), f"{renewal}\n$ {command}\n{printed}"


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES if programs(page)])
def test_the_python_examples_of_a_page_run_in_one_folder_and_print_what_they_show(
    page: Path, shell: Shell, tmp_path: Path
) -> None:
    for program, shown in programs(page):
        (tmp_path / "example.py").write_text(program.text)
        printed, status = shell.run(["run-script example.py", "echo $?"], tmp_path)
        assert status == "0\n", f"line {program.line}: {printed}"
        assert printed
        assert shown is None or agree(shown, printed), f"line {program.line}: {printed}"


def test_there_are_examples_to_run() -> None:
    assert consoles()
    assert any(programs(page) for page in PAGES)


def test_an_example_may_leave_out_lines_and_differ_in_time_only() -> None:
    shown = "1 added; 0.3 s\n...\nend\n"
    assert agree(shown, "1 added; 0.4 s\nanything\nelse\nend\n")
    assert agree(shown, "1 added; 0.3 s\nend\n")
    assert not agree(shown, "2 added; 0.3 s\nend\n")


def test_a_command_may_take_several_lines_and_prints_nothing_or_more() -> None:
    assert commands("$ a \\\n> b\nout\n$ c\n") == [("a \\\nb", "out\n"), ("c", "")]


def test_an_example_that_prints_something_else_is_renewed(shell: Shell, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# Page\n\n```console\n$ echo one\ntwo\n$ echo three\n> echo four\nthree\n```\n")
    renew(page, shell)
    assert page.read_text() == "# Page\n\n```console\n$ echo one\none\n$ echo three\n> echo four\nthree\nfour\n```\n"
