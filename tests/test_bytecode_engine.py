"""Sequential consistency by rewriting bytecode, in real JVMs: litmus tests, any collector, real programs, refusals."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import EACH_VERSION, ROOT, Jdk, fetched_jdk, jdk_called, memgraft
from processes import run
from test_ordering import LITMUS, SEEN_REORDERED
from tiers import combinations, deep

JAR = ROOT / "memgraft/native/memgraft-ordering.jar"
COLLECTORS = ["Serial", "Parallel", "G1", "Z", "Shenandoah"]
ENGINE = ["--ordering", "sc", "--engine", "bytecode"]
C1_ALONE = "-XX:TieredStopAtLevel=1"
"""For programs that are soon over: C2 spends three times as long on the agent's own code as they take."""

two_cpus = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one CPU: threads that never run at the same time reorder nothing"
)


@pytest.fixture(params=EACH_VERSION)
def jdk(request: pytest.FixtureRequest) -> Jdk:
    return jdk_called(request.param)


def rewritten(report: Path, *command: str | Path, **changes: str) -> Any:
    """Runs it with the engine; what its agent says of the one JVM that is the program's."""
    done = memgraft("run", *ENGINE, "--output", report, "--", *command, **changes)
    assert done.returncode == 0, done.stdout + done.stderr
    [jvm] = json.loads(report.read_text())["jvms"]
    found = jvm["grafts"]["bytecode"]
    assert found["checked_classes"] == found["classes"] > 500
    assert found["unfenced"] == found["failed"] == 0, found
    assert all(found["fences"].values()), found
    return found


def collecting(jdk: Jdk, collector: str) -> str:
    """The option for it, where the JVM has it."""
    option = f"-XX:+Use{collector}GC"
    if run([jdk.java, option, "-version"]).returncode != 0:
        pytest.skip(f"{jdk.home} has no {collector} collector")
    return option


@combinations(jdk=EACH_VERSION, collector=COLLECTORS, strength=1)
def test_races_are_in_order_under_any_collector(jdk: Jdk, collector: str, tmp_path: Path) -> None:
    jvm = [f"--jvm={collecting(jdk, collector)}", f"--jvm={C1_ALONE}"]
    races = [LITMUS, *jvm, "--tests", "sb/array-byte,sb/hidden-int", "--rounds", "3000", "--expect", "sc"]
    found = rewritten(tmp_path / "report.json", *races, JAVA_HOME=str(jdk.home))
    assert found["hidden_classes"] > 0


@deep
@two_cpus
@combinations(jdk=EACH_VERSION, collector=COLLECTORS)
def test_whatever_was_seen_reordered_is_in_order(jdk: Jdk, collector: str, tmp_path: Path) -> None:
    option = f"--jvm={collecting(jdk, collector)}"
    races = [LITMUS, option, "--tests", SEEN_REORDERED, "--rounds", "300000", "--expect", "sc"]
    rewritten(tmp_path / "report.json", *races, JAVA_HOME=str(jdk.home))


@pytest.mark.parametrize("executor", [pytest.param("interpreter", marks=deep), "c1", pytest.param("c2", marks=deep)])
def test_races_are_in_order_in_each_executor(executor: str, tmp_path: Path) -> None:
    """Without the check: the agent itself would be interpreted, or compiled by C2 alone, and take long for it."""
    tests = "sb/array-byte,escape/superclass"
    jvm = [f"--jvm=-javaagent:{JAR}=summary={tmp_path}", "--jvm=-Xbatch"]
    done = run([LITMUS, *jvm, "--tests", tests, "--rounds", "300", "--executor", executor, "--expect", "sc"])
    assert done.returncode == 0, done.stdout + done.stderr
    [summary] = tmp_path.glob("jvm-*.json")
    found = json.loads(summary.read_text())["grafts"]["bytecode"]
    assert found["failed"] == 0
    assert all(found["fences"].values()), found


