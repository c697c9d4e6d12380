"""NUMA-Eden on machines with nodes, emulated: a thread's objects lie on its node, and without the graft they do not."""

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import AGENT, VERIFY_HEAP, fetched_jdk, memgraft, system_jdk
from guest.jvm import QUICK, add_jvm, with_class_data
from guest.machine import Node, Root, boot
from processes import run
from tiers import deep

# Eden is 72 MiB. Pages that a collector gave back would be placed anew.
HEAP = ["-Xms160m", "-Xmx160m", "-Xmn96m", "-XX:-UseAdaptiveSizePolicy"]
ENOUGH = 0.95
TWO_NODES = [Node(1, 768), Node(1, 640)]
# Makes huge pages, which move as a whole, as soon as the kernel finds small ones beside each other.
EAGER_FOR_HUGE_PAGES = (
    "cd /sys/kernel/mm/transparent_hugepage && echo always >enabled && "
    "echo 10 >khugepaged/scan_sleep_millisecs && echo 1000000 >khugepaged/pages_to_scan"
)


@dataclass(frozen=True)
class Places:
    """Where the objects lay that a thread of one node had just allocated."""

    local: int
    remote: int
    absent: int

    @property
    def local_share(self) -> float:
        return self.local / (self.local + self.remote + self.absent)


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Root:
    """With the distribution's JVM as /jdk."""
    folder = tmp_path_factory.mktemp("guest")
    root = Root(folder / "root")
    add_jvm(root, folder, programs)
    root.add(AGENT, "/libmemgraft_hotspot.so")
    return root


def java(cpus: list[int], *options: str, home: str = "/jdk") -> str:
    program = ["-cp", "/classes", "PlaceObjects", "/libplaces.so", "5", *map(str, cpus)]
    return " ".join([f"{home}/bin/java", *QUICK, *HEAP, *options, *program])


def grafted(cpus: list[int], buffers: str, *options: str, home: str = "/jdk") -> str:
    agent = "-agentpath:/libmemgraft_hotspot.so=buffers={},numa-eden,summary=$folder"
    return f"folder=$(mktemp -d) && {java(cpus, agent.format(buffers), *options, home=home)} && cat $folder/*"


def places(output: str) -> list[Places]:
    """By node."""
    found = re.findall(r"^objects node=(\d+) local=(\d+) remote=(\d+) absent=(\d+)$", output, re.MULTILINE)
    return [Places(*map(int, counts)) for _, *counts in sorted(found, key=lambda line: int(line[0]))]


def summary(output: str) -> dict:
    return json.loads(output[output.index("{\n") :])["grafts"]["buffers"]


def test_objects_lie_on_their_threads_node(guest: Root) -> None:
    cpus = [0, 1]
    runs = {
        "Parallel": grafted(cpus, "node:1048576", "-XX:+UseParallelGC", *VERIFY_HEAP),
        "Serial": grafted(cpus, "node:2097152", "-XX:+UseSerialGC", *VERIFY_HEAP),
        "G1": grafted(cpus, "none", "-XX:+UseG1GC", *VERIFY_HEAP),
    }
    for name, command in zip(runs, boot(guest, TWO_NODES, list(runs.values())), strict=True):
        assert command.exit_code == 0, f"{name}:\n{command.output}"
        found = places(command.output)
        assert len(found) == len(cpus)
        buffers = summary(command.output)
        assert min(node.local_share for node in found) >= ENOUGH, f"{name}: {found}: {buffers}"
        numa = buffers["numa"]
        assert (numa["nodes"], numa["failures"], numa["reason"]) == (2, 0, "")
        assert numa["fillings"] > 100
        assert numa["bound_bytes"] > 40 * 2**20, "half of eden, at least"
        # The second thread's part lay on the first one's node.
        assert numa["moved_fillings"] > 3
        assert numa["moved_fillings"] < numa["fillings"] / 2, "what lies right is left alone"
        assert numa["spares_used"] > 0


@deep
def test_without_it_they_lie_elsewhere(guest: Root) -> None:
    """So that the test above could fail: the first thread has touched all of eden before the other began."""
    cpus = [0, 1]
    [stock] = boot(guest, TWO_NODES, [java(cpus, "-XX:+UseParallelGC")])
    assert stock.exit_code == 0, stock.output
    found = places(stock.output)
    assert len(found) == len(cpus)
    assert min(node.local_share for node in found) < 0.5, found


@deep
def test_nodes_of_unequal_size_and_two_levels(guest: Root, tmp_path: Path) -> None:
    newest = shutil.copytree(fetched_jdk("25").home, tmp_path / "newest", symlinks=True)
    guest.add(with_class_data(newest), "/newest")
    # A CPU of each node; the first has two.
    cpus = [0, 2, 3]
    tlabs = ["-XX:TLABSize=16k", "-XX:-ResizeTLAB"]
    commands = [
        grafted(cpus, "cpu:131072+node:1048576", "-XX:+UseParallelGC", *tlabs, *VERIFY_HEAP, home="/newest"),
        # Verification would make G1 call what it does not call by itself.
        grafted(cpus, "cpu:65536", "-XX:+UseG1GC", *tlabs, home="/newest"),
    ]
    nodes = [Node(2, 768), Node(1, 320), Node(1, 320)]
    huge, *ran, moved = boot(guest, nodes, [EAGER_FOR_HUGE_PAGES, *commands, "grep ^thp_ /proc/vmstat"])
    assert huge.exit_code == 0, huge.output
    # One lies in two buffers, at least: moved for one of them, it is lost to the other.
    assert "thp_migration_success 0\n" in moved.output, moved.output
    for done in ran:
        assert done.exit_code == 0, done.output
        found = places(done.output)
        assert len(found) == len(cpus)
        buffers = summary(done.output)
        assert min(node.local_share for node in found) >= ENOUGH, f"{found}: {buffers}"
        assert [(level["kind"], level["buffers"]) for level in buffers["levels"]] == [("cpu", 4), ("node", 3)]
        assert buffers["levels"][0]["taken"] > 1000
        assert (buffers["numa"]["nodes"], buffers["numa"]["failures"]) == (3, 0)


Summaries = Callable[[], list[dict]]


def on_one_node() -> bool:
    return Path("/sys/devices/system/node/online").read_text().strip() in ("", "0")


@pytest.mark.parametrize("levels", ["none", "node:1048576"])
def test_one_node_has_nothing_to_bind(levels: str, tmp_path: Path, programs: Path, read_summaries: Summaries) -> None:
    if not on_one_node():
        pytest.skip("this machine has several nodes")
    agent = f"-agentpath:{AGENT}=buffers={levels},numa-eden,summary={tmp_path}"
    result = run([system_jdk().java, agent, "-cp", programs, "ShowJoints"])
    assert result.returncode == 0, result.stderr
    buffers = read_summaries()[0]["grafts"]["buffers"]
    assert buffers["levels"] == []
    assert (buffers["numa"]["nodes"], buffers["numa"]["fillings"]) == (1, 0)


def test_run_says_that_one_node_has_nothing_to_bind(programs: Path) -> None:
    if not on_one_node():
        pytest.skip("this machine has several nodes")
    told = memgraft("run", "--numa-eden", "--", system_jdk().java, "-cp", programs, "ShowJoints")
    assert told.returncode == 0, told.stderr
    assert "memgraft: thread=growing,numa-eden buffers:" in told.stderr
    assert "memgraft: one NUMA node: nothing to bind" in told.stderr
