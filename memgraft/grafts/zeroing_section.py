"""What a graft did, as rows for the terminal and the page."""

from collections.abc import Callable

from memgraft.grafts.zeroing_figures import ZeroingFigures
from memgraft.statistics import Interval
from memgraft.words import bytes_of, decisions, percent, seconds_of, three_digits

Row = tuple[str, str]


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
