"""What the launches of a comparison say: ratios with intervals, what the graft did, how noisy the machine was."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from memgraft import __version__, iterations, statistics
from memgraft.compare import Comparison, Launch, Settings
from memgraft.design import MIN_PAIRS, Side
from memgraft.errors import WrongUsageError
from memgraft.formats import GIGA, Jvm, Zeroing
from memgraft.grafts import joining
from memgraft.metrics import AUTO, METRICS, Metric, MetricName, named
from memgraft.run import joined_as_json
from memgraft.statistics import Interval

SCHEMA = 1
COUNTS = ("tlabs", "missed_tlabs", "bytes", "cycles")
"""Figures that are whole numbers; an even number of launches may have its median between two."""


@dataclass(frozen=True)
class Measured:
    """Both sides by one metric; the lists run over the pairs."""

    metric: Metric
    stock: list[float]
    grafted: list[float]
    stock_seconds: Interval
    grafted_seconds: Interval
    ratio: Interval

    @classmethod
    def of(cls, metric: Metric, stock: list[float], grafted: list[float]) -> "Measured":
        return cls(
            metric,
            stock,
            grafted,
            statistics.median_interval(stock),
            statistics.median_interval(grafted),
            statistics.median_interval(statistics.paired_ratios(stock, grafted)),
        )

    @property
    def ratios(self) -> list[float]:
        return statistics.paired_ratios(self.stock, self.grafted)

    @property
    def verdict(self) -> statistics.Verdict:
        return statistics.verdict(self.ratio)

    def as_json(self) -> dict[str, Any]:
        return {
            "ratio": asdict(self.ratio),
            "verdict": self.verdict,
            "resolvable": self.ratio.resolvable,
            "stock_seconds": asdict(self.stock_seconds),
            "grafted_seconds": asdict(self.grafted_seconds),
            "pairs": [
                {"stock_seconds": s, "grafted_seconds": g, "ratio": g / s}
                for s, g in zip(self.stock, self.grafted, strict=True)
            ],
        }


@dataclass(frozen=True)
class ZeroingFigures:
    """What the zeroing graft did, per launch: medians over the launches, each with its interval."""

    strategy: str
    kernel: str
    figures: dict[str, Interval]

    def as_json(self) -> dict[str, Any]:
        return {
            "strategy": self.strategy,
            "kernel": self.kernel,
            **{name: round(f.median) if name in COUNTS else f.median for name, f in self.figures.items()},
            "intervals": {name: {"low": f.low, "high": f.high} for name, f in self.figures.items()},
        }


@dataclass(frozen=True)
class Noise:
    """How much the machine, and the launches themselves, varied; shares are medians over the counted launches."""

    others_share: Interval
    stolen_share: Interval
    stock_variation: float
    """Coefficient of variation of the stock side by the headline metric."""
    grafted_variation: float
    stock_drift: Interval
    """Change from the first to the last stock launch, relative."""
    still_warming: Interval | None
    """Last over first steady iteration of a launch, median over the stock launches."""

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
    measured: dict[MetricName, Measured]
    headline: Measured
    zeroing: ZeroingFigures | None
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
        """Whether both sides are the stock: the agent was not loaded."""
        return not joining(self.settings.selection)

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

    def on(self, side: Side) -> list[Launch]:
        return [done for done in self.counted if done.side is side]

    def as_json(self, report: Path, warnings: list[str]) -> dict[str, Any]:
        settings = self.settings
        joined = next((done.joined for done in self.launches if done.joined.variable), None)
        graft: dict[str, Any] = {name: {"strategy": choice} for name, choice in settings.selection.items()}
        if self.zeroing:
            graft["zeroing"] = self.zeroing.as_json()
        return {
            "schema": SCHEMA,
            "kind": "comparison",
            "memgraft": __version__,
            "started": self.started,
            "command": list(settings.command),
            "program": self.program,
            "grafts": dict(settings.selection),
            "joined": joined_as_json(joined) if joined else None,
            "pairing": settings.pairing,
            "launches": {
                "stock": len(self.on(Side.STOCK)),
                "grafted": len(self.on(Side.GRAFTED)),
            },
            "warmup_launches": settings.warmup_launches,
            "metric": self.headline.metric.name,
            "ratio": asdict(self.headline.ratio),
            "verdict": self.headline.verdict,
            "resolvable": self.headline.ratio.resolvable,
            "metrics": {name: measured.as_json() for name, measured in self.measured.items()},
            "graft": graft,
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
    measured = {}
    for metric in METRICS:
        stock, grafted = (_seconds(metric, settings, counted, side) for side in (Side.STOCK, Side.GRAFTED))
        if stock is not None and grafted is not None:
            measured[metric.name] = Measured.of(metric, stock, grafted)
    headline = _headline(settings.metric, measured)
    seen = {str(s.jvm): s.jvm for done in counted for s in done.jvms if s.state != "refused"}
    return Outcome(
        settings=settings,
        output=comparison.output,
        launches=comparison.launches,
        measured=measured,
        headline=headline,
        zeroing=_zeroing([done for done in counted if done.side is Side.GRAFTED]),
        noise=_noise(counted, headline, settings.warmup_iterations),
        iterations=_iteration_counts(counted, settings.warmup_iterations),
        jvms=list(seen.values()) or ([jvm] if jvm else []),
        machine=machine,
        started=started,
    )


def _seconds(metric: Metric, settings: Settings, counted: Sequence[Launch], side: Side) -> list[float] | None:
    """One side's launches by a metric, in the order of the pairs; None unless every launch has it."""
    mine = sorted((done for done in counted if done.side is side), key=lambda done: done.planned.pair or 0)
    seconds = [metric.seconds(done.ended, done.iterations, settings.warmup_iterations) for done in mine]
    known = [s for s in seconds if s is not None]
    return known if len(known) == len(mine) else None


