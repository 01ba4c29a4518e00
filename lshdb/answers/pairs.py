"""List pairs of near-duplicate documents, and pairs in which one document contains the other.

Near-duplicates are stored, except for those that linking left out of large buckets. Containments are computed. The
stages that compute are imported when they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from lshdb.model.params import Params
from lshdb.model.progress import Progress
from lshdb.model.reports import Pair
from lshdb.model.values import VerifiedPairs
from lshdb.store.tables import answers
from lshdb.store.tables.answers import Chosen, PairRow
from lshdb.store.transaction import Transaction

if TYPE_CHECKING:
    from lshdb.model.passages import Contained

__all__ = ["Listed", "contained_pairs", "pairs"]


@dataclass(frozen=True, slots=True)
class Listed:
    """Which documents of the pairs are listed.

    Args:
        expand: every pair of documents, instead of one for each two distinct texts.
        between: the collections of the left and of the right document.
        within: the collection of both documents.
        complete: also compute the pairs that linking left out of oversized buckets.
    """

    expand: bool = False
    between: tuple[str, str] | None = None
    within: str | None = None
    complete: bool = False

    @property
    def collections(self) -> tuple[str, str] | None:
        """The collections of the left and of the right document; None for all."""
        return self.between if self.within is None else (self.within, self.within)


def pairs(snapshot: Transaction, chosen: Chosen, listed: Listed, params: Params, progress: Progress) -> Iterator[Pair]:
    """Yield the chosen pairs. Stored ones come first, unless another order is chosen.

    Args: progress: receives the largest number of pairs that have to be computed.
    """
    more = _left_out(snapshot, chosen, listed, params, progress) if listed.complete else ()
    if listed.between is None:
        rows = answers.pairs(snapshot, chosen, expand=listed.expand, within=listed.within, more=more)
    else:
        rows = answers.pairs_between(snapshot, chosen, *listed.between, expand=listed.expand, more=more)
    return (Pair(*row) for row in rows)


def contained_pairs(
    snapshot: Transaction, chosen: Chosen, listed: Listed, params: Params, progress: Progress
) -> Iterator[Contained]:
    """Yield the chosen pairs of a small document and a large one that contains it. Copies of one text are no pair."""
    from lshdb.answers.sorting import in_order
    from lshdb.model.passages import Contained
    from lshdb.passages.containment import contained_contents

    parts = contained_contents(snapshot, chosen.min_sim, params, progress)
    rows = (
        row
        for part in parts
        for row in answers.pairs_of_documents(
            snapshot,
            VerifiedPairs(part.keys, part.containment, np.ones(len(part.keys), np.bool_)),
            expand=listed.expand,
            between=listed.collections,
            both_ways=False,
        )
        if row[2] <= chosen.max_sim
    )
    if chosen.order is None:
        return (Contained(*row) for row in islice(rows, chosen.limit))
    return (Contained(*row) for row in in_order(rows, answers.order_key(chosen.order), chosen.limit))


def _left_out(
    snapshot: Transaction, chosen: Chosen, listed: Listed, params: Params, progress: Progress
) -> Iterator[PairRow]:
    """Return the pairs that are not stored, in the chosen order."""
    from lshdb.answers.families import families_of, left_out
    from lshdb.answers.sorting import in_order

    families = families_of(snapshot)
    if families.members:
        progress.noticed(
            f"comparing up to {families.num_candidates:,} pairs of {families.num_contents:,} texts in oversized buckets"
        )
    parts = left_out(snapshot, families, chosen.min_sim, params)
    rows = (
        row
        for part in parts
        for row in answers.pairs_of_documents(
            snapshot,
            part.chosen(part.similarity <= chosen.max_sim),
            expand=listed.expand,
            between=listed.collections,
        )
    )
    return rows if chosen.order is None else in_order(rows, answers.order_key(chosen.order), chosen.limit)
