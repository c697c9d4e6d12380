"""Workloads under strategies: launches in turn, kept on disk, so that every figure can be made of the same ones."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memgraft import machine
from memgraft.errors import CannotTakeError, WrongUsageError
from memgraft.experiment.design import rounds
from memgraft.experiment.launches import Launches
from memgraft.formats import JvmSummary
from memgraft.grafts.selection import Selection, select
from memgraft.jvm.iterations import Iteration
from memgraft.jvm.launch import Ended, Via
from memgraft.paper.asked import Asked
from memgraft.screen import dump, write_file
from memgraft.statistics import MIN_PAIRS
from memgraft.version import version
from memgraft.words import count_of

SCHEMA = 1
CHECKOUT = Path(__file__).parent.parent.parent
GRID, SETTINGS = "grid", "grid.json"

JVM_OPTIONS = ("-XX:+UseParallelGC", "-Xms512m", "-Xmx512m", "-Xmn32m")
"""A generous heap with a nursery of 32 MB as in Yang 2011, section 4.1; concurrent zeroing needs this collector."""
WITHOUT_ELISION = " without elision"
"""At the end of a strategy: C2 zeroes also what it could prove to be written before anybody reads it."""
NO_ELISION = ("-XX:-ReduceFieldZeroing", "-XX:-ReduceBulkZeroing")


@dataclass(frozen=True)
class Kept:
    """One launch as it was kept: what a metric needs of it, and where it belongs."""

    strategy: str
    round: int
    ended: Ended
    iterations: list[Iteration]
    jvms: list[JvmSummary]


@dataclass(frozen=True)
class Grid:
    """The launches of a grid, by workload."""

    settings: dict[str, Any]
    """What was asked for, and of which machine."""
    launches: dict[str, list[Kept]]

    def programs(self) -> list["Program"]:
        return [Program(**fields) for fields in self.settings["programs"]]

    def strategies(self) -> list[str]:
        return list(dict.fromkeys(kept.strategy for mine in self.launches.values() for kept in mine))

    def of(self, workload: str, strategy: str) -> list[Kept]:
        """In the order of the rounds."""
        mine = [kept for kept in self.launches[workload] if kept.strategy == strategy]
        return sorted(mine, key=lambda kept: kept.round)


def workload_program() -> Path:
    program = CHECKOUT / "bin" / "workload"
    if not program.is_file():
        raise CannotTakeError(
            f"the workloads of the papers' experiments are started by bin/workload, which is not at {program}: run "
            "`bin/memgraft paper` in a checkout of Memgraft"
        )
    return program


def known_workloads() -> list[str]:
    """By what registers them; bin/workload itself would be a start of bash for the same list."""
    return _registered("*")


def known_standalone() -> list[str]:
    """The workloads whose parts may be processes of their own."""
    return _registered("spark")


def _registered(module: str) -> list[str]:
    files = (CHECKOUT / "workloads" / "jvm").glob(f"{module}/src/main/resources/META-INF/services/*.Workload")
    lines = [line for file in files for line in file.read_text(encoding="utf-8").split()]
    return sorted(line.rpartition(".")[2].lower() for line in lines)


@dataclass(frozen=True)
class Program:
    """A workload, and with how many threads."""

    workload: str
    threads: int | None = None
    cpus: Sequence[int] = ()
    """Where alone it may run; none: anywhere."""
    pinned: str = ""
    """How these were chosen."""
    items: bool = True
    """Whether there are as many items as threads, or some threads of javac, which has few, would have nothing to do."""
    standalone: bool = False
    """Whether its parts are processes of their own."""

    @property
    def name(self) -> str:
        """Of its folder."""
        standalone = ["standalone"] if self.standalone else []
        threads = [] if self.threads is None else [str(self.threads)]
        return "-".join([self.workload, *standalone, *threads, *self.pinned.split()])

    @property
    def title(self) -> str:
        return ", ".join([self.workload, *self.condition])

    @property
    def condition(self) -> list[str]:
        """What was set of it, in words."""
        threads = [] if self.threads is None else [count_of(self.threads, "thread")]
        return [*threads, *([f"CPUs {','.join(map(str, self.cpus))}"] if self.cpus else [])]

    @property
    def options(self) -> list[str]:
        standalone = ["--standalone"] if self.standalone else []
        if self.threads is None:
            return standalone
        items = ["--items", str(self.threads)] if self.items else []
        return [*standalone, "--threads", str(self.threads), *items]


@dataclass(frozen=True)
class Plan:
    """What a grid consists of."""

    programs: Sequence[Program]
    strategies: Sequence[str]
    size: str
    iterations: int
    launches: int
    graft: str = "zeroing"
    jvm_options: Sequence[str] = JVM_OPTIONS
    left_out: Mapping[str, str] = field(default_factory=dict)
    """What a figure has and this machine cannot run, and why."""
    asked: str | None = None
    """The workloads that were named, instead of those of each figure."""

    def strategies_of(self, _: Program) -> Sequence[str]:
        return self.strategies

    def selection(self, _: Program, strategy: str) -> Selection:
        """What a launch with this strategy is started with."""
        return select({self.graft: strategy.removesuffix(WITHOUT_ELISION)})

    def command(self, program: Program, strategy: str = "") -> list[str]:
        own = NO_ELISION if strategy.endswith(WITHOUT_ELISION) else ()
        options = [f"--jvm={option}" for option in (*self.jvm_options, *own)]
        numbers = ["--size", self.size, "--iterations", str(self.iterations)]
        return [str(workload_program()), program.workload, *options, *program.options, *numbers]

    @property
    def total(self) -> int:
        return sum(len(self.strategies_of(program)) for program in self.programs) * self.launches


def plan(strategies: Sequence[str], asked: Asked) -> Plan:
    """The plan of a grid of zeroing strategies."""
    programs = [Program(name) for name in workloads(asked.workloads, asked.launches)]
    return Plan(programs, list(dict.fromkeys(strategies)), asked.size, asked.iterations, asked.launches)


def workloads(asked: str | None, launches: int, default: Sequence[str] | None = None) -> list[str]:
    """Those asked for, or WrongUsageError for one there is not and for too few launches."""
    workload_program()
    known = known_workloads()
    chosen = asked.split(",") if asked else default or known
    for name in chosen:
        if name not in known:
            raise WrongUsageError(f"--workloads {asked}: there is no '{name}'; expected some of {', '.join(known)}")
    if launches < MIN_PAIRS:
        raise WrongUsageError(
            f"--launches {launches}: expected at least {MIN_PAIRS}, the smallest number whose exact 95 % interval of "
            "the median is finite"
        )
    return list(dict.fromkeys(chosen))


Watcher = Callable[[str, int], None]
"""Told of every launch before it starts: what it is, and how many have ended."""


def run(planned: Plan, output: Path, watch: Watcher) -> None:
    """Runs the grid: one workload after the other, its strategies in rounds there and back."""
    folder = output / GRID
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "schema": SCHEMA,
        "kind": "grid",
        "memgraft": version(),
        "machine": machine.describe(),
        "graft": planned.graft,
        "workloads": [program.name for program in planned.programs],
        "programs": [asdict(program) for program in planned.programs],
        "strategies": planned.strategies,
        "size": planned.size,
        "iterations": planned.iterations,
        "launches": planned.launches,
        "jvm_options": planned.jvm_options,
        "left_out": planned.left_out,
        "asked": planned.asked,
    }
    write_file(folder / SETTINGS, dump(settings))
    ended = 0
    for program in planned.programs:
        strategies = planned.strategies_of(program)
        selections = {name: planned.selection(program, name) for name in strategies}
        groups = rounds(strategies, planned.launches, program.cpus)
        commands = {name: planned.command(program, name) for name in strategies}
        launches = Launches(planned.command(program), Via.AUTO, selections, groups, folder / program.name, commands)
        launches.run(lambda now, done, _, of=program.title, before=ended: watch(f"{of}, {now.side}", before + done))  # type: ignore[misc]
        ended += len(groups)


def read(folder: Path, needed: Sequence[str]) -> Grid:
    """The grid that `run` left in a folder, or WrongUsageError where it lacks something."""
    file = folder / GRID / SETTINGS
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
        launches = {name: _launches(folder / GRID / name / "launches.jsonl") for name in settings["workloads"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise WrongUsageError(
            f"--from {folder}: no grid of launches that can be read ({error}); expected the output folder of a "
            "finished `memgraft paper`"
        ) from None
    grid = Grid(settings, launches)
    complete(grid, needed, folder)
    return grid


def complete(grid: Grid, needed: Sequence[str], folder: Path) -> None:
    """WrongUsageError where a launch of one of these is missing."""
    for workload, mine in grid.launches.items():
        for strategy in needed:
            found = sum(kept.strategy == strategy for kept in mine)
            if found != grid.settings["launches"]:
                raise WrongUsageError(
                    f"--from {folder}: has {found} launches of {workload} with {strategy}, expected "
                    f"{grid.settings['launches']}; measure again without --from, naming every figure that it is for"
                )


def _launches(file: Path) -> list[Kept]:
    return [_kept(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def _kept(fields: dict[str, Any]) -> Kept:
    return Kept(
        strategy=fields["side"],
        round=fields["pair"],
        ended=Ended(**{name: fields[name] for name in Ended.__dataclass_fields__}),
        iterations=[Iteration.model_validate(iteration) for iteration in fields["iterations"]],
        jvms=[JvmSummary.model_validate(jvm) for jvm in fields["jvms"]],
    )
