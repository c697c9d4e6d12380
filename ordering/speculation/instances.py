"""Which instances of the protocol are tried: programs, who made the objects, and what runs them."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product

from ordering.mapping.programs import (
    Access,
    Outcome,
    Program,
    canonical,
    locations_of,
    sequentially_consistent_outcomes,
)
from ordering.speculation.protocol import Instance, outcomes


def instances(programs: Sequence[Program]) -> Iterator[Instance]:
    """Each program with every way to own its locations, all of one class, and each of its own.

    It is interpreted, and compiled with a poll before each access, before every second one, and at the ends alone.
    """
    for made in programs:
        count = locations_of(made)
        longest = max(len(accesses) for accesses in made)
        for owners in product((*range(len(made)), None), repeat=count):
            if not any(owner is not None for owner in owners):
                continue
            for classes in ((0,) * count, tuple(range(count))):
                for compiled in sorted({0, 1, 2, longest}):
                    yield Instance(made, owners, classes, compiled)


def with_bystander(programs: Sequence[Program]) -> list[Program]:
    """Each program with one more thread, which loads something else: that can have a class switched which all use."""
    return [canonical((*made, (Access("R", locations_of(made)),))) for made in programs]


@cache
def allowed(made: Program) -> frozenset[Outcome]:
    return frozenset(sequentially_consistent_outcomes(made))


def wrong(made: Instance) -> set[Outcome]:
    """What it can come to, and sequential consistency cannot."""
    return outcomes(made) - allowed(made.program)
