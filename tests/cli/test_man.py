"""The manual page is current, and man can read it."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import typer.main

from lshdb.cli.app import app
from scripts.make_man import PAGE, page

ROOT = Path(__file__).parents[2]


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python scripts/make_man.py"


def test_every_verb_has_its_section() -> None:
    for verb in typer.main.get_command(app).commands:
        assert f'.SH "lshdb {verb}"' in page()


def test_it_is_installed_with_the_package() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert settings["tool"]["setuptools"]["data-files"] == {"share/man/man1": ["man/lshdb.1"]}


@pytest.mark.skipif(shutil.which("groff") is None, reason="needs groff")
def test_groff_has_nothing_to_complain_about() -> None:
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", PAGE], capture_output=True, text=True, check=True)
    assert done.stderr == ""
