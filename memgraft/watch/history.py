"""What a record says at any of its intervals: the state then, and the sums since the start."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memgraft.watch import addresses
from memgraft.watch.record import Interval, PageMap, Tail

Matrix = NDArray[np.int64]


@dataclass(frozen=True)
class State:
    """One interval, and all up to it. Matrices: accesses by the thread's node (row) and the memory's (column)."""

    interval: Interval
    accesses: Matrix
    accesses_so_far: Matrix
    moved: Matrix
    """Pages from (row) to (column)."""
    moved_so_far: Matrix
    refused_so_far: dict[str, int]
    lost_so_far: int
    kernel_moved_so_far: int
    milliseconds: float
    """How long the interval was."""

    @property
    def cpu_share(self) -> float | None:
        """CPU time of observing and placing over elapsed time; 1.0 is one CPU."""
        return self.interval.cpu_ms / self.milliseconds if self.milliseconds > 0 else None


def local_share(accesses: Matrix) -> float | None:
    """Samples of threads on the page's node, of those whose page's node is known; None without any."""
    known = int(accesses.sum())
    return float(np.trace(accesses)) / known if known else None


class History:
    """A record as far as it has been read, and what follows from it."""

    def __init__(self, path: Path) -> None:
        self.tail = Tail(path, on_map=self._see, on_begin=self._begin)
        self.begun = 0
        """How many times another record turned out to be in the file."""
        self._extents: addresses.Extents | None = None
        self._last: tuple[int, PageMap] | None = None
        """The map that was read last, and of which interval it is."""
        self._known: list[State] = []
        """One after the other, sums and all."""

    def poll(self, seconds: float = 0.2) -> bool:
        """Reads on; True if there was anything new."""
        return self.tail.poll(seconds)

    def __len__(self) -> int:
        return len(self.tail.intervals)

    def at(self, position: int) -> State:
        """The state in the interval at that position in the record, from 0."""
        while len(self._known) <= position:
            self._known.append(self._next())
        return self._known[position]

    def map_at(self, position: int) -> tuple[int, PageMap] | None:
        """The newest map up to that interval, and the position of the interval it is of."""
        for at in range(position, -1, -1):
            if not self.tail.has_map(at):
                continue
            if self._last is None or self._last[0] != at:
                found = self.tail.map_of(at)
                self._last = (at, found) if found else None
            if self._last:
                return self._last
        return None

    def layout(self, page_map: PageMap) -> addresses.Layout:
        """Where the pages of this map are drawn: where those of the others are, too."""
        assert self._extents is not None  # noqa: S101  a map was seen, or there would be none to draw
        return addresses.lay_out(self._extents.with_map(page_map), max(page_map.cell_pages, self._extents.cell_pages))

    def _next(self) -> State:
        interval = self.tail.intervals[len(self._known)]
        before = self._known[-1] if self._known else None
        accesses, moved = np.array(interval.accesses, dtype=np.int64), np.array(interval.moved, dtype=np.int64)
        refused = dict(before.refused_so_far) if before else {}
        for reason, pages in interval.refused.items():
            refused[reason] = refused.get(reason, 0) + pages
        return State(
            interval,
            accesses,
            accesses + before.accesses_so_far if before else accesses,
            moved,
            moved + before.moved_so_far if before else moved,
            refused,
            interval.lost + (before.lost_so_far if before else 0),
            interval.kernel_moved + (before.kernel_moved_so_far if before else 0),
            interval.at_ms - (before.interval.at_ms if before else 0),
        )

    def _see(self, page_map: PageMap) -> None:
        if self._extents is None:
            assert self.tail.start is not None  # noqa: S101  the first line comes first
            self._extents = addresses.Extents(self.tail.start.page_bytes)
        self._extents.add(page_map)
        self._last = (len(self.tail.intervals), page_map)

    def _begin(self) -> None:
        self.begun += 1
        self._extents = self._last = None
        self._known.clear()
