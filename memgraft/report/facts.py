"""The sentences and rows that the terminal and the page share."""

from collections.abc import Callable
from dataclasses import dataclass

from memgraft import launch
from memgraft.doctor import machine_lines
from memgraft.grafts import describe
from memgraft.outcome import Measured, Outcome
from memgraft.statistics import Interval
from memgraft.words import bytes_of, change, count_of, percent, seconds_of, seconds_with_interval, three_digits

Row = tuple[str, str]


def verdict(outcome: Outcome) -> str:
    """The verdict as one sentence for somebody who reads nothing else."""
    head, ratio = outcome.headline, outcome.headline.ratio
    over = f"over {count_of(outcome.settings.pairs, 'pair')} of launches"
    noun = head.metric.noun
    if outcome.calibration:
        if head.verdict == "not resolved":
            return (
                f"Stock against stock, {over}: no difference resolved, as it must be; on this machine now, a change of "
                f"{outcome.program}'s {noun} beyond ±{percent(ratio.resolvable)} would have shown."
            )
        return (
            f"Stock against stock, {over}: one side {head.metric.verb} {change(ratio.median)} {noun} "
            f"({interval(ratio)}), although both are the same: do not trust small effects measured here."
        )
    graft = describe(outcome.settings.selection)
    if head.verdict == "not resolved":
        return (
            f"No difference resolved: with {graft} {outcome.program} {head.metric.verb} between {change(ratio.low)} "
            f"and {change(ratio.high)} {noun} (95 % interval; median {change(ratio.median)}), {over}; anything beyond "
            f"±{percent(ratio.resolvable)} would have shown."
        )
    return (
        f"With {graft} {outcome.program} {head.metric.verb} {change(ratio.median)} {noun} ({interval(ratio)}), {over}."
    )


def interval(ratio: Interval) -> str:
    """`95 % interval 1.2 % to 5.0 % less`, the smaller effect first; both directions where it holds 1."""
    low, high = change(ratio.low), change(ratio.high)
    if ratio.high < 1:
        return f"95 % interval {percent(1 - ratio.high)} to {low}"
    if ratio.low > 1:
        return f"95 % interval {percent(ratio.low - 1)} to {high}"
    return f"95 % interval {low} to {high}"


def ratio_cell(ratio: Interval) -> str:
    return f"{ratio.median:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"


def seconds_cell(seconds: Interval) -> str:
    return seconds_with_interval(seconds.median, seconds.low, seconds.high)


@dataclass(frozen=True)
class MetricRow:
    """One line of the table of both sides."""

    name: str
    noun: str
    stock: str
    grafted: str
    ratio: str
    verdict: str
    headline: bool


def metric_rows(outcome: Outcome) -> list[MetricRow]:
    """Every metric that both sides have, the headline first."""

    def row(measured: Measured) -> MetricRow:
        return MetricRow(
            name=measured.metric.name,
            noun=measured.metric.noun,
            stock=seconds_cell(measured.stock_seconds),
            grafted=seconds_cell(measured.grafted_seconds),
            ratio=ratio_cell(measured.ratio),
            verdict=measured.verdict,
            headline=measured is outcome.headline,
        )

    return sorted((row(m) for m in outcome.measured.values()), key=lambda r: not r.headline)


def _whole(value: float) -> str:
    return f"{value:,.0f}"


FIGURE_WORDS: dict[str, Callable[[float], str]] = {
    "bytes": bytes_of,
    "seconds": seconds_of,
    "gigabytes_per_second": three_digits,
    "direct_cost": percent,
    "cpu_utilisation": percent,
}
"""How a figure of the graft is written; counts are whole numbers."""


