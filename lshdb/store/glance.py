"""Short statements outside a transaction that have seen the same state of the index.

On a server, BEGIN and COMMIT take a quarter of a question. A single statement does not need them, because it sees one
state anyway. If there are several, each reports which state it has seen, and a difference makes the caller start over
in a transaction (`Store.read_briefly`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from sqlalchemy import Executable

from lshdb.store.transaction import Snapshot, compiled

__all__ = ["Glance", "StateChanged"]


class StateChanged(Exception):
    """Two statements did not see the same state, or perhaps did not."""


class Glance(Snapshot, frozen=True):
    """The state of the index that the first statement sees. The connection commits each statement.

    Args:
        state: a query for `Dialect.state`, which has no row if the parameters of the index have changed.
        seen: the states that statements have seen.
    """

    state: str
    seen: list[str | None]

    def rows(self, statement: Executable, parameters: Mapping[str, object] | None = None) -> Iterator[tuple[Any, ...]]:
        """Return what a transaction would yield. Raises: StateChanged."""
        asked = compiled(statement, self.dialect.compiler)
        cursor = self.connection.connection.cursor()
        # A join without a condition is a loop, so the rows stay in their order.
        cursor.execute(
            f"SELECT state.state, found.* FROM ({self.state}) AS state"  # noqa: S608
            f" LEFT JOIN (SELECT true AS is_row, asked.* FROM ({asked.text}) AS asked) AS found ON true",
            asked.bound(parameters or {}),
        )
        if (first := cursor.fetchone()) is None:
            # The parameters have changed.
            raise StateChanged
        self._require_same(first[0])
        # One by one, because they may be many.
        return (row[2:] for row in chain([first], iter(cursor)) if row[1])  # type: ignore[call-overload]

    def _require_same(self, state: str | None) -> None:
        self.seen.append(state)
        if len(self.seen) > 1 and (state is None or state != self.seen[0]):
            raise StateChanged
