"""The figures of page migration: kernels in an emulated machine with four nodes, with migration and without.

Emulated memory has no latency. So shares, moves and distances are measured there, and times are modelled: each sample
costs what an access took on the dissertation's machine. Shares are of the monitor's samples; for some figures the
emulator counts all accesses besides.
"""

import json
import math
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memgraft import machine, native, placement, statistics
from memgraft.errors import CannotTakeError, MemgraftError, WrongUsageError
from memgraft.guest.machine import Done, Node, Root, boot, busybox
from memgraft.paper import counted
from memgraft.paper.asked import Asked
from memgraft.paper.counted import Counted
from memgraft.paper.definition import Definition, PlacementPart
from memgraft.paper.grid import CHECKOUT
from memgraft.paper.measures import Cell, Rounds, Table
from memgraft.screen import dump, write_file
from memgraft.version import version
from memgraft.words import bytes_of, listed, percent, three_digits

SCHEMA = 1
KEPT = "placement.json"
NODES = 4
MEBIBYTES = 256
LOCAL_NANOSECONDS, NON_LOCAL_NANOSECONDS = 225, 300
"""Tikir 2005, section 3.1.1: back-to-back latencies of a Sun Fire 6800."""
CLASS = "S"
LENGTHS = {"S": {"small": 2.0, "default": 20.0}, "W": {"small": 20.0, "default": 120.0}}
"""Seconds that a kernel is to run by itself in the guest, by class and size: pages are sampled, and move, in the first
of them, and of less than one it may be that nothing is sampled. A kernel that its specified iterations keep for less
has more, and then nothing to verify. Of class A, FT and MG have more memory than the first node."""
AT_ONCE = {"ep": 10, "ft": 4}
"""Kernels that compute for long without a pause, and how many times as long they are to run: their pages are many.
Where CPUs take turns, what makes a page inaccessible waits for a turn of each that computes, and few pages are sampled.
So the CPUs run at the same time there. Most of FT's pages have moved after four times; a guest then took 9 minutes, and
24 with ten times."""
MOST_ITERATIONS = 1_000_000
MONITOR = "faults-in-process"
SAMPLING = "--sampling-rate 6000 --sampling-cpu 0.5 --sampling-least 65536 --observing-cpu 0.2"
"""More than by default: emulated programs are short, and small, and all that is done for a sample takes long."""
POLICY = "--ignore-move-cost"
"""What a move costs in emulation says nothing beside what an access saves on a real machine."""
SECONDS = {"S": 1200, "W": 4800}
"""For what one guest does, of a kernel that is not to run longer; emulation is slow."""
WITHOUT = "without"


@dataclass(frozen=True)
class Run:
    """One kernel that ran under `memgraft place` in the guest."""

    kernel: str
    side: str
    """`without`: a dry run; else `every 1 s`."""
    round: int
    samples: int
    resolved: int
    """Samples on pages whose node was known."""
    non_local: int
    moved: int
    moved_back: int
    cpu_seconds: float
    wall_seconds: float
    verified: bool | None
    """None: the kernel had nothing to verify."""
    late_resolved: int = 0
    """Of the second half of the intervals, when most pages have moved; 0 in runs kept before this was."""
    late_non_local: int = 0
    huge_pages: Mapping[str, int] = field(default_factory=dict)
    """What Linux counted of them by the end, since the guest began (thp_* of /proc/vmstat); empty in older runs. One
    whose parts several nodes use must have been split for them to move; where that failed it is counted."""
    counted: Counted | None = None
    """All accesses to its arrays, where the emulator counted them."""
    missed: Counted | None = None
    """Those of them that missed the CPU's cache."""


@dataclass(frozen=True)
class Plan:
    """Which runs."""

    kernel_class: str
    kernels: Sequence[str]
    intervals: Sequence[float]
    seconds: float
    rounds: int
    counted: bool = False

    @property
    def sides(self) -> list[str]:
        return [WITHOUT, *map(side_of, self.intervals)]

    def seconds_of(self, kernel: str) -> float:
        return self.seconds * AT_ONCE.get(kernel, 1)

    @property
    def total(self) -> int:
        """Steps of the progress: one for all sides of a kernel in a round."""
        return len(self.kernels) * self.rounds


def side_of(interval: float) -> str:
    return f"every {interval:g} s"


