"""Records a run around the work that it does."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version

from lshdb.errors import StoreError
from lshdb.store import interrupts
from lshdb.store.store import Store
from lshdb.store.tables import runs

__all__ = ["recorded_run"]


@contextmanager
def recorded_run(store: Store, verb: str, collection: str = "default") -> Iterator[int]:
    """Record a run and whether it finished, failed or was interrupted. Yields: its key."""
    # Safe to repeat: a second attempt only leaves the record of a run that did nothing.
    run_key = store.write(lambda transaction: runs.begin(transaction, verb, collection, _version()))
    try:
        yield run_key
        store.write(lambda transaction: runs.finish(transaction, run_key, "finished"))
    except BaseException as error:
        state = "interrupted" if interrupts.is_interruption(error) else "failed"
        interrupts.heard()
        # An interrupt between the start of a transaction and its block leaves it open, and the frames keep it alive.
        traceback.clear_frames(error.__traceback__)
        # If the database cannot be reached, the first error is the one to report. The run stays "running".
        with suppress(StoreError), store.writing() as transaction:
            runs.finish(transaction, run_key, state)
        raise


@cache
def _version() -> str:
    """Return the version of lshdb. To look it up takes 0.8 ms, a tenth of adding a document."""
    return version("lshdb")
