"""What a compare-and-swap, a request and a refill cost on this machine: Google Benchmark's JSON, read."""

import json
import re
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from memgraft import machine, native, statistics
from memgraft.errors import CannotTakeError, MemgraftError, WrongUsageError
from memgraft.formats import why
from memgraft.formats.format import Format
from memgraft.jvm.launch import SIGNAL_EXIT, describe_exit
from memgraft.statistics import Interval
from memgraft.version import version

SCHEMA = 1
REPETITIONS = 9
MIN_TIME_SECONDS, QUICK_MIN_TIME_SECONDS = 0.1, 0.01
NAME = re.compile(r"buffers/(?P<what>[a-z]+/[a-z0-9-]+(?:/\d+)?)(?:/real_time)?(?:/threads:\d+)?")
KINDS = ("cpus", "cores", "processors", "nodes")
NEEDED = ("swap/alone", "swap/handover-core", "take/atomic", "refill/atomic")


@dataclass(frozen=True)
class Costs:
    """Nanoseconds by name (allocation/bench/buffers_bench.cpp), of one machine."""

    nanoseconds: dict[str, Interval]
    machine: dict[str, Any]
    kinds: dict[str, int]
    """How many CPUs, cores, processors and nodes it has."""
    repetitions: int

    def get(self, name: str) -> Interval | None:
        return self.nanoseconds.get(name)

    @property
    def restartable(self) -> bool:
        return "take/restartable" in self.nanoseconds

    def contended(self, what: str) -> tuple[int, Interval] | None:
        """Of the most threads that were measured: how many, and the time of one operation of all together."""
        found = {int(name.rpartition("/")[2]): cost for name, cost in self.nanoseconds.items() if f"{what}/" in name}
        return max(found.items()) if found else None

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "kind": "buffer-costs",
            "memgraft": version(),
            "machine": self.machine,
            "kinds": self.kinds,
            "repetitions": self.repetitions,
            "nanoseconds": {name: asdict(cost) for name, cost in self.nanoseconds.items()},
        }


class _Cost(Format):
    median: float = Field(gt=0)
    low: float = Field(gt=0)
    high: float = Field(gt=0)


class _Kept(Format):
    """What `as_json` wrote."""

    schema_: Literal[1] = Field(alias="schema")
    kind: Literal["buffer-costs"]
    machine: dict[str, Any]
    kinds: dict[str, int]
    repetitions: int
    nanoseconds: dict[str, _Cost]


class _Scale(Format):
    """What `memgraft buffers scale --json` prints."""

    costs: _Kept


def measure(*, quick: bool) -> Costs:
    """Runs the benchmark on every CPU that this process may use."""
    command = [
        str(native.find(native.BUFFERS_BENCH)),
        "--benchmark_enable_random_interleaving=true",
        f"--benchmark_repetitions={REPETITIONS}",
        f"--benchmark_min_time={QUICK_MIN_TIME_SECONDS if quick else MIN_TIME_SECONDS}",
        "--benchmark_format=json",
    ]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if done.returncode != 0:
        code = done.returncode if done.returncode > 0 else SIGNAL_EXIT - done.returncode
        raise MemgraftError(f"{command[0]} ended with {describe_exit(code)}")
    return parse(done.stdout, machine.describe())


def parse(output: bytes, of_machine: dict[str, Any]) -> Costs:
    """Google Benchmark's JSON without its own averages; CannotTakeError where there is too little."""
    try:
        parsed = json.loads(output)
        found: dict[str, list[float]] = {}
        for row in parsed["benchmarks"]:
            named = NAME.fullmatch(row["run_name"])
            if named and row["run_type"] == "iteration" and not row.get("error_occurred"):
                found.setdefault(named["what"], []).append(float(row["nanoseconds"]))
        kinds = {kind: int(parsed["context"][kind]) for kind in KINDS}
        nanoseconds = {name: statistics.median_interval(times) for name, times in sorted(found.items())}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CannotTakeError(
            f"{native.BUFFERS_BENCH} printed no Google Benchmark JSON that can be read ({error!r}): rebuild it"
        ) from None
    return _complete(Costs(nanoseconds, of_machine, kinds, max(map(len, found.values()), default=0)))


def _complete(costs: Costs) -> Costs:
    for name in NEEDED:
        if name not in costs.nanoseconds:
            reason = (
                "it takes two cores of one processor, on which this process may run"
                if "handover" in name
                else "rebuild it"
            )
            raise CannotTakeError(f"{native.BUFFERS_BENCH} measured no {name}: {reason}; or name a file with --costs")
    return costs


def read(file: Path) -> Costs:
    """Those of another time or machine: what `memgraft buffers scale --json` printed, or its `costs`."""
    try:
        text = file.read_text(encoding="utf-8")
        model = _Scale if "costs" in json.loads(text) else _Kept
        kept = model.model_validate_json(text)
    except (OSError, ValueError, TypeError) as error:
        reason = why(error) if isinstance(error, ValidationError) else str(error)
        raise WrongUsageError(
            f"--costs {file}: cannot be read ({reason}); expected what `memgraft buffers scale --json` printed"
        ) from None
    of = kept.costs if isinstance(kept, _Scale) else kept
    costs = {name: Interval(cost.median, cost.low, cost.high) for name, cost in of.nanoseconds.items()}
    return _complete(Costs(costs, of.machine, of.kinds, of.repetitions))
