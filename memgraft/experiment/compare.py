"""`memgraft compare`: what the command line asked for, made a plan of launches; outcome.py says what came of them."""

import itertools
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from memgraft.errors import WrongUsageError
from memgraft.experiment import profiles
from memgraft.experiment.design import SWITCHED, Pairing, Side, plan
from memgraft.experiment.epochs import require_epochs, series_of
from memgraft.experiment.launches import Launch, Launches
from memgraft.experiment.metrics import MetricName, named
from memgraft.grafts.selection import Selection
from memgraft.grafts.table import ZEROING
from memgraft.jvm import iterations, launch
from memgraft.machine import halves
from memgraft.statistics import MIN_PAIRS

DEFAULT_PAIRS = 10
DEFAULT_EPOCHS_LAUNCHES = 1
DEFAULT_EPOCHS_BASELINE = "bulk"
"""The stock's own way cannot be switched to, and this one is the nearest that can."""


@dataclass(frozen=True)
class Settings:
    """What the command line asked for."""

    command: Sequence[str]
    selection: Selection
    baseline: Selection
    """What the other side takes; nothing joins it where it is the stock."""
    via: launch.Via
    pairs: int
    """With epochs: launches."""
    warmup_launches: int
    warmup_iterations: int | None
    metric: MetricName
    pairing: Pairing
    output: Path
    bound: bool = False
    """Whether this asks how much any strategy could gain (bound.py)."""
    kept: profiles.Kept | None = None
    """Why the stock takes the graft's side too: adaptive would not join this program."""

    @property
    def stock(self) -> bool:
        """Whether the baseline is the unmodified runtime."""
        return not self.baseline.joins()

    @property
    def calibration(self) -> bool:
        """Whether both sides are the same."""
        return self.selection.joining == self.baseline.joining

    @property
    def labels(self) -> dict[str, str]:
        """What the sides are called: the stock and grafted, or the two strategies where both are grafts."""
        if self.bound:
            return {Side.BASELINE: "stock", Side.GRAFTED: "zeroing free"}
        if self.stock:
            return {Side.BASELINE: "stock", Side.GRAFTED: "grafted"}
        if self.calibration:
            return {Side.BASELINE: self.baseline.label, Side.GRAFTED: f"{self.selection.label} again"}
        return {Side.BASELINE: self.baseline.label, Side.GRAFTED: self.selection.label}

    def name(self, side: str) -> str:
        """What a launch of this side is called in a sentence."""
        return self.labels.get(side, side)


@dataclass(frozen=True)
class Asked:
    """What was typed; None where nothing was, and the design decides."""

    against: str | None
    launches: int | None
    warmup_launches: int | None
    warmup_iterations: int | None
    metric: MetricName
    pairing: Pairing


def settle(
    command: Sequence[str], selection: Selection, via: launch.Via, asked: Asked, output: Path, *, bound: bool = False
) -> Settings:
    """The settings with every default, or WrongUsageError for what does not go together."""
    epochs = asked.pairing is Pairing.EPOCHS
    named_baseline = asked.against or (DEFAULT_EPOCHS_BASELINE if epochs else None)
    default, fewest = (DEFAULT_EPOCHS_LAUNCHES, 1) if epochs else (DEFAULT_PAIRS, MIN_PAIRS)
    launches = default if asked.launches is None else asked.launches
    if launches < fewest:
        why = "" if epochs else ", the smallest number of pairs whose exact 95 % interval of the median is finite"
        raise WrongUsageError(f"--launches {launches}: expected at least {fewest}{why}")
    if epochs and asked.metric is not MetricName.AUTO:
        raise WrongUsageError(
            f"--metric {asked.metric} with --pairing epochs: epochs are measured by the CPU time of the program's "
            "threads per byte allocated and by nothing else; leave --metric out"
        )
    if epochs and asked.warmup_iterations is not None:
        raise WrongUsageError(
            f"--warmup-iterations {asked.warmup_iterations} with --pairing epochs: the first half of each JVM's epochs "
            "is warm-up, whatever iterations it reports; leave it out"
        )
    return Settings(
        command=command,
        selection=selection,
        baseline=selection.other_side(named_baseline) if named_baseline else selection.stock,
        via=via,
        pairs=launches,
        warmup_launches=(0 if epochs else 1) if asked.warmup_launches is None else asked.warmup_launches,
        warmup_iterations=asked.warmup_iterations,
        metric=asked.metric,
        pairing=asked.pairing,
        output=output,
        bound=bound,
    )


