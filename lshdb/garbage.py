"""How often Python looks for garbage, in the processes that are ours alone: the command line's and its workers."""

from __future__ import annotations

import gc
from typing import Final

__all__ = ["collect_seldom"]

# What modules make is kept, and so are rows until they are stored. Looking through them whenever 700 more objects are
# there took 10 % of the processor's time of a link, and 4 % of an ingest's.
NEW_OBJECTS: Final = 100_000


def collect_seldom() -> None:
    """Looks for cycles whenever NEW_OBJECTS more objects are there."""
    gc.set_threshold(NEW_OBJECTS)
