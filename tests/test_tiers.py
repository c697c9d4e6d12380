"""The gate's part of the combinations covers what it says, and is the same every time."""

import re
from itertools import combinations as subsets
from itertools import product
from pathlib import Path

import pytest
from deep import STEPS
from tiers import Row, combinations, covering

SMALL = list(product("abcd", "123", "xy"))
WITH_HOLES = [row for row in product("abc", "123", "vwxyz") if row[1] != "3" or row[2] in "vw"]


def covered(rows: list[Row], strength: int) -> set[object]:
    return {some for row in rows for some in subsets(enumerate(row), strength)}


@pytest.mark.parametrize("rows", [SMALL, WITH_HOLES], ids=["full", "with-holes"])
@pytest.mark.parametrize(("strength", "most"), [(0, 1), (1, 6), (2, 17), (3, 39)])
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


def test_more_values_of_a_factor_are_deep() -> None:
    mark = combinations(also_deep={"second": "3"}, first="ab", second="12").mark
    gate = [parameter.values for parameter in mark.args[1] if not parameter.marks]
    assert gate == list(product("ab", "12"))
    assert [parameter.values for parameter in mark.args[1] if parameter.marks] == list(product("ab", "3"))


def test_every_file_with_deep_tests_is_in_an_area() -> None:
    here = Path(__file__).parent
    marked = {
        file.name
        for file in here.glob("test_*.py")
        if re.search(r"^@deep|combinations\(|\[deep\]", file.read_text(), re.MULTILINE)
    }
    run = {Path(str(word)).name for step in STEPS for word in step.command if str(word).startswith("tests/")}
    assert marked - {Path(__file__).name} <= run