def zeroing_rows(outcome: Outcome) -> list[Row]:
    """What the zeroing graft did, per launch, as median and 95 % interval."""
    zeroing = outcome.zeroing
    if zeroing is None:
        return []

    def figure(name: str, text: str) -> list[Row]:
        f = zeroing.figures.get(name)
        if f is None:
            return []
        words = FIGURE_WORDS.get(name, _whole)
        if f.low == f.high:
            return [(text, f"{words(f.median)} in every launch")]
        return [(text, f"{words(f.median)} [{words(f.low)}, {words(f.high)}]")]

    return [
        ("strategy, kernel", f"{zeroing.strategy}, {zeroing.kernel}"),
        *figure("tlabs", "TLABs zeroed"),
        *figure("missed_tlabs", "TLABs missed"),
        *figure("bytes", "bytes zeroed"),
        *figure("cycles", "cycles of zeroing"),
        *figure("seconds", "CPU time of zeroing"),
        *figure("gigabytes_per_second", "zeroing speed, GB/s"),
        *figure("direct_cost", "direct cost"),
        *figure("cpu_utilisation", "CPU utilisation"),
    ]


def noise_rows(outcome: Outcome) -> list[Row]:
    """How quiet it was."""
    noise, ratio = outcome.noise, outcome.headline.ratio

    def share(value: Interval) -> str:
        return f"{percent(value.median)} [{percent(value.low)}, {percent(value.high)}]"

    rows = [
        ("effect that would have shown", f"±{percent(ratio.resolvable)}"),
        ("CPU time of other programs", share(noise.others_share)),
        ("CPU time stolen by the hypervisor", share(noise.stolen_share)),
        (
            "variation of launches",
            f"stock {percent(noise.stock_variation)}, grafted {percent(noise.grafted_variation)}",
        ),
        ("stock, first to last launch", signed(noise.stock_drift)),
    ]
    if noise.still_warming is not None:
        warming = noise.still_warming
        rows.append(
            (
                "stock, first to last steady iteration",
                signed(Interval(warming.median - 1, warming.low - 1, warming.high - 1)),
            )
        )
    return rows


def signed(change: Interval) -> str:
    """A relative change with its sign: `+1.0 % [-0.5 %, +2.0 %]`."""

    def one(value: float) -> str:
        return f"{'+' if value > 0 else ''}{percent(value)}"

    return f"{one(change.median)} [{one(change.low)}, {one(change.high)}]"


def compared_rows(outcome: Outcome) -> list[Row]:
    """What was compared, exactly."""
    settings = outcome.settings
    joined = next((done.joined for done in outcome.launches if done.joined.variable), None)
    rows = [("command", launch.shown(settings.command))]
    if joined:
        rows += [("grafted side only", f"{joined.variable}={' '.join(launch.quoted(o) for o in joined.options)}")]
    else:
        rows += [
            ("grafted side only", "nothing: the agent was not loaded, both sides are the stock (an A/A comparison)")
        ]
    rows += [("JVM", str(jvm)) for jvm in outcome.jvms] or [("JVM", "unknown: nothing was loaded that could tell")]
    rows += [("launches", _launches(outcome)), ("iterations", _iterations(outcome)), ("started", outcome.started)]
    return rows


def _launches(outcome: Outcome) -> str:
    settings = outcome.settings
    warmup = f"{count_of(settings.warmup_launches, 'warm-up launch')} (grafted, not counted), then "
    pairs = count_of(settings.pairs, "pair")
    order = {
        "alternate": f"{pairs} one after the other: stock, grafted, grafted, stock, ...",
        "concurrent": f"{pairs}, both sides at the same time on CPUs of their own, swapped from pair to pair",
    }
    return warmup + order[settings.pairing]


def _iterations(outcome: Outcome) -> str:
    counts = outcome.iterations
    if counts is None:
        return "none reported"
    total = f"{counts.fewest}" if counts.fewest == counts.most else f"{counts.fewest} to {counts.most}"
    warmup = (
        f"{counts.warmup_fewest}"
        if counts.warmup_fewest == counts.warmup_most
        else f"{counts.warmup_fewest} to {counts.warmup_most}"
    )
    of = f" of {', '.join(counts.workloads)}" if any(counts.workloads) else ""
    return f"{total} per launch{of}, the first {warmup} of them warm-up"


def machine_rows(outcome: Outcome) -> list[Row]:
    return machine_lines(outcome.machine)
