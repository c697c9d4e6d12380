"""What the live page says in words: who is watched, what the monitor can see, the numbers of an interval."""

import time
from pathlib import Path

from memgraft.watch.history import State, local_share
from memgraft.watch.record import End, Monitor, Start, Tail
from memgraft.words import bytes_of, count_of, percent, seconds_of, three_digits

Row = tuple[str, str]
MILLI = 1000
SILENT_INTERVALS = 3
"""Without a new line for so many, the writer may be gone."""
SHORTEST_SILENCE = 5.0
SIGHTS = (
    ("thread", "the thread"),
    ("cpu", "the CPU"),
    ("store", "whether it wrote"),
    ("latency", "how long it took"),
)
REASONS = {
    "busy": "busy",
    "no_memory": "no memory on the node",
    "absent": "not present",
    "forbidden": "forbidden",
    "other": "other",
}
RULES = {
    "share": "too small a share",
    "few": "too few touches to tell",
    "payback": "would not pay",
    "rate": "rate limit",
    "frozen": "frozen",
    "forbidden": "forbidden to the program",
}


def title(start: Start) -> str:
    return f"{start.program} (process {start.pid})"


def sight(monitor: Monitor) -> str:
    """What a monitor can and cannot see, in its own words and ours."""
    can = [words for name, words in SIGHTS if getattr(monitor, name)]
    cannot = [words for name, words in SIGHTS if getattr(monitor, name) is False]
    which = {True: "every access", False: "a sample, not every access", None: "accesses"}[monitor.every_access]
    parts = [which]
    if can:
        parts.append(f"of each, {_listed(can)}")
    if cannot:
        parts.append(f"not {_listed(cannot, 'or')}")
    return "; ".join(parts)


def _listed(words: list[str], joined_by: str = "and") -> str:
    *most, last = words
    return f"{', '.join(most)} {joined_by} {last}" if most else last


def ended(end: End) -> str:
    """How the run ended."""
    after = f"after {seconds_of(end.at_ms / MILLI)}"
    match end.reason:
        case "exited" if end.exit_code is not None:
            return f"finished: the program ended with exit code {end.exit_code} {after}"
        case "exited":
            return f"finished: the program ended {after}"
        case "detached":
            return f"finished: detached {after}; the program runs on"
        case "duration":
            return f"finished: watched as long as was asked for, {seconds_of(end.at_ms / MILLI)}"
        case other:
            return f"finished {after}: {other}"


def condition(tail: Tail) -> str:
    """Whether the record is finished or being written, as far as can be told from it."""
    if tail.end:
        return ended(tail.end)
    silence = _silence(tail.path)
    usual = (tail.start.interval_ms / MILLI if tail.start else 0) * SILENT_INTERVALS
    if silence is not None and silence > max(usual, SHORTEST_SILENCE):
        return f"no new line for {seconds_of(silence)}, and no end: still running, or ended without one"
    return "live"


def _silence(record: Path) -> float | None:
    try:
        return max(0.0, time.time() - record.stat().st_mtime)
    except OSError:
        return None


def sentence(state: State, dry_run: bool) -> str:
    """The interval in one sentence."""
    local, moved = local_share(state.accesses), int(state.moved_so_far.sum())
    seen = "No samples in this interval" if local is None else f"{percent(1 - local)} of the samples non-local"
    pages = f"{count_of(moved, 'page')} {'would have been ' if dry_run else ''}moved since the start"
    return f"{seen}; {pages}."


def numbers(start: Start, state: State) -> list[Row]:
    """The small table: this interval, and since the start where both say something."""
    interval, moved = state.interval, int(state.moved.sum())
    share = state.cpu_share
    beside = interval.moved_by_neighbours
    per_second = "" if share is None else f" ({three_digits(share * MILLI)} ms a second, {percent(share)} of a CPU)"
    return [
        ("samples", f"{interval.samples:,}; {interval.unknown:,} on pages whose node is unknown"),
        *([("hindered", interval.hindrance)] if interval.hindrance else []),
        ("lost samples", _twice(interval.lost, state.lost_so_far)),
        ("would be moved" if start.dry_run else "moved", _twice(moved, int(state.moved_so_far.sum()), "pages")),
        *([("for touches around them", count_of(beside, "page"))] if beside else []),
        ("refused", _by(interval.refused, REASONS)),
        ("refused since the start", _by(state.refused_so_far, REASONS)),
        ("held back", _by(interval.held, RULES)),
        ("waiting", f"{count_of(interval.waiting, 'page')}, to be moved at the next touch"),
        ("frozen", count_of(interval.frozen, "page")),
        ("moved by the kernel", f"{_twice(interval.kernel_moved, state.kernel_moved_so_far, 'pages')}, machine-wide"),
        (
            "in the profile",
            count_of(interval.pages, "page") + (f"; no room for {interval.forgotten:,}" if interval.forgotten else ""),
        ),
        ("threads", f"{interval.threads:,}"),
        ("CPU time of observing and placing", f"{seconds_of(interval.cpu_ms / MILLI)}{per_second}"),
    ]


def _twice(now: int, so_far: int, unit: str = "") -> str:
    return f"{now:,}{f' {unit}' if unit else ''}; {so_far:,} since the start"


def _by(counts: dict[str, int], words: dict[str, str]) -> str:
    found = [f"{pages:,} {words.get(reason, reason)}" for reason, pages in counts.items() if pages]
    return ", ".join(found) if found else "none"


def about(start: Start, record: Path, version: str) -> list[Row]:
    """Who and what is watched."""
    rows = [
        ("program", f"{start.program}, process {start.pid}"),
        ("command", " ".join(start.command) if start.command is not None else "none: attached to a running program"),
        ("started", start.started.isoformat(sep=" ", timespec="seconds")),
        ("monitor", f"{start.monitor.name}: {start.monitor.what}" if start.monitor.what else start.monitor.name),
        ("it sees", sight(start.monitor)),
        ("interval", seconds_of(start.interval_ms / MILLI)),
        ("pages of", bytes_of(start.page_bytes)),
    ]
    rows += [(f"node {node.node}", _node(node.cpus, node.memory_bytes, node.distances)) for node in start.nodes]
    if start.policy:
        rows.append(("policy", ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in start.policy.items())))
    rows.append(("record", f"{record}, written by Memgraft {start.memgraft or '(unknown)'}, read by {version}"))
    return rows


def _node(cpus: list[int], memory_bytes: int | None, distances: list[int]) -> str:
    parts = [f"CPUs {_spans(cpus)}" if cpus else "no CPUs"]
    if memory_bytes is not None:
        parts.append(bytes_of(memory_bytes))
    if distances:
        parts.append(f"distances {' '.join(map(str, distances))}")
    return ", ".join(parts)


def _spans(numbers: list[int]) -> str:
    """`0-3, 8`."""
    spans: list[list[int]] = []
    for number in sorted(numbers):
        if spans and number == spans[-1][1] + 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
