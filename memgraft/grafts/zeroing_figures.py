"""What the zeroing graft did over many launches: sums over the JVMs of each, then medians over the launches."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from memgraft import statistics
from memgraft.formats import GIGA, Counter, Helper, JvmSummary, Share, Zeroing
from memgraft.statistics import MIN_PAIRS, Interval

WHOLE = (
    *("tlabs", "missed_tlabs", "bytes", "cycles", "windows", "window_waste_bytes", "fresh_bytes", "helper_ready_bytes"),
    *("helper_waits", "helper_steals", "collections"),
)
"""Figures that are whole numbers; an even number of launches may have its median between two."""

Figure = Callable[[Zeroing], float | None]


def _share(zeroing: Zeroing, who: str) -> Share | None:
    return getattr(zeroing.by, who) if zeroing.by else None


def _by(who: str, what: str) -> Figure:
    return lambda z: getattr(share, what) if (share := _share(z, who)) else None


def _helper(what: str) -> Figure:
    def figure(zeroing: Zeroing) -> float | None:
        helper: Helper | None = zeroing.helper
        return float(getattr(helper, what)) if helper else None

    return figure


SUMS: dict[str, Figure] = {
    "tlabs": lambda z: z.tlabs,
    "missed_tlabs": lambda z: z.missed_tlabs,
    "bytes": lambda z: z.bytes,
    "cycles": lambda z: z.cycles,
    "seconds": lambda z: z.seconds,
    "thread_seconds": _by("thread", "seconds"),
    "helper_seconds": _by("helper", "seconds"),
    "pause_seconds": _by("pause", "seconds"),
    "windows": lambda z: z.windows,
    "window_waste_bytes": lambda z: z.window_waste_bytes,
    "fresh_bytes": lambda z: z.fresh_bytes,
    "helper_ready_bytes": _helper("ready_bytes"),
    "helper_waits": _helper("waits"),
    "helper_wait_seconds": _helper("wait_seconds"),
    "helper_steals": _helper("steals"),
    "collections": lambda z: z.collections,
}
"""What is added up over the JVMs of a launch; a figure that some JVM does not give is left out."""


@dataclass(frozen=True)
class ZeroingFigures:
    """What the zeroing graft did, per launch: medians over the launches, each with its interval."""

    strategy: str
    kernel: str
    figures: dict[str, Interval]
    decisions: dict[str, int] = field(default_factory=dict)
    """Adaptive: collections of all launches after which each strategy was chosen."""
    helper_not_started: list[str] = field(default_factory=list)
    """Why, where the helper thread did not start."""
    counters: list[Counter] = field(default_factory=list)
    """Hardware counters: what they are, or why they are absent, by the first launch."""

    def as_json(self) -> dict[str, Any]:
        return {
            "strategy": self.strategy,
            "kernel": self.kernel,
            **{name: round(f.median) if name in WHOLE else f.median for name, f in self.figures.items()},
            "intervals": {name: {"low": f.low, "high": f.high} for name, f in self.figures.items()},
            "decisions": self.decisions,
            "helper_not_started": self.helper_not_started,
            "counters": [
                {"name": c.name, "unit": c.unit, "available": c.available, "reason": c.reason} for c in self.counters
            ],
        }


Jvms = list[tuple[JvmSummary, Zeroing]]
"""The JVMs of one launch that ended, each with what the graft did in it."""


def zeroing_figures(launches: Sequence[Sequence[JvmSummary]], fewest: int = MIN_PAIRS) -> ZeroingFigures | None:
    """Over the launches of one side; None with fewer than `fewest` that the graft joined."""
    per_launch: list[Jvms] = []
    for jvms in launches:
        pairs = [(jvm, jvm.grafts.zeroing) for jvm in jvms if jvm.state == "ended" and jvm.grafts.zeroing is not None]
        if pairs:
            per_launch.append(pairs)
    if len(per_launch) < fewest:
        return None
    found = [zeroing for pairs in per_launch for _, zeroing in pairs]
    reasons = {z.helper.reason: None for z in found if z.helper and not z.helper.started and z.helper.reason}
    return ZeroingFigures(
        strategy=", ".join(sorted({z.strategy for z in found})),
        kernel=", ".join(sorted({z.kernel for z in found})),
        figures={name: statistics.median_or_range(values) for name, values in _values(per_launch).items()},
        decisions=_decisions(found),
        helper_not_started=list(reasons),
        counters=per_launch[0][0][0].counters,
    )


def _values(per_launch: Sequence[Jvms]) -> dict[str, list[float]]:
    values: dict[str, list[float]] = {}
    for name, figure in SUMS.items():
        parts = [[figure(zeroing) for _, zeroing in pairs] for pairs in per_launch]
        known = [[part for part in mine if part is not None] for mine in parts]
        if all(len(some) == len(mine) for some, mine in zip(known, parts, strict=True)):
            values[name] = [sum(mine) for mine in known]
    cpu = [sum(jvm.cpu_seconds for jvm, _ in pairs) for pairs in per_launch]
    wall = [sum(jvm.wall_seconds for jvm, _ in pairs) for pairs in per_launch]
    zeroed, seconds = values["bytes"], values["seconds"]
    if min(seconds) > 0 and min(cpu) > 0 and min(wall) > 0:
        values["gigabytes_per_second"] = [b / s / GIGA for b, s in zip(zeroed, seconds, strict=True)]
        values["direct_cost"] = [s / c for s, c in zip(seconds, cpu, strict=True)]
        values["cpu_utilisation"] = [c / w for c, w in zip(cpu, wall, strict=True)]
    return values | _counted(per_launch)


def _counted(per_launch: Sequence[Jvms]) -> dict[str, list[float]]:
    """Hardware counters that every JVM has."""
    names = [counter.name for counter in per_launch[0][0][0].counters if counter.available]
    counted: dict[str, list[float]] = {}
    for name in names:
        found = [
            [c.value for jvm, _ in pairs for c in jvm.counters if c.name == name and c.available]
            for pairs in per_launch
        ]
        if all(len(mine) == len(pairs) for mine, pairs in zip(found, per_launch, strict=True)):
            counted[f"counter_{name}"] = [float(sum(mine)) for mine in found]
    return counted


def _decisions(found: Sequence[Zeroing]) -> dict[str, int]:
    total: dict[str, int] = {}
    for zeroing in found:
        for strategy, count in (zeroing.decisions or {}).items():
            total[strategy] = total.get(strategy, 0) + count
    return total
