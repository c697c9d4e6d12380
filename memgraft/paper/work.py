"""From names to pages: what has to be measured for all of them together, then each one by itself."""

import json
import os
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from memgraft import machine, screen
from memgraft.errors import CannotTakeError, WrongUsageError
from memgraft.experiment.compare import default_output
from memgraft.experiment.launches import prepare_output
from memgraft.experiment.metrics import named
from memgraft.jvm import jvms
from memgraft.kernels import zero
from memgraft.paper import emulations, grid, kernels, levels, measures, orderings, placements
from memgraft.paper.asked import Asked
from memgraft.paper.definition import Definition, definitions, find
from memgraft.version import version
from memgraft.words import count_of

SCHEMA = 1
BENCH = "bench.json"


def listed() -> list[dict[str, Any]]:
    """Every table and figure, and why it is not measured here where it is not."""
    counters = machine.hardware_counters()
    processors = machine.kinds()["processor"]
    here = "" if counters["available"] else f"; this machine has no hardware counters at all: {counters['reason']}"
    return [
        {
            "name": one.name,
            "title": one.title,
            "item": one.item,
            "source": one.source,
            "section": one.section,
            "absent": _absent(one, here, processors),
        }
        for one in definitions()
    ]


def _absent(one: Definition, counters: str, processors: int) -> str | None:
    if one.needs:
        return f"no: needs {one.needs}, which Memgraft does not count{counters}"
    if one.elsewhere:
        return f"no: {one.elsewhere}"
    if one.programs and "sockets" in one.programs.pinned and processors < orderings.SOCKETS:
        return f"no: takes CPUs of {orderings.SOCKETS} sockets; this machine has {processors}"
    return None


def chosen(names: Sequence[str]) -> list[Definition]:
    found = list({one.name: one for one in map(find, names)}.values())
    absences = {entry["name"]: entry["absent"] for entry in listed()}
    for one in found:
        if absent := absences[one.name]:
            raise CannotTakeError(f"{one.name} ({one.item}) is not measured here: {absent.removeprefix('no: ')}")
    return found


def make(names: Sequence[str], asked: Asked) -> list[dict[str, Any]]:
    """Measures what is not kept, and writes JSON and page of each; returns the JSON."""
    wanted = chosen(names)
    _check_families(wanted, asked)
    strategies = list(dict.fromkeys(name for one in wanted for part in one.grid for name in part.needed))
    of_levels = [one for one in wanted if one.levels]
    of_orderings = [one for one in wanted if one.orderings]
    planned: grid.Plan | None = None
    default = default_output(datetime.now().astimezone(), "paper")
    if of_orderings and asked.kept is None:
        planned = orderings.plan(of_orderings, asked)
    elif of_levels and asked.kept is None:
        planned = levels.plan(of_levels, asked, feature=jvms.default_feature(os.environ))
    elif strategies and asked.kept is None:
        planned = grid.plan(strategies, asked)
    if wanted[0].placements:
        return _placements(wanted, asked, asked.output or default)
    if wanted[0].emulations:
        return _emulations(wanted, asked, asked.output or default)
    output = prepare_output(asked.output or default, parts=())
    source = asked.kept or output
    if isinstance(planned, orderings.OrderingPlan):
        planned.find_relaxed(output)
    if planned is not None:
        _show(planned.total, partial(grid.run, planned, output))
    if any(one.kernels for one in wanted) and asked.kept is None:
        screen.write_file(output / BENCH, screen.dump(zero.bench(quick=asked.size == "small")))
    read = grid.read(source, strategies) if strategies or of_levels or of_orderings else None
    return [_one(definition, source, read, asked, output) for definition in wanted]


def _show(total: int, run: Callable[[grid.Watcher], None]) -> None:
    """Runs what tells how far it is, and shows that."""
    with screen.progress() as bar:
        task = bar.add_task("starting", total=total)
        run(lambda what, done: bar.update(task, completed=done, description=what))


