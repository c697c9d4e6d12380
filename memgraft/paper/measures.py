"""What a figure shows, as numbers with intervals. Pure."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from memgraft import statistics
from memgraft.errors import WrongUsageError
from memgraft.experiment.metrics import Metric
from memgraft.formats import GIGA, JvmSummary, Zeroing
from memgraft.paper.definition import GridPart
from memgraft.paper.grid import Grid, Kept
from memgraft.statistics import MIN_PAIRS, Interval
from memgraft.words import count_of, percent, three_digits

MEGA = 1e6
MEAN = "geometric mean"

Value = Callable[[Kept], float]


@dataclass(frozen=True)
class Rounds:
    """How often each was run, at least and at most: not as often as was asked for where it was interrupted."""

    fewest: int
    most: int

    @classmethod
    def of(cls, runs: Iterable[Hashable]) -> "Rounds":
        """What was run, once for each time."""
        counted = Counter(runs).values()
        return cls(min(counted), max(counted))

    def words(self, noun: str, of: str) -> str:
        times = count_of(self.most, noun)
        times = times if self.fewest == self.most else f"{self.fewest} to {times}"
        few = "; what stands in brackets is the least and the most, no interval" if self.fewest < MIN_PAIRS else ""
        return f"{times} of each {of}{few}"


@dataclass(frozen=True)
class Cell:
    """One workload (or the mean of all, or one size) in one series."""

    row: str
    series: str
    value: Interval


@dataclass(frozen=True)
class Table:
    """One part of a figure."""

    title: str
    cells: list[Cell]
    words: Callable[[float], str]
    reference: float | None = None
    """Where the line is drawn: 1 where values are relative."""
    sizes: bool = False
    """Whether rows are sizes in bytes."""
    rounds: int | None = None
    """Where these may be too few for an interval."""

    @property
    def spread(self) -> str:
        """What stands beside a median."""
        few = self.rounds is not None and self.rounds < MIN_PAIRS
        return "what was seen from the least to the most, too seldom for an interval" if few else "95 % interval"

    @property
    def rows(self) -> list[str]:
        return list(dict.fromkeys(cell.row for cell in self.cells))

    @property
    def series(self) -> list[str]:
        return list(dict.fromkeys(cell.series for cell in self.cells))

    def at(self, row: str, series: str) -> Interval | None:
        return next((c.value for c in self.cells if (c.row, c.series) == (row, series)), None)

    def as_json(self) -> dict[str, Any]:
        cells = [{"row": cell.row, "series": cell.series, **asdict(cell.value)} for cell in self.cells]
        return {"title": self.title, "relative": self.reference is not None, "cells": cells}


def _ended(kept: Kept) -> list[tuple[JvmSummary, Zeroing]]:
    return [(jvm, z) for jvm in kept.jvms if jvm.state == "ended" and (z := jvm.grafts.zeroing) is not None]


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan


def _allocated(kept: Kept) -> float:
    return sum(z.bytes + (z.fresh_bytes or 0) for _, z in _ended(kept))


QUANTITIES: dict[str, tuple[Value, Callable[[float], str]]] = {
    "direct-cost": (
        lambda k: _share(sum(z.seconds for _, z in _ended(k)), sum(jvm.cpu_seconds for jvm, _ in _ended(k))),
        percent,
    ),
    "zeroing-speed": (
        lambda k: _share(sum(z.bytes for _, z in _ended(k)) / GIGA, sum(z.seconds for _, z in _ended(k))),
        three_digits,
    ),
    "allocated-megabytes": (lambda k: _share(_allocated(k) / MEGA, len(k.iterations)), three_digits),
    "allocation-rate": (
        lambda k: _share(_allocated(k) / GIGA, sum(jvm.wall_seconds for jvm, _ in _ended(k))),
        three_digits,
    ),
    "cpu-utilisation": (
        lambda k: _share(sum(jvm.cpu_seconds for jvm, _ in _ended(k)), sum(jvm.wall_seconds for jvm, _ in _ended(k))),
        percent,
    ),
    "waits": (lambda k: float(sum(z.helper.waits for _, z in _ended(k) if z.helper)), lambda value: f"{value:,.0f}"),
}


def times(kept: Sequence[Kept], title: str, metric: Metric) -> list[float]:
    """Seconds of each launch, or WrongUsageError where one has none."""
    seconds = [metric.seconds(one, None) for one in kept]
    return _complete([s for s in seconds if s is not None], kept, title)


def _values(kept: Sequence[Kept], part: GridPart, metric: Metric) -> list[float]:
    if part.quantity == "time":
        return times(kept, part.title, metric)
    return _complete([QUANTITIES[part.quantity][0](one) for one in kept], kept, part.title)


def _complete(known: list[float], kept: Sequence[Kept], title: str) -> list[float]:
    if len(known) != len(kept) or not all(math.isfinite(value) for value in known):
        raise WrongUsageError(
            f"'{title}': not every launch of {kept[0].strategy} gives that number; expected a workload that "
            "reports at least two iterations and allocates"
        )
    return known


def geometric_mean(values: Sequence[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def table(part: GridPart, grid: Grid, metric: Metric) -> Table:
    """One part of a figure over the whole grid; a mean only of what is relative."""
    cells = []
    for series in part.strategies:
        per_workload = {}
        for workload in grid.launches:
            values = _values(grid.of(workload, series), part, metric)
            if part.relative_to:
                base = _values(grid.of(workload, part.relative_to), part, metric)
                values = statistics.paired_ratios(base, values)
            per_workload[workload] = values
            cells.append(Cell(workload, series, statistics.median_interval(values)))
        if part.relative_to and len(per_workload) > 1:
            # Round by round, so that the mean has an interval of its own.
            means = [geometric_mean(one) for one in zip(*per_workload.values(), strict=True)]
            cells.append(Cell(MEAN, series, statistics.median_interval(means)))
    rows = [*grid.launches, MEAN]
    cells.sort(key=lambda cell: rows.index(cell.row))
    words = three_digits if part.relative_to or part.quantity == "time" else QUANTITIES[part.quantity][1]
    return Table(part.title, cells, words, 1.0 if part.relative_to else None)
