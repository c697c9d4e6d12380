"""What the launches of a comparison say: ratios with intervals, what the graft did, how noisy the machine was."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memgraft import statistics
from memgraft.errors import WrongUsageError
from memgraft.experiment import epochs
from memgraft.experiment.break_even import BreakEven, break_even
from memgraft.experiment.compare import Comparison, Settings
from memgraft.experiment.design import SWITCHED, Pairing, Side
from memgraft.experiment.epochs import Switched
from memgraft.experiment.launches import Launch
from memgraft.experiment.metrics import AUTO, BOUND, EPOCH, METRICS, Metric, MetricName, named
from memgraft.formats import Jvm
from memgraft.grafts.section import Row
from memgraft.grafts.table import ZEROING, sections
from memgraft.grafts.zeroing_figures import ZeroingFigures, zeroing_figures
from memgraft.jvm import iterations
from memgraft.jvm.summaries import joined_as_json
from memgraft.statistics import MIN_PAIRS, Interval
from memgraft.version import version

SCHEMA = 2
"""2: the other side is called baseline, as it need not be the stock."""


@dataclass(frozen=True)
class Measured:
    """Both sides by one metric; the lists run over the pairs (with epochs: over the batches)."""

    metric: Metric
    baseline: list[float]
    grafted: list[float]
    baseline_interval: Interval
    grafted_interval: Interval
    ratio: Interval

    @classmethod
    def of(cls, metric: Metric, baseline: list[float], grafted: list[float]) -> "Measured":
        return cls(
            metric,
            baseline,
            grafted,
            statistics.median_interval(baseline),
            statistics.median_interval(grafted),
            statistics.median_interval(statistics.paired_ratios(baseline, grafted)),
        )

    @property
    def ratios(self) -> list[float]:
        return statistics.paired_ratios(self.baseline, self.grafted)

    @property
    def verdict(self) -> statistics.Verdict:
        return statistics.verdict(self.ratio)

    def as_json(self) -> dict[str, Any]:
        unit = self.metric.unit
        return {
            "ratio": asdict(self.ratio),
            "verdict": self.verdict,
            "resolvable": self.ratio.resolvable,
            f"baseline_{unit}": asdict(self.baseline_interval),
            f"grafted_{unit}": asdict(self.grafted_interval),
            "pairs": [
                {f"baseline_{unit}": b, f"grafted_{unit}": g, "ratio": g / b}
                for b, g in zip(self.baseline, self.grafted, strict=True)
            ],
        }


@dataclass(frozen=True)
class Noise:
    """How much the machine, and the launches themselves, varied; shares are medians over the counted launches."""

    others_share: Interval
    stolen_share: Interval
    baseline_variation: float
    """Coefficient of variation of the baseline side by the headline metric."""
    grafted_variation: float
    baseline_drift: Interval
    """Change from the first to the last launch (with epochs: batch) of the baseline, relative."""
    still_warming: Interval | None
    """Last over first steady iteration of a launch, median over the launches of the baseline."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class IterationCounts:
    """Iterations per launch, over all counted launches."""

    workloads: list[str]
    fewest: int
    most: int
    warmup_fewest: int
    warmup_most: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Outcome:
    """Everything a report says."""

    settings: Settings
    output: Path
    launches: list[Launch]
    measured: dict[str, Measured]
    headline: Measured
    zeroing: ZeroingFigures | None
    """What the graft did."""
    baseline_zeroing: ZeroingFigures | None
    """The same of the baseline, where that is a graft too."""
    done: dict[str, dict[Side, list[Row]]]
    """What each graft did on each side, in words."""
    switched: Switched | None
    """Only with `--pairing epochs`."""
    break_even: BreakEven | None
    """Only of the bound."""
    noise: Noise
    iterations: IterationCounts | None
    jvms: list[Jvm]
    machine: dict[str, Any]
    started: str
    """ISO 8601, local time with its offset."""

    @property
    def counted(self) -> list[Launch]:
        return [done for done in self.launches if done.counted]

    @property
    def calibration(self) -> bool:
        """Whether both sides are the same, so that any difference is the machine's."""
        return self.settings.calibration

    @property
    def labels(self) -> dict[str, str]:
        return self.settings.labels

    @property
    def program(self) -> str:
        """What was compared, in a word or two: its workloads, its main class or jar, or the command's name."""
        if self.iterations and any(self.iterations.workloads):
            return ", ".join(self.iterations.workloads)
        mains = {jvm.program.split(" ")[0] for done in self.counted for jvm in done.jvms if jvm.program}
        if len(mains) == 1:
            # A main class by its simple name, a jar by its file name.
            main = mains.pop()
            return Path(main).name if main.endswith(".jar") else main.rpartition(".")[2]
        return Path(self.settings.command[0]).name

    def rows(self, side: Side) -> list[Row]:
        """What all grafts did on this side."""
        return [row for of_graft in self.done.values() for row in of_graft[side]]

    def on(self, side: Side) -> list[Launch]:
        """The counted launches that ran this side; a switched one ran both."""
        return [done for done in self.counted if done.side in (side, SWITCHED)]

    def as_json(self, report: Path, warnings: list[str]) -> dict[str, Any]:
        settings = self.settings
        joined = next((done.joined for done in self.launches if done.joined.variable), None)
        sides = ((settings.selection, self.zeroing), (settings.baseline, self.baseline_zeroing))
        graft, baseline = (
            {
                one.graft.name: figures.as_json()
                if figures and one.graft.name == ZEROING
                else {"strategy": one.choice.name}
                for one in selection.chosen
            }
            for selection, figures in sides
        )
        return {
            "schema": SCHEMA,
            "kind": "bound" if settings.bound else "comparison",
            "memgraft": version(),
            "started": self.started,
            "command": list(settings.command),
            "program": self.program,
            "grafts": settings.selection.as_json(),
            "baseline": settings.baseline.as_json(),
            "joined": joined_as_json(joined) if joined else None,
            "profile": settings.kept.as_json() if settings.kept else None,
            "pairing": settings.pairing,
            "launches": {side: sum(done.side == side for done in self.counted) for side in (*Side, SWITCHED)},
            "warmup_launches": settings.warmup_launches,
            "metric": self.headline.metric.name,
            "ratio": asdict(self.headline.ratio),
            "verdict": self.headline.verdict,
            "resolvable": self.headline.ratio.resolvable,
            "metrics": {name: measured.as_json() for name, measured in self.measured.items()},
            "graft": graft,
            "baseline_graft": baseline,
            "epochs": self.switched.as_json() if self.switched else None,
            "break_even": self.break_even.as_json() if self.break_even else None,
            "iterations": self.iterations.as_json() if self.iterations else None,
            "noise": self.noise.as_json(),
            "jvms": [jvm.model_dump() for jvm in self.jvms],
            "machine": self.machine,
            "warnings": warnings,
            "output": str(self.output),
            "report": str(report),
        }


