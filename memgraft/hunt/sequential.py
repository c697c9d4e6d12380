"""How many launches are enough: Wald's sequential probability ratio test, and the rate that it starts from.

A setting of the hunt (which accesses are put in order) either leaves the failure as it was or makes it vanish. Launches
are made until one of the two is likely enough (A. Wald, "Sequential Tests of Statistical Hypotheses", Annals of
Mathematical Statistics 16, 1945): the ratio of what both say of the launches so far passes one of two bounds.
"""

import math
from dataclasses import dataclass, replace

from scipy import special

REMAINING = 0.1
"""Of the rate at which the stock fails: a rate up to this is a failure that has vanished.

Not none at all, so that a second and rarer failure does not hide that the first one is gone.
"""
MOST = 0.95
"""No rate is taken to be higher: a program that failed each time so far may pass the next time."""
LEAST = 0.001
"""No rate is taken to be lower: some thousand launches are needed then."""
RATE_CONFIDENCE = 0.95


@dataclass(frozen=True)
class SequentialTest:
    """Whether launches fail at `rate`, or a share of it, or at a tenth of it."""

    rate: float
    lasting: float = 1.0
    """Of the rate, the share that is a failure which is still there."""
    wrongly_gone: float = 0.001
    """How often a failure that is still there is called gone, at most."""
    wrongly_there: float = 0.01
    """How often one that is gone is called still there, at most."""

    def gone(self, failures: int, passes: int) -> bool | None:
        """Whether the failure has vanished; None: more launches are needed."""
        ratio = self._ratio(failures, passes)
        if ratio >= math.log((1 - self.wrongly_there) / self.wrongly_gone):
            return True
        if ratio <= math.log(self.wrongly_there / (1 - self.wrongly_gone)):
            return False
        return None

    def now(self, failures: int, launches: int) -> "SequentialTest":
        """The test of a failure that has become rarer or more frequent, where later launches of the stock say so."""
        low, high = lowest_rate(failures, launches), highest_rate(failures, launches)
        return self if low <= self.rate <= high else replace(self, rate=max(low, LEAST))

    def _ratio(self, failures: int, passes: int) -> float:
        """The logarithm of the likelihood of having vanished over that of being there."""
        there, gone = self.rate * self.lasting, self.rate * REMAINING
        return failures * math.log(gone / there) + passes * math.log((1 - gone) / (1 - there))

    @property
    def passes(self) -> int:
        """How many launches in a row must pass before it is called gone."""
        count = 1
        while self.gone(0, count) is None:
            count += 1
        return count


def lowest_rate(failures: int, launches: int) -> float:
    """The lower end of the one-sided 95 % interval of a rate (Clopper and Pearson, Biometrika 26, 1934)."""
    if failures == 0:
        return 0.0
    low = float(special.betaincinv(failures, launches - failures + 1, 1 - RATE_CONFIDENCE))
    return min(low, MOST)


def highest_rate(failures: int, launches: int) -> float:
    """The upper end of that interval."""
    if failures == launches:
        return 1.0
    return float(special.betaincinv(failures + 1, launches - failures, RATE_CONFIDENCE))


def chance_of_no_difference(failures: int, launches: int, other_failures: int, other_launches: int) -> float:
    """How likely so many more failures are on the first side if both sides fail alike (Fisher's exact test)."""
    together = failures + other_failures
    most = min(launches, together)
    as_many = sum(math.comb(launches, k) * math.comb(other_launches, together - k) for k in range(failures, most + 1))
    return as_many / math.comb(launches + other_launches, together)