def _headline(asked: MetricName, measured: dict[MetricName, Measured]) -> Measured:
    names = AUTO if asked is MetricName.AUTO else (asked,)
    for name in names:
        if name in measured:
            return measured[name]
    raise WrongUsageError(
        f"--metric {asked}: not every launch has a {named(names[-1]).noun} above zero, so there is nothing to compare; "
        "expected a program that runs for at least some hundredths of a second"
    )


def _zeroing(grafted: Sequence[Launch]) -> ZeroingFigures | None:
    """Sums over the JVMs of each launch, then medians over the launches."""
    per_launch = []
    for done in grafted:
        ended = [jvm for jvm in done.jvms if jvm.state == "ended"]
        pairs = [(jvm, jvm.grafts.zeroing) for jvm in ended if jvm.grafts.zeroing is not None]
        if pairs:
            per_launch.append(pairs)
    if len(per_launch) < MIN_PAIRS:
        return None

    def over(figure: Callable[[Zeroing], float]) -> list[float]:
        return [sum(figure(zeroing) for _, zeroing in pairs) for pairs in per_launch]

    tlabs, missed = over(lambda z: z.tlabs), over(lambda z: z.missed_tlabs)
    zeroed, cycles, seconds = over(lambda z: z.bytes), over(lambda z: z.cycles), over(lambda z: z.seconds)
    cpu = [sum(jvm.cpu_seconds for jvm, _ in pairs) for pairs in per_launch]
    wall = [sum(jvm.wall_seconds for jvm, _ in pairs) for pairs in per_launch]
    figures = {"tlabs": tlabs, "missed_tlabs": missed, "bytes": zeroed, "cycles": cycles, "seconds": seconds}
    if min(seconds) > 0 and min(cpu) > 0 and min(wall) > 0:
        figures["gigabytes_per_second"] = [b / s / GIGA for b, s in zip(zeroed, seconds, strict=True)]
        figures["direct_cost"] = [s / c for s, c in zip(seconds, cpu, strict=True)]
        figures["cpu_utilisation"] = [c / w for c, w in zip(cpu, wall, strict=True)]
    all_zeroing = [zeroing for pairs in per_launch for _, zeroing in pairs]
    return ZeroingFigures(
        strategy=", ".join(sorted({z.strategy for z in all_zeroing})),
        kernel=", ".join(sorted({z.kernel for z in all_zeroing})),
        figures={name: statistics.median_interval(values) for name, values in figures.items()},
    )


def _noise(counted: Sequence[Launch], headline: Measured, warmup: int | None) -> Noise:
    return Noise(
        others_share=statistics.median_interval([done.others_share for done in counted]),
        stolen_share=statistics.median_interval([done.stolen_share for done in counted]),
        stock_variation=statistics.variation(headline.stock),
        grafted_variation=statistics.variation(headline.grafted),
        stock_drift=statistics.drift(headline.stock),
        still_warming=_still_warming(counted, headline.metric, warmup),
    )


def _still_warming(counted: Sequence[Launch], metric: Metric, warmup: int | None) -> Interval | None:
    """Whether a stock launch's steady iterations still change, where there are at least two of them."""
    time = metric.time
    if time is None:
        return None
    ratios = []
    for done in counted:
        steady = iterations.steady(done.iterations, warmup) if done.side is Side.STOCK else []
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
