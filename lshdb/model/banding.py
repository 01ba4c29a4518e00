"""The S-curve of a banding, and how many candidates it makes of how similar the contents of a corpus are.

Owns the typical distribution of similarities. Pure arithmetic, without NumPy: the command line reckons with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import mul
from typing import Final

__all__ = [
    "DEFAULT_NUM_PERM",
    "DEFAULT_RECALL",
    "MAX_BANDS",
    "SQLITE_SIZES",
    "TYPICAL",
    "TYPICAL_CONTENTS",
    "Banding",
    "Similarities",
    "Sizes",
    "typical",
]

DEFAULT_NUM_PERM: Final = 100
TYPICAL_CONTENTS: Final = 100_000

# Beyond it the exact count of arrangements takes seconds, and each band for itself is as good.
MAX_COUNTED_PERM: Final = 512


@dataclass(frozen=True, slots=True)
class Banding:
    """How a signature is cut: ``bands`` slices of ``rows`` minima from its start on.

    Args: first_band: the number under which the first band's buckets are kept.
    """

    bands: int
    rows: int
    first_band: int = 0

    @property
    def numbers(self) -> range:
        """The numbers under which the buckets of each band are kept."""
        return range(self.first_band, self.first_band + self.bands)

    def candidate_probability(self, similarity: float) -> float:
        """The probability that a pair of this similarity shares a bucket.

        Source: Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, section 3.4.2: 1-(1-s^r)^b.
        """
        return 1.0 - (1.0 - similarity**self.rows) ** self.bands

    def sharing(self, num_perm: int) -> list[float]:
        """By k = 0 ... num_perm: the probability that a pair with k equal minima of num_perm shares a bucket.

        Which minima are equal is random, so the arrangements without a whole equal band are counted: they are the
        coefficients of ((1+x)^r - x^r)^b (1+x)^(num_perm - r b). Averaged over the k of a pair it is unbiased for
        `candidate_probability` of its similarity, which k / num_perm in place of the similarity is not. Where the
        bands need more minima than there are, each band counts for itself.
        """
        if num_perm > MAX_COUNTED_PERM or self.bands * self.rows > num_perm:
            whole = math.comb(num_perm, self.rows)
            bands_equal = [math.comb(equal, self.rows) / whole if whole else 0.0 for equal in range(num_perm + 1)]
            return [1.0 - (1.0 - probability) ** self.bands for probability in bands_equal]
        # Kronecker substitution: a polynomial as one integer, each coefficient in `width` bits of it.
        width = num_perm + 1
        x, mask = 1 << width, (1 << width) - 1
        without = ((1 + x) ** self.rows - x**self.rows) ** self.bands * (1 + x) ** (num_perm - self.rows * self.bands)
        return [1.0 - ((without >> width * k) & mask) / math.comb(num_perm, k) for k in range(num_perm + 1)]


@dataclass(frozen=True, slots=True)
class Similarities:
    """How similar the contents of a corpus are to each other.

    Args:
        neighbours: by k = 0 ... num_perm, how many others a content has on average with k equal minima.
    """

    neighbours: tuple[float, ...]

    @property
    def num_perm(self) -> int:
        """The number of minima that were compared."""
        return len(self.neighbours) - 1

    def candidates(self, banding: Banding) -> float:
        """The number of others that a content is expected to share a bucket with."""
        return float(sum(map(mul, self.neighbours, banding.sharing(self.num_perm))))

    def of_contents(self, num_contents: int) -> Similarities:
        """The same shape in a corpus of so many contents."""
        factor = (num_contents - 1) / (sum(self.neighbours) or 1.0)
        return Similarities(tuple(factor * number for number in self.neighbours))

    def grown_candidates(self, banding: Banding) -> float:
        """`candidates`, when the index has grown to 100,000 contents by such as are typical."""
        more = max(0.0, TYPICAL_CONTENTS - sum(self.neighbours))
        return self.candidates(banding) + typical(more).candidates(banding)


def typical(num_contents: float) -> Similarities:
    """What is expected of a corpus that was not measured.

    Source: measured on 16,307 manual pages of Debian: about 0.12 s^-1.5 (1-s) others in each hundredth s of
    similarity, within a factor of two from 0.01 to 0.65, and too many above. Others grow with the corpus.
    """
    share = 0.12 * num_contents / 16_307
    steps = [equal / DEFAULT_NUM_PERM for equal in range(1, DEFAULT_NUM_PERM + 1)]
    near = [share * similarity**-1.5 * (1.0 - similarity) for similarity in steps]
    return Similarities((max(0.0, num_contents - sum(near)), *near))


TYPICAL: Final = typical(TYPICAL_CONTENTS)


MAX_BANDS: Final = 32_767  # band_bucket.band is a SMALLINT


DEFAULT_RECALL: Final = 0.999


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes in the tables: of a row of buckets with its share of indexes, and of a content beside its minima."""

    row: float
    content: float

    def of(self, banding: Banding, num_perm: int) -> float:
        """Bytes a content takes for its signature and its buckets; its text and its documents come on top."""
        return self.content + 4 * num_perm + self.row * banding.bands


# Source: dbstat of the crawl of benchmarks/corpora/data.py; see benchmarks/runs/tuning.py.
SQLITE_SIZES: Final = Sizes(row=20.0, content=60.0)
