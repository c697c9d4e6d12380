"""Every ordering with virtual threads, which carriers take up where others have left them: races and what they show."""

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import jdk_called, run
from test_bytecode_engine import C1_ALONE, rewritten
from test_ordering import FEW, LITMUS, ordered, two_cpus
from test_speculative import speculated
from test_weak import IN_ORDER, weakened
from tiers import combinations, deep

JDKS = ["21", "25"]
ORDERINGS = ["hotspot", "bytecode", "speculative"]
SOME = "sb/array-byte,sb/reflection,escape/constructor"


def race(ordering: str, java: str, report: Path, tests: str, rounds: int, *options: str) -> None:
    """Runs the races under the ordering, which has to keep all of them in order."""
    command = [LITMUS, *options, "--virtual-threads", "--tests", tests, "--rounds", str(rounds), "--expect", "sc"]
    home = str(jdk_called(java).home)
    if ordering == "hotspot":
        done = ordered(report, *command, JAVA_HOME=home)
        assert done["check"]["unsafe"] == done["check"]["c1"]["unsafe"] == 0
    elif ordering == "bytecode":
        rewritten(report, *command, JAVA_HOME=home)
    else:
        found, _ = speculated(report, *command, JAVA_HOME=home)
        assert "another thread than the owner" in found["switched_classes"].values()


@combinations(java=JDKS, ordering=ORDERINGS, strength=1)
def test_races_of_virtual_threads_are_in_order(java: str, ordering: str, tmp_path: Path) -> None:
    race(ordering, java, tmp_path / "report.json", SOME, 3000, f"--jvm={C1_ALONE}")


@pytest.mark.parametrize("java", JDKS)
def test_a_virtual_thread_on_another_carrier_is_the_same_thread(java: str, programs: Path, tmp_path: Path) -> None:
    jvm = [jdk_called(java).java, "-XX:-TieredCompilation", "-Djdk.virtualThreadScheduler.parallelism=4"]
    ordered(tmp_path / "report.json", *jvm, "-cp", programs, "ChangeCarriers", "4", "20000")


@pytest.mark.parametrize("java", ["21", pytest.param("25", marks=deep)])
@pytest.mark.parametrize("ordering", ["bytecode", "speculative"])
def test_what_virtual_threads_load_when_they_wait_is_rewritten(
    java: str, ordering: str, programs: Path, tmp_path: Path
) -> None:
    """No agent is offered what a thread loads while it leaves its carrier."""
    command = [jdk_called(java).java, C1_ALONE, "-cp", programs, "WaitInVirtualThreads"]
    if ordering == "bytecode":
        rewritten(tmp_path / "report.json", *command)
    else:
        speculated(tmp_path / "report.json", *command)


def test_races_of_virtual_threads_end_with_one_carrier() -> None:
    """Its scheduler then takes up the thread that yields, and no other one."""
    one = "--jvm=-Djdk.virtualThreadScheduler.parallelism=1"
    races = [LITMUS, one, "--virtual-threads", "--tests", SOME, "--rounds", "3000", "--json"]
    done = run(races, JAVA_HOME=str(jdk_called("25").home))
    assert done.returncode == 0, done.stderr
    assert [json.loads(row)["threads"] for row in done.stdout.splitlines()] == ["virtual"] * len(SOME.split(","))


@deep
@two_cpus
@pytest.mark.parametrize("java", JDKS)
@pytest.mark.parametrize("ordering", ORDERINGS)
def test_what_virtual_threads_reorder_on_the_stock_is_in_order(java: str, ordering: str, tmp_path: Path) -> None:
    race(ordering, java, tmp_path / "report.json", f"{FEW},mp/*,iriw/*,wrc/*,escape/*", 100_000)


@pytest.mark.parametrize("java", ["21", pytest.param("25", marks=deep)])
def test_weak_memory_keeps_in_order_what_is_volatile(java: str, tmp_path: Path) -> None:
    races = [LITMUS, "--virtual-threads", "--tests", "*/volatile-int", "--rounds", "2000", "--expect", "sc"]
    _, printed = weakened(tmp_path / "report.json", *races, JAVA_HOME=str(jdk_called(java).home))
    assert "; virtual threads; 2," in printed


@deep
@two_cpus
@pytest.mark.parametrize("java", JDKS)
def test_weak_memory_shows_nothing_that_the_model_forbids(java: str, tmp_path: Path) -> None:
    tests = ",".join(f"{name}/*" for name in ("sb", "mp", *IN_ORDER))
    races = [LITMUS, "--virtual-threads", "--tests", tests, "--rounds", "10000", "--expect", "java", "--json"]
    found, printed = weakened(tmp_path / "report.json", *races, JAVA_HOME=str(jdk_called(java).home))
    rows: list[dict[str, Any]] = [json.loads(line) for line in printed.splitlines()]
    assert found["weak"]["stale_loads"] > 1000
    for row in rows:
        if row["test"] in IN_ORDER:
            assert row["not_sc"] == 0, row
