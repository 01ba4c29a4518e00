"""The constants of the hash functions. A changed constant needs a new `params.TABLE_VERSION` or scheme name."""

from __future__ import annotations

from typing import Final

import numpy as np

__all__ = [
    "EMPTY_MINIMUM",
    "EMPTY_SLOT",
    "GOLDEN",
    "LONGEST_CLUSTER",
    "MIX_1",
    "MIX_2",
    "SHINGLE_BASE",
    "SPLITMIX_1",
    "SPLITMIX_2",
    "TOKEN_BASE",
]

# Source: Appleby, MurmurHash3, fmix64.
MIX_1: Final = np.uint64(0xFF51AFD7ED558CCD)
MIX_2: Final = np.uint64(0xC4CEB9FE1A85EC53)

# Source: Steele, Lea, Flood 2014, Fast splittable pseudorandom number generators: the golden gamma, and variant 13 of
# Stafford's mixer.
GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
SPLITMIX_1: Final = np.uint64(0xBF58476D1CE4E5B9)
SPLITMIX_2: Final = np.uint64(0x94D049BB133111EB)

# Odd multipliers with good spectra. Source: Steele, Vigna 2021, Computationally easy, spectrally good multipliers.
TOKEN_BASE: Final = np.uint64(0xD1342543DE82EF95)
SHINGLE_BASE: Final = np.uint64(0xAF251AF3B0F025B5)

EMPTY_SLOT: Final = np.uint64(2**64 - 1)
EMPTY_MINIMUM: Final = np.uint32(2**32 - 1)

# Bytes of UTF-8. NFKC sorts marks in quadratic time, and a page may hold a million. Real text has under 30 per letter.
# Source: Unicode Standard Annex 15, section 13, Stream-Safe Text Format.
LONGEST_CLUSTER: Final = 256
