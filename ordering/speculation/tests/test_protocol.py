"""Speculation is sequentially consistent in every state that the model can come to; with any one mistake it is not."""

import pytest

from ordering.mapping.programs import Program, critical_cycles, program, thread, two_threads
from ordering.speculation.instances import Y, instances, publications, with_bystander, wrong
from ordering.speculation.protocol import Instance, Mistake

deep = pytest.mark.deep

STORE_BUFFERING = program("Wx Ry | Wy Rx")
MESSAGE_PASSING = program("Wx Wy | Ry Rx")
LOAD_BUFFERING = program("Rx Wy | Ry Wx")
TWO_STORES = program("Wx Wy | Wy Wx")
[BESIDE_A_THIRD] = with_bystander([MESSAGE_PASSING])

ONE_CLASS, EACH_ITS_OWN = (0, 0), (0, 1)
OF_ONE_THREAD, EACH_OF_ITS_OWN, EACH_OF_THE_OTHER = (0, 0), (0, 1), (1, 0)


def published(text: str) -> Instance:
    """The first thread's x, which it publishes in the static field y; its class was switched before."""
    made = tuple(map(thread, text.split("|")))
    return Instance(made, (0, None, None), (0, 1, 2), published=(Y,), switched=1)


FOUND_BY = {
    Mistake.NO_STOP: Instance(TWO_STORES, OF_ONE_THREAD, EACH_ITS_OWN),
    Mistake.NOT_ITSELF: Instance(TWO_STORES, EACH_OF_ITS_OWN, ONE_CLASS),
    Mistake.STOP_FIRST: Instance(TWO_STORES, OF_ONE_THREAD, ONE_CLASS),
    Mistake.CHECKS_OFF_FIRST: Instance(BESIDE_A_THIRD, (1, 0, 2), (0, 0, 0)),
    Mistake.NOBODY_WAITS: Instance(BESIDE_A_THIRD, (1, 0, 0), (0, 0, 0), compiled=1),
    Mistake.GUARD_FIRST: Instance(TWO_STORES, OF_ONE_THREAD, ONE_CLASS),
    Mistake.LOADS_UNCHECKED: Instance(LOAD_BUFFERING, EACH_OF_THE_OTHER, EACH_ITS_OWN),
    Mistake.STORES_UNCHECKED: Instance(TWO_STORES, OF_ONE_THREAD, EACH_ITS_OWN),
    Mistake.LOADS_UNGUARDED: Instance(LOAD_BUFFERING, OF_ONE_THREAD, ONE_CLASS),
    Mistake.STORES_UNGUARDED: Instance(TWO_STORES, OF_ONE_THREAD, ONE_CLASS),
    Mistake.KEEPS_CODE: Instance(TWO_STORES, OF_ONE_THREAD, ONE_CLASS, compiled=1),
    Mistake.NOT_MADE_YET_IS_OWN: Instance(TWO_STORES, OF_ONE_THREAD, EACH_ITS_OWN),
    Mistake.PRIVATE_UNFENCED: published("Wx Wy | Ry Rx"),
    Mistake.PRIVATE_FOR_GOOD: published("Wx Wy Wx Rz | Ry Wz Rx"),
}


def all_right(programs: list[Program]) -> None:
    tried = 0
    for made in instances(programs):
        tried += 1
        assert not wrong(made), made
    assert tried >= 20 * len(programs)


@pytest.mark.parametrize("made", [STORE_BUFFERING, MESSAGE_PASSING, LOAD_BUFFERING, TWO_STORES], ids=str)
def test_two_threads_are_in_order_whoever_made_what(made: Program) -> None:
    all_right([made])


@pytest.mark.parametrize("mistake", Mistake)
def test_each_mistake_is_found(mistake: Mistake) -> None:
    assert wrong(FOUND_BY[mistake].with_mistake(mistake))
    assert not wrong(FOUND_BY[mistake])


PUBLISHED = ["Wx Wy | Ry Rx", "Wx Rz Wy | Wz Ry Rx", "Wx Wy Rz | Wz Ry Rx"]
"""A load between a private store and the publication may pass the store: nobody can tell."""


@pytest.mark.parametrize("text", PUBLISHED)
def test_private_stores_need_no_more_than_a_release_fence(text: str) -> None:
    made = list(publications([text]))
    assert len(made) >= 36
    assert not any(map(wrong, made))


@deep
@pytest.mark.parametrize("text", ["Wx Wx Wy | Ry Rx Wx", "Wx Wy Wx | Ry Rx Rx", "Wx Wy Rz | Ry Rx Wz | Wz"])
def test_private_stores_in_larger_programs(text: str) -> None:
    assert not any(map(wrong, publications([text])))


@deep
@pytest.mark.parametrize("part", range(4))
def test_every_small_program_of_two_threads(part: int) -> None:
    all_right(two_threads(most_accesses=2)[part::4])


@deep
@pytest.mark.parametrize("part", range(2))
def test_every_cycle_of_two_threads_beside_one_that_has_a_class_switched(part: int) -> None:
    all_right(with_bystander(critical_cycles(most_threads=2))[part::2])


@deep
@pytest.mark.parametrize("which", range(3))
def test_small_cycles_of_three_threads(which: int) -> None:
    small = [made for made in critical_cycles(most_threads=3) if len(made) == 3 and sum(map(len, made)) == 5]
    assert len(small) == 3
    all_right([small[which]])
