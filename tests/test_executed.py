"""What a program on AArch64 executes, as the emulator's plugin counts it, and the figures that are made of that."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, memgraft, needed
from processes import run
from tiers import deep

PLUGIN = ROOT / "build/native/observation/plugin/libmemgraft_tcg_instructions.so"
COMPILER = "aarch64-linux-gnu-gcc"
OF_ORDERINGS = ["ordering-3.16", "ordering-3.18", "ordering-3.19", "ordering-3.20", "ordering-3.24"]
OF_ENGINES = "ordering-engines-arm"
FIGURES = [*OF_ORDERINGS, OF_ENGINES]


@pytest.fixture
def qemu() -> str:
    needed(PLUGIN, "the plugin is not built", "make native")
    found = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if found is None:
        pytest.skip("no qemu-aarch64: package qemu-user (setup/packages test)")
    return found


def counted(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.read_text().splitlines()]


def test_generated_code_is_counted_exactly(qemu: str, tmp_path: Path) -> None:
    if shutil.which(COMPILER) is None:
        pytest.skip(f"no {COMPILER}: package g++-aarch64-linux-gnu (setup/packages test)")
    program = tmp_path / "generated"
    compiled = run([COMPILER, "-O1", "-static", "-o", program, ROOT / "observation/plugin/tests/generated_code.c"])
    assert compiled.returncode == 0, compiled.stderr
    out = tmp_path / "counts, all"
    # QEMU separates a plugin's arguments by commas.
    refused = run([qemu, "-plugin", f"{PLUGIN},out={out}", program, "10"])
    assert refused.returncode != 0
    assert "expected one out=FILE" in refused.stderr
    out = tmp_path / "counts"
    done = run([qemu, "-plugin", f"{PLUGIN},out={out}", program, "1000"])
    assert done.returncode == 0, done.stderr
    [written, ended] = counted(out)
    assert (written["when"], ended["when"]) == ("write", "exit")
    each = {"load": 1, "store": 1, "dmb ishld": 1, "dmb ish": 2, "ldar": 1, "stlr": 3, "other": 1}
    assert {kind: written[kind] for kind in each} == {kind: 1000 * times for kind, times in each.items()}
    assert {kind: ended[kind] for kind in each} == {kind: 1001 * times for kind, times in each.items()}
    assert written["atomic"] == written["dmb ishst"] == 0


def test_the_plugin_takes_a_file(qemu: str) -> None:
    done = run([qemu, "-plugin", PLUGIN, "/bin/true"])
    assert done.returncode != 0
    assert "memgraft instructions plugin: expected out=FILE" in done.stderr


@deep
def test_figures_of_arm_machines(tmp_path: Path) -> None:
    words = ["--size", "small", "--launches", "1", "--workloads", "xalan", "--output", tmp_path / "out", "--json"]
    made = memgraft("paper", *OF_ORDERINGS, *words)
    assert made.returncode == 0, made.stderr
    first, *modelled = json.loads(made.stdout)["papers"]
    instructions, seed, ordered = [
        {cell["series"]: cell["median"] for cell in table["cells"]} for table in first["ours"]
    ]
    assert instructions["sc-seed"] > 1 < instructions["sc"]
    # Two-way fences behind most loads and stores, or one-way instructions in the place of these.
    assert seed["dmb ishld"] > 10 * seed["ldar"]
    assert ordered["ldar"] > 10 * ordered["dmb ishld"]
    times = [table for one in modelled for table in one["ours"] if table["title"].startswith("modelled")]
    assert len(times) == 7
    assert all(cell["median"] > 1 for table in times for cell in table["cells"])


@deep
def test_a_figure_of_engines(tmp_path: Path) -> None:
    words = ["--size", "small", "--launches", "1", "--iterations", "2", "--workloads", "xalan", "--json"]
    # Five JVMs that the emulator runs, one after the other; two of them rewrite all their classes first.
    made = memgraft("paper", OF_ENGINES, *words, "--output", tmp_path / "out", limit=1400)
    assert made.returncode == 0, made.stderr
    [figure] = json.loads(made.stdout)["papers"]
    *_, instructions, everywhere, speculative = [
        {cell["series"]: cell["median"] for cell in table["cells"]} for table in figure["ours"]
    ]
    assert min(instructions.values()) > 1
    # Loads of shared objects keep theirs, and so do elements of arrays.
    assert 0 < speculative["dmb ishld"] < everywhere["dmb ishld"]
    assert 0 < speculative["dmb ish"] < everywhere["dmb ish"]
