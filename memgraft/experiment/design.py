"""Which launches a comparison consists of, in which order and on which CPUs. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from memgraft.errors import CannotTakeError


class Pairing(StrEnum):
    """How the two sides of a pair share the machine and the minute."""

    ALTERNATE = "alternate"
    CONCURRENT = "concurrent"
    EPOCHS = "epochs"


class Side(StrEnum):
    """The two things that are compared."""

    BASELINE = "baseline"
    GRAFTED = "grafted"


SWITCHED = "switched"
"""A launch that is both sides in turn: one epoch this, one epoch that."""


@dataclass(frozen=True)
class Planned:
    """One launch to come."""

    side: str
    """A Side, or SWITCHED; in a grid (`memgraft paper`) the strategy."""
    pair: int | None
    """Counts from 1; None for a warm-up launch, which is not counted."""
    cpus: tuple[int, ...] = ()
    """Where it may run; empty: wherever this process may."""

    @property
    def name(self) -> str:
        if self.pair is None:
            return f"the warm-up launch ({self.side})"
        return (
            f"switched launch {self.pair}" if self.side == SWITCHED else f"the {self.side} launch of pair {self.pair}"
        )


Halves = tuple[Sequence[int], Sequence[int]]


def plan(pairs: int, warmups: int, pairing: Pairing, halves: Halves | None = None) -> list[list[Planned]]:
    """Groups of launches that run at the same time, one group after the other.

    Warm-up launches are grafted ones: a refusal shows before any long work, and whatever a first launch fills (page
    cache, downloads) is filled. Then alternation is A B B A A B B A ..., so that a machine that becomes steadily
    slower costs both sides the same; concurrent pairs instead swap their halves of the CPUs from pair to pair. With
    epochs every launch is both sides.
    """
    sides = (Side.BASELINE, Side.GRAFTED)
    if pairing is Pairing.EPOCHS:
        warm = [[Planned(SWITCHED, None)] for _ in range(warmups)]
        return [*warm, *([Planned(SWITCHED, number)] for number in range(1, pairs + 1))]
    if pairing is Pairing.ALTERNATE:
        groups = [[Planned(Side.GRAFTED, None)] for _ in range(warmups)]
        for pair in range(pairs):
            order = sides if pair % 2 == 0 else sides[::-1]
            groups += [[Planned(side, pair + 1)] for side in order]
        return groups
    if halves is None:
        raise CannotTakeError(
            "--pairing concurrent runs both sides at the same time, each on CPUs of its own: expected at least "
            "2 CPUs that this process may use, found 1; use --pairing alternate"
        )
    first, second = (tuple(half) for half in halves)
    groups = [[Planned(Side.GRAFTED, None, first)] for _ in range(warmups)]
    for pair in range(pairs):
        baseline_cpus, grafted_cpus = (first, second) if pair % 2 == 0 else (second, first)
        groups.append([Planned(Side.BASELINE, pair + 1, baseline_cpus), Planned(Side.GRAFTED, pair + 1, grafted_cpus)])
    return groups


def rounds(names: Sequence[str], launches: int, cpus: Sequence[int] = ()) -> list[list[Planned]]:
    """Launches of several things one at a time, in rounds A B C, C B A, ...: a steady drift costs all the same."""
    groups = []
    for number in range(launches):
        order = names if number % 2 == 0 else names[::-1]
        groups += [[Planned(name, number + 1, tuple(cpus))] for name in order]
    return groups
