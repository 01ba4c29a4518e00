"""Draw the figures of README.md and docs/theory.md: ``python scripts/make_figures.py [FOLDER]``.

The S-curves come from ``lshdb tune --plot``, the other picture is what a terminal shows.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

ROOT: Final = Path(__file__).parents[1]
FIGURES: Final = ROOT / "docs" / "figures"

# The arguments of `lshdb tune` for each figure.
CURVES: Final = {
    "s-curve.svg": "--bands 20 --rows 5",
    "s-curves.svg": "--bands 10 --rows 3 --bands 20 --rows 6 --bands 50 --rows 5",
    "areas.svg": "--bands 7 --rows 4 --min-sim 0.7",
}

SHOWN: Final = (
    "lshdb explain docs/1.0/install.html docs/2.0/install.html",
    "lshdb clusters --min-sim 0.8 --prefer /mirror/ --format table",
)
WIDTH: Final = 100

# The frame of a terminal. Unlike rich's own, it loads no font from the network.
FRAME: Final = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def draw_curves(folder: Path) -> None:
    """Draw the S-curves."""
    for name, arguments in CURVES.items():
        _lshdb(f"lshdb --quiet tune {arguments} --plot {folder / name}", folder)


def draw_terminal(folder: Path) -> None:
    """Draw what a terminal shows of the sample crawl."""
    with TemporaryDirectory() as work:
        crawl = ROOT / "sample_data" / "crawl"
        _lshdb(f"lshdb --quiet ingest {crawl} --base {crawl}", Path(work))
        console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, highlight=False)
        for number, command in enumerate(SHOWN):
            if number:
                console.print()
            console.print(Text(f"$ {command}", "bold"))
            console.print(Text.from_ansi(_lshdb(command, Path(work))))
    drawn = console.export_svg(title="lshdb", theme=MONOKAI, code_format=FRAME, unique_id="lshdb")
    (folder / "terminal.svg").write_text(drawn)


def _lshdb(command: str, folder: Path) -> str:
    """Run a command as in a terminal with colours. Returns: its output."""
    terminal = {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": str(WIDTH), "LC_ALL": "C.UTF-8"}
    _, *arguments = command.split()
    call = [sys.executable, "-m", "lshdb", *arguments]
    environment = {**os.environ, **terminal}
    return subprocess.run(call, cwd=folder, env=environment, capture_output=True, text=True, check=True).stdout


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURES
    draw_curves(folder)
    draw_terminal(folder)


if __name__ == "__main__":
    main()
