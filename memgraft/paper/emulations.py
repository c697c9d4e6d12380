"""The figures of Arm machines: what programs execute on AArch64, counted in an emulator, and a model of what it costs.

An emulator has no time of its own. So instructions and fences are counted there, which they are exactly, and times are
modelled: instructions at so many a cycle, and a fence for as long as it was published to take.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from memgraft import machine, native, statistics
from memgraft.errors import CannotTakeError, MemgraftError, WrongUsageError, one_line
from memgraft.grafts.selection import select
from memgraft.grafts.table import ORDERING
from memgraft.jvm.launch import java_feature, join
from memgraft.paper import grid
from memgraft.paper.asked import Asked
from memgraft.paper.definition import Definition, EmulationPart
from memgraft.paper.grid import CHECKOUT
from memgraft.paper.measures import MEAN, Cell, Rounds, Table, geometric_mean
from memgraft.screen import dump, write_file
from memgraft.statistics import MIN_PAIRS
from memgraft.version import version
from memgraft.words import count_of, three_digits

SCHEMA = 1
KEPT = "executed.json"
PLUGIN = CHECKOUT / "build/native/observation/plugin/libmemgraft_tcg_instructions.so"
AGENT = CHECKOUT / "build/agent-aarch64/stocks/hotspot/libmemgraft_hotspot.so"
QEMU = ("qemu-aarch64", "qemu-aarch64-static")
STOCK, ORDERED, SEED, BYTECODE, SPECULATIVE = "stock", "sc", "sc-seed", "sc-bytecode", "speculative"
KINDS = ("other", "load", "store", "ldar", "stlr", "atomic", "dmb ish", "dmb ishld", "dmb ishst")
FENCES = ("dmb ish", "dmb ishld", "dmb ishst", "ldar", "stlr")
"""What orders, but for atomic instructions, of which no ordering adds any."""
DMB = frozenset(kind for kind in FENCES if kind.startswith("dmb"))
FENCE_CYCLES = 3.03
"""`dmb ish`, and `dmb ishld`, one behind the other: 3027 and 3035 cycles for 1000 on a performance core of an Apple M1
(D. Johnson, Apple Microarchitecture Research, dougallj.github.io/applecpu, DMB_ISH and DMB_ISHLD). A fence that has to
wait for stores takes longer. Of `dmb ishst`, which is taken to cost as much, nothing was found."""
HEAP = ("-XX:+UseParallelGC", "-Xms512m", "-Xmx512m")


@dataclass(frozen=True)
class Run:
    """What one launch executed in each of its counted iterations, on average."""

    workload: str
    side: str
    round: int
    executed: Mapping[str, float]
    """Instructions by kind, of code that HotSpot made: its interpreter, C1 and C2."""

    @property
    def instructions(self) -> float:
        return sum(self.executed.values())


@dataclass(frozen=True)
class Plan:
    """Which launches."""

    workloads: Sequence[str]
    sides: Sequence[str]
    """The stock, and orderings."""
    size: str
    iterations: int
    """Of a launch; the second half counts."""
    rounds: int
    java: Path
    qemu: str

    @property
    def total(self) -> int:
        return len(self.workloads) * len(self.sides) * self.rounds


# --- which launches, and running them ---------------------------------------------------------------------------------


def plan(definitions: Sequence[Definition], asked: Asked) -> Plan:
    theirs = list(dict.fromkeys(name for one in definitions for name in one.emulated))
    chosen = grid.workloads(asked.workloads, MIN_PAIRS, theirs)
    if asked.launches < 1:
        raise WrongUsageError(f"--launches {asked.launches}: expected at least 1")
    qemu = next((found for name in QEMU if (found := shutil.which(name))), None)
    if qemu is None:
        raise CannotTakeError("no qemu-aarch64, which runs programs for AArch64: `make test` installs it (qemu-user)")
    for file, command in ((PLUGIN, "make native"), (AGENT, "make agent-aarch64")):
        if not file.is_file():
            raise CannotTakeError(f"no {file}: `{command}` builds it, in a checkout")
    sides = [STOCK, *dict.fromkeys(side for one in definitions for part in one.emulations for side in _sides(part))]
    if any(select({ORDERING: side}).by_bytecode for side in sides):
        native.find(native.BYTECODE_AGENT)
    return Plan(chosen, sides, asked.size, asked.iterations, asked.launches, _java(), qemu)


def _sides(part: EmulationPart) -> list[str]:
    """The orderings that it is made of."""
    return [*part.orderings, *(MODELS[name].side for name in part.models)]


def _java() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memgraft/jdks-aarch64"
    found = [java for java in cache.glob("temurin-*/bin/java") if java_feature(java) is not None]
    if not found:
        raise CannotTakeError(f"no JVM for AArch64 in {cache}: `setup/jdks` fetches one")
    return max(found, key=lambda java: java_feature(java) or 0)


def run(planned: Plan, output: Path, progress: Callable[[str, int], None]) -> None:
    """Launches every program on every side, in rounds, and keeps what was found after each."""
    runs: list[Run] = []
    for workload in planned.workloads:
        # Before Java is an emulated one, which would take long for it.
        _run([str(grid.workload_program()), workload, "--help"], dict(os.environ))
    for turn in range(planned.rounds):
        for workload in planned.workloads:
            for side in planned.sides:
                progress(f"{workload}, {side}, round {turn + 1}", len(runs))
                runs.append(_launch(planned, workload, side, turn))
                _keep(planned, runs, output)


def _launch(planned: Plan, workload: str, side: str, turn: int) -> Run:
    with tempfile.TemporaryDirectory(prefix="memgraft-") as scratch:
        folder = Path(scratch)
        counts = folder / "counts"
        home = _home(folder / "jdk", planned, counts)
        # Compiled in between, not beside: the emulator would make the compilers late.
        jvm = [*HEAP, "-Xbatch", *_grafted(side, folder)]
        words = ["--size", planned.size, "--iterations", str(planned.iterations), "--threads", "1"]
        command = [str(grid.workload_program()), workload, *(f"--jvm={option}" for option in jvm), *words]
        _run(command, {**os.environ, "JAVA_HOME": str(home)})
        lines = counted(counts)
    return Run(workload, side, turn, per_iteration(lines, planned.iterations))


def counted(file: Path) -> list[Mapping[str, Any]]:
    """What the plugin wrote, a line each time."""
    lines = file.read_text(encoding="utf-8").splitlines()
    try:
        return [json.loads(line) for line in lines]
    except ValueError as error:
        said = f"{file}: the emulator's counts are not whole ({error}); is the disk full?"
        raise MemgraftError(said) from error


def _home(home: Path, planned: Plan, counts: Path) -> Path:
    """A Java home whose java is run by the emulator."""
    (home / "bin").mkdir(parents=True)
    (home / "release").symlink_to(planned.java.parent.parent / "release")
    java = home / "bin/java"
    java.write_text(f'#!/bin/sh\nexec "{planned.qemu}" -plugin "{PLUGIN},out={counts}" "{planned.java}" "$@"\n')
    java.chmod(0o755)
    return home


def _grafted(side: str, folder: Path) -> list[str]:
    selection = select({ORDERING: side})
    agent = native.find(native.BYTECODE_AGENT) if selection.by_bytecode else AGENT
    return list(join(selection, "", agent, folder).options)


def _run(command: Sequence[str], environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MemgraftError(f"{' '.join(command)}: exit code {done.returncode}: {one_line(done.stderr)}")


def per_iteration(lines: Sequence[Mapping[str, Any]], iterations: int) -> dict[str, float]:
    """Of the second half: the program wrote a line at the end of each, and the counts so far were kept then."""
    ends = [line for line in lines if line["when"] == "write"]
    if len(ends) != iterations:
        raise MemgraftError(f"the emulator saw {count_of(len(ends), 'line')} of the program, expected {iterations}")
    first, last = ends[iterations // 2 - 1], ends[-1]
    return {kind: (last[kind] - first[kind]) / (iterations - iterations // 2) for kind in KINDS}


def _keep(planned: Plan, runs: Sequence[Run], output: Path) -> None:
    settings = {
        "workloads": list(planned.workloads),
        "size": planned.size,
        "iterations": planned.iterations,
        "rounds": planned.rounds,
        "jvm": planned.java.parent.parent.name,
        "machine": machine.describe(),
    }
    kept = {"schema": SCHEMA, "kind": "executed", "memgraft": version(), "settings": settings}
    write_file(output / KEPT, dump(kept | {"runs": [asdict(one) for one in runs]}))


# --- what they show ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """What was counted."""

    settings: Mapping[str, Any]
    runs: Sequence[Run]

    @property
    def workloads(self) -> list[str]:
        return list(dict.fromkeys(one.workload for one in self.runs))

    @property
    def rounds(self) -> Rounds:
        return Rounds.of((one.workload, one.side) for one in self.runs)

    def of(self, workload: str, side: str) -> list[Run]:
        return sorted(
            (one for one in self.runs if (one.workload, one.side) == (workload, side)), key=lambda one: one.round
        )


def read(folder: Path) -> Kept:
    try:
        document = json.loads((folder / KEPT).read_text(encoding="utf-8"))
        if (document["schema"], document["kind"]) == (SCHEMA, "executed"):
            return Kept(document["settings"], [Run(**fields) for fields in document["runs"]])
        reason = f"schema {document['schema']} of {document['kind']}"
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = str(error)
    raise WrongUsageError(f"--from {folder}: no counts that can be read ({reason}); measure again without --from")


def fences(one: Run, kind: str) -> float:
    """Executed of a kind, of 1000 instructions."""
    return 1000 * one.executed[kind] / one.instructions


@dataclass(frozen=True)
class Model:
    """What is taken for a fence."""

    side: str
    costs: frozenset[str]


MODELS = {
    "sc-seed": Model(SEED, DMB),
    "sc-seed, fences behind stores only": Model(SEED, DMB - {"dmb ishld"}),
    "sc, ldar and stlr for nothing": Model(ORDERED, DMB),
    "sc, ldar and stlr as dear as a fence": Model(ORDERED, frozenset(FENCES)),
    "sc-bytecode": Model(BYTECODE, DMB),
    "speculative": Model(SPECULATIVE, DMB),
}


def cycles(one: Run, costs: frozenset[str], instructions_per_cycle: float) -> float:
    return one.instructions / instructions_per_cycle + FENCE_CYCLES * sum(one.executed[kind] for kind in costs)


def modelled(stock: Run, grafted: Run, model: Model, instructions_per_cycle: float) -> float:
    """Time relative to the stock's."""
    return cycles(grafted, model.costs, instructions_per_cycle) / cycles(stock, model.costs, instructions_per_cycle)


