"""Runs the deep tests, one area after the other, and ends with one table (also build/deep/table.txt, as it grows).

    deep.py            every area
    deep.py AREA ...   some, in this order

Exit code 0: all passed. 1: some failed. 2: no such area.
"""

import os
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from outcomes import FAILED, PASSED, SKIPPED, Outcome, outcomes
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build/deep"
WORKERS = ["-n", str(max(2, os.cpu_count() or 1)), "--dist", "worksteal"]


@dataclass(frozen=True)
class Step:
    """Some of an area's tests.

    The minutes are what they took on two cores of an AMD EPYC (Zen 4). Those of virtual threads, and from the hunt on,
    are of an Intel Xeon (Emerald Rapids class) with some other work beside, and placement's of an AMD EPYC (Zen 3).
    """

    area: str
    name: str
    minutes: float
    command: Sequence[str]


def pytest_step(area: str, minutes: float, *files: str, alone: bool = False, folder: str = "tests/") -> Step:
    """Tests that measure must not share the machine with others: `alone`."""
    words = [sys.executable, "-m", "pytest", "-q", "-m", "deep", *([] if alone else WORKERS)]
    return Step(area, " ".join(files), minutes, [*words, *(f"{folder}{file}" for file in files)])


STEPS = [
    pytest_step("zeroing", 2.5, "test_agent.py", "test_strategies.py", "test_adding_a_graft.py"),
    pytest_step("buffers", 3.5, "test_buffers.py"),
    pytest_step("numa", 1, "test_numa.py"),
    # The one that takes longest first, beside all others.
    pytest_step(
        "ordering",
        20,
        "test_executed.py",
        "test_aarch64.py",
        "test_aarch64_ordering.py",
        "test_ordering.py",
        "test_x86_fences.py",
    ),
    pytest_step("ordering", 3, "test_litmus.py", "test_jcstress.py", alone=True),
    pytest_step("ordering", 13, "test_bytecode_engine.py", alone=True),
    pytest_step("ordering", 11, "test_weak.py"),
    pytest_step("ordering", 12, "test_speculative.py"),
    pytest_step("ordering", 2, "test_virtual_threads.py", alone=True),
    pytest_step("ordering", 5, "speculation/tests", folder="ordering/"),
    pytest_step("hunt", 39, "test_hunt.py", "test_junit.py", alone=True),
    # The sampler in an emulated machine starves where another machine wants the CPUs too.
    pytest_step("placement", 20, "test_place.py", "test_machine_accesses.py", alone=True),
    pytest_step("measuring", 19, "test_measuring.py", "test_commands.py", alone=True),
    pytest_step("commands", 29, "test_workloads.py", "test_documents.py", "test_setup.py"),
    Step("native", "unit tests with more rounds", 5, ["env", "MEMGRAFT_DEEP=1", "make", "test-native"]),
    Step("native", "the same under sanitizers", 16.5, ["env", "MEMGRAFT_DEEP=1", "make", "test-sanitizers"]),
    Step("native", "clang-tidy, the whole budget of paths", 3, ["env", "MEMGRAFT_DEEP=1", "make", "lint-cpp"]),
    Step("fuzz", "each fuzzer for 2 minutes", 10, ["make", "test-fuzz", "FUZZ=-max_total_time=120"]),
]


def run(step: Step) -> list[Outcome]:
    """Runs it, shows its output and keeps it beside the outcomes."""
    stem = LOGS / f"{step.area}-{STEPS.index(step)}"
    report = stem.with_suffix(".xml")
    report.unlink(missing_ok=True)
    by_pytest = "pytest" in step.command
    command = [*step.command, *([f"--junitxml={report}"] if by_pytest else [])]
    print(f"+ {shlex.join(map(str, command))}", flush=True)
    with stem.with_suffix(".log").open("w") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert process.stdout
        for line in process.stdout:
            print(line, end="", flush=True)
            log.write(line)
    code = process.wait()
    found = outcomes(report) if report.exists() else []
    # Where the runner itself fails, no test says so.
    if not by_pytest or (code != 0 and not any(outcome.what == FAILED for outcome in found)):
        found.append(Outcome(step.name, PASSED if code == 0 else FAILED))
    return found


def main() -> int:
    areas = list(dict.fromkeys(step.area for step in STEPS))
    chosen = list(dict.fromkeys(area for area in sys.argv[1:] if area != "all")) or areas
    if unknown := [area for area in chosen if area not in areas]:
        print(f"deep.py: no area {', '.join(unknown)}; there are: {', '.join(areas)}, all", file=sys.stderr)
        return 2
    steps = [step for area in chosen for step in STEPS if step.area == area]
    LOGS.mkdir(parents=True, exist_ok=True)
    for step in steps:
        print(f"{step.area}: {step.name}: about {step.minutes:g} minutes on two cores")
    print(f"together about {sum(step.minutes for step in steps):g} minutes", flush=True)
    table = Table("area", "minutes", "tests", "passed", "failed", "skipped", "which, and why", title="deep tests")
    failed = 0
    for step in steps:
        began = time.monotonic()
        found = run(step)
        minutes = (time.monotonic() - began) / 60
        count = Counter(outcome.what for outcome in found)
        failed += count[FAILED]
        told = [f"failed: {outcome.test}" for outcome in found if outcome.what == FAILED]
        reasons = Counter(outcome.reason for outcome in found if outcome.what == SKIPPED)
        told += [f"{times} skipped: {reason}" for reason, times in reasons.items()]
        numbers = [len(found), count[PASSED], count[FAILED], count[SKIPPED]]
        table.add_row(step.area, f"{minutes:.1f}", *map(str, numbers), "\n".join(told))
        with (LOGS / "table.txt").open("w") as so_far:
            Console(file=so_far, width=120).print(table)
    Console().print(table)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
