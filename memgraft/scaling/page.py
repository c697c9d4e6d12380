"""As one HTML page that needs nothing else."""

from bokeh.embed import components
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, PrintfTickFormatter
from bokeh.plotting import figure
from markupsafe import Markup

from memgraft import machine
from memgraft.grafts.buffers import shown
from memgraft.paper.page import MARKERS, colour
from memgraft.report.figures import frame
from memgraft.report.page import embedded, template
from memgraft.scaling.show import assumed, cell, column, cost_rows, origin
from memgraft.scaling.work import CORES, Scaling, sentences
from memgraft.version import version
from memgraft.words import count_of

HEIGHT = 380
LEAST_PERCENT = 0.01
"""The lower end of the axis: what is below is nothing."""
PERCENT = 100


def render(scaling: Scaling) -> str:
    """The page as text."""
    pictures = [_picture(scaling, tlab) for tlab in scaling.asked.tlabs]
    script, places = components(pictures)
    levels = scaling.asked.levels
    return template("scaling.html.j2").render(
        origin=origin(scaling),
        sentences=sentences(scaling),
        costs=cost_rows(scaling.costs),
        machine=machine.lines(scaling.costs.machine),
        repetitions=count_of(scaling.costs.repetitions, "repetition"),
        assumed=assumed(scaling),
        marks=[{"name": column(one), "colour": colour(at)} for at, one in enumerate(levels)],
        parts=[
            {
                "title": f"TLABs of {shown(tlab)}",
                # Written by Bokeh, not by anything that was measured.
                "picture": Markup(place),  # noqa: S704
                "rows": [
                    {"cores": str(points[0].cores), "cells": [cell(point) for point in points]}
                    for points in zip(*(scaling.at(tlab, one) for one in levels), strict=True)
                ],
            }
            for tlab, place in zip(scaling.asked.tlabs, places, strict=True)
        ],
        version=version(),
        scripts=embedded(script),
    )


def _picture(scaling: Scaling, tlab: int) -> figure:
    """Formula as lines, simulation as marks; the band is what the costs' intervals make of it."""
    made = frame(HEIGHT, "cores", "per cent of a core's time", x_axis_type="log", y_axis_type="log")
    made.xaxis.ticker = FixedTicker(ticks=list(CORES))
    made.xaxis.formatter = PrintfTickFormatter(format="%d")
    made.yaxis.formatter = PrintfTickFormatter(format="%g")
    for number, levels in enumerate(scaling.asked.levels):
        points = scaling.at(tlab, levels)
        source = ColumnDataSource(
            {
                "cores": [point.cores for point in points],
                "model": [_percent(point.model.share) for point in points],
                "low": [_percent(point.low.share) for point in points],
                "high": [_percent(point.high.share) for point in points],
                "simulated": [_percent(point.simulated.share) for point in points],
                "label": [f"{column(levels)}, {point.cores} cores: {cell(point)}" for point in points],
            }
        )
        made.varea("cores", "low", "high", source=source, fill_color=colour(number), fill_alpha=0.15)
        made.line("cores", "model", source=source, line_color=colour(number), line_width=2)
        dots = made.scatter(
            "cores",
            "simulated",
            source=source,
            marker=MARKERS[number % len(MARKERS)],
            size=9,
            fill_color="#ffffff",
            line_color=colour(number),
        )
        made.add_tools(HoverTool(renderers=[dots], tooltips="@label"))
    return made


def _percent(share: float) -> float:
    return max(share * PERCENT, LEAST_PERCENT)
