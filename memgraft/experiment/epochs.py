"""The statistics of strategies that are switched inside one JVM, at its collections. Pure: records in, numbers out.

An epoch is the time from the end of one collection to the start of the next. Its cost is the CPU time of the program's
threads (and of the helper thread) per byte allocated. Neighbouring epochs see the same compiled code, the same
minute and nearly the same work, so what moves whole launches by 20 % moves both sides alike.

Four neighbours A B B A (or B A A B) give one ratio in which a steady drift cancels. Ratios of neighbours are not
independent: a program has phases. So they are not fed to the median's interval one by one, but in batches of
neighbours that are longer than what ties them: at most 30 of them, as more add next to nothing even to independent
values (B. Schmeiser, "Batch Size Effects in the Analysis of Simulation Output", Operations Research 30(3), 1982). From
six launches on each launch is one batch, so that the interval also holds what differs from launch to launch.
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from memgraft import statistics
from memgraft.errors import WrongUsageError
from memgraft.experiment.design import Side
from memgraft.formats import GIGA, Epoch, JvmSummary
from memgraft.statistics import MIN_PAIRS

QUADRUPLE = 4
MAX_BATCHES = 30
SHORT = 0.1
"""An epoch that allocated less than this part of the usual is left out: a full collection right after a young one."""

Quadruple = tuple[Epoch, Epoch, Epoch, Epoch]


@dataclass(frozen=True)
class Ratio:
    """What one quadruple, or the middle of a batch of them, cost."""

    baseline: float
    """CPU seconds per GB allocated."""
    grafted: float
    launch: int

    @property
    def ratio(self) -> float:
        return self.grafted / self.baseline


@dataclass(frozen=True)
class Switched:
    """What the epochs of all launches say."""

    series: list[list[Epoch]]
    """One per JVM, warm-up included."""
    ratios: list[Ratio]
    batches: list[Ratio]
    autocorrelation: float | None
    """Of neighbouring batches; well above 0 the interval is too narrow. None for batches that are launches."""

    @property
    def counted(self) -> int:
        return sum(len(steady(one)) for one in self.series)

    def as_json(self) -> dict[str, Any]:
        return {
            "seen": sum(len(one) for one in self.series),
            "counted": self.counted,
            "quadruples": len(self.ratios),
            "batches": len(self.batches),
            "autocorrelation": self.autocorrelation,
            "quadruple_ratios": [asdict(one) | {"ratio": one.ratio} for one in self.ratios],
        }


def series_of(jvms: Sequence[JvmSummary]) -> list[list[Epoch]]:
    """The epochs of one launch, JVM by JVM."""
    zeroings = [jvm.grafts.zeroing for jvm in jvms if jvm.state == "ended"]
    return [z.epochs.records for z in zeroings if z is not None and z.epochs is not None]


def steady(series: Sequence[Epoch]) -> Sequence[Epoch]:
    """Without the warm-up: the first half, rounded up, as of iterations."""
    return series[math.ceil(len(series) / 2) :]


def quadruples(series: Sequence[Epoch]) -> list[Quadruple]:
    """Four neighbours each, two of either side, in an order in which a drift cancels: A B B A or B A A B.

    Where the sides alternate strictly, A B A B is taken and one epoch left out, so that B A B A comes next.
    """
    usual = float(np.median([epoch.bytes for epoch in series])) if series else 0.0
    kept = [e for e in series if e.bytes > 0 and e.mutator_cpu_seconds > 0 and e.bytes >= SHORT * usual]
    found: list[Quadruple] = []
    at = 0
    while at + QUADRUPLE <= len(kept):
        first, second, third, fourth = kept[at : at + QUADRUPLE]
        sides = [first.side == one.side for one in (second, third, fourth)]
        if sides == [False, False, True]:
            found.append((first, second, third, fourth))
            at += QUADRUPLE
        elif sides == [False, True, False]:
            found.append((first, second, third, fourth))
            at += QUADRUPLE + 1
        else:
            at += 1
    return found


def cost(quadruple: Quadruple, side: Side) -> float:
    """CPU seconds per GB of one side's two epochs."""
    mine = [epoch for epoch in quadruple if epoch.side == side]
    return math.fsum(e.mutator_cpu_seconds for e in mine) / sum(e.bytes for e in mine) * GIGA