# --- which runs, and running them -------------------------------------------------------------------------------------


def plan(definitions: Sequence[Definition], asked: Asked) -> Plan:
    guests = [one.guest for one in definitions if one.guest is not None]
    known = list(dict.fromkeys(name for guest in guests for name in guest.kernels))
    chosen = known if asked.workloads is None else [name.strip() for name in asked.workloads.split(",")]
    for name in chosen:
        if name not in known:
            raise WrongUsageError(f"--workloads {asked.workloads}: expected kernels of {', '.join(known)}")
    if asked.launches < 1:
        raise WrongUsageError(f"--launches {asked.launches}: expected at least 1")
    # Before the long work, which must not end at what is missing.
    for name in (native.PLACE, native.SAMPLER):
        native.find(name)
    busybox()
    if counts := _counts(definitions):
        counted.check()
    intervals = sorted({interval for guest in guests for interval in guest.intervals})
    kernel_class = asked.choice.kernel_class or CLASS
    return Plan(kernel_class, chosen, intervals, LENGTHS[kernel_class][asked.size], asked.launches, counts)


def _counts(definitions: Sequence[Definition]) -> bool:
    """Whether the emulator is to count, for all of them alike."""
    by = {one.guest.counted: one.name for one in reversed(definitions) if one.guest is not None}
    if len(by) > 1:
        raise WrongUsageError(
            f"{by[True]} counts every access, which slows emulation down, and {by[False]} does not; expected one of "
            "both: name them in two commands"
        )
    return True in by


