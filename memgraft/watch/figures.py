"""The pictures of the live page, as Bokeh figures that are given new numbers from interval to interval.

As in the reports ink is dark and backgrounds are transparent: the page inverts the pictures where its reader prefers a
dark page.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    FixedTicker,
    HoverTool,
    LinearColorMapper,
    NumeralTickFormatter,
    Range1d,
)
from bokeh.models.annotations import Span
from bokeh.models.text import BaseText
from bokeh.palettes import Blues256
from bokeh.plotting import figure

from memgraft.report.figures import FAINT, INK, frame
from memgraft.watch import colours
from memgraft.watch.history import Matrix, State, local_share
from memgraft.watch.record import Start
from memgraft.watch.saving import Saving, saved
from memgraft.words import percent

WINDOW = 240
"""Intervals that pictures over time show."""
MILLI = 1000
TIME_HEIGHT = 230
MATRIX_HEIGHT = 300
SHARES_HEIGHT = 190
MOST_NUMBERS = 16
"""Nodes up to which the cells of a matrix hold their numbers."""
NARROW = 12.0
"""Percent below which a part of a bar is too short for its number."""
DARK = 0.55
"""Share above which a cell of a matrix is dark, and its number white."""

Columns = dict[str, Any]


def node_names(start: Start) -> list[str]:
    return [f"node {number}" for number in start.numbers]


def _numbers(picture: figure, x: str, source: ColumnDataSource) -> None:
    """Writes the source's numbers into the middle of their parts of the picture; `x`: the column of the middles."""
    picture.text(
        *(x, "y"),
        text="number",
        source=source,
        text_align="center",
        text_baseline="middle",
        text_color="ink",
        text_font_size="13px",
    )


class OverTime:
    """What happened interval by interval: shares of samples, pages moved to each node, pages the kernel moved."""

    def __init__(self, start: Start, saving: Saving) -> None:
        self.start = start
        self.nodes = node_names(start)
        self.source = ColumnDataSource(name="over-time-source")
        self.x_range = Range1d(start=0, end=1)
        # Two: a Span belongs to one figure.
        self.spans: list[Span] = []
        self.shares = self._frame("share of samples", saving, "shares-over-time")
        self.shares.y_range = Range1d(start=0, end=1.02)
        self.shares.yaxis.formatter = NumeralTickFormatter(format="0 %")
        line = self.shares.line("at", "remote", source=self.source, line_color="#d55e00", line_width=2.5)
        dots = self.shares.scatter("at", "remote", source=self.source, size=6, color="#d55e00")
        unknown = self.shares.line(
            *("at", "unknown"), source=self.source, line_color=INK, line_width=1.5, line_dash="dashed"
        )
        del line, unknown
        self.shares.add_tools(HoverTool(renderers=[dots], tooltips="@share_label", mode="vline"))
        self.moves = self._frame("pages moved to", saving, "migrations")
        self.moves.y_range.start = 0  # type: ignore[attr-defined]
        self.moves.yaxis.ticker = BasicTicker(min_interval=1)
        self.moves.yaxis.formatter = NumeralTickFormatter(format="0,0")
        shown = colours.of_nodes(len(self.nodes))
        below = [f"from{at}" for at in range(len(self.nodes))]
        for at, name in enumerate(self.nodes):
            bars = self.moves.quad(
                left="left",
                right="right",
                bottom=below[at],
                top=f"to{at}",
                source=self.source,
                fill_color=shown[at],
                line_color="#ffffff",
                line_width=0.5,
            )
            self.moves.add_tools(
                HoverTool(renderers=[bars], tooltips=f"interval @number: @moved{at}{{0,0}} pages to {name}")
            )
        self.kernel = self._frame("by the kernel", saving, "kernel-moves", height=130)
        self.kernel.y_range.start = 0  # type: ignore[attr-defined]
        self.kernel.yaxis.ticker = BasicTicker(min_interval=1)
        self.kernel.yaxis.formatter = NumeralTickFormatter(format="0,0")
        bars = self.kernel.quad(
            *("left", "right"), top="kernel", bottom=0, source=self.source, fill_color="#888888", line_color=None
        )
        self.kernel.add_tools(HoverTool(renderers=[bars], tooltips="interval @number: @kernel{0,0} pages"))

    def _frame(self, label: str, saving: Saving, name: str, height: int = TIME_HEIGHT) -> figure:
        made = frame(height, "seconds since the start", label)
        made.x_range = self.x_range
        span = Span(location=0, dimension="height", line_color=INK, line_dash="dotted", line_width=1.5)
        self.spans.append(span)
        made.add_layout(span)
        saved(made, name, saving)
        return made

    def show(self, states: Sequence[State], current: State) -> None:
        """`states` are those of the window, in order."""
        columns: Columns = {name: [] for name in ("at", "left", "right", "number", "remote", "unknown", "share_label")}
        columns |= {"kernel": [state.interval.kernel_moved for state in states]}
        for state in states:
            at = state.interval.at_ms / MILLI
            columns["right"].append(at)
            columns["left"].append(at - state.milliseconds / MILLI)
            columns["at"].append(at)
            columns["number"].append(state.interval.number)
            local = local_share(state.accesses)
            columns["remote"].append(float("nan") if local is None else 1 - local)
            samples = state.interval.samples
            columns["unknown"].append(state.interval.unknown / samples if samples else float("nan"))
            columns["share_label"].append(_share_label(state, local))
        so_far = np.zeros(len(states), dtype=np.int64)
        for node in range(len(self.nodes)):
            moved = np.array([int(state.moved[:, node].sum()) for state in states], dtype=np.int64)
            columns[f"moved{node}"], columns[f"from{node}"] = moved.tolist(), so_far.tolist()
            so_far = so_far + moved
            columns[f"to{node}"] = so_far.tolist()
        self.source.data = columns
        self.x_range.update(start=min(columns["left"], default=0), end=max(columns["right"], default=1))
        for span in self.spans:
            span.location = current.interval.at_ms / MILLI


