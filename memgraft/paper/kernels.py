"""The figures of kernels: what `memgraft zero bench` measures, relative to one of them."""

from collections.abc import Sequence
from typing import Any

from memgraft.errors import WrongUsageError
from memgraft.kernels.zero_results import CALIBRATED
from memgraft.paper.definition import KernelPart
from memgraft.paper.measures import Cell, Table
from memgraft.statistics import independent_ratio
from memgraft.words import three_digits

ONE_THREAD = "one-thread"
CHOSEN = {"chosen-ordinary": "ordinary", "chosen-non-temporal": "non_temporal"}


def table(part: KernelPart, bench: dict[str, Any]) -> Table | None:
    """Speeds over sizes, relative to something, with the interval of two samples that are not paired.

    None where it takes several threads and the benchmark had one: a machine of one CPU.
    """
    speeds = {
        (r["kernel"], r.get("threads", 1), r["bytes"]): r["gigabytes_per_second_repetitions"]
        for r in bench["results"]
        if r["mode"] == part.mode and part.least_bytes <= r["bytes"] <= part.most_bytes
    }
    threads = max((count for _, count, _ in speeds), default=1) if part.threads == "all" else 1
    if part.threads == "all" and threads == 1:
        return None
    kernels = _named(part.kernels, bench)
    alone = part.relative_to == ONE_THREAD
    base = None if alone else _named([part.relative_to], bench)[0]
    cells = []
    for size in sorted({size for _, _, size in speeds}):
        for kernel in kernels:
            mine = speeds.get((kernel, threads, size))
            other = speeds.get((kernel, 1, size) if alone else (str(base), threads, size))
            if kernel != base and mine and other:
                # A speed is that of one thread; a scaling counts all of them.
                together = [speed * threads for speed in mine] if alone else mine
                cells.append(Cell(str(size), kernel, independent_ratio(together, other)))
    if not cells:
        raise WrongUsageError(
            f"'{part.title}': the benchmark has nothing of {', '.join(kernels)} against {part.relative_to} in mode "
            f"{part.mode} from {part.least_bytes} to {part.most_bytes} bytes; measure again without --from"
        )
    against = "one thread" if alone else base
    several = f", {threads} threads" if threads > 1 else ""
    return Table(f"{part.title} ({against}{several})", cells, three_digits, 1.0, sizes=True)


def _named(kernels: Sequence[str], bench: dict[str, Any]) -> list[str]:
    if list(kernels) == ["all"]:
        # The calibrated choice is no kernel of its own.
        return [str(kernel) for kernel in bench["kernels"] if kernel != CALIBRATED]
    names = []
    for kernel in kernels:
        name = bench["chosen"].get(CHOSEN[kernel]) if kernel in CHOSEN else kernel
        if name is None:
            raise WrongUsageError(f"the benchmark does not say which kernel is {kernel}; measure again without --from")
        names.append(str(name))
    return names