def analyse(comparison: Comparison, machine: dict[str, Any], started: str, jvm: Jvm | None = None) -> Outcome:
    """The outcome of a finished comparison; `jvm` is the command's own, for when no summary names one."""
    settings, counted = comparison.settings, comparison.counted
    switched = epochs.analyse([epochs.series_of(done.jvms) for done in counted]) if _switches(settings) else None
    measured = {EPOCH.name: _of_epochs(switched)} if switched else _measured(settings, counted)
    headline = measured[EPOCH.name] if switched else _headline(settings, measured)
    seen = {str(s.jvm): s.jvm for done in counted for s in done.jvms if s.state != "refused"}
    # What both sides of a switched launch did together is nobody's figure.
    sides = {side: [d.jvms for d in counted if d.side == side] for side in Side}
    return Outcome(
        settings=settings,
        output=comparison.output,
        launches=comparison.launches,
        measured=measured,
        headline=headline,
        zeroing=zeroing_figures(sides[Side.GRAFTED]),
        baseline_zeroing=zeroing_figures(sides[Side.BASELINE]),
        done={
            name: {side: section.rows(of_side) for side, of_side in sides.items()}
            for name, section in sections().items()
        },
        switched=switched,
        break_even=_break_even(settings, headline, counted) if settings.bound else None,
        noise=_noise(counted, headline, settings.warmup_iterations),
        iterations=_iteration_counts(counted, settings.warmup_iterations),
        jvms=list(seen.values()) or ([jvm] if jvm else []),
        machine=machine,
        started=started,
    )


