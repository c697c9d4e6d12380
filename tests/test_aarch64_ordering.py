"""Sequential consistency on AArch64, under QEMU: the fences of each access, and races where they matter there.

Emulation on an x86 machine shows no weak ordering; that the fences suffice is shown by ordering/mapping.
"""

from pathlib import Path

import pytest
from conftest import ROOT, VERIFY_EVERYTHING
from processes import run
from test_aarch64 import EACH_AARCH64, HEAP, ORDERED, Summaries
from test_bytecode_engine import JAR
from test_ordering import two_cpus
from tiers import combinations, deep

pytest.importorskip("capstone", reason="no Capstone: setup/python development installs it")

from aarch64_fences import Kind, around_accesses, printed, shared_accesses, templates

EXECUTORS = {"interpreter": "-Xint", "c1": "-XX:TieredStopAtLevel=1", "c2": "-XX:-TieredCompilation"}
# What becomes of each access of tests/programs/CountAccesses.java: with --ordering sc and sc-seed in C2, and with both
# in C1 where it is the only compiler. The column of sc-seed is the last two rows of table 4.1 of L. Liu's dissertation
# (2020); besides, there are loads of an array's length, which does not change, and card marks behind references.
LENGTH, CARD = ["load"], ["store"]
SEED_LOAD, SEED_STORE = ["load", "dmb ishld"], ["store", "dmb ish"]
C1_STORE = ["dmb ish", *SEED_STORE]
UNALIGNED_ATOP = ["dmb ishld"]  # of a load whose value is not needed
ACCESSES: dict[str, tuple[list[str], list[str], list[str]]] = {
    "loadField": (["ldar"], SEED_LOAD, SEED_LOAD),
    "loadWide": (["ldar"], SEED_LOAD, SEED_LOAD),
    "loadReference": (["ldar"], SEED_LOAD, SEED_LOAD),
    "loadVolatile": (["ldar"], SEED_LOAD, SEED_LOAD),
    "loadFinal": (["load"], SEED_LOAD, SEED_LOAD),
    "loadStatic": (["ldar"], SEED_LOAD, SEED_LOAD),
    "loadElement": ([*LENGTH, "ldar"], LENGTH + SEED_LOAD, LENGTH + SEED_LOAD),
    "loadReferent": (["ldar"], SEED_LOAD, SEED_LOAD),
    "storeField": (["stlr"], SEED_STORE, C1_STORE),
    "storeWide": (["stlr"], SEED_STORE, C1_STORE),
    "storeReference": (["stlr", *CARD], ["store", *CARD, "dmb ish"], C1_STORE + CARD),
    "storeVolatile": (["stlr"], SEED_STORE, C1_STORE),
    "storeStatic": (["stlr"], SEED_STORE, C1_STORE),
    "storeElement": ([*LENGTH, "stlr"], LENGTH + SEED_STORE, LENGTH + C1_STORE),
    "loadTwice": (["ldar", "ldar"], SEED_LOAD * 2, SEED_LOAD * 2),
    "storeTwice": (["stlr", "stlr"], SEED_STORE * 2, C1_STORE * 2),
    "storeThenLoad": (["stlr", "ldar"], SEED_STORE + SEED_LOAD, C1_STORE + SEED_LOAD),
}
# What C1 leaves to the JVM: an exchange, and what ldar and stlr would fault on.
ACCESSES_OF_C2 = {
    "loadUnaligned": ([*LENGTH, "dmb ish", "load", "dmb ish"], UNALIGNED_ATOP + LENGTH + SEED_LOAD),
    "storeUnaligned": ([*LENGTH, "dmb ish", "store", "dmb ish"], UNALIGNED_ATOP + LENGTH + SEED_STORE),
    "exchange": ([Kind.ATOMIC_ACQUIRE_RELEASE.value], [*UNALIGNED_ATOP, Kind.ATOMIC_ACQUIRE_RELEASE.value, "dmb ish"]),
    "copy": ([*LENGTH * 2, "dmb ish", "dmb ish"], [*LENGTH * 2, "dmb ish", "dmb ish"]),
}
# What C2 of JDK 25 has no ldar for, because it has none under G1.
REFERENT_SINCE_25 = ["dmb ish", "load", "dmb ish"]


def ordering(agent: Path, summary: Path, placement: str) -> list[str | Path]:
    return [*ORDERED, f"-agentpath:{agent}=ordering={placement},check-order,summary={summary}"]


def counting(programs: Path, rounds: int) -> list[str | Path]:
    return ["-cp", programs, "CountAccesses", str(rounds)]


def fences_of(
    agent: Path,
    java: list[str | Path],
    programs: Path,
    folder: Path,
    placement: str,
    executor: str,
    collector: str = "Serial",
) -> dict[str, list[str]]:
    """What each method of the program does to shared memory when this executor has compiled it."""
    return fences_with(ordering(agent, folder, placement), java, programs, executor, collector)


