"""Limits how many rejections are printed: the first of each source, then a line with the numbers of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from lshdb.model.values import Rejection

__all__ = ["MAX_SHOWN", "FloodGate"]

MAX_SHOWN: Final = 20
# Files that were rejected as a whole count as one source: a crawl of a million pages has a million files.
FILES: Final = ""


class FloodGate:
    """Decides which rejections are printed. Args: most: how many of a source."""

    def __init__(self, most: int = MAX_SHOWN) -> None:
        self._most = most
        self._numbers: Counter[str] = Counter()
        self._held: dict[str, Counter[str]] = {}

    def lets_through(self, item: Rejection) -> bool:
        """Return whether to print a rejection. The others are counted."""
        source = item.source if item.locator else FILES
        self._numbers[source] += 1
        if self._numbers[source] <= self._most:
            return True
        self._held.setdefault(source, Counter())[item.kind] += 1
        return False

    def rest(self) -> Iterator[tuple[str, Counter[str]]]:
        """Yield the sources of which rejections were not printed, and their numbers by reason. Forgets these numbers.

        A source without a name stands for all files that were rejected as a whole.
        """
        held, self._held = self._held, {}
        yield from held.items()
