"""What is said of the zeroing graft: of one JVM, of several, and of the launches of one side of a comparison."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.table import Table

from memgraft.formats import JvmSummary, Zeroing
from memgraft.grafts.section import Row, Section, of_jvm
from memgraft.grafts.selection import Selection
from memgraft.grafts.zeroing_figures import ZeroingFigures, zeroing_figures
from memgraft.screen import table
from memgraft.statistics import Interval
from memgraft.words import bytes_of, count_of, decisions, percent, seconds_of, three_digits


def _whole(value: float) -> str:
    return f"{value:,.0f}"


FIGURES: dict[str, tuple[str, Callable[[float], str]]] = {
    "collections": ("collections", _whole),
    "tlabs": ("TLABs zeroed", _whole),
    "missed_tlabs": ("TLABs missed", _whole),
    "windows": ("windows zeroed", _whole),
    "window_waste_bytes": ("window ends never used", bytes_of),
    "bytes": ("bytes zeroed", bytes_of),
    "fresh_bytes": ("bytes that were zero already", bytes_of),
    "cycles": ("cycles of zeroing", _whole),
    "seconds": ("CPU time of zeroing", seconds_of),
    "thread_seconds": ("of it by allocating threads", seconds_of),
    "helper_seconds": ("of it by the helper thread", seconds_of),
    "pause_seconds": ("of it within pauses", seconds_of),
    "helper_ready_bytes": ("bytes ready when asked for", bytes_of),
    "helper_waits": ("waits for the helper", _whole),
    "helper_wait_seconds": ("time of these waits", seconds_of),
    "helper_steals": ("blocks taken from the helper", _whole),
    "gigabytes_per_second": ("zeroing speed, GB/s", three_digits),
    "direct_cost": ("direct cost", percent),
    "cpu_utilisation": ("CPU utilisation", percent),
}
"""Every figure in the order in which it is shown, with its words."""


class ZeroingSection(Section):
    """The zeroing graft's."""

    def in_words(self, jvm: JvmSummary) -> str:
        zeroing = jvm.grafts.zeroing
        if zeroing is None:
            return ""
        text = f"{count_of(zeroing.tlabs, 'TLAB')}, {bytes_of(zeroing.bytes)} zeroed by {zeroing.kernel}"
        if zeroing.gigabytes_per_second is not None and jvm.direct_cost is not None:
            text += f" at {zeroing.gigabytes_per_second:.1f} GB/s; direct cost {percent(jvm.direct_cost)} of CPU time"
        return text

    def lines(self, jvm: JvmSummary) -> Iterator[str]:
        if jvm.grafts.zeroing is not None:
            yield from _lines(jvm.grafts.zeroing)

    def table(self, jvms: Sequence[JvmSummary]) -> Table | None:
        found = [(jvm, jvm.grafts.zeroing) for jvm in jvms if jvm.grafts.zeroing]
        if not found:
            return None
        numbers = ("process", "TLABs", "zeroed", "GB/s", "direct cost", "CPU use")
        made = table("process", "program", "JVM", "kernel", *numbers[1:], right=numbers)
        for jvm, zeroing in found:
            made.add_row(
                *of_jvm(jvm),
                zeroing.kernel,
                f"{zeroing.tlabs:,}",
                bytes_of(zeroing.bytes),
                "-" if zeroing.gigabytes_per_second is None else f"{zeroing.gigabytes_per_second:.1f}",
                "-" if jvm.direct_cost is None else percent(jvm.direct_cost),
                "-" if jvm.cpu_utilisation is None else percent(jvm.cpu_utilisation),
            )
        return made

    def warnings(self, jvms: Sequence[JvmSummary], selection: Selection) -> Iterator[str]:
        del selection
        for jvm in jvms:
            # What a JVM that was killed counted is said to be missing as a whole.
            if jvm.state != "running" and jvm.grafts.zeroing and jvm.grafts.zeroing.missed_tlabs:
                yield missed_tlabs(jvm.grafts.zeroing.missed_tlabs, f"the JVM of process {jvm.pid}")

    def rows(self, launches: Sequence[Sequence[JvmSummary]]) -> list[Row]:
        return rows(zeroing_figures(launches))

    def derived(self, jvm: JvmSummary) -> dict[str, Any]:
        zeroing = jvm.grafts.zeroing
        if zeroing is None:
            return {}
        return {"gigabytes_per_second": zeroing.gigabytes_per_second, "direct_cost": jvm.direct_cost}


def missed_tlabs(count: int, where: str) -> str:
    return (
        f"{count_of(count, 'TLAB')} of {where} did not reach the graft and kept the stock's zeroing: nothing is wrong "
        "with the program's memory, but the figures leave those TLABs out; please report it with the JVM's version"
    )


def _lines(zeroing: Zeroing) -> Iterator[str]:
    """What a strategy has to say beyond the common figures."""
    if zeroing.windows:
        waste = bytes_of(zeroing.window_waste_bytes or 0)
        yield f"{count_of(zeroing.windows, 'window')}, {waste} at their ends not used"
    helper = zeroing.helper
    if helper is not None and not helper.started:
        yield f"the helper thread did not start: {helper.reason or 'no reason given'}"
    elif helper is not None:
        share = (zeroing.by.helper.bytes if zeroing.by and zeroing.by.helper else 0) / max(zeroing.bytes, 1)
        yield (
            f"the helper thread zeroed {percent(share)}; {count_of(helper.waits, 'wait')} for it "
            f"({seconds_of(helper.wait_seconds)}), {count_of(helper.steals, 'block')} taken from it"
        )
    if zeroing.decisions:
        yield f"adaptive chose {decisions(zeroing.decisions)}"


def rows(figures: ZeroingFigures | None) -> list[Row]:
    """Per launch, as median and 95 % interval."""
    if figures is None:
        return []
    shown = [("strategy, kernel", f"{figures.strategy}, {figures.kernel}")]
    shown += [
        (text, cell(figures.figures[name], words)) for name, (text, words) in FIGURES.items() if name in figures.figures
    ]
    if figures.decisions:
        shown.append(("adaptive chose", decisions(figures.decisions)))
    shown += [("helper thread", f"not started: {reason}") for reason in figures.helper_not_started]
    return shown + counters(figures)


def cell(figure: Interval, words: Callable[[float], str]) -> str:
    if figure.low == figure.high:
        return f"{words(figure.median)} in every launch"
    return f"{words(figure.median)} [{words(figure.low)}, {words(figure.high)}]"


def counters(figures: ZeroingFigures) -> list[Row]:
    """Hardware counters of the JVM, or why this machine gives none; one line where all lack for the same reason."""
    shown: list[Row] = []
    absent: dict[str, list[str]] = {}
    for counter in figures.counters:
        name = counter.name.replace("_", " ")
        measured = figures.figures.get(f"counter_{counter.name}")
        if measured is not None:
            shown.append((f"{name}, {counter.unit}" if counter.unit else name, cell(measured, _whole)))
        elif not counter.available:
            absent.setdefault(counter.reason, []).append(name)
    return shown + [(f"no {', '.join(names)}", reason or "no reason given") for reason, names in absent.items()]
