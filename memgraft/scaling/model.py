"""The formula: cores that allocate and queue for cache lines, as a closed queueing network. Pure.

One shared word is a server: a core that wants to change it waits until the line comes, and serves itself in the time of
one transfer and one swap. A core that does not wait uses up its TLAB: it thinks. With one word that is the machine
repairman problem, which mean value analysis solves exactly for exponential times (M. Reiser, S. Lavenberg, "Mean-Value
Analysis of Closed Multichain Queuing Networks", Journal of the ACM 27(2), 1980).
With buffers in between there is a word for each; each kind is solved by itself, the time spent at the others being part
of its customers' thinking, until all agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass

PRECISION = 1e-12
MOST_ROUNDS = 10_000
DAMPING = 0.5


@dataclass(frozen=True)
class Stage:
    """Words of one kind: those of the buffers of a level, or, last, the heap's."""

    name: str
    sharers: int
    """How many cores share one; at most as many as there are."""
    service: float
    """Nanoseconds for which one change of it keeps all others away."""
    work: float
    """Nanoseconds that a request takes besides, and that nobody waits for."""
    requests: int
    """Of the stage before, for one of this: 1 for the first."""


@dataclass(frozen=True)
class Found:
    """Means of one TLAB of one core, in nanoseconds."""

    think: float
    lost: float
    """To get it: waiting and serving, at all stages."""
    busy: float
    """The share of time in which the heap's pointer is in use."""

    @property
    def share(self) -> float:
        """Of a core's time, what is lost."""
        return self.lost / (self.think + self.lost)


def response(customers: int, service: float, think: float) -> float:
    """How long one of so many customers is at the server, each time, waiting included."""
    queue, time = 0.0, service
    for present in range(1, customers + 1):
        # Who arrives finds what a network with one customer fewer has in its queue.
        time = service * (1 + queue)
        queue = present * time / (think + time)
    return time


def solve(think: float, cores: int, stages: Sequence[Stage]) -> Found:
    """One TLAB's time on so many cores."""
    visits = visits_of(stages)
    sharers = [min(cores, stage.sharers) for stage in stages]
    times = [stage.service for stage in stages]
    work = sum(rate * stage.work for rate, stage in zip(visits, stages, strict=True))
    for _ in range(MOST_ROUNDS):
        cycle = think + work + sum(rate * time for rate, time in zip(visits, times, strict=True))
        new = [
            response(number, stage.service, max(0.0, cycle / rate - time))
            for number, stage, rate, time in zip(sharers, stages, visits, times, strict=True)
        ]
        moved = max(abs(one - other) / one for one, other in zip(new, times, strict=True))
        times = [DAMPING * one + (1 - DAMPING) * other for one, other in zip(new, times, strict=True)]
        if moved < PRECISION:
            break
    lost = work + sum(rate * time for rate, time in zip(visits, times, strict=True))
    return Found(think, lost, cores * visits[-1] * stages[-1].service / (think + lost))


def visits_of(stages: Sequence[Stage]) -> list[float]:
    """How often each stage is visited for one TLAB."""
    visits, rate = [], 1.0
    for stage in stages:
        rate /= stage.requests
        visits.append(rate)
    return visits
