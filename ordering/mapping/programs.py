"""Small parallel programs, made systematically, and what sequential consistency lets each of them do.

A program is a tuple of threads, a thread a tuple of accesses. Each write to a location writes another value (1, 2, ...;
memory begins as 0), so that a value tells which write was read.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, permutations, product
from typing import Literal

Kind = Literal["R", "W", "X"]  # load, store, atomic exchange
LOCATIONS = "xyzw"


@dataclass(frozen=True, order=True)
class Access:
    """One load, store or exchange of the location with this index into LOCATIONS."""

    kind: Kind
    location: int

    def __str__(self) -> str:
        return self.kind + LOCATIONS[self.location]

    @property
    def loads(self) -> bool:
        return self.kind != "W"

    @property
    def stores(self) -> bool:
        return self.kind != "R"


Thread = tuple[Access, ...]
Program = tuple[Thread, ...]
# What a run can be told by: what each load read, by thread and place in it, and what memory holds at the end.
Outcome = tuple[tuple[int, ...], ...]


def thread(text: str) -> Thread:
    """`"Wx Ry"` as accesses."""
    # The letters are those of Kind: a test would not get past any other.
    return tuple(Access(word[0], LOCATIONS.index(word[1])) for word in text.split())  # type: ignore[arg-type]


def program(text: str) -> Program:
    """`"Wx Ry | Wy Rx"` as a program, in its canonical form."""
    return canonical(tuple(thread(part) for part in text.split("|")))


def text_of(made: Program) -> str:
    return " | ".join(" ".join(map(str, accesses)) for accesses in made)


def locations_of(made: Program) -> int:
    return 1 + max(access.location for access in chain.from_iterable(made))


def canonical(made: Program) -> Program:
    """The same one of all programs that differ in the order of threads and the names of locations only."""
    used = sorted({access.location for access in chain.from_iterable(made)})
    return min(
        tuple(sorted(tuple(Access(a.kind, order[used.index(a.location)]) for a in accesses) for accesses in made))
        for order in permutations(range(len(used)))
    )


# The names of Alglave, Maranget, Tautschnig, "Herding cats" (TOPLAS 2014), table III, and of diy's users.
NAMES: Mapping[Program, str] = {
    program(text): name
    for name, text in {
        "SB": "Wx Ry | Wy Rx",
        "MP": "Wx Wy | Ry Rx",
        "LB": "Rx Wy | Ry Wx",
        "S": "Wx Wy | Ry Wx",
        "R": "Wx Wy | Wy Rx",
        "2+2W": "Wx Wy | Wy Wx",
        "WRC": "Wx | Rx Wy | Ry Rx",
        "RWC": "Wx | Rx Ry | Wy Rx",
        "WRW+WR": "Wx | Rx Wy | Wy Rx",
        "IRIW": "Wx | Rx Ry | Wy | Ry Rx",
        "3.SB": "Wx Ry | Wy Rz | Wz Rx",
        "3.LB": "Rx Wy | Ry Wz | Rz Wx",
        "3.2W": "Wx Wy | Wy Wz | Wz Wx",
        "ISA2": "Wx Wy | Ry Wz | Rz Rx",
        "W+RWC": "Wx Wy | Ry Rz | Wz Rx",
        "Z6.0": "Wx Wy | Ry Wz | Wz Rx",
        "Z6.1": "Wx Wy | Wy Wz | Rz Wx",
        "Z6.2": "Wx Wy | Ry Wz | Rz Wx",
        "Z6.3": "Wx Wy | Wy Wz | Rz Rx",
        "Z6.4": "Wx Wy | Wy Rz | Wz Rx",
        "Z6.5": "Wx Wy | Wy Wz | Wz Rx",
        "CoRR": "Wx | Rx Rx",
    }.items()
}


def name_of(made: Program) -> str:
    """The name it is known by, or what it does."""
    return NAMES.get(made, text_of(made))


def critical_cycles(*, most_threads: int) -> list[Program]:
    """Every critical cycle of so many threads, each as the program that has no accesses but the cycle's.

    In one, a thread takes part with at most two accesses, to two locations, and a location with at most three, which
    are then a load, a store and a load (Shasha and Snir, "Efficient and correct execution of parallel programs that
    share memory", TOPLAS 1988): whatever a machine gets wrong between locations, it gets one of them wrong.
    """
    found = set()
    for count in range(2, most_threads + 1):
        # How each location is gone through; the accesses are of different threads, and each conflicts with the next.
        for ways in product(("WW", "RW", "WR", "RWR"), repeat=count):
            threads: list[Thread] = []
            for location, way in enumerate(ways):
                following = (location + 1) % count
                # From the last access of one location a thread leads to the first one of the next.
                threads.append((_access(way[-1], location), _access(ways[following][0], following)))
                threads += [(_access(kind, location),) for kind in way[1:-1]]
            if len(threads) <= most_threads:
                found.add(canonical(tuple(threads)))
    return _by_size(found)


def with_exchanges(programs: list[Program]) -> list[Program]:
    """These programs with some of their stores, one at least, made exchanges."""
    found = set()
    for made in programs:
        choices = [[[a, Access("X", a.location)] if a.kind == "W" else [a] for a in accesses] for accesses in made]
        found |= {canonical(p) for p in product(*(product(*accesses) for accesses in choices))}
    return _by_size(found - set(programs))


def two_threads(*, most_accesses: int) -> list[Program]:
    """Every program of two threads with up to so many accesses of two locations each, where they conflict at all."""
    accesses = [Access(kind, location) for kind in ("R", "W") for location in (0, 1)]
    threads = list(chain.from_iterable(product(accesses, repeat=n) for n in range(1, most_accesses + 1)))
    return _by_size({canonical(pair) for pair in product(threads, repeat=2) if _conflict(*pair)})


def _access(kind: str, location: int) -> Access:
    return Access(kind, location)  # type: ignore[arg-type]  # from the strings of critical_cycles


def _conflict(one: Thread, other: Thread) -> bool:
    return any(a.location == b.location and (a.stores or b.stores) for a in one for b in other)


def _by_size(programs: set[Program]) -> list[Program]:
    return sorted(programs, key=lambda made: (sum(map(len, made)), len(made), name_of(made)))


def values(made: Program) -> dict[tuple[int, int], int]:
    """What each store and exchange writes, by its thread and place there."""
    written = [0] * locations_of(made)
    result = {}
    for at, accesses in enumerate(made):
        for place, access in enumerate(accesses):
            if access.stores:
                written[access.location] += 1
                result[at, place] = written[access.location]
    return result


def sequentially_consistent_outcomes(made: Program) -> set[Outcome]:
    """Every outcome of every interleaving (Lamport 1979): the oracle, as plain as can be."""
    written = values(made)

    def steps(at: tuple[int, ...], memory: tuple[int, ...], read: Outcome) -> Iterator[Outcome]:
        if all(place == len(accesses) for place, accesses in zip(at, made, strict=True)):
            yield (*read, memory)
        for which, accesses in enumerate(made):
            place = at[which]
            if place == len(accesses):
                continue
            access = accesses[place]
            then = tuple(p + (i == which) for i, p in enumerate(at))
            seen = tuple((*r, memory[access.location]) if i == which else r for i, r in enumerate(read))
            after = tuple(
                written[which, place] if access.stores and i == access.location else v for i, v in enumerate(memory)
            )
            yield from steps(then, after, seen if access.loads else read)

    return set(steps((0,) * len(made), (0,) * locations_of(made), ((),) * len(made)))
