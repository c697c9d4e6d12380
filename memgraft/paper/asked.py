"""What was typed of `memgraft paper`."""

from dataclasses import dataclass, field
from pathlib import Path

from memgraft.experiment.metrics import MetricName


@dataclass(frozen=True)
class Choice:
    """What was asked of a figure; None: all of it."""

    threads: str | None = None
    tlabs: str | None = None
    sizes: str | None = None
    """Of the lowest level of buffers."""
    heap: str | None = None
    kernel_class: str | None = None
    """Of the kernels of placement's figures."""

    @property
    def typed(self) -> str | None:
        """The first option of a figure of a JVM that was given, as it was."""
        given = {"threads": self.threads, "tlabs": self.tlabs, "sizes": self.sizes, "heap": self.heap}
        return next((f"--{name} {value}" for name, value in given.items() if value is not None), None)


@dataclass(frozen=True)
class Asked:
    """All of it, apart from the names."""

    size: str
    launches: int
    iterations: int
    workloads: str | None = None
    metric: MetricName = MetricName.ITERATION_WALL
    kept: Path | None = None
    """The output of an earlier one, to be used instead of measuring."""
    output: Path | None = None
    choice: Choice = field(default_factory=Choice)
    """Of the figures of buffers, orderings and placement."""
