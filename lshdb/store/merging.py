"""Merge the generations of an index, in transactions of a fraction of a second."""

from __future__ import annotations

import math
import time
from typing import Final

from lshdb.store.store import Store
from lshdb.store.tables import filters, generations

__all__ = ["Merging", "merge"]

# Enough for filters, and to rewrite one row in six. `vacuum` merges the rest.
MERGING_SHARE: Final = 1 / 8
# Enough to rewrite each row at least once, so that there are not many more filters than these.
MANY_FILTERS: Final = 16
LARGE_SHARE: Final = 1 / 3


def merge(store: Store, seconds: float = math.inf) -> float:
    """Merge generations until nothing is left to merge, or for about `seconds`. Returns: the seconds it took."""
    started = time.monotonic()
    while time.monotonic() - started < seconds and store.write(generations.merge_some):
        pass
    return time.monotonic() - started


class Merging:
    """Merges generations between the steps of other work, for a share of the time since its creation."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._started = time.monotonic()
        self._spent = 0.0

    def go_on(self) -> None:
        """Merge for the time that is left of the share."""
        are_many = len(self._store.read(filters.groups)) > MANY_FILTERS
        share = (LARGE_SHARE if are_many else MERGING_SHARE) * (time.monotonic() - self._started)
        self._spent += merge(self._store, share - self._spent)
