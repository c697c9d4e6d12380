"""Hierarchical allocation buffers in real JVMs: right under heap verification, counted, and refused in one line."""

import json
import os
import random
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import (
    AGENT,
    CACHE,
    COLLECTORS,
    EACH_VERSION,
    ROOT,
    VERIFY_EVERYTHING,
    VERIFY_HEAP,
    Jdk,
    agent_options,
    churn,
    churn_under_verification,
    jdk_called,
    memgraft,
    system_jdk,
)
from processes import run
from tiers import combinations, deep

SMALL_TLABS = ["-XX:TLABSize=16k", "-XX:MinTLABSize=2k", "-XX:-ResizeTLAB"]
LEVELS = ["cpu:262144", "cpu:131072+node:524288,take=atomic", "auto"]
SOAK_SECONDS = float(os.environ.get("MEMGRAFT_SOAK_SECONDS", "120"))
Summaries = Callable[[], list[dict[str, Any]]]


@pytest.fixture(params=EACH_VERSION)
def jdk(request: pytest.FixtureRequest) -> Jdk:
    """One JVM of each feature version; the soak takes all that there are."""
    return jdk_called(request.param)


def joined(folder: Path, options: str) -> list[str]:
    """Without the flag that zeroing needs."""
    return agent_options(folder, options)[1:]


def handed_out(buffers: dict[str, Any]) -> int:
    """How many TLABs threads were handed: those that refilled a buffer first, and those that did not."""
    latencies = [*(level["latency"] for level in buffers["levels"]), buffers["refill_latency"]]
    return sum(latency["requests"] for latency in latencies) + buffers["heap"]["tlabs"]


@combinations(jdk=EACH_VERSION, collector=COLLECTORS, levels=LEVELS)
def test_heap_is_right_under_verification(
    jdk: Jdk, collector: str, levels: str, tmp_path: Path, read_summaries: Summaries
) -> None:
    options = [*SMALL_TLABS, *joined(tmp_path, f"buffers={levels}")]
    churn_under_verification(jdk, collector, options, threads=8)
    buffers = read_summaries()[0]["grafts"]["buffers"]
    # Some 65 MB of TLABs, of 16 KiB each at most; a buffer has 8 of them at least.
    assert buffers["collections"] >= 1
    lowest = buffers["levels"][0]
    assert lowest["taken"] > 1000
    assert 0 < lowest["refills"] < lowest["taken"] / 3
    assert lowest["taken_bytes"] > lowest["taken"] * 1000
    assert lowest["latency"]["requests"] <= lowest["taken"]
    assert 0 < lowest["latency"]["median_nanoseconds"] <= lowest["latency"]["p99_nanoseconds"]
    if lowest["take"] == "restartable":
        # Nobody takes from another CPU's: what is foreign was taken by a refiller that was moved meanwhile.
        assert lowest["foreign"] <= lowest["refills"]
    if len(buffers["levels"]) > 1:
        higher = buffers["levels"][1]
        assert higher["refills"] < lowest["refills"]
        # Each was taken for a refill of the lower level, or by a thread itself, where that level had nothing.
        by_threads = handed_out(buffers) - buffers["heap"]["tlabs"] - lowest["taken"]
        assert 0 <= by_threads < higher["taken"]
        assert higher["taken"] <= lowest["refills"] + by_threads
    for size in buffers.get("sizes", []):
        assert 0 < sum(size["decisions"].values()) <= buffers["collections"]
        assert (size["bytes"] != size["first_bytes"]) <= (size["changes"] > 0)


@combinations(
    jdk=EACH_VERSION,
    collector=COLLECTORS,
    options=["buffers=cpu:131072", "zeroing=windows", "zeroing=bulk,buffers=auto"],
    strength=1,
)
def test_heap_is_right_without_verification(
    jdk: Jdk, collector: str, options: str, tmp_path: Path, read_summaries: Summaries
) -> None:
    """Verification makes G1 call what it does not call by itself since JDK 18 (ensure_parsability)."""
    result = run(churn(jdk, [f"-XX:+Use{collector}GC", "-Xmx64m", *agent_options(tmp_path, options)], threads=6))
    assert result.returncode == 0, result.stdout[-3000:]
    assert read_summaries()[0]["state"] == "ended"


