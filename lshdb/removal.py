"""Takes contents out of the index when their last document is gone, with their buckets and pairs.

The cost follows what is removed: the bucket rows to delete are known from the signature.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.banding import band_keys
from lshdb.comparison import signatures_of
from lshdb.expansion import CAP, HUBS
from lshdb.params import Params
from lshdb.store import Transaction, documents, graph

__all__ = ["retire"]


def retire(transaction: Transaction, released: NDArray[np.int64], params: Params) -> None:
    """Deletes those of the released contents that no document points to any more."""
    if not len(released):
        return
    keys, stored = documents.orphans(transaction, released)
    buckets = band_keys(signatures_of(b"".join(stored), params), params.banding)
    documents.delete_contents(transaction, keys, buckets)
    # Where a hub went, another content takes its place, and has to meet everybody.
    graph.relink_skipped(transaction, keys, buckets, CAP, HUBS)
