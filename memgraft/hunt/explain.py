"""The reordering that explains a finding, in words and as a small program of two threads. Pure.

It is looked for among what the threads were observed to do to the fields that matter: those of the cure and of the
conflicts. Only the first coming of each thread to each place is known in order; so what is told *fits* what was seen.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations
from typing import Any

from memgraft.formats.ordering import Accessor
from memgraft.hunt.frames import Frame, parsed
from memgraft.hunt.suspects import CALLS, ELEMENTS, WHOLE_CLASS, Suspect, telling

OFTEN = 3
"""So many loads at one place are a loop."""


class Pattern(StrEnum):
    """Which reordering it is, by the name that the literature has for it."""

    STORE_BUFFERING = "store buffering"
    MESSAGE_PASSING = "message passing"
    PUBLICATION = "unsafe publication"
    STALE_LOOP = "a loop that looks once"
    OLD_VALUE = "an old value"


@dataclass(frozen=True)
class Step:
    """One access of a thread."""

    store: bool
    name: str
    """The suspect."""
    frame: Frame | None

    def told(self, short: str) -> str:
        return f"{short} = ..." if self.store else f"... = {short}"

    def as_json(self) -> dict[str, Any]:
        frame = self.frame
        return {
            "does": "stores" if self.store else "loads",
            "name": self.name,
            "file": frame.file if frame else None,
            "line": frame.line if frame else None,
        }


@dataclass(frozen=True)
class Explanation:
    """What may have happened."""

    pattern: Pattern
    threads: Sequence[tuple[str, Sequence[Step]]]
    """By thread: its name, and what it does, in the order of the program."""
    words: str

    def short(self, name: str) -> str:
        """The suspect's name, as short as it can be among the others here."""
        return _short(name, {step.name for _, steps in self.threads for step in steps})

    def as_json(self) -> dict[str, Any]:
        return {
            "pattern": self.pattern,
            "threads": [
                {"thread": thread, "steps": [step.as_json() for step in steps]} for thread, steps in self.threads
            ],
            "words": self.words,
        }


def explain(cure: Sequence[Suspect], others: Sequence[Suspect]) -> Explanation | None:
    """What fits the suspects of a cure, and the others with which the program fails; None: nothing is known."""
    known = [one for one in (*cure, *others) if one.shared and not one.name.endswith((WHOLE_CLASS, CALLS))]
    cured = {one.name for one in cure}
    for first, second in permutations(known, 2):
        if {first.name, second.name} & cured and (found := _store_buffering(first, second)):
            return found
    for data, flag in permutations(known, 2):
        if flag.name in cured and (found := _message_passing(data, flag)):
            return found
    return next((found for one in known if one.name in cured and (found := _old_value(one))), None)


def _store_buffering(first: Suspect, second: Suspect) -> Explanation | None:
    """Each of two threads stores one and then loads the other one."""
    for one, load_of_second in _pairs(first.stores, second.loads):
        for other, load_of_first in _pairs(second.stores, first.loads):
            if one.id == other.id:
                continue
            x, y = (_short(suspect.name, {first.name, second.name}) for suspect in (first, second))
            words = (
                f"Each of the two threads stores, and then loads what the other one stores. A CPU keeps a store in "
                f"its store buffer while it goes on with the load, and a compiler may change the two as well. So both "
                f"threads can get the old value of {x} and of {y}, as if each of them had come first. If both are "
                f"volatile, at least one thread sees what the other one has stored."
            )
            return Explanation(
                Pattern.STORE_BUFFERING,
                (
                    (one.thread, (_step(first, one, store=True), _step(second, load_of_second, store=False))),
                    (other.thread, (_step(second, other, store=True), _step(first, load_of_first, store=False))),
                ),
                words,
            )
    return None


def _message_passing(data: Suspect, flag: Suspect) -> Explanation | None:
    """One thread stores the data and then the flag, another one loads the flag and then the data."""
    for store_of_data, store_of_flag in _pairs(data.stores, flag.stores):
        for load_of_flag, load_of_data in _pairs(flag.loads, data.loads):
            if store_of_data.id == load_of_flag.id:
                continue
            names = {data.name, flag.name}
            x, f = _short(data.name, names), _short(flag.name, names)
            stored = _step(data, store_of_data, store=True)
            half_built = stored.frame is not None and stored.frame.in_constructor
            what = (
                f"a new {f} whose {x} its constructor has not set yet"
                if half_built
                else f"the new {f} and still the old {x}"
            )
            words = (
                f"Thread {store_of_flag.thread} stores {x} before {f}, and thread {load_of_flag.thread} loads {f} "
                f"before {x}. A compiler may change the order on either side, and so may an Arm CPU. "
                f"So {load_of_flag.thread} can get {what}. If {f} is volatile, whoever sees its new value also sees "
                f"what was stored before it."
            )
            return Explanation(
                Pattern.PUBLICATION if half_built else Pattern.MESSAGE_PASSING,
                (
                    (store_of_flag.thread, (stored, _step(flag, store_of_flag, store=True))),
                    (
                        load_of_flag.thread,
                        (_step(flag, load_of_flag, store=False), _step(data, load_of_data, store=False)),
                    ),
                ),
                words,
            )
    return None


def _old_value(suspect: Suspect) -> Explanation | None:
    """One thread stores it, another one does not see that, or not yet."""
    told = sorted(suspect.told, key=lambda one: -one.times)
    loads = told or list(suspect.loads)
    found = next(((store, load) for load in loads for store in telling(suspect.stores) if store.id != load.id), None)
    if found is None:
        return None
    store, load = found
    name = _short(suspect.name, {suspect.name})
    threads = (
        (store.thread, (_step(suspect, store, store=True),)),
        (load.thread, (_step(suspect, load, store=False),)),
    )
    if told and load.times >= OFTEN:
        words = (
            f"Thread {load.thread} loads {name} again and again ({load.times:,} times while it was observed) and never "
            f"stores it; thread {store.thread} does. The JIT compiler may take the load out of a loop in which nothing "
            f"stores {name}: then the loop goes on with the value from before. A volatile field is loaded each time."
        )
        return Explanation(Pattern.STALE_LOOP, threads, words)
    words = (
        f"Thread {store.thread} stores {name}, thread {load.thread} loads it, and nothing in the program puts the two "
        f"in order. So {load.thread} can get the old value, and what {store.thread} stored besides may be seen earlier "
        f"or later than {name}."
    )
    return Explanation(Pattern.OLD_VALUE, threads, words)


def _pairs(earlier: Sequence[Accessor], later: Sequence[Accessor]) -> Iterator[tuple[Accessor, Accessor]]:
    """Two accesses of one thread, which came to the first place first; the nearest of later ones."""
    for one in telling(earlier):
        after = [other for other in later if other.id == one.id and other.order > one.order]
        if after:
            yield one, min(after, key=lambda other: other.order)


def _step(suspect: Suspect, accessor: Accessor, *, store: bool) -> Step:
    return Step(store, suspect.name, parsed(accessor.stack[0]) if accessor.stack else None)


def _short(name: str, among: set[str]) -> str:
    """The field alone; with its class where another one has the same name. Elements by the method with the access."""
    owner, _, last = name.rpartition(".")
    if sum(other.rpartition(".")[2] == last for other in among) > 1:
        last = f"{owner.rpartition('.')[2]}.{last}"
    return f"an element in {last.removesuffix(ELEMENTS)}" if last.endswith(ELEMENTS) else last