def tables(definition: Definition, kept: Kept) -> list[Table]:
    there = {one.side for one in kept.runs}
    if missing := [side for part in definition.emulations for side in _sides(part) if side not in there]:
        raise WrongUsageError(
            f"{definition.name}: expected launches under {missing[0]}; the counts are of {', '.join(sorted(there))}: "
            "measure again without --from"
        )
    rows = [name for name in kept.workloads if name in definition.emulated] or kept.workloads
    return [_table(part, kept, rows) for part in definition.emulations]


def _table(part: EmulationPart, kept: Kept, rows: Sequence[str]) -> Table:
    series = _series(part)
    values = {(row, name): of(kept, row) for row in rows for name, of in series.items()}
    cells = [Cell(row, name, statistics.median_or_range(found)) for (row, name), found in values.items()]
    relative = part.shows != "fences"
    if relative and len(rows) > 1:
        for name in series:
            rounds = zip(*(values[row, name] for row in rows), strict=False)
            means = [geometric_mean(one) for one in rounds]
            cells.append(Cell(MEAN, name, statistics.median_or_range(means)))
    return Table(part.title, cells, three_digits, 1.0 if relative else None, rounds=min(map(len, values.values())))


Series = Callable[[Kept, str], list[float]]
"""What a series has of a workload, a value for each round."""


