#!/usr/bin/env python3
"""What must be tested of a change: areas by the files that changed, and each area's end-to-end tests.

    checks/areas.py changed             the areas of the newest changes; `all` where that cannot be known
    checks/areas.py beside AREA ...     the end-to-end tests of these areas that may run beside each other
    checks/areas.py guests AREA ...     those that may too, test by test, as each emulates a machine on one CPU
    checks/areas.py alone AREA ...      and those that may not
    checks/areas.py has NAME AREA ...   exit code 0 if NAME is among them, or all is

A change is what came in the six hours before the newest commit: it lands as a whole, with many commits. What areas
share belongs to none and is everybody's; a history that does not reach back so far (a shallow clone) says nothing, and
all is tested.
"""

import subprocess
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALL = "all"
NATIVE = "native"
"""C or C++ changed: sanitizers, other instruction sets and fuzzers run."""
CHANGE = timedelta(hours=6)

# The first pattern that fits decides. No area: nothing but the core depends on it.
AREAS: Sequence[tuple[str, Sequence[str]]] = (
    ("experiments/records/*", ()),
    ("docs/images/*", ()),
    ("*.md", ()),
    ("LICENSE", ()),
    # What every run does by itself; the Makefile's other targets are those of NATIVE.
    (".ci/run", ()),
    ("checks/*", ()),
    ("Makefile", (NATIVE,)),
    ("zeroing/*", ("zeroing", NATIVE)),
    ("allocation/*", ("buffers", NATIVE)),
    ("stocks/linux/numa_memory*", ("buffers", NATIVE)),
    ("stocks/linux/*perf_events*", ("placement", NATIVE)),
    ("stocks/linux/*perf_records*", ("placement", NATIVE)),
    ("stocks/linux/*perf_ring*", ("placement", NATIVE)),
    ("stocks/linux/tests/fake_rings.h", ("placement", NATIVE)),
    ("stocks/linux/*process_pages*", ("placement", NATIVE)),
    ("stocks/linux/*threads_of*", ("placement", NATIVE)),
    ("stocks/linux/*CMakeLists.txt", (NATIVE,)),
    ("stocks/hotspot/*adaptive*", ("zeroing", NATIVE)),
    ("stocks/hotspot/*zeroing*", ("zeroing", NATIVE)),
    ("stocks/hotspot/*windows*", ("zeroing", NATIVE)),
    ("stocks/hotspot/*nursery*", ("zeroing", NATIVE)),
    ("stocks/hotspot/*epochs*", ("zeroing", NATIVE)),
    ("stocks/hotspot/*buffers*", ("buffers", NATIVE)),
    ("stocks/hotspot/*numa*", ("buffers", NATIVE)),
    ("stocks/hotspot/*ordering*", ("ordering", NATIVE)),
    ("stocks/hotspot/*c1_*", ("ordering", NATIVE)),
    ("stocks/hotspot/*c2_*", ("ordering", NATIVE)),
    ("stocks/hotspot/*interpreter_*", ("ordering", NATIVE)),
    ("stocks/hotspot/code_section.h", ("ordering", NATIVE)),
    ("stocks/hotspot/*entry*", ("ordering", NATIVE)),
    ("stocks/hotspot/*relaxed*", ("ordering", NATIVE)),
    ("stocks/hotspot/*annotation*", ("ordering", NATIVE)),
    ("stocks/hotspot/*method_names*", ("ordering", NATIVE)),
    ("placement/*", ("placement", NATIVE)),
    ("observation/*", ("placement", NATIVE)),
    ("ordering/bench/*", ("ordering", NATIVE)),
    ("ordering/*", ("ordering",)),
    ("bin/litmus", ("ordering",)),
    ("workloads/native/*", ("kernels", NATIVE)),
    ("bin/kernel", ("kernels",)),
    ("tests/test_kernels.py", ("kernels",)),
    ("workloads/*", ("commands",)),
    ("bin/*", ("commands", "ordering")),
    ("experiments/placement/*", ("placement",)),
    ("experiments/*", ("commands",)),
    ("memgraft/watch/*", ("watch",)),
    ("memgraft/tests/placement_record.py", ("watch",)),
    ("memgraft/report/*", ("commands", "watch")),
    ("memgraft/guest/*", ("buffers", "placement")),
    ("memgraft/plac*", ("placement",)),
    ("memgraft/paper/placements.py", ("placement",)),
    ("memgraft/*", ("commands",)),
    ("tests/test_strategies.py", ("zeroing",)),
    ("tests/test_buffers.py", ("buffers",)),
    ("tests/test_numa.py", ("buffers",)),
    ("tests/test_place.py", ("placement",)),
    ("tests/test_machine_accesses.py", ("placement",)),
    ("tests/guest/*", ("buffers", "placement")),
    ("tests/test_ordering.py", ("ordering",)),
    ("tests/test_litmus.py", ("ordering",)),
    ("tests/*x86_fences.py", ("ordering",)),
    ("tests/programs/PlaceObjects.java", ("buffers",)),
    ("tests/programs/StoreThenLoad.java", ("ordering",)),
    ("tests/programs/UseOwnArrays.java", ("placement",)),
    ("tests/test_jcstress.py", ("ordering",)),
    ("tests/*aarch64*.py", ("ordering", "buffers")),
    ("tests/test_measuring.py", ("commands",)),
    ("tests/test_page.py", ("commands",)),
    ("tests/test_watch.py", ("watch",)),
)
TESTS = {
    "zeroing": ("test_strategies.py",),
    "buffers": ("test_buffers.py", "test_numa.py", "test_aarch64.py", "test_aarch64_fences.py"),
    "ordering": (
        *("test_ordering.py", "test_litmus.py", "test_jcstress.py", "test_x86_fences.py"),
        *("test_aarch64.py", "test_aarch64_fences.py", "test_aarch64_ordering.py"),
    ),
    "commands": ("test_measuring.py", "test_page.py"),
    "kernels": ("test_kernels.py",),
    "watch": ("test_watch.py",),
    "placement": ("test_place.py", "test_machine_accesses.py"),
}
GUESTS = ("test_machine_accesses.py", "test_numa.py", "test_place.py")
ALONE = (
    *("test_jcstress.py", "test_kernels.py", "test_litmus.py", "test_measuring.py"),
    *("test_page.py", "test_strategies.py", "test_watch.py"),
)
"""Tests that want every CPU: they race, measure, need an idle one, or wait for a page."""
MANNERS = {"guests": GUESTS, "alone": ALONE}
CORE = ("test_agent.py", "test_commands.py", "test_own_threads.py")


