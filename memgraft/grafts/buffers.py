"""`--buffers thread=64k,core=1m,processor=16m`: the text, read; what HotSpot and the agent are told.

Kirsch, Payer, Röck, "Hierarchical PLABs, CLABs, TLABs in Hotspot", University of Salzburg, about 2012: three levels.
"""

import re
from dataclasses import dataclass
from itertools import pairwise

from memgraft.errors import WrongUsageError

KINDS = ("thread", "cpu", "core", "processor", "node")
"""From the nearest to a thread to the farthest; a `processor` is a package."""
THREAD = KINDS[0]
GROWING = "growing"
AUTO = "auto"
NONE = "none"
"""Of threads: no TLABs, so that each object is asked for by itself. Of the agent: no buffers, only counts."""
FEATURES_WITHOUT_TLABS = (21, 25)
"""The JDKs in which buffers can do so (stocks/hotspot/buffers/needs.cpp)."""
OBJECTS = "objects"
"""Of the agent: the buffers hand out objects, since there are no TLABs."""
AUTO_JVM_OPTIONS = ["-XX:TLABSize=65536", "-XX:-ResizeTLAB"]
"""What automatic sizes begin with; the agent then answers HotSpot's requests with more or less."""
UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}
MULTIPLE = 8
"""In bytes: HotSpot allocates in words."""
LEAST_TLAB, MOST_BYTES = 2**10, 16 * 2**30
"""Below, HotSpot keeps all of a TLAB for prefetching (576 bytes on x86-64); and what is far beyond any nursery."""
MIN_TLAB_SIZE = 2 * 2**10
"""HotSpot's default of that flag, which must be set for smaller ones."""
NUMA_EDEN = "numa-eden"
"""Among the levels: what the buffers are filled with is bound to their NUMA node."""
EXPECTED = (
    f"expected KIND=SIZE,... with kinds of {', '.join(KINDS)} in this order, and sizes like 64k or 1m; "
    f"thread={GROWING} leaves the threads' buffers to HotSpot, thread={NONE} does without them; or {AUTO}"
)


@dataclass(frozen=True)
class Buffers:
    """Sizes in bytes, the lowest level first."""

    thread: int | None
    """None: HotSpot's own, growing TLABs; 0: no TLABs."""
    levels: tuple[tuple[str, int], ...]

    @property
    def text(self) -> str:
        """As it is typed, in its plainest form."""
        thread = GROWING if self.thread is None else shown(self.thread) if self.thread else NONE
        return ",".join([f"{THREAD}={thread}", *(f"{kind}={shown(size)}" for kind, size in self.levels)])

    @property
    def jvm_options(self) -> list[str]:
        if self.thread is None:
            return []
        if self.thread == 0:
            return ["-XX:-UseTLAB"]
        least = [f"-XX:MinTLABSize={self.thread}"] if self.thread < MIN_TLAB_SIZE else []
        # Fixed: neither adapted to the thread, nor to the number of threads.
        return [*least, f"-XX:TLABSize={self.thread}", "-XX:-ResizeTLAB"]

    @property
    def agent_option(self) -> str:
        levels = "+".join(f"{kind}:{size}" for kind, size in self.levels) or NONE
        return f"{levels},{OBJECTS}" if self.thread == 0 else levels


def without_numa_eden(text: str) -> tuple[str, bool]:
    """The levels alone, and whether the word was there."""
    parts = [part.strip() for part in text.split(",")]
    levels = [part for part in parts if part != NUMA_EDEN]
    return (text, False) if len(levels) == len(parts) else (",".join(levels) or f"{THREAD}={GROWING}", True)


def parse(text: str) -> Buffers:
    """The buffers, or WrongUsageError for what cannot be."""
    sizes: dict[str, int | None] = {}
    for part in text.split(","):
        kind, equals, size = part.strip().partition("=")
        if kind not in KINDS or not equals:
            raise WrongUsageError(f"--buffers {text}: '{part}' names no level; {EXPECTED}")
        if kind in sizes:
            raise WrongUsageError(f"--buffers {text}: {kind} is there twice; {EXPECTED}")
        if sizes and KINDS.index(kind) < KINDS.index(list(sizes)[-1]):
            raise WrongUsageError(f"--buffers {text}: {kind} comes after {list(sizes)[-1]}; {EXPECTED}")
        of_hotspot = {GROWING: None, NONE: 0} if kind == THREAD else {}
        sizes[kind] = of_hotspot[size] if size in of_hotspot else _bytes(text, part, size)
    thread = sizes.pop(THREAD, None)
    if thread and thread < LEAST_TLAB:
        raise WrongUsageError(
            f"--buffers {text}: thread={shown(thread)} is below HotSpot's least TLAB; expected 1k or more"
        )
    levels = tuple((kind, size) for kind, size in sizes.items() if size is not None)
    known = [*([(THREAD, thread)] if thread else []), *levels]
    for (below, small), (kind, large) in pairwise(known):
        if large % small or large == small:
            raise WrongUsageError(
                f"--buffers {text}: {kind}={shown(large)} is no larger multiple of {below}={shown(small)}; expected "
                "one, so that nothing is left over"
            )
    return Buffers(thread, levels)


def _bytes(text: str, part: str, size: str) -> int:
    found = re.fullmatch(r"(\d{1,12})([kmg]?)", size, re.IGNORECASE)
    count = int(found[1]) * UNITS[found[2].lower()] if found else 0
    if not found or count % MULTIPLE or not 0 < count <= MOST_BYTES:
        raise WrongUsageError(
            f"--buffers {text}: '{part}' has no size; expected bytes, a multiple of {MULTIPLE} up to "
            f"{shown(MOST_BYTES)}, with k, m or g"
        )
    return count


def shown(size: int) -> str:
    """`64k`, `1m`, `1000`: exact."""
    for unit in ("g", "m", "k"):
        if size % UNITS[unit] == 0:
            return f"{size // UNITS[unit]}{unit}"
    return str(size)
