"""`memgraft place`: moves a program's pages to the nodes that touch them, and says at its end what came of it.

All of the work is done by the native memgraft-place (`placement/`); here it is started and its summary shown.
"""

import contextlib
import json
import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich.text import Text

from memgraft import native, placement
from memgraft.errors import CannotTakeError, MemgraftError, WrongUsageError
from memgraft.jvm import launch
from memgraft.placement import Placed, Summary
from memgraft.screen import Screen, table
from memgraft.words import bytes_of, count_of, percent, seconds_in, seconds_of

MONITORS = ("auto", "hint-faults", "pmu", "faults-in-process")
REPLAY = "replay:"
NAME_WIDTH = 14
MILLI = 1000
PAGE_SECONDS = 5
BY_FAULTS = ("faults-in-process", "hint-faults")
"""Monitors that see when a page is used again, and not how often it is."""
HELD = {
    "share": "used by others about as much",
    "few": "touched too seldom to tell",
    "payback": "not worth the move",
    "rate": "beyond --pages-per-second",
    "frozen": "frozen",
    "forbidden": "not allowed on the better node",
}
REFUSED = {
    "busy": "busy",
    "no_memory": "without memory on their node",
    "absent": "not there any more",
    "forbidden": "not allowed there",
    "other": "for another reason",
}


@dataclass(frozen=True)
class Asked:
    """What was typed; None leaves it to memgraft-place."""

    command: Sequence[str] = ()
    pid: int | None = None
    monitor: str | None = None
    interval: str | None = None
    drain: str | None = None
    duration: str | None = None
    dry_run: bool = False
    record: Path | None = None
    map: bool = False
    watch: bool = False
    """With the live page, as long as it runs."""
    freeze_after: int | None = None
    freeze_for: int | None = None
    least_share: float | None = None
    ignore_move_cost: bool = False
    ignore_neighbours: bool = False
    pages_per_second: int | None = None
    sampling_rate: int | None = None
    sampling_cpu: float | None = None
    sampling_least: int | None = None
    observing_cpu: float | None = None
    bind_threads: bool = False
    numa_balancing: bool = False

    def options(self) -> list[str]:
        """For memgraft-place; WrongUsageError where they cannot be meant so."""
        if (self.pid is None) == (not self.command):
            raise WrongUsageError(
                "nothing to place: expected --pid N or `-- COMMAND...`"
                if self.pid is None
                else f"--pid {self.pid} and a command: expected only one of them"
            )
        if self.duration is not None and self.pid is None:
            raise WrongUsageError(f"--duration {self.duration}: expected it with --pid; a command runs until it ends")
        if self.monitor is not None and self.monitor not in MONITORS and not self.monitor.startswith(REPLAY):
            raise WrongUsageError(f"--monitor {self.monitor}: expected {', '.join(MONITORS)} or {REPLAY}FILE")
        if self.map and self.record is None:
            raise WrongUsageError("--map: expected --record FILE with it, where the map is written")
        interval, drain, duration = (
            seconds(name, text)
            for name, text in (("--interval", self.interval), ("--drain", self.drain), ("--duration", self.duration))
        )
        valued = {
            "--monitor": self.monitor,
            "--interval": interval,
            "--drain": None if drain is None else drain * MILLI,
            "--duration": duration,
            "--record": self.record,
            "--freeze-after": self.freeze_after,
            "--freeze-for": self.freeze_for,
            "--least-share": self.least_share,
            "--pages-per-second": self.pages_per_second,
            "--sampling-rate": self.sampling_rate,
            "--sampling-cpu": self.sampling_cpu,
            "--sampling-least": self.sampling_least,
            "--observing-cpu": self.observing_cpu,
            "--pid": self.pid,
        }
        flags = {
            "--dry-run": self.dry_run,
            "--map": self.map,
            "--ignore-move-cost": self.ignore_move_cost,
            "--ignore-neighbours": self.ignore_neighbours,
            "--bind-threads": self.bind_threads,
            "--numa-balancing": self.numa_balancing,
        }
        return [
            *(word for name, value in valued.items() if value is not None for word in (name, _plain(value))),
            *(name for name, on in flags.items() if on),
        ]


