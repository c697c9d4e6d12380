"""Which programs a mapping lets end as sequential consistency never would: all of those of programs.py are tried."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from itertools import product

from ordering.mapping.axioms import LitmusTest, outcomes
from ordering.mapping.mappings import Candidate
from ordering.mapping.programs import (
    Outcome,
    Program,
    critical_cycles,
    name_of,
    sequentially_consistent_outcomes,
    text_of,
    two_threads,
    with_exchanges,
)

# With a mixture each access takes each of its mappings: of programs larger than this there are too many.
MOST_MIXED_ACCESSES = 6
MOST_SHOWN = 7


@dataclass(frozen=True)
class Verdict:
    """What was found of one candidate."""

    candidate: Candidate
    programs: int
    tests: int
    # The programs that ended as they must not, small ones first, each with one such end.
    broken: dict[Program, Outcome]

    @property
    def sound(self) -> bool:
        return not self.broken

    @property
    def as_expected(self) -> bool:
        broken = {name_of(made) for made in self.broken}
        return self.sound == self.candidate.sound and broken.issuperset(self.candidate.fails)


@cache
def programs_for(*, mixed: bool) -> tuple[Program, ...]:
    """What a candidate is tried on."""
    cycles = critical_cycles(most_threads=4)
    if mixed:
        cycles = [made for made in cycles if sum(map(len, made)) <= MOST_MIXED_ACCESSES]
        return (*cycles, *with_exchanges(critical_cycles(most_threads=2)))
    return tuple(
        dict.fromkeys((*cycles, *with_exchanges(critical_cycles(most_threads=3)), *two_threads(most_accesses=3)))
    )


@cache
def allowed(made: Program) -> frozenset[Outcome]:
    return frozenset(sequentially_consistent_outcomes(made))


def tests_of(candidate: Candidate) -> Iterator[LitmusTest]:
    for made in programs_for(mixed=len(candidate.ways) > 1):
        for chosen in product(*(product(candidate.ways, repeat=len(accesses)) for accesses in made)):
            yield LitmusTest(made, chosen, candidate.isa)


def judge(candidate: Candidate) -> Verdict:
    tests, broken = 0, dict[Program, Outcome]()
    for test in tests_of(candidate):
        tests += 1
        if wrong := outcomes(test) - allowed(test.made):
            broken.setdefault(test.made, min(wrong))
    return Verdict(candidate, len(programs_for(mixed=len(candidate.ways) > 1)), tests, broken)


def judge_all(candidates: Sequence[Candidate]) -> list[Verdict]:
    """Each on a CPU of its own as long as there are some."""
    with ProcessPoolExecutor() as pool:
        return list(pool.map(judge, candidates))


HEAD = "| {isa}: load / store | programs | tests | verdict |\n| --- | --- | --- | --- |"


def row(verdict: Verdict) -> str:
    """One line of the README's tables: with a mutant, the programs that tell it apart, those of its table first."""
    if verdict.sound:
        kept = "sequentially consistent"
    else:
        named = list(dict.fromkeys((*verdict.candidate.fails, *map(name_of, verdict.broken))))
        shown = ", ".join(named[:MOST_SHOWN]).replace(" | ", " ∥ ")
        kept = f"**not**: {shown}" + (f" and {len(named) - MOST_SHOWN:,} more" if len(named) > MOST_SHOWN else "")
    return f"| {verdict.candidate.name} | {verdict.programs:,} | {verdict.tests:,} | {kept} |"


def example(verdict: Verdict) -> str:
    """One end that must not be, if there is any."""
    for made, (*read, memory) in verdict.broken.items():
        told = [f"P{at} reads {' '.join(map(str, seen))}" for at, seen in enumerate(read) if seen]
        told.append(f"memory {' '.join(map(str, memory))}")
        return f"{text_of(made)}: {'; '.join(told)}"
    return "none"
