"""Which files clang-tidy looks at after a change (checks/tidy.py)."""

import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

CHECKS = Path(__file__).resolve().parents[2] / "checks"
NINJA = """\
rule compile
  command = c++ -MMD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
build one.o: compile ../one.cpp
build two.o: compile ../two.cpp
"""


@pytest.fixture
def tidy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Of a project with two sources, of which the first one includes a header that includes another."""
    (tmp_path / "near.h").write_text('#include "far.h"\n')
    (tmp_path / "far.h").write_text("inline int far_away() { return 1; }\n")
    (tmp_path / "one.cpp").write_text('#include "near.h"\nint one() { return far_away(); }\n')
    (tmp_path / "two.cpp").write_text("int two() { return 2; }\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build/build.ninja").write_text(NINJA)
    subprocess.run(["ninja", "-C", tmp_path / "build"], check=True, capture_output=True)
    monkeypatch.syspath_prepend(CHECKS)
    spec = importlib.util.spec_from_file_location("tidy", CHECKS / "tidy.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (["one.cpp"], ["one.cpp"]),
        (["far.h"], ["one.cpp"]),
        (["two.cpp", "near.h"], ["one.cpp", "two.cpp"]),
        (["README.md"], []),
        ([], []),
        (None, ["one.cpp", "two.cpp"]),
        ([".clang-tidy"], ["one.cpp", "two.cpp"]),
        (["observation/sampler/.clang-tidy"], ["one.cpp", "two.cpp"]),
    ],
)
def test_what_changes_reach(tidy: ModuleType, tmp_path: Path, changes: list[str] | None, expected: list[str]) -> None:
    sources = [tmp_path / "one.cpp", tmp_path / "two.cpp"]
    assert [source.name for source in tidy.chosen(sources, tmp_path / "build", changes)] == expected
