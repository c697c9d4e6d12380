"""The sentences and rows that the terminal and the page share."""

from dataclasses import dataclass
from math import isinf

from memgraft import machine
from memgraft.experiment.design import SWITCHED, Side
from memgraft.experiment.outcome import Measured, Outcome
from memgraft.experiment.profiles import WORTH
from memgraft.jvm import launch
from memgraft.statistics import Interval
from memgraft.words import change, count_of, percent, seconds_with_interval, three_digits

Row = tuple[str, str]


def verdict(outcome: Outcome) -> str:
    """The verdict as one sentence for somebody who reads nothing else."""
    head, ratio = outcome.headline, outcome.headline.ratio
    over = f"over {measured_over(outcome)}"
    noun = head.metric.noun
    if outcome.settings.bound:
        return " ".join(filter(None, (bound(outcome), break_even(outcome))))
    if outcome.calibration:
        what = "Stock against stock" if outcome.settings.stock else f"{_graft(outcome)} against itself"
        if head.verdict == "not resolved":
            return (
                f"{what}, {over}: no difference resolved, as it must be; on this machine now, a change of "
                f"{outcome.program}'s {noun} beyond ±{percent(ratio.resolvable)} would have shown."
            )
        return (
            f"{what}, {over}: one side {head.metric.verb} {change(ratio.median)} {noun} "
            f"({interval(ratio)}), although both are the same: do not trust small effects measured here."
        )
    graft = str(outcome.settings.selection)
    than = "" if outcome.settings.stock else f" than with {outcome.settings.baseline}"
    if head.verdict == "not resolved":
        return (
            f"No difference resolved: with {graft} {outcome.program} {head.metric.verb} between {change(ratio.low)} "
            f"and {change(ratio.high)} {noun}{than} (95 % interval; median {change(ratio.median)}), {over}; anything "
            f"beyond ±{percent(ratio.resolvable)} would have shown."
        )
    return (
        f"With {graft} {outcome.program} {head.metric.verb} {change(ratio.median)} {noun}{than} ({interval(ratio)}), "
        f"{over}."
    )


def _graft(outcome: Outcome) -> str:
    text = str(outcome.settings.selection)
    return f"{text[:1].upper()}{text[1:]}"


def bound(outcome: Outcome) -> str:
    """The bound as one sentence: whether zeroing matters to this program at all."""
    head, ratio = outcome.headline, outcome.headline.ratio
    over, noun = f"over {measured_over(outcome)}", head.metric.noun
    if head.verdict == "faster":
        return (
            f"If zeroing cost nothing, {outcome.program} would use {change(ratio.median)} {noun} ({interval(ratio)}), "
            f"{over}: no zeroing strategy can gain more than {percent(1 - ratio.low)}."
        )
    if head.verdict == "slower":
        return (
            f"Even if zeroing cost nothing, {outcome.program} would use {change(ratio.median)} {noun} "
            f"({interval(ratio)}), {over}: the stock, which zeroes what compiled code does not fill anyway, is better "
            "than memory zeroed ahead; zeroing strategies have nothing to gain here."
        )
    if ratio.low > 1 - WORTH:
        return (
            f"Zeroing does not matter to {outcome.program}: if it cost nothing, the program would use between "
            f"{change(ratio.low)} and {change(ratio.high)} {noun} (95 % interval), {over}, so no strategy can gain "
            f"more than {percent(1 - ratio.low)}."
        )
    return (
        f"No gain resolved: if zeroing cost nothing, {outcome.program} would use between {change(ratio.low)} and "
        f"{change(ratio.high)} {noun} (95 % interval; median {change(ratio.median)}), {over}: a strategy might gain up "
        f"to {percent(1 - ratio.low)}, or nothing."
    )


def break_even(outcome: Outcome) -> str:
    """Whether zeroing on the program's own CPUs can pay at all, as one sentence."""
    found = outcome.break_even
    if found is None or isinf(found.needed.median):
        return ""
    needed, measured = found.needed, found.measured
    high = "infinite" if isinf(needed.high) else three_digits(needed.high)
    result = {
        "yes": "so zeroing on the program's own CPUs can pay",
        "no": "so on the program's own CPUs zeroing costs more than it saves; only an idle CPU can hide it",
        "not resolved": "so whether zeroing on the program's own CPUs can pay is not resolved",
    }
    return (
        f"The stock zeroes as if at {three_digits(needed.median)} GB/s [{three_digits(needed.low)}, {high}], "
        f"non-temporal stores within the pauses at {three_digits(measured.median)} GB/s "
        f"[{three_digits(measured.low)}, {three_digits(measured.high)}]: {result[found.pays]}."
    )


