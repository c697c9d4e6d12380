"""What is said of the ordering graft where the bytecode of every class is rewritten."""

from collections.abc import Iterator, Sequence

from rich.table import Table

from memgraft.formats import JvmSummary
from memgraft.formats.ordering import BytecodeOrdering, Speculation
from memgraft.grafts.section import Row, of_jvm
from memgraft.grafts.table import ONLY
from memgraft.screen import table
from memgraft.statistics import median_or_range
from memgraft.words import count_of, listed

MOST_NAMED = 3


def lines(bytecode: BytecodeOrdering) -> Iterator[str]:
    fences = bytecode.fences
    if (weak := bytecode.weak) is not None:
        yield (
            f"weak: {count_of(bytecode.classes, 'class')} rewritten; {count_of(weak.loads, 'load')} could get an old "
            f"value, and {weak.stale_loads:,} did"
        )
        return
    if bytecode.only is not None:
        yield (
            f"bytecode: of {count_of(bytecode.classes, 'class')}, {count_of(fences.loads, 'load')} and "
            f"{count_of(fences.stores, 'store')} in order, and {count_of(fences.calls, 'call')}; all others are as "
            "they were"
        )
        return
    yield (
        f"bytecode: {count_of(bytecode.classes, 'class')} rewritten, with {count_of(fences.loads, 'load')} and "
        f"{count_of(fences.stores, 'store')} in order; further fences at {count_of(fences.weak_accesses, 'call')} of "
        f"weaker accesses, {fences.handle_calls:,} of method handles, {fences.copies:,} of copies, "
        f"{fences.intrinsics:,} of intrinsics"
    )
    if bytecode.speculation is not None:
        yield _of_speculation(bytecode.speculation)
    if bytecode.checked_classes:
        yield (
            f"checked: {count_of(bytecode.checked_classes, 'class')}, {bytecode.unfenced:,} accesses in them "
            "without a fence"
        )


def _of_speculation(speculation: Speculation) -> str:
    if speculation.failed_checks is not None:
        classes = count_of(speculation.classes, "class")
        return (
            f"speculation: checks alone, in {classes}, which is not sequentially consistent: no class is ever switched"
        )
    said = (
        f"speculation: {count_of(speculation.classes, 'class')} begun without fences at their fields; "
        f"{speculation.switched:,} of them switched to fences, in {speculation.seconds:.2f} s"
    )
    return f"{said}; it ended with {speculation.ended}" if speculation.ended else said


def table_of(jvms: Sequence[JvmSummary]) -> Table:
    """Of several JVMs: a row for each."""
    numbers = ("process", "classes", "loads", "stores", "unsafe")
    made = table("process", "program", "JVM", *numbers[1:], right=numbers)
    for jvm in jvms:
        if (bytecode := jvm.grafts.bytecode) is None:
            continue
        made.add_row(
            *of_jvm(jvm),
            f"{bytecode.classes:,}",
            f"{bytecode.fences.loads:,}",
            f"{bytecode.fences.stores:,}",
            f"{bytecode.unfenced:,}" if bytecode.checked_classes else "-",
        )
    return made


def unsound(bytecode: BytecodeOrdering) -> str:
    """What makes a run worth nothing; empty where nothing does."""
    found = []
    if bytecode.weak is not None and bytecode.failed:
        name, why = next(iter(bytecode.failed_classes.items()))
        return (
            "loads may have got values that the Java memory model forbids: "
            f"{count_of(bytecode.failed, 'class')} could not be rewritten, such as {name} ({why}); expected none"
        )
    if bytecode.only is not None and bytecode.failed:
        name, why = next(iter(bytecode.failed_classes.items()))
        return (
            f"not all that was named is in order: {count_of(bytecode.failed, 'class')} could not be rewritten, such as "
            f"{name} ({why}); expected none"
        )
    if bytecode.failed:
        name, why = next(iter(bytecode.failed_classes.items()))
        found.append(f"{count_of(bytecode.failed, 'class')} could not be rewritten, such as {name} ({why})")
    if bytecode.unfenced:
        names = ", ".join(bytecode.unfenced_methods[:3])
        lacks = "no fence" if bytecode.speculation is None else "neither a fence nor both a check and a guard"
        has = "has" if bytecode.unfenced == 1 else "have"
        found.append(f"{count_of(bytecode.unfenced, 'access')} {has} {lacks}, in {names}")
    return f"the run was not sequentially consistent: {'; '.join(found)}; expected none" if found else ""


def warnings(jvms: Sequence[BytecodeOrdering], file: str) -> Iterator[str]:
    """What named nothing in any of the JVMs."""
    named = [set(jvm.only.unmatched) for jvm in jvms if jvm.only is not None]
    if named and (nothing := sorted(set.intersection(*named))):
        yield (
            f"{ONLY.option} {file}: {listed(nothing[:MOST_NAMED], 'and')} named nothing in any class that was loaded"
            f"{f', nor did {len(nothing) - MOST_NAMED} more lines' if len(nothing) > MOST_NAMED else ''}; expected "
            "a field by the class that declares it, as in org.example.Server.stopped"
        )


def rows(launches: Sequence[Sequence[JvmSummary]]) -> list[Row]:
    """Per launch, as median and range or 95 % interval; empty where no class was rewritten."""
    found = [[jvm.grafts.bytecode for jvm in jvms if jvm.grafts.bytecode] for jvms in launches]
    found = [mine for mine in found if mine]
    if not found:
        return []
    rows = [("classes rewritten", _shown([sum(one.classes for one in mine) for mine in found]))]
    speculations = [[one.speculation for one in mine if one.speculation] for mine in found]
    if all(speculations):
        rows += [
            ("classes begun without fences", _shown([sum(one.classes for one in mine) for mine in speculations])),
            ("of these switched to fences", _shown([sum(one.switched for one in mine) for mine in speculations])),
        ]
    return rows


def _shown(counts: Sequence[int]) -> str:
    found = median_or_range([float(count) for count in counts])
    shown = f"{found.median:,.0f}"
    return shown if found.low == found.high else f"{shown} [{found.low:,.0f}, {found.high:,.0f}]"
