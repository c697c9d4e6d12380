"""`memgraft place` on machines with nodes, emulated: pages end where they are used, and no program is harmed."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, memgraft, needed
from guest.jvm import QUICK, add_jvm
from guest.machine import OUTBOX, Done, Node, Root, boot
from tiers import deep

from memgraft.paper.counted import DATA
from memgraft.placement import Placed, Summary, non_local

NATIVE = ROOT / "memgraft/native"
KERNELS = ROOT / "build/native/workloads/native/memgraft-kernels"
PLUGIN = ROOT / "build/native/observation/plugin/libmemgraft_tcg_nodes.so"
NODE = Node(1, 192)
LOCAL = 0.9
"""Of the sampled accesses, at least: the dissertation eliminated 81 to 90 % of the non-local ones of CG and MG."""
BOUND = "OMP_PROC_BIND=true OMP_PLACES=threads"
PASSIVE = "OMP_WAIT_POLICY=passive"
"""Threads that wait leave the CPU to those that have to do."""
SAMPLED_OFTEN = 4000
"""A kernel, seen from inside: fewer than some 16 of a page, and most pages may have moved at the end only."""
INSIDE, HINTS = "faults-in-process", "hint-faults"
QUICK_HINTS = (
    "cd /sys/kernel/debug/sched/numa_balancing && echo 100 >scan_delay_ms && echo 100 >scan_period_min_ms && "
    "echo 400 >scan_period_max_ms"
)
"""The kernel looks for hints every second at first, and then less often; emulated programs run for seconds."""
CASE = re.compile(r"^touching (\S+) uses=(\d+) nodes=(\S+) cpus=(\d+) files=(\d+)$", re.MULTILINE)
WHERE = re.compile(r"^where \S+ nodes=(\S+) asked=(\d+)$", re.MULTILINE)


FIXED_ADDRESSES = "echo 0 >/proc/sys/kernel/randomize_va_space"
MAPPED = "data=0x7fff00000000-0x7ffff7ffffff"
"""Where mmap then puts memory: all that `touching` uses, and neither heaps nor the main thread's stack."""
OF_ARRAYS = f"data={DATA}"


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Root:
    folder = tmp_path_factory.mktemp("guest")
    root = Root(folder / "root")
    for name in ("touching", "where"):
        compiler = ["cc", "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread"]
        subprocess.run([*compiler, "-o", folder / name, ROOT / f"tests/guest/{name}.c"], check=True)
        root.add(folder / name, f"/bin/{name}")
    for file in (NATIVE / "memgraft-place", NATIVE / "libmemgraft_sampler.so", KERNELS):
        root.add(needed(file, f"{file.name} is not built", "make build"), f"/bin/{file.name}")
    return root


@dataclass(frozen=True)
class Ran:
    """What a command under memgraft-place left."""

    placed: Placed
    output: str

    @property
    def summary(self) -> Summary:
        return self.placed.summary

    def held(self, reason: str) -> int:
        """Pages that a rule held, counted again in each interval: from the record."""
        lines = [json.loads(line) for line in self.output.splitlines() if line.startswith('{"schema":1')]
        return sum(line["held"][reason] for line in lines if line["event"] == "interval")

    def last_accesses(self, least: int) -> tuple[int, int]:
        """Samples on another node's memory, and all of them, of so many last intervals that there are enough.

        Without what remained when the program ended: its main thread looks at all results then.
        """
        lines = [json.loads(line) for line in self.output.splitlines() if line.startswith('{"schema":1')]
        remote = everything = 0
        for line in reversed([line for line in lines if line["event"] == "interval"][:-1]):
            of_interval = non_local(line["accesses"])
            remote, everything = remote + of_interval[0], everything + of_interval[1]
            if everything >= least:
                break
        return remote, everything

    @property
    def kernel(self) -> dict[str, Any]:
        return next(json.loads(line) for line in self.output.splitlines() if line.startswith('{"kind": "kernel"'))

    @property
    def nodes(self) -> list[int]:
        """Of the program's pages as the witness saw them last, how many lay on each node."""
        found = WHERE.search(self.output)
        assert found, self.output
        return [int(count) for count in found[1].split(",")]