def heed_profile(settings: Settings) -> Settings:
    """What `run` would do: where a strategy that decides for itself would not join, the stock is on both sides."""
    if not settings.stock or not settings.selection.decides:
        return settings
    kept = profiles.kept(settings.command, launch.find_program(settings.command), os.environ, unmeasured=True)
    return replace(settings, selection=settings.selection.stock, kept=kept) if kept else settings


def default_output(now: datetime, what: str = "compare") -> Path:
    """One that is not there yet: two commands may begin in one second."""
    first = Path("memgraft-out") / f"{what}-{now:%Y%m%d-%H%M%S}"
    others = (first.with_name(f"{first.name}-{number}") for number in itertools.count(2))
    return next(folder for folder in itertools.chain([first], others) if not folder.exists())


def keep(comparison: "Comparison", result: Mapping[str, Any]) -> None:
    """Puts what a comparison with the stock found into the program's profile."""
    settings = comparison.settings
    alone = list(settings.selection.as_json()) == [ZEROING]
    if alone and settings.stock and not settings.calibration and settings.pairing is not Pairing.EPOCHS:
        profiles.record(settings.command, comparison.program, os.environ, result)


def selections(settings: Settings) -> dict[str, Selection]:
    """What each kind of launch takes."""
    if settings.pairing is not Pairing.EPOCHS:
        return {Side.BASELINE: settings.baseline, Side.GRAFTED: settings.selection}
    return {SWITCHED: replace(settings.selection, against=settings.baseline.label)}


def check_epochs(settings: Settings) -> None:
    """Refuses sides that cannot be switched while a JVM runs."""
    for option, selection in (("", settings.selection), ("--against ", settings.baseline)):
        for one in selection.chosen:
            choice, typed = one.choice, option or f"{one.graft.option} "
            if not choice.switches:
                raise WrongUsageError(
                    f"--pairing epochs cannot switch to {typed}{choice.name}: compiled code is made with or without "
                    "its own zeroing when the JVM starts, so only whole launches can be compared with it; use "
                    "--pairing alternate or concurrent, or another strategy"
                )
            if choice.decides:
                raise WrongUsageError(
                    f"--pairing epochs cannot switch to {typed}{choice.name}: it chooses for itself after each "
                    "collection; use --pairing alternate or concurrent, or another strategy"
                )
    if settings.calibration:
        raise WrongUsageError(
            f"--pairing epochs: both sides are {settings.baseline.label}; expected two strategies to switch "
            "between: name the other one with --against"
        )


class Comparison(Launches):
    """The launches of one comparison."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        if settings.pairing is Pairing.EPOCHS:
            check_epochs(settings)
        cpus = halves(sorted(os.sched_getaffinity(0))) if settings.pairing is Pairing.CONCURRENT else None
        groups = plan(settings.pairs, settings.warmup_launches, settings.pairing, cpus)
        super().__init__(settings.command, settings.via, selections(settings), groups, settings.output)

    def check_metric(self, done: Launch) -> None:
        """Whether this launch has what was asked to be measured: found out at the first one."""
        warmup, metric = self.settings.warmup_iterations, self.settings.metric
        if self.settings.pairing is Pairing.EPOCHS:
            if done.counted:
                require_epochs(series_of(done.jvms), self.settings.pairs)
            return
        for workload in iterations.workloads(done.iterations):
            count = sum(i.workload == workload for i in done.iterations)
            if warmup is not None and warmup >= count:
                raise WrongUsageError(
                    f"--warmup-iterations {warmup} leaves no steady iteration: {done.planned.name} reported "
                    f"{count} of workload '{workload}'; expected at most {count - 1}, or more iterations"
                )
        if metric is MetricName.AUTO:
            return
        if named(metric).seconds(done, warmup) is None:
            raise WrongUsageError(
                f"--metric {metric}: {done.planned.name} did not report that time; expected at least two iterations "
                "with it on standard output (docs/formats.md, section 4), or use --metric cpu"
            )
