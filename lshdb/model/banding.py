"""The S-curve of a banding, and how many candidates it finds in a corpus with given similarities.

Owns the typical distribution of similarities. Pure arithmetic without NumPy, because the command line uses it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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

# With more minima, the exact count takes seconds, and treating the bands as independent is as accurate.
MAX_COUNTED_PERM: Final = 512

# Steps of a numerical integral; an even number.
AREA_STEPS: Final = 500


@dataclass(frozen=True, slots=True)
class Banding:
    """How a signature is divided: into ``bands`` slices of ``rows`` minima, from its start.

    Args: first_band: the number of the first band in the table of buckets.
    """

    bands: int
    rows: int
    first_band: int = 0

    @property
    def numbers(self) -> range:
        """The numbers of the bands in the table of buckets."""
        return range(self.first_band, self.first_band + self.bands)

    def candidate_probability(self, similarity: float) -> float:
        """Return the probability that a pair of this similarity shares a bucket.

        Source: Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, section 3.4.2: 1-(1-s^r)^b.
        """
        return 1.0 - (1.0 - similarity**self.rows) ** self.bands

    @property
    def threshold(self) -> float:
        """The similarity at about which the S-curve is steepest.

        Source: Leskovec, Rajaraman, Ullman, Mining of Massive Datasets, section 3.4.2: (1/b)^(1/r).
        """
        return float((1.0 / self.bands) ** (1.0 / self.rows))

    def false_positive_area(self, min_sim: float) -> float:
        """Return the area under the S-curve below `min_sim`: candidates that are not pairs.

        It is a share of all pairs only if every similarity is equally frequent. Low ones are more frequent.
        """
        return _area(self.candidate_probability, 0.0, min_sim)

    def false_negative_area(self, min_sim: float) -> float:
        """Return the area over the S-curve from `min_sim` to 1: pairs that are missed."""
        return _area(lambda similarity: (1.0 - similarity**self.rows) ** self.bands, min_sim, 1.0)

    def sharing(self, num_perm: int) -> list[float]:
        """Return, for k = 0 ... num_perm, the probability that a pair with k equal minima shares a bucket.

        Which minima are equal is random. So this counts the arrangements without a band that is equal throughout: they
        are the coefficients of ((1+x)^r - x^r)^b (1+x)^(num_perm - r b). Averaged over the k of a pair, the result is
        an unbiased estimate of `candidate_probability`, while using k / num_perm as the similarity is not. If the bands
        need more minima than there are, they are treated as independent.
        """
        if num_perm > MAX_COUNTED_PERM or self.bands * self.rows > num_perm:
            whole = math.comb(num_perm, self.rows)
            bands_equal = [math.comb(equal, self.rows) / whole if whole else 0.0 for equal in range(num_perm + 1)]
            return [1.0 - (1.0 - probability) ** self.bands for probability in bands_equal]
        # Kronecker substitution: a polynomial is one integer, with `width` bits for each coefficient.
        width = num_perm + 1
        x, mask = 1 << width, (1 << width) - 1
        without = ((1 + x) ** self.rows - x**self.rows) ** self.bands * (1 + x) ** (num_perm - self.rows * self.bands)
        return [1.0 - ((without >> width * k) & mask) / math.comb(num_perm, k) for k in range(num_perm + 1)]


def _area(function: Callable[[float], float], low: float, high: float) -> float:
    """Return the integral of a function, by Simpson's rule."""
    width = (high - low) / AREA_STEPS
    values = [function(low + step * width) for step in range(AREA_STEPS + 1)]
    return width / 3 * (values[0] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2]) + values[-1])


@dataclass(frozen=True, slots=True)
class Similarities:
    """How similar the distinct texts of a corpus are to each other.

    Args:
        neighbours: for k = 0 ... num_perm, the average number of other texts that have k minima in common with a text.
    """

    neighbours: tuple[float, ...]

    @property
    def num_perm(self) -> int:
        """The number of minima that were compared."""
        return len(self.neighbours) - 1

    def candidates(self, banding: Banding) -> float:
        """Return the expected number of other texts that a text shares a bucket with."""
        return float(sum(map(mul, self.neighbours, banding.sharing(self.num_perm))))

    def of_contents(self, num_contents: int) -> Similarities:
        """Return the same distribution, scaled to a corpus of `num_contents` distinct texts."""
        factor = (num_contents - 1) / (sum(self.neighbours) or 1.0)
        return Similarities(tuple(factor * number for number in self.neighbours))

    def grown_candidates(self, banding: Banding) -> float:
        """Return `candidates` after the index has grown to 100,000 distinct texts by typical ones."""
        more = max(0.0, TYPICAL_CONTENTS - sum(self.neighbours))
        return self.candidates(banding) + typical(more).candidates(banding)


def typical(num_contents: float) -> Similarities:
    """Return the distribution to expect of a corpus that was not measured.

    Source: measured on 16,307 manual pages of Debian. A text has about 0.12 s^-1.5 (1-s) others in each hundredth s of
    similarity. This is within a factor of two from 0.01 to 0.65, and too high above. It grows with the corpus.
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
    """Bytes in the tables.

    Args: row: of a bucket row with its share of indexes. content: of a distinct text apart from its minima.
        minimum: of a minimum of the default scheme.
    """

    row: float
    content: float
    minimum: float = 2.0

    def of(self, banding: Banding, num_perm: int) -> float:
        """Return the bytes that the signature and the buckets of a text take."""
        return self.content + self.minimum * num_perm + self.row * banding.bands


# Source: dbstat of the crawl of benchmarks/corpora/data.py; see benchmarks/runs/tuning.py.
SQLITE_SIZES: Final = Sizes(row=18.5, content=60.0)
