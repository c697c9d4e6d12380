"""The figures of allocation buffers: which launches they take, what does not fit here, and their numbers."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memgraft import machine, statistics
from memgraft.errors import WrongUsageError
from memgraft.experiment.metrics import Metric
from memgraft.grafts import buffers
from memgraft.grafts.selection import Selection, select
from memgraft.paper import grid
from memgraft.paper.asked import Asked, Choice
from memgraft.paper.definition import Definition, LevelsPart, Programs
from memgraft.paper.grid import Grid, Kept, Plan, Program
from memgraft.paper.measures import MEAN, Cell, Table, geometric_mean, times
from memgraft.statistics import Interval
from memgraft.words import PERCENT, count_of, three_digits

NURSERY = 3
"""The paper's nursery is a third of its heap."""
EDEN_NUMERATOR, EDEN_DENOMINATOR = 6, 8
"""Of the nursery, without two survivor spaces of an eighth each (InitialSurvivorRatio)."""
MOST_OF_EDEN = 2
"""All buffers of a level together hold at most one part in so many: else hardly one is refilled between collections."""
LEAST_HEAP = 2**24
GRAFT = "buffers"
TAKE = " --take "
MOST_THREADS = 10_000


# --- which launches --------------------------------------------------------------------------------------------------


def without(tlab: str) -> str:
    """TLABs of that size and no buffers, as `--buffers` takes it."""
    return buffers.parse(f"{buffers.THREAD}={tlab}").text


def under(tlab: str, levels: str, take: str | None = None) -> str:
    """TLABs of that size from such buffers; with `take`, as it is typed: `thread=4k,core=1m --take atomic`."""
    text = buffers.parse(f"{buffers.THREAD}={tlab},{levels}").text
    return f"{text}{TAKE}{take}" if take else text


def under_all(part: LevelsPart) -> list[str]:
    return [under(tlab, levels, part.take) for tlab in part.tlabs for levels in part.levels]


@dataclass(frozen=True)
class LevelsPlan(Plan):
    """A plan in which strategies are buffers, and maybe how memory is taken from them."""

    def selection(self, _: Program, strategy: str) -> Selection:
        text, _taken, take = strategy.partition(TAKE)
        return select({GRAFT: text}, {"take": take} if take else {})


def baseline(part: LevelsPart, tlab: str) -> str | None:
    if part.relative_to is None:
        return None
    return without(tlab if part.relative_to == "same TLABs" else buffers.GROWING)


def chosen(definition: Definition, choice: Choice) -> list[LevelsPart]:
    """The parts of which something was asked for, or WrongUsageError where that is nothing at all."""
    parts = [
        part.model_copy(
            update={
                "tlabs": _some(part.tlabs, choice.tlabs, lambda tlab: tlab),
                "levels": _some(part.levels, choice.sizes, _lowest),
            }
        )
        for part in definition.levels
    ]
    left = [part for part in parts if part.tlabs and part.levels]
    if not left:
        rows = dict.fromkeys(tlab for part in definition.levels for tlab in part.tlabs)
        sizes = dict.fromkeys(_lowest(levels) for part in definition.levels for levels in part.levels)
        raise WrongUsageError(
            f"{choice.typed}: nothing of {definition.name} is left; expected some of --tlabs {','.join(rows)} and some "
            f"of --sizes {','.join(sizes)}"
        )
    return left


def _some(known: Sequence[str], asked: str | None, size: Callable[[str], str]) -> list[str]:
    return [one for one in known if asked is None or size(one) in asked.lower().split(",")]


def _lowest(levels: str) -> str:
    return levels.partition(",")[0].partition("=")[2]