def test_without_levels_it_only_counts(distribution_jdk: Jdk, tmp_path: Path, read_summaries: Summaries) -> None:
    options = ["-XX:+UseParallelGC", "-Xmx96m", *SMALL_TLABS, *joined(tmp_path, "buffers=none")]
    result = run(churn(distribution_jdk, options))
    assert result.returncode == 0, result.stderr
    buffers = read_summaries()[0]["grafts"]["buffers"]
    assert buffers["levels"] == []
    assert buffers["heap"]["tlabs"] > 1000


@combinations(jdk=["21", "25"], collector=COLLECTORS, levels=LEVELS[:2], strength=1)
def test_without_tlabs_buffers_hand_out_objects(
    jdk: Jdk, collector: str, levels: str, tmp_path: Path, read_summaries: Summaries
) -> None:
    options = ["-XX:-UseTLAB", *joined(tmp_path, f"buffers={levels},objects")]
    churn_under_verification(jdk, collector, options, threads=8)
    buffers = read_summaries()[0]["grafts"]["buffers"]
    assert buffers["hands_out"] == "objects"
    # Each object is asked for. Where from is luck: while one thread refills a buffer, the others go to the heap.
    assert handed_out(buffers) > 500_000
    lowest = buffers["levels"][0]
    assert 0 < lowest["refills"] < lowest["taken"]
    assert lowest["taken_bytes"] < 1000 * lowest["taken"], "objects, not TLABs"


@pytest.mark.parametrize(
    ("jdk", "options", "asked", "found"),
    [
        ("21", [], "buffers=cpu:131072,objects", "found -XX:+UseTLAB"),
        ("21", ["-XX:-UseTLAB"], "buffers=cpu:131072", "found -XX:-UseTLAB"),
        ("17", ["-XX:-UseTLAB"], "buffers=cpu:131072,objects", "looked for JDK 21 or 25; found JDK 17"),
    ],
)
def test_who_has_tlabs_is_handed_tlabs_only(jdk: str, options: list[str], asked: str, found: str) -> None:
    joining = ["-XX:+UseParallelGC", *options, f"-agentpath:{AGENT}={asked}"]
    result = run([jdk_called(jdk).java, *joining, "-version"])
    assert result.returncode == 3
    assert found in result.stderr


def zeroes_at_refills(strategy: str, more: str) -> bool:
    """Some strategies zero just before use."""
    return not more or strategy not in {"windows", "adaptive"}


@combinations(
    zeroes_at_refills,
    strategy=["bulk", "non-temporal", "windows", "concurrent", "adaptive"],
    more=["", ",zero-at=refill"],
    strength=1,
)
def test_zeroing_on_top(
    distribution_jdk: Jdk, strategy: str, more: str, tmp_path: Path, read_summaries: Summaries
) -> None:
    options = ["-XX:+UseParallelGC", "-Xms96m", "-Xmx96m", *SMALL_TLABS, *VERIFY_HEAP]
    both = f"zeroing={strategy},buffers=cpu:131072+node:524288{more}"
    result = run(churn(distribution_jdk, [*options, *agent_options(tmp_path, both)], threads=8, iterations=1))
    assert result.returncode == 0, result.stderr
    grafts = read_summaries()[0]["grafts"]
    assert grafts["zeroing"]["missed_tlabs"] == 0
    assert grafts["zeroing"]["bytes"] > 1_000_000
    # What fills eden is taken from buffers; with windows a thread asks for a few large pieces between collections.
    assert grafts["buffers"]["levels"][0]["taken"] > grafts["buffers"]["collections"] > 1
    assert grafts["buffers"]["zero_at"] == ("refill" if more else "tlab")


def test_a_buffer_zeroed_at_its_refill_is_not_zeroed_again(
    distribution_jdk: Jdk, tmp_path: Path, read_summaries: Summaries
) -> None:
    options = ["-XX:+UseSerialGC", "-Xmx96m", *SMALL_TLABS]
    both = "zeroing=bulk,buffers=cpu:262144,take=atomic,zero-at=refill"
    result = run(churn(distribution_jdk, [*options, *agent_options(tmp_path, both)], threads=1))
    assert result.returncode == 0, result.stderr
    grafts = read_summaries()[0]["grafts"]
    [level] = grafts["buffers"]["levels"]
    refilled = level["refills"] * level["bytes"]
    # What no buffer served was zeroed by the TLAB, and is little; all of it zeroed twice would be 1.8 times as much.
    assert refilled <= grafts["zeroing"]["bytes"] < 1.2 * refilled
    assert level["taken_bytes"] > 0.8 * refilled


