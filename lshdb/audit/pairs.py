"""Check stored pairs against the exact similarity of their texts, or estimates against the signatures.

A pair cannot be checked if one of its texts is not trusted. `rows` reports pairs that are wrong as rows, out of range;
`missing` finds those that are not stored.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.audit.contents import UNREADABLE, stored_contents, trusted
from lshdb.audit.faults import LOST, Fault
from lshdb.linking.comparison import Contents, compare
from lshdb.model.arrays import distinct
from lshdb.model.choices import FaultKind
from lshdb.model.params import Params
from lshdb.model.values import Signatures, VerifiedPairs
from lshdb.sketch.minhash import estimate
from lshdb.store.transaction import Transaction

__all__ = ["ExaminedPairs", "examine_pairs", "recomputed"]


class ExaminedPairs(Struct, frozen=True):
    """The result of checking pairs: `changed` have their correct similarity, `dropped` are below the floor."""

    faults: tuple[Fault, ...]
    changed: VerifiedPairs
    dropped: VerifiedPairs


def examine_pairs(transaction: Transaction, page: VerifiedPairs, params: Params) -> ExaminedPairs:
    """Compare pairs with their recomputed similarity."""
    contents = stored_contents(transaction, distinct(page.keys), params)
    pairs = page.chosen(_is_sound(page, contents, params))
    fresh, known = recomputed(transaction, contents, pairs, params)
    differs = known & np.where(pairs.exact, fresh.exact & (fresh.similarity != pairs.similarity), False)
    guesses = _estimates(contents, pairs)
    differs |= ~pairs.exact & (guesses != pairs.similarity)
    if (doubtful := differs & pairs.exact).any():
        sure = trusted(transaction, distinct(pairs.keys[doubtful]), params)
        known &= ~doubtful | np.isin(pairs.keys, sure).all(axis=1)
    differs &= known
    below = fresh.similarity < params.floor
    faults = [_differing(pairs, fresh, row) for row in np.flatnonzero(differs).tolist()]
    faults += [_unverifiable(pairs, row) for row in np.flatnonzero(~known).tolist()]
    return ExaminedPairs(tuple(faults), fresh.chosen(differs & ~below), fresh.chosen(differs & below))


def _is_sound(page: VerifiedPairs, contents: Contents, params: Params) -> NDArray[np.bool_]:
    sound: NDArray[np.bool_] = (page.similarity >= params.floor) & np.isin(page.keys, contents.keys).all(axis=1)
    return sound


def recomputed(
    transaction: Transaction, contents: Contents, pairs: VerifiedPairs, params: Params
) -> tuple[VerifiedPairs, NDArray[np.bool_]]:
    """Return the pairs with their exact similarity or estimate, and which of them could be recomputed."""
    unsure = VerifiedPairs.estimated(pairs.keys, _estimates(contents, pairs))
    known: NDArray[np.bool_] = np.ones(len(pairs), dtype=np.bool_)
    try:
        return compare(transaction, contents, unsure, params), known
    except UNREADABLE:
        known &= np.isin(pairs.keys, trusted(transaction, distinct(pairs.keys), params)).all(axis=1)
    some = compare(transaction, contents, unsure.chosen(known), params)
    similarity, exact = unsure.similarity.copy(), unsure.exact.copy()
    similarity[known], exact[known] = some.similarity, some.exact
    return VerifiedPairs(pairs.keys, similarity, exact), known


def _estimates(contents: Contents, pairs: VerifiedPairs) -> NDArray[np.float64]:
    rows = contents.rows(pairs.keys)
    minima, scheme = contents.signatures.minima, contents.signatures.scheme
    return estimate(Signatures(minima[rows[:, 0]], scheme), Signatures(minima[rows[:, 1]], scheme))


def _differing(pairs: VerifiedPairs, fresh: VerifiedPairs, row: int) -> Fault:
    kind: FaultKind = "similarity-differs" if pairs.exact[row] else "estimate-differs"
    detail = f"stored {pairs.similarity[row]}, recomputed {fresh.similarity[row]}"
    return Fault(kind, "pair", _key(pairs, row), detail, "recomputed, or deleted below the floor")


def _unverifiable(pairs: VerifiedPairs, row: int) -> Fault:
    return Fault("pair-unverifiable", "pair", _key(pairs, row), "one of its texts is not the original one", LOST)


def _key(pairs: VerifiedPairs, row: int) -> str:
    left, right = pairs.keys[row].tolist()
    return f"{left},{right}"
