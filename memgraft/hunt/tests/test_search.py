"""The search for the smallest set, on programs whose failures are known."""

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraft.formats.ordering import Accessor
from memgraft.hunt.search import Suspects, class_of, conflict_within, package_of, search
from memgraft.hunt.suspects import Suspect

NAMES = [
    f"{package}.{owner}.{field}" for package in ("a", "b.c") for owner in ("P", "Q") for field in ("x", "y", "z[]")
]
names = st.sampled_from(NAMES)
conflicts = st.lists(st.frozensets(names, min_size=1, max_size=3), min_size=1, max_size=4)


class Program:
    """It fails when all of one conflict is plain; what it was asked is counted."""

    def __init__(self, known: Sequence[Suspects]) -> None:
        self.known = known
        self.asked: list[Suspects] = []

    def fails(self, plain: Suspects) -> bool:
        self.asked.append(plain)
        return any(conflict <= plain for conflict in self.known)


def by_name(_name: str) -> tuple[int, ...]:
    return (0,)


@given(conflicts)
def test_the_cure_is_the_smallest_that_meets_every_core(known: list[Suspects]) -> None:
    program = Program(known)
    found = search(frozenset(NAMES), program.fails, by_name)
    assert not program.fails(frozenset(NAMES) - found.cure)
    smaller = [frozenset(some) for some in combinations(NAMES, len(found.cure) - 1)]
    assert all(program.fails(frozenset(NAMES) - some) for some in smaller)


@given(conflicts)
def test_what_it_says_of_cores_and_alternatives_is_true(known: list[Suspects]) -> None:
    program = Program(known)
    found = search(frozenset(NAMES), program.fails, by_name)
    for conflict in found.conflicts:
        assert program.fails(conflict)
        assert not any(program.fails(conflict - {one}) for one in conflict)
    for other in found.alternatives:
        assert len(other) == len(found.cure)
        assert other != found.cure
        assert not program.fails(frozenset(NAMES) - other)


def test_of_several_the_one_of_the_lowest_rank_is_named() -> None:
    conflict = frozenset({"a.P.count", "a.P.stopped", "a.P.total"})
    found = search(
        conflict | {"a.P.other"}, Program([conflict]).fails, lambda name: (0 if name == "a.P.stopped" else 1,)
    )
    assert found.cure == {"a.P.stopped"}
    assert found.conflicts == [conflict]
    assert found.alternatives == [{"a.P.count"}, {"a.P.total"}]


def test_a_heavy_suspect_is_named_only_where_it_saves_others() -> None:
    """Two flags and a turn do as well as the turn and a counter that they guard."""
    known = [frozenset({"a.P.turn"}), frozenset({"a.P.flag", "a.P.count"}), frozenset({"a.P.other", "a.P.count"})]
    flags_first = lambda name: (1 if name == "a.P.count" else 0,)  # noqa: E731
    suspects = frozenset().union(*known)
    assert search(suspects, Program(known).fails, flags_first).cure == {"a.P.turn", "a.P.count"}
    heavy = search(suspects, Program(known).fails, flags_first, lambda name: 2 if name == "a.P.count" else 1)
    assert heavy.cure == {"a.P.turn", "a.P.flag", "a.P.other"}
    known.append(frozenset({"a.P.third", "a.P.count"}))
    suspects |= {"a.P.third"}
    heavy = search(suspects, Program(known).fails, flags_first, lambda name: 2 if name == "a.P.count" else 1)
    assert heavy.cure == {"a.P.turn", "a.P.count"}


def test_both_flags_of_a_handshake_are_needed() -> None:
    """Either one left plain is enough to fail, as with Dekker's."""
    found = search(frozenset(NAMES), Program([frozenset({"a.P.x"}), frozenset({"b.c.Q.y"})]).fails, by_name)
    assert found.cure == {"a.P.x", "b.c.Q.y"}
    assert set(found.conflicts) == {frozenset({"a.P.x"}), frozenset({"b.c.Q.y"})}
    assert found.alternatives == []


def test_a_program_that_does_not_fail_needs_nothing() -> None:
    assert search(frozenset(NAMES), lambda _plain: False, by_name).cure == frozenset()


def test_answers_that_contradict_each_other_end_the_search() -> None:
    """Launches fail by chance, too: the program seems to fail whatever is in order."""
    assert search(frozenset(NAMES), lambda _plain: True, by_name).cure == frozenset(NAMES)
    assert search(frozenset(), lambda _plain: True, by_name).cure == frozenset()


@pytest.mark.parametrize("at", [0, 499, 999])
def test_one_of_a_thousand_takes_few_questions(at: int) -> None:
    many = [f"p{number % 7}.C{number % 41}.f{number}" for number in range(1000)]
    program = Program([frozenset({many[at]})])
    found = search(frozenset(many), program.fails, by_name)
    assert found.cure == {many[at]}
    # Two for each halving, one for the start, one for the cure.
    assert len(program.asked) <= 2 * 14 + 2


def test_a_core_is_found_where_everything_fails() -> None:
    assert conflict_within(frozenset(NAMES), lambda _plain: True) == {NAMES[0]}


@pytest.mark.parametrize(
    ("name", "owner", "package"),
    [
        ("org.example.Ring.take[]", "org.example.Ring", "org.example"),
        ("org.example.Ring$Slot.full", "org.example.Ring$Slot", "org.example"),
        ("java.util.HashMap.*", "java.util.HashMap", "java.util"),
        ("Main.field", "Main", ""),
    ],
)
def test_where_a_suspect_belongs(name: str, owner: str, package: str) -> None:
    assert (class_of(name), package_of(name)) == (owner, package)


def test_what_changes_while_others_look_for_it_is_likelier_than_what_was_settled_before() -> None:
    """A flag that was set before the reader began is loaded as often as the one that it waits for."""

    def looked_at(order: int) -> Accessor:
        return Accessor(thread="reader", id=2, order=order, times=1000, stack=[])

    def stored(order: int) -> Accessor:
        return Accessor(thread="main", id=1, order=order, times=1, stack=[])

    settled = Suspect("a.A.fast", loads=[looked_at(2)], stores=[stored(1)])
    changing = Suspect("a.A.list", loads=[looked_at(3)], stores=[stored(4)])
    assert changing.rank < settled.rank


def test_a_counter_of_several_threads_weighs_more_than_a_flag() -> None:
    def at(thread: int, line: int, method: str = "run") -> Accessor:
        return Accessor(thread=f"t{thread}", id=thread, order=thread, times=9, stack=[f"a.A.{method}(A.java:{line})"])

    made = at(0, 2, "<init>")
    counter = Suspect("a.A.inside", loads=[at(1, 30), at(2, 42), at(3, 60)], stores=[made, at(1, 30), at(2, 42)])
    assert (counter.counts, counter.weight) == (True, 2)
    turn = Suspect("a.A.turn", loads=[at(1, 31), at(2, 43)], stores=[at(1, 30), at(2, 42)])
    ones = Suspect("a.A.requests", loads=[at(1, 30), at(2, 44)], stores=[at(1, 30)])
    reset = Suspect("a.A.size", loads=[at(1, 30), at(2, 42)], stores=[at(1, 30), at(2, 42), at(3, 50)])
    assert [(one.counts, one.weight) for one in (turn, ones, reset)] == [(False, 1)] * 3
