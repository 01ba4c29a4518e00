"""Pages made to keep the parser busy: what of HTML costs time that grows with the square of its size.

Found by feeding the parser 20,000 and more of every element, and measured with resiliparse 2.0. It never crashed, but
100,000 nested ``div`` took minutes to find the main content of, 100,000 attributes of one tag more than 25 s, 20,000
options of one list 2.7 s. Below the limits here the slowest page of 10 MB took 8 s.
In 6,000 pages of documentation nothing came near them: 14 levels, 4,765 characters without a ``>``.
Limitation: a cheap look at the markup, not a parse: what a script or a comment holds is counted as markup.
"""

from __future__ import annotations

import re
from typing import Final

from lshdb.readers.base import Unfit

__all__ = ["MAX_MAIN_DEPTH", "nesting_depth", "refuse_bomb"]

MAX_MAIN_DEPTH: Final = 500
MAX_DEPTH: Final = 10_000
MAX_ATTRIBUTES: Final = 10_000
MAX_REPEATS: Final = 20_000
# Below this many tags no nesting can cost more than 2 s.
MIN_TAGS: Final = 10_000

NESTING: Final = re.compile(r"<(/?)(?:div|article|main|section|table|a|b)\b", re.IGNORECASE)
REPEATED: Final = re.compile(r"<(?:option|body|html)\b", re.IGNORECASE)
# Quotes are quotes behind an equals sign only. Possessive: a page is passed over once, whatever it holds.
VALUE: Final = re.compile(r"""=\s*+(?:"[^"]*+"|'[^']*+')""")
QUOTED_END: Final = re.compile(r"""=\s*+(?:"[^">]*+>|'[^'>]*+>)""")
TAG: Final = re.compile(r"""</?[a-z](?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')|=)*+""", re.IGNORECASE)
SEPARATORS: Final = re.compile(r"""[\s/]++""")


def nesting_depth(page: str) -> int:
    """How many elements lie in each other at most, by their tags; 0 for a page of few tags, which needs no care."""
    if page.count("<") < MIN_TAGS:
        return 0
    depth = deepest = 0
    for tag in NESTING.finditer(page):
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        deepest = max(deepest, depth)
    return deepest


def refuse_bomb(page: str, depth: int) -> None:
    """Nothing, for every page that was made to be read.

    Args: depth: its `nesting_depth`.
    Raises: Unfit: the parser would take minutes.
    """
    if depth > MAX_DEPTH:
        raise Unfit(f"elements nested more than {MAX_DEPTH} deep")
    may_hide_one = _has_long_run(page) or (page.count("=") > MAX_ATTRIBUTES and QUOTED_END.search(page) is not None)
    if may_hide_one and any(map(_is_attribute_bomb, TAG.finditer(page))):
        raise Unfit(f"a tag has more than {MAX_ATTRIBUTES} attributes")
    if page.count("<") > MAX_REPEATS and sum(1 for _ in REPEATED.finditer(page)) > MAX_REPEATS:
        raise Unfit(f"more than {MAX_REPEATS} option, body or html elements")


def _has_long_run(page: str) -> bool:
    """Whether so many characters follow each other without a ``>`` that a tag of too many attributes would fit."""
    # In leaps backwards from the longest end: 40 GB/s, where splitting the page takes a tenth of its extraction.
    start, length = 0, 2 * MAX_ATTRIBUTES
    while start + length <= len(page):
        if (end := page.rfind(">", start, start + length)) < 0:
            return True
        start = end + 1
    return False


def _is_attribute_bomb(tag: re.Match[str]) -> bool:
    # Every attribute takes a separator and a character at least; a slash and a closing quote separate too.
    if tag.end() - tag.start() < 2 * MAX_ATTRIBUTES:
        return False
    return len(SEPARATORS.findall(VALUE.sub("= ", tag[0]))) > MAX_ATTRIBUTES
