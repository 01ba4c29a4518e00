"""Link a few contents in the transaction that adds them, which takes half the time of linking them afterwards.

Finds the same pairs as `Linking`. Whatever would keep other writers waiting is left to `Linking`.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from lshdb.linking.candidates import Occurrences
from lshdb.linking.comparison import compare, contents_of, promising
from lshdb.linking.delta import Delta
from lshdb.model.params import Params
from lshdb.model.values import CandidatePairs
from lshdb.sketch.banding import band_keys
from lshdb.store.tables import graph, oversized
from lshdb.store.transaction import Transaction

__all__ = ["link_few"]

FEW_CONTENTS: Final = 10
FEW_PAIRS: Final = 1_000
# Of all contents that are compared: some 10 ms.
FEW_SHINGLES: Final = 200_000


def link_few(transaction: Transaction, params: Params, run_key: int) -> int | None:
    """Link all unlinked contents if they are few, and return the number of pairs stored; None leaves them unlinked.

    Args: transaction: one that may write, so that no other writer adds contents meanwhile.
    """
    keys = graph.unlinked_keys(transaction, FEW_CONTENTS + 1)
    if len(keys) > FEW_CONTENTS:
        return None
    if not len(keys):
        return 0
    contents = contents_of(transaction, keys, params)
    delta = Delta.of(transaction, contents.keys, band_keys(contents.signatures, params.banding))
    with Occurrences(int(keys[-1])) as occurrences:
        for block in delta.candidates():
            occurrences.add(block)
        parts = [part.keys for part in occurrences.parts()]
    num_pairs = 0
    if parts:
        pairs = np.concatenate(parts)
        contents = contents_of(transaction, pairs, params)
        if len(pairs) > FEW_PAIRS or contents.num_shingles.sum() > FEW_SHINGLES:
            return None
        verified = compare(transaction, contents, promising(contents, CandidatePairs(pairs), params), params)
        num_pairs = graph.put_pairs(transaction, verified.chosen(verified.similarity >= params.floor), run_key)
        oversized.put(transaction, delta.hot)
    graph.mark_linked(transaction, keys)
    return num_pairs
