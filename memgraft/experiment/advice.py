"""Every warning of a comparison, each saying what to do next."""

from collections.abc import Callable, Iterator
from itertools import chain

from memgraft.experiment.design import Pairing, Side
from memgraft.experiment.epochs import significant
from memgraft.experiment.metrics import MetricName
from memgraft.experiment.outcome import Outcome
from memgraft.grafts.zeroing_section import missed_tlabs
from memgraft.jvm import iterations
from memgraft.statistics import MIN_PAIRS, pairs_to_resolve
from memgraft.words import count_of, percent

# Where a warning starts. None of these decides anything: the interval already holds the noise. They say where to look.
OTHERS_SHARE = 0.05  # of all CPU time; on a quiet machine a kernel and a desktop stay below 2 %
STOLEN_SHARE = 0.01  # a hypervisor that gives every CPU in full steals nothing
VARIATION = 0.05  # of launches of the same program; quiet machines show 1-2 %
DRIFT = 0.05  # from the first to the last launch
STILL_WARMING = 0.03  # between the first and the last steady iteration of a launch
COARSE = 0.02  # one clock tick, as a share of an iteration
CLOCK_TICK_SECONDS = 0.01  # what the JDK's getProcessCpuTime counts in: times(2), 100 ticks a second
ROUNDING = 1e-6  # of times printed as decimals
MANY_PAIRS = 200  # more than anybody waits for; suggest something else instead

Warnings = Iterator[str]


def warnings(outcome: Outcome) -> list[str]:
    """What a reader must know before believing the numbers, the gravest first."""
    return list(chain.from_iterable(check(outcome) for check in CHECKS))


def _stock_kept(outcome: Outcome) -> Warnings:
    if kept := outcome.settings.kept:
        yield (
            f"adaptive zeroing does not join this program, so both sides are the stock: {kept.reason} "
            f"({', '.join(map(str, kept.measurements))}); --no-profile compares it joined"
        )


def _calibration_differs(outcome: Outcome) -> Warnings:
    if outcome.calibration and outcome.headline.verdict != "not resolved":
        yield (
            "both sides are the same stock JVM, and yet they differ: this machine can show an effect where there is "
            "none (about one A/A comparison in twenty does by chance); run it again, with more --launches, or quiet "
            "the machine, before believing other comparisons here"
        )


def _nothing_done(outcome: Outcome) -> Warnings:
    if outcome.zeroing and outcome.zeroing.figures["tlabs"].median == 0:
        yield "the graft zeroed no TLAB at all: the program allocates next to nothing, so nothing can be compared"


def _uncounted_jvms(outcome: Outcome) -> Warnings:
    lost = sum(jvm.state == "running" for done in outcome.counted for jvm in done.jvms)
    if lost:
        yield (
            f"{count_of(lost, 'JVM')} of the grafted launches left no final summary (killed, crashed, halted or still "
            "running): the graft's figures leave what happened there out; have the program end its JVMs normally"
        )


def _missed(outcome: Outcome) -> Warnings:
    missed = sum(z.missed_tlabs for done in outcome.counted for s in done.jvms if (z := s.grafts.zeroing))
    if missed:
        yield missed_tlabs(missed, "the grafted launches")


def _others(outcome: Outcome) -> Warnings:
    share = outcome.noise.others_share.median
    if share > OTHERS_SHARE:
        yield (f"other programs used {percent(share)} of this machine's CPU time: end them, or use another machine")


def _stolen(outcome: Outcome) -> Warnings:
    share = outcome.noise.stolen_share.median
    if share > STOLEN_SHARE:
        yield (
            f"the hypervisor gave {percent(share)} of this machine's CPU time to others: times of a shared virtual "
            "machine move with its neighbours; use one with CPUs of its own"
        )


def _drifts(outcome: Outcome) -> Warnings:
    drift = outcome.noise.baseline_drift
    if (drift.low > 0 or drift.high < 0) and abs(drift.median) > DRIFT:
        direction = "slower" if drift.median > 0 else "faster"
        things = "epochs" if outcome.switched else "launches"
        yield (
            f"the {things} of the {outcome.labels[Side.BASELINE]} side became {percent(abs(drift.median))} {direction} "
            "from the first to the last (heat, clock frequency, a filling disk, a JVM still warming up): their order "
            f"evens a steady trend out, but not a sudden one; look at the {things} in their order"
        )


def _varies(outcome: Outcome) -> Warnings:
    noise = outcome.noise
    worst = max(noise.baseline_variation, noise.grafted_variation)
    # What varies from batch to batch of epochs is the program; a ratio of neighbours does not see it.
    if worst > VARIATION and not outcome.switched:
        side = outcome.labels[Side.BASELINE if worst == noise.baseline_variation else Side.GRAFTED]
        yield (
            f"launches of the {side} side vary by {percent(worst)} (standard deviation over mean): more --launches "
            "narrow the interval; a fixed heap (-Xms equal to -Xmx) and a longer run make each launch steadier"
        )


