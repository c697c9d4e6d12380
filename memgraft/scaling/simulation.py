"""The same event by event: every core, every TLAB, every word as a queue (SimPy)."""

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import simpy

from memgraft.scaling.model import Found, Stage

Events = Generator[simpy.Event, Any, None]
Service = Literal["fixed", "exponential"]
WARM_UP = 0.2
"""The share of all TLABs that is not counted: it starts with nobody in any queue."""
SEED = 20120401
"""Any fixed number: the same question always gets the same answer."""


@dataclass
class _Word:
    """One shared word, and how many requests its buffer can still take."""

    queue: simpy.Resource
    left: int


@dataclass
class _Seen:
    tlabs: int = 0
    lost: float = 0.0
    busy: float = 0.0
    since: float = 0.0


@dataclass
class _Run:
    environment: simpy.Environment
    stages: Sequence[Stage]
    think: float
    service: Service
    random: random.Random
    words: list[list[_Word]]
    enough: simpy.Event
    wanted: int
    seen: _Seen = field(default_factory=_Seen)

    def core(self, number: int) -> Events:
        while True:
            yield self.environment.timeout(self.random.expovariate(1 / self.think))
            asked = self.environment.now
            for at, stage in enumerate(self.stages):
                word = self.words[at][number // stage.sharers]
                yield from self._change(at, word)
                yield self.environment.timeout(stage.work)
                word.left -= 1
                if word.left > 0 or at == len(self.stages) - 1:
                    break
                # Who took the last piece fills the buffer again; nobody waits for it (they go to the neighbours').
                word.left = self.stages[at + 1].requests
            self._done(self.environment.now - asked)

    def _change(self, at: int, word: _Word) -> Events:
        mean = self.stages[at].service
        time = mean if self.service == "fixed" else self.random.expovariate(1 / mean)
        with word.queue.request() as turn:
            yield turn
            yield self.environment.timeout(time)
        if at == len(self.stages) - 1:
            self.seen.busy += time

    def _done(self, lost: float) -> None:
        self.seen.tlabs += 1
        self.seen.lost += lost
        if self.seen.tlabs == round(self.wanted * WARM_UP) and not self.seen.since:
            self.seen = _Seen(since=self.environment.now)
            self.wanted -= round(self.wanted * WARM_UP)
        elif self.seen.tlabs >= self.wanted and not self.enough.triggered:
            self.enough.succeed()


def simulate(think: float, cores: int, stages: Sequence[Stage], tlabs: int, service: Service = "fixed") -> Found:
    """The means over so many TLABs of all cores together."""
    environment = simpy.Environment()
    chance = random.Random(SEED)  # noqa: S311  no secret
    words = [
        [
            # At any point of their filling, as after a long time.
            _Word(simpy.Resource(environment), chance.randint(1, after.requests if after else 1))
            for _ in range(-(-cores // stage.sharers))
        ]
        for stage, after in zip(stages, [*stages[1:], None], strict=True)
    ]
    run = _Run(environment, stages, think, service, chance, words, environment.event(), tlabs)
    for number in range(cores):
        environment.process(run.core(number))
    environment.run(until=run.enough)
    seen = run.seen
    return Found(think, seen.lost / seen.tlabs, seen.busy / (environment.now - seen.since))
