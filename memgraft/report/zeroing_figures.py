"""The pictures of a calibration: how the kernels compare by size, and what more threads bring.

A kernel has the same colour and shape in every picture (Okabe and Ito's colours); the key to them is the page's.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, PrintfTickFormatter, Range1d
from bokeh.models.annotations import Span
from bokeh.plotting import figure

from memgraft.kernels.zero import kernel_order
from memgraft.report.figures import INK, POINT_SIZE, frame
from memgraft.words import bytes_of, count_of, three_digits

COLOURS = ["#222222", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a7a00"]
SHAPES = {
    "circle": "M6 1 a5 5 0 1 0 .01 0 Z",
    "triangle": "M6 1 L11 11 L1 11 Z",
    "square": "M1.5 1.5 H10.5 V10.5 H1.5 Z",
    "inverted_triangle": "M6 11 L11 1 L1 1 Z",
    "diamond": "M6 0 L10.5 6 L6 12 L1.5 6 Z",
}
"""Bokeh's markers, and the same in a box of 12 by 12 for the key. Five shapes and eight colours: 40 kernels differ."""
HEIGHT = 420
ROOM = 1.1
"""Between what is drawn and the frame."""
BOUNDARY = 2 << 10
"""Where Cavanna 2006 divides its figures: regions smaller and larger than 2 KiB."""

Row = dict[str, Any]


class Kernels:
    """How each kernel is drawn."""

    def __init__(self, names: Iterable[str]) -> None:
        self.order = kernel_order(names)

    def colour(self, kernel: str) -> str:
        return COLOURS[self.order.index(kernel) % len(COLOURS)]

    def marker(self, kernel: str) -> str:
        return list(SHAPES)[self.order.index(kernel) % len(SHAPES)]

    def key(self, drawn: Sequence[str]) -> list[dict[str, str]]:
        """What the page needs to explain the lines of these kernels."""
        return [
            {"name": kernel, "colour": self.colour(kernel), "shape": SHAPES[self.marker(kernel)]}
            for kernel in self.order
            if kernel in drawn
        ]


def relative_times(rows: Sequence[Row], kernels: Kernels, *, below: bool) -> figure | None:
    """The time of each kernel relative to the 4-byte loop's, by the size of the region (Cavanna 2006, figures 1, 2)."""
    mine = [row for row in rows if (row["bytes"] <= BOUNDARY if below else row["bytes"] >= BOUNDARY)]
    if not mine:
        return None
    made = frame(HEIGHT, "region", "time / time of the 4-byte loop", x_axis_type="log", y_axis_type="log")
    _byte_axis(made, mine)
    made.add_layout(Span(location=1, dimension="width", line_color=INK, line_dash="dashed"))
    for kernel in kernels.order:
        points = [row for row in mine if row["kernel"] == kernel]
        labels = [
            f"{kernel}, {bytes_of(row['bytes'])}: {row['relative_time']:.3g} [{row['low']:.3g}, {row['high']:.3g}]"
            for row in points
        ]
        _line(made, kernels, kernel, points, lambda row: row["relative_time"], ("low", "high"), labels)
    return made


def throughputs(rows: Sequence[Row], kernels: Kernels, drawn: Sequence[str]) -> figure | None:
    """Zeroed bytes per second of one thread and of several together, by block (Yang 2011, figure 3.1(a))."""
    mine = [row for row in rows if row["kernel"] in drawn]
    if not mine:
        return None
    made = frame(HEIGHT, "block", "GB/s, all threads together", x_axis_type="log", y_axis_type="log")
    _byte_axis(made, mine)
    for kernel in kernel_order(drawn):
        for threads in sorted({row["threads"] for row in mine}):
            points = [row for row in mine if (row["kernel"], row["threads"]) == (kernel, threads)]
            name = f"{kernel}, {count_of(threads, 'thread')}"
            labels = [
                f"{name}, {bytes_of(row['bytes'])}: {three_digits(row['gigabytes_per_second'])} GB/s" for row in points
            ]
            spread = ("lowest", "highest")
            _line(
                made,
                kernels,
                kernel,
                points,
                lambda row: row["gigabytes_per_second"],
                spread,
                labels,
                threads > 1,
            )
    return made


def scaling(rows: Sequence[Row], kernels: Kernels, drawn: Sequence[str]) -> figure | None:
    """How many times one thread's throughput several have, by block (Yang 2011, figure 3.1(b)); None on one CPU."""
    mine = [
        {**row, "times": row["scaling"].median, "low": row["scaling"].low, "high": row["scaling"].high}
        for row in rows
        if row["kernel"] in drawn and row["scaling"]
    ]
    if not mine:
        return None
    most = max(row["threads"] for row in mine)
    made = frame(HEIGHT, "block", f"throughput of {most} threads / of 1", x_axis_type="log", y_axis_type="log")
    # Annotations do not widen a range by themselves, and both no gain and a full one must be in the picture.
    lowest, highest = min(1, *(row["low"] for row in mine)), max(most, *(row["high"] for row in mine))
    made.y_range = Range1d(start=lowest / ROOM, end=highest * ROOM)
    _byte_axis(made, mine)
    for ideal in (1, most):
        made.add_layout(Span(location=ideal, dimension="width", line_color=INK, line_dash="dashed"))
    for kernel in kernel_order(drawn):
        points = [row for row in mine if row["kernel"] == kernel]
        labels = [
            f"{kernel}, {bytes_of(row['bytes'])}: {row['times']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
            for row in points
        ]
        _line(made, kernels, kernel, points, lambda row: row["times"], ("low", "high"), labels)
    return made


def _line(
    made: figure,
    kernels: Kernels,
    kernel: str,
    rows: Sequence[Row],
    value: Callable[[Row], float],
    spread: tuple[str, str],
    labels: Sequence[str],
    dashed: bool = False,
) -> None:
    """A line with a dot and a whisker per row."""
    low, high = spread
    source = ColumnDataSource(
        {
            "x": [row["bytes"] for row in rows],
            "y": [value(row) for row in rows],
            "low": [row[low] for row in rows],
            "high": [row[high] for row in rows],
            "label": list(labels),
        }
    )
    colour = kernels.colour(kernel)
    made.line("x", "y", source=source, line_color=colour, line_width=2, line_dash="dashed" if dashed else "solid")
    made.segment("x", "low", "x", "high", source=source, line_color=colour, line_alpha=0.6)
    points = made.scatter(
        "x",
        "y",
        source=source,
        marker=kernels.marker(kernel),
        size=POINT_SIZE,
        fill_color="#ffffff" if dashed else colour,
        line_color=colour,
    )
    made.add_tools(HoverTool(renderers=[points], tooltips="@label"))


def _byte_axis(made: figure, rows: Sequence[Row]) -> None:
    sizes = sorted({row["bytes"] for row in rows})
    made.xaxis.ticker = FixedTicker(ticks=sizes)
    made.xaxis.major_label_overrides = {size: bytes_of(size) for size in sizes}
    made.yaxis.formatter = PrintfTickFormatter(format="%g")  # 0.1 rather than a power of ten
    made.xgrid.ticker = FixedTicker(ticks=sizes)