@combinations(jdk=EACH_VERSION, collector=COLLECTORS, strength=1)
def test_hotspots_own_tlab_statistics_stay_right(
    jdk: Jdk, collector: str, tmp_path: Path, read_summaries: Summaries
) -> None:
    log = tmp_path / "tlab.log"
    options = [f"-XX:+Use{collector}GC", "-Xmx64m", *SMALL_TLABS, f"-Xlog:gc+tlab=debug:file={log}"]
    # 500 MB, so that a nursery, at most the heap, is a small part of it: G1 makes it as large as it finds time for.
    result = run(churn(jdk, [*options, *joined(tmp_path, "buffers=cpu:131072")], threads=6, iterations=8))
    assert result.returncode == 0, result.stderr
    totals = re.findall(r"TLAB totals: thrds: *(\d+) +refills: *(\d+).* waste: *([\d.]+)%", log.read_text())
    assert len(totals) > 5
    counted = handed_out(read_summaries()[0]["grafts"]["buffers"])
    told = sum(int(refills) for _, refills, _ in totals)
    # HotSpot tells at each collection; after the last one there is at most a nursery of TLABs.
    assert told <= counted <= told + 64 * 2**20 / 2048
    assert told > 0.8 * counted
    assert all(0 <= float(waste) < 100 for _, _, waste in totals)


