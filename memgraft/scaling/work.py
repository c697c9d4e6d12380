"""From costs to a table: every TLAB size, every choice of buffers, every number of cores."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from memgraft.errors import WrongUsageError
from memgraft.formats import GIGA
from memgraft.grafts import buffers
from memgraft.scaling import costs as measured
from memgraft.scaling.costs import Costs
from memgraft.scaling.model import Found, Stage, response, solve
from memgraft.statistics import Interval
from memgraft.version import version
from memgraft.words import count_of, percent, three_digits

SCHEMA = 1
CORES = (2, 4, 8, 16, 32, 64, 128, 256)
TLABS = ("2k", "8k", "32k", "128k")
NONE = "none"
LEVELS = (NONE, "core=1m", "processor=16m", "core=1m,processor=16m")
SIMULATED_TLABS, QUICK_SIMULATED_TLABS = 20_000, 4_000
SATURATED = 0.9
"""From this share of its time in use on, the heap's pointer is called saturated: the queue grows with every core."""
MOST_CORES = 4096


@dataclass(frozen=True)
class Asked:
    """What was typed, read."""

    tlabs: list[int]
    levels: list[str]
    rate: float
    """GB/s that a core allocates while it does not wait: assumed."""
    cores_per_processor: int
    """Assumed."""
    quick: bool
    costs: Path | None

    def think(self, tlab: int) -> float:
        """Nanoseconds until one core has used up a TLAB."""
        return tlab / self.rate


@dataclass(frozen=True)
class Point:
    """One number of cores, modelled and simulated."""

    tlab: int
    levels: str
    cores: int
    model: Found
    low: Found
    """At the lowest costs, and with the heap's pointer staying with a core as long as contention here lets it."""
    high: Found
    simulated: Found

    def gigabytes_per_second(self, found: Found) -> float:
        """All cores together."""
        return self.cores * self.tlab / (found.think + found.lost)

    def as_json(self) -> dict[str, Any]:
        return {
            "tlab_bytes": self.tlab,
            "levels": self.levels,
            "cores": self.cores,
            "think_nanoseconds": self.model.think,
            "lost_nanoseconds": {"model": self.model.lost, "low": self.low.lost, "high": self.high.lost},
            "lost_share": {"model": self.model.share, "low": self.low.share, "high": self.high.share},
            "pointer_busy": self.model.busy,
            "gigabytes_per_second": self.gigabytes_per_second(self.model),
            "simulated": {
                "lost_nanoseconds": self.simulated.lost,
                "lost_share": self.simulated.share,
                "pointer_busy": self.simulated.busy,
                "gigabytes_per_second": self.gigabytes_per_second(self.simulated),
            },
        }


@dataclass(frozen=True)
class Scaling:
    """Everything that was found."""

    asked: Asked
    costs: Costs
    points: list[Point]

    def at(self, tlab: int, levels: str) -> list[Point]:
        return [point for point in self.points if (point.tlab, point.levels) == (tlab, levels)]

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "kind": "buffers-scale",
            "memgraft": version(),
            "costs": self.costs.as_json(),
            "assumed": {
                "gigabytes_per_second_per_core": self.asked.rate,
                "cores_per_processor": self.asked.cores_per_processor,
            },
            "modelled": [point.as_json() for point in self.points],
            "sentences": sentences(self),
        }


def ask(
    tlabs: str | None, levels: Sequence[str], rate: float, cores_per_processor: int, quick: bool, costs: Path | None
) -> Asked:
    """What was typed, or WrongUsageError."""
    sizes = [_tlab(text) for text in tlabs.split(",")] if tlabs else [_tlab(text) for text in TLABS]
    chosen = list(dict.fromkeys(_levels(text, max(sizes)) for text in levels or LEVELS))
    return Asked(list(dict.fromkeys(sizes)), chosen, rate, cores_per_processor, quick, costs)


def _tlab(text: str) -> int:
    size = buffers.parse(f"{buffers.THREAD}={text}").thread
    if size is None:
        raise WrongUsageError(f"--tlabs {text}: expected sizes such as 2k,64k; a growing TLAB has none")
    return size


def _levels(text: str, largest: int) -> str:
    if text == NONE:
        return text
    plain = buffers.parse(f"{buffers.THREAD}={largest},{text}").levels
    for kind, _ in plain:
        if kind not in ("core", "processor"):
            raise WrongUsageError(f"--levels {text}: expected {NONE}, or sizes of core and processor: not {kind}")
    return ",".join(f"{kind}={buffers.shown(size)}" for kind, size in plain)


def scale(asked: Asked, say: Callable[[str], None]) -> Scaling:
    """Measures, unless a file was named; then models and simulates."""
    if asked.costs is None:
        say("measuring what a swap, a request and a refill cost")
    costs = measured.read(asked.costs) if asked.costs else measured.measure(quick=asked.quick)
    return Scaling(asked, costs, list(_points(asked, costs, say)))


def _points(asked: Asked, costs: Costs, say: Callable[[str], None]) -> Iterator[Point]:
    # Only here: it takes a while to import.
    from memgraft.scaling.simulation import simulate

    tlabs = QUICK_SIMULATED_TLABS if asked.quick else SIMULATED_TLABS
    for tlab in asked.tlabs:
        for levels in asked.levels:
            for cores in CORES:
                say(f"simulating {cores} cores, TLABs of {buffers.shown(tlab)}, buffers {levels}")
                found = [
                    stages(tlab, levels, cores, asked.cores_per_processor, costs, pick)
                    for pick in (_median, _low, _high)
                ]
                model, low, high = (solve(asked.think(tlab), cores, one) for one in found)
                yield Point(tlab, levels, cores, model, low, high, simulate(model.think, cores, found[0], tlabs))


