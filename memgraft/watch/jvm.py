"""A grafted JVM beside the placement: what its agent's summaries (docs/formats.md, section 2) say over time.

An agent with the option `live` writes its summary again while the JVM runs; without it there is one at the end.
"""

import time
from dataclasses import dataclass, field
from pathlib import Path

from bokeh.models import ColumnDataSource, HoverTool, LayoutDOM, NumeralTickFormatter
from bokeh.plotting import figure

from memgraft.errors import MemgraftError
from memgraft.formats import GIGA, JvmSummary, read_summaries
from memgraft.report.figures import frame
from memgraft.watch import colours
from memgraft.watch.parts import part, words
from memgraft.watch.saving import Saving, saved
from memgraft.words import bytes_of, count_of, percent, seconds_of, three_digits

POLL_SECONDS = 1.0
MOST_POINTS = 2000
"""Then every other one is forgotten."""
HEIGHT = 230
LEVELS = ("cpu", "core", "processor", "node")


@dataclass(frozen=True)
class Point:
    """The counts of one JVM at one time."""

    wall_seconds: float
    refills: dict[str, int]
    zeroed_bytes: int
    zeroing_seconds: float


def _point(summary: JvmSummary) -> Point:
    buffers, zeroing = summary.grafts.buffers, summary.grafts.zeroing
    return Point(
        summary.wall_seconds,
        {level.kind: level.refills for level in buffers.levels} if buffers else {},
        zeroing.bytes if zeroing else 0,
        zeroing.seconds if zeroing else 0.0,
    )


@dataclass
class JvmSeries:
    """The summaries of a folder, and how the counts of its busiest JVM grew while it was watched."""

    folder: Path
    summaries: list[JvmSummary] = field(default_factory=list)
    error: str = ""
    points: list[Point] = field(default_factory=list)
    version: int = 0
    """Goes up with each change."""
    _pid: int | None = None
    _next: float = 0.0

    def poll(self) -> None:
        """Reads the folder, at most once a second."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + POLL_SECONDS
        before = (self.summaries, self.error)
        try:
            self.summaries, self.error = read_summaries(self.folder), ""
        except MemgraftError as error:
            self.error = error.message
        if before == (self.summaries, self.error):
            return
        self.version += 1
        busiest = self.busiest
        if busiest is None:
            return
        if busiest.pid != self._pid:
            self._pid, self.points = busiest.pid, []
        point = _point(busiest)
        if point.wall_seconds > (self.points[-1].wall_seconds if self.points else 0.0):
            self.points.append(point)
        if len(self.points) > MOST_POINTS:
            del self.points[1::2]

    @property
    def busiest(self) -> JvmSummary | None:
        """The JVM that did most: a launcher or a compiler's helper may write summaries, too."""
        return max(self.summaries, key=_work, default=None)


def _work(summary: JvmSummary) -> tuple[int, float]:
    buffers, zeroing = summary.grafts.buffers, summary.grafts.zeroing
    taken = sum(level.taken_bytes for level in buffers.levels) if buffers else 0
    return taken + (zeroing.bytes if zeroing else 0), summary.wall_seconds


