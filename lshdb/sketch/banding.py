"""From signatures to bucket hashes. Two contents that agree on a whole band share a bucket.

Limitation: the signature of an empty set is banded like any other. The caller leaves it out.
"""

from __future__ import annotations

import numpy as np

from lshdb.errors import InvalidParams
from lshdb.model.choices import BUCKET_BITS
from lshdb.model.params import Banding
from lshdb.model.values import BandKeys, Signatures
from lshdb.sketch import kernels

__all__ = ["band_keys"]


def band_keys(signatures: Signatures, banding: Banding) -> BandKeys:
    """Return a hash of each band of each signature: of the band's number and its minima.

    It has the high bits of a hash of 64 bits, as many as BUCKET_BITS says. Minima after the last band are not used.

    Returns: uint64, shape (n, bands).
    Raises: InvalidParams: the bands need more minima than the signatures have.
    Source: Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, section 3.4.1.
    """
    num_perm = signatures.minima.shape[1]
    if banding.bands * banding.rows > num_perm:
        raise InvalidParams(name="bands * rows", value=banding.bands * banding.rows, reason=f"num_perm is {num_perm}")
    keys = kernels.band_hashes(signatures.minima, banding.bands, banding.rows)
    return BandKeys(keys >> np.uint64(64 - BUCKET_BITS[signatures.scheme]), banding.first_band)
