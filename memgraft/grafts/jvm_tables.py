"""What the grafts did in the JVMs of one run, where there are several: a table for each graft, a row for each JVM."""

from collections.abc import Iterator, Sequence
from typing import Any

from memgraft.formats import Buffers, JvmSummary, Ordering, Zeroing
from memgraft.screen import table
from memgraft.words import bytes_of, percent


def tables(jvms: Sequence[JvmSummary]) -> Iterator[Any]:
    zeroing = [(jvm, jvm.grafts.zeroing) for jvm in jvms if jvm.grafts.zeroing]
    buffers = [(jvm, jvm.grafts.buffers) for jvm in jvms if jvm.grafts.buffers]
    ordering = [(jvm, jvm.grafts.ordering) for jvm in jvms if jvm.grafts.ordering]
    if zeroing:
        yield _zeroing(zeroing)
    if buffers:
        yield _buffers(buffers)
    if ordering:
        yield _ordering(ordering)


def _of_jvm(jvm: JvmSummary) -> tuple[str, str, str]:
    # Without the build and the distributor: a table is narrow, and --json has it all.
    version = f"{jvm.jvm.version.partition('+')[0]}, {jvm.jvm.collector}"
    return str(jvm.pid), jvm.program.split(" ")[0] or "?", version


def _zeroing(found: Sequence[tuple[JvmSummary, Zeroing]]) -> Any:
    numbers = ("process", "TLABs", "zeroed", "GB/s", "direct cost", "CPU use")
    made = table("process", "program", "JVM", "kernel", *numbers[1:], right=numbers)
    for jvm, zeroing in found:
        made.add_row(
            *_of_jvm(jvm),
            zeroing.kernel,
            f"{zeroing.tlabs:,}",
            bytes_of(zeroing.bytes),
            "-" if zeroing.gigabytes_per_second is None else f"{zeroing.gigabytes_per_second:.1f}",
            "-" if jvm.direct_cost is None else percent(jvm.direct_cost),
            "-" if jvm.cpu_utilisation is None else percent(jvm.cpu_utilisation),
        )
    return made


def _buffers(found: Sequence[tuple[JvmSummary, Buffers]]) -> Any:
    numbers = ("process", "taken", "refills", "foreign")
    made = table("process", "program", "JVM", "lowest buffers", *numbers[1:], right=numbers)
    for jvm, buffers in found:
        lowest = buffers.levels[0] if buffers.levels else None
        made.add_row(
            *_of_jvm(jvm),
            f"{lowest.kind}, {bytes_of(lowest.bytes)}" if lowest else "none",
            f"{lowest.taken:,}" if lowest else "-",
            f"{lowest.refills:,}" if lowest else "-",
            percent(lowest.foreign_percent / 100) if lowest else "-",
        )
    return made


def _ordering(found: Sequence[tuple[JvmSummary, Ordering]]) -> Any:
    numbers = ("process", "C2", "C1", "loads", "stores", "checked", "unsafe")
    made = table("process", "program", "JVM", *numbers[1:], right=numbers)
    for jvm, ordering in found:
        check = ordering.check
        unsafe = 0
        if check is not None:
            unsafe = check.unsafe + (check.c1.unsafe if check.c1 else 0)
            unsafe += check.interpreter.unsafe if check.interpreter else 0
        made.add_row(
            *_of_jvm(jvm),
            f"{ordering.c2.methods:,}",
            f"{ordering.c1.methods:,}",
            f"{ordering.c2.loads + ordering.c1.loads:,}",
            f"{ordering.c2.stores + ordering.c1.stores:,}",
            f"{check.accesses + (check.c1.stores if check.c1 else 0):,}" if check else "-",
            f"{unsafe:,}" if check else "-",
        )
    return made