def _unresolved(outcome: Outcome) -> Warnings:
    ratio, pairs = outcome.headline.ratio, outcome.settings.pairs
    if outcome.calibration or outcome.headline.verdict != "not resolved":
        return
    if outcome.switched:
        return
    needed = pairs_to_resolve(ratio, pairs)
    if pairs < needed <= MANY_PAIRS:
        yield f"about --launches {needed} would tell the difference seen from none, if it is there at all"


def _no_iterations(outcome: Outcome) -> Warnings:
    if outcome.iterations is None and not outcome.switched:
        yield (
            "the program reports no iterations, so every launch counts with its start and the JVM's warm-up, which "
            "hides small effects: have it print one line per iteration (docs/comparing.md)"
        )


def _some_iterations(outcome: Outcome) -> Warnings:
    reported = outcome.iterations
    if reported is None or outcome.switched:
        return
    without = sum(not done.iterations for done in outcome.counted)
    if without:
        yield f"{count_of(without, 'launch')} reported no iterations, so iterations could not be compared; see the logs"
    elif reported.fewest != reported.most:
        yield (
            f"launches reported between {reported.fewest} and {reported.most} iterations: a longer launch is warmer; "
            "let the program run a fixed number of iterations rather than a fixed time"
        )
    elif MetricName.ITERATION_CPU not in outcome.measured and not outcome.settings.bound:
        yield (
            "the iterations come without CPU times, or there is only one: print at least two with `cpu_seconds` "
            "(docs/comparing.md) to compare them without start and warm-up"
        )
    if not any(i.checksum for done in outcome.counted for i in iterations.steady(done.iterations)):
        yield "the iterations have no checksum, so nothing shows that both sides did the same work: print one"


def _coarse(outcome: Outcome) -> Warnings:
    if outcome.headline.metric.name is not MetricName.ITERATION_CPU:
        return
    times = [t for done in outcome.counted for i in done.iterations if (t := i.cpu_seconds) is not None]
    share = CLOCK_TICK_SECONDS / outcome.headline.baseline_interval.median
    if share > COARSE and all(abs(t - round(t / CLOCK_TICK_SECONDS) * CLOCK_TICK_SECONDS) < ROUNDING for t in times):
        yield (
            f"the iterations' CPU times come in clock ticks of 10 ms, {percent(share)} of a steady iteration: let an "
            "iteration do more work, or compare by --metric iteration-worker-cpu"
        )


def _warming(outcome: Outcome) -> Warnings:
    warming = outcome.noise.still_warming
    baseline = outcome.labels[Side.BASELINE]
    if warming is not None and warming.high < 1 and 1 - warming.median > STILL_WARMING:
        yield (
            f"steady iterations of the {baseline} side still became {percent(1 - warming.median)} faster within a "
            "launch: count more of them as warm-up (--warmup-iterations), or run more iterations"
        )


def _tied_batches(outcome: Outcome) -> Warnings:
    switched = outcome.switched
    if switched is None or switched.autocorrelation is None:
        return
    if significant(switched.autocorrelation, len(switched.batches)):
        yield (
            f"neighbouring batches of epochs move together (correlation {switched.autocorrelation:.2f}): the program "
            "has phases longer than a batch, and the interval claims too much; let it run longer, or use "
            f"--launches {MIN_PAIRS}, which makes each launch one batch"
        )


def _few_launches(outcome: Outcome) -> Warnings:
    if outcome.switched and len(outcome.counted) < MIN_PAIRS and not outcome.calibration:
        yield (
            f"{count_of(len(outcome.counted), 'launch')} of epochs say what holds within those launches; what differs "
            f"from launch to launch (code compiled otherwise, memory laid out otherwise) takes --launches {MIN_PAIRS}"
        )


def _halved(outcome: Outcome) -> Warnings:
    if outcome.settings.pairing is Pairing.CONCURRENT:
        cpus = len(outcome.on(Side.BASELINE)[0].planned.cpus)
        yield (
            f"each side ran on {count_of(cpus, 'CPU')}, half of what the program would use: its JVM sees fewer "
            "processors, may choose another collector, heap and thread counts by itself, and both sides share caches "
            "and memory bandwidth; name collector and heap (-XX:+UseParallelGC -Xmx...) to keep them"
        )


def _concurrent(outcome: Outcome) -> Warnings:
    """The stronger design, where the machine calls for it, it is not in use, and it could be."""
    unquiet = any(any(check(outcome)) for check in (_others, _stolen, _drifts, _varies))
    alternate = outcome.settings.pairing is Pairing.ALTERNATE
    if unquiet and alternate and outcome.machine["usable_cpus"] > 1:
        yield "--pairing concurrent runs both sides in the same minute, so that what disturbs one disturbs the other"


CHECKS: tuple[Callable[[Outcome], Warnings], ...] = (
    _stock_kept,
    _calibration_differs,
    _nothing_done,
    _uncounted_jvms,
    _missed,
    _others,
    _stolen,
    _drifts,
    _varies,
    _concurrent,
    _unresolved,
    _coarse,
    _warming,
    _some_iterations,
    _no_iterations,
    _tied_batches,
    _few_launches,
    _halved,
)
