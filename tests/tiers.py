"""Which tests are the gate's, and which are deep.

The gate (`make test`) runs on every change. Its outcome depends on the code alone, never on speed, load, the CPU's
model or luck. The deep tests (`make test-deep`) measure the real machine, run for long, or run every combination of
what the gate runs a part of. A test is in the gate unless it carries `deep`.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations as subsets
from itertools import product
from types import MappingProxyType

import pytest
from conftest import EACH_VERSION

deep = pytest.mark.deep
FIXTURES = ("jdk", "java_aarch64")
"""Factors whose values are parameters of the fixture of that name."""

Row = tuple[str, ...]


def covering(rows: Sequence[Row], strength: int) -> list[Row]:
    """Few of the rows, in which whatever `strength` values meet in any row meet at least once.

    With 2 it covers each pair of values, with 1 each value; with 0 it is one row. The rows are the same every time.
    They are taken one by one: each time the one that covers most of what is missing, and of several the one whose
    values were used least. That minds which rows there are; generators of covering arrays that take a filter
    (allpairspy 2.5.1) leave pairs out.
    """
    covers = {row: set(subsets(enumerate(row), strength)) for row in rows}
    missing = set().union(*covers.values())
    chosen: list[Row] = []
    used: Counter[tuple[int, str]] = Counter()
    while missing:
        best = max(rows, key=lambda row: (len(covers[row] & missing), -sum(used[cell] for cell in enumerate(row))))
        chosen.append(best)
        used.update(enumerate(best))
        missing -= covers[best]
    return chosen


def combinations(
    valid: Callable[..., bool] = lambda *_: True,
    *,
    strength: int = 2,
    also_deep: Mapping[str, Sequence[str]] = MappingProxyType({}),
    **factors: Sequence[str],
) -> pytest.MarkDecorator:
    """Parametrizes a test with every combination of the factors' values that is valid.

    The gate runs a covering array of that strength, and all others are deep, as are those with more values of a factor.
    """
    gate = covering([row for row in product(*factors.values()) if valid(*row)], strength)
    everything = [[*values, *also_deep.get(name, [])] for name, values in factors.items()]
    rows = [row for row in product(*everything) if valid(*row)]
    parameters = [pytest.param(*row, marks=[] if row in gate else [deep]) for row in rows]
    return pytest.mark.parametrize(tuple(factors), parameters, indirect=[name for name in factors if name in FIXTURES])


def on_each_jdk(in_the_gate: str) -> pytest.MarkDecorator:
    """The gate has one version of the JDK, the deep tests all.

    For what is done to class files. What differs between JDKs the engine bytecode looks for at its start; each of them
    starts in some test of the gate.
    """
    versions = [pytest.param(version, marks=[] if version == in_the_gate else [deep]) for version in EACH_VERSION]
    return pytest.mark.parametrize("jdk", versions, indirect=True)
