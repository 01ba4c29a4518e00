"""Connected components of pairs that are spread over many machines.

Each task reduces its pairs to a spanning forest, in which every content names another of its component. The forests
together have at most one row for each content and task. One process then merges them; it takes 16 bytes for each
content that has a pair, and never sees a list of all pairs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lshdb.linking.components import Rows, components
from lshdb.model.arrays import distinct
from lshdb.stages.columns import batch_of, integers
from lshdb.stages.schemas import FOREST, PAIRS

__all__ = ["at_least", "forest", "merged"]

# Pairs that are reduced at a time: 80 MB.
HELD_PAIRS: Final = 5_000_000


def at_least(batches: Iterator[pa.RecordBatch], similarity: float) -> Iterator[pa.RecordBatch]:
    """Yield the pairs that have this similarity."""
    for batch in batches:
        kept = np.flatnonzero(batch.column("similarity").to_numpy() >= similarity)
        rows = batch.take(pa.array(kept))
        yield batch_of(PAIRS, len(rows), **{name: rows.column(name) for name in PAIRS.names})


def forest(batches: Iterator[pa.RecordBatch], most: int = HELD_PAIRS) -> Iterator[pa.RecordBatch]:
    """Yield edges that connect what the pairs connect, fewer than the pairs have contents.

    Args: most: how many pairs are held at least; a content in a pair takes 16 bytes more.
    """
    edges = _reduced(((integers(batch, "left", "right")) for batch in batches), most)
    yield batch_of(FOREST, len(edges), content=edges[:, 1], root=edges[:, 0])


def merged(batches: Iterable[pa.RecordBatch]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the contents of forests, int64, shape (n,), ascending, and the first content of the component of each."""
    edges = _reduced((integers(batch, "root", "content") for batch in batches), HELD_PAIRS)
    keys = distinct(edges)
    return keys, keys[components(Rows(keys), len(keys), [edges])]


def _reduced(blocks: Iterable[NDArray[np.int64]], most: int) -> NDArray[np.int64]:
    """Return edges (first content of the component, content), int64, shape (m, 2), that connect what all blocks do."""
    held, num_held, num_edges = [np.empty((0, 2), np.int64)], 0, 0
    for block in blocks:
        held.append(block)
        num_held += len(block)
        # Only if there is as much to add as there was before, so that the work stays linear.
        if num_held >= max(most, num_edges):
            held, num_held = [_edges(np.concatenate(held))], 0
            num_edges = len(held[0])
    return _edges(np.concatenate(held))


def _edges(pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    keys = distinct(pairs)
    first = keys[components(Rows(keys), len(keys), [pairs])]
    edges: NDArray[np.int64] = np.column_stack([first, keys])[first != keys]
    return edges