def kernel(name: str, size: str, *, bound: bool = True) -> str:
    return f"{PASSIVE} {BOUND if bound else ''} /bin/memgraft-kernels {name} --class {size} --first-touch main --json"


def placed(program: str, *options: str, monitor: str = INSIDE, interval: float = 0.5, sampling_cpu: float = 0.5) -> str:
    """The program under memgraft-place, a witness beside it; then what both said."""
    # An emulated CPU takes long for all of this: on a slow machine most touches were lost by default.
    sampling = f"--sampling-rate 6000 --sampling-cpu {sampling_cpu:g} --sampling-least 65536 --observing-cpu 0.2"
    place = f"memgraft-place --monitor {monitor} --interval {interval:g} --drain 50 {sampling} "
    place += "--record /tmp/record --summary /tmp/summary"
    variables, _, words = program.rpartition("/bin/")
    name = words.split(maxsplit=1)[0]
    command = f"{variables}{place} {' '.join(options)} -- /bin/{words}"
    return (
        f"rm -f /tmp/record /tmp/summary; (where {name} >/tmp/where &); {command}; code=$?; sleep 1; cat /tmp/where; "
        "cat /tmp/record; echo SUMMARY; cat /tmp/summary; exit $code"
    )


def ran(done: Done) -> Ran:
    assert done.exit_code == 0, done.output
    output, _, summary = done.output.partition("SUMMARY\n")
    return Ran(Placed.model_validate_json(summary), output)


def exact_local_share(
    guest: Root, folder: Path, commands: list[str], *, hints: bool = False, data: str = MAPPED
) -> float:
    """Of all accesses of the last third of a run on two nodes: counted by the emulator, which misses none."""
    needed(PLUGIN, f"{PLUGIN.name} is not built", "make build")
    counts = folder / "counts"
    plugin = f"{PLUGIN},out={counts},nodes={NODE.mebibytes}:{NODE.mebibytes},ms=250,{data}"
    first = [FIXED_ADDRESSES, QUICK_HINTS if hints else "true"]
    for one in boot(guest, [NODE] * 2, [*first, *commands], numa_balancing=hints, plugins=[plugin]):
        assert one.exit_code == 0, one.output
    # By CPU, which is its node, and by the node of the memory; sums since the start.
    tables = [json.loads(line)["accesses"] for line in counts.read_text().splitlines()]
    last = tables[-1]
    everything = sum(map(sum, last))
    begin = next(one for one in tables if sum(map(sum, one)) > everything * 2 / 3)
    remote, counted = non_local([[b - a for a, b in zip(*rows, strict=True)] for rows in zip(begin, last, strict=True)])
    assert counted > everything / 5
    return 1 - remote / counted


@deep
def test_the_guest_is_as_asked(guest: Root, tmp_path: Path) -> None:
    outbox = tmp_path / "outbox"
    commands = [
        "cat /sys/devices/system/node/node*/distance /proc/sys/kernel/numa_balancing",
        rf"printf 'one\ntwo\r\n' >{OUTBOX}",
        "where touching & touching steady 1; wait",
    ]
    distances = [[10, 25], [21, 10]]
    told, sent, seen = boot(guest, [NODE] * 2, commands, numa_balancing=True, distances=distances, outbox=outbox)
    assert told.output.split() == ["10", "25", "21", "10", "1"]
    assert sent.exit_code == 0
    assert outbox.read_bytes() == b"one\ntwo\r\n"
    assert CASE.search(seen.output), seen.output
    assert WHERE.search(seen.output), seen.output
    [off] = boot(guest, [NODE], ["cat /proc/sys/kernel/numa_balancing"])
    assert off.output == "0\n"


def ended_local(one: Ran) -> bool:
    # Where all is local the kernel looks seldom for hints, and the last quarter may have few.
    remote, everything = one.last_accesses(200)
    return everything >= 200 and 1 - remote / everything >= LOCAL


def check_local(one: Ran, monitor: str) -> None:
    name = one.kernel["kernel"]
    assert one.placed.start.monitor.name == monitor
    summary = one.summary
    remote, everything = non_local(summary.accesses_after)
    assert everything > 0, f"{name}: {summary}"
    assert summary.local_after == pytest.approx(1 - remote / everything, abs=0.01)
    assert ended_local(one), f"{name}: {one.last_accesses(200)} {summary}"


