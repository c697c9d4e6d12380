"""Which tests a change calls for (checks/areas.py)."""

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def areas() -> ModuleType:
    spec = importlib.util.spec_from_file_location("areas", ROOT / "checks/areas.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (["README.md", "docs/ordering.md", "experiments/records/2026-11-22-x/README.md"], set()),
        (["allocation/hierarchy.cpp"], {"buffers", "native"}),
        (["stocks/hotspot/c2_private.cpp"], {"ordering", "native"}),
        (["stocks/hotspot/tests/windows_test.cpp"], {"zeroing", "native"}),
        (["ordering/litmus/src/main/java/org/memgraft/ordering/litmus/Suite.java"], {"ordering"}),
        (["memgraft/run.py"], {"commands"}),
        (["memgraft/watch/page.js", "tests/test_watch.py"], {"watch"}),
        (["workloads/native/cg.c"], {"kernels", "native"}),
        (["workloads/jvm/pom.xml"], {"commands"}),
        # What several grafts share, and what nobody thought of, is everybody's.
        (["stocks/hotspot/joints.cpp"], {"all"}),
        (["units/include/memgraft/units.h"], {"all"}),
        (["tests/conftest.py"], {"all"}),
        (["setup/packages", "README.md"], {"all"}),
        (["something/new.cpp"], {"all"}),
        # Of these every run tries all.
        (["Makefile"], {"native"}),
        ([".ci/run", "checks/tidy.py"], set()),
        (["stocks/linux/perf_ring.cpp", "stocks/linux/tests/CMakeLists.txt"], {"placement", "native"}),
        (["stocks/linux/perf_counters.cpp"], {"all"}),
    ],
)
def test_files_belong_to_areas(areas: ModuleType, files: list[str], expected: set[str]) -> None:
    assert areas.areas_of(files) == expected


CORE = {"tests/test_agent.py", "tests/test_commands.py", "tests/test_own_threads.py"}


def test_core_is_always_tested(areas: ModuleType) -> None:
    assert set(areas.files_of(["core"])) == CORE
    assert areas.files_of(["core"], "alone") == []
    assert set(areas.files_of(["zeroing"])) == CORE
    assert areas.files_of(["zeroing"], "alone") == ["tests/test_strategies.py"]
    assert areas.files_of(["zeroing", "all"]) == areas.files_of(areas.TESTS)
    with pytest.raises(SystemExit, match="no area zeroign"):
        areas.files_of(["zeroign"])


def test_every_end_to_end_test_is_some_areas(areas: ModuleType) -> None:
    beside, guests, alone = (areas.files_of(["all"], manner) for manner in ("beside", "guests", "alone"))
    every = sorted(f"tests/{file.name}" for file in (ROOT / "tests").glob("test_*.py"))
    assert sorted(beside + guests + alone) == every
    assert {f"tests/{name}" for name in areas.ALONE} == set(alone)
    assert {f"tests/{name}" for name in areas.GUESTS} == set(guests)


def test_every_pattern_fits_a_file(areas: ModuleType) -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    files = tracked.stdout.splitlines()
    if not files:
        pytest.skip("no git checkout")
    assert [pattern for pattern, _ in areas.AREAS if not any(areas.fnmatch(file, pattern) for file in files)] == []
