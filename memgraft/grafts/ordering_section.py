"""What is said of the ordering graft: of one JVM, of several, and of the launches of one side of a comparison."""

from collections.abc import Callable, Iterator, Sequence

from rich.table import Table

from memgraft import statistics
from memgraft.formats import JvmSummary
from memgraft.formats.ordering import OrderCheck, Ordering
from memgraft.grafts import bytecode_section
from memgraft.grafts.section import Row, Section, of_jvm
from memgraft.grafts.selection import Selection
from memgraft.grafts.table import ONLY
from memgraft.screen import table
from memgraft.words import count_of

FIGURES: dict[str, Callable[[Ordering], int]] = {
    "C2: methods compiled": lambda o: o.c2.methods,
    "C2: loads": lambda o: o.c2.loads,
    "C2: stores": lambda o: o.c2.stores,
    "C2: stores to objects nobody else has": lambda o: o.c2.private_stores + o.c2.private_later,
    "C2: fences joined with a later one": lambda o: o.c2.joined_fences,
    "C2: fences behind calls": lambda o: o.c2.fences_behind_calls,
    "C1: methods compiled": lambda o: o.c1.methods,
    "C1: loads": lambda o: o.c1.loads,
    "C1: stores": lambda o: o.c1.stores,
}


class OrderingSection(Section):
    """The ordering graft's."""

    def lines(self, jvm: JvmSummary) -> Iterator[str]:
        if jvm.grafts.ordering is not None:
            yield from lines(jvm.grafts.ordering)
        if jvm.grafts.bytecode is not None:
            yield from bytecode_section.lines(jvm.grafts.bytecode)

    def table(self, jvms: Sequence[JvmSummary]) -> Table | None:
        found = [(jvm, jvm.grafts.ordering) for jvm in jvms if jvm.grafts.ordering]
        if not found:
            rewritten = any(jvm.grafts.bytecode for jvm in jvms)
            return bytecode_section.table_of(jvms) if rewritten else None
        numbers = ("process", "C2", "C1", "loads", "stores", "checked", "unsafe")
        made = table("process", "program", "JVM", *numbers[1:], right=numbers)
        for jvm, ordering in found:
            check = ordering.check
            unsafe = 0
            if check is not None:
                unsafe = check.unsafe + (check.c1.unsafe if check.c1 else 0)
                unsafe += check.interpreter.unsafe if check.interpreter else 0
            made.add_row(
                *of_jvm(jvm),
                f"{ordering.c2.methods:,}",
                f"{ordering.c1.methods:,}",
                f"{ordering.c2.loads + ordering.c1.loads:,}",
                f"{ordering.c2.stores + ordering.c1.stores:,}",
                f"{check.accesses + (check.c1.stores if check.c1 else 0):,}" if check else "-",
                f"{unsafe:,}" if check else "-",
            )
        return made

    def warnings(self, jvms: Sequence[JvmSummary], selection: Selection) -> Iterator[str]:
        orderings = [jvm.grafts.ordering for jvm in jvms if jvm.grafts.ordering is not None]
        file = selection.value("relaxed")
        if file and orderings and not any(ordering.c2.relaxed - ordering.c2.annotated for ordering in orderings):
            yield (
                f"--relaxed {file} relaxed nothing: C2 compiled none of its methods; expected names such as "
                "java.util.HashMap.putVal, of methods that run often"
            )

        if only := selection.value(ONLY.name):
            yield from bytecode_section.warnings([jvm.grafts.bytecode for jvm in jvms if jvm.grafts.bytecode], only)

    def unsound(self, jvm: JvmSummary) -> str:
        if jvm.grafts.bytecode is not None:
            return bytecode_section.unsound(jvm.grafts.bytecode)
        return "" if jvm.grafts.ordering is None else unsound(jvm.grafts.ordering)

    def rows(self, launches: Sequence[Sequence[JvmSummary]]) -> list[Row]:
        return rows(launches) + bytecode_section.rows(launches)