def sampled_enough(guest: Root, nodes: list[Node], iterations: dict[str, int]) -> list[Ran]:
    """Of each kernel of class S a run that was sampled often, whatever it showed.

    Where this machine has other work, emulation is slow, and few samples are of the time after the moves: then again,
    longer.
    """
    commands = {
        name: placed(f"{kernel(name, 'S')} --iterations {count}", interval=1) for name, count in iterations.items()
    }
    found = dict(zip(commands, map(ran, boot(guest, nodes, list(commands.values()))), strict=True))
    for name, count in iterations.items():
        if found[name].summary.samples < SAMPLED_OFTEN:
            longer = placed(f"{kernel(name, 'S')} --iterations {6 * count}", interval=1)
            [found[name]] = map(ran, boot(guest, nodes, [longer]))
    return list(found.values())


@deep
@pytest.mark.parametrize("nodes", [2, 4])
def test_pages_end_where_they_are_used(guest: Root, nodes: int) -> None:
    """Seen by the kernel's hint faults, at which it moves pages itself; whole kernels, which verify their results.

    How soon the kernel looks again depends on the CPU time that threads get: of CG, whose vector all of them read, this
    only says that pages moved, and MG runs once more, for longer, where it ended too soon.
    """
    # Threads are kept where they are by OpenMP, and by us.
    bound = placed(kernel("mg", "W"), monitor=HINTS)
    binding = placed(kernel("cg", "A", bound=False), "--bind-threads", monitor=HINTS)
    commands = [QUICK_HINTS, bound, binding]
    quick, *done = boot(guest, [NODE] * nodes, commands, numa_balancing=True)
    assert quick.exit_code == 0, quick.output
    mg, cg = map(ran, done)
    local = mg
    if not ended_local(mg):
        longer = placed(f"{kernel('mg', 'W')} --iterations 16", monitor=HINTS)
        local = ran(boot(guest, [NODE] * nodes, [QUICK_HINTS, longer], numa_balancing=True)[1])
    check_local(local, HINTS)
    for one in (mg, cg):
        assert one.kernel["verified"] is True, one.output
        assert one.summary.samples > 200, one.summary
        # The witness, from outside: pages lie on other nodes than the first, where all of them began.
        assert sum(one.nodes[1:]) > 100, one.nodes


