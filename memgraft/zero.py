"""`memgraft zero bench`: every zeroing kernel of this CPU, per size and per use of the memory.

The measuring is Google Benchmark's; here are its options, its JSON, and the ratio to memset with an interval.
"""

import json
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.table import Table
from rich.text import Text

from memgraft import __version__, launch, machine, native
from memgraft.errors import CannotTakeError, MemgraftError
from memgraft.formats import GIGA
from memgraft.screen import Screen, table
from memgraft.statistics import Interval, independent_ratio
from memgraft.words import bytes_of, three_digits

SCHEMA = 1
REPETITIONS = 5
MIN_TIME_SECONDS = 0.02
QUICK_MIN_TIME_SECONDS = 0.002
MEMSET = "memset"
"""The kernel that every other is set against: what HotSpot itself calls."""

PAID_LATER = ("disclaim", "disclaim-huge")
"""Give pages back and leave the zeroing to the faults of the next use: only streaming-used times that too."""

NAME = re.compile(r"zero/(?P<kernel>[^/]+)/(?P<mode>[^/]+)/(?P<bytes>\d+)")

SIZE_WIDTH, CELL_WIDTH = 8, 13
"""Columns of a size and of a cell on the screen, the gap included."""

MODES = {
    "resident": "resident: the same block again and again, so that it stays in the caches that hold it",
    "streaming": "streaming: block after block through memory larger than the caches, nothing used afterwards",
    "streaming-used": "streaming-used: the same, and each block is written and read right after it was zeroed",
}


@dataclass(frozen=True)
class Result:
    """One kernel at one size in one mode."""

    kernel: str
    mode: str
    bytes: int
    gigabytes_per_second: list[float]
    """One per repetition."""

    @property
    def median(self) -> float:
        return median(self.gigabytes_per_second)


def options(quick: bool) -> list[str]:
    """How Google Benchmark is to run: repetitions in random order, so that a drift hits all kernels alike."""
    return [
        "--benchmark_enable_random_interleaving=true",
        f"--benchmark_repetitions={REPETITIONS}",
        f"--benchmark_min_time={QUICK_MIN_TIME_SECONDS if quick else MIN_TIME_SECONDS}",
        "--benchmark_format=json",
    ]


def bench(quick: bool) -> dict[str, Any]:
    """Runs the benchmark; everything it found, as it is printed with --json."""
    output, notes = _run(native.find(native.ZERO_BENCH), quick)
    results, context = parse(output)
    if not results:
        raise CannotTakeError(
            f"{native.ZERO_BENCH} ran no benchmark: expected names zero/KERNEL/MODE/BYTES; rebuild it"
        )
    return {
        "schema": SCHEMA,
        "kind": "zero-bench",
        "memgraft": __version__,
        "machine": machine.describe(),
        "repetitions": REPETITIONS,
        "kernels": in_order(result.kernel for result in results),
        "chosen": {kind: context.get(f"chosen_{kind}") for kind in ("ordinary", "non_temporal")},
        "streamed_bytes": context.get("streamed_bytes"),
        "results": [as_json(result, results) for result in sorted(results, key=lambda r: (r.mode, r.bytes, r.kernel))],
        "notes": notes,
    }


