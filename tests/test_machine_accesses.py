"""The plugin that counts a machine's accesses by CPU and node counts exactly what a program in the guest does."""

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from memgraft.guest.machine import Node, Root, boot

ROOT = Path(__file__).resolve().parent.parent
PLUGIN = ROOT / "build/native/observation/plugin/libmemgraft_tcg_nodes.so"
NODES = [Node(1, 192), Node(1, 64)]
# Where the program's own instructions lie, and the memory that it counts by.
CODE = "code=0x20000000-0x2fffffff"
DATA = "data=0x100000000000-0x10003fffffff"


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Root:
    if not PLUGIN.exists():
        pytest.skip(f"no {PLUGIN}: build memgraft_tcg_plugins")
    folder = tmp_path_factory.mktemp("guest")
    root = Root(folder / "root")
    program = folder / "accesses"
    flags = ["-O1", "-Wall", "-Wextra", "-Werror", "-static", "-no-pie", "-Wl,-Ttext-segment=0x20000000"]
    subprocess.run(["cc", *flags, "-o", program, ROOT / "tests/guest/accesses.c"], check=True)
    root.add(program, "/accesses")
    return root


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_counts_are_exact_by_cpu_and_node(guest: Root, tmp_path: Path) -> None:
    out = tmp_path / "counts"
    ran = boot(guest, NODES, ["/accesses"], plugins=[f"{PLUGIN},out={out},nodes=192:64,{DATA},{CODE}"])
    assert [(done.output, done.exit_code) for done in ran] == [("done\n", 0)]
    last = lines(out)[-1]
    assert last["event"] == "end"
    # By CPU; then by node: first on node 1, then moved to node 0.
    assert last["accesses"] == [[564, 1000], [70, 30000]]
    assert last["stores"] == [[0, 1000], [70, 0]]
    assert last["elsewhere"] == [0, 0]
    assert "misses" not in last


@pytest.mark.parametrize(
    ("cache", "misses"),
    [
        # Larger than the machine's memory: each line is missed once on each page of memory that it lies in, and again
        # when the other CPU has written it.
        (256 << 20, [[128, 64], [64, 64]]),
        # The first line of each page goes to the same set, of 8 lines for 64 pages.
        (32 << 10, [[564, 1000], [70, 30000]]),
    ],
)
def test_misses_of_caches(guest: Root, tmp_path: Path, cache: int, misses: list[list[int]]) -> None:
    out = tmp_path / "counts"
    boot(guest, NODES, ["/accesses"], plugins=[f"{PLUGIN},out={out},nodes=192:64,{DATA},{CODE},cache={cache}"])
    last = lines(out)[-1]
    assert last["accesses"] == [[564, 1000], [70, 30000]]
    assert last["misses"] == misses


def test_series_and_other_programs(guest: Root, tmp_path: Path) -> None:
    out = tmp_path / "counts"
    # Everything in user space: the shell's accesses, too.
    boot(guest, NODES, ["/accesses 1"], plugins=[f"{PLUGIN},out={out},nodes=192:64,ms=100"])
    series = lines(out)
    assert len(series) > 2
    assert [line["event"] for line in series] == ["counts"] * (len(series) - 1) + ["end"]
    assert all(a["at_ms"] <= b["at_ms"] for a, b in itertools.pairwise(series))
    totals = [sum(map(sum, line["accesses"])) for line in series]
    assert totals == sorted(totals)
    assert totals[-1] > 32000


@pytest.mark.usefixtures("guest")
def test_the_wrong_arguments_are_named(tmp_path: Path) -> None:
    numbers = ("nodes=3000", "nodes=12:", "data=5-4", "every=7", "ms=0", "cache=0", "cache=1000")
    for wrong in (*numbers, f"out={tmp_path}/no/such"):
        command = ["qemu-system-x86_64", "-display", "none", "-plugin", f"{PLUGIN},{wrong}"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        assert ran.returncode != 0
        assert f"'{wrong}': expected out=FILE" in ran.stderr
