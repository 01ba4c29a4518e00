"""Cursors that receive values in the server's own form.

As text, a value has twice as many bytes: 24,571 texts of 4 kB take 0.5 s to read, instead of 0.2 s.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.pq import Format
from psycopg.types.array import ArrayBinaryLoader

__all__ = ["receive_binary"]


class _Binary:
    """A cursor whose results are in binary form."""

    def __init__(self, *given: Any, **options: Any) -> None:
        super().__init__(*given, **options)
        self.format = Format.BINARY


class _Cursor(_Binary, psycopg.Cursor[Any]):
    """One that fetches all rows at once."""


class _ServerCursor(_Binary, psycopg.ServerCursor[Any]):
    """One that leaves its rows on the server."""


class _VectorLoader(ArrayBinaryLoader):
    """The numbers of the columns of an index, which SQLAlchemy expects as text."""

    def load(self, data: Buffer) -> str:  # type: ignore[override]
        return " ".join(map(str, super().load(data)))


def receive_binary(connection: psycopg.Connection[Any]) -> None:
    """Let a new connection create such cursors."""
    connection.cursor_factory, connection.server_cursor_factory = _Cursor, _ServerCursor
    connection.adapters.register_loader("int2vector", _VectorLoader)