def _share_label(state: State, local: float | None) -> str:
    interval = state.interval
    if local is None:
        return f"interval {interval.number}: no samples"
    return (
        f"interval {interval.number}: {percent(1 - local)} non-local of {int(state.accesses.sum()):,} samples, "
        f"{interval.unknown:,} unknown"
    )


class Shares:
    """To which nodes pages were moved, in the latest interval and since the start: two bars of 100 %."""

    ROWS = (1.0, 0.0)

    def __init__(self, start: Start, saving: Saving) -> None:
        self.nodes = node_names(start)
        self.shown = colours.of_nodes(len(self.nodes))
        self.source = ColumnDataSource(
            {name: [] for name in ("left", "right", "y", "colour", "ink", "number", "label", "middle")},
            name="shares-source",
        )
        self.figure = frame(SHARES_HEIGHT, "share of the pages moved")
        self.figure.x_range = Range1d(start=0, end=100)
        self.figure.xaxis.formatter = NumeralTickFormatter(format="0")
        self.figure.xaxis.axis_label = "per cent of the pages moved"
        self.figure.y_range = Range1d(start=-0.6, end=1.6)
        self.figure.yaxis.ticker = FixedTicker(ticks=list(self.ROWS))
        self.figure.ygrid.grid_line_color = None
        bars = self.figure.hbar(
            left="left",
            right="right",
            y="y",
            height=0.6,
            source=self.source,
            fill_color="colour",
            line_color="#ffffff",
        )
        _numbers(self.figure, "middle", self.source)
        self.figure.add_tools(HoverTool(renderers=[bars], tooltips="@label"))
        saved(self.figure, "shares", saving)

    def show(self, state: State) -> None:
        columns: Columns = {name: [] for name in self.source.data}
        labels: dict[float | str, str | BaseText] = {}
        for y, moved, what in zip(
            self.ROWS,
            (state.moved, state.moved_so_far),
            (f"interval {state.interval.number}", "since the start"),
            strict=True,
        ):
            pages = moved.sum(axis=0)
            total = int(pages.sum())
            labels[y] = f"{what}:\n{total:,} pages"
            left = 0.0
            for at, count in enumerate(pages.tolist()):
                share = 100 * count / total if total else 0.0
                if not count:
                    continue
                columns["left"].append(left)
                columns["right"].append(left + share)
                columns["middle"].append(left + share / 2)
                columns["y"].append(y)
                columns["colour"].append(self.shown[at])
                columns["ink"].append(_ink_on(self.shown[at]))
                columns["number"].append(f"{share:.0f} %" if share >= NARROW else "")
                columns["label"].append(f"{what}: {count:,} pages ({share:.1f} %) to {self.nodes[at]}")
                left += share
        self.source.data = columns
        self.figure.yaxis.major_label_overrides = labels


