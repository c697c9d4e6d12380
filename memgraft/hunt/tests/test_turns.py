"""Launches by turns: they count only by what they show themselves."""

import itertools
from typing import cast

import pytest

from memgraft.hunt.sequential import SequentialTest
from memgraft.hunt.trials import Kind, Setting, Trials
from memgraft.hunt.turns import CHANCE, Turns

STOCK = Setting(Kind.STOCK)
OTHER = Setting(Kind.ALL)
SLOW = Setting(Kind.DELAYED)


class Launches:
    """The stock fails in the first so many launches, and nothing else ever does."""

    def __init__(self, failures: int) -> None:
        self._failures = failures

    def once(self, setting: Setting) -> str:
        if setting != STOCK or self._failures == 0:
            return ""
        self._failures -= 1
        return "exit code 1"


def turns(failures: int, times: int) -> Turns:
    made = Turns(cast("Trials", Launches(failures)), STOCK, [OTHER])
    for _ in range(times):
        made.once()
    return made


def test_launches_that_pass_are_not_enough_without_as_many_of_the_stock_that_fail() -> None:
    """Of three that pass the sequential test says that the failure is gone; half of six may be those by chance."""
    test = SequentialTest(0.95)
    assert test.gone(0, 3) is True
    assert [turns(times, times).gone(OTHER, test) for times in (3, 6, 7)] == [None, None, True]
    assert 1 / 924 > CHANCE > 1 / 3432  # ways to choose 6 of 12, and 7 of 14


def test_a_stock_that_stops_failing_makes_nothing_seem_gone() -> None:
    for times in range(1, 100):
        assert turns(0, times).gone(OTHER, SequentialTest(0.95)) is not True


def test_what_fails_like_the_stock_is_still_there() -> None:
    assert turns(9, 9).gone(STOCK, SequentialTest(0.95)) is False


class Patterns:
    """Each setting fails in those of ten launches that its pattern marks, again and again."""

    def __init__(self, patterns: dict[Setting, str]) -> None:
        self._marks = {setting: itertools.cycle(pattern) for setting, pattern in patterns.items()}

    def once(self, setting: Setting) -> str:
        return "exit code 1" if next(self._marks[setting]) == "x" else ""


@pytest.mark.parametrize(
    ("ordered", "slow", "only_time"),
    [
        ("..........", "..........", True),
        ("..........", "x.........", True),
        ("..........", "x..x.x.x..", False),
        ("..........", "xxxxxxxxxx", False),
        # What is in order fails as often: a second failure, which says nothing of time or order.
        ("x..x.x.x..", "x..x.x.x..", True),
    ],
)
def test_time_alone_is_blamed_only_where_order_does_no_more(ordered: str, slow: str, only_time: bool) -> None:
    patterns = {STOCK: "x", OTHER: ordered, SLOW: slow}
    made = Turns(cast("Trials", Patterns(patterns)), STOCK, [OTHER, SLOW])
    test = SequentialTest(0.95)
    while made.are_few or made.only_time(OTHER, SLOW, test) is None:
        made.once()
    assert made.only_time(OTHER, SLOW, test) is only_time
    assert made.counts[SLOW].launches <= 100
