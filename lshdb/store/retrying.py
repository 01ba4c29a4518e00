"""Repeats a transaction from its start if the database failed in passing: restarted, timed out or deadlocked.

Owns how long to keep trying. The caller knows which functions are safe to repeat; see `Store.write` and
`Store.write_once`.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Final, Generic, TypeVar

from lshdb.errors import StoreError
from lshdb.model.values import Counts
from lshdb.store.tables import runs
from lshdb.store.transaction import Transaction

__all__ = ["Counted", "once", "persist"]

# A server with a large cache takes half a minute to come back.
MAX_SECONDS: Final = 120.0
MAX_TRIES: Final = 20
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 10.0

_Made = TypeVar("_Made")


def persist(attempt: Callable[[], _Made], noticed: Callable[[str], None]) -> _Made:
    """Call `attempt` until it succeeds, and return its result.

    Args: noticed: is called once, with the reason for waiting.
    Raises: StoreError: it failed for good, or MAX_TRIES times, or still fails MAX_SECONDS after its first failure.
    """
    deadline = 0.0
    for number in itertools.count(1):
        try:
            return attempt()
        except StoreError as error:
            pause = _pause(number)
            deadline = deadline or time.monotonic() + MAX_SECONDS
            if not error.is_passing or number == MAX_TRIES or time.monotonic() + pause > deadline:
                # A caller that persists too must not start over.
                error.is_passing = False
                raise
            if number == 1:
                noticed(f"waiting for the database, up to {MAX_SECONDS:.0f} s: {error.reason}")
        time.sleep(pause)
    raise AssertionError("unreachable")


def once(begin: Callable[[], AbstractContextManager[Transaction]], function: Callable[[Transaction], _Made]) -> _Made:
    """Return what `function` returns in a new transaction."""
    with begin() as transaction:
        return function(transaction)


class Counted(Generic[_Made]):
    """A function that is not called in a second transaction if the first one was committed after all.

    If the connection is lost during COMMIT, nobody knows whether the commit succeeded. The counts of the run tell: only
    this process writes them, in the same transaction. If they are those that the function left, it succeeded.

    Args: function: if it counts nothing, calling it twice does no harm.
    """

    def __init__(self, function: Callable[[Transaction], _Made], run_key: int) -> None:
        self._function = function
        self._run_key = run_key
        self._left: tuple[Counts, _Made] | None = None

    def __call__(self, transaction: Transaction) -> _Made:
        before = runs.counts(transaction, self._run_key)
        if self._left is not None and self._left[0] == before:
            return self._left[1]
        made = self._function(transaction)
        after = runs.counts(transaction, self._run_key)
        self._left = None if after == before else (after, made)
        return made


def _pause(number: int) -> float:
    """Return the seconds to wait after a failure: twice as long each time, at random to avoid collisions."""
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (number - 1)) * random.uniform(0.5, 1.0)
