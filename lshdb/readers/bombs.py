"""Pages made to keep the parser busy: what of HTML costs time that grows with the square of its size.

Found by feeding the parser 20,000 of every element, and measured with resiliparse 2.0: it never crashed, but
100,000 nested ``div`` took minutes to find the main content of, 100,000 attributes of one tag more than 25 s, 20,000
options of one list 2.7 s. All else grew linearly, a million nested elements included (0.8 s for all their text).
In 6,000 pages of documentation nothing came near the limits: 14 levels, 4,765 characters without a ``>``.
Limitation: a cheap look at the markup, not a parse; attributes with a ``>`` in their quotes are not counted.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["bomb_reason", "nests_deeply"]

# Below this many tags no nesting can cost more than half a second.
MIN_TAGS: Final = 5_000
MAX_DEPTH: Final = 500
MAX_ATTRIBUTES: Final = 10_000
MAX_REPEATS: Final = 20_000

NESTING: Final = re.compile(r"<(/?)(?:div|article|main|section|table|a|b)\b", re.IGNORECASE)
REPEATED: Final = re.compile(r"<(?:option|body|html)\b", re.IGNORECASE)
TAG_START: Final = re.compile(r"<[a-z]", re.IGNORECASE)


def bomb_reason(page: str) -> str | None:
    """Why this page would take minutes to parse; None for every page that was made to be read."""
    if len(page) > 2 * MAX_ATTRIBUTES and any(map(_is_attribute_bomb, page.split(">"))):
        return f"a tag has more than {MAX_ATTRIBUTES} attributes"
    if page.count("<") > MAX_REPEATS and sum(1 for _ in REPEATED.finditer(page)) > MAX_REPEATS:
        return f"more than {MAX_REPEATS} option, body or html elements"
    return None


def nests_deeply(page: str) -> bool:
    """Whether the page nests so deep that looking for its main content would take minutes."""
    if page.count("<") < MIN_TAGS:
        return False
    depth = 0
    for tag in NESTING.finditer(page):
        depth = max(depth - 1, 0) if tag[1] else depth + 1
        if depth > MAX_DEPTH:
            return True
    return False


def _is_attribute_bomb(run: str) -> bool:
    # Every attribute takes a separator and a character at least.
    if len(run) < 2 * MAX_ATTRIBUTES or (start := TAG_START.search(run)) is None:
        return False
    return len(run[start.start() :].split()) > MAX_ATTRIBUTES
