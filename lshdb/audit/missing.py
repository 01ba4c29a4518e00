"""Find near-duplicates whose pair is not stored, by computing the pairs of some contents again.

Limitation: a pair counts as missing only if both texts are kept, because an estimate cannot tell whether `verify` has
removed the pair since. Contents that are not linked yet have no pairs, and that is no fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from lshdb.audit.contents import stored_contents
from lshdb.audit.faults import Fault
from lshdb.audit.pairs import recomputed
from lshdb.linking.buckets import expand, with_any
from lshdb.linking.candidates import Occurrences, by_family
from lshdb.linking.comparison import promising
from lshdb.linking.components import Rows
from lshdb.model.arrays import PairPlaces, distinct
from lshdb.model.params import Params
from lshdb.model.values import CandidatePairs, VerifiedPairs
from lshdb.store.tables import bands, clusters, graph, shared_buckets
from lshdb.store.transaction import Transaction

__all__ = ["all_contents", "missing_faults", "missing_pairs"]


def all_contents(snapshot: Transaction) -> NDArray[np.int64]:
    """Return all keys that contents may have, int64, ascending."""
    return np.arange(1, (bands.last_content(snapshot) or 0) + 1)


def missing_faults(pairs: VerifiedPairs) -> Iterator[Fault]:
    """Yield a fault for each missing pair."""
    for (left, right), similarity in zip(pairs.keys.tolist(), pairs.similarity.tolist(), strict=True):
        detail = f"its contents share a bucket, and their similarity is {similarity}"
        yield Fault("pair-missing", "pair", f"{left},{right}", detail, "its contents are linked again")


def missing_pairs(snapshot: Transaction, content_keys: NDArray[np.int64], params: Params) -> Iterator[VerifiedPairs]:
    """Yield the pairs that linking would store for the given contents, and that are not stored.

    Args: content_keys: int64, ascending.
    Raises: SpillFailed: the disk is full.
    """
    sought, unlinked = Rows(content_keys), Rows(graph.unlinked_keys(snapshot))
    with Occurrences(int(content_keys.max(initial=0))) as occurrences:
        for band in params.banding.numbers:
            for rows in shared_buckets.of_band(snapshot, band):
                is_sought = sought.have(rows[:, 1])
                near = with_any(rows, is_sought)
                for keys in expand(rows[near], is_sought[near], snapshot.expansion):
                    occurrences.add(keys[~unlinked.have(keys).any(axis=1)])
        with closing(by_family(occurrences, lambda _share: None)) as parts:
            for part in parts:
                yield _missing(snapshot, part, params)


def _missing(snapshot: Transaction, candidates: CandidatePairs, params: Params) -> VerifiedPairs:
    stored = clusters.known_pairs(snapshot, candidates)
    absent = CandidatePairs(candidates.keys[PairPlaces(candidates.keys).without(stored.keys)])
    contents = stored_contents(snapshot, distinct(absent.keys), params)
    found, is_sure = recomputed(snapshot, contents, promising(contents, absent, params), params)
    return found.chosen(is_sure & found.exact & (found.similarity >= params.floor))