def kernels_program() -> Path:
    """memgraft-kernels, built where that has not been done; a checkout's only."""
    script = CHECKOUT / "bin/kernel"
    if not script.is_file():
        raise CannotTakeError(f"no {script}: the kernels of placement's figures are built from a checkout of Memgraft")
    done = subprocess.run([script, "--list"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotTakeError(f"the kernels cannot be built: {done.stderr.strip()}")
    return CHECKOUT / "build/kernels/workloads/native/memgraft-kernels"


THREADS = f"OMP_NUM_THREADS={NODES} OMP_PROC_BIND=true OMP_PLACES=threads OMP_WAIT_POLICY=passive"


def program(kernel: str, kernel_class: str, iterations: int | None = None) -> str:
    """A kernel in the guest; None: as many iterations as are specified."""
    line = f"/bin/memgraft-kernels {kernel} --class {kernel_class} --first-touch main --json"
    return line if iterations is None else f"{line} --iterations {iterations}"


def command(program: str, side: str, interval: float) -> str:
    """A line for the guest's shell: the kernel's JSON, the record's lines, what Linux counted of huge pages."""
    options = f"--monitor {MONITOR} {SAMPLING} {POLICY} --interval {interval:g} --drain 50"
    options += " --record /tmp/record --summary /tmp/summary"
    dry = " --dry-run" if side == WITHOUT else ""
    placed = f"{THREADS} /bin/memgraft-place {options}{dry} -- {program}"
    told = "cat /tmp/record && cat /tmp/summary && { grep ^thp_ /proc/vmstat || true; }"
    return f"rm -f /tmp/record /tmp/summary; {placed} && echo && {told}"


def _boot(root: Root, kernel: str, planned: Plan, commands: Sequence[str]) -> list[Done]:
    nodes, seconds = [Node(1, MEBIBYTES)] * NODES, SECONDS[planned.kernel_class] * AT_ONCE.get(kernel, 1)
    plugins = [counted.plugin(_counts_of(root), [MEBIBYTES] * NODES)] if planned.counted else []
    return boot(root, nodes, commands, seconds, concurrent=kernel in AT_ONCE, plugins=plugins)


def _counts_of(root: Root) -> Path:
    return root.folder.with_name("counts")


Counts = tuple[Counted, Counted]


def _done(root: Root, kernel: str, planned: Plan, commands: Sequence[str]) -> Iterator[tuple[Done, Counts | None]]:
    """All in one guest, or each in its own where the emulator counts: it counts from a guest's beginning to its end."""
    if not planned.counted:
        yield from ((done, None) for done in _boot(root, kernel, planned, commands))
        return
    for command in commands:
        [done] = _boot(root, kernel, planned, [command])
        yield done, counted.read(_counts_of(root))


def iterations(root: Root, kernel: str, planned: Plan) -> int | None:
    """As many as take so long in the guest; None where those that are specified do."""
    line = f"{THREADS} {program(kernel, planned.kernel_class)}"
    [done] = _boot(root, kernel, planned, [line])
    told = json.loads(done.output.strip().splitlines()[-1])
    seconds = planned.seconds_of(kernel)
    wanted = math.ceil(seconds / max(told["seconds_per_iteration"], seconds / MOST_ITERATIONS))
    return wanted if wanted > told["iterations"] else None


def run(planned: Plan, output: Path, progress: Callable[[str, int], None]) -> None:
    """Boots a guest for each kernel and round, and keeps what was found after each."""
    runs: list[Run] = []
    with tempfile.TemporaryDirectory(prefix="memgraft-") as scratch:
        root = Root(Path(scratch) / "root")
        for file in (native.find(native.PLACE), native.find(native.SAMPLER), kernels_program()):
            root.add(file, f"/bin/{file.name}")
        programs = {
            kernel: program(kernel, planned.kernel_class, iterations(root, kernel, planned))
            for kernel in planned.kernels
        }
        for turn in range(planned.rounds):
            for kernel in planned.kernels:
                progress(f"{kernel}, round {turn + 1}", len(runs) // len(planned.sides))
                commands = [command(programs[kernel], WITHOUT, min(planned.intervals))]
                commands += [command(programs[kernel], side_of(each), each) for each in planned.intervals]
                done = _done(root, kernel, planned, commands)
                runs += [_run(kernel, side, turn, *one) for side, one in zip(planned.sides, done, strict=True)]
                _keep(planned, runs, output)


def _keep(planned: Plan, runs: Sequence[Run], output: Path) -> None:
    settings = {
        "class": planned.kernel_class,
        "seconds": planned.seconds,
        "at_once": {kernel: planned.seconds_of(kernel) for kernel in planned.kernels if kernel in AT_ONCE},
        "rounds": planned.rounds,
        "kernels": list(planned.kernels),
        "intervals": list(planned.intervals),
        "nodes": NODES,
        "monitor": MONITOR,
        "policy": POLICY,
        "machine": machine.describe(),
        **({"cache_bytes": counted.CACHE_BYTES} if planned.counted else {}),
    }
    kept = {"schema": SCHEMA, "kind": "placements", "memgraft": version(), "settings": settings}
    write_file(output / KEPT, dump(kept | {"runs": [asdict(one) for one in runs]}))


def _run(kernel: str, side: str, turn: int, done: Done, counts: Counts | None = None) -> Run:
    if done.exit_code != 0:
        raise MemgraftError(
            f"{kernel} {side}: exit code {done.exit_code} in the guest, which said: {done.output[-500:]}"
        )
    lines = [json.loads(line) for line in re.findall(r"^\{.*\}$", done.output, re.MULTILINE)]
    told = next(line for line in lines if line["kind"] == "kernel")
    intervals = [line for line in lines if line.get("event") == "interval"]
    summary = placement.Summary.model_validate(next(line for line in lines if line.get("event") == "end")["summary"])
    by_interval = [placement.non_local(line["accesses"]) for line in intervals]
    late = by_interval[len(by_interval) // 2 :]
    return Run(
        kernel,
        side,
        turn,
        summary.samples,
        sum(everything for _, everything in by_interval),
        sum(remote for remote, _ in by_interval),
        summary.moved,
        summary.moved_back,
        summary.cpu_seconds,
        summary.wall_seconds,
        told["verified"],
        sum(everything for _, everything in late),
        sum(remote for remote, _ in late),
        {name: int(count) for name, count in re.findall(r"^(thp_\w+) (\d+)$", done.output, re.MULTILINE)},
        *(counts or ()),
    )


# --- what they show ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kept:
    """What was measured."""

    settings: Mapping[str, Any]
    runs: Sequence[Run]

    def of(self, kernel: str, side: str) -> list[Run]:
        mine = [one for one in self.runs if (one.kernel, one.side) == (kernel, side)]
        return sorted(mine, key=lambda one: one.round)

    def pairs(self, kernel: str, side: str) -> list[tuple[Run, Run]]:
        """Without and with, of the same rounds."""
        without = {one.round: one for one in self.of(kernel, WITHOUT)}
        return [(without[one.round], one) for one in self.of(kernel, side) if one.round in without]

    @property
    def kernels(self) -> list[str]:
        return list(dict.fromkeys(one.kernel for one in self.runs))

    @property
    def sides(self) -> list[str]:
        return list(dict.fromkeys(one.side for one in self.runs))

    @property
    def rounds(self) -> Rounds:
        return Rounds.of((one.kernel, one.side) for one in self.runs)


def read(folder: Path) -> Kept:
    try:
        document = json.loads((folder / KEPT).read_text(encoding="utf-8"))
        if (document["schema"], document["kind"]) == (SCHEMA, "placements"):
            return Kept(document["settings"], [_kept_run(fields) for fields in document["runs"]])
        reason = f"schema {document['schema']} of {document['kind']}"
    except (OSError, ValueError, KeyError, TypeError) as error:
        reason = str(error)
    raise WrongUsageError(
        f"--from {folder}: no runs of placement that can be read ({reason}); measure again without --from"
    )


def _kept_run(fields: Mapping[str, Any]) -> Run:
    counts = {name: fields.get(name) for name in ("counted", "missed")}
    return Run(**{**fields, **{name: Counted(**one) if one else None for name, one in counts.items()}})


def share(one: Run) -> float | None:
    """Non-local; None where nothing was seen."""
    return one.non_local / one.resolved if one.resolved else None


def late_share(one: Run) -> float | None:
    return one.late_non_local / one.late_resolved if one.late_resolved else None


def nanoseconds(one: Run) -> float | None:
    """Modelled, of a sampled access."""
    remote = share(one)
    return None if remote is None else LOCAL_NANOSECONDS + remote * (NON_LOCAL_NANOSECONDS - LOCAL_NANOSECONDS)


def _relative(pair: tuple[Run, Run], of: Callable[[Run], float | None]) -> float | None:
    before, after = map(of, pair)
    return after / before if before and after is not None else None


COUNTED, MISSED = "counted", "missed"


def _of(which: str, of: Callable[[Counted], float | None]) -> Callable[[Run], float | None]:
    def value(one: Run) -> float | None:
        counts: Counted | None = getattr(one, which)
        return None if counts is None else of(counts)

    return value


# Of one run, with what it is written.
ALONE: dict[str, tuple[Callable[[Run], float | None], Callable[[float], str]]] = {
    "samples": (lambda one: float(one.samples), lambda value: f"{value:,.0f}"),
    "non-local": (share, percent),
    "non-local-late": (late_share, percent),
    "moved": (lambda one: float(one.moved), lambda value: f"{value:,.0f}"),
    "moved-back": (lambda one: float(one.moved_back), lambda value: f"{value:,.0f}"),
    "counted": (_of(COUNTED, lambda counts: counts.accesses / 1e6), lambda value: f"{value:,.0f}"),
    "counted-non-local": (_of(COUNTED, lambda counts: counts.share), percent),
    "counted-non-local-late": (_of(COUNTED, lambda counts: counts.late_share), percent),
    "missed": (_of(MISSED, lambda counts: counts.accesses / 1e6), three_digits),
    "missed-non-local": (_of(MISSED, lambda counts: counts.share), percent),
    "missed-non-local-late": (_of(MISSED, lambda counts: counts.late_share), percent),
    "overhead": (lambda one: one.cpu_seconds / one.wall_seconds if one.wall_seconds else None, percent),
}
# Of a run without migration and one with it.
PAIRED: dict[str, tuple[Callable[[tuple[Run, Run]], float | None], Callable[[float], str]]] = {
    "reduction": (lambda pair: _less(pair, share), percent),
    "counted-reduction": (lambda pair: _less(pair, _of(COUNTED, lambda counts: counts.non_local)), percent),
    "missed-reduction": (lambda pair: _less(pair, _of(MISSED, lambda counts: counts.non_local)), percent),
    "modelled-time": (lambda pair: _relative(pair, nanoseconds), three_digits),
    "modelled-gain": (lambda pair: _less(pair, nanoseconds), percent),
}
RELATIVE = "modelled-time"
ONLY_WITHOUT, LATE = ("samples", "counted", "missed"), ("non-local-late",)
BOTH = tuple(f"{of}non-local{late}" for of in ("", "counted-", "missed-") for late in ("", "-late"))


def _less(pair: tuple[Run, Run], of: Callable[[Run], float | None]) -> float | None:
    found = _relative(pair, of)
    return None if found is None else 1 - found


def tables(definition: Definition, kept: Kept) -> list[Table]:
    """Those of the definition's intervals; kernels of which nothing was seen are left out."""
    if definition.guest is None:
        return []
    sides = [WITHOUT, *map(side_of, definition.guest.intervals)]
    missing = [side for side in sides if side not in kept.sides]
    if missing:
        raise WrongUsageError(f"{definition.name}: no runs {missing[0]} were kept; measure again without --from")
    if definition.guest.counted and not _has(kept, COUNTED):
        raise WrongUsageError(
            f"{definition.name}: of the runs kept no accesses were counted; measure again without --from"
        )
    kernels = [kernel for kernel in definition.guest.kernels if kernel in kept.kernels]
    halves, missed = any(one.late_resolved for one in kept.runs), _has(kept, MISSED)
    parts = [part for part in definition.placements if halves or part.shows not in LATE]
    parts = [part for part in parts if missed or not part.shows.startswith(MISSED)]
    return [_table(part, kept, kernels, sides) for part in parts]


def _has(kept: Kept, which: str) -> bool:
    """Whether the emulator counted that of all runs; older ones have no misses."""
    return all(getattr(one, which) for one in kept.runs)


def _table(part: PlacementPart, kept: Kept, kernels: Sequence[str], sides: Sequence[str]) -> Table:
    shown = [WITHOUT] if part.shows in ONLY_WITHOUT else sides if part.shows in BOTH else sides[1:]
    cells, rounds = [], []
    for kernel in kernels:
        for side in shown:
            values, words = _values(part, kept, kernel, side)
            if values:
                cells.append(Cell(kernel, side, statistics.median_or_range(values)))
                rounds.append(len(values))
    if not cells:
        raise MemgraftError(f"'{part.title}': the monitor saw nothing in any run; use --size default")
    return Table(part.title, cells, words, 1.0 if part.shows == RELATIVE else None, rounds=min(rounds))


def _values(part: PlacementPart, kept: Kept, kernel: str, side: str) -> tuple[list[float], Callable[[float], str]]:
    if part.shows in ALONE:
        of, words = ALONE[part.shows]
        found = [of(one) for one in kept.of(kernel, side)]
    else:
        of_pair, words = PAIRED[part.shows]
        found = [of_pair(pair) for pair in kept.pairs(kernel, side)]
    return [value for value in found if value is not None], words


def measured(kept: Kept) -> list[tuple[str, str]]:
    """How, as rows."""
    settings = kept.settings
    unverified = [f"{one.kernel} {one.side}" for one in kept.runs if one.verified is False]
    right = sum(one.verified is True for one in kept.runs)
    rest = "; the others had other iterations than there is a result of" if right < len(kept.runs) else ""
    at_once = [f"{kernel} {seconds:g} s" for kernel, seconds in settings.get("at_once", {}).items()]
    longer = f"; {listed(at_once, 'and')}, with all CPUs at the same time" if at_once else ""
    counts = [("accesses", "to the kernels' arrays, all counted by the emulator")] if _has(kept, COUNTED) else []
    if _has(kept, MISSED):
        # The first runs that were kept do not tell.
        cache = bytes_of(settings.get("cache_bytes", counted.CACHE_BYTES))
        counts.append(("caches", f"modelled: {cache} of each CPU, 8 lines of 64 bytes in a set"))
    return [
        ("machine", f"emulated on {settings['machine']['cpu']}: {settings['nodes']} nodes of one CPU"),
        ("kernels", f"class {settings['class']}, {settings['nodes']} threads, first touched by the main thread"),
        (
            "length",
            f"as many iterations as take {settings['seconds']:g} s there by themselves, or as are specified{longer}",
        ),
        ("monitor", str(settings["monitor"])),
        *counts,
        ("policy", str(settings.get("policy", "as `memgraft place` has it by default"))),
        ("rounds", kept.rounds.words("run", "kernel and interval")),
        (
            "results",
            f"not verified: {', '.join(unverified)}"
            if unverified
            else f"verified by {right} of {len(kept.runs)} runs{rest}",
        ),
        ("model", f"{LOCAL_NANOSECONDS} ns for a local sample, {NON_LOCAL_NANOSECONDS} ns for another"),
    ]
