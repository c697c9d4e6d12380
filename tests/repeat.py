"""Runs the gate's tests again and again, quiet and busy by turns, and lists every test whose outcome differed.

    repeat.py TIMES

In every second run stress-ng keeps all CPUs busy. Logs and outcomes are kept in build/repeat. Exit code 0: every test
passed, or was skipped, every time. 1: some did not. 3: something is missing.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from outcomes import FAILED, outcomes

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / "build/repeat"
WORKERS = str(max(2, os.cpu_count() or 1))


@contextlib.contextmanager
def all_cpus_busy(busy: bool) -> Iterator[None]:
    load = subprocess.Popen(["stress-ng", "--quiet", "--cpu", "0"]) if busy else None
    try:
        yield
    finally:
        if load:
            load.terminate()
            load.wait()


def gate(stem: Path) -> list[Path]:
    """Runs the gate's tests once, and returns where the outcomes are."""
    marked = [sys.executable, "-m", "pytest", "-q", "-n", WORKERS, "-m", "not deep"]
    runs = {
        "native": ["ctest", "--test-dir", "build/native", "--timeout", "600", "-j", WORKERS],
        "python": [*marked, "memgraft/tests"],
        "end-to-end": [*marked, "tests"],
    }
    reports = []
    for name, command in runs.items():
        report = stem.with_name(f"{stem.name}-{name}.xml")
        report.unlink(missing_ok=True)
        option = ["--output-junit", str(report)] if name == "native" else [f"--junitxml={report}"]
        with report.with_suffix(".log").open("w") as log:
            subprocess.run([*command, *option], cwd=ROOT, stdout=log, stderr=subprocess.STDOUT, check=False)
        reports.append(report)
    return reports


def main() -> int:
    times = int(sys.argv[1])
    if shutil.which("stress-ng") is None:
        print("repeat.py: no stress-ng; install it (setup/packages test)", file=sys.stderr)
        return 3
    LOGS.mkdir(parents=True, exist_ok=True)
    by_test: dict[str, list[str]] = defaultdict(list)
    for number in range(1, times + 1):
        busy = number % 2 == 0
        began = time.monotonic()
        with all_cpus_busy(busy):
            reports = gate(LOGS / str(number))
        missing = [report.name for report in reports if not report.exists()]
        found = [outcome for report in reports if report.exists() for outcome in outcomes(report)]
        for outcome in found:
            by_test[outcome.test].append(outcome.what)
        for name in missing:
            by_test[f"{name} was not written"].append(FAILED)
        failed = sum(outcome.what == FAILED for outcome in found)
        minutes = (time.monotonic() - began) / 60
        print(
            f"run {number}, {'busy' if busy else 'quiet'}: {len(found)} tests, {failed} failed, {minutes:.1f} minutes"
        )
    # One that fails every time has a steady outcome, and is no less wrong.
    wrong = {test: told for test, told in by_test.items() if FAILED in told or len(set(told)) > 1 or len(told) != times}
    for test, told in wrong.items():
        print(f"{test}: {' '.join(told)}")
    print(f"{len(by_test)} tests, {times} runs: {len(wrong)} failed or differed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
