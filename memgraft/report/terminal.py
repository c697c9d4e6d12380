"""The report of a comparison on a terminal."""

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from memgraft.experiment.design import Side
from memgraft.experiment.outcome import Outcome
from memgraft.report import facts
from memgraft.screen import Screen, table

ROOM_FOR_INTERVALS = 110
"""Columns from which a median and its interval fit on one line; below, the interval stands under its median."""

STYLES = {"faster": "green", "slower": "red", "not resolved": "yellow"}


def show(outcome: Outcome, warnings: Sequence[str], report: Path, screen: Screen, *, brief: bool) -> None:
    """The verdict first, then what it rests on; `brief` leaves the tables out."""
    screen.print(Text(facts.verdict(outcome), style=f"bold {STYLES[outcome.headline.verdict]}"))
    if not brief:
        _tables(outcome, screen)
    for warning in warnings:
        screen.print()
        screen.print(Text("warning: ", style="yellow") + Text(warning))
    screen.print()
    screen.print(f"report: {report}", soft_wrap=True)


def _tables(outcome: Outcome, screen: Screen) -> None:
    screen.print()
    baseline, grafted = outcome.labels.values()
    numbers = (baseline, grafted, f"{grafted} / {baseline}")
    metrics = table("median [95 % interval]", *numbers, "", right=numbers)
    for row in facts.metric_rows(outcome):
        cells = [row.baseline, row.grafted, row.ratio]
        if screen.width < ROOM_FOR_INTERVALS:
            cells = [cell.replace(" [", "\n[") for cell in cells]
        metrics.add_row(row.name, *cells, row.verdict, style="bold" if row.headline else "")
    screen.print(metrics)
    _rows(screen, "The epochs", facts.epoch_rows(outcome))
    _rows(
        screen,
        "What the graft did, per launch",
        outcome.rows(Side.GRAFTED),
    )
    _rows(
        screen,
        f"What {baseline} did, per launch",
        outcome.rows(Side.BASELINE),
    )
    _rows(screen, "How quiet it was", facts.noise_rows(outcome))


def _rows(screen: Screen, title: str, rows: Sequence[facts.Row]) -> None:
    if not rows:
        return
    screen.print()
    made = table(title, "")
    for name, value in rows:
        made.add_row(name, value)
    screen.print(made)