def measured_over(outcome: Outcome) -> str:
    """`10 pairs of launches`, or how many epochs of how many launches."""
    if outcome.switched:
        launches = count_of(len(outcome.counted), "launch")
        return f"{outcome.switched.counted:,} epochs of {launches}"
    return f"{count_of(outcome.settings.pairs, 'pair')} of launches"


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
    baseline: str
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
            baseline=seconds_cell(measured.baseline_interval),
            grafted=seconds_cell(measured.grafted_interval),
            ratio=ratio_cell(measured.ratio),
            verdict=measured.verdict,
            headline=measured is outcome.headline,
        )

    return sorted((row(m) for m in outcome.measured.values()), key=lambda r: not r.headline)


def noise_rows(outcome: Outcome) -> list[Row]:
    """How quiet it was."""
    noise, ratio = outcome.noise, outcome.headline.ratio
    baseline, grafted = outcome.labels.values()

    def share(value: Interval) -> str:
        return f"{percent(value.median)} [{percent(value.low)}, {percent(value.high)}]"

    rows = [
        ("effect that would have shown", f"±{percent(ratio.resolvable)}"),
        ("CPU time of other programs", share(noise.others_share)),
        ("CPU time stolen by the hypervisor", share(noise.stolen_share)),
        (
            "variation of batches of epochs" if outcome.switched else "variation of launches",
            f"{baseline} {percent(noise.baseline_variation)}, {grafted} {percent(noise.grafted_variation)}",
        ),
        (
            f"{baseline}, first to last {'batch of epochs' if outcome.switched else 'launch'}",
            signed(noise.baseline_drift),
        ),
    ]
    if outcome.switched and outcome.switched.autocorrelation is not None:
        rows.append(("correlation of neighbouring batches", f"{outcome.switched.autocorrelation:.2f}"))
    if noise.still_warming is not None:
        warming = noise.still_warming
        rows.append(
            (
                f"{baseline}, first to last steady iteration",
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
    rows = [("command", launch.shown(settings.command))]
    for side, who in _who(outcome):
        joined = next((d.joined for d in outcome.launches if d.side == side and d.joined.variable), None)
        if joined:
            rows += [(who, f"{joined.variable}={' '.join(launch.quoted(o) for o in joined.options)}")]
    if not any(done.joined.variable for done in outcome.launches):
        rows += [
            ("grafted side only", "nothing: the agent was not loaded, both sides are the stock (an A/A comparison)")
        ]
    rows += [("JVM", str(jvm)) for jvm in outcome.jvms] or [("JVM", "unknown: nothing was loaded that could tell")]
    rows += [("launches", _launches(outcome)), ("iterations", _iterations(outcome)), ("started", outcome.started)]
    return rows


def _who(outcome: Outcome) -> list[Row]:
    """Each kind of launch that something may have joined, and what it is called here."""
    settings = outcome.settings
    if outcome.switched:
        return [(SWITCHED, "every launch")]
    if settings.stock:
        return [(Side.GRAFTED, "grafted side only")]
    return [(side, f"{label} side") for side, label in settings.labels.items()]


def _launches(outcome: Outcome) -> str:
    settings = outcome.settings
    baseline, grafted = outcome.labels.values()
    warm = f"{count_of(settings.warmup_launches, 'warm-up launch')} ({grafted}, not counted)"
    warmup = f"{warm}, then " if settings.warmup_launches else ""
    pairs = count_of(settings.pairs, "pair")
    order = {
        "alternate": f"{pairs} one after the other: {baseline}, {grafted}, {grafted}, {baseline}, ...",
        "concurrent": f"{pairs}, both sides at the same time on CPUs of their own, swapped from pair to pair",
        "epochs": f"{count_of(settings.pairs, 'launch')}, {baseline} and {grafted} switched at collections",
    }
    return warmup + order[settings.pairing]


def epoch_rows(outcome: Outcome) -> list[Row]:
    """How many epochs there were, and what was made of them."""
    switched = outcome.switched
    if switched is None:
        return []
    seen = sum(len(one) for one in switched.series)
    return [
        ("epochs", f"{seen:,} seen, the first half of each JVM's warm-up; {switched.counted:,} counted"),
        ("quadruples of neighbours", f"{len(switched.ratios):,}"),
        ("batches", f"{len(switched.batches):,}, in order; the interval is that of their median"),
    ]


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
    return machine.lines(outcome.machine)
