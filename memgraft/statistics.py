"""The statistics of a comparison. Pure: numbers in, numbers out, the same numbers each time.

Why medians: one launch disturbed by another program moves a mean as far as it likes, and a median hardly.

Why two intervals for the median of the paired ratios, and the wider taken: the percentile bootstrap is the usual
choice, but a resampled median can only be one of the few values seen (or lie between two), and for small samples the
interval is too narrow: it holds the true median less often than it says (Hesterberg, "What Teachers Should Know About
the Bootstrap", The American Statistician 69(4), 2015, on medians and on narrowness bias). The order statistic interval
(Conover, "Practical Nonparametric Statistics", 3rd edition 1999, section 3.2) is exact for any continuous
distribution, but moves in whole observations. Their hull claims the least.
"""

import functools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

# numpy and scipy wait for whoever computes an interval: a run alone has none, and they take as long as all its rest.
if TYPE_CHECKING:
    import numpy as np

MIN_PAIRS = 6
"""The smallest number of pairs whose exact 95 % interval of the median is finite.

Both ends of the sample hold the median with probability 1 - 2 / 2**n: 0.969 for 6 pairs, 0.938 for 5.
"""
CONFIDENCE = 0.95
BOOTSTRAP_RESAMPLES = 20_000
BOOTSTRAP_SEED = 20110913
"""Any fixed number: the same launches always give the same interval."""

Verdict = Literal["faster", "slower", "not resolved"]


@dataclass(frozen=True)
class Interval:
    """A median with its 95 % confidence interval."""

    median: float
    low: float
    high: float

    @property
    def resolvable(self) -> float:
        """The smallest relative change that would have shown: the wider side of the interval, relative to the median.

        An effect shows when the interval does not reach 1, so when the median lies further from 1 than the interval's
        end on that side lies from the median; the wider side holds for effects in both directions.
        """
        return max(self.median - self.low, self.high - self.median) / self.median


def exact_median(values: Sequence[float]) -> Interval:
    """The median with the exact order statistic interval: at least 95 % for any continuous distribution.

    With x(1) <= ... <= x(n) the interval [x(k), x(n+1-k)] misses the median with probability
    2 P(Binomial(n, 1/2) < k); the largest k that keeps this at or below 5 % is taken. Needs MIN_PAIRS values.
    """
    import numpy as np
    from scipy import special

    ordered = np.sort(np.asarray(values, dtype=float))
    n = len(ordered)
    if n < MIN_PAIRS:
        raise ValueError(f"{n} values: an exact interval of the median needs at least {MIN_PAIRS}")
    # The smallest j with P(X <= j) >= q, so that P(X <= j - 1) < q: exactly k = j.
    k = int(np.searchsorted(special.bdtr(np.arange(n), n, 0.5), (1 - CONFIDENCE) / 2))
    return Interval(float(np.median(ordered)), float(ordered[k - 1]), float(ordered[n - k]))


def bootstrap_median(values: Sequence[float]) -> Interval:
    """The median with the percentile bootstrap interval."""
    import numpy as np

    data = np.asarray(values, dtype=float)
    generator = np.random.default_rng(BOOTSTRAP_SEED)
    medians = np.median(generator.choice(data, size=(BOOTSTRAP_RESAMPLES, len(data))), axis=1)
    low, high = np.percentile(medians, [50 * (1 - CONFIDENCE), 100 - 50 * (1 - CONFIDENCE)])
    return Interval(float(np.median(data)), float(low), float(high))


def median_interval(values: Sequence[float]) -> Interval:
    """The median with the hull of the exact and the bootstrap interval."""
    exact, bootstrap = exact_median(values), bootstrap_median(values)
    return Interval(exact.median, min(exact.low, bootstrap.low), max(exact.high, bootstrap.high))


def median_or_range(values: Sequence[float]) -> Interval:
    """The median with its interval; of too few values for one, what was seen from the least to the most."""
    if len(values) >= MIN_PAIRS:
        return median_interval(values)
    return Interval(float(statistics.median(values)), min(values), max(values))


def paired_ratios(baseline: Sequence[float], grafted: Sequence[float]) -> list[float]:
    """The ratios grafted / baseline, pair by pair."""
    return [g / b for b, g in zip(baseline, grafted, strict=True)]


def verdict(ratio: Interval) -> Verdict:
    """What may be said about a ratio of times: below 1 the graft is faster."""
    if ratio.high < 1:
        return "faster"
    return "slower" if ratio.low > 1 else "not resolved"


def pairs_to_resolve(ratio: Interval, pairs: int) -> int:
    """About how many pairs the median seen would need to be told from 1: widths shrink as 1 / sqrt(pairs)."""
    distance = abs(ratio.median - 1) / ratio.median
    return math.ceil(pairs * (ratio.resolvable / distance) ** 2) if distance > 0 else 0


def variation(values: Sequence[float]) -> float:
    """The coefficient of variation: standard deviation / mean."""
    return float(statistics.stdev(values) / statistics.fmean(values))


def drift(values: Sequence[float]) -> Interval:
    """How much a series of launches rose (or fell) from its first to its last, relative to its median.

    The Theil-Sen slope and its interval, which a few odd launches do not move (Sen, "Estimates of the Regression
    Coefficient Based on Kendall's Tau", JASA 63, 1968).
    """
    import numpy as np
    from scipy import stats

    slope = stats.theilslopes(np.asarray(values, dtype=float), alpha=CONFIDENCE)
    scale = (len(values) - 1) / float(np.median(values))
    return Interval(float(slope.slope) * scale, float(slope.low_slope) * scale, float(slope.high_slope) * scale)


def independent_ratio(values: Sequence[float], base: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """The ratio values / base of two samples that are not paired, with an interval of that confidence.

    The Hodges-Lehmann estimate on a log scale, which is the median of all ratios, and the interval that belongs to the
    Mann-Whitney test (Bauer, "Constructing Confidence Sets Using Rank Statistics", JASA 67, 1972): exact for any
    distribution, and at 95 % finite from four values a side on, where an interval of one median needs six; at 99 %
    from five.
    """
    import numpy as np

    ratios = np.sort(np.divide.outer(np.asarray(values, dtype=float), np.asarray(base, dtype=float)).ravel())
    counts = _mann_whitney_counts(len(values), len(base))
    below = np.cumsum(counts) / np.sum(counts)
    # Leaving out the c smallest ratios misses the true one with probability P(U < c) on that side.
    c = int(np.searchsorted(below, (1 - confidence) / 2, side="right"))
    if c == 0:
        raise ValueError(
            f"{len(values)} and {len(base)} values: too few for an interval of the ratio with confidence {confidence}"
        )
    return Interval(float(np.median(ratios)), float(ratios[c - 1]), float(ratios[-c]))


@functools.lru_cache
def _mann_whitney_counts(n: int, m: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """How many of the orders of n and m values have U = 0, 1, ..., n m: the coefficients of a Gaussian binomial."""
    import numpy as np

    counts = np.zeros(n * m + 1)
    counts[0] = 1
    for i in range(1, n + 1):
        # Multiply by (1 - q^(m+i)), then divide by (1 - q^i), as power series.
        if m + i <= n * m:
            counts[m + i :] -= counts[: -(m + i)].copy()
        for u in range(i, n * m + 1):
            counts[u] += counts[u - i]
    return counts
