"""Band keys as rows of `band_bucket`. Only here do 64-bit hashes become signed SQL integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lshdb.model.values import BandKeys
from lshdb.store.dialect import Columns

__all__ = ["bucket_rows", "buckets_of", "signed_hashes"]


def bucket_rows(content_keys: NDArray[np.int64], band_keys: BandKeys) -> Columns:
    """Return the columns of `band_bucket` for n contents, sorted by (band, bucket_hash) like the table.

    Args: content_keys: int64, shape (n,). band_keys: shape (n, bands).
    """
    hashes = signed_hashes(band_keys)
    bands, count = hashes.shape
    numbers = np.arange(band_keys.first_band, band_keys.first_band + bands, dtype=np.int16)
    # A stable sort keeps the contents of one bucket in the order of their keys.
    order = np.argsort(hashes, axis=1, kind="stable")
    return {
        "band": np.repeat(numbers, count),
        "bucket_hash": np.take_along_axis(hashes, order, axis=1).ravel(),
        "content_key": content_keys[order].ravel(),
    }


def buckets_of(band_keys: BandKeys) -> NDArray[np.int64]:
    """Return the bucket of each content, band by band: (band, bucket_hash), int64, shape (bands * n, 2)."""
    hashes = signed_hashes(band_keys)
    numbers = np.arange(band_keys.first_band, band_keys.first_band + len(hashes))
    return np.column_stack([np.repeat(numbers, hashes.shape[1]), hashes.ravel()])


def signed_hashes(band_keys: BandKeys) -> NDArray[np.int64]:
    """Return the hashes, band by band, int64, shape (bands, n)."""
    # The same 64 bits as a signed integer, because SQL has no unsigned ones.
    return np.ascontiguousarray(band_keys.keys.T).view(np.int64)
