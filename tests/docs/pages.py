"""The pages of the documentation, and the code blocks in them.

A block whose info string has a title is a file that the page tells the reader to write: ``` ```python title="a.py" ```.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

__all__ = ["PAGES", "ROOT", "Block", "blocks", "sections"]

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]

# Pages that tell one story: all commands run in one folder, in their order. Elsewhere each section starts in a new one.
STORIES = ("theory.md", "tutorial.md")

LINE = re.compile(r'^(?:(?P<heading>#{1,3}) .*|```(?P<language>\w*)(?: title="(?P<title>[^"]+)")?)$')


@dataclass(frozen=True)
class Block:
    """A block of code, with its language and the number of its line."""

    language: str
    title: str | None
    text: str
    line: int
    section: int


def blocks(page: Path) -> Iterator[Block]:
    """Return the blocks of a page."""
    section, lines = 0, enumerate(page.read_text().splitlines(keepends=True), 1)
    for number, line in lines:
        if (match := LINE.match(line.rstrip("\n"))) is None:
            continue
        if match["heading"]:
            section += 1
            continue
        text = ""
        for _, inner in lines:
            if inner.startswith("```"):
                break
            text += inner
        yield Block(match["language"], match["title"], text, number, section)


def sections(page: Path) -> list[list[Block]]:
    """Return the blocks that belong together: those of a page that is a story, else those of each section."""
    if page.name in STORIES:
        return [list(blocks(page))]
    return [list(found) for _, found in groupby(blocks(page), key=lambda block: block.section)]
