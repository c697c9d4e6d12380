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
    thread,
)
from ordering.speculation.protocol import Instance, outcomes

Y = 1
"""The second location."""


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


def publications(texts: Sequence[str]) -> Iterator[Instance]:
    """Programs whose first thread owns x and publishes it by storing into y, in every state of their classes.

    y is a static field, the owner's, or another thread's; z is of any thread, and of x's class or none of them.
    """
    for text in texts:
        made = tuple(map(thread, text.split("|")))
        count = locations_of(made)
        longest = max(len(accesses) for accesses in made)
        for owners in product((0,), *(((*range(len(made)), None),) * (count - 1))):
            for classes in ((0,) * count, (0, 1, 0)[:count], tuple(range(count))):
                for switched in (0, 1):
                    for compiled in sorted({0, 1, longest}):
                        yield Instance(made, owners, classes, compiled, published=(Y,), switched=switched)


Seen = tuple[tuple[int | None, ...], ...]
"""By thread, of each access made: the value loaded, or None of a store."""


def interleavings(made: Instance) -> set[Outcome]:
    """What sequential consistency lets a program do whose threads need references."""
    found = set[Outcome]()
    left: list[tuple[Seen, tuple[int, ...]]] = [(((),) * len(made.program), (0,) * locations_of(made.program))]
    while left:
        seen, memory = left.pop()
        steps = list(_next_accesses(made, seen, memory))
        left += steps
        if not steps:
            loaded = (tuple(value for value in values if value is not None) for values in seen)
            found.add((*loaded, memory))
    return found


def _next_accesses(made: Instance, seen: Seen, memory: tuple[int, ...]) -> Iterator[tuple[Seen, tuple[int, ...]]]:
    for which, accesses in enumerate(made.program):
        place = len(seen[which])
        if place == len(accesses):
            continue
        access = accesses[place]
        source = made.reference(which, place)
        loaded = zip(accesses, seen[which], strict=False)
        if source is not None and not any(value for other, value in loaded if other.location == source):
            continue
        value = memory[access.location] if access.loads else None
        after = (*seen[:which], (*seen[which], value), *seen[which + 1 :])
        if access.stores:
            stored = made.written[which, place]
            yield after, (*memory[: access.location], stored, *memory[access.location + 1 :])
        else:
            yield after, memory


def wrong(made: Instance) -> set[Outcome]:
    """What it can come to, and sequential consistency cannot."""
    return outcomes(made) - (interleavings(made) if made.published else allowed(made.program))
