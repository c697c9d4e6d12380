"""A table or figure on a terminal, and the list of all."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.text import Text

from memgraft.paper.definition import Definition
from memgraft.paper.measures import Table
from memgraft.screen import Screen, table
from memgraft.words import bytes_of


def row_name(part: Table, row: str) -> str:
    return bytes_of(int(row)) if part.sizes else row


def cell(part: Table, row: str, series: str) -> str:
    """`0.973 [0.951, 0.990]`."""
    value = part.at(row, series)
    if value is None:
        return "-"
    return f"{part.words(value.median)} [{part.words(value.low)}, {part.words(value.high)}]"


def show(
    definition: Definition, parts: Sequence[Table], measured: Mapping[str, str], page: Path, screen: Screen
) -> None:
    """Ours, then what was published; of a figure of which a part can be run, which part."""
    screen.print(Text(f"{definition.name}: {definition.title}", style="bold"))
    screen.print(f"{definition.item} of {definition.source}, section {definition.section}")
    screen.print(definition.here)
    for part in parts:
        screen.print()
        made = table(f"here: {part.title}", *part.series, right=part.series)
        for row in part.rows:
            made.add_row(row_name(part, row), *(cell(part, row, series) for series in part.series))
        screen.print(made)
    screen.print()
    if definition.levels or definition.orderings or definition.placements or definition.emulations:
        for name, value in measured.items():
            screen.print(f"{name}: {value}")
        screen.print()
    if definition.published:
        made = table("published", "", "section")
        for one in definition.published:
            made.add_row(one.of, one.value, one.section)
        screen.print(made)
    if definition.table:
        made = table(*definition.table.columns)
        for columns in definition.table.rows:
            made.add_row(*columns)
        screen.print(Text("published", style="bold"))
        screen.print(made)
    if definition.unpublished:
        screen.print(definition.unpublished)
    screen.print()
    screen.print(f"page: {page}", soft_wrap=True)
    screen.print()


def list_all(entries: Sequence[dict[str, Any]], screen: Screen) -> None:
    made = table("name", "what", "measured here")
    for entry in entries:
        made.add_row(entry["name"], entry["title"], entry["absent"] or "yes")
    screen.print(made)
    for source in dict.fromkeys(entry["source"] for entry in entries):
        screen.print(source)
