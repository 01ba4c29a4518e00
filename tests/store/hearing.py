"""Hear of the statements of a transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from sqlalchemy import event

from lshdb.store.transaction import Transaction

__all__ = ["heard"]


@contextmanager
def heard(transaction: Transaction, listener: Callable[..., Any]) -> Iterator[None]:
    """Call a listener of `before_cursor_execute` before each statement, also of those that bypass SQLAlchemy."""
    event.listen(transaction.connection, "before_cursor_execute", listener)
    with patch.object(Transaction, "rows", lambda self, *call: map(tuple, self.execute(*call))):
        yield
