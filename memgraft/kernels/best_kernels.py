"""Which zeroing kernel is best for a use, a size and a number of threads, by what was measured. Pure.

The choice leans towards memset and towards fewer changes: a kernel is taken only where its 99 % interval lies above
what is there already, so that noise moves nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memgraft.errors import CannotTakeError
from memgraft.kernels.zero_results import MEMSET, OF_MANY, Context, Result, candidates, contexts, fastest, ratio_of
from memgraft.machine.kernel_table import Row
from memgraft.statistics import Interval

WORTH = 0.01
"""How much faster a kernel must be, by the median, to be worth a row of its own."""


@dataclass(frozen=True)
class Decision:
    """What was chosen in one context, and why."""

    context: Context
    kernel: str
    ratio_to_memset: Interval | None
    """With a 99 % interval; None for memset itself."""
    reason: str


def choose(results: Sequence[Result]) -> list[Decision]:
    """The kernel for every context that was measured, sizes upwards, each size starting from what the one below has."""
    decisions: list[Decision] = []
    below: Decision | None = None
    for context, kernels in contexts(results).items():
        same_series = below and (below.context.mode, below.context.threads) == (context.mode, context.threads)
        below = _choose(context, candidates(kernels), below.kernel if below and same_series else MEMSET)
        decisions.append(below)
    return decisions


def _choose(context: Context, kernels: dict[str, Result], below: str) -> Decision:
    memset = kernels.get(MEMSET)
    if memset is None:
        raise CannotTakeError(
            f"{MEMSET} was not measured with {context.mode}, {context.bytes} bytes, {context.threads} threads, and "
            "nothing can be chosen without it: free memory, or measure up to a smaller --largest"
        )
    kept = below if below in kernels and not _loses(kernels[below], memset) else MEMSET
    better = {
        name: result
        for name, result in kernels.items()
        if _beats(result, kernels[kept]) and (result is memset or _beats(result, memset))
    }
    kernel = fastest(better).kernel if better else kept
    ratio = ratio_of(kernels[kernel], memset, OF_MANY) if kernel != MEMSET else None
    if better:
        reason = f"beats {kept}" if kept != MEMSET else f"beats {MEMSET} by more than its interval"
    elif kernel == MEMSET:
        reason = "nothing beats it by more than its interval" if below == MEMSET else f"{below} no longer beats it"
    else:
        reason = "kept from the size below: nothing beats it by more than its interval"
    return Decision(context, kernel, ratio, reason)


def _beats(result: Result, incumbent: Result) -> bool:
    ratio = ratio_of(result, incumbent, OF_MANY) if result is not incumbent else None
    return ratio is not None and ratio.low > 1 and ratio.median > 1 + WORTH


def _loses(result: Result, memset: Result) -> bool:
    """Also where no interval says so: what is kept without proof of its own must at least not look slower."""
    ratio = ratio_of(result, memset, OF_MANY) if result is not memset else None
    return result is not memset and (ratio is None or ratio.high < 1 or ratio.median < 1 - WORTH)


def changes(decisions: Sequence[Decision]) -> list[Decision]:
    """The decisions that differ from the one for the size below: the first of each mode and number of threads too."""
    kept: list[Decision] = []
    before: Decision | None = None
    for decision in decisions:
        context = decision.context
        if before is None or (before.context.mode, before.context.threads, before.kernel) != (
            context.mode,
            context.threads,
            decision.kernel,
        ):
            kept.append(decision)
        before = decision
    return kept


def rows(decisions: Sequence[Decision]) -> list[Row]:
    """The decisions as rows: neighbouring sizes with the same kernel share one, and the first holds from 0 bytes on."""
    made: list[Row] = []
    for decision in changes(decisions):
        context = decision.context
        continued = made and (made[-1].mode, made[-1].threads) == (context.mode, context.threads)
        made.append(Row(context.mode, context.threads, context.bytes if continued else 0, decision.kernel))
    return made
