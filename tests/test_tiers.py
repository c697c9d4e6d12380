"""The gate's part of the combinations covers what it says, and is the same every time."""

from itertools import combinations as subsets
from itertools import product

import pytest
from tiers import Row, combinations, covering

SMALL = list(product("abcd", "123", "xy"))
WITH_HOLES = [row for row in product("abc", "123", "vwxyz") if row[1] != "3" or row[2] in "vw"]


def covered(rows: list[Row], strength: int) -> set[object]:
    return {some for row in rows for some in subsets(enumerate(row), strength)}


@pytest.mark.parametrize("rows", [SMALL, WITH_HOLES], ids=["full", "with-holes"])
@pytest.mark.parametrize(("strength", "most"), [(1, 6), (2, 17), (3, 39)])
def test_whatever_can_meet_does(rows: list[Row], strength: int, most: int) -> None:
    chosen = covering(rows, strength)
    assert set(chosen) <= set(rows)
    assert covered(chosen, strength) == covered(rows, strength)
    assert len(chosen) <= most
    assert chosen == covering(rows, strength)


def test_what_the_gate_leaves_out_is_deep() -> None:
    mark = combinations(lambda first, _: first != "c", first="abc", second="12", strength=1).mark
    names, parameters = mark.args
    assert names == ("first", "second")
    tiers = {parameter.values: [each.name for each in parameter.marks] for parameter in parameters}
    assert tiers == {("a", "1"): [], ("a", "2"): ["deep"], ("b", "1"): ["deep"], ("b", "2"): []}
