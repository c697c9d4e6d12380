"""How fast memory has to be zeroed for zeroing on the program's own CPUs to pay: what the bound says about kernels.

The stock zeroes while it allocates. What that takes is what the program saves where memory is zero already, so the
bytes over the seconds saved are a speed: whoever zeroes slower than that, on the same CPUs, only loses.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import inf, isinf
from typing import Any, Literal

from memgraft import statistics
from memgraft.experiment.launches import Launch
from memgraft.experiment.metrics import Metric
from memgraft.formats import GIGA
from memgraft.jvm.iterations import steady_mean
from memgraft.statistics import Interval


@dataclass(frozen=True)
class BreakEven:
    """Speeds in GB/s."""

    needed: Interval
    """Infinite where nothing is saved."""
    measured: Interval
    """At which memory was zeroed within the pauses: in one go, by non-temporal stores."""

    @property
    def pays(self) -> Literal["yes", "no", "not resolved"]:
        if self.needed.low > self.measured.high:
            return "no"
        return "yes" if self.needed.high < self.measured.low else "not resolved"

    def as_json(self) -> dict[str, Any]:
        # JSON has no infinity.
        needed = {name: None if isinf(speed) else speed for name, speed in asdict(self.needed).items()}
        return {
            "needed_gigabytes_per_second": needed,
            "measured_gigabytes_per_second": asdict(self.measured),
            "pays": self.pays,
        }


def break_even(
    metric: Metric, ratio: Interval, baseline_seconds: float, grafted: Sequence[Launch], warmup: int | None
) -> BreakEven | None:
    """By the headline of the bound; None where the program does not say what an iteration allocates."""
    pauses = [
        [z.by.pause for jvm in done.jvms if (z := jvm.grafts.zeroing) and z.by and z.by.pause] for done in grafted
    ]
    seconds = [sum(pause.seconds for pause in mine) for mine in pauses]
    zeroed = [sum(pause.bytes for pause in mine) for mine in pauses]
    if not grafted or min(seconds) <= 0 or min(zeroed) <= 0:
        return None
    measured = statistics.median_or_range([b / s / GIGA for b, s in zip(zeroed, seconds, strict=True)])
    if metric.time is None:
        sizes: list[float | None] = [float(b) for b in zeroed]
    else:
        sizes = [steady_mean(done.iterations, lambda i: i.allocated_bytes, warmup) for done in grafted]
    known = [size for size in sizes if size is not None]
    if len(known) != len(sizes):
        return None
    gigabytes = statistics.median_or_range(known).median / GIGA

    def speed(r: float) -> float:
        return gigabytes / (baseline_seconds * (1 - r)) if r < 1 else inf

    return BreakEven(Interval(speed(ratio.median), speed(ratio.low), speed(ratio.high)), measured)