def _ink_on(colour: str) -> str:
    """Black or white, whichever is seen better: luminance of WCAG 2.1, roughly."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return "#000000" if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 > 0.18 else "#ffffff"  # noqa: PLR2004


class Contention:
    """Threads of which node touch whose memory, as a heat map with numbers."""

    def __init__(self, start: Start, name: str, saving: Saving) -> None:
        self.numbers = [str(number) for number in start.numbers]
        self.nodes = node_names(start)
        count = len(self.numbers)
        self.source = ColumnDataSource(
            {key: [] for key in ("x", "y", "share", "number", "ink", "label", "edge")}, name=f"{name}-source"
        )
        self.figure = frame(MATRIX_HEIGHT, "memory of node", "threads of node")
        self.figure.x_range = Range1d(start=-0.5, end=count - 0.5)
        self.figure.y_range = Range1d(start=count - 0.5, end=-0.5)
        for axis in (self.figure.xaxis, self.figure.yaxis):
            axis.ticker = FixedTicker(ticks=list(range(count)))
            axis.major_label_overrides = dict(enumerate(self.numbers))
        self.figure.grid.grid_line_color = None
        mapper = LinearColorMapper(palette=list(reversed(Blues256)), low=0, high=1)
        cells = self.figure.rect(
            "x",
            "y",
            width=0.98,
            height=0.98,
            source=self.source,
            fill_color={"field": "share", "transform": mapper},
            line_color="edge",
            line_width=1.5,
        )
        self.figure.add_tools(HoverTool(renderers=[cells], tooltips="@label"))
        if count <= MOST_NUMBERS:
            _numbers(self.figure, "x", self.source)
        saved(self.figure, name, saving)

    def show(self, accesses: Matrix) -> None:
        total = int(accesses.sum())
        shares = accesses / total if total else np.zeros(accesses.shape)
        # The darkest cell is the largest: what matters is who stands out.
        highest = float(shares.max()) or 1.0
        rows, columns = np.indices(accesses.shape)
        flat = shares.ravel().tolist()
        self.source.data = {
            "x": columns.ravel().tolist(),
            "y": rows.ravel().tolist(),
            "share": [share / highest for share in flat],
            "number": [f"{100 * share:.1f} %" if total else "" for share in flat],
            "ink": ["#ffffff" if share / highest > DARK else INK for share in flat],
            # Local accesses, those on the diagonal, have a frame.
            "edge": [
                INK if row == column else FAINT
                for row, column in zip(rows.ravel().tolist(), columns.ravel().tolist(), strict=True)
            ],
            "label": [
                f"threads of {self.nodes[row]}, memory of {self.nodes[column]}: {count:,} of {total:,} samples"
                for row, column, count in zip(
                    rows.ravel().tolist(), columns.ravel().tolist(), accesses.ravel().tolist(), strict=True
                )
            ],
        }