Pick = Callable[[Interval], float]


def _median(cost: Interval) -> float:
    return cost.median


def _low(cost: Interval) -> float:
    return cost.low


def _high(cost: Interval) -> float:
    return cost.high


def stages(tlab: int, levels: str, cores: int, per_processor: int, costs: Costs, pick: Pick) -> list[Stage]:
    """The words that a request meets, from the nearest buffer to the heap."""
    parsed = () if levels == NONE else buffers.parse(levels).levels
    of = costs.nanoseconds
    how = "restartable" if costs.restartable else "atomic"
    here = pick(of["swap/alone"])
    near = pick(of["swap/handover-core"])
    # Between processors, where that was measured; else as if all cores were of one.
    far = pick(of.get("swap/handover-processor", of["swap/handover-core"])) if cores > per_processor else near
    if pick is _low and (contended := costs.contended("swap/contended")):
        # Who has the line swaps more than once before it goes.
        near, far = (min(one, contended[1].low) for one in (near, far))
    made = []
    sizes = [tlab, *(size for _, size in parsed)]
    for at, (kind, _) in enumerate(parsed):
        alone = kind == "core"
        take = pick(of[f"take/{how if alone else 'atomic'}"])
        # Looking for the buffer, counting: what is more than the swap keeps nobody away.
        work = 0.0 if alone else max(0.0, take - here)
        made.append(
            Stage(
                kind,
                1 if alone else per_processor,
                take if alone else service(near, here, min(cores, per_processor)),
                work + _refill(of, how if alone else "atomic", pick) * sizes[at] / sizes[at + 1],
                1 if at == 0 else sizes[at] // sizes[at - 1],
            )
        )
    return [*made, Stage("heap", cores, service(far, here, cores), 0.0, sizes[-1] // sizes[-2] if parsed else 1)]


def service(handover: float, here: float, sharers: int) -> float:
    """Of a word that so many share: who changes it was the last to do so, and has the line, once in so many times."""
    return handover + (here - handover) / sharers


def _refill(of: dict[str, Interval], how: str, pick: Pick) -> float:
    """What a request that refills takes longer, the heap apart."""
    return max(0.0, pick(of[f"refill/{how}"]) - pick(of[f"take/{how}"]))


def sentences(scaling: Scaling) -> list[str]:
    """In words: from how many cores on the heap's pointer is saturated, and how far to trust that."""
    made = []
    for tlab in scaling.asked.tlabs:
        parts = []
        for levels in scaling.asked.levels:
            mine = scaling.at(tlab, levels)
            first = next((point for point in mine if point.model.busy >= SATURATED), None)
            name = "without buffers:" if levels == NONE else f"with {levels}:"
            # Between two numbers of cores that were looked at.
            before = max((one.cores for one, two in pairwise(mine) if two is first), default=None)
            where = (
                f"not up to {mine[-1].cores} cores ({percent(mine[-1].model.busy)} there)"
                if first is None
                else f"from {first.cores} cores on"
                if before is None
                else f"between {before} and {first.cores} cores"
            )
            parts.append(f"{name} {where}")
        busy = f"the heap's pointer is in use for {percent(SATURATED)} of the time or more"
        made.append(f"TLABs of {buffers.shown(tlab)}: {busy} {'; '.join(parts)}.")
    worst = max(abs(_throughput(point.simulated) / _throughput(point.model) - 1) for point in scaling.points)
    made.append(
        f"Simulation, with service times that are fixed, and formula, for which they are exponential, differ by "
        f"{percent(worst)} of the throughput at most."
    )
    if contended := scaling.costs.contended("swap/contended"):
        threads, cost = contended
        handover = scaling.costs.nanoseconds["swap/handover-core"]
        made.append(
            f"Measured: {count_of(threads, 'thread')} that do nothing but swap one word take "
            f"{three_digits(cost.median)} ns per swap, and {three_digits(handover.median)} ns where the line changes "
            "its core each time, by which the model counts; the low ends count by the former."
        )
    if held := held_to(scaling.costs):
        threads, think, lost, modelled = held
        made.append(
            f"Held to a measurement: {count_of(threads, 'thread')} that each work for {three_digits(think)} ns between "
            f"two swaps lose {three_digits(lost)} ns with each; the formula says {three_digits(modelled)} ns."
        )
    return made


def held_to(costs: Costs) -> tuple[int, float, float, float] | None:
    """On the CPUs that there are: threads, the work between swaps, what a swap took measured and modelled."""
    alone, swapping = costs.get("think/alone"), costs.contended("think/swapping")
    if alone is None or swapping is None:
        return None
    threads, together = swapping
    of = costs.nanoseconds
    handover = of.get("swap/handover-processor", of["swap/handover-core"])
    modelled = response(threads, service(handover.median, of["swap/alone"].median, threads), alone.median)
    return threads, alone.median, together.median * threads - alone.median, modelled


def _throughput(found: Found) -> float:
    return GIGA / (found.think + found.lost)
