"""Fences only where objects are shared, in real JVMs: races, switches under attack, every way to a field, programs."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import EACH_VERSION, ROOT, Jdk, jdk_called, memgraft
from processes import run
from test_bytecode_engine import C1_ALONE, COLLECTORS, JAR, collecting, each_program
from test_ordering import FEW, LITMUS, SEEN_REORDERED
from tiers import combinations, deep, on_each_jdk

SPECULATIVE = ["--ordering", "speculative"]
DOORS = "sb/reflection,sb/handle-*,sb/lazyset,escape/*"
"""Races through whatever gets at a field without an instruction that could have a check; and with young objects."""

two_cpus = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one CPU: threads that never run at the same time reorder nothing"
)


@pytest.fixture(params=EACH_VERSION)
def jdk(request: pytest.FixtureRequest) -> Jdk:
    return jdk_called(request.param)


def speculated(report: Path, *command: str | Path, **changes: str) -> tuple[Any, str]:
    """Runs it; what the agent says of speculation in the one JVM, and what was printed."""
    done = memgraft("run", *SPECULATIVE, "--output", report, "--", *command, **changes)
    assert done.returncode == 0, done.stdout + done.stderr
    [jvm] = json.loads(report.read_text())["jvms"]
    found = jvm["grafts"]["bytecode"]
    assert found["checked_classes"] == found["classes"] > 500
    assert found["unfenced"] == found["failed"] == 0, found
    assert "failed_checks" not in found["speculation"]
    return found["speculation"], done.stdout


def compiled(folder: Path, name: str) -> list[str | Path]:
    """The command that runs a program of tests/programs."""
    source = ROOT / f"tests/programs/{name}.java"
    assert run(["javac", "-d", folder / name, source]).returncode == 0
    return ["java", "-cp", folder / name, name]


@on_each_jdk(in_the_gate="21")
def test_races_are_in_order(jdk: Jdk, tmp_path: Path) -> None:
    some = "sb/field-int,sb/array-byte,sb/reflection,sb/handle-plain,sb/lazyset,escape/constructor,escape/superclass"
    races = [LITMUS, "--tests", some, "--rounds", "3000", "--expect", "sc"]
    found, _ = speculated(tmp_path / "report.json", *races, JAVA_HOME=str(jdk.home))
    reasons = set(found["switched_classes"].values())
    assert reasons == {"another thread than the owner", "reflection, or a handle, knows a field"}


@deep
@two_cpus
@combinations(jdk=EACH_VERSION, collector=COLLECTORS)
def test_whatever_was_seen_reordered_is_in_order(jdk: Jdk, collector: str, tmp_path: Path) -> None:
    option = f"--jvm={collecting(jdk, collector)}"
    races = [LITMUS, option, "--tests", SEEN_REORDERED, "--rounds", "100000", "--expect", "sc"]
    speculated(tmp_path / "report.json", *races, JAVA_HOME=str(jdk.home))


@deep
@pytest.mark.parametrize("executor", ["interpreter", "c1", "c2"])
def test_races_are_in_order_in_each_executor(executor: str, tmp_path: Path) -> None:
    races = [LITMUS, "--tests", f"{FEW},{DOORS}", "--rounds", "30000", "--executor", executor, "--expect", "sc"]
    speculated(tmp_path / "report.json", *races)


@on_each_jdk(in_the_gate="distribution")
def test_an_object_that_stays_with_its_thread_has_no_fences_and_any_other_has(jdk: Jdk, tmp_path: Path) -> None:
    command = compiled(tmp_path, "ShareObjects")
    found, printed = speculated(tmp_path / "report.json", jdk.java, C1_ALONE, *command[1:])
    assert printed == "200028\n"
    switched = {name.removeprefix("ShareObjects$"): why for name, why in found["switched_classes"].items()}
    for name in ("Passed", "Inherited", "Cloned"):
        assert switched.pop(name) == "another thread than the owner", name
    for name in ("Reflected", "ByHandle", "ByVarHandle", "Serialized"):
        assert switched.pop(name) == "reflection, or a handle, knows a field", name
    assert switched == {}
    # Those and the two that stay: Stays, Inherits.
    assert (found["classes"], found["switched"], found.get("ended")) == (9, 7, None)


def test_many_classes_may_be_serializable(tmp_path: Path) -> None:
    """Each gets its default version while it is rewritten, however many digests the JDK has made by then."""
    classes = [f"  static class S{number} implements java.io.Serializable {{ int value = 1; }}" for number in range(40)]
    made = [f"    sum += new S{number}().value;" for number in range(40)]
    main = [
        "  public static void main(String[] none) {",
        "    int sum = 0;",
        *made,
        "    System.out.println(sum);",
        "  }",
    ]
    source = tmp_path / "Serializables.java"
    source.write_text("\n".join(["class Serializables {", *classes, *main, "}"]))
    assert run(["javac", "-d", tmp_path, source]).returncode == 0
    found, printed = speculated(tmp_path / "report.json", "java", C1_ALONE, "-cp", tmp_path, "Serializables")
    assert printed == "40\n"
    assert found["classes"] == 40


def test_native_code_ends_it(tmp_path: Path) -> None:
    jdk = jdk_called("distribution")
    library = jdk.home / "lib/libprefs.so"
    command = [*compiled(tmp_path, "ShareObjects"), library]
    found, printed = speculated(tmp_path / "report.json", jdk.java, C1_ALONE, *command[1:])
    assert printed == "200028\n"
    assert found["ended"] == f"native code in {library}"
    assert found["switched"] == found["classes"]


# With -Xint the agent itself would be interpreted, which takes a minute.
NOT_COMPILED = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,SwitchWhileRunning*::*"]
OF_EXECUTORS = {"interpreter": NOT_COMPILED, "c1": [C1_ALONE], "all": []}


@on_each_jdk(in_the_gate="25")
@pytest.mark.parametrize("executor", [pytest.param("interpreter", marks=deep), pytest.param("c1", marks=deep), "all"])
def test_a_switch_reaches_code_that_is_running(jdk: Jdk, executor: str, tmp_path: Path) -> None:
    command = compiled(tmp_path, "SwitchWhileRunning")
    found, _ = speculated(tmp_path / "report.json", jdk.java, *OF_EXECUTORS[executor], *command[1:], "10")
    assert found["switched"] >= 10


@deep
def test_switches_under_attack(jdk: Jdk, tmp_path: Path) -> None:
    command = compiled(tmp_path, "SwitchWhileRunning")
    found, _ = speculated(tmp_path / "report.json", jdk.java, *command[1:], "300")
    assert found["switched"] >= 300


@deep
@two_cpus
def test_without_switches_the_same_code_is_reordered(tmp_path: Path) -> None:
    """The attack can succeed: in each round the owner stores and loads some 100,000 times without a fence.

    On two CPUs 52 of 100 rounds showed it, and 1 of 5 while others kept the CPUs busy: that not one of 100 does is less
    likely than 1 in 10,000.
    """
    command = compiled(tmp_path, "SwitchWhileRunning")
    done = run([command[0], f"-javaagent:{JAR}=speculate=never-switch", *command[1:], "100"])
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.endswith(" of 100 rounds were not sequentially consistent\n")


def comes_to_its_right_result(jdk: Jdk, workload: str, report: Path, *options: str) -> None:
    words = [ROOT / "bin/workload", workload, *options, "--size", "small", "--iterations", "1"]
    found, _ = speculated(report, *words, JAVA_HOME=str(jdk.home))
    assert found["classes"] > found["switched"] > 0


def test_a_program_comes_to_its_right_result(tmp_path: Path) -> None:
    comes_to_its_right_result(jdk_called("25"), "h2", tmp_path / "report.json", f"--jvm={C1_ALONE}")


@each_program()
def test_programs_come_to_their_right_result(jdk: Jdk, workload: str, tmp_path: Path) -> None:
    comes_to_its_right_result(jdk, workload, tmp_path / "report.json")


def test_it_goes_with_nothing_that_says_which_accesses_are_in_order(tmp_path: Path) -> None:
    file = tmp_path / "only"
    file.write_text("org.example.Server.stopped\n")
    done = memgraft("run", *SPECULATIVE, "--only", file, "--", "java", "-version")
    assert done.returncode == 2
    assert f"--only {file}: --ordering speculative has no only" in done.stderr
    done = run(["java", f"-javaagent:{JAR}=speculate,weak=1", "-version"])
    assert done.returncode == 2
    assert done.stderr == (
        "memgraft: the ordering agent's options 'speculate,weak=1': expected speculate without only, observe or weak\n"
    )