def plan(
    definitions: Sequence[Definition],
    asked: Asked,
    kinds: Mapping[str, int] | None = None,
    feature: int | None = None,
) -> Plan:
    """One grid for all of them. A TLAB size's launches follow each other, so that what is compared is near in time.

    `kinds`: how many of each there are, here if None. `feature`: of the JDK that runs them; None: not known.
    """
    parts = [part for one in definitions for part in chosen(one, asked.choice)]
    first = next(one.programs for one in definitions if one.programs)
    heap = heap_of(asked.choice.heap or first.heap)
    left_out = {
        levels: reason
        for levels in dict.fromkeys(levels for part in parts for levels in part.levels)
        if (reason := why_not(levels, kinds or machine.kinds(), heap // NURSERY))
    }
    tlabs = dict.fromkeys(tlab for part in parts for tlab in part.tlabs)
    if buffers.NONE in tlabs and feature is not None and feature not in buffers.FEATURES_WITHOUT_TLABS:
        del tlabs[buffers.NONE]
        known = " or ".join(map(str, buffers.FEATURES_WITHOUT_TLABS))
        left_out[_row(buffers.NONE)] = f"needs JDK {known}, found JDK {feature}; JAVA_HOME chooses another"
    strategies: dict[str, None] = {}
    for tlab in tlabs:
        mine = [part for part in parts if tlab in part.tlabs]
        strategies |= dict.fromkeys(name for part in mine if (name := baseline(part, tlab)))
        strategies |= dict.fromkeys(
            under(tlab, levels, part.take) for part in mine for levels in part.levels if levels not in left_out
        )
    if not tlabs or all(levels in left_out for part in parts for levels in part.levels):
        raise WrongUsageError(f"nothing of it can run here: {'; '.join(left_out.values())}")
    programs = [
        Program(name, threads)
        for name in grid.workloads(asked.workloads, asked.launches, first.workloads)
        for threads in threads_of(asked.choice.threads, first)
    ]
    nursery = buffers.shown(heap // NURSERY // 2**20 * 2**20)
    options = ["-XX:+UseParallelGC", *(f"-X{of}{buffers.shown(heap)}" for of in ("ms", "mx")), f"-Xmn{nursery}"]
    return LevelsPlan(
        programs, list(strategies), asked.size, asked.iterations, asked.launches, GRAFT, options, left_out
    )


def threads_of(asked: str | None, programs: Programs) -> list[int]:
    if asked is None:
        return programs.threads
    numbers = [int(text) if re.fullmatch(r"\d{1,5}", text) else 0 for text in asked.split(",")]
    if not all(0 < number <= MOST_THREADS for number in numbers):
        raise WrongUsageError(f"--threads {asked}: expected numbers from 1 to {MOST_THREADS}, such as 2,16,80")
    return list(dict.fromkeys(numbers))


def heap_of(text: str) -> int:
    found = re.fullmatch(r"(\d{1,6})([mg])", text, re.IGNORECASE)
    size = int(found[1]) * buffers.UNITS[found[2].lower()] if found else 0
    if size < LEAST_HEAP:
        raise WrongUsageError(
            f"--heap {text}: expected a size such as 512m or 3g, at least {buffers.shown(LEAST_HEAP)}"
        )
    return size


def why_not(levels: str, kinds: Mapping[str, int], nursery: int) -> str | None:
    """Why such buffers are not run on a machine that has so many of each kind, under such a nursery."""
    parsed = buffers.parse(levels).levels
    for (below, _), (kind, _) in pairwise(parsed):
        if kinds[kind] == kinds[below]:
            return f"this machine has as many {kind}s as {below}s ({kinds[kind]}), so the level would add work only"
    eden = nursery * EDEN_NUMERATOR // EDEN_DENOMINATOR
    for kind, size in parsed:
        if kinds[kind] * size > eden // MOST_OF_EDEN:
            return (
                f"{count_of(kinds[kind], 'buffer')} of {buffers.shown(size)} are more than half of the eden "
                f"({eden // 2**20}m); a larger --heap holds them"
            )
    return None


# --- numbers ---------------------------------------------------------------------------------------------------------


def check(parts: Sequence[LevelsPart], kept: Grid) -> None:
    """Refuses a grid that has nothing of what is asked for."""
    has = kept.settings["strategies"]
    wanted = {strategy for part in parts for strategy in under_all(part)}
    if not wanted & set(has):
        raise WrongUsageError(
            f"--from: the grid has launches with {', '.join(has[:3])}, ..., and none that this figure shows; measure "
            "again without --from, naming every figure that it is for"
        )


def needed(parts: Sequence[LevelsPart], has: Sequence[str]) -> list[str]:
    """Of what the grid says it has: the strategies that are shown."""
    names: dict[str | None, None] = {}
    for part in parts:
        for tlab in part.tlabs:
            names |= dict.fromkeys([baseline(part, tlab), *(under(tlab, one, part.take) for one in part.levels)])
    return [name for name in names if name is not None and name in has]


def tables(part: LevelsPart, kept: Grid, metric: Metric) -> list[Table]:
    """One for each program of the grid, of what of the part was run."""
    made = [_table(part, kept, program, metric) for program in kept.programs()]
    return [table for table in made if table.cells]


def _table(part: LevelsPart, kept: Grid, program: Program, metric: Metric) -> Table:
    has = set(kept.settings["strategies"])
    cells = []
    for levels in part.levels:
        ratios = []
        for tlab in part.tlabs:
            base, mine = baseline(part, tlab), under(tlab, levels, part.take)
            if mine not in has or (base is not None and base not in has):
                continue
            before = None if base is None else kept.of(program.name, base)
            values = _values(part, kept.of(program.name, mine), before, metric)
            known = [value for value in values if value is not None]
            if len(known) == len(values):
                cells.append(Cell(_row(tlab), levels, statistics.median_interval(known)))
                if base is not None:
                    ratios.append(known)
        # There is no geometric mean of what was not collected at all.
        if len(ratios) > 1 and all(ratio > 0 for one in ratios for ratio in one):
            cells.append(Cell(MEAN, levels, _mean(ratios)))
    rows = [*map(_row, part.tlabs), MEAN]
    cells.sort(key=lambda cell: rows.index(cell.row))
    relative = part.relative_to is not None
    return Table(
        f"{part.title}: {program.title}", cells, three_digits if relative else _exact_percent, 1.0 if relative else None
    )


def _values(
    part: LevelsPart, ours: Sequence[Kept], before: Sequence[Kept] | None, metric: Metric
) -> Sequence[float | None]:
    """One of each launch, or of each pair; None where it has no such number."""
    if part.quantity == "speed-up" and before is not None:
        # The baseline's time over ours.
        return statistics.paired_ratios(times(ours, part.title, metric), times(before, part.title, metric))
    if part.quantity == "collections" and before is not None:
        counts = zip(map(_collections, before), map(_collections, ours), strict=True)
        return [mine / base if base and mine is not None else None for base, mine in counts]
    return [_waste(one) if part.quantity == "waste" else _foreign(one) for one in ours]


def _mean(ratios: Sequence[Sequence[float]]) -> Interval:
    """Over the TLAB sizes, round by round."""
    return statistics.median_interval([geometric_mean(one) for one in zip(*ratios, strict=True)])


def _row(tlab: str) -> str:
    return "no TLABs" if tlab == buffers.NONE else f"{tlab} TLABs"


def _exact_percent(share: float) -> str:
    """`0.00612 %`, and `0 %` for none at all: a few of a million must not look like none."""
    return f"{three_digits(share * PERCENT)} %"


def _collections(kept: Kept) -> int | None:
    """Of all iterations of a launch; None where the program did not count them."""
    counts = [one.collections for one in kept.iterations]
    return sum(one for one in counts if one is not None) if counts and None not in counts else None


def _waste(kept: Kept) -> float | None:
    """What all levels of buffers lost, of what the lowest handed out; None where it was never asked."""
    found = [one.levels for jvm in kept.jvms if (one := jvm.grafts.buffers) and one.levels]
    taken = sum(levels[0].taken_bytes for levels in found)
    lost = sum(one.waste_at_refills_bytes + one.waste_at_collections_bytes for levels in found for one in levels)
    return lost / taken if taken else None


def _foreign(kept: Kept) -> float | None:
    """The share of one launch; None where the lowest level was never asked."""
    lowest = [found.levels[0] for jvm in kept.jvms if (found := jvm.grafts.buffers) and found.levels]
    taken = sum(level.taken for level in lowest)
    return sum(level.foreign for level in lowest) / taken if taken else None


# --- how -------------------------------------------------------------------------------------------------------------


def measured(definition: Definition, kept: Grid) -> list[tuple[str, str]]:
    """Which part of the figure was run, what was left out and why, and what the buffers were, as rows."""
    has = kept.settings["strategies"]
    programs = definition.programs
    tlabs = dict.fromkeys(tlab for part in definition.levels for tlab in part.tlabs)
    levels = dict.fromkeys(levels for part in definition.levels for levels in part.levels)
    run = [
        (tlab, one)
        for part in definition.levels
        for tlab in part.tlabs
        for one in part.levels
        if under(tlab, one, part.take) in has
    ]
    rows = [
        ("TLABs run", part_of([tlab for tlab in tlabs if any(tlab == row for row, _ in run)], list(tlabs))),
        ("buffers run", part_of([one for one in levels if any(one == column for _, column in run)], list(levels))),
    ]
    if programs is not None:
        here = kept.programs()
        counts = dict.fromkeys(str(program.threads) for program in here)
        rows += [
            ("workloads run", part_of(list(dict.fromkeys(one.workload for one in here)), programs.workloads)),
            ("threads run", part_of(list(counts), [str(number) for number in programs.threads])),
        ]
    left_out = kept.settings.get("left_out", {})
    rows += [(f"left out: {one}", left_out[one]) for one in [*levels, *map(_row, tlabs)] if one in left_out]
    seen = {
        (level.kind, level.buffers, level.take): None
        for mine in kept.launches.values()
        for one in mine
        for jvm in one.jvms
        if jvm.grafts.buffers
        for level in jvm.grafts.buffers.levels
    }
    return rows + [(f"level {kind}", f"{count_of(count, 'buffer')}, {take}") for kind, count, take in sorted(seen)]


def part_of(run: Sequence[str], full: Sequence[str]) -> str:
    """Which of a figure's were run, in words."""
    missing = [one for one in full if one not in run]
    return f"{'; '.join(run)} (not: {'; '.join(missing)})" if missing else f"all: {'; '.join(run)}"
