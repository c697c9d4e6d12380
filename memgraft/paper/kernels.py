"""The figures of kernels: what `memgraft zero bench` measures, relative to one of them."""

from collections.abc import Sequence
from typing import Any

from memgraft.errors import WrongUsageError
from memgraft.paper.definition import KernelPart
from memgraft.paper.measures import Cell, Table
from memgraft.statistics import independent_ratio
from memgraft.words import three_digits

CHOSEN = {"chosen-ordinary": "ordinary", "chosen-non-temporal": "non_temporal"}


def table(part: KernelPart, bench: dict[str, Any]) -> Table:
    """Speeds over sizes, relative to one kernel, with the interval of two samples that are not paired."""
    kernels = _named(part.kernels, bench)
    [base] = _named([part.relative_to], bench)
    found = [
        result
        for result in bench["results"]
        if result["mode"] == part.mode and part.least_bytes <= result["bytes"] <= part.most_bytes
    ]
    speeds = {(r["kernel"], r["bytes"]): r["gigabytes_per_second_repetitions"] for r in found}
    cells = [
        Cell(str(size), kernel, independent_ratio(speeds[kernel, size], speeds[base, size]))
        for size in sorted({size for _, size in speeds})
        for kernel in kernels
        if kernel != base and (kernel, size) in speeds and (base, size) in speeds
    ]
    if not cells:
        raise WrongUsageError(
            f"'{part.title}': the benchmark has nothing of {', '.join(kernels)} against {base} in mode {part.mode} "
            f"from {part.least_bytes} to {part.most_bytes} bytes; measure again without --from"
        )
    return Table(f"{part.title} ({base})", cells, three_digits, 1.0, sizes=True)


def _named(kernels: Sequence[str], bench: dict[str, Any]) -> list[str]:
    if list(kernels) == ["all"]:
        return [str(kernel) for kernel in bench["kernels"]]
    names = []
    for kernel in kernels:
        name = bench["chosen"].get(CHOSEN[kernel]) if kernel in CHOSEN else kernel
        if name is None:
            raise WrongUsageError(f"the benchmark does not say which kernel is {kernel}; measure again without --from")
        names.append(str(name))
    return names
