"""A table or figure as one HTML page that needs nothing else."""

from typing import Any, Literal

from bokeh.embed import components
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, Range1d
from bokeh.models.annotations import Span
from bokeh.plotting import figure
from markupsafe import Markup

from memgraft.paper.definition import Definition
from memgraft.paper.measures import Table
from memgraft.paper.show import cell, row_name
from memgraft.report.figures import INK, frame
from memgraft.report.page import embedded, template
from memgraft.version import version
from memgraft.words import bytes_of

# Okabe and Ito's colours, told apart with any colour vision; yellow is too faint on white.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000")
MARKERS = ("circle", "triangle", "square", "diamond", "inverted_triangle", "hex", "star")
ROW_HEIGHT = 16
FRAME_HEIGHT = 90
SPREAD = 0.6
"""The part of a row's height over which its series are spread."""
SIZES_HEIGHT = 360
GROUND = 0.9
"""An axis of relative values reaches from here to 1 / GROUND at least, so that noise does not look like a peak."""


def render(definition: Definition, tables: list[Table], measured: list[tuple[str, str]]) -> str:
    """The page as text."""
    script, places = components([picture(table) for table in tables])
    return template("paper.html.j2").render(
        name=definition.name,
        title=definition.title,
        item=definition.item[:1].upper() + definition.item[1:],
        source=definition.source,
        section=definition.section,
        here=definition.here,
        parts=[_part(table, place) for table, place in zip(tables, places, strict=True)],
        published=definition.published,
        runs_java=definition.runs_java,
        table=definition.table,
        unpublished=definition.unpublished,
        measured=measured,
        version=version(),
        scripts=embedded(script),
    )


def _part(table: Table, place: str) -> dict[str, Any]:
    return {
        "title": table.title,
        "series": table.series,
        "relative": table.reference is not None,
        "spread": table.spread,
        "marks": [{"name": name, "colour": colour(at)} for at, name in enumerate(table.series)],
        # Written by Bokeh, not by anything that was measured.
        "picture": Markup(place),  # noqa: S704
        "rows": [
            {"name": row_name(table, row), "cells": [cell(table, row, series) for series in table.series]}
            for row in table.rows
        ],
    }


def colour(at: int) -> str:
    return COLOURS[at % len(COLOURS)]


def picture(table: Table) -> figure:
    """Sizes as lines over a logarithmic axis; anything else as a row per workload with a dot per series."""
    return _over_sizes(table) if table.sizes else _per_row(table)


def _per_row(table: Table) -> figure:
    rows = table.rows
    each = ROW_HEIGHT * max(2, len(table.series))
    made = frame(FRAME_HEIGHT + each * len(rows), table.title)
    made.yaxis.ticker = FixedTicker(ticks=list(range(len(rows))))
    made.yaxis.major_label_overrides = {at: row_name(table, row) for at, row in enumerate(rows)}
    made.y_range = Range1d(start=len(rows) - 0.4, end=-0.6)
    made.ygrid.grid_line_color = None
    _reference(made, table, "height")
    for number, series in enumerate(table.series):
        shift = (number + 0.5) / len(table.series) * SPREAD - SPREAD / 2
        found = [(at + shift, row, value) for at, row in enumerate(rows) if (value := table.at(row, series))]
        source = ColumnDataSource(
            {
                "y": [y for y, _, _ in found],
                "x": [value.median for _, _, value in found],
                "low": [value.low for _, _, value in found],
                "high": [value.high for _, _, value in found],
                "label": [f"{row}, {series}: {cell(table, row, series)}" for _, row, _ in found],
            }
        )
        made.segment("low", "y", "high", "y", source=source, line_color=colour(number), line_width=3, line_alpha=0.6)
        _dots(made, source, number)
    low, high = min(c.value.low for c in table.cells), max(c.value.high for c in table.cells)
    if table.reference is not None:
        low, high = min(low, GROUND), max(high, 1 / GROUND)
    else:
        low = 0.0
    margin = (high - low) * 0.05 or 1.0
    made.x_range = Range1d(start=low - margin, end=high + margin)
    return made


def _over_sizes(table: Table) -> figure:
    made = frame(SIZES_HEIGHT, "bytes", table.title, x_axis_type="log")
    sizes = [int(row) for row in table.rows]
    shown = sizes[:: max(1, len(sizes) // 8)]
    made.xaxis.ticker = FixedTicker(ticks=shown)
    made.xaxis.major_label_overrides = {size: bytes_of(size) for size in shown}
    _reference(made, table, "width")
    for number, series in enumerate(table.series):
        found = [(size, value) for size in sizes if (value := table.at(str(size), series))]
        source = ColumnDataSource(
            {
                "x": [size for size, _ in found],
                "y": [value.median for _, value in found],
                "low": [value.low for _, value in found],
                "high": [value.high for _, value in found],
                "label": [f"{series}, {bytes_of(size)}: {cell(table, str(size), series)}" for size, _ in found],
            }
        )
        made.line("x", "y", source=source, line_color=colour(number), line_width=2)
        made.segment("x", "low", "x", "high", source=source, line_color=colour(number), line_width=3, line_alpha=0.4)
        _dots(made, source, number)
    made.y_range = Range1d(start=0, end=max(c.value.high for c in table.cells) * 1.05)
    return made


def _reference(made: figure, table: Table, dimension: Literal["width", "height"]) -> None:
    if table.reference is not None:
        made.add_layout(Span(location=table.reference, dimension=dimension, line_color=INK, line_dash="dashed"))


def _dots(made: figure, source: ColumnDataSource, number: int) -> None:
    marker = MARKERS[number % len(MARKERS)]
    dots = made.scatter("x", "y", source=source, marker=marker, size=9, color=colour(number))
    made.add_tools(HoverTool(renderers=[dots], tooltips="@label"))
