"""List pairs of near-duplicate documents."""

from __future__ import annotations

from collections.abc import Iterator

from lshdb.model.reports import Pair
from lshdb.store.tables import answers
from lshdb.store.tables.answers import Chosen
from lshdb.store.transaction import Transaction

__all__ = ["pairs"]


def pairs(
    snapshot: Transaction,
    chosen: Chosen,
    *,
    expand: bool,
    between: tuple[str, str] | None,
    within: str | None,
) -> Iterator[Pair]:
    """Yield the chosen pairs.

    Args:
        expand: every pair of documents, instead of one for each two distinct texts.
        between: the collections of the left and of the right document.
        within: the collection of both documents.
    """
    if between is None:
        rows = answers.pairs(snapshot, chosen, expand=expand, within=within)
    else:
        rows = answers.pairs_between(snapshot, chosen, *between, expand=expand)
    return (Pair(*row) for row in rows)
