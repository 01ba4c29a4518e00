"""The examples in the README and in docs/ work as shown."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

# Timings vary.
TIMING = re.compile(r"[\d.,]+ s\b")


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def sessions() -> list[object]:
    return [
        pytest.param(block, id=f"{page.name}-{number}")
        for page in PAGES
        for number, block in enumerate(blocks(page, "console"))
    ]


def programs() -> list[object]:
    return [
        pytest.param(block, id=f"{page.name}-{number}")
        for page in PAGES
        for number, block in enumerate(blocks(page, "python"))
    ]


def run(command: str, folder: Path) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "200"}
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("session", sessions())
def test_what_a_console_example_prints_is_what_it_shows(session: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        assert TIMING.sub("_ s", run(command, tmp_path)) == TIMING.sub("_ s", shown), command


@pytest.mark.parametrize("program", programs())
def test_a_python_example_runs(program: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_there_are_examples_to_run() -> None:
    assert sessions()
    assert programs()


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
    assert codes - {0, 1, 130} == raised
