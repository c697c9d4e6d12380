"""What an earlier run of `memgraft paper` left behind, with numbers that are known, and what is made of it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memgraft.experiment.metrics import MetricName
from memgraft.paper import work
from memgraft.paper.asked import Asked, Choice
from memgraft.report.tests.test_report import HOSTILE, Reader
from memgraft.tests.synthetic import MACHINE, SPREAD

STOCK = ("hot-path", "hot-path without elision")
STRATEGIES = (*STOCK, "bulk", "non-temporal", "concurrent", "adaptive", "mixed", "windows")
TIMES = dict(zip(STRATEGIES, (1.0, 1.05, 1.1, 0.99, 1.2, 0.9, 0.98, 0.97), strict=True))
SPEEDS = {"bulk": 8.0, "non-temporal": 16.0, "concurrent": 4.0, "adaptive": 8.0}

Made = dict[str, dict[str, Any]]
"""Tables and figures by their names."""
Launch = dict[str, Any]


def launch(strategy: str, number: int, workload_factor: float) -> Launch:
    seconds = TIMES[strategy] * workload_factor * SPREAD[number]
    zeroing = {
        "strategy": strategy,
        "kernel": "avx512",
        "tlabs": 1,
        "bytes": 3 * 10**9,
        "fresh_bytes": 10**9,
        "seconds": 3 / SPEEDS.get(strategy, 1),
        "helper": {"started": True, "waits": 7},
    }
    jvm = {"version": "17", "feature": 17, "vendor": HOSTILE, "name": "N", "libjvm": "/l", "collector": "Parallel"}
    summary = {
        "schema": 1,
        "kind": "jvm-summary",
        "state": "ended",
        "pid": 1,
        "jvm": jvm,
        "wall_seconds": 4.0,
        "user_seconds": 5.0,
        "system_seconds": 1.0,
        "grafts": {"zeroing": zeroing},
        "cpu_utilisation": 1.5,
    }
    iteration = {"wall_seconds": seconds, "cpu_seconds": 2 * seconds, "workload": "w", "checksum": "c"}
    return {
        "launch": 1,
        "side": strategy,
        "pair": number,
        "cpus": [],
        "exit_code": 0,
        "wall_seconds": 5.0,
        "user_seconds": 5.0,
        "system_seconds": 1.0,
        "max_rss_bytes": 1,
        "stdout": "o",
        "stderr": "e",
        "iterations": [{"memgraft_iteration": at, **iteration} for at in range(2)],
        "jvms": [summary] if strategy not in STOCK else [],
    }


def keep(folder: Path, strategies: Sequence[str], found: Mapping[str, Sequence[Launch]], **changes: Any) -> Path:
    """Writes a grid into the folder: of each program its launches; `changes`: of what is said of the grid."""
    settings = {
        "schema": 1,
        "kind": "grid",
        "machine": MACHINE,
        "workloads": list(found),
        "strategies": list(strategies),
        "size": "small",
        "iterations": 2,
        "launches": 6,
        "jvm_options": ["-XX:+UseParallelGC"],
    } | changes
    for name, launches in found.items():
        place = folder / "grid" / name
        place.mkdir(parents=True)
        (place / "launches.jsonl").write_text("".join(json.dumps(one) + "\n" for one in launches))
    (folder / "grid/grid.json").write_text(json.dumps(settings))
    return folder


def asked(
    source: Path, output: Path, metric: MetricName = MetricName.ITERATION_WALL, choice: Choice | None = None
) -> Asked:
    return Asked("small", 6, 2, None, metric, source, output, choice or Choice())


def make(names: Sequence[str], request: Asked) -> Made:
    return {result["name"]: result for result in work.make(names, request)}


def values(result: dict[str, Any], part: int = 0) -> dict[tuple[str, str], float]:
    """What a part shows: medians by row and series."""
    return {(cell["row"], cell["series"]): cell["median"] for cell in result["ours"][part]["cells"]}


def text_of(page: str | Path) -> str:
    """What a page says, with one space between words."""
    reader = Reader()
    reader.feed(Path(page).read_text())
    return " ".join(reader.text.split())
