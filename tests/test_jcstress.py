"""Samples of jcstress as people run them, without the graft and with it. jcstress starts JVMs of its own."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Jdk, memgraft
from processes import run
from tiers import deep

JCSTRESS = ROOT / "bin/jcstress"
DEKKER = ["--tests", "*.PlainDekker", "--unsplit", "--json"]

two_cpus = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one CPU: threads that never run at the same time reorder nothing"
)


def only(printed: str) -> Any:
    [line] = [line for line in printed.splitlines() if line.startswith("{")]
    return json.loads(line)


@deep
@two_cpus
def test_what_is_reordered_without_the_graft_is_not_with_it(distribution_jdk: Jdk, tmp_path: Path) -> None:
    home = {"JAVA_HOME": str(distribution_jdk.home)}
    stock = run([JCSTRESS, *DEKKER, "--expect", "reordered"], **home)
    assert stock.returncode == 0, stock.stderr
    report = tmp_path / "report.json"
    options = ["--ordering", "sc", "--output", report, "--"]
    grafted = memgraft("run", *options, JCSTRESS, *DEKKER, "--expect", "sc", **home)
    assert grafted.returncode == 0, grafted.stderr
    assert only(grafted.stdout)["not_sc"] == 0 < only(stock.stdout)["not_sc"]
    assert only(grafted.stdout)["runs"] == only(stock.stdout)["runs"]
    # The graft was in the JVMs that jcstress started, not in its own alone.
    jvms = [jvm["grafts"]["ordering"] for jvm in json.loads(report.read_text())["jvms"]]
    assert len(jvms) > only(grafted.stdout)["runs"]
    assert sum(jvm["check"]["methods"] > 0 for jvm in jvms) > 2


@deep
@two_cpus
def test_expecting_sc_fails_where_it_is_not(distribution_jdk: Jdk) -> None:
    done = run([JCSTRESS, *DEKKER, "--expect", "sc"], JAVA_HOME=str(distribution_jdk.home))
    assert done.returncode == 1
    assert "which is not sequentially consistent" in done.stderr


def test_wrong_usage() -> None:
    done = run([JCSTRESS, "--tests", "nothing"])
    assert done.returncode == 2
    assert "--tests nothing: no such sample" in done.stderr
