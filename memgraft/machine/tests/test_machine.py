"""Machines that are faked, and this one."""

import json
import os
from pathlib import Path

import pytest

from memgraft import machine
from memgraft.machine import Load


def fake_cpus(root: Path, cores: list[list[int]], nodes: dict[int, int] | None = None) -> Path:
    """A sysfs in which each inner list is one core's hardware threads."""
    for siblings in cores:
        for cpu in siblings:
            folder = root / f"sys/devices/system/cpu/cpu{cpu}"
            (folder / "topology").mkdir(parents=True)
            (folder / "topology/thread_siblings_list").write_text(",".join(map(str, siblings)) + "\n")
            (folder / f"node{(nodes or {}).get(cpu, 0)}").mkdir()
    return root


class TestHalves:
    def test_two_cores(self, tmp_path: Path) -> None:
        assert machine.halves([0, 1], fake_cpus(tmp_path, [[0], [1]])) == ([0], [1])

    def test_hardware_threads_of_a_core_stay_together(self, tmp_path: Path) -> None:
        root = fake_cpus(tmp_path, [[0, 4], [1, 5], [2, 6], [3, 7]])
        assert machine.halves(range(8), root) == ([0, 4, 1, 5], [2, 6, 3, 7])

    def test_a_single_core_is_split_between_its_threads(self, tmp_path: Path) -> None:
        assert machine.halves([0, 1], fake_cpus(tmp_path, [[0, 1]])) == ([0], [1])

    def test_nodes_are_not_mixed(self, tmp_path: Path) -> None:
        root = fake_cpus(tmp_path, [[0], [1], [2], [3]], {0: 0, 2: 0, 1: 1, 3: 1})
        assert machine.halves(range(4), root) == ([0, 2], [1, 3])

    def test_an_odd_core_is_left_out(self, tmp_path: Path) -> None:
        assert machine.halves(range(3), fake_cpus(tmp_path, [[0], [1], [2]])) == ([0], [1])

    def test_both_halves_are_equal_even_where_cores_are_not(self, tmp_path: Path) -> None:
        first, second = machine.halves([0, 1, 2], fake_cpus(tmp_path, [[0, 1], [2]])) or ([], [])
        assert len(first) == len(second) == 1

    def test_only_usable_cpus(self, tmp_path: Path) -> None:
        root = fake_cpus(tmp_path, [[0], [1], [2], [3]])
        assert machine.halves([1, 3], root) == ([1], [3])

    def test_one_cpu(self, tmp_path: Path) -> None:
        assert machine.halves([0], fake_cpus(tmp_path, [[0]])) is None

    def test_no_sysfs(self, tmp_path: Path) -> None:
        assert machine.halves([0, 1], tmp_path) == ([0], [1])


class TestKinds:
    def test_two_processors_of_two_cores_with_two_threads(self, tmp_path: Path) -> None:
        """A core's number is its own within its package only."""
        root = fake_cpus(tmp_path, [[0, 1], [2, 3], [4, 5], [6, 7]], {cpu: cpu // 4 for cpu in range(8)})
        (root / "sys/devices/system/cpu/possible").write_text("0-7\n")
        for cpu in range(8):
            topology = root / f"sys/devices/system/cpu/cpu{cpu}/topology"
            (topology / "physical_package_id").write_text(f"{cpu // 4}\n")
            (topology / "core_id").write_text(f"{cpu // 2 % 2}\n")
        assert machine.kinds(root) == {"cpu": 8, "core": 4, "processor": 2, "node": 2}

    def test_no_sysfs(self, tmp_path: Path) -> None:
        assert machine.kinds(tmp_path) == {"cpu": 1, "core": 1, "processor": 1, "node": 1}


X86 = """\
processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 85
model name\t: Intel(R)  Xeon(R)\tCPU\x20
stepping\t: 7
flags\t\t: fpu model: x

vendor_id\t: Other
"""
ARM = """\
processor\t: 0
Features\t: fp
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1
"""
POWER = "processor\t: 0\ncpu\t\t: POWER9\nrevision\t: 2.2 (pvr 004e 1202)\n"


class TestCpuName:
    """The same cases as zeroing/tests/table_test.cpp has: both must make the same name."""

    @pytest.mark.parametrize(
        ("cpuinfo", "expected"),
        [
            (X86, "GenuineIntel 6 85 7 Intel(R) Xeon(R) CPU"),
            (ARM, "0x41 0x3 0xd0c 1"),
            (POWER, "POWER9 2.2 (pvr 004e 1202)"),
            ("", ""),
            ("\nmodel: 1", ""),
            ("cpu: a\x01\xff", "a??"),
            ("cpu: " + 1000 * "x", 200 * "x"),
        ],
    )
    def test_is_of_the_first_cpu(self, tmp_path: Path, cpuinfo: str, expected: str) -> None:
        (tmp_path / "proc").mkdir()
        (tmp_path / "proc/cpuinfo").write_text(cpuinfo, encoding="latin-1")
        assert machine.cpu_name(tmp_path) == expected

    def test_is_empty_without_proc(self, tmp_path: Path) -> None:
        assert machine.cpu_name(tmp_path) == ""


class TestLoad:
    def test_shares(self) -> None:
        before, after = Load(100.0, 0.0, 1000.0), Load(130.0, 2.0, 1100.0)
        others, stolen = after.shares_since(before, own_seconds=25.0)
        assert others == pytest.approx(0.05)
        assert stolen == pytest.approx(0.02)

    def test_never_below_zero_or_above_one(self) -> None:
        before, after = Load(100.0, 0.0, 1000.0), Load(101.0, 0.0, 1002.0)
        assert after.shares_since(before, own_seconds=5.0) == (0.0, 0.0)
        assert after.shares_since(before, own_seconds=-9.0)[0] == 1.0
        assert before.shares_since(before, own_seconds=0.0) == (0.0, 0.0)

    def test_now_is_consistent(self) -> None:
        load = Load.now()
        assert 0 < load.busy < load.total


def test_this_machine_is_described_as_json() -> None:
    described = machine.describe()
    assert json.loads(json.dumps(described)) == described
    assert described["cpus"] >= described["usable_cpus"] >= 1
    assert described["memory_bytes"] > 0
    assert isinstance(described["hardware_counters"]["available"], bool)


def test_without_lscpu_or_sysfs_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    described = machine.describe(tmp_path)
    assert described["cpu"]
    assert described["caches"] == []
    assert described["transparent_huge_pages"] is None
    assert described["numa_nodes"] == 1


def test_nested_lscpu_is_flattened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """util-linux 2.38 and later."""
    table = {"lscpu": [{"field": "Vendor ID:", "data": "v", "children": [{"field": "Model name:", "data": "M 1"}]}]}
    lscpu = tmp_path / "lscpu"
    lscpu.write_text(f"#!/bin/sh\nprintf '%s' '{json.dumps(table)}'\n")
    lscpu.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert machine.describe()["cpu"] == "M 1"


def test_huge_pages(tmp_path: Path) -> None:
    setting = tmp_path / "sys/kernel/mm/transparent_hugepage/enabled"
    setting.parent.mkdir(parents=True)
    setting.write_text("always [madvise] never\n")
    assert machine.describe(tmp_path)["transparent_huge_pages"] == "madvise"


def test_counters_give_a_reason() -> None:
    assert machine.hardware_counters()["reason"]


def test_counters_on_an_unknown_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "s390x")
    assert machine.hardware_counters() == {"available": False, "reason": "not known how to ask on s390x"}
