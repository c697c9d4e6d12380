"""The suspects of a hunt: what the program's threads share without order, as observed while it ran."""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memgraft.formats.ordering import Accesses, Accessor, Observed

ELEMENTS = "[]"
CALLS = "()"
WHOLE_CLASS = ".*"
CONSTRUCTORS = (".<init>(", ".<clinit>(")


@dataclass(frozen=True)
class Suspect:
    """A field that is neither final nor volatile, or the array elements or the calls of a method."""

    name: str
    loads: Sequence[Accessor] = ()
    stores: Sequence[Accessor] = ()

    @property
    def shared(self) -> bool:
        """Whether one thread stored it and another one accessed it."""
        threads = {one.id for one in (*self.loads, *self.stores)}
        return bool(self.stores) and len(threads) > 1

    @property
    def told(self) -> list[Accessor]:
        """Where threads load it that never store it: by it, others tell them something."""
        storing = {one.id for one in self.stores}
        return [one for one in self.loads if one.id not in storing] if storing else []

    @property
    def rank(self) -> tuple[int, ...]:
        """The lower, the likelier it is what lacks `volatile`, of several that would all do.

        Putting one field in order keeps others in order, too: a loop that waits for a flag ends when a counter within
        it is in order, and data is not old when it is volatile itself. What never changed since others looked for it
        comes after what did. Then what is looked for most often comes first, and then what is looked for before the
        others. Fields come before array elements and calls, which no declaration can make volatile.
        """
        told = self.told
        first = min((one.order for one in told), default=sys.maxsize)
        settled = all(one.order < first for one in self.stores)
        return (1 if self.name.endswith((ELEMENTS, CALLS, WHOLE_CLASS)) else 0, settled, -self.polls, first)

    @property
    def counts(self) -> bool:
        """Whether several threads change it, each where it loads it: `count++`, which `volatile` does not mend.

        Whatever keeps these threads apart is the likelier suspect.
        """
        loaded = {(one.id, one.stack[0]) for one in self.loads if one.stack}
        changing = {one.id for one in self.stores if one.stack and (one.id, one.stack[0]) in loaded}
        return len(changing) > 1 and changing == {one.id for one in self.stores if not _constructs(one)}

    @property
    def weight(self) -> int:
        """As how many suspects it counts, where fewer would do."""
        return 2 if self.counts else 1

    @property
    def polls(self) -> int:
        """How often such threads load it."""
        return sum(one.times for one in self.told)

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "loads": [one.model_dump() for one in self.loads],
            "stores": [one.model_dump() for one in self.stores],
        }


@dataclass
class Observation:
    """What was observed, of all JVMs of one launch."""

    suspects: dict[str, Suspect] = field(default_factory=dict)
    """By name."""
    jdk_classes: set[str] = field(default_factory=set)

    @property
    def shared(self) -> frozenset[str]:
        return frozenset(name for name, suspect in self.suspects.items() if suspect.shared)

    @property
    def own(self) -> frozenset[str]:
        """Those in classes of the program's own."""
        return frozenset(self.suspects)

    @property
    def jdk(self) -> frozenset[str]:
        """Everything in classes of the JVM's own, class by class."""
        return frozenset(f"{name}{WHOLE_CLASS}" for name in self.jdk_classes)

    def rank(self, name: str) -> tuple[int, ...]:
        return self.suspects.get(name, Suspect(name)).rank

    def weight(self, name: str) -> int:
        return self.suspects.get(name, Suspect(name)).weight

    def add(self, observed: Observed) -> None:
        """What one JVM saw: threads of different JVMs share nothing, but a field may be shared in either."""
        self.jdk_classes |= set(observed.jdk_classes)
        for one in observed.accesses:
            seen = Suspect(one.name, tuple(one.loads), tuple(one.stores))
            known = self.suspects.get(one.name)
            if known is None or _tells_more(seen, known):
                self.suspects[one.name] = seen

    def as_format(self) -> Observed:
        accesses = [
            Accesses(name=one.name, loads=list(one.loads), stores=list(one.stores)) for one in self.suspects.values()
        ]
        return Observed(accesses=accesses, jdk_classes=sorted(self.jdk_classes))


def _tells_more(one: Suspect, other: Suspect) -> bool:
    return (one.shared, one.polls, len(one.loads)) > (other.shared, other.polls, len(other.loads))


def telling(accessors: Iterable[Accessor]) -> list[Accessor]:
    """Constructors last: what they store, other threads seldom see."""
    return sorted(accessors, key=_constructs)


def _constructs(one: Accessor) -> bool:
    return bool(one.stack) and any(word in one.stack[0] for word in CONSTRUCTORS)
