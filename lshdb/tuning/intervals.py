"""Estimate recall from a sample of contents, with a confidence interval that allows for clustered pairs.

The pairs of one probe tend to be found or missed together, so they count as fewer than they are. Limitation: a cluster
without any probe stays unknown. The interval is wide if few probes have pairs.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from lshdb.model.reports import CONFIDENCE

__all__ = ["CONFIDENCE", "Estimate", "recall_of"]

# The 99.5th percentile of the normal distribution.
NORMAL: Final = 2.5758

STEPS: Final = 60
TERMS: Final = 300


class Estimate(Struct, frozen=True):
    """A share and its confidence interval; `share` is None if there was nothing to find."""

    share: float | None
    low: float
    high: float


def recall_of(found: NDArray[np.float64], there: NDArray[np.float64], num_contents: float) -> Estimate:
    """Return the share of the pairs that was found, from probes drawn out of `num_contents` without replacement.

    This is a ratio of totals. Its variance gives the effective number of independent pairs, and that number gives the
    interval of Clopper and Pearson. If everything was found, the variance is 0, and each probe counts as one pair:
    (sum t)^2 / sum t^2.

    Args:
        found, there: float64, shape (n,); for each probe, the pairs found and all pairs, which may be an estimate.
        num_contents: infinite if the pairs of a probe are an estimate, so that even all probes leave some doubt.

    Source: Korn, Graubard 1998, Confidence intervals for proportions with small expected number of positive counts
        estimated from survey data; Kish 1965, Survey sampling (the effective number).
    """
    total, num_probes = float(there.sum()), len(there)
    if not total:
        return Estimate(None, 0.0, 1.0)
    share = float(found.sum()) / total
    if num_probes >= num_contents:
        return Estimate(share, share, share)
    worth = _worth(found, there, share, 1.0 - num_probes / num_contents)
    return Estimate(share, *_clopper_pearson(share * worth, worth))


def _worth(found: NDArray[np.float64], there: NDArray[np.float64], share: float, unsampled: float) -> float:
    """Return the effective number of independent pairs in the sample."""
    total, paired = float(there.sum()), int(np.count_nonzero(there))
    kish = total**2 / float((there**2).sum())
    if share in (0.0, 1.0) or paired < 2:
        return kish
    squares = (found - share * there) ** 2
    # A few clusters contribute most of the variance. A sample without them underestimates it, so this uses the upper
    # end of the variance's own interval.
    spread = float(squares.sum() + NORMAL * np.sqrt((squares**2).sum()))
    variance = unsampled * paired / (paired - 1) * spread / total**2
    return max(1.0, min(total, share * (1.0 - share) / variance))


def _clopper_pearson(found: float, there: float) -> tuple[float, float]:
    """Return the exact interval of a binomial share. The numbers need not be whole.

    Source: Clopper, Pearson 1934, The use of confidence or fiducial limits illustrated in the case of the binomial.
    """
    tail = (1.0 - CONFIDENCE) / 2.0
    # If all or none were found, the interval has only one tail.
    if there - found < 1e-9:
        return (1.0 - CONFIDENCE) ** (1.0 / there), 1.0
    if found < 1e-9:
        return 0.0, 1.0 - (1.0 - CONFIDENCE) ** (1.0 / there)
    return (
        _beta_quantile(tail, found, there - found + 1.0),
        _beta_quantile(1.0 - tail, found + 1.0, there - found),
    )


def _beta_quantile(probability: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        if _beta(middle, a, b) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0


def _beta(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function.

    Source: Press et al., Numerical recipes, section 6.4: its continued fraction, by Lentz's method.
    """
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - _beta(1.0 - x, b, a)
    front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    d = 1.0 / _nonzero(1.0 - (a + b) * x / (a + 1.0))
    c, fraction = 1.0, d
    for m in range(1, TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            d, c = 1.0 / _nonzero(1.0 + term * d), _nonzero(1.0 + term / c)
            fraction *= c * d
        if abs(c * d - 1.0) < 1e-12:
            break
    return math.exp(front) * fraction / a


def _nonzero(value: float) -> float:
    return value if abs(value) > 1e-30 else 1e-30
