"""Sequential consistency in real JVMs: litmus tests and real programs, every JDK, collector and executor; refusals."""

import json
import os
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from conftest import (
    AGENT,
    COLLECTORS,
    EACH_VERSION,
    ROOT,
    UNORDERED_AGENT,
    VERIFY_EVERYTHING,
    Jdk,
    fetched_jdk,
    jdk_called,
    memgraft,
    memgraft_with,
)
from processes import run
from tiers import combinations, deep

from memgraft.grafts.table import GRAFTS, ORDERING

LITMUS = ROOT / "bin/litmus"
# Every shape whose reordering was seen without the graft, and the traps for fences that are left out.
SEEN_REORDERED = "sb/*,mp/*,forward/*,n6/*,corr/*,r/*,s/*,2+2w/*,sb-*,escape/*,dekker/*,peterson/*"
# Of every kind of place one, for executors in which a round takes long.
FEW = "sb/field-int,sb/field-double,sb/static-long,sb/array-byte,sb/reflection,forward/field-int,peterson/*,sb-undone/*"
# And what C2 alone may get wrong: a loop of stores whose fence is at its method's end, and short copies that it makes
# itself where the CPU has masked vectors. Behind peterson these would never be compiled, because C2 inlines it.
FEW_OF_C2 = f"{FEW},sb-call/filling,sb-by-arraycopy/array-byte".replace("peterson/*,", "")

two_cpus = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one CPU: threads that never run at the same time reorder nothing"
)


@pytest.fixture(params=EACH_VERSION)
def jdk(request: pytest.FixtureRequest) -> Jdk:
    return jdk_called(request.param)


