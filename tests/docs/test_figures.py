"""The figures of README.md and docs/theory.md are those that the program draws now."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from scripts import make_figures
from tests.docs.pages import ROOT

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
# The version of the program that drew the figure, and names that are content hashes.
VARYING = re.compile(r"<dc:title>.*</dc:title>|\b[mpc][0-9a-f]{10}\b")


def parts(path: Path) -> tuple[list[str], list[float]]:
    """Return the text of a figure around its numbers, and its numbers."""
    text = VARYING.sub("", path.read_text())
    return NUMBER.split(text), [float(number) for number in NUMBER.findall(text)]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with new figures."""
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("figures")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["make_figures", str(folder)])
        make_figures.main()
    return folder


@pytest.mark.parametrize("name", [*make_figures.CURVES, "terminal.svg"])
def test_a_figure_is_current(name: str, drawn: Path) -> None:
    kept, new = parts(ROOT / "docs" / "figures" / name), parts(drawn / name)
    assert kept[0] == new[0], f"run: python scripts/make_figures.py  ({name})"
    assert kept[1] == pytest.approx(new[1], abs=0.01)
