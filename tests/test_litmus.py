"""The litmus tests as people run them: they show what an unmodified JVM reorders, and know what it does not."""

import json
import os
import re

import pytest
from conftest import ROOT, Jdk
from processes import run
from tiers import deep

LITMUS = ROOT / "bin/litmus"

two_cpus = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one CPU: threads that never run at the same time reorder nothing"
)


@deep
@two_cpus
def test_unmodified_jvm_reorders_store_buffering_everywhere(jdk_of_each_version: Jdk) -> None:
    done = run(
        [LITMUS, "--tests", "sb", "--executor", "c2", "--rounds", "200000", "--expect", "reordered", "--json"],
        JAVA_HOME=str(jdk_of_each_version.home),
    )
    assert done.returncode == 0, done.stderr
    tests = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(tests) > 15
    for test in tests:
        assert test["compiled"], test
        assert sum(outcome["count"] for outcome in test["outcomes"]) == test["rounds"]
        assert (test["not_sc"] == 0) == (test["location"] in {"volatile-int", "reflected-array"}), test
        # x86 has store buffers, and two threads of one load each give a compiler nothing else to show.
        assert {o["outcome"] for o in test["outcomes"] if o["grade"] != "sc"} <= {"r0=0 r1=0"}


@deep
@two_cpus
def test_unmodified_jvm_shows_nothing_that_its_model_forbids(jdk_of_each_version: Jdk) -> None:
    java = {"JAVA_HOME": str(jdk_of_each_version.home)}
    done = run([LITMUS, "--rounds", "100000", "--expect", "java", "--json"], **java)
    assert done.returncode == 0, done.stderr
    tests = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(tests) > 300
    for test in tests:
        # Sequential consistency is more than the model asks for.
        assert test["not_java"] == 0, test
        assert all(outcome["java"] for outcome in test["outcomes"]), test


@deep
@two_cpus
@pytest.mark.parametrize("executor", ["interpreter", "c1"])
def test_expecting_sc_fails_where_it_is_not(executor: str) -> None:
    reordered = run([LITMUS, "--tests", "sb/field-int", "--executor", executor, "--expect", "reordered"])
    assert reordered.returncode == 0, reordered.stderr
    # A run of so many rounds has never been without; should the machine have only one CPU to give, try again.
    for _ in range(5):
        done = run([LITMUS, "--tests", "sb/field-int,sb/volatile-int", "--executor", executor, "--expect", "sc"])
        if done.returncode != 0:
            break
    assert done.returncode == 1
    assert done.stderr == "litmus: --expect sc: outcomes that are not SC of sb/field-int\n"


def test_the_interpreter_alone_runs_what_is_raced() -> None:
    """What meets and counts is compiled beside it, and must not take the tests' methods into itself."""
    told = ["--jvm=-Xbatch", "--jvm=-XX:+UnlockDiagnosticVMOptions", "--jvm=-XX:+PrintInlining"]
    races = ["--tests", "sb/field-int,coww,dekker", "--rounds", "300000"]
    done = run([LITMUS, *told, *races, "--executor", "interpreter", "--json"])
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    tests = [json.loads(line) for line in lines if line.startswith("{")]
    assert len(tests) == 4
    assert all(test["compiled"] for test in tests), tests
    calls = [line for line in lines if re.search(r"(Race_\w+|HandWritten)::(sweep|finals|reset|fresh) ", line)]
    assert any("::sweep" in line for line in calls)
    assert all("disallowed by CompileCommand" in line for line in calls), calls


def test_all_is_every_executor_in_its_own_jvm() -> None:
    done = run(
        [LITMUS, "--tests", "sb/volatile-int", "--executor=all", "--rounds", "10000", "--expect", "sc", "--json"]
    )
    assert done.returncode == 0, done.stderr
    executors = [json.loads(line)["executor"] for line in done.stdout.splitlines()]
    assert executors == ["interpreter", "c1", "c2"]


def test_environment_reaches_the_jvm_but_not_what_builds_it() -> None:
    done = run([LITMUS, "--list"], JAVA_TOOL_OPTIONS="-Xlog:startuptime-is-no-tag")
    assert done.returncode == 1
    assert "startuptime-is-no-tag" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--tests", "sbb"], "'sbb'"),
        (["--executor", "c3"], "'c3'"),
        (["--executor"], "--executor"),
        (["--rounds", "0"], "--rounds"),
        (["--jvm", "-Xint"], "--jvm"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], named: str) -> None:
    done = run([LITMUS, *arguments])
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert named in lines[0]
    assert lines[0].startswith("litmus: ")


def test_help_and_list_say_what_there_is() -> None:
    assert "--expect reordered" in run([LITMUS, "--help"]).stdout
    listed = run([LITMUS, "--list", "--tests", "mp/field-*"]).stdout.splitlines()
    assert [line.split()[0] for line in listed][:2] == ["mp/field-int", "mp/field-long"]
