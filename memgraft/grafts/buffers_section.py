"""What is said of the buffers graft: of one JVM, of several, and of the launches of one side of a comparison."""

from collections.abc import Callable, Iterator, Sequence

from rich.table import Table

from memgraft import statistics
from memgraft.formats import GIGA, BufferLevel, Buffers, JvmSummary, Latency, Numa, OwnSize
from memgraft.grafts.buffers import shown
from memgraft.grafts.section import Row, Section, of_jvm
from memgraft.screen import table
from memgraft.statistics import Interval
from memgraft.words import bytes_of, count_of, percent, seconds_of

FITTED = "{}: half of a G1 region, as HotSpot chose it; a larger -XX:G1HeapRegionSize holds larger buffers"
ONE_NODE = "one NUMA node: nothing to bind"


class BuffersSection(Section):
    """The buffers'."""

    def lines(self, jvm: JvmSummary) -> Iterator[str]:
        if jvm.grafts.buffers is not None:
            yield from lines(jvm.grafts.buffers)

    def table(self, jvms: Sequence[JvmSummary]) -> Table | None:
        found = [(jvm, jvm.grafts.buffers) for jvm in jvms if jvm.grafts.buffers]
        if not found:
            return None
        numbers = ("process", "taken", "refills", "foreign")
        made = table("process", "program", "JVM", "lowest buffers", *numbers[1:], right=numbers)
        for jvm, buffers in found:
            lowest = buffers.levels[0] if buffers.levels else None
            made.add_row(
                *of_jvm(jvm),
                f"{lowest.kind}, {bytes_of(lowest.bytes)}" if lowest else "none",
                f"{lowest.taken:,}" if lowest else "-",
                f"{lowest.refills:,}" if lowest else "-",
                percent(lowest.foreign_percent / 100) if lowest else "-",
            )
        return made

    def rows(self, launches: Sequence[Sequence[JvmSummary]]) -> list[Row]:
        return rows(launches)


def lines(buffers: Buffers) -> Iterator[str]:
    """A line for each level, the lowest first, then the heap's."""
    if fitted := _fitted(buffers):
        yield fitted
    for level in buffers.levels:
        yield (
            f"{level.kind}={shown(level.bytes)} ({count_of(level.buffers, 'buffer')}, {level.take}): "
            f"{count_of(level.taken, 'request')}, {count_of(level.refills, 'refill')}, "
            f"{percent(level.foreign_percent / 100)} foreign, {level.contended:,} contended; "
            f"{bytes_of(level.waste_at_refills_bytes)} lost at refills, "
            f"{bytes_of(level.waste_at_collections_bytes)} at {count_of(buffers.collections or 0, 'collection')}"
            f"{_time(level.latency)}"
        )
    for size in buffers.sizes:
        yield _story(size)
    if buffers.numa is not None:
        yield _in_words(buffers.numa)
    if buffers.heap is not None:
        what = buffers.hands_out.removesuffix("s")
        yield f"the heap itself: {count_of(buffers.heap.tlabs, what)}{_time(buffers.heap.latency)}"


def _fitted(buffers: Buffers) -> str:
    """Which levels are smaller than they were asked to be; automatic sizes and NUMA-Eden's own change anyway."""
    if buffers.sizes:
        return ""
    asked = [(level, level.asked_bytes or 0) for level in buffers.levels]
    smaller = [f"{one.kind}={shown(one.bytes)} instead of {shown(most)}" for one, most in asked if one.bytes < most]
    return FITTED.format(", ".join(smaller)) if smaller else ""


def _in_words(numa: Numa) -> str:
    if numa.nodes == 1:
        return ONE_NODE
    text = (
        f"NUMA-Eden: {count_of(numa.fillings, 'filling')} for {numa.nodes} nodes: {numa.local_fillings:,} were on "
        f"their node, {numa.moved_fillings:,} moved to it, {numa.remote_fillings:,} left on another; "
        f"{bytes_of(numa.bound_bytes)} bound, {bytes_of(numa.waste_at_collections_bytes)} of spares lost at collections"
    )
    if numa.failures:
        # In containers the default seccomp profile allows neither mbind nor move_pages without it.
        advice = "; containers need CAP_SYS_NICE for it" if "not permitted" in numa.reason else ""
        text += f"; {count_of(numa.failures, 'system call')} failed ({numa.reason}{advice})"
    return text


def _story(size: OwnSize) -> str:
    """What an automatic size came to, and why."""
    decisions = ", ".join(f"{reason} {count:,}" for reason, count in size.decisions.items()) or "no collection"
    if size.last_change is None:
        return f"{size.kind}: stayed at {shown(size.bytes)} ({decisions})"
    last = size.last_change
    return (
        f"{size.kind}: {shown(size.first_bytes)} became {shown(size.bytes)} in {count_of(size.changes, 'step')} "
        f"({decisions}); the last, at collection {last.collection:,}, from {shown(last.bytes_before)} to "
        f"{shown(last.bytes)}: {last.reason} ({last.waste_percent:.1f} % lost, {last.foreign_percent:.1f} % foreign, "
        f"{last.contended_percent:.1f} % contended, {last.refills_per_buffer:,.0f} refills of each)"
    )


