"""What the zeroing benchmark measured: its results, and how one kernel's speed compares with another's.

Everything that judges, chooses or draws kernels starts from a list of `Result`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any

from memgraft.statistics import CONFIDENCE, Interval, independent_ratio

MEMSET = "memset"
"""The kernel that every other is set against: what HotSpot itself calls."""
WORD = "word-4"
"""The loop of 4-byte stores, Cavanna's baseline ("Initializing memory efficiently on Power Architecture platforms", IBM
developerWorks 2006)."""
CALIBRATED = "calibrated"
"""No kernel but the one that the library names for a use, a size and a number of threads."""

RESIDENT, STREAMING, STREAMING_LATE, STREAMING_USED = "resident", "streaming", "streaming-late", "streaming-used"
MODES = [RESIDENT, STREAMING, STREAMING_LATE, STREAMING_USED]
OF_MANY = 0.99
"""The confidence of one comparison among hundreds, when a choice or a promise rests on it: at 95 % noise alone would
decide several of them."""
DISCLAIM = "disclaim"
"""How those are named that give pages back to the system. They are measured as if they were kernels, but are called
differently and leave work to whoever touches the memory next, so that the library never names one."""


@dataclass(frozen=True)
class Result:
    """One kernel at one size in one mode, with so many threads at a time."""

    kernel: str
    mode: str
    bytes: int
    gigabytes_per_second: list[float]
    """Of one thread, by its CPU time; one per repetition."""
    threads: int = 1
    stands_for: str | None = None
    """The kernel that `calibrated` was here."""

    @cached_property
    def median(self) -> float:
        return median(self.gigabytes_per_second)

    @property
    def context(self) -> "Context":
        return Context(self.mode, self.threads, self.bytes)


@dataclass(frozen=True, order=True)
class Context:
    """What a kernel is chosen by."""

    mode: str
    threads: int
    bytes: int


def contexts(results: Sequence[Result]) -> dict[Context, dict[str, Result]]:
    """The results of each context by kernel, `calibrated` among them; threads, then sizes upwards within a mode."""
    found: dict[Context, dict[str, Result]] = {}
    for result in results:
        found.setdefault(result.context, {})[result.kernel] = result

    def place(context: Context) -> tuple[int, Context]:
        return MODES.index(context.mode) if context.mode in MODES else len(MODES), context

    return {context: found[context] for context in sorted(found, key=place)}


def candidates(kernels: dict[str, Result]) -> dict[str, Result]:
    """The kernels among them that the library can name."""
    return {name: result for name, result in kernels.items() if name != CALIBRATED and not name.startswith(DISCLAIM)}


def fastest(results: dict[str, Result]) -> Result:
    return max(results.values(), key=lambda result: result.median)


def ratio_of(result: Result, base: Result, confidence: float = CONFIDENCE) -> Interval | None:
    """How many times the speed of `base`; None where one of them did not run, or too seldom for an interval."""
    if min(result.gigabytes_per_second) <= 0 or min(base.gigabytes_per_second) <= 0:
        return None
    try:
        return independent_ratio(result.gigabytes_per_second, base.gigabytes_per_second, confidence)
    except ValueError:
        return None


def relative_times(results: Sequence[Result], mode: str = RESIDENT, threads: int = 1) -> list[dict[str, Any]]:
    """The time of every kernel relative to the 4-byte loop's, per size (Cavanna 2006, figures 1 and 2).

    Rows of kernel, bytes, relative_time, low, high (95 % interval); below 1 the kernel is faster than the loop.
    """
    rows = []
    for context, kernels in contexts(results).items():
        if (context.mode, context.threads) != (mode, threads) or WORD not in kernels:
            continue
        for name, result in kernels.items():
            ratio = ratio_of(kernels[WORD], result) if name != CALIBRATED else None
            if ratio is not None:
                rows.append(
                    {
                        "kernel": name,
                        "bytes": context.bytes,
                        "relative_time": ratio.median,
                        "low": ratio.low,
                        "high": ratio.high,
                    }
                )
    return rows


def throughputs(results: Sequence[Result], mode: str = STREAMING) -> list[dict[str, Any]]:
    """The throughput of every kernel with all its threads together (Yang 2011, figure 3.1(a) and (b)).

    Rows of kernel, bytes, threads, gigabytes_per_second, lowest, highest (of the repetitions), and `scaling`: how many
    times one thread's throughput, with its 95 % interval; None for one thread.
    """
    by_context = contexts(results)
    rows = []
    for context, kernels in by_context.items():
        if context.mode != mode:
            continue
        alone = by_context.get(Context(mode, 1, context.bytes), {})
        for name, result in kernels.items():
            if name == CALIBRATED:
                continue
            scaling = ratio_of(result, alone[name]) if context.threads > 1 and name in alone else None
            rows.append(
                {
                    "kernel": name,
                    "bytes": context.bytes,
                    "threads": context.threads,
                    "gigabytes_per_second": context.threads * result.median,
                    "lowest": context.threads * min(result.gigabytes_per_second),
                    "highest": context.threads * max(result.gigabytes_per_second),
                    "scaling": scaling
                    and Interval(*(context.threads * x for x in (scaling.median, scaling.low, scaling.high))),
                }
            )
    return rows
