"""From names to pages: what has to be measured for all of them together, then each one by itself."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from memgraft import __version__, machine, screen, zero
from memgraft.errors import CannotTakeError, WrongUsageError
from memgraft.launches import prepare_output
from memgraft.metrics import MetricName, named
from memgraft.paper import grid, kernels, levels, measures
from memgraft.paper.definition import Definition, definitions, find
from memgraft.words import count_of

SCHEMA = 1
BENCH = "bench.json"


@dataclass(frozen=True)
class Asked:
    """What was typed."""

    size: str
    launches: int
    iterations: int
    workloads: str | None
    metric: MetricName
    kept: Path | None
    """The output of an earlier one, to be used instead of measuring."""
    output: Path | None
    choice: levels.Choice = field(default_factory=levels.Choice)
    """Of the figures of buffers."""


def listed() -> list[dict[str, Any]]:
    """Every table and figure, and why it is not measured here where it is not."""
    counters = machine.hardware_counters()
    here = "" if counters["available"] else f"; this machine has no hardware counters at all: {counters['reason']}"
    return [
        {
            "name": one.name,
            "title": one.title,
            "item": one.item,
            "source": one.source,
            "section": one.section,
            "absent": f"no: needs {one.needs}, which Memgraft does not count{here}" if one.needs else None,
        }
        for one in definitions()
    ]


def chosen(names: Sequence[str]) -> list[Definition]:
    found = list({one.name: one for one in map(find, names)}.values())
    for one in found:
        if one.needs:
            absent = next(entry["absent"] for entry in listed() if entry["name"] == one.name)
            raise CannotTakeError(f"{one.name} ({one.item}) is not measured here: {absent.removeprefix('no: ')}")
    return found


def make(names: Sequence[str], asked: Asked) -> list[dict[str, Any]]:
    """Measures what is not kept, and writes JSON and page of each; returns the JSON."""
    wanted = chosen(names)
    _check_families(wanted, asked)
    strategies = list(dict.fromkeys(name for one in wanted for part in one.grid for name in part.needed))
    of_levels = [one for one in wanted if one.levels]
    planned = None
    if of_levels and asked.kept is None:
        planned = levels.plan(of_levels, asked.choice, asked.workloads, asked.size, asked.iterations, asked.launches)
    elif strategies and asked.kept is None:
        planned = grid.plan(asked.workloads, strategies, asked.size, asked.iterations, asked.launches)
    default = Path("memgraft-out") / f"paper-{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    output = prepare_output(asked.output or default, parts=())
    source = asked.kept or output
    if planned is not None:
        with screen.progress() as bar:
            task = bar.add_task("starting", total=planned.total)
            grid.run(planned, output, lambda what, done: bar.update(task, completed=done, description=what))
    if any(one.kernels for one in wanted) and asked.kept is None:
        screen.write_file(output / BENCH, screen.dump(zero.bench(quick=asked.size == "small")))
    read = grid.read(source, strategies) if strategies or of_levels else None
    return [_one(definition, source, read, asked, output) for definition in wanted]


def _check_families(wanted: Sequence[Definition], asked: Asked) -> None:
    """Launches of zeroing and of buffers differ in heap and threads, and one folder holds one grid."""
    of_levels = [one.name for one in wanted if one.levels]
    others = [one.name for one in wanted if not one.levels]
    if of_levels and others:
        raise WrongUsageError(
            f"{of_levels[0]} and {others[0]} have no launches in common; expected figures of buffers only, or of "
            "zeroing only: name them in two commands"
        )
    if others and asked.choice.typed:
        raise WrongUsageError(f"{asked.choice.typed}: {others[0]} has nothing to choose; expected a figure of buffers")


def _one(definition: Definition, source: Path, read: grid.Grid | None, asked: Asked, output: Path) -> dict[str, Any]:
    from memgraft.paper import page

    metric = named(asked.metric)
    tables = [measures.table(part, read, metric) for part in definition.grid] if read else []
    if definition.levels and read:
        parts = levels.chosen(definition, asked.choice)
        levels.check(parts, read)
        grid.complete(read, levels.needed(parts, read.settings["strategies"]), source)
        tables = [table for part in parts for table in levels.tables(part, read, metric)]
    bench = _bench(source) if definition.kernels else {}
    of_kernels = [kernels.table(part, bench) for part in definition.kernels]
    tables += [table for table in of_kernels if table is not None]
    measured = _measured(read if definition.grid or definition.levels else None, bench, asked)
    if definition.levels and read:
        measured += levels.measured(definition, read)
    if None in of_kernels:
        measured.append(("several threads", "not measured: the benchmark may use one CPU only"))
    file = output / f"{definition.name}.html"
    screen.write_file(file, page.render(definition, tables, measured))
    result = {
        "schema": SCHEMA,
        "kind": "paper",
        "memgraft": __version__,
        **definition.model_dump(exclude={"part", "needs", "aliases", "programs"}),
        "ours": [table.as_json() for table in tables],
        "measured": dict(measured),
        "page": str(file),
    }
    screen.write_file(output / f"{definition.name}.json", screen.dump(result))
    return result | {"tables": tables, "definition": definition}


def _bench(folder: Path) -> dict[str, Any]:
    try:
        bench: dict[str, Any] = json.loads((folder / BENCH).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise WrongUsageError(
            f"--from {folder}: no benchmark of kernels that can be read ({error}); measure again without --from"
        ) from None
    return bench


def _measured(read: grid.Grid | None, bench: dict[str, Any], asked: Asked) -> list[tuple[str, str]]:
    """How, as rows."""
    if read is None:
        return [
            ("machine", str(bench["machine"]["cpu"])),
            ("repetitions", str(bench["repetitions"])),
            ("kernels chosen", ", ".join(str(name) for name in bench["chosen"].values())),
        ]
    settings = read.settings
    jvms = {str(jvm.jvm): None for mine in read.launches.values() for kept in mine for jvm in kept.jvms}
    return [
        ("machine", f"{settings['machine']['cpu']}, {count_of(settings['machine']['usable_cpus'], 'CPU')}"),
        *(("JVM", jvm) for jvm in list(jvms)[:1]),
        ("options", " ".join(settings["jvm_options"])),
        ("workloads", f"bin/workload, --size {settings['size']} --iterations {settings['iterations']}"),
        ("launches", f"{settings['launches']} of each workload and strategy, in rounds there and back"),
        ("time", f"{asked.metric}: {named(asked.metric).noun}"),
    ]