def lines(ordering: Ordering) -> Iterator[str]:
    """A line for each executor."""
    c2, c1 = ordering.c2, ordering.c1
    private = c2.private_stores + c2.private_later
    yield (
        f"C2: {count_of(c2.methods, 'method')} compiled, with {count_of(c2.loads, 'load')} and "
        f"{count_of(c2.stores, 'store')} in order; {private:,} of the stores without a fence, because nobody else has "
        f"the object yet; {count_of(c2.joined_fences, 'fence')} joined with a later one; "
        f"{count_of(c2.fences_behind_calls, 'fence')} behind calls of stubs"
    )
    before = c2.fences_before
    if kept := before.loads + before.unknown + before.calls + before.ends:
        yield (
            f"C2: {count_of(kept, 'fence')} left behind stores: {before.loads:,} with a load next, {before.calls:,} "
            f"with a call, {before.ends:,} with the method's end, {before.unknown:,} with what is not understood; "
            f"{count_of(c2.fences_at_ends, 'method')} with one fence at the end"
        )
    yield (
        f"C1: {count_of(c1.methods, 'method')} compiled, with {count_of(c1.loads, 'load')} and "
        f"{count_of(c1.stores, 'store')} in order"
    )
    if c2.relaxed:
        because = f", {c2.annotated:,} of them because of @memgraft.Relaxed" if c2.annotated else ""
        yield f"relaxed: {count_of(c2.relaxed, 'access')} in C2 keep the Java memory model{because}"
    if (check := ordering.check) is not None:
        yield (
            f"checked: {count_of(check.methods, 'method')} of C2, "
            f"{count_of(check.accesses, 'access')} in them, {check.unsafe:,} without the "
            "barrier they need"
        )
        if check.c1 is not None:
            yield (
                f"checked: {count_of(check.c1.methods, 'method')} of C1, {count_of(check.c1.stores, 'store')} in them, "
                f"{check.c1.unsafe:,} without a fence"
            )
        if check.interpreter is not None:
            yield (
                f"checked: {count_of(check.interpreter.stores, 'store')} in the interpreter's templates, "
                f"{check.interpreter.unsafe:,} without a fence"
            )
    yield f"the interpreter: fences at {count_of(ordering.interpreter.stores, 'place')} of its templates"


def unsound(ordering: Ordering) -> str:
    """What makes a run worth nothing: accesses that passed the graft by. Empty where there were none."""
    found = [] if ordering.check is None else list(_unsafe(ordering.check))
    if not found:
        return ""
    said = "; ".join(found)
    return f"the run was not sequentially consistent: {said}; expected none; report this with the JVM's version"


def _unsafe(check: OrderCheck) -> Iterator[str]:
    if check.unsafe:
        names = _some(check.unsafe_methods)
        yield f"{count_of(check.unsafe, 'access')} left C2 without the barrier they need, in {names}"
    if check.c1 is not None and check.c1.unsafe:
        yield (
            f"{count_of(check.c1.unsafe, 'store')} left C1 without a fence, or among code that was not seen, in "
            f"{_some(check.c1.unsafe_methods)}"
        )
    if check.interpreter is not None and check.interpreter.unsafe:
        yield f"{count_of(check.interpreter.unsafe, 'store')} of the interpreter's templates have no fence"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3])


def rows(launches: Sequence[Sequence[JvmSummary]]) -> list[Row]:
    """Per launch, as median and range or 95 % interval; empty where the graft did not join."""
    per_launch = [
        [found for jvm in jvms if jvm.state == "ended" and (found := jvm.grafts.ordering) is not None]
        for jvms in launches
    ]
    per_launch = [mine for mine in per_launch if mine]
    if not per_launch:
        return []
    return [
        (name, _cell([float(sum(figure(ordering) for ordering in mine)) for mine in per_launch]))
        for name, figure in FIGURES.items()
    ]


def _cell(values: Sequence[float]) -> str:
    found = statistics.median_or_range(list(values))
    if found.low == found.high:
        return f"{found.median:,.0f}"
    return f"{found.median:,.0f} [{found.low:,.0f}, {found.high:,.0f}]"
