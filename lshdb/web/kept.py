"""Answers that are kept until the index changes, so that a page does not compute them at every visit.

An index has changed if its runs or its decisions have, which is looked up at most once in `SECONDS`. An answer is
also computed again after `OLD_SECONDS`, because a link outside of a run leaves no trace. If that takes long, nobody
waits: the old answer is given until the new one is there.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from typing import Any, Final, TypeVar, cast
from weakref import WeakValueDictionary

from msgspec import Struct
from msgspec.structs import replace

from lshdb.errors import LshdbError
from lshdb.index import Index

__all__ = ["Kept"]

_Made = TypeVar("_Made")

SECONDS: Final = 5.0
OLD_SECONDS: Final = 600.0
SLOW_SECONDS: Final = 0.2
PATIENT_SECONDS: Final = 5.0
# Answers that are kept. A catalogue of a million clustered documents takes 40 MB.
ANSWERS: Final = 16


class _Answer(Struct, frozen=True):
    """An answer, when it was computed and last found to be current, and how long computing it took."""

    value: Any
    state: Hashable
    made_at: float
    seen_at: float
    seconds: float

    @property
    def is_fresh(self) -> bool:
        """Whether the index was asked just now whether it has changed."""
        return time.monotonic() - self.seen_at < SECONDS

    @property
    def is_slow(self) -> bool:
        """Whether nobody should wait until it is computed again."""
        return self.seconds > SLOW_SECONDS


class Kept:
    """Keeps the last answers to slow questions about one index."""

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, _Answer] = OrderedDict()
        # Each as long as a thread has it: a question that fails leaves no answer, and must leave no lock either.
        self._locks = WeakValueDictionary[Hashable, threading.Lock]()
        self._lock = threading.Lock()

    def get(self, index: Index, name: Hashable, question: Callable[[Index], _Made]) -> _Made:
        """Return the answer to a question by its name. Threads that ask the same question wait for one answer."""
        with self._lock:
            mine, found = self._locks.setdefault(name, threading.Lock()), self._answers.get(name)
        if found is not None and (found.is_fresh or (found.is_slow and mine.locked())):
            return cast(_Made, found.value)
        if found is None or not found.is_slow:
            with mine:
                return cast(_Made, self._renewed(index, name, question).value)
        threading.Thread(target=self._renew, args=(mine, index, name, question), daemon=True).start()
        return cast(_Made, found.value)

    def expire(self) -> None:
        """Look up at the next question whether the index has changed, because somebody has just changed it.

        The one who did so wants to see it, and waits, unless that takes longer than `PATIENT_SECONDS`.
        """
        with self._lock:
            for name, answer in self._answers.items():
                seconds = 0.0 if answer.seconds < PATIENT_SECONDS else answer.seconds
                self._answers[name] = replace(answer, seen_at=-math.inf, seconds=seconds)

    def _renew(self, mine: threading.Lock, index: Index, name: Hashable, question: Callable[[Index], object]) -> None:
        # The next caller gets the error; the old answer stays.
        with mine, suppress(LshdbError):
            self._renewed(index, name, question)

    def _renewed(self, index: Index, name: Hashable, question: Callable[[Index], object]) -> _Answer:
        """Return the answer to a question, computed again if the index has changed. The caller holds its lock."""
        found, now = self._answers.get(name), time.monotonic()
        if found is not None and found.is_fresh:
            return found
        state = index.state()
        if found is None or found.state != state or now - found.made_at > OLD_SECONDS:
            value = question(index)
            made_at = time.monotonic()
            found = _Answer(value, state, made_at, made_at, made_at - now)
        else:
            found = replace(found, seen_at=now)
        self._keep(name, found)
        return found

    def _keep(self, name: Hashable, answer: _Answer) -> None:
        with self._lock:
            self._answers[name] = answer
            self._answers.move_to_end(name)
            while len(self._answers) > ANSWERS:
                self._answers.popitem(last=False)
