"""What a launch can be measured by, each metric declared once."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from memgraft.iterations import Iteration, Time, steady_mean
from memgraft.launch import Ended

Seconds = Callable[[Ended, list[Iteration], int | None], float | None]


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

    name: MetricName
    verb: str
    noun: str
    seconds: Seconds
    """Of one launch, given its warm-up iterations; None where it has no such time."""
    time: Time | None = None
    """Of one iteration; None for metrics of the whole launch."""


def _positive(seconds: float) -> float | None:
    return seconds if seconds > 0 else None


def _of_iterations(name: MetricName, verb: str, noun: str, time: Time) -> Metric:
    return Metric(name, verb, noun, lambda _, iterations, warmup: steady_mean(iterations, time, warmup), time)


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
    Metric(MetricName.CPU, "used", "CPU time per launch", lambda ended, _, __: _positive(ended.cpu_seconds)),
    Metric(MetricName.WALL, "took", "wall-clock time per launch", lambda ended, _, __: _positive(ended.wall_seconds)),
)

AUTO = (MetricName.ITERATION_CPU, MetricName.CPU)
"""What `auto` stands for: the first of these that every launch has."""


def named(name: MetricName) -> Metric:
    return next(metric for metric in METRICS if metric.name == name)
