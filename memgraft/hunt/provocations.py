"""What makes a rare failure frequent: another way to compile the program, and other work beside it.

None of it changes what a right program does. It is the same for all settings of a hunt, so that these differ in nothing
but what is in order.
"""

import contextlib
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

BUSY = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
"""It does not outlive who started it, however that ends."""


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
ALL = (STRESSED, EAGER, LOADED)
