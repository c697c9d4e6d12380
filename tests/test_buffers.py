"""Hierarchical allocation buffers in real JVMs: right under heap verification, counted, and refused in one line."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, VERIFY_HEAP, Jdk, agent_options, churn, clean_environment, run

COLLECTORS = ["Serial", "Parallel", "G1"]
SMALL_TLABS = ["-XX:TLABSize=16k", "-XX:MinTLABSize=2k", "-XX:-ResizeTLAB"]
LEVELS = ["cpu:262144", "cpu:131072+node:524288", "cpu:262144,take=atomic", "none"]
Summaries = Callable[[], list[dict]]


def joined(folder: Path, options: str) -> list[str]:
    """Without the flag that zeroing needs."""
    return agent_options(folder, options)[1:]


@pytest.mark.parametrize("collector", COLLECTORS)
@pytest.mark.parametrize("levels", LEVELS)
def test_heap_is_right_under_verification(
    jdk: Jdk, collector: str, levels: str, tmp_path: Path, read_summaries: Summaries
) -> None:
    options = [f"-XX:+Use{collector}GC", "-Xms96m", "-Xmx96m", *SMALL_TLABS, *VERIFY_HEAP]
    result = run(churn(jdk, [*options, *joined(tmp_path, f"buffers={levels}")], threads=8))
    assert result.returncode == 0, result.stderr
    buffers = read_summaries()[0]["grafts"]["buffers"]
    assert buffers["collections"] > 5
    if levels == "none":
        assert buffers["levels"] == []
        assert buffers["heap"]["tlabs"] > 1000
        return
    lowest = buffers["levels"][0]
    assert lowest["taken"] > 1000
    assert 0 < lowest["refills"] < lowest["taken"] / 4
    assert lowest["taken_bytes"] > lowest["taken"] * 1000
    assert lowest["latency"]["requests"] <= lowest["taken"]
    assert 0 < lowest["latency"]["median_nanoseconds"] <= lowest["latency"]["p99_nanoseconds"]
    if lowest["take"] == "restartable":
        # Nobody takes from another CPU's: what is foreign was taken by a refiller that was moved meanwhile.
        assert lowest["foreign"] <= lowest["refills"]
    if len(buffers["levels"]) > 1:
        higher = buffers["levels"][1]
        assert higher["refills"] < lowest["refills"]
        # Each refill of the lower level is one request of the higher, but for those that the heap answered.
        assert higher["taken"] <= lowest["refills"] + buffers["heap"]["tlabs"] + lowest["contended"]


@pytest.mark.parametrize("strategy", ["bulk", "non-temporal", "windows", "concurrent", "adaptive"])
def test_zeroing_on_top(jdk: Jdk, strategy: str, tmp_path: Path, read_summaries: Summaries) -> None:
    options = ["-XX:+UseParallelGC", "-Xms96m", "-Xmx96m", *SMALL_TLABS, *VERIFY_HEAP]
    both = f"zeroing={strategy},buffers=cpu:131072+node:524288"
    result = run(churn(jdk, [*options, *agent_options(tmp_path, both)], threads=8))
    assert result.returncode == 0, result.stderr
    grafts = read_summaries()[0]["grafts"]
    assert grafts["zeroing"]["missed_tlabs"] == 0
    assert grafts["zeroing"]["bytes"] > 1_000_000
    assert grafts["buffers"]["levels"][0]["taken"] > 100


def test_under_memory_pressure(jdk: Jdk, tmp_path: Path, read_summaries: Summaries) -> None:
    options = ["-XX:+UseParallelGC", "-Xms28m", "-Xmx28m", *SMALL_TLABS, *VERIFY_HEAP]
    command = churn(jdk, [*options, *joined(tmp_path, "buffers=cpu:262144")], threads=16, iterations=1)
    result = run(command)
    assert result.returncode == 0, result.stderr
    assert read_summaries()[0]["grafts"]["buffers"]["levels"][0]["taken"] > 0


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


def test_more_levels_than_the_machine_has_are_refused(distribution_jdk: Jdk, programs: Path) -> None:
    options = ["-XX:+UseParallelGC", *joined(programs, "buffers=cpu:262144+core:524288+processor:1048576+node:2097152")]
    options[-1] = options[-1].partition(",summary=")[0]
    result = run([distribution_jdk.java, *options, "-cp", programs, "ShowJoints"])
    if result.returncode == 0:
        pytest.skip("this machine has more CPUs than cores, more cores than processors and more processors than nodes")
    assert (result.returncode, result.stdout) == (3, "")
    assert "as many" in result.stderr
    assert result.stderr.count("\n") == 1


def memgraft(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [ROOT / "bin/memgraft", *arguments]
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, env=clean_environment())


def test_run_says_what_each_level_did() -> None:
    workload = [ROOT / "bin/workload", "churn", "--jvm=-XX:+UseParallelGC", "--size", "small", "--threads", "16"]
    result = memgraft("run", "--buffers", "thread=16k,cpu=1m", "--json", "--", *workload)
    assert result.returncode == 0, result.stderr
    [jvm] = json.loads(result.stdout)["jvms"]
    [level] = jvm["grafts"]["buffers"]["levels"]
    assert (level["kind"], level["bytes"]) == ("cpu", 1048576)
    assert level["buffers"] >= len(os.sched_getaffinity(0))
    assert level["foreign_percent"] <= 0.5
    told = memgraft("run", "--buffers", "thread=16k,cpu=1m", "--", *workload)
    assert "memgraft: thread=16k,cpu=1m buffers:" in told.stderr
    assert "memgraft: cpu=1m (" in told.stderr
