"""What a hunt found, and how sure it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from memgraft.hunt.explain import Explanation, explain
from memgraft.hunt.patch import Declared
from memgraft.hunt.search import Suspects
from memgraft.hunt.sequential import chance_of_no_difference
from memgraft.hunt.suspects import Observation, Suspect
from memgraft.hunt.trials import Count, Launched
from memgraft.version import version

SCHEMA = 1


class Verdict(StrEnum):
    """What may be said at the end."""

    NEVER_FAILED = "never failed"
    NOT_ORDER = "not a missing volatile"
    """It fails when it is sequentially consistent, too."""
    TIMING = "timing may explain it"
    """It also stops failing when the same accesses only take longer."""
    UNSTABLE = "not reproduced"
    """What looked like the smallest set did not hold in fresh launches."""
    FOUND = "found"
    OUT_OF_TIME = "out of time"


@dataclass(frozen=True)
class Confirmed:
    """Fresh launches of the stock and with the found set in order, by turns."""

    stock: Count
    """Nothing in order; with weak memory where the hunt has that."""
    ordered: Count
    delayed: Count | None
    """The found set's accesses take as long, and are not in order; None with weak memory."""

    @property
    def chance(self) -> float:
        """How likely such a difference is if order makes none."""
        return chance_of_no_difference(
            self.stock.failures, self.stock.launches, self.ordered.failures, self.ordered.launches
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "stock": self.stock.as_json(),
            "ordered": self.ordered.as_json(),
            "delayed": self.delayed.as_json() if self.delayed else None,
            "chance_of_no_difference": self.chance,
        }


@dataclass(frozen=True)
class Model:
    """What the Java memory model asks for, where this machine asks for less: launches with weak memory."""

    everything: Count
    """All suspects in order."""
    found: Count
    """What is enough on this machine in order."""
    enough: bool
    """Whether it does not fail with that in order."""
    more: Suspects = frozenset()
    """What it takes besides; nothing where it is enough, or where that was not found."""


@dataclass
class Phase:
    """A part of the hunt, and its launches in order."""

    doing: str
    began_seconds: float
    """Since the hunt's start; what --resume takes over from an earlier one took no time."""
    launched: list[Launched] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        return {
            "doing": self.doing,
            "began_seconds": round(self.began_seconds, 3),
            "launches": [one.as_json() for one in self.launched],
        }


@dataclass
class Finding:
    """What is known so far; at the end, all of it."""

    command: Sequence[str]
    weak: bool = False
    """Whether loads could get old values, as far as the Java memory model allows, but for what was put in order."""
    verdict: Verdict = Verdict.OUT_OF_TIME
    phases: list[Phase] = field(default_factory=list)
    launches: int = 0
    seconds: float = 0.0
    stock: Count = field(default_factory=Count)
    """Nothing in order; with weak memory where the hunt has that."""
    unprovoked: Count | None = None
    """The stock without what makes it fail more often; null where nothing was tried, or helped."""
    provocation: str = ""
    """What makes it fail more often, in all launches behind those; empty: nothing."""
    plain: Count | None = None
    """Of a hunt with weak memory: the program as it is, on this machine."""
    consistent: Count | None = None
    """All accesses in order."""
    observation: Observation | None = None
    suspects: Suspects = frozenset()
    """Those among which the smallest set was looked for: putting all of them in order makes the failure vanish."""
    where: str = ""
    """What these are, in words."""
    delayed: Count | None = None
    """All suspects' accesses take as long as in order, and are not."""
    cure: Suspects = frozenset()
    conflicts: Sequence[Suspects] = ()
    alternatives: Sequence[Suspects] = ()
    confirmed: Confirmed | None = None
    hotspot: Count | None = None
    """All accesses put in order by the other engine."""
    model: Model | None = None
    """Not of a hunt with weak memory, which asks nothing else."""
    declared: dict[str, Declared] = field(default_factory=dict)
    """Where the sources declare what was found, by its name."""
    patch: str = ""
    """A unified diff that makes it volatile."""
    notes: list[str] = field(default_factory=list)
    """What could not be done besides."""

    def suspect(self, name: str) -> Suspect:
        known = self.observation.suspects.get(name) if self.observation else None
        return known or Suspect(name)

    @property
    def lacking(self) -> Suspects:
        """All that is to be put in order: what this machine needs, and what the Java memory model asks for besides."""
        return self.cure | self.model.more if self.model else self.cure

    @property
    def doing(self) -> str:
        """What the hunt was busy with; of use where time ran out."""
        return self.phases[-1].doing if self.phases else ""

    @property
    def explanation(self) -> Explanation | None:
        """What may have happened, of a verdict that names something."""
        if self.verdict is not Verdict.FOUND:
            return None
        others = frozenset().union(*self.conflicts) - self.lacking
        return explain(
            [self.suspect(name) for name in sorted(self.lacking)], [self.suspect(name) for name in sorted(others)]
        )

    def as_json(self) -> dict[str, Any]:
        explanation = self.explanation
        return {
            "schema": SCHEMA,
            "kind": "hunt",
            "memgraft": version(),
            "command": list(self.command),
            "weak": self.weak,
            "verdict": self.verdict,
            "doing": self.doing,
            "launches": self.launches,
            "seconds": self.seconds,
            "stock": self.stock.as_json(),
            "provocation": self.provocation,
            "unprovoked": self.unprovoked.as_json() if self.unprovoked else None,
            "plain": self.plain.as_json() if self.plain else None,
            "consistent": self.consistent.as_json() if self.consistent else None,
            "suspects": len(self.suspects),
            "where": self.where,
            "delayed": self.delayed.as_json() if self.delayed else None,
            "cure": [self._cure_as_json(name) for name in sorted(self.cure)],
            "conflicts": [sorted(conflict) for conflict in self.conflicts],
            "alternatives": [sorted(one) for one in self.alternatives],
            "confirmed": self.confirmed.as_json() if self.confirmed else None,
            "hotspot": self.hotspot.as_json() if self.hotspot else None,
            "model": self._model_as_json(self.model) if self.model else None,
            "explanation": explanation.as_json() if explanation else None,
            "phases": [phase.as_json() for phase in self.phases],
            "patch": self.patch,
            "notes": self.notes,
        }

    def _model_as_json(self, model: Model) -> dict[str, Any]:
        return {
            "everything": model.everything.as_json(),
            "found": model.found.as_json(),
            "enough": model.enough,
            "more": [self._cure_as_json(name) for name in sorted(model.more)],
        }

    def _cure_as_json(self, name: str) -> dict[str, Any]:
        declared = self.declared.get(name)
        place = {"file": str(declared.file), "line": declared.line} if declared else None
        return {**self.suspect(name).as_json(), "declared": place}
