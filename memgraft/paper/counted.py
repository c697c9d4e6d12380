"""The accesses of a kernel to its arrays in an emulated machine: all of them, counted by the emulator itself."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memgraft.errors import CannotTakeError, MemgraftError
from memgraft.paper.grid import CHECKOUT
from memgraft.placement import non_local

PLUGIN = CHECKOUT / "build/native/observation/plugin/libmemgraft_tcg_nodes.so"
DATA = "0x200000000000-0x20ffffffffff"
"""Where workloads/native/pages.c puts all arrays of a kernel, and where no program of the guest has anything else:
stacks lie with their threads, and are not placed."""
CACHE_BYTES = 64 << 10
"""Of each CPU, to the kernels' arrays only: to those of class S (FT's 8 MB) what 8 MB are to those of class B (FT's
1.3 GB), as a CPU of the dissertation's machine had. What a CPU stores, the others' caches lose."""
EVERY_MS = 250


@dataclass(frozen=True)
class Counted:
    """Of a whole run, and of the second half of these accesses: all of them, or those that missed the CPU's cache."""

    accesses: int
    non_local: int
    late_accesses: int
    late_non_local: int

    @property
    def share(self) -> float:
        return self.non_local / self.accesses

    @property
    def late_share(self) -> float | None:
        return self.late_non_local / self.late_accesses if self.late_accesses else None


def check() -> None:
    if not PLUGIN.is_file():
        raise CannotTakeError(f"no {PLUGIN}, which counts accesses: `make native` builds it, in a checkout")


def plugin(out: Path, mebibytes: Sequence[int]) -> str:
    """QEMU's argument. `mebibytes`: the memory of each node."""
    return f"{PLUGIN},out={out},nodes={':'.join(map(str, mebibytes))},ms={EVERY_MS},data={DATA},cache={CACHE_BYTES}"


def read(file: Path) -> tuple[Counted, Counted]:
    """All accesses, and those that missed the caches.

    The plugin wrote sums since the guest began; the CPU of each row is on the node of that number.
    """
    try:
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        every, missed = ([non_local(line[table]) for line in lines] for table in ("accesses", "misses"))
    except (OSError, ValueError, KeyError) as error:
        raise MemgraftError(f"{file}: not what the emulator counts ({error}); is the disk full?") from None
    return _counted(every), _counted(missed)


def _counted(counts: Sequence[tuple[int, int]]) -> Counted:
    remote, everything = counts[-1] if counts else (0, 0)
    if everything == 0:
        raise MemgraftError(f"the emulator counted no access at {DATA}: build the kernels and the plugin again")
    remote_before, before = next(one for one in counts if one[1] >= everything / 2)
    return Counted(everything, remote, everything - before, remote - remote_before)
