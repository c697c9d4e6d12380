"""The pictures of the page, as Bokeh figures.

Each carries its meaning by place and shape as well as by colour: the baseline is always a blue circle, the graft always
an orange triangle (Okabe and Ito's colours, told apart with any colour vision). Backgrounds stay transparent and ink
dark: the page inverts the pictures where its reader prefers a dark page.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d
from bokeh.models.annotations import BoxAnnotation, Span
from bokeh.plotting import figure

from memgraft.experiment.design import Side
from memgraft.experiment.epochs import steady
from memgraft.experiment.launches import Launch
from memgraft.experiment.outcome import Outcome
from memgraft.formats import GIGA
from memgraft.jvm import iterations

COLOURS = {Side.BASELINE: "#0072b2", Side.GRAFTED: "#d55e00"}
MARKERS = {Side.BASELINE: "circle", Side.GRAFTED: "triangle"}
INK = "#222222"
FAINT = "#dddddd"
POINT_SIZE = 9
SMALL_POINT_SIZE = 4
HIGHEST_PERCENT = 98
"""Up to which of a thousand epochs the picture reaches; the few above are start-up and interruptions."""
SPREAD = 0.22
"""Half the width of the strip in which a category's dots are spread, so that equal values stay visible."""
ROW_HEIGHT = 22
ALL_TICKS = 20
"""Pairs up to which every one has its number on the axis."""
FRAME_HEIGHT = 90
"""Pixels for axes and titles around the rows of a picture."""


def frame(
    height: int,
    x_label: str,
    y_label: str = "",
    x_axis_type: Literal["auto", "log"] = "auto",
    y_axis_type: Literal["auto", "log"] = "auto",
) -> figure:
    """An empty picture. No tool but hovering, so that a phone scrolls past it instead of panning in it."""
    made = figure(
        height=height,
        x_axis_type=x_axis_type,
        y_axis_type=y_axis_type,
        sizing_mode="stretch_width",
        toolbar_location=None,
        tools="",
        output_backend="svg",
        background_fill_alpha=0,
        border_fill_alpha=0,
        outline_line_color=None,
        x_axis_label=x_label,
        y_axis_label=y_label,
    )
    for axis in (*made.xaxis, *made.yaxis):
        axis.axis_line_color = axis.major_tick_line_color = INK
        axis.major_label_text_color = axis.axis_label_text_color = INK
        axis.minor_tick_line_color = None
        axis.major_label_text_font_size = axis.axis_label_text_font_size = "13px"
        axis.axis_label_text_font_style = "normal"
    made.grid.grid_line_color = FAINT
    return made


def _points(
    made: figure,
    side: Side,
    x: Sequence[float],
    y: Sequence[float],
    labels: Sequence[str],
    size: int = POINT_SIZE,
) -> None:
    source = ColumnDataSource({"x": list(x), "y": list(y), "label": list(labels)})
    points = made.scatter(
        "x",
        "y",
        source=source,
        marker=MARKERS[side],
        size=size,
        fill_color=COLOURS[side],
        fill_alpha=0.65,
        line_color=COLOURS[side],
    )
    made.add_tools(HoverTool(renderers=[points], tooltips="@label"))


def distributions(outcome: Outcome) -> figure:
    """Every launch of both sides as a dot over a box of the quartiles, by the headline metric."""
    rows = {Side.GRAFTED: 0.0, Side.BASELINE: 1.0}
    one = "batch" if outcome.switched else "pair"
    made = frame(210, f"{outcome.headline.metric.noun}, seconds")
    made.yaxis.ticker = FixedTicker(ticks=list(rows.values()))
    made.yaxis.major_label_overrides = {row: outcome.labels[side] for side, row in rows.items()}
    made.ygrid.grid_line_color = None
    for side, row in rows.items():
        values = outcome.headline.baseline if side is Side.BASELINE else outcome.headline.grafted
        low, middle, high = (float(quartile) for quartile in np.percentile(values, [25, 50, 75]))
        made.hbar(
            y=[row], left=[low], right=[high], height=0.6, fill_color=COLOURS[side], fill_alpha=0.15, line_color=INK
        )
        made.segment(x0=[middle], x1=[middle], y0=[row - 0.3], y1=[row + 0.3], line_color=INK, line_width=3)
        # Spread by the order of the pairs: the same picture each time, and a drift shows as a slope.
        spread = np.linspace(row + SPREAD, row - SPREAD, len(values)).tolist()
        _points(
            made, side, values, spread, [f"{one} {number}: {value:.4g} s" for number, value in enumerate(values, 1)]
        )
    return made


