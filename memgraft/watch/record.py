"""Reading a record of a placement (docs/formats.md, section 13) while it is being written.

A record may be longer than memory: of each interval the numbers are kept, its map is read again where it is shown.
"""

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Literal, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    AfterValidator,
    AwareDatetime,
    Field,
    NonNegativeFloat,
    NonNegativeInt,
    ValidationError,
)

from memgraft.errors import WrongUsageError, expected_by, one_line
from memgraft.formats.format import Format

SCHEMA = 1
KIND = "placement"
EXPECTED = "a record that `memgraft place --record FILE` writes, docs/formats.md, section 13"
SHOWN = 60
"""Letters of a wrong value that a message repeats."""
CHUNK = 1 << 20
LONGEST_FIRST_LINE = 1 << 20
LONGEST_LINE = 1 << 28
"""A file without line ends is no record, however long it is read."""
LARGEST_COUNT = 2**48
"""More than any machine has pages; sums of such still fit into 64 bits."""
LONGEST_RUN = 2**52
"""Cells; no address space has more pages."""
ADDRESSES = 2**64


def _counter(value: int) -> int:
    if value >= LARGEST_COUNT:
        raise ValueError(f"expected less than {LARGEST_COUNT}")
    return value


Count = Annotated[NonNegativeInt, AfterValidator(_counter)]
Matrix = list[list[Count]]
Counts = dict[str, Count]


class Node(Format):
    """A node of the machine; its number is the kernel's."""

    node: Annotated[int, Field(ge=0, lt=2**31)]
    cpus: list[int] = Field(default=[])
    memory_bytes: NonNegativeInt | None = None
    distances: list[int] = Field(default=[])


class Monitor(Format):
    """What looks at the accesses, and what it says it can see."""

    name: str
    what: str = ""
    thread: bool | None = None
    cpu: bool | None = None
    store: bool | None = None
    latency: bool | None = None
    every_access: bool | None = None


class Start(Format):
    """The first line: what is watched, how, and on which machine."""

    memgraft: str = ""
    started: AwareDatetime
    pid: int
    program: str
    command: list[str] | None = None
    page_bytes: Annotated[int, Field(ge=4096, le=1 << 30)]
    interval_ms: NonNegativeFloat
    dry_run: bool
    monitor: Monitor
    nodes: Annotated[list[Node], Field(min_length=1, max_length=1024)]
    policy: dict[str, Any] = Field(default={})

    @property
    def numbers(self) -> list[int]:
        """The kernel's numbers of the nodes, in the order of every array."""
        return [node.node for node in self.nodes]


class Interval(Format):
    """What happened in one interval."""

    number: NonNegativeInt
    at_ms: NonNegativeFloat
    samples: Count
    lost: Count = 0
    accesses: Matrix
    unknown: Count = 0
    moved: Matrix
    moved_by_neighbours: Count = 0
    refused: Counts = Field(default={})
    waiting: Count = 0
    held: Counts = Field(default={})
    frozen: Count = 0
    pages: Count = 0
    forgotten: Count = 0
    threads: Count = 0
    cpu_ms: NonNegativeFloat = 0.0
    kernel_moved: Count = 0
    hindrance: str = ""


class Range(Format):
    """A stretch of the address space, as runs of cells that are on the same node."""

    start: Annotated[str, Field(pattern=r"^0x[0-9a-fA-F]{1,16}$")]
    cells: list[tuple[int, int]]
    name: str = ""

    @property
    def address(self) -> int:
        return int(self.start, 16)

    @cached_property
    def runs(self) -> NDArray[np.int64]:
        """The cells as rows of node (-1: none) and how many."""
        flat = np.fromiter(chain.from_iterable(self.cells), dtype=np.int64, count=2 * len(self.cells))
        return flat.reshape(-1, 2)

    @property
    def length(self) -> int:
        """In cells."""
        return int(self.runs[:, 1].sum())


class PageMap(Format):
    """Where the pages are at the end of an interval."""

    cell_pages: Annotated[int, Field(gt=0, lt=2**40)]
    ranges: list[Range]


class _WithMap(Format):
    map: PageMap | None = None


class _IntervalLine(Interval, _WithMap):
    """All of an interval at once, which is what most lines are and what takes time."""

    schema_: Annotated[Literal[1], Field(alias="schema")]
    kind: Literal["placement"]
    event: Literal["interval"]


