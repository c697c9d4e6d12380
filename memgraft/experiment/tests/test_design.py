"""The order of launches, and who runs where."""

import pytest

from memgraft.errors import CannotTakeError
from memgraft.experiment.design import SWITCHED, Pairing, Planned, Side, plan, rounds


def sides(groups: list[list[Planned]]) -> str:
    return "".join("s" if planned.side is Side.BASELINE else "g" for group in groups for planned in group)


def test_alternation_is_a_b_b_a_after_a_grafted_warm_up() -> None:
    groups = plan(4, 1, Pairing.ALTERNATE)
    assert sides(groups) == "g" + "sggssggs"
    assert all(len(group) == 1 for group in groups)


@pytest.mark.parametrize("pairs", [6, 7, 10])
@pytest.mark.parametrize("pairing", [Pairing.ALTERNATE, Pairing.CONCURRENT])
def test_every_pair_has_one_launch_of_each_side(pairs: int, pairing: Pairing) -> None:
    counted = [p for group in plan(pairs, 2, pairing, ([0], [1])) for p in group if p.pair is not None]
    for pair in range(1, pairs + 1):
        assert {planned.side for planned in counted if planned.pair == pair} == set(Side)
    assert len(counted) == 2 * pairs


def test_alternation_evens_out_a_steady_drift() -> None:
    """The mean place of both sides in the order is the same for an even number of pairs."""
    order = [group[0].side for group in plan(6, 0, Pairing.ALTERNATE)]
    places = {side: [i for i, s in enumerate(order) if s is side] for side in Side}
    assert sum(places[Side.BASELINE]) == sum(places[Side.GRAFTED])


def test_concurrent_pairs_run_at_once_and_swap_their_halves() -> None:
    groups = plan(6, 1, Pairing.CONCURRENT, ([0, 1], [2, 3]))
    assert [len(group) for group in groups] == [1, *[2] * 6]
    halves = [{planned.side: planned.cpus for planned in group} for group in groups[1:]]
    assert halves[0] == {Side.BASELINE: (0, 1), Side.GRAFTED: (2, 3)}
    assert halves[1] == {Side.BASELINE: (2, 3), Side.GRAFTED: (0, 1)}
    assert [half[Side.BASELINE] for half in halves].count((0, 1)) == 3


def test_concurrent_needs_two_cpus() -> None:
    with pytest.raises(CannotTakeError, match="at least 2 CPUs"):
        plan(6, 1, Pairing.CONCURRENT, None)


def test_no_warm_up_if_none_is_wanted() -> None:
    assert plan(6, 0, Pairing.ALTERNATE)[0][0].pair == 1


def test_epochs_are_launches_of_both_sides() -> None:
    groups = plan(3, 1, Pairing.EPOCHS)
    assert groups == [[Planned(SWITCHED, pair)] for pair in (None, 1, 2, 3)]
    assert groups[1][0].name == "switched launch 1"


def test_rounds_go_there_and_back() -> None:
    assert [(p.side, p.pair) for [p] in rounds("abc", 3)] == [
        *[("a", 1), ("b", 1), ("c", 1), ("c", 2), ("b", 2), ("a", 2), ("a", 3), ("b", 3), ("c", 3)],
    ]


def test_names() -> None:
    assert Planned(Side.GRAFTED, None).name == "the warm-up launch (grafted)"
    assert Planned(Side.BASELINE, 3).name == "the baseline launch of pair 3"