def test_a_method_that_its_fences_make_large_is_compiled(tmp_path: Path) -> None:
    """HotSpot compiles none of 8,000 bytes and more: this one has 7,000 bytes without its fences."""
    steps = "\n".join(["    x += y;"] * 700)
    (tmp_path / "Large.java").write_text(
        f"""
        class Large {{
          static int x, y = 1;

          static void work() {{
        {steps}
          }}

          public static void main(String[] arguments) {{
            for (int i = 0; i < 10_000; i++) {{
              work();
            }}
            System.out.println("came to " + x);
          }}
        }}
        """
    )
    assert run(["javac", "-d", tmp_path, tmp_path / "Large.java"]).returncode == 0
    java = ["java", "-Xbatch", C1_ALONE, "-XX:+PrintCompilation", "-cp", tmp_path, "Large"]
    done = memgraft("run", *ENGINE, "--", *java)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "came to 7000000" in done.stdout
    [compiled] = re.findall(r"Large::work \((\d+) bytes\)", done.stdout)
    assert int(compiled) > 8000


def loaded_while_maps_fill(jdk: Jdk, programs: Path, log: Path, *options: str) -> list[str]:
    done = run([jdk.java, *options, f"-Xlog:class+load:file={log}:none", "-cp", programs, "FillMaps"])
    assert done.returncode == 0, done.stdout + done.stderr
    names = [line.split()[0] for line in log.read_text().splitlines()]
    return names[names.index("FillMaps$Begin") + 1 : names.index("FillMaps$End")]


def test_maps_load_nothing_that_the_agent_would_not_be_offered(jdk: Jdk, programs: Path, tmp_path: Path) -> None:
    """It has maps, too, and no agent is offered what a thread loads while it transforms another class."""
    stock = loaded_while_maps_fill(jdk, programs, tmp_path / "stock.log")
    assert {f"java.util.concurrent.ConcurrentHashMap$Tree{kind}" for kind in ("Bin", "Node")} <= set(stock)
    assert loaded_while_maps_fill(jdk, programs, tmp_path / "agent.log", f"-javaagent:{JAR}", C1_ALONE) == []


PROGRAMS = ["churn", "h2", "javac", "jython", "luindex", "lusearch", "saxon", "tomcat", "xalan"]


def each_program(*gate: tuple[str, str]) -> pytest.MarkDecorator:
    """Each program in each JDK, these few in the gate."""
    all_of_them = [(jdk, name) for jdk in EACH_VERSION for name in PROGRAMS]
    rows = [pytest.param(*row, marks=[] if row in gate else [deep]) for row in all_of_them]
    return pytest.mark.parametrize(("jdk", "workload"), rows, indirect=["jdk"])


@each_program(("21", "h2"))
def test_programs_come_to_their_right_result(jdk: Jdk, workload: str, tmp_path: Path) -> None:
    """A workload knows the checksum that it must come to, and fails where it comes to another.

    The JVM verifies every class that was rewritten, the JDK's too.
    """
    verify = ["--jvm=-XX:+UnlockDiagnosticVMOptions", "--jvm=-XX:+BytecodeVerificationLocal"]
    words = [ROOT / "bin/workload", workload, *verify, "--size", "small", "--iterations", "1"]
    rewritten(tmp_path / "report.json", *words, JAVA_HOME=str(jdk.home))


def test_what_a_rewrite_needs_of_the_jdk_is_rewritten_too(programs: Path) -> None:
    """The agent reads annotations: their values need caches that the JVM has loaded for nobody else."""
    done = memgraft("run", *ENGINE, "--", fetched_jdk("21").java, C1_ALONE, "-cp", programs, "CarryAnnotation")
    assert done.returncode == 0, done.stderr


@deep
def test_every_class_of_many_libraries_is_rewritten(programs: Path) -> None:
    """All that the workloads use, Spark and Hadoop among it."""
    paths = [path.read_text().strip() for path in (ROOT / "workloads/jvm").glob("*/target/class-path")]
    jars = sorted({jar for path in paths for jar in path.split(":") if jar.endswith(".jar")})
    program = [fetched_jdk("21").java, "-Xmx2g", "-cp", programs, "LoadClasses", *jars]
    done = memgraft("run", *ENGINE, "--", *program)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50_000


