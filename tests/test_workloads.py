"""The programs to measure on, as a user starts them: their results on real JVMs, and what they refuse."""

import json
from pathlib import Path

import pytest
from conftest import EACH_VERSION, ROOT, Jdk, fetched_jdk, memgraft
from processes import run
from test_bytecode_engine import C1_ALONE
from tiers import deep

SPARK = ["sparkwordcount", "sparksort", "sparkaggregate", "sparkkmeans", "sparkregression"]
WORKLOADS = ["lusearch", "luindex", "h2", "xalan", "jython", "javac", "saxon", "tomcat", "churn", *SPARK]


def checksums(output: str) -> list[str]:
    return [json.loads(line)["checksum"] for line in output.splitlines()]


# A workload knows the checksum that it must come to, and fails where it comes to another.
def words_of(workload: str) -> list[str | Path]:
    return [ROOT / "bin/workload", workload, "--size", "small", "--iterations", "2"]


# The others run in tests of other files.
GATE = {"lusearch", "jython", "saxon", "tomcat"}


@pytest.mark.parametrize("workload", [pytest.param(name, marks=[] if name in GATE else [deep]) for name in WORKLOADS])
def test_workload_comes_out_right_with_a_graft(workload: str, tmp_path: Path) -> None:
    report = tmp_path / "run.json"
    grafted = memgraft("run", "--output", report, "--zeroing", "non-temporal", "--", *words_of(workload))
    assert grafted.returncode == 0, grafted.stderr
    assert len(checksums(grafted.stdout)) == 2
    # The agent is for the workload's JVM alone, not for what resolves its artifacts.
    assert len(json.loads(report.read_text())["jvms"]) == 1


@deep
@pytest.mark.parametrize("workload", WORKLOADS)
def test_workload_comes_out_right_without(workload: str) -> None:
    stock = run(words_of(workload))
    assert stock.returncode == 0, stock.stderr
    assert len(checksums(stock.stdout)) == 2


def test_every_workload_is_tested_here() -> None:
    assert sorted(WORKLOADS) == run([ROOT / "bin/workload", "--list"]).stdout.split()


def test_what_is_built_is_not_built_again() -> None:
    assert run([ROOT / "bin/workload", "--build"]).returncode == 0
    result = run([ROOT / "bin/workload", "--build"])
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_javac_runs_on_a_runtime_without_a_compiler() -> None:
    runtime = fetched_jdk("21")
    assert not (runtime.home / "bin/javac").exists()
    words = ["--size", "small", "--iterations", "1"]
    result = run([ROOT / "bin/workload", "javac", *words], JAVA_HOME=str(runtime.home))
    assert result.returncode == 0, result.stderr


@deep
@pytest.mark.parametrize("jdk", EACH_VERSION, indirect=True)
@pytest.mark.parametrize("workload", ["sparksort", "sparkkmeans", "sparkregression"])
def test_spark_comes_out_the_same_on_any_jdk_and_leaves_nothing(workload: str, jdk: Jdk, tmp_path: Path) -> None:
    """The workload itself checks that its checksum is the expected one; two threads are the tests' above."""
    words = ["--size", "small", "--iterations", "1", "--threads", "3", f"--jvm=-Djava.io.tmpdir={tmp_path}"]
    result = run([ROOT / "bin/workload", workload, *words], JAVA_HOME=str(jdk.home))
    assert result.returncode == 0, result.stderr
    [iteration] = map(json.loads, result.stdout.splitlines())
    # The executors' too, not only the driver's.
    assert iteration["worker_cpu_seconds"] > 0
    assert iteration["allocated_bytes"] > 10**7
    assert list(tmp_path.iterdir()) == []
    said = [line for line in result.stderr.splitlines() if not line.startswith(("WARNING: ", "workload: "))]
    assert said == []


def test_every_process_of_spark_has_the_graft(tmp_path: Path) -> None:
    temporary = tmp_path / "temporary files"
    temporary.mkdir()
    # What Runtime.maxMemory() says of this collector's heap is less than -Xmx and -Xms.
    jvm = ["--jvm=-XX:+UseParallelGC", f"--jvm={C1_ALONE}", f"--jvm=-Djava.io.tmpdir={temporary}"]
    words = ["--standalone", "--size", "small", "--iterations", "2", *jvm]
    report = tmp_path / "run.json"
    command = ["run", "--output", report, "--ordering", "sc", "--", ROOT / "bin/workload", "sparkwordcount", *words]
    result = memgraft(*command, JAVA_HOME=str(fetched_jdk("21").home))
    assert result.returncode == 0, result.stderr
    iterations = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(iterations) == 2
    # The executor's, not the driver's, which only waits.
    assert all(iteration["allocated_bytes"] > 10**7 for iteration in iterations)
    assert all(iteration["worker_cpu_seconds"] > 0 for iteration in iterations)
    jvms = json.loads(report.read_text())["jvms"]
    programs = sorted(jvm["program"].split()[0].rpartition(".")[2] for jvm in jvms)
    assert programs == ["CoarseGrainedExecutorBackend", "Daemon", "Daemon", "Main"]
    assert all(jvm["grafts"]["ordering"]["check"]["unsafe"] == 0 for jvm in jvms)
    assert list(temporary.iterdir()) == []


def test_standalone_says_what_it_cannot() -> None:
    for workload, jdk, expected in (
        ("xalan", "21", "xalan: --standalone: has one process only; expected a workload of Spark"),
        (
            "sparksort",
            "25",
            "sparksort: --standalone: this is Java 25; the executors of Spark 3.5 need Java 22 or older",
        ),
    ):
        result = run([ROOT / "bin/workload", workload, "--standalone"], JAVA_HOME=str(fetched_jdk(jdk).home))
        assert result.returncode == 2
        assert result.stdout == ""
        assert result.stderr.splitlines()[-1] == expected


def test_workload_says_what_it_does_not_know() -> None:
    for arguments, expected in (
        (["nosuch"], "nosuch"),
        (["churn", "--size", "huge"], "huge"),
        (["churn", "--x"], "--x"),
        (["--build", "churn"], "--build takes nothing else, found 'churn'"),
    ):
        result = run([ROOT / "bin/workload", *arguments])
        assert result.returncode == 2
        assert result.stdout == ""
        assert expected in result.stderr
