"""Whether the calibrated choice holds what it promises, by results in which it was measured beside every kernel."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from memgraft.kernels.zero_results import (
    CALIBRATED,
    MEMSET,
    OF_MANY,
    STREAMING,
    Context,
    Result,
    candidates,
    contexts,
    fastest,
    ratio_of,
)
from memgraft.statistics import Interval
from memgraft.words import bytes_of, count_of

NEAR_BEST = 0.97
STREAMING_FROM = 32 << 10
STREAMING_TIMES = 2.0

Holds = Literal["holds", "fails", "not resolved"]


@dataclass(frozen=True)
class Case:
    """The calibrated choice against one kernel in one context."""

    context: Context
    kernel: str
    """What the calibrated choice was there."""
    against: str
    ratio: Interval
    """With a 99 % interval."""
    bound: float

    @property
    def verdict(self) -> Holds:
        """A kernel is as fast as itself: two measurements of the same function that differ show noise."""
        if self.ratio.low >= self.bound or (self.kernel == self.against and self.bound <= 1):
            return "holds"
        return "fails" if self.ratio.high < self.bound else "not resolved"


@dataclass(frozen=True)
class Claim:
    """One promise over all contexts: it holds where it holds in each, and fails where it fails in one."""

    cases: list[Case]

    @property
    def verdict(self) -> Holds:
        verdicts = {case.verdict for case in self.cases}
        if "fails" in verdicts:
            return "fails"
        return "holds" if verdicts == {"holds"} else "not resolved"

    @property
    def worst(self) -> Case | None:
        """The case furthest from holding: a failed one before one that is not resolved before one that holds."""
        order = ["fails", "not resolved", "holds"]
        return min(self.cases, key=lambda c: (order.index(c.verdict), c.ratio.median / c.bound), default=None)

    def count(self, verdict: Holds) -> int:
        return sum(case.verdict == verdict for case in self.cases)

    def as_json(self) -> dict[str, Any]:
        worst = self.worst
        return {
            "verdict": self.verdict,
            "confidence": OF_MANY,
            "contexts": len(self.cases),
            "hold": self.count("holds"),
            "fail": self.count("fails"),
            "not_resolved": self.count("not resolved"),
            "worst": worst
            and {
                **asdict(worst.context),
                "kernel": worst.kernel,
                "against": worst.against,
                "ratio": asdict(worst.ratio),
                "verdict": worst.verdict,
            },
        }


@dataclass(frozen=True)
class Verdict:
    """All that is promised of the calibrated choice."""

    within_3_percent_of_best: Claim
    never_below_memset: Claim
    streaming_at_least_twice_memset_from_32KiB: Claim  # noqa: N815  the name in the JSON

    def as_json(self) -> dict[str, Any]:
        return {name: claim.as_json() for name, claim in vars(self).items()}


def judge(results: Sequence[Result]) -> Verdict:
    """The verdict over every context in which the calibrated choice was measured."""

    def best(_: Context, kernels: dict[str, Result]) -> Result | None:
        measured = candidates(kernels)
        return fastest(measured) if measured else None

    def memset(_: Context, kernels: dict[str, Result]) -> Result | None:
        return kernels.get(MEMSET)

    def large_streaming(context: Context, kernels: dict[str, Result]) -> Result | None:
        large = context.mode == STREAMING and context.bytes >= STREAMING_FROM
        return kernels.get(MEMSET) if large else None

    return Verdict(
        within_3_percent_of_best=_claim(results, best, NEAR_BEST),
        never_below_memset=_claim(results, memset, 1.0),
        streaming_at_least_twice_memset_from_32KiB=_claim(results, large_streaming, STREAMING_TIMES),
    )


def _claim(
    results: Sequence[Result], against: Callable[[Context, dict[str, Result]], Result | None], bound: float
) -> Claim:
    cases = []
    for context, kernels in contexts(results).items():
        calibrated, rival = kernels.get(CALIBRATED), against(context, kernels)
        ratio = ratio_of(calibrated, rival, OF_MANY) if calibrated and rival else None
        if calibrated and rival and ratio:
            cases.append(Case(context, calibrated.stands_for or CALIBRATED, rival.kernel, ratio, bound))
    return Claim(cases)


def sentences(verdict: Verdict) -> list[str]:
    """The verdict for people: one sentence per promise, with the worst case where it does not plainly hold."""
    promised = {
        "the calibrated choice is within 3 % of the best kernel": verdict.within_3_percent_of_best,
        "it is never below memset": verdict.never_below_memset,
        "streaming from 32 KiB on is at least twice as fast as memset": (
            verdict.streaming_at_least_twice_memset_from_32KiB
        ),
    }
    return [f"{claim.verdict}: {promise} ({_detail(claim)})" for promise, claim in promised.items()]


def _detail(claim: Claim) -> str:
    worst = claim.worst
    if worst is None:
        return "nothing was measured that could tell"
    counts = f"{claim.count('holds')} of {count_of(len(claim.cases), 'context')}"
    if failed := claim.count("fails"):
        counts += f", fails in {failed}"
    ratio = worst.ratio
    where = f"{worst.context.mode}, {bytes_of(worst.context.bytes)}, {count_of(worst.context.threads, 'thread')}"
    return (
        f"{counts}; worst: {where}: {worst.kernel} / {worst.against} = {ratio.median:.3f} "
        f"[{ratio.low:.3f}, {ratio.high:.3f}]"
    )