def ratios(outcome: Outcome) -> figure:
    """Each pair's ratio as a dot, the median as a line, its interval as a band, and 1 as a dashed line."""
    head = outcome.headline
    baseline, grafted = outcome.labels.values()
    one = "batch" if outcome.switched else "pair"
    pairs = len(head.ratios)
    made = frame(FRAME_HEIGHT + ROW_HEIGHT * pairs, f"{head.metric.noun}, {grafted} / {baseline}", one)
    made.yaxis.ticker = FixedTicker(ticks=[pair for pair in range(1, pairs + 1) if pairs <= ALL_TICKS or pair % 5 == 0])
    made.ygrid.grid_line_color = None
    # Annotations do not widen a range by themselves, and both 1 and the whole band must be in the picture.
    low, high = min(1.0, head.ratio.low, *head.ratios), max(1.0, head.ratio.high, *head.ratios)
    margin = (high - low) * 0.06 or 0.01
    made.x_range = Range1d(start=low - margin, end=high + margin)
    made.y_range = Range1d(start=pairs + 0.7, end=0.3)
    band, ink = COLOURS[Side.GRAFTED], INK
    made.add_layout(BoxAnnotation(left=head.ratio.low, right=head.ratio.high, fill_color=band, fill_alpha=0.18))
    made.add_layout(Span(location=head.ratio.median, dimension="height", line_color=band, line_width=3))
    made.add_layout(Span(location=1, dimension="height", line_color=ink, line_dash="dashed", line_width=2))
    labels = [f"{one} {pair}: {ratio:.4f}" for pair, ratio in enumerate(head.ratios, 1)]
    _points(made, Side.GRAFTED, head.ratios, [float(pair) for pair in range(1, pairs + 1)], labels)
    return made


def in_order(outcome: Outcome) -> figure:
    """Every counted launch in the order in which it ran: drift, steps and odd launches show here."""
    head = outcome.headline.metric
    made = frame(240, "launch, in the order in which they ran", f"{head.noun.partition(' per ')[0]}, seconds")
    warmup = outcome.settings.warmup_iterations
    for side in Side:
        mine = outcome.on(side)
        seconds = [head.seconds(done, warmup) or 0.0 for done in mine]
        order = [float(done.number) for done in mine]
        made.line(order, seconds, line_color=COLOURS[side], line_alpha=0.4)
        labels = [
            f"launch {done.number}, {outcome.labels[side]}: {value:.4g} s"
            for done, value in zip(mine, seconds, strict=True)
        ]
        _points(made, side, order, seconds, labels)
    return made


def epoch_costs(outcome: Outcome) -> figure | None:
    """What every epoch cost, in order, JVM after JVM, with each one's warm-up shaded; None without epochs."""
    if outcome.switched is None:
        return None
    made = frame(260, "epoch", "CPU seconds per GB allocated")
    points: dict[str, list[tuple[float, float]]] = {Side.BASELINE: [], Side.GRAFTED: []}
    start = 0
    for series in outcome.switched.series:
        for at, epoch in enumerate(series, start + 1):
            if epoch.bytes and epoch.mutator_cpu_seconds:
                points[epoch.side].append((float(at), epoch.mutator_cpu_seconds / epoch.bytes * GIGA))
        warm = len(series) - len(steady(series))
        made.add_layout(
            BoxAnnotation(left=start + 0.5, right=start + warm + 0.5, fill_color="#888888", fill_alpha=0.15)
        )
        start += len(series)
    for side in Side:
        xs, ys = [x for x, _ in points[side]], [y for _, y in points[side]]
        labels = [f"{outcome.labels[side]}, epoch {x:.0f}: {y:.4g} s/GB" for x, y in points[side]]
        _points(made, side, xs, ys, labels, size=SMALL_POINT_SIZE)
    # The first epochs of a JVM are interpreted and cost many times the others; those that count must be seen apart.
    kept = [e for series in outcome.switched.series for e in steady(series) if e.bytes and e.mutator_cpu_seconds]
    counted = [epoch.mutator_cpu_seconds / epoch.bytes * GIGA for epoch in kept]
    made.y_range = Range1d(start=0, end=float(np.percentile(counted, HIGHEST_PERCENT)) * 1.2 if counted else 1)
    return made


def iteration_times(outcome: Outcome) -> figure | None:
    """Every iteration of every counted launch, a line per launch, with the warm-up shaded; None without iterations."""
    metric = outcome.headline.metric
    time = metric.time or (lambda i: i.wall_seconds)
    if outcome.iterations is None:
        return None
    noun = metric.noun.partition(" per ")[0] if metric.time else "wall-clock time"
    made = frame(260, "iteration", f"{noun}, seconds")
    for side in Side:
        lines = [_series(done, workload, time) for done in outcome.on(side) for workload in _workloads(done)]
        lines = [line for line in lines if line[0]]
        if not lines:
            continue
        made.multi_line(
            [xs for xs, _ in lines], [ys for _, ys in lines], line_color=COLOURS[side], line_alpha=0.45, line_width=1
        )
        xs = [x for line in lines for x in line[0]]
        ys = [y for line in lines for y in line[1]]
        _points(
            made,
            side,
            xs,
            ys,
            [f"{outcome.labels[side]}, iteration {x:.0f}: {y:.4g} s" for x, y in zip(xs, ys, strict=True)],
        )
    if outcome.iterations.warmup_fewest:
        # Half an iteration further, so that the shade ends between the last warm-up and the first steady one.
        made.add_layout(
            BoxAnnotation(right=outcome.iterations.warmup_fewest - 0.5, fill_color="#888888", fill_alpha=0.15)
        )
    return made


def _workloads(done: Launch) -> list[str]:
    return iterations.workloads(done.iterations)


def _series(done: Launch, workload: str, time: iterations.Time) -> tuple[list[float], list[float]]:
    points = [(float(i.iteration), t) for i in done.iterations if i.workload == workload and (t := time(i)) is not None]
    return [x for x, _ in points], [y for _, y in points]