@deep
@pytest.mark.parametrize("nodes", [2, 4])
def test_pages_end_where_they_are_used_without_the_kernel(guest: Root, nodes: int) -> None:
    """Seen from inside, and moved by us alone.

    Sampling takes its time in emulation: small kernels, and more iterations than there is an official result of. That
    content stays as it is `touching` checks.
    """
    for one in sampled_enough(guest, [Node(4 // nodes, 160)] * nodes, {"mg": 300, "cg": 160}):
        assert one.summary.hindrance is None
        check_local(one, INSIDE)
        # Not some of its arrays: nearly all were sampled, those too that lie behind another one's inaccessible end.
        assert one.summary.pages > 0.75 * one.kernel["memory_bytes"] / 4096, one.summary
        assert one.summary.moved > 30, one.summary
        assert one.summary.kernel_moved == 0
        # Beside the kernel's megabyte there is the sampler's own memory, which stays.
        assert sum(one.nodes[1:]) > 30, one.nodes


@deep
def test_accesses_of_a_kernel_became_local(guest: Root, tmp_path: Path) -> None:
    program = placed(f"{kernel('mg', 'W')} --iterations 2", monitor=HINTS, interval=1)
    assert exact_local_share(guest, tmp_path, [program], hints=True, data=OF_ARRAYS) >= LOCAL


@deep
def test_our_moves_alone_make_accesses_local(guest: Root, tmp_path: Path) -> None:
    """A thread on the second node uses pages of the first one, and the kernel moves none by itself."""
    program = "/bin/touching steady 25"
    assert exact_local_share(guest, tmp_path, [program]) < 0.1
    assert exact_local_share(guest, tmp_path, [placed(program, interval=1)]) >= LOCAL


@deep
def test_accesses_of_what_all_use_stay_as_local(guest: Root, tmp_path: Path) -> None:
    program = f"{kernel('ft', 'S')} --iterations 16"
    without, placing = (
        exact_local_share(guest, tmp_path, [placed(program, *options, interval=1, sampling_cpu=0.1)], data=OF_ARRAYS)
        for options in (["--dry-run"], [])
    )
    assert without < 0.95, "so that it could become better"
    assert placing > without - 0.06


@deep
def test_without_placement_they_stay(guest: Root) -> None:
    commands = [
        f"where memgraft-kernels & {kernel('mg', 'W')}; wait",
        placed(f"{kernel('cg', 'S')} --iterations 160", "--dry-run", interval=1),
    ]
    alone, dry = boot(guest, [NODE] * 2, commands)
    assert alone.exit_code == 0, alone.output
    found = WHERE.search(alone.output)
    assert found, alone.output
    on_first, *others = (int(count) for count in found[1].split(","))
    assert on_first > 20 * sum(others), alone.output
    watched = ran(dry)
    assert watched.summary.local_after is not None
    assert watched.summary.local_after < 0.75
    assert watched.summary.moved > 100, "that would have been"
    # The threads' own stacks are not on the first node.
    assert sum(watched.nodes[1:]) < watched.summary.moved / 4, "they were moved"


@deep
def test_what_all_use_alike_is_left_alone(guest: Root) -> None:
    """FT's transposition, and pages that two threads use as often: no page is worth moving to and fro."""
    commands = [
        placed(kernel("ft", "W")),
        placed(f"{kernel('ft', 'S')} --iterations 16", interval=1),
        placed("/bin/touching shared 8", interval=1),
    ]
    whole, longer, shared = map(ran, boot(guest, [NODE] * 2, commands, concurrent=True))
    assert whole.kernel["verified"] is True
    assert CASE.search(shared.output), shared.output
    for one in (whole, longer, shared):
        assert one.summary.samples > 1000, one.summary
        # A page may look like one thread's by chance, and many do at once, since the sampler sees them in the same turn
        # of the threads: 48 of the 128 shared ones have been seen to move.
        assert one.summary.moved < one.summary.pages, one.summary
        assert one.summary.moved_back < 0.2 * one.summary.moved + 50, one.summary


JOINED_AT_ONCE = (
    "cd /sys/kernel/mm/transparent_hugepage/khugepaged && echo 50 >scan_sleep_millisecs && "
    "echo 50 >alloc_sleep_millisecs && echo 100000 >pages_to_scan"
)
"""The kernel looks every 10 s for small pages to make a huge one of, and takes minutes for all of its memory."""


@deep
@pytest.mark.parametrize("joined", [False, True])
def test_halves_of_a_huge_page_part(guest: Root, joined: bool) -> None:
    """The sampler splits what it samples: moved whole, the page would go to and fro between its two threads.

    Nor does the kernel join it again, all on one node.
    """
    # With so little memory the kernel has them only if told to.
    on = "echo always >/sys/kernel/mm/transparent_hugepage/enabled"
    # It joins pages of which none is inaccessible: few are, where sampling may cost little, and at the same time.
    seldom = placed("/bin/touching halves 60", interval=1, sampling_cpu=0.1)
    often = placed("/bin/touching halves 30", interval=1)
    commands = [f"{on} && {JOINED_AT_ONCE}" if joined else on, seldom if joined else often]
    commands += [f"grep '^thp_{what}_alloc ' /proc/vmstat" for what in ("fault", "collapse")]
    _, done, huge, again = boot(guest, [NODE] * 2, commands, concurrent=joined)
    assert int(huge.output.split()[1]) > 0, "there was a huge page"
    if joined:
        assert int(again.output.split()[1]) > 0, "the kernel joined some"
    one = ran(done)
    found = CASE.search(one.output)
    assert found, one.output
    first, second, *_ = (int(count) for count in found[3].split(","))
    assert first + second == 512
    assert 0.9 * 256 < second < 1.1 * 256, one.summary
    assert one.summary.moved_back < 0.1 * one.summary.moved, one.summary


# Each checks every one of its pages, all the time and at the end.
CHECKING = ("steady", "exit", "fork", "unmap", "mlock")


def test_no_program_is_harmed(guest: Root) -> None:
    """Whatever is seen of it, and moved: a busy machine may leave little time for that.

    Hints are the kernel's own, so that little of ours could do harm there; all cases of them are deep.
    """
    cases = [*((name, INSIDE) for name in CHECKING), *((name, HINTS) for name in CHECKING[:2])]
    commands = [placed(f"/bin/touching {name} 2", monitor=monitor, interval=0.5) for name, monitor in cases]
    balancing = "/proc/sys/kernel/numa_balancing"
    commands.insert(len(CHECKING), f"echo 1 >{balancing} && {QUICK_HINTS}")
    off, *done = boot(guest, [NODE] * 2, [f"echo 0 >{balancing}", *commands], numa_balancing=True, concurrent=True)
    hints = done.pop(len(CHECKING))
    assert (off.exit_code, hints.exit_code) == (0, 0), off.output + hints.output
    for (name, monitor), one in zip(cases, map(ran, done), strict=True):
        assert f"touching {name}" in one.output, one.output
        assert one.placed.start.monitor.name == monitor


@deep
@pytest.mark.parametrize("monitor", [INSIDE, HINTS])
def test_no_program_is_harmed_by_moves(guest: Root, monitor: str) -> None:
    hints = monitor == HINTS
    names = CHECKING
    cases = [placed(f"/bin/touching {name} 5", monitor=monitor, interval=0.5) for name in names]
    commands = [QUICK_HINTS if hints else "true", *cases]
    quick, *done = boot(guest, [NODE] * 2, commands, numa_balancing=hints, concurrent=True)
    assert quick.exit_code == 0, quick.output
    for name, one in zip(names, map(ran, done), strict=True):
        assert f"touching {name}" in one.output, one.output
        assert one.summary.samples > 0, f"{name}: {one.summary}"
        # What is written after a fork is copied, to the node of who writes; locking takes most samples' time.
        assert one.summary.moved > 0 or hints or name in {"fork", "mlock"}, f"{name}: {one.summary}"
        if found := CASE.search(one.output):
            first, second, *_ = (int(count) for count in found[3].split(","))
            # What is unmapped and mapped anew begins on the first node again.
            assert second > first or name in {"fork", "mlock", "unmap"}, f"{name}: {found[0]}"


@deep
def test_ping_pong_is_frozen(guest: Root) -> None:
    """Pages that have been there and back stay, although their thread goes on to change its node."""
    options = ("--freeze-after", "2", "--freeze-for", "1000")
    sides = [placed("/bin/touching ping-pong 30", *options, *one, interval=1) for one in (("--ignore-neighbours",), ())]
    alone, beside = (ran(done).summary for done in boot(guest, [NODE] * 2, sides))
    for one in (alone, beside):
        assert one.moved_back > 40, one
        assert one.frozen >= one.moved_back * 0.9, one
    # There are 128, each of which may move twice.
    assert alone.moved <= 2 * 128, alone
    # What lies directly around them moves along.
    assert beside.pages < 128 + 16, beside
    assert beside.moved <= 2 * beside.pages, beside


@deep
def test_a_cpuset_that_forbids_the_target(guest: Root) -> None:
    group = "/sys/fs/cgroup/first"
    prepare = (
        "mount -t cgroup2 cgroup /sys/fs/cgroup && echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control && "
        f"mkdir {group} && echo 0 >{group}/cpuset.mems && echo 0-1 >{group}/cpuset.cpus && cat {group}/cpuset.mems"
    )
    inside = "/bin/sh -c 'echo $$ >/sys/fs/cgroup/first/cgroup.procs && exec touching steady 9'"
    prepared, done = boot(
        guest, [NODE] * 2, [prepare, placed(inside, interval=1).replace("where sh", "where touching")]
    )
    assert prepared.exit_code == 0, prepared.output
    one = ran(done)
    found = CASE.search(one.output)
    assert found, one.output
    assert found[3] == "128,0,0,0", "all pages are where they were"
    assert one.summary.moved == 0, one.summary
    assert one.summary.refused["forbidden"] + one.held("forbidden") > 0, one.output


@deep
def test_attaching_leaves_no_trace(guest: Root) -> None:
    attach = (
        "touching steady 9 & sleep 1; memgraft-place --pid $! --monitor hint-faults --numa-balancing --bind-threads "
        "--interval 0.5 --duration 5 --summary /tmp/summary; echo code=$?; cat /proc/sys/kernel/numa_balancing; wait; "
        "echo SUMMARY; cat /tmp/summary"
    )
    commands = ["touching steady 2", attach]
    plain, attached = boot(guest, [NODE] * 2, commands)
    before, after = CASE.search(plain.output), CASE.search(attached.output)
    assert before
    assert after, attached.output
    assert before.groups()[3:] == after.groups()[3:] == ("2", before[5]), "CPUs and open files as without"
    assert "code=0\n0\n" in attached.output, "numa_balancing is off again"
    one = ran(attached)
    assert (one.placed.reason, one.placed.exit_code) == ("duration", None)
    assert one.summary.samples > 0


ARRAYS = re.compile(r"^arrays cpu=\d+ nodes=([\d,]+)$", re.MULTILINE)


@deep
def test_arrays_of_a_jvm_follow_their_threads(tmp_path: Path, programs: Path) -> None:
    """Threads come and go, a collector reads what is theirs, and every byte is what it should be."""
    root = Root(tmp_path / "root")
    add_jvm(root, tmp_path, programs)
    root.add(needed(NATIVE / "memgraft-place", "memgraft-place is not built", "make build"), "/bin/memgraft-place")
    heap = ["-XX:+UseSerialGC", "-Xms96m", "-Xmx96m", "-Xmn32m"]
    # All began on the first node. How soon they are where they are used is the kernel's choice, which moves eden's too.
    for milliseconds in (30_000, 90_000):
        java = ["/jdk/bin/java", *QUICK, *heap, "-cp", "/classes", "UseOwnArrays", "/libplaces.so", milliseconds, 0, 1]
        place = f"memgraft-place --interval 1 --summary /tmp/summary -- {' '.join(map(str, java))}"
        commands = [QUICK_HINTS, f"{place} && echo SUMMARY && cat /tmp/summary"]
        quick, done = boot(root, [Node(1, 512)] * 2, commands, numa_balancing=True)
        assert quick.exit_code == 0, quick.output
        one = ran(done)
        places = [[int(count) for count in nodes.split(",")] for nodes in ARRAYS.findall(one.output)]
        assert len(places) == 2, one.output
        _, second = places
        if second[1] > 0.2 * sum(second):
            break
    assert second[1] > 0.2 * sum(second), f"{one.output}{one.summary}"
    assert one.placed.start.program == "java"
    assert one.summary.samples > 1000, one.summary
    assert one.summary.unknown < 0.1 * one.summary.samples, one.summary


def on_one_node() -> bool:
    return Path("/sys/devices/system/node/online").read_text().strip() in ("", "0")


def test_one_node_has_nothing_to_place() -> None:
    if not on_one_node():
        pytest.skip("this machine has several nodes")
    told = memgraft("place", "--", "true")
    assert told.returncode == 3, told.stderr
    assert told.stderr == (
        "memgraft place: this machine has one NUMA node: there is nothing to place; `--dry-run` shows who touches "
        "which page\n"
    )


@deep
def test_one_node_has_a_profile() -> None:
    if os.geteuid() != 0:
        pytest.skip("turning kernel.numa_balancing on takes root")
    balancing = Path("/proc/sys/kernel/numa_balancing")
    if not balancing.exists():
        pytest.skip("this kernel has no NUMA balancing")
    before = balancing.read_text()
    program = [KERNELS, "cg", "--class", "A", "--threads", "2"]
    options = ["--dry-run", "--monitor", HINTS, "--numa-balancing", "--interval", "1s", "--json"]
    told = memgraft("place", *options, "--", *program)
    assert told.returncode == 0, told.stderr
    assert balancing.read_text() == before
    found = Placed.model_validate(json.loads(told.stdout), strict=False)
    assert found.start.dry_run
    assert found.summary.samples > 100, found.summary
    assert found.summary.local_after == 1, "on one node everything is"