def fences_with(
    options: list[str | Path], java: list[str | Path], programs: Path, executor: str, collector: str = "Serial"
) -> dict[str, list[str]]:
    """The same with any options, which join an agent."""
    alone = [
        "-Xbatch",
        f"-XX:+Use{collector}GC",
        "-XX:CompileCommand=quiet",
        "-XX:CompileCommand=dontinline,CountAccesses::*",
    ]
    shown = ["-XX:+UnlockDiagnosticVMOptions", "-XX:CompileCommand=print,CountAccesses::*"]
    jvm = [EXECUTORS[executor], *alone, *shown, *options]
    done = run([*java, *jvm, *counting(programs, 20000)])
    assert done.returncode == 0, done.stderr
    return {
        method.removeprefix("CountAccesses::"): shared_accesses(code) for method, code in printed(done.stdout).items()
    }


def feature(java: list[str | Path]) -> int:
    """The version of a Java whose home is named after it."""
    return int(Path(java[-1]).parent.parent.name.removeprefix("temurin-").partition(".")[0])


@combinations(placement=["sc", "sc-seed"], executor=["c2", "c1"], java_aarch64=EACH_AARCH64)
def test_what_accesses_are_fenced_with(
    agent_aarch64: Path, java_aarch64: list[str | Path], programs: Path, tmp_path: Path, placement: str, executor: str
) -> None:
    found = fences_of(agent_aarch64, java_aarch64, programs, tmp_path, placement, executor)
    if executor == "c1":
        expected = {method: c1 for method, (_, _, c1) in ACCESSES.items()}
    else:
        column = ["sc", "sc-seed"].index(placement)
        expected = {method: columns[column] for method, columns in (ACCESSES | ACCESSES_OF_C2).items()}
        if placement == "sc" and feature(java_aarch64) == 25:
            expected["loadReferent"] = REFERENT_SINCE_25
    assert {method: found.get(method) for method in expected} == expected


ACCESSES_OF_BYTECODE = {
    "loadFinal": ["load"],
    "loadVolatile": ["ldar"],
    "storeVolatile": ["stlr", "dmb ish"],
    "storeReference": ["store", *CARD, "dmb ish"],
}


@deep
@pytest.mark.parametrize("java_aarch64", EACH_AARCH64, indirect=True)
def test_what_the_engine_bytecode_fences_accesses_with(
    java_aarch64: list[str | Path], programs: Path, tmp_path: Path
) -> None:
    """The dissertation's own mapping, but for final fields, and a fence behind stlr, which a plain load could pass."""
    found = fences_with([f"-javaagent:{JAR}=check,summary={tmp_path}"], java_aarch64, programs, "c2")
    expected = {method: seed for method, (_, seed, _) in ACCESSES.items() if method != "loadReferent"}
    expected |= ACCESSES_OF_BYTECODE
    assert {method: found.get(method) for method in expected} == expected


@combinations(java_aarch64=EACH_AARCH64, strength=1)
def test_methods_that_load_a_referent_are_compiled(
    agent_aarch64: Path, java_aarch64: list[str | Path], programs: Path, tmp_path: Path
) -> None:
    """C2 gives up a method that has an access for which it has no instruction."""
    found = fences_of(agent_aarch64, java_aarch64, programs, tmp_path, "sc", "c2", collector="G1")
    load = REFERENT_SINCE_25 if feature(java_aarch64) == 25 else ["ldar"]
    # G1 keeps what was loaded in a queue.
    assert found["loadReferent"][: len(load) + 1] == [*load, "store"]


def test_stores_come_after_what_is_relaxed(
    agent_aarch64: Path, java_aarch64: list[str | Path], programs: Path, tmp_path: Path
) -> None:
    names = tmp_path / "relaxed.txt"
    names.write_text("CountAccesses.storeTwice\n")
    found = fences_of(agent_aarch64, java_aarch64, programs, tmp_path, f"sc-seed,relaxed={names}", "c2")
    assert found["storeTwice"] == ["store", "store"]
    assert found["storeVolatile"] == ["dmb ish", *SEED_STORE]
    assert found["loadVolatile"] == SEED_LOAD


# Bytecodes that access fields and elements, also as the interpreter rewrites them. How many accesses a template has
# depends on the version; aastore's checks of types look like accesses.
LOADING = (
    *[f"{type_}aload" for type_ in "ilfdabcs"],
    *["getfield", "getstatic", "nofast_getfield", *[f"fast_{type_}getfield" for type_ in "abcdfils"]],
    *["fast_iaccess_0", "fast_aaccess_0", "fast_faccess_0"],
)
STORING = (
    *[f"{type_}astore" for type_ in "ilfdbcs"],
    *["putfield", "putstatic", "nofast_putfield", *[f"fast_{type_}putfield" for type_ in "abzcdfils"]],
)


