"""What nobody else can see needs no order (stocks/hotspot/ordering/c2_private.cpp), because publishing it has one."""

from itertools import product

import pytest

from ordering.mapping.axioms import LitmusTest, outcomes
from ordering.mapping.mappings import HOTSPOT_C2, HOTSPOT_INTERPRETER, LDR, STR, VBD, Way
from ordering.mapping.programs import sequentially_consistent_outcomes, thread

MESSAGE_PASSING = (thread("Wx Wy"), thread("Ry Rx"))
PLAIN = Way((LDR,), (STR,), ())
ORDERED = (HOTSPOT_C2, HOTSPOT_INTERPRETER, VBD)


def is_kept(contents: Way, publishing: Way, got: Way, read: Way) -> bool:
    made = MESSAGE_PASSING
    test = LitmusTest(made, ((contents, publishing), (got, read)), "AArch64")
    return outcomes(test) <= set(sequentially_consistent_outcomes(made))


@pytest.mark.parametrize(("publishing", "got", "read"), list(product(ORDERED[:2], ORDERED, (*ORDERED, PLAIN))))
def test_who_sees_the_reference_sees_the_contents(publishing: Way, got: Way, read: Way) -> None:
    """Also if what is read of them is a final field, by a plain load."""
    assert is_kept(PLAIN, publishing, got, read)


def test_it_is_the_publishing_that_keeps_them_in_order() -> None:
    assert not is_kept(PLAIN, PLAIN, HOTSPOT_C2, HOTSPOT_C2)
    # The dissertation's store has nothing before it: with it, private stores keep their fences.
    assert not is_kept(PLAIN, VBD, HOTSPOT_C2, HOTSPOT_C2)
    assert not is_kept(PLAIN, HOTSPOT_C2, PLAIN, PLAIN)
