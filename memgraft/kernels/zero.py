"""`memgraft zero bench`: every zeroing kernel of this CPU, per size, use of the memory and number of threads.

The measuring is Google Benchmark's; here are its options, its JSON, and the ratio to memset with an interval.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from rich.table import Table
from rich.text import Text

from memgraft import machine, native
from memgraft.captured import captured
from memgraft.errors import CannotTakeError, MemgraftError, WrongUsageError
from memgraft.formats import GIGA
from memgraft.jvm import launch
from memgraft.kernels import zero_verdict
from memgraft.kernels.zero_results import (
    CALIBRATED,
    MEMSET,
    STREAMING_USED,
    Result,
    candidates,
    contexts,
    fastest,
    ratio_of,
)
from memgraft.machine.kernel_table import table_for_this_cpu
from memgraft.screen import Screen, table
from memgraft.version import version
from memgraft.words import bytes_of, count_of, three_digits

SCHEMA = 2
REPETITIONS, QUICK_REPETITIONS = 9, 5
"""Intervals narrow with the number of repetitions, not with their length."""
MIN_TIME_SECONDS = 0.01
QUICK_MIN_TIME_SECONDS = 0.002
SMALLEST_BLOCK = 64
"""The benchmark's (zeroing/bench/zero_bench.cpp)."""
CANNOT_TAKE = 3
"""What the benchmark ends with when it refuses its table."""

PAID_LATER = ("disclaim", "disclaim-huge")
"""Give pages back and leave the zeroing to the faults of the next use: only streaming-used times that too."""

NAME = re.compile(r"zero/(?P<kernel>[^/]+)/(?P<mode>[^/]+)/(?P<bytes>\d+)(?:/threads:(?P<threads>\d+))?")
LOOKUP = "zero/lookup"

SIZE_WIDTH, CELL_WIDTH = 8, 13
"""Columns of a size and of a cell on the screen, the gap included."""

MODES = {
    "resident": "resident: the same block again and again, so that it stays in the caches that hold it",
    "streaming": "streaming: block after block through memory larger than the caches, nothing used afterwards",
    "streaming-late": "streaming-late: the same, and each block is written and read once it has left the L2 cache",
    "streaming-used": "streaming-used: the same, and each block is written and read right after it was zeroed",
}


@dataclass(frozen=True)
class Measurement:
    """What one run of the benchmark found."""

    results: list[Result]
    context: dict[str, Any]
    lookup_nanoseconds: float | None
    """What asking the library for the best kernel costs; the results are without it."""
    notes: list[str]
    """The benchmark's own remarks: which kernels it left out, and why."""
    repetitions: int

    def rows(self) -> list[dict[str, Any]]:
        """Every result, for JSON."""
        return [as_json(result, kernels) for kernels in contexts(self.results).values() for result in in_order(kernels)]


def options(quick: bool) -> list[str]:
    """How Google Benchmark is to run: repetitions in random order, so that a drift hits all kernels alike."""
    return [
        "--benchmark_enable_random_interleaving=true",
        f"--benchmark_repetitions={QUICK_REPETITIONS if quick else REPETITIONS}",
        f"--benchmark_min_time={QUICK_MIN_TIME_SECONDS if quick else MIN_TIME_SECONDS}",
        "--benchmark_format=json",
    ]


def measure(*, quick: bool, table: Path | None = None, largest: int | None = None) -> Measurement:
    """Runs the benchmark: every kernel and the calibrated choice, by `table`, on blocks of up to `largest` bytes."""
    own = [f"--memgraft_table={table}"] if table else []
    if largest is not None and largest < SMALLEST_BLOCK:
        raise WrongUsageError(f"--largest {largest}: expected at least {SMALLEST_BLOCK}, the smallest block measured")
    if largest is not None:
        own.append(f"--memgraft_largest={largest}")
    output, notes = _run([str(native.find(native.ZERO_BENCH)), *own, *options(quick)])
    results, context, lookup = parse(output)
    if not results:
        raise CannotTakeError(
            f"{native.ZERO_BENCH} ran no benchmark: expected names zero/KERNEL/MODE/BYTES; rebuild it"
        )
    return Measurement(results, context, lookup, notes, QUICK_REPETITIONS if quick else REPETITIONS)


def bench(quick: bool, largest: int | None = None) -> dict[str, Any]:
    """Runs the benchmark; everything it found, as it is printed with --json."""
    of_this_cpu = table_for_this_cpu()
    found = measure(quick=quick, table=of_this_cpu, largest=largest)
    verdict = zero_verdict.judge(found.results)
    return {
        "schema": SCHEMA,
        "kind": "zero-bench",
        "memgraft": version(),
        "machine": machine.describe(),
        "repetitions": found.repetitions,
        "kernels": kernel_order({result.kernel for result in found.results} - {CALIBRATED}),
        "chosen": {kind: found.context.get(f"chosen_{kind}") for kind in ("ordinary", "non_temporal")},
        "table": str(of_this_cpu) if of_this_cpu else None,
        "streamed_bytes": found.context.get("streamed_bytes"),
        "late_bytes": found.context.get("late_bytes"),
        "lookup_nanoseconds": found.lookup_nanoseconds,
        "verdict": verdict.as_json(),
        "results": found.rows(),
        "notes": found.notes,
        "sentences": zero_verdict.sentences(verdict),
    }