LARGE = """
public class Large {
  static int field;

  public static void main(String[] words) {
    if (words.length > 5) {
      ACCESSES
    }
    System.out.println("did run");
  }
}
"""


@pytest.mark.parametrize("command", ["run", pytest.param("compare", marks=deep)])
def test_a_class_that_cannot_be_rewritten_makes_the_run_unsound(command: str, tmp_path: Path) -> None:
    """Its method has room for its accesses, and none for their fences."""
    source = tmp_path / "Large.java"
    source.write_text(LARGE.replace("ACCESSES", "field++; " * 6000))
    assert run(["javac", "-d", tmp_path, source]).returncode == 0
    output = ["--output", tmp_path / "out"]
    done = memgraft(command, *ENGINE, *output, "--", "java", C1_ALONE, "-cp", tmp_path, "Large")
    assert done.returncode == 3
    assert (done.stdout == "did run\n") == (command == "run")
    last = done.stderr.splitlines()[-1]
    assert "the run was not sequentially consistent: 1 class could not be rewritten, such as Large (" in last
    assert "Method too large: Large.main" in last


EXPECTED = "expected summary=FOLDER, check, only=FILE, delay, observe, weak=SEED, speculate or speculate=never-switch"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("speed", f"the ordering agent's option 'speed': {EXPECTED}"),
        ("only=/no/such", "the ordering agent's only=/no/such: expected a file"),
        ("summary=/no/such", "the ordering agent's summary=/no/such: expected a folder"),
    ],
)
def test_the_agent_refuses_options_it_does_not_have(options: str, said: str) -> None:
    done = run(["java", f"-javaagent:{JAR}={options}", "-version"])
    assert (done.returncode, done.stderr) == (2, f"memgraft: {said}\n")


def test_a_machine_whose_stores_others_see_in_different_orders_is_refused() -> None:
    done = run(["java", "-Dos.arch=ppc64le", f"-javaagent:{JAR}", "-version"])
    assert done.returncode == 3
    [line] = done.stderr.splitlines()
    assert line.endswith("its fences are enough on amd64, x86_64, aarch64, riscv64, s390x, and this is ppc64le")


def test_an_old_jvm_is_refused_in_one_line() -> None:
    done = run([fetched_jdk("11").java, f"-javaagent:{JAR}", "-version"])
    assert done.returncode == 3
    assert done.stderr == (
        "memgraft: the engine bytecode rewrites classes of Java 17 and later; this is Java 11: choose another with "
        "JAVA_HOME\n"
    )


def test_no_method_can_be_suggested_for_relaxing() -> None:
    done = memgraft("run", *ENGINE, "--suggest-relaxed", "20", "--", "java", "-version")
    assert done.returncode == 2
    assert "--suggest-relaxed 20: expected no --engine bytecode" in done.stderr


@deep
def test_a_comparison_has_it_on_one_side_only(tmp_path: Path) -> None:
    words = [ROOT / "bin/workload", "churn", "--size", "small", "--iterations", "2"]
    fixed = ["compare", "--launches", "6", "--warmup-launches", "0", "--json", "--output", tmp_path / "out"]
    done = memgraft(*fixed, *ENGINE, "--", *words)
    assert done.returncode == 0, done.stderr
    sides = [json.loads(line) for line in (tmp_path / "out/launches.jsonl").read_text().splitlines()]
    joined = {one["side"]: [jvm["grafts"] for jvm in one["jvms"]] for one in sides}
    assert joined["baseline"] == []
    [grafts] = joined["grafted"]
    # Its check would burden one side.
    assert grafts["bytecode"]["classes"] > 500
    assert grafts["bytecode"]["checked_classes"] == 0