@combinations(placement=["sc", "sc-seed"], java_aarch64=EACH_AARCH64, strength=1)
def test_what_the_interpreter_fences_accesses_with(
    agent_aarch64: Path, java_aarch64: list[str | Path], tmp_path: Path, placement: str
) -> None:
    jvm = ["-Xint", "-XX:+UseSerialGC", "-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintInterpreter"]
    done = run([*java_aarch64, *jvm, *ordering(agent_aarch64, tmp_path, placement), "-version"])
    assert done.returncode == 0, done.stderr
    code = templates(done.stdout)
    for names, access, behind in ((LOADING, "load", "dmb ishld"), (STORING, "store", "dmb ish")):
        for name in names:
            found = around_accesses(code[name])
            assert found, name
            for before, kind, after in found:
                assert (kind, after) == (access, behind), name
                assert placement == "sc-seed" or before == "dmb ish", name


@combinations(how=["sc G1", "sc-seed Parallel", "sc G1 -Xint"], java_aarch64=EACH_AARCH64, strength=1)
def test_ordered_programs_run_as_before(
    agent_aarch64: Path,
    java_aarch64: list[str | Path],
    programs: Path,
    tmp_path: Path,
    how: str,
    read_summaries: Summaries,
) -> None:
    """The program checks its own results: unaligned accesses, checksums, copies and exchanges among them."""
    placement, collector, *executor = how.split()
    jvm = [f"-XX:+Use{collector}GC", *HEAP, *VERIFY_EVERYTHING, *executor]
    rounds = 30000
    done = run([*java_aarch64, *jvm, *ordering(agent_aarch64, tmp_path, placement), *counting(programs, rounds)])
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == f"checked {rounds} rounds\n"
    [summary] = read_summaries()
    ordered = summary["grafts"]["ordering"]
    assert ordered["interpreter"]["loads"] > 100
    assert ordered["interpreter"]["stores"] > 40
    assert ordered["check"]["unsafe"] == 0
    if not executor:
        assert ordered["c1"]["loads"] > 0 < ordered["c1"]["stores"]
        assert 0 < ordered["check"]["accesses"] <= ordered["c2"]["loads"] + ordered["c2"]["stores"]
        assert ordered["c2"]["fences_behind_calls"] > 0 < ordered["c2"]["atomics"]
        assert (ordered["c2"]["final_loads"] > 0) == (placement == "sc")


@pytest.fixture(scope="session")
def java_home(java_aarch64: list[str | Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose java is run by the emulator, for commands that start java themselves."""
    home = tmp_path_factory.mktemp("home")
    (home / "bin").mkdir()
    start = home / "bin/java"
    start.write_text(f'#!/bin/sh\nexec {" ".join(str(word) for word in java_aarch64)} "$@"\n')
    start.chmod(0o755)
    return home


@two_cpus
@combinations(how=["sc-seed c2", "sc-seed interpreter", "sc c1"], java_aarch64=EACH_AARCH64, strength=0)
def test_races_of_stores_with_loads(agent_aarch64: Path, java_home: Path, tmp_path: Path, how: str) -> None:
    """On an x86 machine the emulator reorders these, and these only, where there is no fence.

    Not for `sc` in C2: QEMU 7.2 reorders `stlr` and an `ldar` behind it, which no AArch64 CPU does (docs/ordering.md).
    """
    placement, executor = how.split()
    options = [f"--jvm={option}" for option in ordering(agent_aarch64, tmp_path, placement)]
    # Interpreted, a round takes long.
    rounds = "1000" if executor == "interpreter" else "3000"
    litmus = [ROOT / "bin/litmus", *options, "--tests", "sb/array-byte,forward/field-int"]
    done = run([*litmus, "--executor", executor, "--rounds", rounds, "--expect", "sc"], JAVA_HOME=str(java_home))
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("option", "looked_for"),
    [
        ("-XX:+UseZGC", "a collector that the graft knows (Serial, Parallel or G1)"),
        ("-XX:+OptimizeFill", "-XX:-OptimizeFill"),
    ],
)
def test_what_would_pass_ordering_by_is_refused(
    agent_aarch64: Path,
    java_aarch64: list[str | Path],
    tmp_path: Path,
    option: str,
    looked_for: str,
    read_summaries: Summaries,
) -> None:
    done = run([*java_aarch64, *ordering(agent_aarch64, tmp_path, "sc"), option, "-version"])
    assert done.returncode == 3, done.stderr
    [summary] = read_summaries()
    assert summary["refusal"]["looked_for"] == looked_for
