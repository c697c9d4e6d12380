"""checks/tidy.py: what it remembers of sources without findings holds in every clone, and nowhere else."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

TIDY = Path(__file__).resolve().parent.parent.parent / "checks/tidy.py"


def tidy_py() -> Any:
    spec = importlib.util.spec_from_file_location("tidy", TIDY)
    assert spec
    assert spec.loader
    tidy = importlib.util.module_from_spec(spec)
    sys.modules["tidy"] = tidy  # where its dataclass looks its own module up
    spec.loader.exec_module(tidy)
    return tidy


def key_in(root: Path, elsewhere: Path, headers: dict[str, str], options: str = "-O2") -> str:
    """Of the one source of a clone at `root`, which includes these headers of its own and one from elsewhere."""
    tidy = tidy_py()
    tidy.ROOT = root
    tidy.tidy_version = lambda: "19"
    root.mkdir(parents=True)
    (root / ".clang-tidy").write_text("Checks: '*'\n")
    for name, text in {"a.cpp": "int main() {}\n", **headers}.items():
        (root / name).write_text(text)
    reads = frozenset([elsewhere, root / "a.cpp", *(root / name for name in headers)])
    assert tidy.key(tidy.Source(root / "a.cpp", "c++", frozenset())) is None, "not built: nothing is known"
    return str(tidy.key(tidy.Source(root / "a.cpp", f"c++ {options} -c {root}/a.cpp", reads)))


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"headers": {"b.h": "int c;\n"}}, False),
        ({"headers": {"c.h": "int b;\n"}}, False),
        ({"options": "-O3"}, False),
    ],
)
def test_a_source_is_known_by_its_contents_in_every_clone(
    changes: dict[str, Any], same: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "tidy", raising=False)
    # In the order of names one clone is before the header from elsewhere, and one behind it.
    elsewhere = tmp_path / "m.h"
    elsewhere.write_text("int m;\n")
    like: dict[str, Any] = {"headers": {"b.h": "int b;\n"}}
    first = key_in(tmp_path / "a", elsewhere, **like)
    assert (key_in(tmp_path / "z", elsewhere, **(like | changes)) == first) is same


def test_what_the_gate_knows_is_news_to_a_deep_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "tidy", raising=False)
    tidy = tidy_py()
    tidy.CACHE = tmp_path
    tidy.remembered("gate", deep=False).touch()
    tidy.remembered("deep", deep=True).touch()
    keys = ("gate", "deep", "neither", None)
    tidy.DEEP = False
    assert [tidy.is_known(key) for key in keys] == [True, True, False, False]
    tidy.DEEP = True
    assert [tidy.is_known(key) for key in keys] == [False, True, False, False]
