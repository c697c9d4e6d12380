"""How often the sequential test is wrong, and after how many launches it tells."""

import random

import pytest

from memgraft.hunt.sequential import (
    REMAINING,
    SequentialTest,
    chance_of_no_difference,
    highest_rate,
    lowest_rate,
)

ROUNDS = 4000


def decided(test: SequentialTest, rate: float, die: random.Random) -> tuple[bool, int]:
    """What is said of launches that fail at that rate, and after how many."""
    failures = passes = 0
    while (gone := test.gone(failures, passes)) is None:
        failed = die.random() < rate
        failures += failed
        passes += not failed
    return gone, failures + passes


@pytest.mark.parametrize("lasting", [1.0, 1 / 3])
@pytest.mark.parametrize("rate", [0.05, 0.3, 0.6, 0.95])
def test_it_is_wrong_as_seldom_as_it_says(rate: float, lasting: float) -> None:
    """The bounds are Wald's, which hold for any rate beyond those named, too."""
    test = SequentialTest(rate, lasting, wrongly_gone=0.01, wrongly_there=0.02)
    die = random.Random(1)  # noqa: S311 - repeatable
    gone = sum(decided(test, rate * lasting, die)[0] for _ in range(ROUNDS))
    there = sum(not decided(test, rate * REMAINING, die)[0] for _ in range(ROUNDS))
    # Three standard deviations of what chance alone does to such a count.
    assert gone <= ROUNDS * 0.01 + 3 * (ROUNDS * 0.01) ** 0.5
    assert there <= ROUNDS * 0.02 + 3 * (ROUNDS * 0.02) ** 0.5


def test_what_never_fails_is_gone_after_so_many_launches() -> None:
    for rate in (0.02, 0.3, 0.95):
        test = SequentialTest(rate)
        assert test.gone(0, test.passes) is True
        assert test.gone(0, test.passes - 1) is None


def test_the_rate_follows_what_later_launches_say() -> None:
    test = SequentialTest(0.7)
    assert test.now(7, 10) is test
    assert test.now(2, 12).rate == lowest_rate(2, 12)
    assert test.now(0, 20).rate == pytest.approx(0.001)
    assert SequentialTest(0.1).now(6, 6).rate == lowest_rate(6, 6)


def test_two_failures_settle_it_where_the_stock_always_fails() -> None:
    test = SequentialTest(0.95)
    assert test.gone(1, 0) is None
    assert test.gone(2, 0) is False
    assert test.passes == 3


def test_a_rate_is_taken_as_low_as_it_may_be() -> None:
    assert lowest_rate(0, 10) == 0
    # The rate at which 6 of 6 fail in 5 % of all cases.
    assert lowest_rate(6, 6) == pytest.approx(0.05 ** (1 / 6))
    assert lowest_rate(300, 300) == 0.95
    assert lowest_rate(5, 50) < 0.1 < highest_rate(5, 50)
    assert highest_rate(0, 100) == pytest.approx(1 - 0.05 ** (1 / 100))
    assert highest_rate(3, 3) == 1


def test_how_likely_a_difference_is_by_chance() -> None:
    assert chance_of_no_difference(6, 6, 0, 6) == pytest.approx(1 / 924)
    assert chance_of_no_difference(3, 6, 3, 6) > 0.5
