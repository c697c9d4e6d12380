"""Records of placements that never happened: a program like MG, whose pages all start on node 0 (docs/formats.md, 13).

`python -m memgraft.tests.placement_record FILE [SECONDS]` writes one, live where seconds between its lines are given.
"""

import json
import sys
import time
from collections.abc import Iterator
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import numpy as np

PAGE = 4096
HEAP = 0x7F12_4000_0000


class Program:
    """Pages, the node that each is on, and the node whose threads touch it most."""

    def __init__(self, nodes: int = 4, pages: int = 20_000, seed: int = 1) -> None:
        self.nodes, self.pages = nodes, pages
        self.random = np.random.default_rng(seed)
        at = np.arange(pages)
        # Planes of a grid dealt out to threads, coarser grids behind the finest: stripes that get narrower.
        grids = [0, pages * 7 // 8, pages * 63 // 64, pages]
        self.wanted = np.zeros(pages, dtype=np.int64)
        for level, (first, last) in enumerate(pairwise(grids)):
            stripe = max(1, (last - first) // (8 * nodes) >> level)
            self.wanted[first:last] = (at[first:last] - first) // stripe % nodes
        self.on = np.zeros(pages, dtype=np.int64)
        # The rest of the heap has never been touched.
        self.on[pages - pages // 50 :] = -1

    def step(self, samples: int, share: float) -> tuple[list[list[int]], list[list[int]]]:
        """Samples an interval, moves that share of the pages that were seen remote; returns accesses and moves."""
        seen = self.random.choice(np.flatnonzero(self.on >= 0), size=samples)
        by = np.where(
            self.random.random(samples) < 0.97, self.wanted[seen], self.random.integers(0, self.nodes, samples)
        )
        accesses = np.zeros((self.nodes, self.nodes), dtype=np.int64)
        np.add.at(accesses, (by, self.on[seen]), 1)
        remote = np.unique(seen[self.on[seen] != self.wanted[seen]])
        chosen = remote[self.random.random(len(remote)) < share]
        moved = np.zeros_like(accesses)
        np.add.at(moved, (self.on[chosen], self.wanted[chosen]), 1)
        self.on[chosen] = self.wanted[chosen]
        return accesses.tolist(), moved.tolist()

    def ranges(self) -> list[dict[str, Any]]:
        runs = [[int(node), len(list(run))] for node, run in groupby(self.on.tolist())]
        return [
            {"start": hex(0x5555_5555_4000), "cells": [[0, 12], [-1, 4], [0, 2]], "name": "/usr/bin/mg"},
            {"start": hex(HEAP), "cells": runs, "name": "[anon]"},
            {"start": hex(HEAP + 0x4000_0000), "cells": [[0, 400], [-1, 90]], "name": "/usr/lib/libgomp.so.1 <b>&amp;"},
            {"start": hex(0x7FFD_0000_0000), "cells": [[-1, 1000000], [1, 33]], "name": "[stack]"},
        ]


def line(event: str, **values: Any) -> dict[str, Any]:
    return {"schema": 1, "kind": "placement", "event": event, **values}


def start(nodes: int = 4, **changes: Any) -> dict[str, Any]:
    return (
        line("start")
        | {
            "memgraft": "0.1.0",
            "started": "2026-11-22T14:00:00Z",
            "pid": 4711,
            "program": "mg",
            "command": ["./mg", "A", "--title=<script>document.title='obeyed'</script>"],
            "page_bytes": PAGE,
            "interval_ms": 5000,
            "dry_run": False,
            "monitor": {
                "name": "hint-faults",
                "what": "the first touch of a page after Linux has hidden it, with the thread that touched it",
                "thread": True,
                "cpu": True,
                "store": False,
                "latency": False,
                "every_access": False,
            },
            "nodes": [
                {
                    "node": node,
                    "cpus": [2 * node, 2 * node + 1],
                    "memory_bytes": 512 << 20,
                    "distances": [10 if other == node else 20 for other in range(nodes)],
                }
                for node in range(nodes)
            ],
            "policy": {"freeze_after": 3, "freeze_for": 10, "least_share": 0.2, "pages_per_second": 25600},
        }
        | changes
    )


def interval(number: int, program: Program, share: float = 0.5, *, with_map: bool = True) -> dict[str, Any]:
    accesses, moved = program.step(9000, share)
    made = line(
        "interval",
        number=number,
        at_ms=5000 * number + 3,
        samples=9012,
        lost=3 if number == 2 else 0,
        accesses=accesses,
        unknown=12,
        moved=moved,
        refused={"busy": 1, "no_memory": 0, "absent": 3, "forbidden": 0, "other": 0},
        waiting=7,
        moved_by_neighbours=5,
        held={"share": 90, "few": 20, "payback": 3, "rate": 0, "frozen": 2},
        frozen=2,
        pages=min(20_000, 4000 * number),
        forgotten=0,
        threads=8,
        cpu_ms=12.5,
        kernel_moved=40 if number % 5 == 1 else 0,
    )
    return made | ({"map": {"cell_pages": 1, "ranges": program.ranges()}} if with_map else {})


def end(intervals: int) -> dict[str, Any]:
    return line(
        "end",
        at_ms=5000 * intervals + 1200,
        reason="exited",
        exit_code=0,
        summary={
            "intervals": intervals,
            "local_before": 0.26,
            "local_after": 0.97,
            "cpu_seconds": 0.4,
            "wall_seconds": 61.2,
            "largest_bytes": 4194304,
        },
    )


def lines(intervals: int = 16, nodes: int = 4, pages: int = 20_000, **changes: Any) -> Iterator[dict[str, Any]]:
    """A whole record."""
    program = Program(nodes, pages)
    yield start(nodes, **changes)
    for number in range(1, intervals + 1):
        # At first everything is looked at only, so that the picture before can be seen too.
        yield interval(number, program, 0.0 if number <= 2 else 0.95)
    yield end(intervals)


def write(path: Path, made: Iterator[dict[str, Any]], seconds: float = 0.0) -> None:
    with path.open("w") as file:
        for one in made:
            file.write(json.dumps(one) + "\n")
            file.flush()
            time.sleep(seconds)


if __name__ == "__main__":
    write(Path(sys.argv[1]), lines(), *map(float, sys.argv[2:]))
