"""Known answers, edge cases, and the coverage that the intervals promise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from memgraft import statistics
from memgraft.statistics import MIN_PAIRS, Interval

positive = st.floats(min_value=1e-3, max_value=1e3)


def test_min_pairs_is_the_smallest_number_with_an_exact_interval() -> None:
    def both_ends_hold_the_median(n: int) -> float:
        return 1 - 2 * 0.5**n

    assert both_ends_hold_the_median(MIN_PAIRS) >= statistics.CONFIDENCE
    assert both_ends_hold_the_median(MIN_PAIRS - 1) < statistics.CONFIDENCE


def test_fewer_values_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 6"):
        statistics.exact_median([1.0] * 5)


@pytest.mark.parametrize(
    ("n", "k"),
    # The ranks that tables of the sign test give for 5 %, two-sided.
    [(6, 1), (8, 1), (9, 2), (11, 2), (12, 3), (15, 4), (17, 5), (20, 6), (25, 8), (30, 10)],
)
def test_exact_interval_takes_the_published_ranks(n: int, k: int) -> None:
    interval = statistics.exact_median([float(value) for value in range(n, 0, -1)])
    assert (interval.low, interval.high) == (k, n + 1 - k)


@pytest.mark.parametrize("n", range(6, 60))
def test_exact_interval_covers_at_least_95_percent_and_no_narrower_one_does(n: int) -> None:
    k = int(statistics.exact_median([float(value) for value in range(1, n + 1)]).low)
    assert 2 * stats.binom.cdf(k - 1, n, 0.5) <= 0.05
    assert 2 * stats.binom.cdf(k, n, 0.5) > 0.05


@pytest.mark.parametrize("n", [6, 10])
def test_interval_of_ratios_covers_the_true_median(n: int) -> None:
    """By simulation with skewed noise: at least what is promised, less three standard errors of the simulation."""
    generator = np.random.default_rng(7)
    true_ratio, rounds = 0.97, 300
    hits = 0
    for _ in range(rounds):
        noise = generator.lognormal(0.0, 0.05, n)
        interval = statistics.median_interval((true_ratio * noise).tolist())
        hits += interval.low <= true_ratio <= interval.high
    assert hits / rounds >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / rounds)


def test_bootstrap_alone_would_claim_too_much_for_few_pairs() -> None:
    """Why the exact interval is there at all."""
    generator = np.random.default_rng(11)
    rounds = 200
    hits = 0
    for _ in range(rounds):
        interval = statistics.bootstrap_median(generator.normal(1.0, 0.1, 6).tolist())
        hits += interval.low <= 1.0 <= interval.high
    assert hits / rounds < 0.95


@given(st.lists(positive, min_size=6, max_size=25))
def test_interval_holds_its_median_and_stays_within_the_values(values: list[float]) -> None:
    interval = statistics.median_interval(values)
    assert min(values) <= interval.low <= interval.median <= interval.high <= max(values)


@given(st.lists(positive, min_size=6, max_size=12))
def test_interval_is_the_same_each_time_and_in_any_order(values: list[float]) -> None:
    assert statistics.median_interval(values) == statistics.median_interval(values)
    exact, shuffled = statistics.exact_median(values), statistics.exact_median(values[::-1])
    assert exact == shuffled


@given(st.lists(positive, min_size=6, max_size=12), st.floats(min_value=0.1, max_value=10))
def test_exact_interval_scales_with_its_values(values: list[float], factor: float) -> None:
    plain, scaled = statistics.exact_median(values), statistics.exact_median([v * factor for v in values])
    assert scaled.low == pytest.approx(plain.low * factor)
    assert scaled.high == pytest.approx(plain.high * factor)


def test_a_known_effect_without_noise() -> None:
    stock = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    ratios = statistics.paired_ratios(stock, [0.9 * s for s in stock])
    interval = statistics.median_interval(ratios)
    assert interval.low == pytest.approx(0.9)
    assert interval.high == pytest.approx(0.9)
    assert statistics.verdict(interval) == "faster"


def test_pairing_removes_what_both_sides_share() -> None:
    """A machine that becomes twice as slow from the first pair to the last hides nothing."""
    drift = np.linspace(1, 2, 12)
    ratios = statistics.paired_ratios(drift.tolist(), (1.02 * drift).tolist())
    assert statistics.verdict(statistics.median_interval(ratios)) == "slower"


def test_pairs_must_be_complete() -> None:
    with pytest.raises(ValueError, match="zip"):
        statistics.paired_ratios([1.0, 2.0], [1.0])


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.9, 0.99, "faster"),
        (0.9, 1.0, "not resolved"),
        (1.0, 1.0, "not resolved"),
        (1.0, 1.1, "not resolved"),
        (1.01, 1.1, "slower"),
        (0.9, 1.1, "not resolved"),
    ],
)
def test_verdict_needs_the_whole_interval_on_one_side(low: float, high: float, verdict: str) -> None:
    assert statistics.verdict(Interval((low + high) / 2, low, high)) == verdict


def test_resolvable_is_the_wider_side() -> None:
    assert Interval(1.0, 0.98, 1.01).resolvable == pytest.approx(0.02)
    assert Interval(2.0, 1.9, 2.4).resolvable == pytest.approx(0.2)


def test_pairs_to_resolve_grow_with_the_square() -> None:
    assert statistics.pairs_to_resolve(Interval(1.01, 0.99, 1.03), 10) > 10
    half_as_far = statistics.pairs_to_resolve(Interval(1.005, 0.985, 1.025), 10)
    assert half_as_far == pytest.approx(4 * statistics.pairs_to_resolve(Interval(1.01, 0.99, 1.03), 10), rel=0.1)
    assert statistics.pairs_to_resolve(Interval(1.0, 0.9, 1.1), 10) == 0


def test_drift_of_a_line_and_of_a_constant() -> None:
    rising = statistics.drift([1.0, 1.1, 1.2, 1.3, 1.4, 1.5])
    assert rising.median == pytest.approx(0.5 / 1.25)
    assert rising.low > 0
    assert statistics.drift([1.0] * 6) == Interval(0.0, 0.0, 0.0)


def test_one_disturbed_launch_is_no_drift() -> None:
    drift = statistics.drift([1.0, 1.01, 0.99, 5.0, 1.01, 0.99, 1.0, 1.01])
    assert drift.low <= 0 <= drift.high


def test_variation() -> None:
    assert statistics.variation([1.0, 1.0, 1.0]) == 0
    assert statistics.variation([0.9, 1.0, 1.1]) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("n", "confidence", "outside"),
    # Critical values of the Mann-Whitney test, two-sided 5 % and 1 %.
    [(4, 0.95, 0), (5, 0.95, 2), (6, 0.95, 5), (8, 0.95, 13), (5, 0.99, 0), (6, 0.99, 2), (8, 0.99, 7), (9, 0.99, 11)],
)
def test_independent_ratio_takes_the_published_critical_values(n: int, confidence: float, outside: int) -> None:
    values = np.exp(np.linspace(0, 1, n) * np.sqrt(2))
    base = np.exp(np.linspace(0, 1, n) ** 2)
    ratios = np.sort(np.divide.outer(values, base).ravel())
    interval = statistics.independent_ratio(values.tolist(), base.tolist(), confidence)
    assert interval.low == ratios[outside]
    assert interval.high == ratios[-outside - 1]


def test_independent_ratio_covers_the_true_ratio() -> None:
    generator = np.random.default_rng(3)
    rounds, true_ratio = 1000, 1.3
    hits = 0
    for _ in range(rounds):
        values = true_ratio * generator.lognormal(0, 0.1, 5)
        interval = statistics.independent_ratio(values.tolist(), generator.lognormal(0, 0.1, 5).tolist())
        hits += interval.low <= true_ratio <= interval.high
    assert hits / rounds >= 0.95


def test_independent_ratio_needs_four_a_side() -> None:
    with pytest.raises(ValueError, match=r"3 and 3 values: too few .* confidence 0\.95"):
        statistics.independent_ratio([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
