"""What makes a rare failure frequent: another way to compile the program, and other work beside it.

None of it changes what a right program does. It is the same for all settings of a hunt, so that these differ in nothing
but what is in order.
"""

import contextlib
import itertools
import math
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BUSY = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
"""It does not outlive who started it, however that ends."""
PIN_SECONDS = 0.01
"""How soon a new thread gets a CPU; until then it has that of the thread that started it."""


@dataclass(frozen=True)
class Provocation:
    """One way to launch a program so that it fails more often, perhaps."""

    name: str
    """For keys of settings; empty: none."""
    what: str = ""
    """In words."""
    jvm_options: tuple[str, ...] = ()
    busy_share: float = 0.0
    """Of this process's CPUs, so many get other work."""
    pins: bool = False
    """Whether each thread stays on one CPU."""

    @contextlib.contextmanager
    def beside(self) -> Iterator[None]:
        """Other work, as long as a launch takes."""
        count = math.ceil(self.busy_share * len(os.sched_getaffinity(0)))
        others = [subprocess.Popen([sys.executable, "-S", "-E", "-c", BUSY]) for _ in range(count)]
        try:
            yield
        finally:
            for other in others:
                other.kill()
            for other in others:
                other.wait()

    @contextlib.contextmanager
    def upon(self, process: int) -> Iterator[None]:
        """What is done to a program that runs, and to all that it starts, until the end."""
        if not self.pins:
            yield
            return
        over = threading.Event()
        pinning = threading.Thread(target=_pin, args=(process, over), daemon=True)
        pinning.start()
        try:
            yield
        finally:
            over.set()
            pinning.join()


def _pin(process: int, over: threading.Event) -> None:
    """Every thread to one of this process's CPUs, in turn."""
    cpus = itertools.cycle(sorted(os.sched_getaffinity(0)))
    pinned: set[int] = set()
    while not over.wait(PIN_SECONDS):
        for thread in _threads(process):
            if thread not in pinned:
                pinned.add(thread)
                with contextlib.suppress(OSError):  # It may have ended.
                    os.sched_setaffinity(thread, {next(cpus)})


def _threads(process: int) -> Iterator[int]:
    """Of a process and of those that it started, and these, and so on; none of one that has ended."""
    tasks = Path(f"/proc/{process}/task")
    threads: list[Path] = []
    with contextlib.suppress(OSError):
        threads = list(tasks.iterdir())
    for thread in threads:
        yield int(thread.name)
        children = ""
        # Without CONFIG_PROC_CHILDREN there is none, and the threads of others stay as they are.
        with contextlib.suppress(OSError):
            children = (thread / "children").read_text()
        for child in children.split():
            yield from _threads(int(child))


NONE = Provocation("")
# A JVM that does not know one of these would not start, and look as if it failed each time.
_ANY_JVM = "-XX:+IgnoreUnrecognizedVMOptions"
STRESSED = Provocation(
    "stressed",
    "C2 puts instructions in another order in each launch (-XX:+StressLCM, -XX:+StressGCM, -XX:+StressIGVN)",
    (_ANY_JVM, "-XX:+UnlockDiagnosticVMOptions", "-XX:+StressLCM", "-XX:+StressGCM", "-XX:+StressIGVN"),
)
EAGER = Provocation(
    "eager",
    "methods are compiled before the program goes on (-Xbatch, -XX:-TieredCompilation)",
    (_ANY_JVM, "-Xbatch", "-XX:-TieredCompilation"),
)
LOADED = Provocation("loaded", "other work on half of the CPUs", busy_share=0.5)
PINNED = Provocation("pinned", "each thread stays on one CPU, all of them in turn", pins=True)
ALL = (STRESSED, EAGER, LOADED, PINNED)
