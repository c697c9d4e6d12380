"""Runs the gate again and again, quiet and busy by turns, and lists every test whose outcome differed.

    repeat.py TIMES

In every second run stress-ng keeps all CPUs busy. Logs and outcomes are kept in build/repeat. Exit code 0: every test
passed, or was skipped, every time. 1: some did not. 2: TIMES is no number. 3: something is missing.
"""

import contextlib
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from outcomes import FAILED, PASSED, Outcome, outcomes

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "repeat"


@contextlib.contextmanager
def all_cpus_busy(busy: bool) -> Iterator[None]:
    load = subprocess.Popen(["stress-ng", "--quiet", "--cpu", "0"]) if busy else None
    try:
        yield
    finally:
        if load:
            load.terminate()
            load.wait()


def gate(log: Path) -> list[Outcome]:
    """Runs `make test` once."""
    for report in reports():
        report.unlink()
    with log.open("w") as output:
        code = subprocess.run(
            ["make", "test"], cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False
        ).returncode
    # Not all of its parts have a report.
    found = [Outcome("make test", FAILED if code else PASSED)]
    for report in reports():
        name = report.stem if report.parent.name == "reports" else report.parent.name
        found += [Outcome(f"{name}: {each.test}", each.what) for each in outcomes(report)]
        shutil.copy(report, log.with_name(f"{log.stem}-{name}.xml"))
    return found


def reports() -> list[Path]:
    """What ctest and pytest have left."""
    return [*BUILD.glob("*/report.xml"), *BUILD.glob("reports/*.xml")]


def main() -> int:
    times = int(sys.argv[1]) if len(sys.argv) == 2 and sys.argv[1].isdecimal() else 0
    if times == 0:
        print(f"repeat.py: how many times? A number from 1 on, not {' '.join(sys.argv[1:])!r}", file=sys.stderr)
        return 2
    if shutil.which("stress-ng") is None:
        print("repeat.py: no stress-ng; install it (setup/packages test)", file=sys.stderr)
        return 3
    LOGS.mkdir(parents=True, exist_ok=True)
    by_test: dict[str, list[str]] = defaultdict(list)
    for number in range(1, times + 1):
        busy = number % 2 == 0
        began = time.monotonic()
        with all_cpus_busy(busy):
            found = gate(LOGS / f"{number}.log")
        for outcome in found:
            by_test[outcome.test].append(outcome.what)
        failed = sum(outcome.what == FAILED for outcome in found)
        minutes = (time.monotonic() - began) / 60
        print(
            f"run {number}, {'busy' if busy else 'quiet'}: {len(found)} tests, {failed} failed, {minutes:.1f} minutes",
            flush=True,
        )
    # One that fails every time has a steady outcome, and is no less wrong.
    wrong = {test: told for test, told in by_test.items() if FAILED in told or len(set(told)) > 1 or len(told) != times}
    for test, told in wrong.items():
        print(f"{test}: {' '.join(told)}")
    print(f"{len(by_test)} tests, {times} runs: {len(wrong)} failed or differed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
