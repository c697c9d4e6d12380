"""Fresh launches by turns, so that a change of the machine's load is on all sides, and is seen."""

from collections.abc import Sequence
from dataclasses import replace

from memgraft.hunt.sequential import SequentialTest, chance_of_no_difference
from memgraft.hunt.trials import Count, Setting, Trials

LEAST = 6
"""Launches of each setting."""
CHANCE = 0.001
"""A setting that makes no difference has, at most this often, so many failures fewer than the stock beside it."""
LASTING = 1 / 3
"""Of the rate at which the stock fails: where that much remains, time alone does not explain that the failure vanishes.

Elsewhere nearly half may remain before it counts as still there: then the search goes on, and finds what else it takes.
Here the hunt would end.
"""
MANY = 3
"""Times as many launches as must pass in a row: no difference is looked for any longer."""


class Turns:
    """One launch of the stock, then one of each other setting, again and again."""

    def __init__(self, trials: Trials, stock: Setting, others: Sequence[Setting]) -> None:
        self._trials = trials
        self._stock = stock
        self.counts = {setting: Count() for setting in (stock, *others)}

    def once(self) -> None:
        """A launch of each."""
        for setting, count in self.counts.items():
            count.add(self._trials.once(setting), 0.0)

    @property
    def are_few(self) -> bool:
        return self.counts[self._stock].launches < LEAST

    def now(self, test: SequentialTest) -> SequentialTest:
        """The test, with another rate where the stock fails more or less often than it did."""
        stock = self.counts[self._stock]
        return test.now(stock.failures, stock.launches)

    def gone(self, setting: Setting, test: SequentialTest) -> bool | None:
        """Whether the failure has vanished with that setting; None: more launches are needed."""
        stock, count = self.counts[self._stock], self.counts[setting]
        gone = self.now(test).gone(count.failures, count.passes)
        chance = chance_of_no_difference(stock.failures, stock.launches, count.failures, count.launches)
        return None if gone and chance > CHANCE else gone

    def only_time(self, ordered: Setting, slow: Setting, test: SequentialTest) -> bool | None:
        """Whether it takes no order, but only the time that this takes; None: more launches are needed.

        If it does take order, then the failure lasts with what is only slow, and does so beside what is in order.
        """
        strict = replace(test, lasting=LASTING)
        count, beside = self.counts[slow], self.counts[ordered]
        gone = self.gone(slow, strict)
        chance = chance_of_no_difference(count.failures, count.launches, beside.failures, beside.launches)
        if gone is False and chance > CHANCE:
            gone = None
        return True if gone is None and count.launches >= MANY * self.now(strict).passes else gone