def _switches(settings: Settings) -> bool:
    return settings.pairing is Pairing.EPOCHS


def _of_epochs(switched: epochs.Switched) -> Measured:
    batches = switched.batches
    return Measured.of(EPOCH, [batch.baseline for batch in batches], [batch.grafted for batch in batches])


def _measured(settings: Settings, counted: Sequence[Launch]) -> dict[str, Measured]:
    measured = {}
    # Of the bound only what leaves the zeroing within pauses out.
    for metric in map(named, BOUND) if settings.bound else METRICS:
        baseline, grafted = (_seconds(metric, settings, counted, side) for side in (Side.BASELINE, Side.GRAFTED))
        if baseline is not None and grafted is not None:
            measured[metric.name] = Measured.of(metric, baseline, grafted)
    return measured


def _seconds(metric: Metric, settings: Settings, counted: Sequence[Launch], side: Side) -> list[float] | None:
    """One side's launches by a metric, in the order of the pairs; None unless every launch has it."""
    mine = sorted((done for done in counted if done.side == side), key=lambda done: done.planned.pair or 0)
    seconds = [metric.seconds(done, settings.warmup_iterations) for done in mine]
    known = [s for s in seconds if s is not None]
    return known if len(known) == len(mine) else None


def _headline(settings: Settings, measured: dict[str, Measured]) -> Measured:
    asked = settings.metric
    automatic = BOUND if settings.bound else AUTO
    names = automatic if asked is MetricName.AUTO else (asked,)
    for name in names:
        if name in measured:
            return measured[name]
    raise WrongUsageError(
        f"--metric {asked}: not every launch has a {named(names[-1]).noun} above zero, so there is nothing to compare; "
        "expected a program that runs for at least some hundredths of a second"
    )


def _break_even(settings: Settings, headline: Measured, counted: Sequence[Launch]) -> BreakEven | None:
    grafted = [done for done in counted if done.side == Side.GRAFTED]
    baseline = headline.baseline_interval.median
    return break_even(headline.metric, headline.ratio, baseline, grafted, settings.warmup_iterations)


def _noise(counted: Sequence[Launch], headline: Measured, warmup: int | None) -> Noise:
    return Noise(
        others_share=statistics.median_or_range([done.others_share for done in counted]),
        stolen_share=statistics.median_or_range([done.stolen_share for done in counted]),
        baseline_variation=statistics.variation(headline.baseline),
        grafted_variation=statistics.variation(headline.grafted),
        baseline_drift=statistics.drift(headline.baseline),
        still_warming=_still_warming(counted, headline.metric, warmup),
    )


def _still_warming(counted: Sequence[Launch], metric: Metric, warmup: int | None) -> Interval | None:
    """Whether a baseline launch's steady iterations still change, where there are at least two of them."""
    time = metric.time
    if time is None:
        return None
    ratios = []
    for done in counted:
        steady = iterations.steady(done.iterations, warmup) if done.side == Side.BASELINE else []
        for workload in iterations.workloads(steady):
            times = [time(i) for i in steady if i.workload == workload]
            first, last = times[0], times[-1]
            if len(times) > 1 and first and last:
                ratios.append(last / first)
    return statistics.median_interval(ratios) if len(ratios) >= MIN_PAIRS else None


def _iteration_counts(counted: Sequence[Launch], warmup: int | None) -> IterationCounts | None:
    totals, warmups = [], []
    for done in counted:
        if done.iterations:
            totals.append(len(done.iterations))
            warmups.append(len(done.iterations) - len(iterations.steady(done.iterations, warmup)))
    if not totals:
        return None
    workloads = dict.fromkeys(name for done in counted for name in iterations.workloads(done.iterations))
    return IterationCounts(list(workloads), min(totals), max(totals), min(warmups), max(warmups))