class Summary(Format):
    """What the whole run came to."""

    local_before: NonNegativeFloat | None = None
    local_after: NonNegativeFloat | None = None
    cpu_seconds: NonNegativeFloat | None = None
    wall_seconds: NonNegativeFloat | None = None
    largest_bytes: NonNegativeInt | None = None


class End(Format):
    """The last line, of a run that ended by itself."""

    at_ms: NonNegativeFloat
    reason: str
    exit_code: int | None = None
    summary: Summary = Summary()


class RecordError(WrongUsageError):
    """A record that cannot be read on; the message names the line, the value and what was expected."""


@dataclass
class _Line:
    """Where the line of an interval is in the file."""

    offset: int
    length: int
    has_map: bool


class _Header(Format):
    schema_: Annotated[int, Field(alias="schema")]
    kind: str
    event: str


_Model = TypeVar("_Model", bound=Format)


@dataclass
class Tail:
    """A record as far as it has been read. What is wrong in it stays in `error`, and reading stops there."""

    path: Path
    on_map: Callable[[PageMap], None] = lambda _: None
    """Called with each map that has been read."""
    on_begin: Callable[[], None] = lambda: None
    """Called where the file turns out to be another one: a later run may write to the same path."""
    start: Start | None = None
    intervals: list[Interval] = field(default_factory=list)
    end: End | None = None
    error: RecordError | None = None
    _lines: list[_Line] = field(default_factory=list)
    _line: int = 0
    """The number of the line that was read last."""
    _offset: int = 0
    """How far the file has been read."""
    _rest: bytearray = field(default_factory=bytearray)
    """The last line, as far as it has been written."""
    _identity: tuple[int, int] | None = None

    def poll(self, seconds: float = 0.2) -> bool:
        """Reads what has been added, for about so many seconds at most. True if there was anything new."""
        before = (self._line, self._identity, self.error)
        try:
            with self.path.open("rb") as file:
                self._notice_another(os.fstat(file.fileno()))
                file.seek(self._offset)
                until = monotonic() + seconds
                while not (self.error or self.end) and (chunk := file.read(CHUNK)):
                    self._offset += len(chunk)
                    self._take(chunk)
                    if monotonic() >= until:
                        break
        except FileNotFoundError:
            return False
        except OSError as error:
            self.error = RecordError(f"{self.path}: {error.strerror}: check the path and its permissions")
        except RecordError as error:
            self.error = error
        return before != (self._line, self._identity, self.error)

    @property
    def behind(self) -> bool:
        """Whether there is more in the file than has been read."""
        try:
            return not (self.error or self.end) and self.path.stat().st_size > self._offset
        except OSError:
            return False

    def map_of(self, at: int) -> PageMap | None:
        """The map in the interval at that position, read from the file again."""
        line = self._lines[at]
        if not line.has_map:
            return None
        try:
            with self.path.open("rb") as file:
                file.seek(line.offset)
                text = file.read(line.length)
        except OSError:
            return None
        return _WithMap.model_validate_json(text).map

    def has_map(self, at: int) -> bool:
        return self._lines[at].has_map

    def _notice_another(self, status: os.stat_result) -> None:
        identity = (status.st_dev, status.st_ino)
        if self._identity not in {None, identity} or status.st_size < self._offset:
            self.start = self.end = self.error = None
            self._line = self._offset = 0
            self.intervals.clear()
            self._lines.clear()
            self._rest.clear()
            self.on_begin()
        self._identity = identity

    def _take(self, chunk: bytes) -> None:
        """Takes the whole lines out of what has come, and keeps the rest until the rest of its line comes."""
        first = self._offset - len(chunk) - len(self._rest)
        begun = 0
        while not self.end and (newline := chunk.find(b"\n", begun)) >= 0:
            line = bytes(self._rest) + chunk[begun:newline]
            self._rest.clear()
            begun = newline + 1
            self._line += 1
            self._read(line, first)
            first += len(line) + 1
        self._rest += chunk[begun:]
        if len(self._rest) > (LONGEST_LINE if self.start else LONGEST_FIRST_LINE):
            self._line += 1
            self._fail("", f"{bytes(self._rest[:SHOWN])!r}...", f"{EXPECTED}, but this line does not end")

    def _read(self, line: bytes, offset: int) -> None:
        if self.start:
            with contextlib.suppress(ValidationError):
                self._interval(_IntervalLine.model_validate_json(line), offset, len(line))
                return
        # Something else, or something wrong: what it is decides what is said of it.
        header = self._parse(line, _Header)
        if header.kind != KIND:
            self._fail("kind", repr(header.kind), f"'{KIND}': {EXPECTED}")
        if header.schema_ != SCHEMA:
            self._fail(
                "schema", str(header.schema_), f"{SCHEMA}; another version of Memgraft wrote it: watch it with that one"
            )
        if (header.event == "start") == bool(self.start):
            self._fail("event", repr(header.event), "'start' in the first line, and in no other")
        match header.event:
            case "start":
                self.start = self._started(line)
            case "interval":
                self._interval(self._parse(line, _IntervalLine), offset, len(line))
            case "end":
                self.end = self._parse(line, End)
            case other:
                self._fail("event", repr(other), "'start', 'interval' or 'end'")

    def _started(self, line: bytes) -> Start:
        start = self._parse(line, Start)
        if len(set(start.numbers)) != len(start.numbers):
            self._fail("nodes", str(start.numbers), "each node once")
        return start

    def _interval(self, interval: _IntervalLine, offset: int, length: int) -> None:
        page_map = interval.map
        nodes = len(self.start.nodes) if self.start else 0
        for name, matrix in (("accesses", interval.accesses), ("moved", interval.moved)):
            if len(matrix) != nodes or any(len(row) != nodes for row in matrix):
                self._fail(
                    name,
                    f"{len(matrix)} rows of {_lengths(matrix)}",
                    f"{nodes} of {nodes}, as the first line has nodes",
                )
        if self.intervals:
            last = self.intervals[-1]
            if interval.number <= last.number:
                self._fail("number", str(interval.number), f"more than {last.number}, which the interval before has")
            if interval.at_ms < last.at_ms:
                self._fail("at_ms", str(interval.at_ms), f"at least {last.at_ms}, when the interval before ended")
        if page_map is not None:
            self._check_map(page_map)
            self.on_map(page_map)
        self.intervals.append(interval.model_copy(update={"map": None}))
        self._lines.append(_Line(offset, length, page_map is not None))

    def _check_map(self, page_map: PageMap) -> None:
        known = {-1, *(self.start.numbers if self.start else ())}
        for at, stretch in enumerate(page_map.ranges):
            where = f"map.ranges.{at}.cells"
            try:
                nodes, lengths = stretch.runs.T
            except OverflowError:
                self._fail(where, "a number of more than 64 bits", "nodes and numbers of cells")
            unknown = set(np.unique(nodes).tolist()) - known
            if unknown:
                self._fail(where, f"node {min(unknown)}", "-1 or a node of the first line")
            if len(lengths) and not 0 < int(lengths.min()) <= int(lengths.max()) < LONGEST_RUN:
                self._fail(where, f"a run of {lengths.min()} to {lengths.max()} cells", "numbers of cells above 0")
            pages = sum(lengths.tolist()) * page_map.cell_pages
            if stretch.address + pages * (self.start.page_bytes if self.start else 1) > ADDRESSES:
                self._fail(where, f"{pages} pages from {stretch.start}", "addresses of 64 bits")

    def _parse(self, line: bytes, model: type[_Model]) -> _Model:
        try:
            return model.model_validate_json(line)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            value = first["input"]
            if isinstance(value, bytes):
                value = value.decode(errors="backslashreplace")
            shown = repr(value) if not isinstance(value, str) or first["type"] != "json_invalid" else value
            self._fail(".".join(map(str, first["loc"])), _cut(shown), _cut(expected_by(first["msg"])))

    def _fail(self, where: str, value: str, expected: str) -> NoReturn:
        at = f"{where} " if where else ""
        raise RecordError(f"{self.path}, line {self._line}: {at}{one_line(value)}: expected {one_line(expected)}")


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN * 2 else f"{text[: SHOWN * 2]}..."


def _lengths(matrix: Sequence[Sequence[int]]) -> str:
    lengths = sorted({len(row) for row in matrix})
    return " or ".join(map(str, lengths)) or "none"
