"""The figures of sequential consistency: which launches they take, and their numbers."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import sched_getaffinity
from pathlib import Path

from memgraft import machine, statistics
from memgraft.captured import captured
from memgraft.errors import CannotTakeError, MemgraftError, WrongUsageError, one_line
from memgraft.experiment.metrics import Metric
from memgraft.grafts import table
from memgraft.grafts.selection import Selection, select
from memgraft.machine import Place
from memgraft.paper import grid
from memgraft.paper.asked import Asked
from memgraft.paper.definition import Definition, OrderingPart
from memgraft.paper.grid import Grid, Plan, Program
from memgraft.paper.levels import heap_of, part_of, threads_of
from memgraft.paper.measures import MEAN, Cell, Table, geometric_mean, times
from memgraft.screen import write_file
from memgraft.words import count_of, three_digits

GRAFT = "ordering"
RELAXED = "relaxed"
"""The graft's parameter: a file of methods, one a line."""
SOCKETS = 2
NEAR, ACROSS = "near", "sockets"
RELAXED_FOLDER = "relaxed"


@dataclass(frozen=True)
class OrderingPlan(Plan):
    """A plan in which programs have strategies of their own, and some of these files."""

    own: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The strategies of each program."""
    most_relaxed: int = 0
    files: dict[str, Path] = field(default_factory=dict)
    """Of programs and strategies with relaxed methods; made by `find_relaxed`."""

    def strategies_of(self, program: Program) -> Sequence[str]:
        return self.own[program.name]

    def selection(self, program: Program, strategy: str) -> Selection:
        ordering, methods = _ordering(strategy)
        if not methods:
            return select({GRAFT: ordering})
        return select({GRAFT: ordering}, {RELAXED: self.files[f"{program.name} {strategy}"]})

    def find_relaxed(self, output: Path) -> None:
        """Finds out, with a launch of each program, which methods its strategies relax."""
        for program in self.programs:
            for strategy in self.strategies_of(program):
                ordering, methods = _ordering(strategy)
                if not methods:
                    continue
                hottest = output / RELAXED_FOLDER / program.name / ordering
                if not hottest.is_file():
                    found = suggested(self.command(program), ordering, self.most_relaxed)
                    write_file(_made(hottest), "".join(f"{method}\n" for method in found))
                lines = hottest.read_text(encoding="utf-8").splitlines()
                file = hottest.with_name(f"{strategy}.txt")
                write_file(file, "".join(f"{method}\n" for method in lines[:methods]))
                self.files[f"{program.name} {strategy}"] = file


def _made(file: Path) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def _ordering(strategy: str) -> tuple[str, int]:
    """`sc-seed-relaxed-5` taken apart."""
    found = re.fullmatch(rf"(.+)-{RELAXED}-(\d+)", strategy)
    return (found[1], int(found[2])) if found else (strategy, 0)


def suggested(command: Sequence[str], ordering: str, count: int) -> list[str]:
    """The methods in which a program spends most time under an ordering, the hottest first."""
    asked = ["run", f"--{GRAFT}", ordering, "--suggest-relaxed", str(count), "--json", "--", *command]
    done = captured([sys.executable, "-m", "memgraft", *asked])
    try:
        if done.returncode == 0:
            return [str(method) for method in json.loads(done.stdout)["suggested_relaxed"][:count]]
        reason = one_line(done.stderr)
    except (ValueError, KeyError, TypeError) as error:
        reason = f"no list of methods ({error})"
    raise MemgraftError(f"memgraft {' '.join(asked)} does not say which methods to relax: {reason}")


# --- which launches --------------------------------------------------------------------------------------------------


def plan(definitions: Sequence[Definition], asked: Asked, places: Sequence[Place] | None = None) -> Plan:
    """One grid for all of them: programs may be those of one figure, and strategies too."""
    choice = asked.choice
    if choice.tlabs or choice.sizes:
        option = f"--tlabs {choice.tlabs}" if choice.tlabs else f"--sizes {choice.sizes}"
        raise WrongUsageError(f"{option}: {definitions[0].name} has no buffers; expected a figure of buffers")
    parts = [part for one in definitions for part in one.orderings]
    strategies = list(dict.fromkeys(name for part in parts for name in part.needed))
    _check_known(strategies)
    own: dict[str, dict[str, None]] = {}
    programs: dict[str, Program] = {}
    left_out: dict[str, str] = {}
    for one in definitions:
        made, too_large = _programs(one, asked, _places() if places is None else places)
        left_out |= too_large
        for program in made:
            programs[program.name] = program
            own.setdefault(program.name, {}).update(
                dict.fromkeys(name for part in one.orderings for name in part.needed)
            )
    if not programs:
        raise CannotTakeError(f"nothing of it can run here: {'; '.join(left_out.values())}")
    heap = choice.heap or max((one.programs.heap for one in definitions if one.programs), key=heap_of)
    heap_of(heap)
    return OrderingPlan(
        programs=list(programs.values()),
        strategies=strategies,
        size=asked.size,
        # A figure of starting alone needs no more of a launch.
        iterations=1 if all(part.quantity == "first-iteration" for part in parts) else asked.iterations,
        launches=asked.launches,
        graft=GRAFT,
        jvm_options=["-XX:+UseParallelGC", f"-Xms{heap}", f"-Xmx{heap}"],
        left_out=left_out,
        asked=asked.workloads,
        own={name: list(mine) for name, mine in own.items()},
        most_relaxed=max((methods for part in parts for methods in part.relaxed), default=0),
    )


def _check_known(strategies: Sequence[str]) -> None:
    """A graft or a choice that is not known would not join, and the stock be measured in its place."""
    known = {choice.name for graft in table.GRAFTS if graft.name == GRAFT for choice in graft.choices}
    for strategy in strategies:
        ordering, _ = _ordering(strategy)
        if ordering not in known:
            has = f"has {', '.join(sorted(known))}" if known else "is not there"
            raise CannotTakeError(f"this figure takes --{GRAFT} {ordering}; of this Memgraft, --{GRAFT} {has}")


def _places() -> list[Place]:
    return machine.places(list(sched_getaffinity(0)))


def _programs(definition: Definition, asked: Asked, places: Sequence[Place]) -> tuple[list[Program], dict[str, str]]:
    """Those of a figure, and what of it is too large for this machine, with the reason."""
    mine = definition.programs
    if mine is None:
        raise MemgraftError(f"{definition.name} says of no workload that it is measured on it: expected [programs]")
    names = grid.workloads(asked.workloads, asked.launches, mine.workloads)
    if mine.standalone and (others := [name for name in names if name not in grid.known_standalone()]):
        raise WrongUsageError(
            f"--workloads {asked.workloads}: {others[0]} has one process only, and the programs of "
            f"{definition.name} have several; expected some of {', '.join(grid.known_standalone())}"
        )
    if not mine.threads:
        if asked.choice.threads:
            raise WrongUsageError(
                f"--threads {asked.choice.threads}: {definition.name} runs with as many threads as CPUs; expected a "
                "figure of threads"
            )
        return [Program(name, standalone=mine.standalone) for name in names], {}
    programs, left_out = [], {}
    for threads in threads_of(asked.choice.threads, mine):
        for pinned in mine.pinned:
            cpus = near(threads, places) if pinned == NEAR else across(threads, places)
            if cpus is None:
                where = "one processor and another" if pinned == ACROSS else "this machine"
                left_out[f"{count_of(threads, 'thread')}, {pinned}"] = (
                    f"takes {count_of(threads, 'CPU')} of {where}; there are {len(places)} in all"
                )
                continue
            programs += [Program(name, threads, cpus, pinned, items=False) for name in names]
    return programs, left_out


def _in_order(places: Sequence[Place]) -> list[Place]:
    """One hardware thread of each core before any other, one processor after the other."""
    siblings: dict[tuple[str, str], list[Place]] = {}
    for place in sorted(places, key=lambda place: place.cpu):
        siblings.setdefault((place.package, place.core), []).append(place)
    ranked = [(rank, group[0].package, place) for group in siblings.values() for rank, place in enumerate(group)]
    packages = list(dict.fromkeys(package for _, package, _ in ranked))
    ranked.sort(key=lambda one: (one[0], packages.index(one[1])))
    return [place for _, _, place in ranked]


def near(threads: int, places: Sequence[Place]) -> list[int] | None:
    """As many CPUs, those of one processor first; None where there are not so many."""
    if len(places) < threads:
        return None
    return [place.cpu for place in _in_order(places)[:threads]]


def across(threads: int, places: Sequence[Place]) -> list[int] | None:
    """As many CPUs, half of them on a second processor; None where these have not so many."""
    packages = list(dict.fromkeys(place.package for place in _in_order(places)))[:SOCKETS]
    halves = [
        [place.cpu for place in _in_order(places) if place.package == package][: threads // SOCKETS]
        for package in packages
    ]
    cpus = [cpu for half in halves for cpu in half]
    return cpus if len(packages) == SOCKETS and len(cpus) == threads else None


# --- numbers ---------------------------------------------------------------------------------------------------------


def _of(definition: Definition, kept: Grid) -> list[Program]:
    """The grid's programs that are this figure's."""
    mine = definition.programs
    if mine is None:
        return []
    return [
        program
        for program in kept.programs()
        if (program.pinned in mine.pinned if mine.pinned else not program.pinned)
        and program.standalone == mine.standalone
        and (kept.settings.get("asked") or program.workload in mine.workloads)
    ]


def tables(definition: Definition, kept: Grid, metric: Metric, folder: Path) -> list[Table]:
    """One for each part, or WrongUsageError where a launch of it is missing."""
    programs = _of(definition, kept)
    if not programs:
        raise WrongUsageError(
            f"--from {folder}: has no launches of {definition.name}; measure again without --from, naming every "
            "figure that it is for"
        )
    only = Grid(kept.settings, {program.name: kept.launches[program.name] for program in programs})
    grid.complete(only, [name for part in definition.orderings for name in part.needed], folder)
    return [_table(part, only, programs, metric) for part in definition.orderings]


def _table(part: OrderingPart, kept: Grid, programs: Sequence[Program], metric: Metric) -> Table:
    metric = _of_first_iteration(metric) if part.quantity == "first-iteration" else metric
    cells: list[Cell] = []
    for series in part.strategies:
        # By what was set of the programs: a mean of 1 thread, another of 2.
        groups: dict[str, list[Sequence[float]]] = {}
        for program in programs:
            values: Sequence[float] = times(kept.of(program.name, series), part.title, metric)
            if part.relative_to:
                base = times(kept.of(program.name, part.relative_to), part.title, metric)
                values = statistics.paired_ratios(base, values)
            groups.setdefault(", ".join([MEAN, *program.condition]), []).append(values)
            cells.append(Cell(program.title, series, statistics.median_interval(values)))
        for name, group in groups.items():
            if part.relative_to and len(group) > 1:
                means = [geometric_mean(one) for one in zip(*group, strict=True)]
                cells.append(Cell(name, series, statistics.median_interval(means)))
    rows = [*(program.title for program in programs), *(", ".join([MEAN, *one.condition]) for one in programs)]
    cells.sort(key=lambda cell: rows.index(cell.row))
    return Table(part.title, cells, three_digits, 1.0 if part.relative_to else None)


def _of_first_iteration(metric: Metric) -> Metric:
    """Of a launch its first iteration's time; metrics of whole launches stay what they are."""
    time = metric.time
    if time is None:
        return metric
    return replace(metric, seconds=lambda done, _: time(done.iterations[0]) if done.iterations else None)


def measured(definition: Definition, kept: Grid) -> list[tuple[str, str]]:
    """Which part of the figure was run, and what was left out and why, as rows."""
    here = _of(definition, kept)
    run = list(dict.fromkeys(program.workload for program in here))
    full = definition.programs.workloads if definition.programs else []
    rows = [("workloads run", part_of(run, full))]
    pinned = dict.fromkeys(", ".join(program.condition) for program in here if program.condition)
    if pinned:
        rows.append(("threads run", "; ".join(pinned)))
        rows += [(f"left out: {one}", why) for one, why in kept.settings.get("left_out", {}).items()]
    counts = [methods for part in definition.orderings for methods in part.relaxed if methods]
    if counts:
        rows.append(("relaxed", f"the hottest {', '.join(map(str, counts))} methods of each, by --suggest-relaxed"))
    return rows
