"""The iterations a program reports on its standard output (docs/formats.md, format 4), and which of them count."""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, ValidationError

from memgraft.errors import WrongUsageError, one_line
from memgraft.formats import why
from memgraft.formats.format import Format

KEY = "memgraft_iteration"
SHOWN = 120
"""Characters of a wrong line that an error message repeats."""


def _encodable(text: str) -> str:
    """Refuses lone surrogates, which JSON can spell and no output can hold."""
    text.encode()
    return text


Text = Annotated[str, AfterValidator(_encodable)]


class Iteration(Format):
    """One iteration; a program that does not know a time leaves it out, except for the wall-clock time."""

    iteration: NonNegativeInt = Field(alias=KEY)
    workload: Text = ""
    wall_seconds: PositiveFloat
    cpu_seconds: NonNegativeFloat | None = None
    worker_cpu_seconds: NonNegativeFloat | None = None
    allocated_bytes: NonNegativeInt | None = None
    collections: NonNegativeInt | None = None
    checksum: Text | None = None


Time = Callable[[Iteration], float | None]
"""One of the times of an iteration, or another figure of it."""


def parse(lines: Iterable[str]) -> list[Iteration]:
    """The iterations among a program's output lines.

    A line that is no JSON object, or has no `memgraft_iteration`, is the program's own business. One that has it and
    is wrong otherwise is an error: dropping it would measure something else than the program reported.
    """
    found = []
    for line in lines:
        text = line.strip()
        if not (text.startswith("{") and KEY in text):
            continue
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError):
            continue
        if KEY not in fields:
            continue
        try:
            found.append(Iteration.model_validate(fields))
        except ValidationError as error:
            raise WrongUsageError(
                f"the program printed an iteration that cannot be used ({why(error)}): '{one_line(text)[:SHOWN]}'; "
                "docs/formats.md, section 4, says what is expected"
            ) from None
    return _in_order(found)


def _in_order(found: list[Iteration]) -> list[Iteration]:
    """Checks that each workload's iterations count 0, 1, 2, ..."""
    for workload in workloads(found):
        numbers = [i.iteration for i in found if i.workload == workload]
        for expected, number in enumerate(numbers):
            if number != expected:
                raise WrongUsageError(
                    f"the program reported iteration {number} of workload '{workload}' where {expected} was expected: "
                    "iterations count from 0 within one launch, and one launch runs a workload once"
                )
    return found


def workloads(iterations: Iterable[Iteration]) -> list[str]:
    """The workloads of one launch, in the order of their first iterations."""
    return list(dict.fromkeys(i.workload for i in iterations))


def default_warmup(count: int) -> int:
    """How many of `count` iterations are warm-up when nobody says: the first half, rounded up.

    A JVM compiles its hot methods during the first iterations. Half of what the program chose to run follows the
    length of its own run, and leaves at least one steady iteration from two on.
    """
    return math.ceil(count / 2)


def steady(iterations: Sequence[Iteration], warmup: int | None = None) -> list[Iteration]:
    """The iterations after the warm-up of each workload; `warmup` counts iterations, None is the default half."""
    kept = []
    for workload in workloads(iterations):
        mine = [i for i in iterations if i.workload == workload]
        kept += mine[default_warmup(len(mine)) if warmup is None else warmup :]
    return kept


def steady_mean(iterations: Sequence[Iteration], time: Time, warmup: int | None = None) -> float | None:
    """The mean steady iteration of one launch, in seconds; None where the program did not report this time.

    A launch that runs several workloads counts each alike: the sum of their means.
    """
    kept = steady(iterations, warmup)
    if not kept or workloads(kept) != workloads(iterations):
        return None
    total = 0.0
    for workload in workloads(kept):
        times = [time(i) for i in kept if i.workload == workload]
        known = [t for t in times if t is not None]
        if len(known) != len(times):
            return None
        total += math.fsum(known) / len(known)
    return total if total > 0 else None


@dataclass(frozen=True)
class Difference:
    """Two launches that computed different things."""

    workload: str
    iteration: int
    first: str
    second: str


def checksum_difference(first: Sequence[Iteration], second: Sequence[Iteration]) -> Difference | None:
    """The first iteration that both launches ran and whose checksums differ."""
    known = {(i.workload, i.iteration): i.checksum for i in first if i.checksum is not None}
    for i in second:
        expected = known.get((i.workload, i.iteration))
        if expected is not None and i.checksum is not None and expected != i.checksum:
            return Difference(i.workload, i.iteration, expected, i.checksum)
    return None