@combinations(jdk=EACH_VERSION, strength=0)
def test_flight_recorder_sees_the_tlabs_that_were_handed_out(
    jdk: Jdk, tmp_path: Path, read_summaries: Summaries
) -> None:
    if not (jdk.home / "bin/jfr").exists():
        pytest.skip(f"no jfr in {jdk.home}")
    settings = tmp_path / "tlabs.jfc"
    settings.write_text(
        '<configuration version="2.0"><event name="jdk.ObjectAllocationInNewTLAB">'
        '<setting name="enabled">true</setting></event></configuration>'
    )
    recording = tmp_path / "churn.jfr"
    options = ["-XX:+UseParallelGC", "-Xmx64m", *SMALL_TLABS]
    options += [f"-XX:StartFlightRecording:settings={settings},filename={recording},dumponexit=true"]
    result = run(churn(jdk, [*options, *joined(tmp_path, "buffers=cpu:131072")], threads=4, iterations=2))
    assert result.returncode == 0, result.stderr
    jfr = [jdk.home / "bin/jfr", "-J-XX:TieredStopAtLevel=1"]
    shown = run([*jfr, "print", "--json", "--events", "jdk.ObjectAllocationInNewTLAB", recording])
    events = [event["values"] for event in json.loads(shown.stdout)["recording"]["events"]]
    counted = handed_out(read_summaries()[0]["grafts"]["buffers"])
    # Those of the JVM's first and last moments are not recorded: 1,100, however long the program runs.
    assert 0.8 * counted < len(events) <= counted
    assert all(event["allocationSize"] <= event["tlabSize"] for event in events)
    # HotSpot asks for the TLAB and the object that did not fit into the last one; of that a buffer gives a quarter at
    # least, the heap itself what is left of it.
    sizes = sorted(event["tlabSize"] for event in events)
    assert sizes[len(sizes) // 20] >= 16384 / 4
    assert 16384 <= sizes[len(sizes) // 2] < 2 * 16384


@combinations(jdk=EACH_VERSION, strength=0)
def test_under_memory_pressure(jdk: Jdk, tmp_path: Path, read_summaries: Summaries) -> None:
    # Each thread may hold 8 MiB of large arrays at once, which an eden of 3 MiB leaves to the old generation's 28 MiB.
    options = ["-XX:+UseParallelGC", "-Xms32m", "-Xmx32m", "-Xmn4m", *SMALL_TLABS, *VERIFY_HEAP]
    command = churn(jdk, [*options, *joined(tmp_path, "buffers=cpu:262144")], threads=3, iterations=1)
    result = run(command)
    assert result.returncode == 0, result.stderr
    assert read_summaries()[0]["grafts"]["buffers"]["levels"][0]["taken"] > 0


def allocating(jdk: Jdk, options: list[str], programs: Path) -> subprocess.Popen[str]:
    """A JVM that allocates on two threads until it is told something on its standard input."""
    command = [jdk.java, *options, "-cp", programs, "AllocateUntilTold"]
    process = subprocess.Popen(
        [str(word) for word in command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "allocating\n"
    return process


@combinations(jdk=EACH_VERSION, collector=["Parallel", "G1"], strength=1)
def test_walks_and_dumps_of_the_running_heap(
    jdk: Jdk, collector: str, programs: Path, tmp_path: Path, read_summaries: Summaries
) -> None:
    options = [f"-XX:+Use{collector}GC", "-Xmx96m", *SMALL_TLABS, *joined(tmp_path, "buffers=cpu:131072+node:524288")]
    process = allocating(jdk, options, programs)
    dump = tmp_path / "heap.hprof"
    # -all walks the heap as it is; without, it is collected first.
    for which in (["-all"], []):
        for command in (["GC.class_histogram", *which], ["GC.heap_dump", *which, str(dump)]):
            asked = run([jdk.home / "bin/jcmd", str(process.pid), *command])
            assert asked.returncode == 0, asked.stdout + asked.stderr
        assert dump.stat().st_size > 100_000
        dump.unlink()
    said, _ = process.communicate("enough\n")
    assert process.returncode == 0, said
    assert "every node intact" in said
    assert read_summaries()[0]["grafts"]["buffers"]["levels"][0]["taken"] > 100


def test_a_crash_leaves_nothing_behind_but_the_summary(
    distribution_jdk: Jdk, programs: Path, tmp_path: Path, read_summaries: Summaries
) -> None:
    options = ["-XX:+UseParallelGC", "-Xmx96m", "-XX:-CreateCoredumpOnCrash", f"-XX:ErrorFile={tmp_path}/error.log"]
    process = allocating(distribution_jdk, [*options, *joined(tmp_path, "buffers=cpu:131072")], programs)
    said, _ = process.communicate("crash\n")
    assert process.returncode == 1, said
    assert "SIGSEGV" in (tmp_path / "error.log").read_text()
    [summary] = read_summaries()
    assert summary["state"] == "running"


def soaked(draw: random.Random) -> tuple[Jdk, list[str], str, int]:
    """Some JVM, collector, sizes, levels and number of threads."""
    fetched = [Jdk(home) for version in (17, 21, 25) for home in CACHE.glob(f"temurin-{version}.*")]
    jdk = draw.choice([system_jdk(), *fetched])
    collector = draw.choice(COLLECTORS)
    tlab = draw.choice([2, 4, 16, 64])
    options = [f"-XX:+Use{collector}GC", f"-Xmx{draw.choice([32, 64, 128])}m", f"-XX:TLABSize={tlab}k"]
    options += ["-XX:-ResizeTLAB", *VERIFY_EVERYTHING]
    lowest = tlab * 1024 * draw.choice([1, 4, 16])
    if collector == "G1":
        lowest = min(lowest, 128 * 1024)  # four times as much is half of the smallest region
    levels = draw.choice(["auto", f"cpu:{lowest}", f"cpu:{lowest}+node:{lowest * 4}", f"node:{lowest}"])
    agent = f"buffers={levels}" + draw.choice(["", ",take=atomic"])
    if draw.random() < 0.5:
        strategies = ["bulk", "non-temporal", "windows"] + (["concurrent"] if collector != "G1" else [])
        strategy = draw.choice(strategies)
        refill = strategy != "windows" and draw.random() < 0.5
        agent = f"zeroing={strategy},{agent}" + (",zero-at=refill" if refill else "")
        options.append("-XX:+ZeroTLAB")
    return jdk, options, agent, draw.choice([1, 2, 5, 16, 40])


@deep
def test_soak(tmp_path: Path, read_summaries: Summaries) -> None:
    """Two minutes of anything under heap verification; `make soak` makes it thirty."""
    seed = random.randrange(2**32)  # noqa: S311
    draw = random.Random(seed)  # noqa: S311
    end = time.monotonic() + SOAK_SECONDS
    runs = 0
    while time.monotonic() < end:
        jdk, options, agent, threads = soaked(draw)
        result = run(churn(jdk, [*options, *joined(tmp_path, agent)], threads=threads))
        told = f"seed {seed}, run {runs}: {jdk.home.name} {' '.join(options)} {agent}, {threads} threads"
        assert result.returncode == 0, f"{told}\n{result.stderr[-2000:]}"
        runs += 1
        summaries = read_summaries()
        assert len(summaries) == runs, told
        for summary in summaries:
            assert summary["state"] == "ended", told
            assert summary["grafts"].get("zeroing", {}).get("missed_tlabs", 0) == 0, told
            assert handed_out(summary["grafts"]["buffers"]) > 0, told
    print(f"{runs} runs, seed {seed}")
    assert runs > 2


def test_buffers_larger_than_a_region_are_refused_on_g1(distribution_jdk: Jdk, programs: Path) -> None:
    options = ["-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m", *joined(programs, "buffers=cpu:1048576")]
    options[-1] = options[-1].partition(",summary=")[0]
    result = run([distribution_jdk.java, *options, "-cp", programs, "ShowJoints"])
    assert (result.returncode, result.stdout) == (3, "")
    assert (
        "looked for buffers that fit into half a region of G1, 524288 bytes; found cpu buffers of 1048576"
        in result.stderr
    )
    assert result.stderr.count("\n") == 1


def test_buffers_fit_themselves_into_regions_that_nobody_asked_for(jdk: Jdk, tmp_path: Path) -> None:
    """A default JVM of a small machine: regions of 1 MiB."""
    workload = [ROOT / "bin/workload", "churn", "--jvm=-XX:+UseG1GC", "--size", "small", "--iterations", "1"]
    report = tmp_path / "run.json"
    words = ["run", "--buffers", "thread=64k,cpu=768k,node=3m", "--output", report]
    told = memgraft(*words, "--", *workload, JAVA_HOME=str(jdk.home))
    if "as many: 1" in told.stderr:
        pytest.skip("this machine has one CPU for one node")
    assert told.returncode == 0, told.stderr
    fitted = "cpu=512k instead of 768k, node=512k instead of 3m: half of a G1 region, as HotSpot chose it"
    assert fitted in " ".join(told.stderr.split())
    [jvm] = json.loads(report.read_text())["jvms"]
    levels = jvm["grafts"]["buffers"]["levels"]
    assert [(level["bytes"], level["asked_bytes"]) for level in levels] == [(2**19, 3 * 2**18), (2**19, 3 * 2**20)]
    assert all(level["taken"] > 0 for level in levels)


def test_more_levels_than_the_machine_has_are_refused(distribution_jdk: Jdk, programs: Path) -> None:
    options = ["-XX:+UseParallelGC", *joined(programs, "buffers=cpu:262144+core:524288+processor:1048576+node:2097152")]
    options[-1] = options[-1].partition(",summary=")[0]
    result = run([distribution_jdk.java, *options, "-cp", programs, "ShowJoints"])
    if result.returncode == 0:
        pytest.skip("this machine has more CPUs than cores, more cores than processors and more processors than nodes")
    assert (result.returncode, result.stdout) == (3, "")
    assert "as many" in result.stderr
    assert result.stderr.count("\n") == 1


def test_tlabs_switched_off_are_refused(distribution_jdk: Jdk, programs: Path) -> None:
    options = ["-XX:-UseTLAB", *joined(programs, "buffers=cpu:1048576")]
    options[-1] = options[-1].partition(",summary=")[0]
    result = run([distribution_jdk.java, *options, "-cp", programs, "ShowJoints"])
    assert (result.returncode, result.stdout) == (3, "")
    assert "looked for -XX:+UseTLAB; found -XX:-UseTLAB; remove that option" in result.stderr
    assert result.stderr.count("\n") == 1


CHURN = [ROOT / "bin/workload", "churn", "--jvm=-XX:+UseParallelGC", "--size", "small", "--threads", "16"]


def level_of_churn() -> dict:
    """What the one level of 16 threads' buffers did."""
    result = memgraft("run", "--buffers", "thread=16k,cpu=1m", "--json", "--", *CHURN)
    assert result.returncode == 0, result.stderr
    [jvm] = json.loads(result.stdout)["jvms"]
    [level] = jvm["grafts"]["buffers"]["levels"]
    return level


@deep
def test_hardly_any_request_is_foreign() -> None:
    """Only a thread that is moved to another CPU while it refills a buffer takes from another CPU's."""
    assert level_of_churn()["foreign_percent"] <= 0.5


def test_run_says_what_each_level_did() -> None:
    level = level_of_churn()
    assert (level["kind"], level["bytes"]) == ("cpu", 1048576)
    assert level["buffers"] >= len(os.sched_getaffinity(0))
    assert level["foreign_percent"] == pytest.approx(100 * level["foreign"] / level["taken"], abs=0.01)
    told = memgraft("run", "--buffers", "thread=16k,cpu=1m", "--", *CHURN)
    assert "memgraft: thread=16k,cpu=1m buffers:" in told.stderr
    assert "memgraft: cpu=1m (" in told.stderr