def _run(command: Sequence[str]) -> tuple[str, list[str]]:
    """The benchmark's output, and its own remarks (not Google Benchmark's): which kernels it left out, and why."""
    process = captured(command)
    lines = process.stderr.splitlines()
    prefix = f"{native.ZERO_BENCH}: "
    if process.returncode == CANNOT_TAKE and lines and lines[-1].startswith(prefix):
        raise CannotTakeError(lines[-1].removeprefix(prefix))
    if process.returncode != 0:
        code = process.returncode if process.returncode > 0 else launch.SIGNAL_EXIT - process.returncode
        said = f": {lines[-1]}" if lines else ""
        raise MemgraftError(f"{command[0]} ended with {launch.describe_exit(code)}{said}")
    return process.stdout, [line.removeprefix(prefix) for line in lines if line.startswith(prefix)]


def parse(output: str | bytes) -> tuple[list[Result], dict[str, Any], float | None]:
    """Google Benchmark's JSON without its own averages and without errors: results, context, cost of a look-up."""
    try:
        parsed = json.loads(output)
        context = {**parsed["context"]}
        context |= {name: int(context[name]) for name in ("streamed_bytes", "late_bytes") if name in context}
        speeds: dict[tuple[str, str, int, int, str | None], list[float]] = {}
        lookups = []
        for row in parsed["benchmarks"]:
            if row["run_type"] != "iteration" or row.get("error_occurred"):
                continue
            if named := NAME.fullmatch(row["run_name"]):
                key = (
                    named["kernel"],
                    named["mode"],
                    int(named["bytes"]),
                    int(named["threads"] or 1),
                    row.get("label"),
                )
                speeds.setdefault(key, []).append(float(row["bytes_per_second"]) / GIGA)
            elif row["run_name"] == LOOKUP:
                lookups.append(float(row["cpu_time"]))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CannotTakeError(
            f"{native.ZERO_BENCH} printed no Google Benchmark JSON that can be read ({error!r}): rebuild it"
        ) from None
    results = [
        Result(kernel, mode, size, values, threads, stands_for)
        for (kernel, mode, size, threads, stands_for), values in speeds.items()
    ]
    return results, context, median(lookups) if lookups else None


def as_json(result: Result, kernels: dict[str, Result]) -> dict[str, Any]:
    """One result beside the others of its context."""
    memset = kernels.get(MEMSET)
    ratio = ratio_of(result, memset) if memset and result is not memset else None
    rivals = candidates(kernels)
    full = [other.median for other in kernels.values() if paid_in_full(other)]
    row = {
        "kernel": result.kernel,
        "mode": result.mode,
        "bytes": result.bytes,
        "threads": result.threads,
        "gigabytes_per_second": result.median,
        "gigabytes_per_second_repetitions": result.gigabytes_per_second,
        "ratio_to_memset": asdict(ratio) if ratio else None,
        "best": paid_in_full(result) and result.median == max(full, default=None),
    }
    if result.kernel == CALIBRATED and rivals:
        best = fastest(rivals)
        to_best = ratio_of(result, best)
        row |= {
            "stands_for": result.stands_for,
            "best_kernel": best.kernel,
            "ratio_to_best": asdict(to_best) if to_best else None,
        }
    return row


def paid_in_full(result: Result) -> bool:
    """Whether this is a way to zero whose time contains all that it costs, so that it may be called the fastest."""
    return result.kernel != CALIBRATED and (result.kernel not in PAID_LATER or result.mode == STREAMING_USED)


def show(report: dict[str, Any], screen: Screen) -> None:
    """A table per mode and number of threads, sizes down and kernels across; several where the screen is narrow."""
    show_results(report["results"], screen)
    screen.print(
        f"GB/s (10^9 bytes per CPU second of a thread), median of {report['repetitions']} repetitions, with the ratio "
        f"to {MEMSET} (and its 95 % interval below); * fastest kernel at that size."
    )
    if any(kernel in PAID_LATER for kernel in report["kernels"]):
        screen.print(
            f"{' and '.join(PAID_LATER)} only give pages back: the page faults of the next use, in which the system "
            "zeroes them, are part of streaming-used alone. Compare them there; elsewhere they get no *."
        )
    chosen = report["chosen"]
    if all(chosen.values()):
        screen.print(f"The grafts use {chosen['ordinary']} (bulk) and {chosen['non_temporal']} (non-temporal) here.")
    if report["table"]:
        screen.print(f"{CALIBRATED}: by {report['table']}")
    else:
        screen.print(f"{CALIBRATED}: by the defaults; `memgraft zero calibrate` makes a table for this CPU.")
    for line in [*report["sentences"], *report["notes"]]:
        screen.print(line)


def show_results(results: Sequence[dict[str, Any]], screen: Screen) -> None:
    for mode, threads in dict.fromkeys((result["mode"], result["threads"]) for result in results):
        mine = {
            (result["kernel"], result["bytes"]): result
            for result in results
            if (result["mode"], result["threads"]) == (mode, threads)
        }
        several = f"; {count_of(threads, 'thread')} at a time" if threads > 1 else ""
        screen.print(Text(MODES.get(mode, mode) + several, style="bold"))
        for kernels in side_by_side(kernel_order(kernel for kernel, _ in mine), screen.width):
            screen.print(_table(mine, kernels))
        screen.print()


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


def kernel_order(kernels: Iterable[str]) -> list[str]:
    """What the others are set against first, then the choice, then by name, avx2 before avx512 and 16 before 64."""

    def key(kernel: str) -> tuple[bool, bool, list[tuple[str, int]]]:
        parts = [(text, int(digits or 0)) for text, digits in re.findall(r"([^0-9]*)([0-9]*)", kernel)]
        return kernel != MEMSET, kernel != CALIBRATED, parts

    return sorted(set(kernels), key=key)


def in_order(kernels: dict[str, Result]) -> list[Result]:
    return [kernels[name] for name in kernel_order(kernels)]
