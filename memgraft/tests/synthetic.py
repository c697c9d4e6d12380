"""Comparisons that never ran: launches made of numbers, for tests of what is made of them."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from memgraft.experiment.compare import Comparison, Settings
from memgraft.experiment.design import SWITCHED, Pairing, Planned, Side
from memgraft.experiment.launches import Launch
from memgraft.experiment.metrics import MetricName
from memgraft.experiment.outcome import Outcome, analyse
from memgraft.formats import Epoch, Epochs, EpochSide, Grafts, Jvm, JvmSummary, Zeroing
from memgraft.grafts.selection import select
from memgraft.jvm.iterations import Iteration
from memgraft.jvm.launch import Ended, Joining, Via

MACHINE: dict[str, Any] = {
    "cpu": "Fake CPU",
    "architecture": "x86_64",
    "cpus": 2,
    "usable_cpus": 2,
    "cores": 2,
    "hypervisor": None,
    "caches": [{"name": "L2", "bytes": 1048576, "instances": 2}],
    "numa_nodes": 1,
    "memory_bytes": 2**34,
    "kernel": "Linux 6.1",
    "transparent_huge_pages": "madvise",
    "cpu_governor": None,
    "hardware_counters": {"available": False, "reason": "no counters"},
}

SPREAD = (1.000, 1.004, 0.997, 1.002, 0.999, 1.005, 0.996, 1.001, 0.998, 1.003)
"""Noise of a quiet machine, the same each time."""


def summary(**changes: Any) -> JvmSummary:
    zeroing = Zeroing(strategy="bulk", kernel="avx512", tlabs=10, bytes=4_000_000_000, cycles=10**9, seconds=0.5)
    values: dict[str, Any] = {
        "schema": 1,
        "kind": "jvm-summary",
        "state": "ended",
        "pid": 1,
        "jvm": Jvm(version="17.0.1", feature=17, vendor="V", name="N", libjvm="/l", collector="G1"),
        "program": "org.example.Main a",
        "wall_seconds": 5.0,
        "user_seconds": 9.0,
        "system_seconds": 1.0,
        "grafts": Grafts(zeroing=zeroing),
    }
    return JvmSummary.model_validate({**values, **changes})


def iterations(seconds: float, count: int, checksum: str | None = "c", workload: str = "fake") -> list[Iteration]:
    """The first takes twice as long, the others all the same."""
    return [
        Iteration.model_validate(
            {
                "memgraft_iteration": number,
                "workload": workload,
                "wall_seconds": seconds * (1 + (number == 0)),
                "cpu_seconds": seconds * (1 + (number == 0)),
                "checksum": checksum,
            }
        )
        for number in range(count)
    ]


def launches(
    ratio: float = 1.0,
    pairs: int = 10,
    iteration_count: int = 4,
    spread: Sequence[float] = SPREAD,
    strategy: str = "bulk",
    **changes: Any,
) -> list[Launch]:
    """Pairs of launches whose sides differ by `ratio`, with the noise of `spread` on the grafted side."""
    made: list[Launch] = []
    for pair in range(1, pairs + 1):
        for side in Side:
            grafted = side is Side.GRAFTED
            seconds = 1.2345678 * (ratio * spread[(pair - 1) % len(spread)] if grafted else 1.0)
            options = ("-XX:+ZeroTLAB", f"-agentpath:/a.so=zeroing={strategy},summary=/s")
            joins = grafted and strategy != "hot-path"
            done = Launch(
                number=len(made) + 1,
                planned=Planned(side, pair),
                joined=Joining("JAVA_TOOL_OPTIONS", options) if joins else Joining(),
                ended=Ended(0, 6 * seconds, 5 * seconds, 1.0, 10**8),
                others_share=0.01,
                stolen_share=0.0,
                log=Path("/out/logs/x.out"),
                iterations=iterations(seconds, iteration_count),
                jvms=[summary()] if joins else [],
            )
            for name, value in changes.items():
                setattr(done, name, value)
            made.append(done)
    return made


def outcome(
    done: list[Launch] | None = None,
    *,
    strategy: str = "bulk",
    metric: MetricName = MetricName.AUTO,
    pairing: Pairing = Pairing.ALTERNATE,
    command: Sequence[str] = ("java", "-jar", "x.jar"),
    warmup_iterations: int | None = None,
    machine: dict[str, Any] | None = None,
    against: str | None = None,
    bound: bool = False,
) -> Outcome:
    done = launches(strategy=strategy) if done is None else done
    selection = select({"zeroing": strategy})
    settings = Settings(
        command=command,
        selection=selection,
        baseline=selection.other_side(against) if against else selection.stock,
        via=Via.AUTO,
        pairs=len(done) // (1 if pairing is Pairing.EPOCHS else 2),
        warmup_launches=1,
        warmup_iterations=warmup_iterations,
        metric=metric,
        pairing=pairing,
        output=Path("/out"),
        bound=bound,
    )
    comparison = SimpleNamespace(settings=settings, launches=done, counted=done, output=Path("/out"))
    return analyse(cast("Comparison", comparison), machine or MACHINE, "2026-01-02T03:04:05+00:00")


def epochs(
    ratio: float = 1.0,
    *,
    seed: int = 1,
    count: int = 600,
    noise: float = 0.05,
    phases: float = 0.7,
    drift: float = 0.3,
    order: Sequence[EpochSide] = ("baseline", "grafted", "grafted", "baseline"),
) -> list[Epoch]:
    """The epochs of a JVM that warms up, drifts, has phases and is disturbed now and then.

    `phases` is the correlation of one epoch's noise with the next one's.
    """
    generator = np.random.default_rng(seed)
    made, state = [], 0.0
    for at in range(count):
        side = order[at % len(order)]
        state = phases * state + float(generator.normal(0, noise)) * (1 - phases**2) ** 0.5
        warming = 1 + 4 * float(np.exp(-at / 20))
        disturbed = 1 + float(generator.exponential(0.5)) * (generator.random() < 0.03)
        size = int(2e7 * generator.uniform(0.9, 1.1))
        cost = warming * (1 + drift * at / count) * float(np.exp(state)) * disturbed
        seconds = 0.5e-9 * size * cost * (ratio if side == "grafted" else 1.0)
        made.append(Epoch(collection=at, side=side, mutator_cpu_seconds=seconds, wall_seconds=seconds, bytes=size))
    return made


def switched_launch(number: int, series: Sequence[Epoch], grafted: str = "windows", baseline: str = "bulk") -> Launch:
    """One launch of `--pairing epochs`."""
    zeroing = Zeroing(
        strategy=grafted,
        kernel="avx512",
        tlabs=10,
        bytes=10**9,
        seconds=0.1,
        epochs=Epochs(grafted=grafted, baseline=baseline, records=list(series)),
    )
    return Launch(
        number=number,
        planned=Planned(SWITCHED, number),
        joined=Joining(
            "JAVA_TOOL_OPTIONS", ("-XX:+ZeroTLAB", f"-agentpath:/a.so=zeroing={grafted},against={baseline}")
        ),
        ended=Ended(0, 6.0, 5.0, 1.0, 10**8),
        others_share=0.01,
        stolen_share=0.0,
        log=Path("/out/logs/x.out"),
        iterations=iterations(1.0, 4),
        jvms=[summary(grafts=Grafts(zeroing=zeroing))],
    )


def switched_outcome(ratio: float = 1.0, launch_count: int = 1, **changes: Any) -> Outcome:
    done = [switched_launch(n, epochs(ratio, seed=n, **changes)) for n in range(1, launch_count + 1)]
    return outcome(done, strategy="windows", against="bulk", pairing=Pairing.EPOCHS)
