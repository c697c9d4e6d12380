"""How representative samples of a program's memory transactions are of all of them.

M. M. Tikir, Using Hardware Monitors to Automatically Improve Memory Performance, University of Maryland, 2005, 3.3.1:
its distance, table 1 and the data of figure 2, measured on every access of a kernel under QEMU.

    python -m memgraft.placement_sampling [--class S] [--json FILE]       from a checkout, after `make build`
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memgraft.errors import CannotTakeError, MemgraftError

ROOT = Path(__file__).resolve().parent.parent.parent
DEFINITION = ROOT / "experiments/placement/sampling/cg.toml"
BUILD = ROOT / "build/native"
PLUGIN = BUILD / "observation/plugin/libmemgraft_tcg_sampling.so"
KERNELS = BUILD / "workloads/native/memgraft-kernels"
QEMU = "qemu-x86_64"
FIFO = 8


def distance(requested: int, of_all: int, sampled: int, of_samples: int) -> float | None:
    """The distance D between samples and all transactions, by what one processor requested.

    |R_sample - R_all| / R_all, where R_all = requested / of_all, and R_sample = sampled / of_samples. None where there
    is nothing to compare with: the processor requested nothing, or there are no samples.
    """
    if not 0 <= requested <= of_all or not 0 <= sampled <= of_samples:
        raise ValueError(f"{requested} of {of_all}, {sampled} of {of_samples}: a part is larger than the whole")
    if requested == 0 or of_samples == 0:
        return None
    ratio_all = requested / of_all
    return abs(sampled / of_samples - ratio_all) / ratio_all


@dataclass(frozen=True)
class Sampled:
    """What one way of sampling saw."""

    interval: int
    """Transactions from one sample's begin to the next; 0: as often as possible."""
    by_processor: Sequence[int]
    pages: int | None = None

    @property
    def samples(self) -> int:
        return sum(self.by_processor)


@dataclass(frozen=True)
class Row:
    """One way of sampling against all transactions."""

    interval: int
    distances: Sequence[float | None]
    """By processor."""
    average: float | None
    percent_sampled: float
    percent_pages: float | None

    @property
    def name(self) -> str:
        return "max" if self.interval == 0 else str(self.interval)


def compare(requested: Sequence[int], pages: int | None, sampled: Sampled) -> Row:
    """The distances of one way of sampling, and how much of everything it saw."""
    total = sum(requested)
    if total == 0:
        raise ValueError("no transactions")
    distances = [
        distance(of_one, total, seen, sampled.samples)
        for of_one, seen in zip(requested, sampled.by_processor, strict=True)
    ]
    known = [value for value in distances if value is not None]
    return Row(
        sampled.interval,
        distances,
        sum(known) / len(known) if known else None,
        100 * sampled.samples / total,
        None if pages is None or sampled.pages is None else 100 * sampled.pages / pages,
    )


@dataclass
class Analyzer:
    """A bus analyzer: a FIFO that is filled with transactions in a row; software empties it in its time."""

    interval: int
    """Of transactions; 0: it is filled again as soon as it is empty."""
    emptying: float
    """The time from its being full to its being empty."""
    _due: int = 0
    _filled: int = 0
    _empty_at: float = float("-inf")

    def takes(self, number: int, time: float) -> bool:
        """Whether it records the transaction of that number, at that time."""
        if self._filled == 0:
            if number < self._due or time < self._empty_at:
                return False
            self._due = number + self.interval
        self._filled += 1
        if self._filled == FIFO:
            self._filled = 0
            self._empty_at = time + self.emptying
        return True


def run_analyzer(stream: Iterator[tuple[float, int]], processors: int, analyzer: Analyzer) -> tuple[list[int], Sampled]:
    """What each processor requested, and what was sampled of it; the stream: time and processor of each transaction."""
    requested, seen = [0] * processors, [0] * processors
    for number, (time, processor) in enumerate(stream):
        requested[processor] += 1
        seen[processor] += analyzer.takes(number, time)
    return requested, Sampled(analyzer.interval, seen)


def read(measured: Mapping[str, Any], processors: int) -> list[Row]:
    """The rows of what the plugin wrote; threads beyond the processors are not asked for, but count as all."""
    requested = measured["by_thread"]
    if len(requested) < processors:
        raise MemgraftError(f"the program had {len(requested)} threads, expected {processors}")
    # An interval beyond all transactions is one sample, at the start.
    return [
        compare(requested, measured["pages"], Sampled(sampler["interval"], sampler["by_thread"], sampler["pages"]))
        for sampler in measured["samplers"]
        if sampler["interval"] < measured["transactions"]
    ]