def areas_of(files: Iterable[str]) -> set[str]:
    """The areas of these files; `all` among them where a file is everybody's."""
    found: set[str] = set()
    for file in files:
        fitting = next((areas for pattern, areas in AREAS if fnmatch(file, pattern)), None)
        found |= {ALL} if fitting is None else set(fitting)
    return found


def files_of(areas: Iterable[str], manner: str = "beside") -> list[str]:
    """The end-to-end tests of these areas, the core's always, that run in this manner."""
    chosen = set(areas)
    if ALL in chosen:
        chosen = set(TESTS)
    unknown = chosen - set(TESTS) - {NATIVE, "core"}
    if unknown:
        raise SystemExit(
            f"areas.py: no area {' '.join(sorted(unknown))}; there are: core {NATIVE} {' '.join(TESTS)} {ALL}"
        )
    named = dict.fromkeys([*CORE, *(name for area in TESTS if area in chosen for name in TESTS[area])])
    elsewhere = {name for files in MANNERS.values() for name in files}
    return [f"tests/{name}" for name in named if name in MANNERS.get(manner, set(named) - elsewhere)]


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def changed_files() -> list[str] | None:
    """The files of the newest changes; None where that cannot be known."""
    try:
        newest = datetime.fromisoformat(_git("log", "-1", "--format=%cI"))
        before = _git("log", "-1", "--format=%H", f"--before={(newest - CHANGE).isoformat()}")
        if not before or _git("rev-parse", "--is-shallow-repository") == "true":
            return None
        return _git("diff", "--name-only", before, "HEAD").splitlines()
    except (OSError, ValueError, subprocess.CalledProcessError):
        return None


def changed() -> set[str]:
    """The areas of the newest changes."""
    files = changed_files()
    return {ALL} if files is None else areas_of(files) or {"core"}


def main(arguments: Sequence[str]) -> None:
    match arguments:
        case ["changed"]:
            print(*sorted(changed()))
        case ["beside" | "guests" | "alone" as manner, *areas] if areas:
            print(*files_of(areas, manner))
        case ["has", name, *areas]:
            raise SystemExit(0 if {name, ALL} & set(areas) else 1)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
