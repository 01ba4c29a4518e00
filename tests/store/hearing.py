"""Hear of the statements of a transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Select, event

from lshdb.store.returned import rows_of_integers
from lshdb.store.transaction import Transaction

__all__ = ["heard"]


@contextmanager
def heard(transaction: Transaction, listener: Callable[..., Any]) -> Iterator[None]:
    """Call a listener of `before_cursor_execute` before each statement, also of those that bypass SQLAlchemy."""
    event.listen(transaction.connection, "before_cursor_execute", listener)
    with (
        patch.object(Transaction, "rows", lambda self, *call: map(tuple, self.execute(*call))),
        patch.object(Transaction, "stream_integers", streamed),
    ):
        yield


def streamed(transaction: Transaction, statement: Select[Any], *call: Any, **named: Any) -> Iterator[NDArray[np.int64]]:
    """Yield the blocks of `Transaction.stream_integers`, through SQLAlchemy."""
    for block in transaction.stream(statement, *call, **named):
        yield rows_of_integers(block, len(statement.selected_columns))
