"""The programs are what they are said to be, and the oracle is right about those that textbooks know."""

import pytest

from ordering.mapping.programs import (
    NAMES,
    critical_cycles,
    name_of,
    program,
    sequentially_consistent_outcomes,
    text_of,
    two_threads,
    with_exchanges,
)


def test_every_named_cycle_is_among_the_critical_ones() -> None:
    found = {name_of(made) for made in critical_cycles(most_threads=4)}
    assert set(NAMES.values()) - {"CoRR"} <= found


def test_there_are_as_many_critical_cycles_as_herding_cats_has() -> None:
    # Table III there: the six of two threads; WRC, RWC, WRW+WR and the eleven of three locations.
    by_threads = [len(made) for made in critical_cycles(most_threads=3)]
    assert [by_threads.count(threads) for threads in (2, 3)] == [6, 14]


@pytest.mark.parametrize(
    ("text", "forbidden"),
    [
        ("Wx Ry | Wy Rx", "0 0"),
        ("Rx Wy | Ry Wx", "1 1"),
    ],
)
def test_the_oracle_forbids_what_sequential_consistency_does(text: str, forbidden: str) -> None:
    read = {" ".join(str(v) for r in end[:-1] for v in r) for end in sequentially_consistent_outcomes(program(text))}
    assert read == {"0 0", "0 1", "1 0", "1 1"} - {forbidden}


def test_an_exchange_reads_and_writes_at_once() -> None:
    ends = sequentially_consistent_outcomes(program("Xx | Xx"))
    # One of them reads what memory began with, the other what the first one wrote.
    assert ends == {((0,), (1,), (2,)), ((2,), (0,), (1,))}


def test_canonical_form_knows_no_order_of_threads_and_no_names() -> None:
    assert program("Wy Rx | Wx Ry") == program("Wx Ry | Wy Rx")
    assert program("Ry Rx | Wx Wy") == program("Wx Wy | Ry Rx")
    assert program("Wx Ry | Ry Wx") != program("Wx Ry | Wy Rx")


def test_exchanges_take_the_place_of_stores() -> None:
    assert {text_of(made) for made in with_exchanges([program("Wx Ry | Wy Rx")])} == {
        text_of(program("Wx Ry | Xy Rx")),
        text_of(program("Xx Ry | Xy Rx")),
    }


def test_programs_of_two_threads_are_all_there() -> None:
    found = set(two_threads(most_accesses=3))
    assert program("Wx | Rx Rx") in found
    assert program("Wx Rx Ry | Wy Wy Rx") in found
    assert program("Rx Rx | Rx Ry") not in found
    assert all(program(text_of(made)) == made for made in found)