class JvmPanel:
    """The JVM's part of the page."""

    def __init__(self, saving: Saving) -> None:
        self.facts = words("jvm")
        self.source = ColumnDataSource(
            {name: [] for name in ("at", "bytes", "speed", "label", *LEVELS)}, name="jvm-source"
        )
        shown = colours.of_nodes(len(LEVELS))
        self.refills_key, self.zeroing_key = words("refills_key"), words("zeroing_key")
        self.zeroing_key.text = _key(("zeroed in a second", shown[0]), ("zeroed in a second of zeroing", shown[1]))
        self.refills = _frame("refills a second", "refills", saving)
        for level, colour in zip(LEVELS, shown, strict=True):
            self._line(self.refills, level, colour, f"{level}: @{level}{{0,0.0}} refills a second")
        self.zeroing = _frame("GB", "zeroing", saving)
        self._line(self.zeroing, "bytes", shown[0], "@label")
        self._line(self.zeroing, "speed", shown[1], "@label")

    def _line(self, made: figure, column: str, colour: str, label: str) -> None:
        made.line("at", column, source=self.source, line_color=colour, line_width=2)
        dots = made.scatter("at", column, source=self.source, size=5, color=colour)
        made.add_tools(HoverTool(renderers=[dots], tooltips=label))

    def roots(self) -> list[LayoutDOM]:
        return [self.facts, self.refills_key, self.refills, self.zeroing_key, self.zeroing]

    def show(self, series: JvmSeries) -> None:
        self.facts.text = part("jvm", _rows(series), series.error)
        columns: dict[str, list[object]] = {name: [] for name in self.source.data}
        before = Point(0.0, {}, 0, 0.0)
        for point in series.points:
            seconds = point.wall_seconds - before.wall_seconds
            zeroed = point.zeroed_bytes - before.zeroed_bytes
            zeroing = point.zeroing_seconds - before.zeroing_seconds
            rate, speed = zeroed / seconds / GIGA, zeroed / zeroing / GIGA if zeroing > 0 else float("nan")
            columns["at"].append(point.wall_seconds)
            columns["bytes"].append(rate)
            columns["speed"].append(speed)
            columns["label"].append(
                f"{seconds_of(before.wall_seconds)} to {seconds_of(point.wall_seconds)}: {three_digits(rate)} GB a "
                f"second of the program, {three_digits(speed)} GB/s while zeroing"
            )
            for level in LEVELS:
                more = point.refills.get(level, 0) - before.refills.get(level, 0)
                columns[level].append(more / seconds if level in point.refills else float("nan"))
            before = point
        self.source.data = columns
        shown = zip(LEVELS, colours.of_nodes(len(LEVELS)), strict=True)
        self.refills_key.text = _key(*((level, colour) for level, colour in shown if level in before.refills))


def _key(*named: tuple[str, str]) -> str:
    # Not Bokeh's legend: beside a picture that stretches it takes all of its height.
    return part("key", [{"name": name, "colour": colour, "count": None} for name, colour in named])


def _frame(label: str, name: str, saving: Saving) -> figure:
    made = frame(HEIGHT, "seconds since the JVM's start", label)
    made.y_range.start = 0  # type: ignore[attr-defined]
    made.yaxis.formatter = NumeralTickFormatter(format="0,0.[00]")
    saved(made, name, saving)
    return made


def _rows(series: JvmSeries) -> list[tuple[str, str]]:
    summary = series.busiest
    if summary is None:
        return [("summaries", f"none in {series.folder} yet")]
    rows = [("JVM", f"process {summary.pid}, {summary.jvm}"), ("state", _state(summary))]
    if summary.program:
        rows.append(("program", summary.program))
    if len(series.summaries) > 1:
        rows.append(("other JVMs", f"{len(series.summaries) - 1:,}, which did less"))
    if zeroing := summary.grafts.zeroing:
        speed = zeroing.gigabytes_per_second
        rows.append(
            (
                "zeroed",
                f"{bytes_of(zeroing.bytes)} in {count_of(zeroing.tlabs, 'TLAB')} by {zeroing.strategy}"
                + (f", {three_digits(speed)} GB/s while zeroing" if speed else ""),
            )
        )
    for level in summary.grafts.buffers.levels if summary.grafts.buffers else ():
        foreign = level.foreign / level.taken if level.taken else 0.0
        requests, refills = count_of(level.taken, "request"), count_of(level.refills, "refill")
        did = f"{requests}, {refills}, {percent(foreign)} foreign, {level.contended:,} contended"
        rows.append((f"buffers of {level.kind}", did))
    return rows


def _state(summary: JvmSummary) -> str:
    if summary.state == "running" and not summary.wall_seconds:
        return "running; its counts come with its end, or while it runs with the agent's option `live`"
    return f"{summary.state}, {seconds_of(summary.wall_seconds)} after its start"
