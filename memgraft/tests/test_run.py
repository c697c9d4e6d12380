"""`run` from outside, with a stand-in for a program that has JVMs under it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memgraft.conftest import Done, Memgraft, program


class Run:
    def __init__(self, memgraft: Memgraft, tmp_path: Path) -> None:
        self.memgraft = memgraft
        self.scratch = tmp_path / "scratch"
        self.scratch.mkdir()

    def __call__(self, *words: str, options: tuple[str, ...] = (), zeroing: str = "bulk", **variables: str) -> Done:
        arguments = ["run", "--zeroing", zeroing, *options, "--", *program(*words)]
        done = self.memgraft(*arguments, TMPDIR=str(self.scratch), **variables)
        assert list(self.scratch.iterdir()) == [], "left something in the temporary folder"
        return done


@pytest.fixture
def run(memgraft: Memgraft, tmp_path: Path) -> Run:
    return Run(memgraft, tmp_path)


def test_a_program_keeps_its_output_and_gets_a_summary(run: Run) -> None:
    done = run("stderr=its own words")
    assert (done.code, done.out) == (0, "hello from the program\n")
    lines = done.err.splitlines()
    assert lines[0] == "its own words"
    assert lines[1].startswith("memgraft: bulk zeroing: ")
    assert lines[2] == (
        "memgraft: Fake VM 17.0.1+1 (Fake, G1 collector): 100 TLABs, 95.37 MiB zeroed by avx512 at 10.0 GB/s; direct "
        "cost 1.0 % of CPU time"
    )


def test_what_the_helper_did_and_adaptive_chose(run: Run) -> None:
    lines = run(zeroing="adaptive", options=("--no-profile",)).err.splitlines()
    assert lines[-4:] == [
        "memgraft: the helper thread zeroed 100.0 %; 2 waits for it (1.00 ms), 3 blocks taken from it",
        "memgraft: adaptive chose windows after 30 collections (71.4 %), concurrent after 12 (28.6 %)",
        "memgraft: hardware counters: 3.00 s cpu time, 2 KiB memory read, 99 page faults",
        "memgraft: no hardware counters of cache misses: no counters here",
    ]


def test_json_alone_on_standard_output(run: Run) -> None:
    done = run("stderr=its own words", options=("--json", "--output", "r.json"))
    report = done.json()
    assert "hello from the program" in done.err
    assert report == json.loads((run.memgraft.folder / "r.json").read_text())
    assert report["schema"] == 1
    assert report["grafts"] == {"zeroing": "bulk"}
    assert report["joined"]["variable"] == "JAVA_TOOL_OPTIONS"
    assert report["joined"]["options"][0] == "-XX:+ZeroTLAB"
    assert report["exit_code"] == 0
    assert report["wall_seconds"] > 0
    [jvm] = report["jvms"]
    assert jvm["state"] == "ended"
    assert jvm["cpu_utilisation"] == 2.0
    assert jvm["grafts"]["zeroing"]["direct_cost"] == 0.01
    assert jvm["grafts"]["zeroing"]["gigabytes_per_second"] == 10.0


def test_several_jvms_are_a_table(run: Run) -> None:
    done = run("jvms=3")
    assert done.code == 0
    assert [line.split()[0] for line in done.err.splitlines()[2:]] == ["process", "4000000", "4000001", "4000002"]


def test_hot_path_changes_nothing_at_all(run: Run) -> None:
    done = run(options=("--json",), zeroing="hot-path", JAVA_TOOL_OPTIONS="-Xmx1g")
    assert done.code == 0
    assert done.json()["joined"] is None
    assert done.json()["jvms"] == []


def test_hot_path_needs_no_agent(run: Run) -> None:
    next(run.memgraft.natives.iterdir()).unlink()
    done = run(zeroing="hot-path")
    assert done.code == 0
    assert "the agent was not loaded" in done.err


def test_via_the_other_variable(run: Run) -> None:
    assert run("reads=JDK_JAVA_OPTIONS").code == 2
    assert run("reads=JDK_JAVA_OPTIONS", options=("--via", "jdk-java-options")).code == 0


def test_no_jvm_reached(run: Run) -> None:
    done = run("jvms=0")
    assert done.code == 2
    assert "could be reached by JAVA_TOOL_OPTIONS: expected a command that starts java" in done.error
    assert "--via jdk-java-options" in done.error


def test_the_programs_own_failure(run: Run) -> None:
    done = run("exit=7", options=("--json",))
    assert done.code == 1
    assert done.error.endswith("ended with exit code 7")
    assert done.json()["exit_code"] == 7


def test_a_failure_before_any_jvm_joined(run: Run) -> None:
    done = run("jvms=0", "exit=1", options=("--json",))
    assert (done.code, done.out) == (1, "")
    assert "ended with exit code 1 and no JVM that it started could be reached" in done.error


def test_a_signal_is_named(run: Run) -> None:
    assert "exit code 139 (SIGSEGV)" in run("signal=11").error


@pytest.mark.parametrize("code", [2, 3])
def test_a_refusal_is_its_own_line_and_code(run: Run, code: int) -> None:
    done = run(f"refuse={code}", options=("--json",))
    assert (done.code, done.out) == (code, "")
    assert done.error == ("memgraft: the fake graft cannot join: looked for joints; found none; use another JVM")


def test_a_killed_jvm_is_mentioned(run: Run) -> None:
    done = run("state=running")
    assert done.code == 0
    assert "warning: the JVM of process 4000000 ended without a summary" in done.err


def test_missed_tlabs_are_a_warning(run: Run) -> None:
    assert "warning: 3 TLABs of the JVM of process 4000000 did not reach the graft" in run("missed=3").err


def test_a_broken_summary(run: Run) -> None:
    done = run("garbage=1")
    assert done.code == 3
    assert "cannot be read" in done.error


@pytest.mark.parametrize("name", ["with space", "a,b", "per%cent", "it's", "ünï"])
def test_odd_temporary_folders(run: Run, name: str) -> None:
    run.scratch = run.scratch / name
    run.scratch.mkdir()
    assert run().code == 0


@pytest.mark.parametrize("name", ["with space", "a=b", "it's"])
def test_odd_places_of_the_agent(run: Run, name: str, tmp_path: Path) -> None:
    odd = tmp_path / name
    run.memgraft.natives.rename(odd)
    assert Memgraft(odd, run.memgraft.folder)("run", "--zeroing", "bulk", "--", *program()).code == 0


def test_options_before_the_command_only(memgraft: Memgraft) -> None:
    """What follows the command's name is the command's, with or without `--`."""
    done = memgraft("run", "--zeroing", "bulk", *program("exit=4"), "json=--json")
    assert done.code == 1
    assert "exit code 4" in done.error


def test_neither_run_nor_its_summary_waits_for_numpy() -> None:
    code = """if True:
        import sys
        from memgraft import run
        from memgraft.grafts.table import sections
        sections()
        print({"numpy", "scipy", "bokeh"} & sys.modules.keys())"""
    done = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "set()\n"