def _series(part: EmulationPart) -> dict[str, Series]:
    if part.shows == "fences":
        [side] = part.orderings
        return {kind: partial(_fences, side, kind) for kind in FENCES}
    if part.shows == "instructions":
        return {side: partial(_instructions, side) for side in part.orderings}
    return {name: partial(_modelled, MODELS[name], part.instructions_per_cycle) for name in part.models}


def _fences(side: str, kind: str, kept: Kept, workload: str) -> list[float]:
    return [fences(one, kind) for one in kept.of(workload, side)]


def _instructions(side: str, kept: Kept, workload: str) -> list[float]:
    return [grafted.instructions / stock.instructions for stock, grafted in _pairs(kept, workload, side)]


def _modelled(model: Model, instructions_per_cycle: float, kept: Kept, workload: str) -> list[float]:
    pairs = _pairs(kept, workload, model.side)
    return [modelled(stock, grafted, model, instructions_per_cycle) for stock, grafted in pairs]


def _pairs(kept: Kept, workload: str, side: str) -> list[tuple[Run, Run]]:
    """The stock's and another's, of the same rounds."""
    return list(zip(kept.of(workload, STOCK), kept.of(workload, side), strict=False))


def measured(kept: Kept) -> list[tuple[str, str]]:
    """How, as rows."""
    settings = kept.settings
    words = f"--size {settings['size']} --iterations {settings['iterations']} --threads 1"
    return [
        ("machine", f"AArch64, emulated by QEMU on {settings['machine']['cpu']}"),
        ("JVM", str(settings["jvm"])),
        ("options", " ".join([*HEAP, "-Xbatch"])),
        ("workloads", f"bin/workload, {words}; the second half of the iterations is counted"),
        ("launches", kept.rounds.words("launch", "workload and ordering")),
        ("counted", "instructions of code that HotSpot made while it ran: its interpreter's, C1's and C2's"),
        ("model", f"{FENCE_CYCLES} cycles for a fence, beside the instructions"),
    ]