def ordered(
    report: Path, *command: str | Path, placement: str = "sc", options: tuple[str, ...] = (), **changes: str
) -> Any:
    """Runs it with the graft; what the graft says of the one JVM that is the program's."""
    done = memgraft(
        *["run", "--ordering", placement, *options, "--output", report, "--", *command],
        **changes,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    jvms = json.loads(report.read_text())["jvms"]
    return max((jvm["grafts"]["ordering"] for jvm in jvms), key=lambda o: o["c1"]["methods"] + o["c2"]["methods"])


def racing(tests: str, executor: str, rounds: int) -> list[str | Path]:
    """Compilers keep nobody waiting by default, so that a program could be over before it is compiled."""
    return [
        LITMUS,
        "--jvm=-Xbatch",
        "--tests",
        tests,
        "--executor",
        executor,
        "--rounds",
        str(rounds),
        "--expect",
        "sc",
    ]


@combinations(jdk=EACH_VERSION, placement=["sc", "sc-seed"], strength=1)
def test_code_of_c2_is_ordered(jdk: Jdk, placement: str, tmp_path: Path) -> None:
    """Each compiled method is checked. Races are few: how much a race shows depends on the machine."""
    races = racing(FEW_OF_C2, "c2", 3000)
    done = ordered(tmp_path / "report.json", *races, placement=placement, JAVA_HOME=str(jdk.home))
    assert done["check"]["unsafe"] == 0 < done["check"]["accesses"]
    assert (done["c2"]["private_stores"] > 0) == (placement == "sc")
    assert (done["c2"]["joined_fences"] > 0) == (placement == "sc")
    assert (done["c2"]["fences_before"]["loads"] > 0) == (placement == "sc")
    assert (done["c2"]["fences_at_ends"] > 0) == (placement == "sc")


@combinations(jdk=EACH_VERSION, executor=["c1", "interpreter"], strength=1)
def test_code_of_others_is_ordered(jdk: Jdk, executor: str, tmp_path: Path) -> None:
    alone = ["--jvm=-Xint"] if executor == "interpreter" else []
    done = ordered(tmp_path / "report.json", *racing(FEW, executor, 3000), *alone, JAVA_HOME=str(jdk.home))
    assert_in_order_outside_c2(done, executor)


def assert_in_order_outside_c2(done: dict[str, Any], executor: str) -> None:
    assert done["c2"]["methods"] == 0
    assert (done["c1"]["methods"] > 0) == (executor == "c1")
    assert done["check"]["c1"]["unsafe"] == 0
    assert (done["check"]["c1"]["stores"] > 50) == (executor == "c1")
    # test_x86_fences.py shows that there are no others.
    assert done["check"]["interpreter"] == {"stores": done["interpreter"]["stores"], "unsafe": 0}
    assert done["interpreter"]["stores"] > 50


@deep
@two_cpus
@pytest.mark.parametrize("placement", ["sc", "sc-seed"])
def test_nothing_is_reordered_in_code_of_c2(jdk: Jdk, placement: str, tmp_path: Path) -> None:
    litmus = [LITMUS, "--tests", SEEN_REORDERED, "--executor", "c2", "--rounds", "100000", "--expect", "sc"]
    done = ordered(tmp_path / "report.json", *litmus, placement=placement, JAVA_HOME=str(jdk.home))
    assert done["check"]["unsafe"] == 0 < done["check"]["accesses"]
    assert (done["c2"]["private_stores"] > 0) == (placement == "sc")
    assert (done["c2"]["joined_fences"] > 0) == (placement == "sc")


@deep
@two_cpus
@pytest.mark.parametrize("executor", ["c1", "interpreter"])
def test_nothing_is_reordered_elsewhere(jdk: Jdk, executor: str, tmp_path: Path) -> None:
    # By default what counts the interpreter's outcomes is compiled.
    alone = ["--jvm=-Xint"] if executor == "interpreter" else []
    litmus = [LITMUS, *alone, "--tests", FEW, "--executor", executor, "--rounds", "30000", "--expect", "sc"]
    done = ordered(tmp_path / "report.json", *litmus, JAVA_HOME=str(jdk.home))
    assert_in_order_outside_c2(done, executor)


ENGINES = {
    "hotspot": ["--ordering", "sc"],
    "bytecode": ["--ordering", "sc", "--engine", "bytecode"],
    "speculative": ["--ordering", "speculative"],
}


@deep
@two_cpus
@pytest.mark.parametrize(
    ("seed", "version", "engine"), [(n, *row) for n, row in enumerate(product(EACH_VERSION, ENGINES))]
)
def test_random_races_are_in_order(seed: int, version: str, engine: str) -> None:
    """Each version of Java and each engine has programs of its own."""
    races = [LITMUS, "--jvm=-Xbatch", "--random", "100", "--seed", str(seed), "--executor", "c2", "--rounds", "20000"]
    expected = ["--expect", "sc", "--json"]
    done = memgraft("run", *ENGINES[engine], "--", *races, *expected, JAVA_HOME=str(jdk_called(version).home))
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(json.loads(line)["compiled"] for line in done.stdout.splitlines())


SAVINGS = {"sc-private-objects": "private_stores", "sc-final-loads": "final_loads", "sc-last-fences": "joined_fences"}
Summaries = Callable[[], list[dict[str, Any]]]


def measured_with(placement: str, folder: Path) -> list[str]:
    """The JVM's options with a placement that only figures are measured with: no command line offers it."""
    [graft] = [graft for graft in GRAFTS if graft.name == ORDERING]
    options = [*graft.jvm_options, f"-agentpath:{AGENT}=ordering={placement},check-order,summary={folder}"]
    return [f"--jvm={option}" for option in options]


@combinations(placement=list(SAVINGS), strength=0)
def test_each_saving_alone(placement: str, distribution_jdk: Jdk, tmp_path: Path, read_summaries: Summaries) -> None:
    workload = [ROOT / "bin/workload", "xalan", "--jvm=-Xbatch", *measured_with(placement, tmp_path)]
    result = run(["env", f"JAVA_HOME={distribution_jdk.home}", *workload, "--size", "small", "--iterations", "1"])
    assert result.returncode == 0, result.stderr
    done = read_summaries()[0]["grafts"]["ordering"]
    assert done["placement"] == placement
    assert done["check"]["unsafe"] == 0
    assert {count for count in SAVINGS.values() if done["c2"][count] > 0} == {SAVINGS[placement]}


def test_switches_alone_order_nothing(distribution_jdk: Jdk, tmp_path: Path, read_summaries: Summaries) -> None:
    options = [option.removeprefix("--jvm=") for option in measured_with("switches", tmp_path)]
    flags = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintFlagsFinal"]
    result = run([distribution_jdk.java, *options, *flags, "-version"])
    assert result.returncode == 0, result.stderr
    assert re.search(r"^ *ccstrlist +DisableIntrinsic += .*_vectorizedMismatch", result.stdout, re.MULTILINE)
    assert re.search(r"^ *intx +ArrayCopyLoadStoreMaxElem += 0 ", result.stdout, re.MULTILINE)
    done = read_summaries()[0]["grafts"]["ordering"]
    assert done["placement"] == "switches"
    assert (done["c2"]["methods"], done["c1"]["methods"], done["interpreter"]["stores"]) == (0, 0, 0)


@deep
@two_cpus
def test_without_its_fences_stores_are_overtaken(distribution_jdk: Jdk, tmp_path: Path) -> None:
    """The bound that figures show, and what litmus tests would say of fences that were left out wrongly."""
    litmus = [LITMUS, *measured_with("no-fences", tmp_path), "--executor", "c2", "--tests", "sb/field-int"]
    result = run(["env", f"JAVA_HOME={distribution_jdk.home}", *litmus, "--expect", "reordered"])
    assert result.returncode == 0, result.stdout + result.stderr


@combinations(jdk=EACH_VERSION, collector=COLLECTORS, strength=1)
def test_programs_run_as_before(jdk: Jdk, collector: str, tmp_path: Path) -> None:
    jvm = [f"--jvm={option}" for option in (f"-XX:+Use{collector}GC", "-Xbatch", *VERIFY_EVERYTHING)]
    # Programs check their own results.
    done = ordered(
        tmp_path / "report.json",
        *[ROOT / "bin/workload", "xalan", *jvm, "--size", "small", "--iterations", "1"],
        JAVA_HOME=str(jdk.home),
    )
    assert done["check"]["methods"] > 20
    assert done["check"]["unsafe"] == 0
    assert done["check"]["accesses"] == done["check"]["excused"] + ordered_accesses(done)
    c1 = done["check"]["c1"]
    assert c1["unsafe"] == 0 == done["check"]["interpreter"]["unsafe"]
    # What C1 emitted is what the graft saw; but a compilation may be given up in between.
    assert 0.95 < c1["methods"] / done["c1"]["methods"] <= 1
    assert 0.95 < c1["stores"] / (done["c1"]["stores"] + done["c1"]["fences_behind_calls"]) <= 1
    assert c1["own"] > 0
    assert done["c2"]["private_stores"] > 0
    assert done["c2"]["final_loads"] > 0
    assert done["c2"]["relaxed"] == 0, "nothing was named"


PROGRAMS = ["h2", "javac", "jython", "luindex", "lusearch", "saxon", "sparkwordcount", "tomcat", "xalan"]


@deep
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("collector", COLLECTORS)
def test_programs_come_to_their_right_results(jdk: Jdk, collector: str, program: str, tmp_path: Path) -> None:
    """As they are started; every workload checks what it has computed."""
    workload = [ROOT / "bin/workload", program, f"--jvm=-XX:+Use{collector}GC", "--size", "small"]
    done = ordered(tmp_path / "report.json", *workload, JAVA_HOME=str(jdk.home))
    assert done["check"]["methods"] > 0
    assert done["check"]["unsafe"] == 0


def test_c1_loads_what_was_just_stored(jdk: Jdk, programs: Path, tmp_path: Path) -> None:
    """It would take the stored value instead, and one load for the other."""
    only = ["-XX:TieredStopAtLevel=1", "-Xcomp", "-XX:CompileCommand=quiet"]
    compiled = "-XX:CompileCommand=compileonly,StoreThenLoad::six"
    done = ordered(tmp_path / "report.json", jdk.java, *only, compiled, "-cp", programs, "StoreThenLoad")
    assert done["c1"] == {"methods": 1, "loads": 6, "stores": 3, "fences_behind_calls": 0}
    assert (done["check"]["c1"]["stores"], done["check"]["c1"]["unsafe"]) == (3, 0)


FOUND_OUT = {
    "-XX:TieredStopAtLevel=1 -Xcomp": r"3 stores left C1 without a fence, .* in StoreThenLoad\.six\(.*; 81 ",
    "-Xint": r": 81 stores of the interpreter's templates have no fence; expected none",
}


@combinations(jdk=EACH_VERSION, executor=list(FOUND_OUT), strength=1)
def test_a_graft_that_does_nothing_is_found_out(jdk: Jdk, executor: str, programs: Path, tmp_path: Path) -> None:
    """In what was compiled, and not in what the graft says of itself."""
    compiled = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=compileonly,StoreThenLoad::six")
    java = [jdk.java, *executor.split(), *compiled, "-cp", programs, "StoreThenLoad"]
    done = memgraft_with(UNORDERED_AGENT, tmp_path, "run", "--ordering", "sc", "--", *java)
    assert done.returncode == 3
    last = done.stderr.splitlines()[-1]
    assert "the run was not sequentially consistent" in last
    assert re.search(FOUND_OUT[executor], last), last


def ordered_accesses(done: dict[str, Any]) -> int:
    ordered_ones: int = done["check"]["accesses"] - done["check"]["excused"] - done["check"]["unsafe"]
    assert ordered_ones > done["check"]["excused"] / 4
    return ordered_ones


def test_beside_the_other_grafts(distribution_jdk: Jdk, tmp_path: Path) -> None:
    options = ("--zeroing", "bulk", "--buffers", "thread=16k,core=256k")
    jvm = [f"--jvm={option}" for option in ("-XX:+UseParallelGC", "-Xbatch", *VERIFY_EVERYTHING)]
    workload = [ROOT / "bin/workload", "churn", *jvm, "--size", "small", "--iterations", "2"]
    done = ordered(tmp_path / "report.json", *workload, options=options, JAVA_HOME=str(distribution_jdk.home))
    assert done["check"]["unsafe"] == 0 < done["check"]["methods"]


def test_relaxed_methods_keep_the_java_memory_model(distribution_jdk: Jdk, tmp_path: Path) -> None:
    names = tmp_path / "relaxed, 100%.txt"
    names.write_text("# of the JDK's own\njava.util.HashMap\njava.lang.AbstractStringBuilder.append\n")
    workload = [ROOT / "bin/workload", "xalan", "--jvm=-Xbatch", "--size", "small", "--iterations", "1"]
    environment = {"JAVA_HOME": str(distribution_jdk.home)}
    done = ordered(tmp_path / "report.json", *workload, options=("--relaxed", str(names)), **environment)
    assert done["c2"]["relaxed"] > 0
    assert done["check"]["unsafe"] == 0


@deep
@two_cpus
def test_a_relaxed_race_is_reordered_again(tmp_path: Path) -> None:
    """What the graft forbids is back in the one class that is relaxed, and in no other."""
    names = tmp_path / "relaxed.txt"
    names.write_text("org.memgraft.ordering.litmus.Race_sb_field_int\n")
    litmus = [LITMUS, "--executor", "c2", "--tests"]
    options = ("--relaxed", str(names))
    relaxed = ordered(tmp_path / "one", *litmus, "sb/field-int", "--expect", "reordered", options=options)
    assert relaxed["c2"]["relaxed"] > 0
    assert relaxed["check"]["unsafe"] == 0
    ordered(tmp_path / "other", *litmus, "sb/array-int", "--expect", "sc", options=options)


@deep
@two_cpus
def test_annotated_races_are_reordered_again(jdk: Jdk, programs: Path, tmp_path: Path) -> None:
    """In code whose source says @Relaxed, and neither beside it nor in classes nested in it."""
    java = [jdk.java, "-XX:-TieredCompilation", "-cp", programs, "AnnotatedRaces", "200000"]
    report = tmp_path / "report.json"
    done = memgraft("run", "--ordering", "sc", "--output", report, "--", *java)
    assert done.returncode == 0, done.stderr
    reordered = {name: int(races) for name, races in (line.split() for line in done.stdout.splitlines())}
    assert [name for name, races in reordered.items() if races] == ["OfClass", "OfMethods"]
    assert set(reordered) == {"OfClass", "OfMethods", "Plain", "Nested"}
    [jvm] = json.loads(report.read_text())["jvms"]
    c2 = jvm["grafts"]["ordering"]["c2"]
    assert c2["relaxed"] == c2["annotated"] > 0
    assert jvm["grafts"]["ordering"]["check"]["unsafe"] == 0


def test_an_annotation_does_not_excuse_names_that_relax_nothing(
    distribution_jdk: Jdk, programs: Path, tmp_path: Path
) -> None:
    names = tmp_path / "relaxed.txt"
    names.write_text("java.util.HashMpa\n")
    # Compiled before the program goes on, which is over soon.
    java = [distribution_jdk.java, "-XX:-TieredCompilation", "-Xbatch", "-cp", programs, "AnnotatedRaces", "1"]
    done = memgraft("run", "--ordering", "sc", "--relaxed", names, "--", *java)
    assert done.returncode == 0
    assert "because of @memgraft.Relaxed" in done.stderr
    assert f"warning: --relaxed {names} relaxed nothing" in done.stderr


@pytest.mark.parametrize(
    ("option", "looked_for"),
    [
        ("-XX:+UseZGC", "a collector that the graft knows (Serial, Parallel or G1)"),
        ("-XX:+OptimizeFill", "-XX:-OptimizeFill"),
        ("-XX:+UseLoopInvariantCodeMotion", "-XX:-UseLoopInvariantCodeMotion"),
        ("-XX:+UseFastJNIAccessors", "-XX:-UseFastJNIAccessors"),
    ],
)
def test_what_would_pass_it_by_is_refused(option: str, looked_for: str, distribution_jdk: Jdk) -> None:
    done = memgraft("run", "--ordering", "sc", "--", distribution_jdk.java, option, "-version")
    assert done.returncode == 3
    refusal = done.stderr.splitlines()[-1]
    assert refusal.startswith("memgraft: the ordering graft cannot join ")
    assert f"looked for {looked_for}; found " in refusal
    assert refusal.endswith("; or use --engine bytecode, which takes any collector")
    assert "openjdk version" not in done.stdout + done.stderr


def test_a_compiler_in_java_is_refused(distribution_jdk: Jdk) -> None:
    options = ["-XX:+UnlockExperimentalVMOptions", "-XX:+EnableJVMCI", "-XX:+UseJVMCICompiler"]
    done = memgraft("run", "--ordering", "sc", "--", distribution_jdk.java, *options, "-version")
    if "Unrecognized VM option" in done.stderr:
        pytest.skip(f"{distribution_jdk.java} was built without JVMCI")
    assert done.returncode == 3
    assert "the compilers C1 and C2" in done.stderr.splitlines()[-1]


def test_another_jdk_is_refused() -> None:
    done = memgraft("run", "--ordering", "sc", "--", fetched_jdk("11").java, "-version")
    assert done.returncode == 3
    refusal = done.stderr.splitlines()[-1]
    assert "JDK 17, 21 or 25" in refusal
    # It takes no JVM before 17.
    assert "--engine bytecode" not in refusal


def test_names_that_relax_nothing_are_warned_of(distribution_jdk: Jdk, tmp_path: Path) -> None:
    names = tmp_path / "relaxed.txt"
    names.write_text("java.util.HashMpa\n")
    done = memgraft("run", "--ordering", "sc", "--relaxed", names, "--", distribution_jdk.java, "-version")
    assert done.returncode == 0
    assert f"warning: --relaxed {names} relaxed nothing" in done.stderr


def test_a_wrong_line_of_relaxed_is_wrong_usage(distribution_jdk: Jdk, tmp_path: Path) -> None:
    names = tmp_path / "relaxed.txt"
    names.write_text("java.util.HashMap\njava util\n")
    done = memgraft("run", "--ordering", "sc", "--relaxed", names, "--", distribution_jdk.java, "-version")
    assert done.returncode == 2
    assert f"wrong line 2 of {names}" in done.stderr.splitlines()[-1]
    missing = memgraft("run", "--ordering", "sc", "--relaxed", tmp_path / "no", "--", distribution_jdk.java, "-version")
    assert missing.returncode == 2
    assert "expected a file that exists" in missing.stderr


def test_stock_ordering_is_the_stock(distribution_jdk: Jdk) -> None:
    """No agent and no option: what is compiled is what HotSpot compiles."""
    java = [distribution_jdk.java, "-XX:+PrintFlagsFinal", "-version"]
    done = memgraft("run", "--ordering", "stock", "--", *java)
    assert done.returncode == 0
    assert "libmemgraft" not in done.stdout + done.stderr
    assert flags(done.stdout) == flags(run(java).stdout)


def flags(printed: str) -> dict[str, str]:
    """Name to value and origin, without those that HotSpot takes from the memory of the moment."""
    rows = [line.split(None, 4) for line in printed.splitlines() if " = " in line]
    kept = [row for row in rows if "ergonomic" not in " ".join(row) and row[1] != "SharedBaseAddress"]
    assert len(kept) > 500
    return {row[1]: " ".join(row[3:]) for row in kept}