def needed_per_launch(launches: int) -> int:
    """Epochs of one launch, warm-up included, so that all launches together have enough quadruples."""
    return 2 * QUADRUPLE * math.ceil(MIN_PAIRS / launches)


def require_epochs(series: Sequence[Sequence[Epoch]], launches: int) -> None:
    """Refuses a launch with too few collections, with what to do."""
    found = sum(len(quadruples(steady(one))) for one in series)
    if found * launches < MIN_PAIRS:
        seen = sum(len(one) for one in series)
        raise WrongUsageError(
            f"--pairing epochs: {seen} epochs (times between two collections) were seen in one launch, the first half "
            f"of them warm-up; expected at least {needed_per_launch(launches)}: use a smaller young generation "
            "(-Xmn16m), let the program run longer, or use more --launches"
        )


def analyse(launches: Sequence[Sequence[Sequence[Epoch]]]) -> Switched:
    """What the epochs of all launches say; each launch comes as its JVMs' series."""
    ratios = [
        Ratio(cost(four, Side.BASELINE), cost(four, Side.GRAFTED), number)
        for number, launch in enumerate(launches, 1)
        for series in launch
        for four in quadruples(steady(series))
    ]
    per_launch = [[ratio for ratio in ratios if ratio.launch == number] for number in range(1, len(launches) + 1)]
    each = 1 if len(launches) >= MIN_PAIRS else MAX_BATCHES // max(len(launches), 1)
    batches = [batch for mine in per_launch for batch in batched(mine, each)]
    if len(batches) < MIN_PAIRS:
        raise WrongUsageError(
            f"--pairing epochs: the epochs make {len(ratios)} quadruples; expected at least {MIN_PAIRS} after the "
            "warm-up: use a smaller young generation (-Xmn16m), a longer run, or more --launches"
        )
    return Switched(
        series=[list(series) for launch in launches for series in launch],
        ratios=ratios,
        batches=batches,
        autocorrelation=autocorrelation([math.log(b.ratio) for b in batches]) if each > 1 else None,
    )


def batched(ratios: Sequence[Ratio], count: int) -> list[Ratio]:
    """At most `count` batches of neighbours, each as the middle of its quadruples; of equal size but for one."""
    if not ratios:
        return []
    parts = np.array_split(np.arange(len(ratios)), min(count, len(ratios)))
    return [_middle([ratios[i] for i in part]) for part in parts]


def _middle(batch: Sequence[Ratio]) -> Ratio:
    """The geometric middle half of the ratios: nearly as steady as a mean, and as deaf to a few odd ones as a median.

    A fourth is left out at either end (F. Mosteller and J. W. Tukey call the rest's mean the midmean).
    """
    logs = np.sort([math.log(one.ratio) for one in batch])
    cut = len(logs) // 4
    baseline = float(np.median([one.baseline for one in batch]))
    middle = math.exp(float(np.mean(logs[cut : len(logs) - cut])))
    return Ratio(baseline, baseline * middle, batch[0].launch)


def autocorrelation(values: Sequence[float]) -> float:
    """Of neighbours: 0 where they are independent, towards 1 where they move together."""
    centred = np.asarray(values, dtype=float) - float(np.mean(values))
    total = float(np.dot(centred, centred))
    return float(np.dot(centred[1:], centred[:-1])) / total if total > 0 else 0.0


def significant(correlation: float, count: int) -> bool:
    """Whether neighbours move together more than chance would have them: beyond 1.96 / sqrt(n) (Bartlett 1946)."""
    return correlation > 1.96 / math.sqrt(count)


def interval(switched: Switched) -> statistics.Interval:
    """The ratio grafted / baseline over the batches."""
    return statistics.median_interval([batch.ratio for batch in switched.batches])