def measure(definition: Mapping[str, Any], size: str) -> dict[str, Any]:
    """Runs the kernel under the plugin; what that wrote."""
    if shutil.which(QEMU) is None:
        raise CannotTakeError(f"no {QEMU} was found, which sees every access: install it (Debian: qemu-user)")
    for part in (PLUGIN, KERNELS):
        if not part.is_file():
            raise CannotTakeError(f"{part.name} is not at {part}: build it with `make build` in a checkout on x86-64")
    program = definition["program"]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "sampling.json"
        plugin = f"{PLUGIN},out={out},cache={program['cache_bytes']},emptying={program['emptying_accesses']}"
        kernel = [str(KERNELS), program["kernel"], "--class", size, "--threads", str(program["threads"])]
        ran = subprocess.run([QEMU, "-plugin", plugin, *kernel], capture_output=True, text=True, check=False)
        if ran.returncode != 0 or not out.is_file():
            raise MemgraftError(f"{QEMU} failed ({ran.returncode}): {ran.stderr.strip() or ran.stdout.strip()}")
        measured: dict[str, Any] = json.loads(out.read_text())
    return measured


def report(definition: Mapping[str, Any], size: str, measured: Mapping[str, Any]) -> dict[str, Any]:
    """Table 1 and the data of figure 2, the published numbers beside ours."""
    processors = definition["program"]["threads"]
    rows = read(measured, processors)
    published = definition["published"]
    table = {
        row.name: {
            "distance": row.distances[:processors],
            "average": row.average,
            "percent_sampled": row.percent_sampled,
            "published": {
                "distance": published["distance"][row.name],
                "average": published["average"][row.name],
                "percent_sampled": published["percent_sampled"][row.name],
            },
        }
        for row in rows
        if row.name in published["distance"]
    }
    figure = [
        {"interval": row.name, "average_distance": row.average, "percent_pages": row.percent_pages} for row in rows
    ]
    return {
        "schema": 1,
        "kind": "sampling-comparison",
        "source": f"{definition['source']}, {definition['section']}",
        "here": definition["here"],
        "kernel": definition["program"]["kernel"],
        "class": size,
        "threads": processors,
        "cache_bytes": measured["cache_bytes"],
        "emptying_accesses": measured["emptying_accesses"],
        "accesses": measured["accesses"],
        "transactions": measured["transactions"],
        "pages": measured["pages"],
        "table_1": table,
        "figure_2": {"measured": figure, "published": published["figure_2"]},
    }


def lines(made: Mapping[str, Any]) -> Iterator[str]:
    """The report for people: ours, and the published number in brackets."""
    table = made["table_1"]
    yield f"Distances of {made['kernel']}, class {made['class']}, {made['threads']} threads; published in brackets"
    yield "  ".join(["             ", *(f"{name:>13}" for name in table)])
    for processor in range(made["threads"]):
        cells = (_cell(way["distance"][processor], way["published"]["distance"][processor]) for way in table.values())
        yield "  ".join([f"processor {processor}  ", *cells])
    for name, key in (("average      ", "average"), ("% sampled    ", "percent_sampled")):
        yield "  ".join([name, *(_cell(way[key], way["published"][key]) for way in table.values())])
    yield ""
    yield "     interval  average distance  % of pages"
    for point in made["figure_2"]["measured"]:
        average = "-" if point["average_distance"] is None else f"{point['average_distance']:.3f}"
        yield f"{point['interval']:>13}  {average:>16}  {point['percent_pages']:10.1f}"


def _cell(ours: float | None, published: float) -> str:
    text = "-" if ours is None else f"{ours:.2f}"
    return f"{f'{text} ({published:.2f})':>13}"


def main(arguments: Sequence[str] | None = None) -> int:
    definition = tomllib.loads(DEFINITION.read_text())
    parser = argparse.ArgumentParser(prog="python -m memgraft.placement_sampling", description=definition["title"])
    parser.add_argument("--class", dest="size", default=definition["program"]["class"], choices=["S", "W", "A"])
    parser.add_argument("--json", type=Path, help="where the numbers are written")
    options = parser.parse_args(arguments)
    try:
        made = report(definition, options.size, measure(definition, options.size))
    except CannotTakeError as missing:
        print(f"memgraft: {missing}", file=sys.stderr)
        return 3
    except MemgraftError as failed:
        print(f"memgraft: {failed}", file=sys.stderr)
        return 1
    if options.json is not None:
        options.json.write_text(json.dumps(made, indent=1) + "\n")
    print("\n".join(lines(made)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
