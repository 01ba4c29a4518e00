"""Answers that are kept until the index changes, so that a page does not compute them at every visit.

An index has changed if its last runs have. An answer is computed at most once in `SECONDS`, however often the index
changes, and again after `OLD_SECONDS`, because a link outside of a run leaves no trace.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar, cast

from lshdb.index import Index

__all__ = ["Kept"]

_Made = TypeVar("_Made")

SECONDS: Final = 5.0
OLD_SECONDS: Final = 600.0
# Answers that are kept. A catalogue of a million clustered documents takes 40 MB.
ANSWERS: Final = 16


@dataclass(frozen=True, slots=True)
class _Answer:
    value: Any
    state: Hashable
    made_at: float
    seen_at: float


class Kept:
    """Keeps the last answers to slow questions about one index."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, _Answer] = OrderedDict()
        self._lock = threading.Lock()
        self._locks: dict[Hashable, threading.Lock] = {}

    def get(self, index: Index, name: Hashable, question: Callable[[Index], _Made]) -> _Made:
        """Return the answer to a question by its name. Threads that ask the same question wait for one answer."""
        with self._lock:
            mine = self._locks.setdefault(name, threading.Lock())
        with mine:
            found, now = self._answers.get(name), time.monotonic()
            if found is not None and now - found.seen_at < SECONDS:
                return cast(_Made, found.value)
            state = (index.params, tuple(index.runs(5)))
            if found is None or found.state != state or now - found.made_at > OLD_SECONDS:
                found = _Answer(question(index), state, now, now)
            with self._lock:
                self._answers[name] = replace(found, seen_at=time.monotonic())
                self._answers.move_to_end(name)
                while len(self._answers) > ANSWERS:
                    self._locks.pop(self._answers.popitem(last=False)[0], None)
            return cast(_Made, found.value)
