"""The agent for AArch64 in a JVM of that architecture, under QEMU's user mode: right there, never measured."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import JDKS_AARCH64, VERIFY_HEAP
from processes import run
from tiers import combinations

from memgraft.grafts.table import GRAFTS, ORDERING

HEAP = ["-Xms48m", "-Xmx48m", "-XX:TLABSize=16k", "-XX:MinTLABSize=2k", "-XX:-ResizeTLAB"]
MEGABYTES = 60
EACH_AARCH64 = ["21", "25"]
"""JVMs that there are for it."""
# What ordering needs of the JVM's options.
ORDERED = next(graft.jvm_options for graft in GRAFTS if graft.name == ORDERING)
Summaries = Callable[[], list[dict[str, Any]]]


def allocating(programs: Path) -> list[str | Path]:
    return ["-cp", programs, "AllocateSteadily", str(MEGABYTES)]


@pytest.fixture(scope="module")
def stock_output(java_aarch64: list[str | Path], programs: Path) -> str:
    """What the program prints without the agent."""
    stock = run([*java_aarch64, "-XX:+UseSerialGC", *allocating(programs)])
    assert stock.returncode == 0, stock.stderr
    return stock.stdout


@combinations(collector=["Serial", "Parallel", "G1"], java_aarch64=EACH_AARCH64, strength=1)
def test_buffers_under_heap_verification(
    agent_aarch64: Path,
    java_aarch64: list[str | Path],
    stock_output: str,
    collector: str,
    programs: Path,
    tmp_path: Path,
    read_summaries: Summaries,
) -> None:
    jvm = [f"-XX:+Use{collector}GC", *HEAP, *VERIFY_HEAP]
    # A G1 of this size has regions of 1 MiB, and a buffer has half of one at most.
    levels = "core:262144"
    grafted = run(
        [*java_aarch64, *jvm, f"-agentpath:{agent_aarch64}=buffers={levels},summary={tmp_path}", *allocating(programs)]
    )
    assert grafted.returncode == 0, grafted.stderr
    assert grafted.stdout == stock_output
    [summary] = read_summaries()
    assert summary["state"] == "ended"
    assert summary["jvm"]["libjvm"].startswith(str(JDKS_AARCH64))
    buffers = summary["grafts"]["buffers"]
    [level] = buffers["levels"]
    assert level["taken_bytes"] > 0.5 * MEGABYTES * 2**20
    assert level["refills"] > 100
    assert level["take"] == "atomic"
    assert buffers["collections"] > 2


def test_a_call_that_cannot_be_checked_is_refused(
    agent_aarch64: Path, java_aarch64: list[str | Path], programs: Path, tmp_path: Path, read_summaries: Summaries
) -> None:
    """Zeroing lives on libjvm's call of memset, and there is no decoder for this instruction set's calls."""
    jvm = ["-XX:+UseParallelGC", *HEAP, "-XX:+ZeroTLAB"]
    result = run(
        [*java_aarch64, *jvm, f"-agentpath:{agent_aarch64}=zeroing=bulk,summary={tmp_path}", *allocating(programs)]
    )
    assert result.returncode == 3, result.stderr
    assert result.stdout == ""
    [summary] = read_summaries()
    assert summary["state"] == "refused"
    assert "one call of memset" in str(summary)


@combinations(java_aarch64=EACH_AARCH64, strength=1)
def test_what_each_graft_says_of_the_jvm(agent_aarch64: Path, java_aarch64: list[str | Path], tmp_path: Path) -> None:
    result = run(
        [
            *java_aarch64,
            *ORDERED,
            "-XX:+UseParallelGC",
            f"-agentpath:{agent_aarch64}=check,summary={tmp_path}",
            "-version",
        ]
    )
    assert result.returncode == 0, result.stderr
    [check] = [json.loads(file.read_text()) for file in tmp_path.glob("check-*.json")]
    assert check["jvm"]["libjvm"].startswith(os.fspath(JDKS_AARCH64))
    assert check["grafts"]["ordering"]["available"]
    assert not check["grafts"]["zeroing"]["available"]
