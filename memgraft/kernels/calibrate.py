"""`memgraft zero calibrate`: measure every kernel here, choose, keep the choice as this CPU's table, and verify it.

What was measured is at hand as plain rows in zero_results.py (`relative_times`, `throughputs`).
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.text import Text

from memgraft import machine
from memgraft.errors import CannotTakeError, WrongUsageError, writing_to
from memgraft.kernels import zero, zero_verdict
from memgraft.kernels.best_kernels import Decision, changes, choose, rows
from memgraft.kernels.zero import Measurement
from memgraft.kernels.zero_results import MEMSET, Context
from memgraft.kernels.zero_verdict import Verdict
from memgraft.machine import kernel_table
from memgraft.machine.kernel_table import Row, table_for_this_cpu
from memgraft.screen import Screen
from memgraft.version import version
from memgraft.words import bytes_of, count_of

__all__ = ["Calibration", "calibrate", "show", "table_for_this_cpu"]

SCHEMA = 1
PLOTS = "zeroing.html"
"""The page where --plots names a folder."""


@dataclass(frozen=True)
class Calibration:
    """What was measured, chosen and verified."""

    cpu: str
    path: Path
    started: datetime
    measured: Measurement
    decisions: list[Decision]
    """After the verification."""
    verified: Measurement
    verdict: Verdict
    """Of what was chosen first."""
    put_back: list[Context]
    """Where the verification showed the choice to be slower than memset, which stands there now."""
    machine: dict[str, Any]

    @property
    def rows(self) -> list[Row]:
        return rows(self.decisions)

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "kind": "zero-calibration",
            "memgraft": version(),
            "machine": self.machine,
            "started": self.started.isoformat(timespec="seconds"),
            "cpu": self.cpu,
            "table": str(self.path),
            "rows": [asdict(row) for row in self.rows],
            "decisions": [
                {
                    **asdict(decision.context),
                    "kernel": decision.kernel,
                    "ratio_to_memset": decision.ratio_to_memset and asdict(decision.ratio_to_memset),
                    "reason": decision.reason,
                }
                for decision in self.decisions
            ],
            "measured": _measurement_json(self.measured),
            "verified": _measurement_json(self.verified),
            "verdict": self.verdict.as_json(),
            "put_back_to_memset": [asdict(context) for context in self.put_back],
            "sentences": zero_verdict.sentences(self.verdict),
            "notes": self.measured.notes,
        }


def _measurement_json(measurement: Measurement) -> dict[str, Any]:
    return {
        "repetitions": measurement.repetitions,
        "streamed_bytes": measurement.context.get("streamed_bytes"),
        "late_bytes": measurement.context.get("late_bytes"),
        "results": measurement.rows(),
    }


def page_for(output: Path | None, plots: Path | None) -> Path | None:
    """The page that --plots asks for, after what is wrong with it or with --output was refused."""
    for option, path in (("--output", output), ("--plots", plots)):
        if path is not None and not path.parent.is_dir():
            raise WrongUsageError(f"{option} {path}: the folder {path.parent} does not exist; make it first")
    page = plots / PLOTS if plots is not None and plots.is_dir() else plots
    if page is not None and page.suffix != ".html":
        raise WrongUsageError(f"--plots {plots}: expected a folder that exists, or a file whose name ends with .html")
    return page


def calibrate(
    *, quick: bool, output: Path | None, largest: int | None, say: Callable[[str], None] = lambda _: None
) -> Calibration:
    """Measures, chooses, measures again by that choice, and then puts the table in its place.

    `say` is told what goes on. Until the end an older table stays in force.
    """
    cpu = machine.cpu_name()
    if not cpu:
        raise CannotTakeError(
            "/proc/cpuinfo does not say what this CPU is, and a table holds for one model: mount /proc, or use the "
            "library without a table"
        )
    path = output or kernel_table.default_path(cpu)
    started = datetime.now().astimezone()
    say("measuring every kernel")
    measured = zero.measure(quick=quick, largest=largest)
    decisions = choose(measured.results)
    remark = f"Memgraft {version()}, {started.date().isoformat()}, {count_of(measured.repetitions, 'repetition')}"

    say("verifying the choice")
    with writing_to(path.parent):
        unverified = path.with_name(f".{path.name}.unverified")
        try:
            kernel_table.write(unverified, cpu, rows(decisions), remark)
            verified = zero.measure(quick=quick, largest=largest, table=unverified)
        finally:
            unverified.unlink(missing_ok=True)
        verdict = zero_verdict.judge(verified.results)
        lost = [case.context for case in verdict.never_below_memset.cases if case.verdict == "fails"]
        decisions = put_back(decisions, lost)
        kernel_table.write(path, cpu, rows(decisions), remark)
    return Calibration(cpu, path, started, measured, decisions, verified, verdict, lost, machine=machine.describe())


def put_back(decisions: Sequence[Decision], lost: Sequence[Context]) -> list[Decision]:
    """The decisions with memset where the verification showed the choice to be slower than it."""
    return [
        replace(
            decision,
            kernel=MEMSET,
            ratio_to_memset=None,
            reason=f"{decision.kernel} was slower than {MEMSET} when the choice was verified",
        )
        if decision.context in lost
        else decision
        for decision in decisions
    ]


def show(calibration: Calibration, page: Path | None, screen: Screen) -> None:
    """What was chosen and why, whether it held, and where table and pictures are kept."""
    series: tuple[str, int] | None = None
    for row, decision in zip(calibration.rows, changes(calibration.decisions), strict=True):
        if series != (row.mode, row.threads):
            series = (row.mode, row.threads)
            screen.print(Text(f"{row.mode}, {count_of(row.threads, 'thread')}", style="bold"))
        screen.print(f"  from {bytes_of(row.from_bytes):>8}  {_explained(decision)}")
    screen.print()
    measured = calibration.measured
    screen.print(
        f"Chosen by {count_of(measured.repetitions, 'repetition')}: a kernel is taken where the 99 % interval of its "
        f"ratio to {MEMSET}, and to what smaller blocks have, lies above 1."
    )
    screen.print("Measured once more, the choice among the kernels:")
    for sentence in zero_verdict.sentences(calibration.verdict):
        screen.print(f"  {sentence}")
    for context in calibration.put_back:
        screen.print(
            f"  put back to {MEMSET}, because it was slower: {context.mode}, {bytes_of(context.bytes)}, "
            f"{count_of(context.threads, 'thread')}"
        )
    for note in measured.notes:
        screen.print(note)
    if page is not None:
        screen.print(f"The pictures: {page}")
    screen.print(f"The table for this CPU ({calibration.cpu}): {calibration.path}")


def _explained(decision: Decision) -> str:
    ratio = decision.ratio_to_memset
    times = f", {ratio.median:.2f} [{ratio.low:.2f}, {ratio.high:.2f}] times {MEMSET}" if ratio else ""
    return f"{decision.kernel}{times}: {decision.reason}"
