"""What a placement says of itself: the lines of docs/formats.md, section 13, and what follows from them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, ValidationError

from memgraft.errors import MemgraftError
from memgraft.formats import why
from memgraft.formats.format import Format

Matrix = list[list[NonNegativeInt]]
"""A row and a column for each node, in the order of `nodes`."""
Share = Annotated[float, Field(ge=0, le=1)]


class Node(Format):
    """A node, with the kernel's number."""

    node: NonNegativeInt
    cpus: list[NonNegativeInt]
    memory_bytes: NonNegativeInt
    distances: list[NonNegativeInt]


class Sees(Format):
    """A monitor, and what it can see."""

    name: str
    what: str
    thread: bool
    cpu: bool
    store: bool
    latency: bool
    every_access: bool


class Start(Format):
    """The first line of a record."""

    schema_: Literal[1] = Field(alias="schema")
    kind: Literal["placement"]
    event: Literal["start"]
    memgraft: str
    started: str
    pid: int
    program: str
    command: list[str] | None
    page_bytes: Annotated[int, Field(gt=0)]
    interval_ms: NonNegativeFloat
    dry_run: bool
    monitor: Sees
    nodes: list[Node]


class Summary(Format):
    """What became of it all."""

    intervals: NonNegativeInt
    samples: NonNegativeInt
    lost: NonNegativeInt
    unknown: NonNegativeInt
    pages: NonNegativeInt
    moved: NonNegativeInt
    moved_back: NonNegativeInt
    moved_by_neighbours: NonNegativeInt = 0
    """Of those, pages that moved for the touches of the pages around them."""
    refused: dict[str, NonNegativeInt]
    held: dict[str, NonNegativeInt] = Field(default_factory=dict)
    frozen: NonNegativeInt
    waiting: NonNegativeInt
    local_before: Share | None
    local_after: Share | None
    accesses_before: Matrix
    accesses_after: Matrix
    kernel_moved: NonNegativeInt
    cpu_seconds: NonNegativeFloat
    wall_seconds: NonNegativeFloat
    largest_bytes: NonNegativeInt
    hindrance: str | None = None

    @property
    def overhead(self) -> float | None:
        """Of one CPU."""
        return self.cpu_seconds / self.wall_seconds if self.wall_seconds else None


class Placed(Format):
    """What `memgraft-place --summary` writes: a record's last line, with its first one in it."""

    schema_: Literal[1] = Field(alias="schema")
    kind: Literal["placement"]
    event: Literal["end"]
    at_ms: NonNegativeFloat
    reason: str
    exit_code: int | None
    start: Start
    summary: Summary


def non_local(accesses: Sequence[Sequence[int]]) -> tuple[int, int]:
    """Of how many samples the memory was on another node than the thread, and of how many all."""
    everything = sum(map(sum, accesses))
    return everything - sum(row[at] for at, row in enumerate(accesses)), everything


def read(file: Path) -> Placed:
    try:
        return Placed.model_validate_json(file.read_bytes())
    except (ValidationError, OSError) as error:
        reason = why(error) if isinstance(error, ValidationError) else str(error)
        raise MemgraftError(
            f"{file} is no summary of a placement ({reason}): expected docs/formats.md, section 13, schema 1; check "
            "that the disk is not full and that memgraft-place and the command line are of the same Memgraft"
        ) from None