def _plain(value: object) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)


def seconds(option: str, text: str | None) -> float | None:
    """Nothing where nothing was typed."""
    return None if text is None else seconds_in(option, text)


@dataclass(frozen=True)
class Finished:
    """How memgraft-place ended, and what it said of the placement if it came to that."""

    exit_code: int
    placed: Placed | None
    as_written: dict[str, Any] | None
    record: Path | None


def place(asked: Asked, stdout: launch.File = None) -> Finished:
    """Runs memgraft-place, whose input, output and errors are this process's unless `stdout` is given."""
    asked.options()
    program = native.find(native.PLACE)
    if asked.command:
        # Here, so that a command that is not there is told of as everywhere else.
        launch.find_program(asked.command)
    if asked.record is not None and not asked.record.absolute().parent.is_dir():
        raise WrongUsageError(
            f"--record {asked.record}: the folder {asked.record.parent} does not exist; make it first"
        )
    with tempfile.TemporaryDirectory(prefix="memgraft-", ignore_cleanup_errors=True) as scratch:
        summary = Path(scratch) / "summary.json"
        kept = asked.record
        if asked.watch:
            asked = replace(asked, record=kept or Path(scratch) / "record.jsonl", map=True)
        command = [str(program), *asked.options(), "--summary", str(summary)]
        if asked.command:
            command += ["--", *asked.command]
        with _page(asked), launch.forwarding() as signals:
            started = launch.start(command, program, os.environ, stdout=stdout)
            signals.watch([started])
            [ended] = launch.wait(started)
        if ended.exit_code in (WrongUsageError.exit_code, CannotTakeError.exit_code):
            # It has said why.
            return Finished(ended.exit_code, None, None, kept)
        if not summary.exists():
            raise MemgraftError(
                f"memgraft-place ended with {launch.describe_exit(ended.exit_code)} and left no summary; "
                "what it printed says why"
            )
        placed = placement.read(summary)
        return Finished(ended.exit_code, placed, json.loads(summary.read_text(encoding="utf-8")), kept)


@contextlib.contextmanager
def _page(asked: Asked) -> Iterator[None]:
    """The live page of the record, if asked for, until the program has ended."""
    if not asked.watch or asked.record is None:
        yield
        return
    from memgraft.watch import serve

    stopped = threading.Event()
    page = threading.Thread(target=serve, args=(asked.record,), kwargs={"stopped": stopped}, daemon=True)
    page.start()
    try:
        yield
    finally:
        stopped.set()
        page.join(timeout=PAGE_SECONDS)


def show(finished: Finished, screen: Screen) -> None:
    """The summary for people; nothing where there is none."""
    placed = finished.placed
    if placed is None:
        return
    start, summary = placed.start, placed.summary
    nodes = count_of(len(start.nodes), "node")
    dry = ", dry run: nothing was moved" if start.dry_run else ""
    title = f"memgraft place: {start.program} (process {start.pid}), {seconds_of(summary.wall_seconds)}, {nodes}{dry}"
    screen.print(Text(title, style="bold"))
    for name, value in lines(placed):
        _line(screen, name, value)
    if finished.record is not None:
        _line(screen, "record", str(finished.record))
    for title, accesses in (("before", summary.accesses_before), ("after", summary.accesses_after)):
        if placement.non_local(accesses)[1]:
            screen.print()
            _matrix(screen, title, placed, accesses)


