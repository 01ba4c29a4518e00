"""Rejections counted by their kind, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from lshdb.model.values import Rejection

__all__ = ["OTHER_REASONS", "Reasons"]

# Our own readers know some forty kinds; those of other distributions may make one of every item.
MAX_KINDS: Final = 100
OTHER_REASONS: Final = "other reasons"


class Reasons:
    """The number of rejections of each kind; the kinds beyond the first hundred are counted together."""

    def __init__(self) -> None:
        self._numbers: Counter[str] = Counter()

    def count(self, rejections: Iterable[Rejection]) -> None:
        """Counts some more."""
        for rejection in rejections:
            is_known = rejection.kind in self._numbers or len(self._numbers) < MAX_KINDS
            self._numbers[rejection.kind if is_known else OTHER_REASONS] += 1

    def as_dict(self) -> dict[str, int]:
        """By kind, the most frequent first."""
        return dict(self._numbers.most_common())
