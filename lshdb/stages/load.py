"""Write a work folder into an empty index, as an ingest of the same files would have done.

The documents go through the write step of an ingest, which decides which of two documents gets an id. A content that
no document has in the end is removed from its buckets as in any index: if it was a hub of an oversized bucket, the
contents that moved up are linked again. So the pairs are those of an ingest, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lshdb.ingest.ingest import Ingestion
from lshdb.ingest.options import IngestOptions
from lshdb.ingest.plan import Plan
from lshdb.linking.link import STORED_PAIRS, Linking
from lshdb.model.progress import Progress
from lshdb.model.values import BandKeys, VerifiedPairs
from lshdb.stages.columns import integers, matrix
from lshdb.stages.folder import Manifest, WorkFolder
from lshdb.stages.sketching import chunks
from lshdb.store.store import Store
from lshdb.store.tables import graph, identities, oversized

__all__ = ["load_documents", "load_pairs"]

# Contents whose digests are looked up, or that are marked as linked, in one transaction.
PART_CONTENTS: Final = 50_000


def load_documents(store: Store, folder: WorkFolder, run_key: int, collection: str, progress: Progress) -> Ingestion:
    """Write the documents of a folder. Returns: what became of them."""
    ingestion = Ingestion(store, run_key, IngestOptions(collection, read=folder.options), progress)
    sources = {source.uri: source.file for source in folder.manifest.sources}
    ingestion.write_made(_plan(folder.manifest), chunks(folder.batches("sketches"), folder.params, sources))
    return ingestion


def _plan(manifest: Manifest) -> Plan:
    return Plan(
        tasks=(),
        known={},
        unchanged=(),
        unwalked=manifest.unwalked,
        num_skipped=manifest.num_skipped,
        roots=frozenset(source.root for source in manifest.sources),
        num_files=len(manifest.sources),
        num_bytes=sum(source.size for source in manifest.sources),
        is_last=True,
    )


def load_pairs(store: Store, folder: WorkFolder, run_key: int, progress: Progress) -> int:
    """Write the pairs of a folder whose documents were loaded. Returns: their number.

    If it is interrupted, the contents count as unlinked, and the next link computes their pairs.
    """
    places, keys = _content_keys(store, folder)
    num_pairs = 0
    for pairs in _pairs(folder, places, keys):
        num_pairs += store.write(partial(graph.put_pairs, pairs=pairs, run_key=run_key))
    _load_oversized(store, folder)
    for begin in range(0, len(keys), PART_CONTENTS):
        some = keys[begin : begin + PART_CONTENTS]
        store.write(partial(graph.mark_linked, content_keys=some[some > 0]))
    _relink_after_missing(store, folder, places[keys == 0])
    return num_pairs + Linking(store, run_key, progress).link()


def _content_keys(store: Store, folder: WorkFolder) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the contents of the folder, int64, shape (n,), ascending, and their keys in the index, or 0."""
    places, keys = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for batch in _distinct(folder, ["content", "digest"]):
        digests = matrix(batch.column("digest"), 1, "V16").ravel()
        places.append(integers(batch, "content"))
        keys.append(store.write(partial(identities.known, digests=digests)))
    place = np.concatenate(places)
    order = np.argsort(place)
    return place[order], np.concatenate(keys)[order]


def _distinct(folder: WorkFolder, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield the distinct contents of the folder."""
    for batch in folder.latest("contents", columns, PART_CONTENTS):
        yield batch.filter(batch.column(columns[-1]).is_valid())


def _pairs(folder: WorkFolder, places: NDArray[np.int64], keys: NDArray[np.int64]) -> Iterator[VerifiedPairs]:
    """Yield the pairs of contents that the index has, with their keys, in large parts."""
    held: list[VerifiedPairs] = []
    for batch in folder.batches("pairs"):
        pairs = np.sort(keys[np.searchsorted(places, integers(batch, "left", "right"))], axis=1)
        exact = batch.column("exact").to_numpy(zero_copy_only=False).astype(np.bool_)
        found = VerifiedPairs(pairs, batch.column("similarity").to_numpy(), exact)
        held.append(found.chosen(pairs[:, 0] > 0))
        if sum(map(len, held)) >= STORED_PAIRS:
            yield VerifiedPairs.joined(held)
            held = []
    if held:
        yield VerifiedPairs.joined(held)


def _load_oversized(store: Store, folder: WorkFolder) -> None:
    for batch in folder.oversized():
        store.write(partial(oversized.put, hot=integers(batch, "band", "bucket_hash", "num_contents")))


def _relink_after_missing(store: Store, folder: WorkFolder, missing: NDArray[np.int64]) -> None:
    """Mark the contents to link that moved up in oversized buckets, because the index lacks some of their contents."""
    hot = [integers(batch, "bucket_hash") for batch in folder.oversized()]
    if not len(missing) or not hot:
        return
    oversized_hashes, num_bands = np.concatenate(hot), folder.params.bands
    hashes = [np.empty((0, num_bands), np.int64)]
    for batch in _distinct(folder, ["content", "buckets"]):
        mine = matrix(batch.column("buckets"), num_bands, np.int64)
        moves = np.isin(integers(batch, "content"), missing) & np.isin(mine, oversized_hashes).any(axis=1)
        hashes.append(mine[moves])
    # All together, because those that move up depend on how many contents of a bucket are missing.
    band_keys = BandKeys(np.concatenate(hashes).view(np.uint64), folder.params.first_band)
    store.write(partial(oversized.relink, band_keys=band_keys))
