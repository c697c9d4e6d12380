"""On a terminal: what was measured, what is modelled."""

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from memgraft import machine
from memgraft.grafts.buffers import shown
from memgraft.scaling.costs import Costs
from memgraft.scaling.work import NONE, Point, Scaling
from memgraft.screen import Screen, table
from memgraft.statistics import Interval
from memgraft.words import percent, three_digits

WORDS = {
    "swap/alone": "a swap, the line being here",
    "swap/handover-core": "a swap, another core having had the line",
    "swap/handover-processor": "a swap, another processor having had the line",
    "think/alone": "work, no swap",
    "take/atomic": "a request to a buffer, by compare-and-swap",
    "take/restartable": "a request to a buffer, restartable",
    "refill/atomic": "a request that refills first, by compare-and-swap",
    "refill/restartable": "a request that refills first, restartable",
}


def cost_rows(costs: Costs) -> list[tuple[str, str]]:
    """Each cost in words, with its interval."""
    rows = [(words, _interval(cost)) for name, words in WORDS.items() if (cost := costs.get(name))]
    for what, words in (
        ("swap/contended", "a swap"),
        ("think/swapping", "that work and a swap"),
        ("take/contended", "a request"),
    ):
        for name, cost in costs.nanoseconds.items():
            if name.startswith(f"{what}/"):
                threads = name.rpartition("/")[2]
                rows.append((f"{words}, {threads} threads on one word, all together", _interval(cost)))
    return rows


def _interval(cost: Interval) -> str:
    return f"{three_digits(cost.median)} ns [{three_digits(cost.low)}, {three_digits(cost.high)}]"


def origin(scaling: Scaling) -> str:
    """Where the costs are from."""
    file = scaling.asked.costs
    return f"measured elsewhere or earlier, read from {file}" if file else "measured on this machine"


def cell(point: Point) -> str:
    """`12.3 % [10.1, 13.0], 11.9`: formula, at the ends of the costs, simulation."""
    model, low, high, simulated = (
        percent(found.share) for found in (point.model, point.low, point.high, point.simulated)
    )
    return f"{model} [{low.removesuffix(' %')}, {high.removesuffix(' %')}], {simulated.removesuffix(' %')}"


def column(levels: str) -> str:
    return "without buffers" if levels == NONE else levels


def assumed(scaling: Scaling) -> list[str]:
    """What nobody measured, in words."""
    return [
        f"a core allocates {three_digits(scaling.asked.rate)} GB/s while it does not wait (--rate)",
        f"{scaling.asked.cores_per_processor} cores per processor (--cores-per-processor)",
        "a line comes from any core in the time it takes between two cores of one processor here"
        if scaling.costs.get("swap/handover-processor") is None
        else "a line comes from any core of another processor in the time it takes between two processors here",
    ]


def show(scaling: Scaling, page: Path | None, screen: Screen) -> None:
    screen.print(Text(origin(scaling), style="bold"))
    screen.print("; ".join(f"{name}: {value}" for name, value in machine.lines(scaling.costs.machine)[:2]))
    made = table("", "nanoseconds", right=["nanoseconds"])
    for name, value in cost_rows(scaling.costs):
        made.add_row(name, value)
    screen.print(made)
    screen.print()
    screen.print(Text("assumed", style="bold"), end="")
    screen.print(f": {'; '.join(assumed(scaling))}")
    for tlab in scaling.asked.tlabs:
        screen.print()
        screen.print(
            Text(f"modelled: share of a core's time that goes into getting TLABs of {shown(tlab)}", style="bold")
        )
        screen.print(_table(scaling, tlab, scaling.asked.levels))
    screen.print()
    screen.print("Formula [at the low and at the high ends of what was measured], simulation. No row is a measurement.")
    for line in scaling.as_json()["sentences"]:
        screen.print(line)
    if page is not None:
        screen.print(f"page: {page}", soft_wrap=True)


def _table(scaling: Scaling, tlab: int, levels: Sequence[str]) -> object:
    names = [column(one) for one in levels]
    made = table("cores", *names, right=["cores", *names])
    of = [scaling.at(tlab, one) for one in levels]
    for points in zip(*of, strict=True):
        made.add_row(str(points[0].cores), *map(cell, points))
    return made
