"""Prints a word diff: in colours on a terminal that has them, else as ``git diff --word-diff`` does."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from lshdb.cli.render import visible

if TYPE_CHECKING:
    from lshdb.answers.worddiff import Hunk, WordDiff

__all__ = ["print_diff"]

MARKS = {"removed": ("[-", "-]"), "added": ("{+", "+}")}
STYLES = {"removed": "red", "added": "green", "elided": "dim"}


def print_diff(found: WordDiff) -> None:
    """Prints the hunks, and under them how much they are."""
    console = Console(file=sys.stdout, highlight=False)
    # Without colours, on a terminal too, only the marks can say what was removed.
    coloured = console.color_system is not None and not console.no_color
    before = "equal"
    for hunk in found.hunks:
        space, words = _split(hunk, follows_removed=before == "removed")
        if coloured:
            console.print(Text(space) + Text(words, STYLES.get(hunk.kind, "")), end="", soft_wrap=True)
        else:
            opened, closed = MARKS.get(hunk.kind, ("", ""))
            sys.stdout.write(f"{space}{opened}{words}{closed}")
        before = hunk.kind
    summary = f"{found.num_removed:,} words removed, {found.num_added:,} added, {found.num_equal:,} equal"
    coarse = "; stretches too unlike to be compared word by word are shown as replaced" if found.is_coarse else ""
    sys.stdout.write(f"\n\n{summary}{coarse}\n" if found.hunks else f"{summary}\n")


def _split(hunk: Hunk, *, follows_removed: bool) -> tuple[str, str]:
    """(the white space before a hunk, its words); what takes a removed one's place follows it at once."""
    if hunk.kind == "elided":
        return " ", f"[... {hunk.num_words:,} words ...]"
    words = hunk.text.lstrip()
    space = hunk.text[: len(hunk.text) - len(words)]
    if not space or (follows_removed and hunk.kind == "added"):
        return "", visible(words, keep="\n\t")
    return "\n" * min(2, space.count("\n")) or " ", visible(words, keep="\n\t")