def lines(placed: Placed) -> Iterator[tuple[str, str]]:
    """All but the matrices, as (what, how much)."""
    start, summary = placed.start, placed.summary
    yield "monitor", f"{start.monitor.name}: {start.monitor.what}"
    yield "sees", _sees(placed)
    yield "samples", _samples(placed)
    if summary.hindrance:
        yield "hindered", summary.hindrance
    yield "non-local", f"{_share(summary, 'before')}; {_share(summary, 'after')}"
    if start.monitor.name in BY_FAULTS and summary.samples:
        yield "that is", "of touches, at most one of a page at a time; of all accesses the share may be another"
    moved = count_of(summary.moved, "page")
    moved += f" ({bytes_of(summary.moved * start.page_bytes)})" if summary.moved else ""
    moved += f", {summary.moved_back:,} of them back" if summary.moved_back else ""
    moved += (
        f", {summary.moved_by_neighbours:,} for touches of pages around them" if summary.moved_by_neighbours else ""
    )
    yield ("would move" if start.dry_run else "moved"), moved
    yield "frozen", f"{count_of(summary.frozen, 'page')} at the end"
    if held := _by_reason(summary.held, HELD):
        # A page is counted again in each interval in which a rule held it.
        yield "held", held
    yield "refused", _by_reason(summary.refused, REFUSED) or "none"
    if summary.waiting:
        yield "waiting", f"{count_of(summary.waiting, 'page')} for their next touch"
    yield "kernel moved", f"{count_of(summary.kernel_moved, 'page')} by its own balancing, of all programs"
    overhead = f"{seconds_of(summary.cpu_seconds)} of CPU time"
    overhead += "" if summary.overhead is None else f", {percent(summary.overhead)} of one CPU"
    yield "overhead", f"{overhead}; {bytes_of(summary.largest_bytes)} of memory at most"


def _sees(placed: Placed) -> str:
    monitor = placed.start.monitor
    kinds = {
        "the thread": monitor.thread,
        "the CPU": monitor.cpu,
        "loads from stores": monitor.store,
        "the latency": monitor.latency,
    }
    seen = [kind for kind, sees in kinds.items() if sees]
    unseen = [kind for kind, sees in kinds.items() if not sees]
    told = ", ".join(seen) or "only addresses"
    told += f"; not {', '.join(unseen)}" if unseen else ""
    return f"{told}; {'every access' if monitor.every_access else 'a sample of accesses'}"


def _samples(placed: Placed) -> str:
    summary = placed.summary
    each = seconds_of(placed.start.interval_ms / MILLI)
    if not summary.samples:
        return f"none in {count_of(summary.intervals, 'interval')} of {each}"
    told = f"{summary.samples:,} on {count_of(summary.pages, 'page')} in {count_of(summary.intervals, 'interval')}"
    told += f" of {each}; {summary.lost:,} lost"
    return told + (f"; {summary.unknown:,} on pages whose node Linux did not tell" if summary.unknown else "")


def _share(summary: Summary, when: str) -> str:
    """`79.0 % before (4,045 of 5,120)`, or why there is no share."""
    accesses = summary.accesses_before if when == "before" else summary.accesses_after
    remote, everything = placement.non_local(accesses)
    if everything:
        return f"{percent(remote / everything)} {when} ({remote:,} of {count_of(everything, 'sample')})"
    return f"not resolved {when} ({'no page was told where it is' if summary.samples else 'no samples'})"


def _by_reason(counts: dict[str, int], words: dict[str, str]) -> str:
    return ", ".join(f"{count:,} {words.get(reason, reason)}" for reason, count in counts.items() if count)


def _matrix(screen: Screen, title: str, placed: Placed, accesses: Sequence[Sequence[int]]) -> None:
    """Who accesses whose memory: a row for each node's threads, a column for each node's memory."""
    numbers = [f"node {node.node}" for node in placed.start.nodes]
    made = table(f"samples {title}", *numbers, "non-local", right=(*numbers, "non-local"))
    for at, row in enumerate(accesses):
        everything = sum(row)
        share = percent((everything - row[at]) / everything) if everything else "-"
        made.add_row(f"threads on {numbers[at]}", *(f"{count:,}" for count in row), share)
    screen.print(made)


def _line(screen: Screen, name: str, value: str) -> None:
    """`name  value`, with further lines of a long value below its first."""
    if not screen.is_terminal:
        screen.print(Text(f"  {name:<{NAME_WIDTH}}{value}"), soft_wrap=True)
        return
    folded = Text(value).wrap(screen, max(screen.width - NAME_WIDTH - 2, 20))
    for index, line in enumerate(folded):
        screen.print(Text(f"  {name if index == 0 else '':<{NAME_WIDTH}}") + line)
