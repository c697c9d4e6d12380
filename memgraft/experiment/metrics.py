"""What a launch can be measured by, each metric declared once."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from memgraft.formats import JvmSummary
from memgraft.jvm.iterations import Iteration, Time, steady_mean
from memgraft.jvm.launch import Ended


class Measurable(Protocol):
    """What a metric needs of a launch."""

    @property
    def ended(self) -> Ended: ...
    @property
    def iterations(self) -> list[Iteration]: ...
    @property
    def jvms(self) -> list[JvmSummary]: ...


Seconds = Callable[[Measurable, int | None], float | None]


class MetricName(StrEnum):
    """The choices of `--metric`."""

    AUTO = "auto"
    ITERATION_CPU = "iteration-cpu"
    ITERATION_WORKER_CPU = "iteration-worker-cpu"
    ITERATION_WALL = "iteration-wall"
    CPU = "cpu"
    WALL = "wall"


@dataclass(frozen=True)
class Metric:
    """One time per launch, in seconds."""

    name: str
    """A MetricName, or one that is no choice of `--metric`."""
    verb: str
    noun: str
    seconds: Seconds
    """Of one launch, given its warm-up iterations; None where it has no such time."""
    time: Time | None = None
    """Of one iteration; None for metrics of the whole launch."""
    unit: str = "seconds"
    """As in the names of JSON fields."""


def _positive(seconds: float) -> float | None:
    return seconds if seconds > 0 else None


def _of_iterations(name: MetricName, verb: str, noun: str, time: Time) -> Metric:
    return Metric(name, verb, noun, lambda done, warmup: steady_mean(done.iterations, time, warmup), time)


def _outside_pauses(done: Measurable, _: int | None) -> float | None:
    """Without what the VM zeroed within pauses; None where a grafted launch does not say how long that took."""
    pauses = [z.by.pause.seconds for jvm in done.jvms if (z := jvm.grafts.zeroing) and z.by and z.by.pause]
    if len(pauses) != len(done.jvms):
        return None
    return _positive(done.ended.cpu_seconds - sum(pauses))


METRICS = (
    _of_iterations(
        MetricName.ITERATION_CPU, "used", "CPU time per steady iteration", lambda iteration: iteration.cpu_seconds
    ),
    _of_iterations(
        MetricName.ITERATION_WORKER_CPU,
        "used",
        "CPU time of the working threads per steady iteration",
        lambda iteration: iteration.worker_cpu_seconds,
    ),
    _of_iterations(
        MetricName.ITERATION_WALL,
        "took",
        "wall-clock time per steady iteration",
        lambda iteration: iteration.wall_seconds,
    ),
    Metric(MetricName.CPU, "used", "CPU time per launch", lambda done, _: _positive(done.ended.cpu_seconds)),
    Metric(MetricName.WALL, "took", "wall-clock time per launch", lambda done, _: _positive(done.ended.wall_seconds)),
)

OUTSIDE_PAUSES = Metric(
    "cpu-outside-pauses", "used", "CPU time per launch, zeroing in pauses not counted", _outside_pauses
)
"""For a program that reports no iterations: its whole CPU time without what the VM zeroed within pauses."""

EPOCH = Metric(
    "epoch-cpu",
    "used",
    "CPU time of its threads per GB allocated",
    lambda _, __: None,
    unit="seconds_per_gigabyte",
)
"""Of epochs within a launch, not of launches (epochs.py)."""

AUTO = (MetricName.ITERATION_CPU, MetricName.CPU)
"""What `auto` stands for: the first of these that every launch has."""

BOUND = (MetricName.ITERATION_WORKER_CPU, OUTSIDE_PAUSES.name)
"""What the bound rests on: the VM's thread, which zeroes within pauses, is in neither."""


def named(name: str) -> Metric:
    return next(metric for metric in (*METRICS, OUTSIDE_PAUSES, EPOCH) if metric.name == name)
