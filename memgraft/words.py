"""Numbers and lists in words, the same on a terminal and on a page; and times as they are typed."""

import re
from collections.abc import Sequence

from memgraft.errors import WrongUsageError

KIBI = 1024
PERCENT = 100
ROUNDS_TO_THREE_DIGITS = 99.95
UNITS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0}
"""Of times, in seconds."""


def bytes_of(count: float) -> str:
    """`36.6 MiB`; the exact number below 1 KiB."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < KIBI:
            return f"{size:.4g} {unit}"
        size /= KIBI
    return f"{size:.4g} TiB"


def three_digits(value: float) -> str:
    """`1.23`, `45.0`, `678`, `9,012`: three digits that mean something, and no exponent."""
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= ROUNDS_TO_THREE_DIGITS else f"{value:#.3g}"


def seconds_of(seconds: float) -> str:
    """`1.23 s`, `45.6 ms`, `7.89 us`."""
    factor, unit = _unit(seconds)
    return f"{three_digits(seconds * factor)} {unit}"


def seconds_with_interval(median: float, low: float, high: float) -> str:
    """`45.6 ms [45.0, 46.1]`, all in the median's unit."""
    factor, _ = _unit(median)
    return f"{seconds_of(median)} [{three_digits(low * factor)}, {three_digits(high * factor)}]"


def _unit(seconds: float) -> tuple[float, str]:
    units = ((1.0, "s"), (1e3, "ms"), (1e6, "us"))
    return next(((factor, unit) for factor, unit in units if seconds * factor >= 1), (1e9, "ns"))


def percent(share: float) -> str:
    """`3.1 %`; two digits after the point below 1 %."""
    value = share * PERCENT
    return f"{value:.1f} %" if abs(value) >= 1 else f"{value:.2f} %"


def change(ratio: float) -> str:
    """A ratio as a change: `3.1 % less`, `2.0 % more`."""
    return f"{percent(abs(ratio - 1))} {'less' if ratio < 1 else 'more'}"


def count_of(number: int, noun: str) -> str:
    """`1 launch`, `2 launches`."""
    plural = f"{noun}es" if noun.endswith(("ch", "s")) else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def listed(words: Sequence[str], last: str) -> str:
    """`a, b or c`, where `last` is `or`."""
    return f" {last} ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def decisions(chosen: dict[str, int]) -> str:
    """`windows after 30 collections (71.4 %), concurrent after 12 (28.6 %)`, the most frequent first."""
    total = sum(chosen.values())
    ordered = sorted(chosen.items(), key=lambda item: -item[1])
    parts = [
        f"{strategy} after {count:,}{' collections' if first else ''} ({percent(count / total)})"
        for first, (strategy, count) in ((at == 0, item) for at, item in enumerate(ordered))
        if count
    ]
    return ", ".join(parts) or "nothing: there was no collection"


def seconds_in(option: str, text: str) -> float:
    """`500ms`, `5s`, `1m`, and seconds without a unit, as typed for an option."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*(ms|s|m|h|)", text.strip())
    if found is None or float(found[1]) == 0:
        raise WrongUsageError(f"{option} {text}: expected a time above 0 such as 500ms, 5s or 1m")
    return float(found[1]) * UNITS[found[2]]