def _time(latency: Latency) -> str:
    if latency.requests == 0:
        return ""
    median, most = (seconds_of(time / GIGA) for time in (latency.median_nanoseconds, latency.p99_nanoseconds))
    return f"; median {median}, 99 % below {most}"


def rows(launches: Sequence[Sequence[JvmSummary]]) -> list[Row]:
    """Per launch, as median and range or 95 % interval; empty where the graft did not join."""
    per_launch = [
        [found for jvm in jvms if jvm.state == "ended" and (found := jvm.grafts.buffers) is not None]
        for jvms in launches
    ]
    per_launch = [mine for mine in per_launch if mine]
    if not per_launch:
        return []
    # All launches of a side have the same levels.
    first = per_launch[0][0]
    made = [("buffers fitted", fitted)] if (fitted := _fitted(first)) else []
    made += [row for at in range(len(first.levels)) for row in _level_rows(per_launch, at)]
    made.append(
        (
            f"{first.hands_out} from the heap itself",
            _cell(_sums(per_launch, lambda b: b.heap.tlabs if b.heap else 0), _whole),
        )
    )
    made += _numa_rows(per_launch)
    times = [_median_time([b.heap.latency for b in mine if b.heap]) for mine in per_launch]
    return made + _time_row("from the heap itself", first, times)


def _level_rows(per_launch: Sequence[Sequence[Buffers]], at: int) -> list[Row]:
    first = per_launch[0][0].levels[at]
    name = f"{first.kind}={shown(first.bytes)}"

    def sums(figure: Callable[[BufferLevel], int]) -> list[float]:
        return _sums(per_launch, lambda b: figure(b.levels[at]))

    taken, foreign = sums(lambda level: level.taken), sums(lambda level: level.foreign)
    shares = [part / whole for part, whole in zip(foreign, taken, strict=True) if whole]
    made = [
        (f"{name}: buffers", f"{first.buffers:,}, {first.take}"),
        (f"{name}: requests", _cell(taken, _whole)),
        (f"{name}: refills", _cell(sums(lambda level: level.refills), _whole)),
        (f"{name}: foreign", _cell(shares, percent) if shares else "-"),
        (f"{name}: contended", _cell(sums(lambda level: level.contended), _whole)),
        (f"{name}: lost at refills", _cell(sums(lambda level: level.waste_at_refills_bytes), bytes_of)),
        (f"{name}: lost at collections", _cell(sums(lambda level: level.waste_at_collections_bytes), bytes_of)),
    ]
    return made + _time_row(
        name, per_launch[0][0], [_median_time([b.levels[at].latency for b in mine]) for mine in per_launch]
    )


def _numa_rows(per_launch: Sequence[Sequence[Buffers]]) -> list[Row]:
    first = per_launch[0][0].numa
    if first is None:
        return []
    if first.nodes == 1:
        return [("NUMA-Eden", ONE_NODE)]

    def sums(figure: Callable[[Numa], int]) -> list[float]:
        return _sums(per_launch, lambda b: figure(b.numa) if b.numa else 0)

    return [
        ("NUMA-Eden: fillings", _cell(sums(lambda numa: numa.fillings), _whole)),
        ("NUMA-Eden: on their node already", _cell(sums(lambda numa: numa.local_fillings), _whole)),
        ("NUMA-Eden: moved to it", _cell(sums(lambda numa: numa.moved_fillings), _whole)),
        ("NUMA-Eden: left on another node", _cell(sums(lambda numa: numa.remote_fillings), _whole)),
        ("NUMA-Eden: failed system calls", _cell(sums(lambda numa: numa.failures), _whole)),
    ]


def _time_row(name: str, buffers: Buffers, times: Sequence[float | None]) -> list[Row]:
    what = {"TLABs": "a TLAB", "objects": "an object"}[buffers.hands_out]
    known = [time for time in times if time is not None]
    return [(f"{name}: median time of {what}", _cell(known, seconds_of))] if known else []


def _sums(per_launch: Sequence[Sequence[Buffers]], figure: Callable[[Buffers], int]) -> list[float]:
    return [float(sum(figure(buffers) for buffers in mine)) for mine in per_launch]


def _median_time(latencies: Sequence[Latency]) -> float | None:
    """Of the JVM with the most requests, in seconds: medians cannot be added up."""
    most = max(latencies, key=lambda latency: latency.requests, default=None)
    return most.median_nanoseconds / GIGA if most and most.requests else None


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _cell(values: Sequence[float], words: Callable[[float], str]) -> str:
    found: Interval = statistics.median_or_range(list(values))
    if found.low == found.high:
        return words(found.median)
    return f"{words(found.median)} [{words(found.low)}, {words(found.high)}]"
