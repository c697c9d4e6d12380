"""The smallest set of suspects whose order makes the failure vanish. Pure: whoever calls it answers its questions.

A *suspect* is what could be volatile and is not: a field, or the array elements that a method accesses. Two kinds of
sets explain each other:

- a *conflict*: the program fails when nothing but these are left plain, and putting any one of them in order makes the
  failure vanish;
- a *cure*: putting these in order makes the failure vanish.

A cure must meet every conflict (R. Reiter, "A Theory of Diagnosis from First Principles", Artificial Intelligence 32,
1987). So the search goes to and fro: it tries the smallest set that meets all conflicts known so far. If the program
fails all the same, what was left plain contains another conflict, which delta debugging finds (A. Zeller and R.
Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", IEEE Transactions on Software Engineering 28, 2002). A
failure that shows again is decisive; only passes take many launches.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby, pairwise

Suspects = frozenset[str]
Fails = Callable[[Suspects], bool]
"""Whether the program fails when just these are left plain, and all other suspects are put in order."""
Rank = Callable[[str], tuple[int, ...]]
"""Of several suspects that would all do, the one of the lowest rank is named."""
Weight = Callable[[str], int]
"""As how many suspects one counts: 1 or more."""


@dataclass
class Found:
    """What came of a search."""

    cure: Suspects
    conflicts: list[Suspects] = field(default_factory=list)
    alternatives: list[Suspects] = field(default_factory=list)
    """Other cures of the same weight."""


def package_of(suspect: str) -> str:
    return class_of(suspect).rpartition(".")[0]


def class_of(suspect: str) -> str:
    """`org.example.Ring` of `org.example.Ring.take[]` and of `org.example.Ring.*`."""
    return suspect.rpartition(".")[0]


def _one(_suspect: str) -> int:
    return 1


def search(suspects: Suspects, fails: Fails, rank: Rank, weight: Weight = _one, *, most_alternatives: int = 5) -> Found:
    """Of suspects that are a cure together: one of the least weight; of several, one of the lowest ranks."""
    conflicts: list[Suspects] = []
    while True:
        cure, *others = _meeting(conflicts, rank, weight)
        plain = suspects - cure
        # Where nothing is left to blame, the answers contradict each other; fresh launches will show it.
        if not plain or not fails(plain):
            alternatives = [other for other in others[:most_alternatives] if not fails(suspects - other)]
            return Found(cure, conflicts, alternatives)
        conflicts.append(conflict_within(plain, fails))


def _meeting(conflicts: Sequence[Suspects], rank: Rank, weight: Weight) -> Iterator[Suspects]:
    """The lightest sets that have something of each conflict; of these the ones of the lowest ranks first."""
    named = sorted(frozenset().union(*conflicts), key=lambda suspect: (rank(suspect), suspect))
    for weighing in range(sum(map(weight, named)) + 1):
        found = [
            frozenset(some)
            for size in range(min(weighing, len(named)) + 1)
            for some in combinations(named, size)
            if sum(map(weight, some)) == weighing and all(conflict & set(some) for conflict in conflicts)
        ]
        if found:
            yield from sorted(found, key=lambda some: sorted((rank(one), one) for one in some))
            return


def conflict_within(plain: Suspects, fails: Fails) -> Suspects:
    """A conflict, of suspects with which the program fails: of packages, then of classes, then of each by itself."""
    for part in (package_of, class_of, lambda suspect: suspect):
        plain = frozenset().union(*_smallest(_parted(plain, part), fails))
    return plain


def _parted(suspects: Iterable[str], part: Callable[[str], str]) -> list[Suspects]:
    return [frozenset(some) for _, some in groupby(sorted(suspects, key=lambda one: (part(one), one)), part)]


def _smallest(parts: list[Suspects], fails: Fails) -> list[Suspects]:
    """Of parts with which the program fails: some of which each one is needed (delta debugging)."""
    pieces = 2
    while len(parts) > 1:
        pieces = min(pieces, len(parts))
        split = _split(parts, pieces)
        smaller = next((some for some in split if _fails(some, fails)), None)
        if smaller is not None:
            parts, pieces = smaller, 2
            continue
        if pieces > 2:  # noqa: PLR2004 - of two, the rest of one is the other
            rests = [[one for one in parts if one not in some] for some in split]
            smaller = next((rest for rest in rests if _fails(rest, fails)), None)
            if smaller is not None:
                parts, pieces = smaller, pieces - 1
                continue
        if pieces == len(parts):
            break
        pieces *= 2
    return parts


def _fails(parts: Sequence[Suspects], fails: Fails) -> bool:
    return fails(frozenset().union(*parts))


def _split(parts: Sequence[Suspects], pieces: int) -> list[list[Suspects]]:
    """So many pieces of nearly the same size."""
    ends = [len(parts) * at // pieces for at in range(pieces + 1)]
    return [list(parts[start:end]) for start, end in pairwise(ends)]