def _placements(wanted: Sequence[Definition], asked: Asked, folder: Path) -> list[dict[str, Any]]:
    plan = kept = None
    if asked.kept is None:
        plan = placements.plan(wanted, asked)
    else:
        kept = placements.read(asked.kept)
        of_class = kept.settings["class"]
        if asked.choice.kernel_class not in (None, of_class):
            raise WrongUsageError(
                f"--class {asked.choice.kernel_class}: the runs in {asked.kept} are of class {of_class}; expected that "
                "one, or no --from"
            )
    output = prepare_output(folder, parts=())
    if plan is not None:
        _show(plan.total, partial(placements.run, plan, output))
    kept = kept or placements.read(output)
    return [_written(one, placements.tables(one, kept), placements.measured(kept), output) for one in wanted]


def _emulations(wanted: Sequence[Definition], asked: Asked, folder: Path) -> list[dict[str, Any]]:
    plan = None
    if asked.kept is None:
        plan = emulations.plan(wanted, asked)
    output = prepare_output(folder, parts=())
    if plan is not None:
        _show(plan.total, partial(emulations.run, plan, output))
    kept = emulations.read(asked.kept or output)
    return [_written(one, emulations.tables(one, kept), emulations.measured(kept), output) for one in wanted]


def _check_families(wanted: Sequence[Definition], asked: Asked) -> None:
    """Launches of different grafts differ in heap and threads, and one folder holds one grid."""
    families = {one.family: one for one in reversed(wanted)}
    if len(families) > 1:
        first, second = list(families.values())[:2]
        raise WrongUsageError(
            f"{first.name} and {second.name} have no launches in common; expected figures of {first.family} only, or "
            f"of {second.family} only: name them in two commands"
        )
    if asked.choice.kernel_class is not None and "placement" not in families:
        name = next(iter(families.values())).name
        raise WrongUsageError(
            f"--class {asked.choice.kernel_class}: {name} runs no NAS kernels; expected a figure of placement"
        )
    plain = families.get("zeroing") or families.get("placement") or families.get("emulation")
    if plain is not None and asked.choice.typed:
        raise WrongUsageError(f"{asked.choice.typed}: {plain.name} does not take it; expected a figure of buffers")


def _one(definition: Definition, source: Path, read: grid.Grid | None, asked: Asked, output: Path) -> dict[str, Any]:
    metric = named(asked.metric)
    tables = [measures.table(part, read, metric) for part in definition.grid] if read else []
    if definition.levels and read:
        parts = levels.chosen(definition, asked.choice)
        levels.check(parts, read)
        grid.complete(read, levels.needed(parts, read.settings["strategies"]), source)
        tables = [table for part in parts for table in levels.tables(part, read, metric)]
    if definition.orderings and read:
        tables = orderings.tables(definition, read, metric, source)
    bench = _bench(source) if definition.kernels else {}
    of_kernels = [kernels.table(part, bench) for part in definition.kernels]
    tables += [table for table in of_kernels if table is not None]
    measured = _measured(None if bench else read, bench, asked)
    if definition.levels and read:
        measured += levels.measured(definition, read)
    if definition.orderings and read:
        measured += orderings.measured(definition, read)
    if None in of_kernels:
        measured.append(("several threads", "not measured: the benchmark may use one CPU only"))
    return _written(definition, tables, measured, output)


def _written(
    definition: Definition, tables: list[measures.Table], measured: list[tuple[str, str]], output: Path
) -> dict[str, Any]:
    from memgraft.paper import page

    file = output / f"{definition.name}.html"
    screen.write_file(file, page.render(definition, tables, measured))
    result = {
        "schema": SCHEMA,
        "kind": "paper",
        "memgraft": version(),
        **definition.model_dump(exclude={"part", "needs", "elsewhere", "aliases", "programs", "guest", "emulated"}),
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
