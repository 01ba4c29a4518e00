"""Batches of what an iterator yields, so that memory does not grow with the number of items."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

__all__ = ["in_batches"]

_Item = TypeVar("_Item")


def in_batches(
    items: Iterable[_Item], size: Callable[[_Item], int], enough: int, most: float = float("inf")
) -> Iterator[list[_Item]]:
    """Yield the items in lists, none of them empty.

    Args:
        size: returns the size of an item.
        enough: a list ends as soon as its items have this size together.
        most: or this number.
    """
    batch, total = list[_Item](), 0
    for item in items:
        batch.append(item)
        total += size(item)
        if total >= enough or len(batch) >= most:
            yield batch
            batch, total = [], 0
    if batch:
        yield batch
