"""What a machine's memory model lets a program end with: all of its executions, against the model's axioms.

AArch64: Pulte, Flur, Deacon, French, Sarkar, Sewell, "Simplifying ARM concurrency: multicopy-atomic axiomatic and
operational models for ARMv8" (POPL 2018), figure 4, but for dependencies, which the programs here have none of; with
the clause that Arm added later for atomic instructions that acquire and release (`[range([A]; amo; [L])]; po` of its
aarch64.cat). x86: Owens, Sarkar, Sewell, "A better x86 memory model: x86-TSO" (TPHOLs 2009), in the axiomatic form of
Alglave, Maranget, Tautschnig, "Herding cats" (TOPLAS 2014), figure 21.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, permutations, product

from ordering.mapping.mappings import Isa, Step, Way
from ordering.mapping.programs import Outcome, Program, locations_of, values

# Of events by number: bit b of edges[a] says that a comes before b.
Edges = list[int]
INITIAL = -1  # the store that memory begins with


@dataclass(frozen=True)
class Event:
    """A load, a store or a fence: what one step of an instruction does."""

    thread: int
    place: int  # of the access in its thread
    location: int
    step: Step

    @property
    def kind(self) -> str:
        return self.step.kind


@dataclass(frozen=True)
class LitmusTest:
    """One program, with the instructions of each of its accesses by thread and place."""

    made: Program
    ways: tuple[tuple[Way, ...], ...]
    isa: Isa

    def events(self, at: int) -> list[Event]:
        return [
            Event(at, place, self.made[at][place].location, step)
            for place, way in enumerate(self.ways[at])
            for step in way.steps(self.made[at], place)
        ]


def outcomes(test: LitmusTest) -> set[Outcome]:
    """Every outcome of an execution that the model allows."""
    events, ordered, same_location = _program_order(test)
    numbers = range(len(events))
    written = {n: values(test.made)[events[n].thread, events[n].place] for n in numbers if events[n].kind == "W"} | {
        INITIAL: 0
    }
    loads = [n for n in numbers if events[n].kind == "R"]
    stores = [
        [n for n in numbers if events[n].kind == "W" and events[n].location == location]
        for location in range(locations_of(test.made))
    ]
    orders = [
        [order for order in permutations(own) if _acyclic(_with(same_location, combinations(order, 2)))]
        for own in stores
    ]
    found: set[Outcome] = set()
    for coherence in product(*orders):
        for sources in product(*((INITIAL, *stores[events[load].location]) for load in loads)):
            reads_from = dict(zip(loads, sources, strict=True))
            if _allowed(events, ordered, same_location, coherence, reads_from, EXTERNAL[test.isa]):
                read: list[list[int]] = [[] for _ in test.made]
                for load, source in reads_from.items():
                    read[events[load].thread].append(written[source])
                found.add((*map(tuple, read), tuple(written[(INITIAL, *order)[-1]] for order in coherence)))
    return found


def _allowed(
    events: list[Event],
    ordered: Edges,
    same_location: Edges,
    coherence: tuple[tuple[int, ...], ...],
    reads_from: Mapping[int, int],
    external: Callable[[Event, Event], bool],
) -> bool:
    """The three axioms: coherence of each location, atomicity, and one order of all that the machine orders."""
    communication = [pair for order in coherence for pair in combinations(order, 2)]
    for load, source in reads_from.items():
        order = (INITIAL, *coherence[events[load].location])
        if source != INITIAL:
            communication.append((source, load))
        # From-reads: what overwrites that which was read.
        later = order[order.index(source) + 1 :]
        communication += [(load, store) for store in later if not _one_instruction(events[load], events[store])]
        # Atomicity: nothing comes between the two halves of an exchange.
        own = next((store for store in order[1:] if _one_instruction(events[load], events[store])), None)
        if own is not None and order[order.index(own) - 1] != source:
            return False
    if not _acyclic(_with(same_location, communication)):
        return False
    return _acyclic(_with(ordered, (pair for pair in communication if external(events[pair[0]], events[pair[1]]))))


def _one_instruction(load: Event, store: Event) -> bool:
    return load.thread == store.thread and load.place == store.place


def _program_order(test: LitmusTest) -> tuple[list[Event], Edges, Edges]:
    """The accesses; which of each thread's the machine keeps in order in every execution; which are of one location."""
    events: list[Event] = []
    ordered: Edges = []
    same_location: Edges = []
    for at in range(len(test.made)):
        own = test.events(at)
        accesses = [i for i, event in enumerate(own) if event.kind != "F"]
        first = len(events)
        for i in accesses:
            events.append(own[i])
            ordered.append(0)
            same_location.append(0)
        for (n, i), (m, j) in combinations(enumerate(accesses), 2):
            ordered[first + n] |= ORDERED[test.isa](own[i], own[i + 1 : j], own[j]) << (first + m)
            same_location[first + n] |= (own[i].location == own[j].location) << (first + m)
    return events, ordered, same_location


def _aarch64_keeps(one: Event, between: list[Event], other: Event) -> bool:
    """bob, and what of aob holds in every execution."""
    fences = {event.step.order for event in between if event.kind == "F"}
    return (
        "full" in fences
        or (one.kind == "R" and "load" in fences)
        or (one.kind == other.kind == "W" and "store" in fences)
        or one.step.order in {"A", "Q"}
        or other.step.order == "L"
        or (one.step.order == "L" and other.step.order == "A")
        or (one.step.order == "L" and one.step.single)
        # Before a release, and so before what its thread stores there later (po; [L]; coi).
        or (other.kind == "W" and any(e.step.order == "L" and e.location == other.location for e in between))
        or _one_instruction(one, other)
    )


def _x86_keeps(one: Event, between: list[Event], other: Event) -> bool:
    """All but a store before a load, unless there is a fence or one of them is of a locked instruction."""
    if one.kind == "R" or other.kind == "W":
        return True
    return any(event.kind == "F" for event in between) or one.step.single or other.step.single


def _aarch64_external(one: Event, other: Event) -> bool:
    """obs; and that an acquire sees the store half of an exchange of its own thread after the exchange (aob)."""
    own_exchange = one.kind == "W" and one.step.exchange and other.step.order in {"A", "Q"}
    return one.thread != other.thread or own_exchange


def _x86_external(one: Event, other: Event) -> bool:
    """rfe, and all of co and fr."""
    return one.thread != other.thread or not (one.kind == "W" and other.kind == "R")


ORDERED: dict[Isa, Callable[[Event, list[Event], Event], bool]] = {"AArch64": _aarch64_keeps, "X86": _x86_keeps}
EXTERNAL: dict[Isa, Callable[[Event, Event], bool]] = {"AArch64": _aarch64_external, "X86": _x86_external}


def _with(edges: Edges, more: Iterator[tuple[int, int]] | list[tuple[int, int]]) -> Edges:
    joined = edges.copy()
    for a, b in more:
        joined[a] |= 1 << b
    return joined


def _acyclic(edges: Edges) -> bool:
    # What nothing left leads on from goes, until nothing is left (Kahn).
    left = (1 << len(edges)) - 1
    while left:
        last = [n for n, after in enumerate(edges) if left >> n & 1 and not after & left]
        if not last:
            return False
        for n in last:
            left &= ~(1 << n)
    return True