def _run(binary: Path, quick: bool) -> tuple[bytes, list[str]]:
    """The benchmark's output, and its own remarks (not Google Benchmark's): which kernels it left out, and why."""
    command = [str(binary), *options(quick)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            out, errors = process.communicate()
        except BaseException:
            # Of a terminal's Ctrl-C it has heard already; of a signal sent to this process alone it has not.
            process.terminate()
            raise
    lines = errors.decode("utf-8", "replace").splitlines()
    if process.returncode != 0:
        code = process.returncode if process.returncode > 0 else launch.SIGNAL_EXIT - process.returncode
        said = f": {lines[-1]}" if lines else ""
        raise MemgraftError(f"{binary} ended with {launch.describe_exit(code)}{said}")
    prefix = f"{native.ZERO_BENCH}: "
    return out, [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]


def parse(output: bytes) -> tuple[list[Result], dict[str, Any]]:
    """Google Benchmark's JSON, without its own averages and without kernels that reported an error; its context."""
    try:
        parsed = json.loads(output)
        context = {**parsed["context"]}
        if "streamed_bytes" in context:
            context["streamed_bytes"] = int(context["streamed_bytes"])
        speeds: dict[tuple[str, str, int], list[float]] = {}
        for row in parsed["benchmarks"]:
            named = NAME.fullmatch(row["run_name"])
            if named and row["run_type"] == "iteration" and not row.get("error_occurred"):
                key = (named["kernel"], named["mode"], int(named["bytes"]))
                speeds.setdefault(key, []).append(float(row["bytes_per_second"]) / GIGA)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CannotTakeError(
            f"{native.ZERO_BENCH} printed no Google Benchmark JSON that can be read ({error!r}): rebuild it"
        ) from None
    return [Result(*key, values) for key, values in speeds.items()], context


def as_json(result: Result, results: Sequence[Result]) -> dict[str, Any]:
    rivals = [other for other in results if (other.mode, other.bytes) == (result.mode, result.bytes)]
    ratio = ratio_to_memset(result, rivals)
    return {
        "kernel": result.kernel,
        "mode": result.mode,
        "bytes": result.bytes,
        "gigabytes_per_second": result.median,
        "gigabytes_per_second_repetitions": result.gigabytes_per_second,
        "ratio_to_memset": asdict(ratio) if ratio else None,
        "best": result.median == max((rival.median for rival in rivals if paid_in_full(rival)), default=None),
    }


def paid_in_full(result: Result) -> bool:
    """Whether the time contains all that the zeroing costs, so that it may be called the fastest."""
    return result.kernel not in PAID_LATER or result.mode == "streaming-used"


def ratio_to_memset(result: Result, rivals: Sequence[Result]) -> Interval | None:
    """How many times memset's speed; None for memset itself, and where there is no memset to compare with."""
    base = next((rival for rival in rivals if rival.kernel == MEMSET), None)
    if base is None or base is result or min(base.gigabytes_per_second) <= 0:
        return None
    return independent_ratio(result.gigabytes_per_second, base.gigabytes_per_second)


def show(report: dict[str, Any], screen: Screen) -> None:
    """A table per mode, sizes down and kernels across; several where the screen is narrow."""
    results = report["results"]
    for mode in dict.fromkeys(result["mode"] for result in results):
        mine = {(r["kernel"], r["bytes"]): r for r in results if r["mode"] == mode}
        screen.print(Text(MODES.get(mode, mode), style="bold"))
        for kernels in side_by_side(report["kernels"], screen.width):
            screen.print(_table(mine, kernels))
        screen.print()
    screen.print(
        f"GB/s (10^9 bytes per CPU second), median of {report['repetitions']} repetitions, with the ratio to {MEMSET} "
        "(and its 95 % interval below); * fastest at that size."
    )
    if any(kernel in PAID_LATER for kernel in report["kernels"]):
        screen.print(
            f"{' and '.join(PAID_LATER)} only give pages back: the page faults of the next use, in which the system "
            "zeroes them, are part of streaming-used alone. Compare them there; elsewhere they get no *."
        )
    chosen = report["chosen"]
    if all(chosen.values()):
        screen.print(f"The grafts use {chosen['ordinary']} (bulk) and {chosen['non_temporal']} (non-temporal) here.")
    for note in report["notes"]:
        screen.print(note)


def side_by_side(kernels: Sequence[str], width: int) -> list[list[str]]:
    """The kernels in groups that fit a screen of this width."""
    groups: list[list[str]] = [[]]
    used = SIZE_WIDTH
    for kernel in kernels:
        needed = max(CELL_WIDTH, len(kernel) + 1)
        if groups[-1] and used + needed > width:
            groups.append([])
            used = SIZE_WIDTH
        groups[-1].append(kernel)
        used += needed
    return groups


def _table(results: dict[tuple[str, int], dict[str, Any]], kernels: Sequence[str]) -> Table:
    made = table("size", *kernels, right=("size", *kernels), gap=1)
    for size in sorted({size for _, size in results}):
        made.add_row(bytes_of(size), *(_cell(results.get((kernel, size))) for kernel in kernels))
    return made


def _cell(result: dict[str, Any] | None) -> Text:
    """`*142 (1.23)` over `[1.16, 1.29]`."""
    if result is None:
        return Text("-")
    text = Text(f"{'*' if result['best'] else ''}{three_digits(result['gigabytes_per_second'])}")
    if result["best"]:
        text.stylize("bold")
    if ratio := result["ratio_to_memset"]:
        text.append(f" ({ratio['median']:.2f})\n[{ratio['low']:.2f}, {ratio['high']:.2f}]", style="not bold")
    return text


def in_order(kernels: Iterable[str]) -> list[str]:
    """What the others are set against first, then by name, avx2 before avx512 and 16 before 64."""

    def key(kernel: str) -> tuple[bool, list[tuple[str, int]]]:
        return kernel != MEMSET, [(text, int(digits or 0)) for text, digits in re.findall(r"([^0-9]*)([0-9]*)", kernel)]

    return sorted(set(kernels), key=key)
