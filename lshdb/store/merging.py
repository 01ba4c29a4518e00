"""Merge the generations of an index, in transactions of a fraction of a second."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

from lshdb.store.store import Store
from lshdb.store.tables import filters, generation_list, generations

__all__ = ["Merging", "hold_filters", "merge", "unite_filters"]

# A third more than the filters of new rows take in an index of ten million texts, so that no load waits long.
FILTER_SHARE: Final = 1 / 8
# A question reads a part of each. Above this number, an ingest merges them faster.
MANY_FILTERS: Final = 16
MANY_FILTERS_SHARE: Final = 1 / 4
# A bucket may have to be looked up in several. Above this number, an ingest moves rows; `vacuum` moves all of them.
MANY_GENERATIONS: Final = 128
# With 15 million texts and loads of 100,000, this moves half as many rows as are added.
MERGING_SHARE: Final = 1 / 3


def merge(
    store: Store, seconds: float = math.inf, *, moves: bool = True, most_sources: int = generations.MOST_SOURCES
) -> float:
    """Merge generations until nothing is left to merge, or for about `seconds`. Returns: the seconds it took.

    Args: moves, most_sources: as of `generations.merge_some`.
    """
    step, started = partial(generations.merge_some, moves=moves, most_sources=most_sources), time.monotonic()
    while time.monotonic() - started < seconds and store.write(step):
        pass
    return time.monotonic() - started


def unite_filters(store: Store, is_wanted: Callable[[], bool] = lambda: True) -> None:
    """Merge all filters into one, in 1.5 us for each content. A question then reads one part of it for each band.

    Args: is_wanted: is asked before each transaction.
    """
    while is_wanted() and store.write(generations.unite_filters):
        pass


def hold_filters(store: Store) -> None:
    """Make the system hold the filters in its memory, in 0.2 us for each content, at the end of work on a whole index.

    Such work has displaced most of them, and a question would wait 1 ms for the disk. They are read twice, because the
    system first displaces what was read only once. There is more room for them if this process gives back what it no
    longer needs.
    """
    store.empty_caches()
    _give_memory_back()
    for _ in range(2):
        store.read(filters.read_all)


def _give_memory_back() -> None:
    """Return freed memory to the system. The C library of most Linux systems keeps 200 MB after a large link."""
    # Other C libraries have no such function, and some systems no such library.
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


class Merging:
    """Merges generations between the steps of other work, for a share of the time since its creation."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._started = time.monotonic()
        self._spent = 0.0

    def advance(self) -> None:
        """Build filters, and merge if they are many, for the time that is left of the share."""
        known = self._store.read(generation_list.generations)
        are_many = len(known) > MANY_GENERATIONS
        are_many_filters = len(generation_list.used(known)) > MANY_FILTERS
        share = MERGING_SHARE if are_many else MANY_FILTERS_SHARE if are_many_filters else FILTER_SHARE
        seconds = share * (time.monotonic() - self._started) - self._spent
        self._spent += merge(self._store, seconds, moves=are_many, most_sources=generations.FAN_OUT)
