"""The agent in real JVMs: the heap stays right, the graft does its work, and what cannot be joined is refused."""

import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import (
    AGENT,
    COLLECTORS,
    EACH_VERSION,
    FORGETFUL_AGENT,
    JDKS,
    SECOND_BUILDS,
    VERIFY_HEAP,
    Jdk,
    agent_options,
    churn,
    churn_under_verification,
    fetched_jdk,
    on_every_build,
)
from processes import clean_environment, run
from tiers import combinations

STRATEGIES = ["bulk", "non-temporal", "mixed"]
Summaries = Callable[[], list[dict]]


@combinations(jdk=JDKS, collector=COLLECTORS, strategy=STRATEGIES)
def test_heap_is_right_under_verification(
    jdk: Jdk, collector: str, strategy: str, tmp_path: Path, read_summaries: Summaries
) -> None:
    churn_under_verification(jdk, collector, agent_options(tmp_path, f"zeroing={strategy}"))
    [summary] = read_summaries()
    assert summary["state"] == "ended"
    assert summary["jvm"]["collector"] == collector
    zeroing = summary["grafts"]["zeroing"]
    assert zeroing["strategy"] == strategy
    assert zeroing["tlabs"] > 0
    assert zeroing["missed_tlabs"] == 0
    assert zeroing["bytes"] > 1_000_000
    assert zeroing["cycles"] > 0
    assert 0 < zeroing["seconds"] <= summary["user_seconds"] + summary["system_seconds"]


def test_small_fixed_tlabs_and_many_threads(jdk: Jdk, tmp_path: Path, read_summaries: Summaries) -> None:
    sizes = ["-XX:TLABSize=16k", "-XX:MinTLABSize=2k", "-XX:-ResizeTLAB"]
    options = ["-XX:+UseParallelGC", *sizes, *VERIFY_HEAP, *agent_options(tmp_path, "zeroing=non-temporal")]
    result = run(churn(jdk, options, threads=16, iterations=1))
    assert result.returncode == 0, result.stderr
    zeroing = read_summaries()[0]["grafts"]["zeroing"]
    assert zeroing["tlabs"] > 1000
    assert zeroing["missed_tlabs"] == 0


def test_churn_notices_a_graft_that_forgets_a_word(
    distribution_jdk: Jdk, tmp_path: Path, read_summaries: Summaries
) -> None:
    if not FORGETFUL_AGENT.exists():
        pytest.skip(f"{FORGETFUL_AGENT} is not built: make native")
    crash = ["-XX:-CreateCoredumpOnCrash", f"-XX:ErrorFile={tmp_path / 'crash.log'}"]
    # Thousands of buffers, and eden used again and again: memory that is new holds zeroes by itself.
    small = ["-Xmn16m", "-XX:TLABSize=32k", "-XX:-ResizeTLAB"]
    options = ["-XX:+UseParallelGC", *small, *agent_options(tmp_path, "zeroing=bulk", FORGETFUL_AGENT), *crash]
    # Churn finds the dirt, unless it lies in an object of the JDK first: a thread dies of that, and others may wait for
    # that thread for ever.
    result = run(["timeout", "--kill-after=10", "300", *churn(distribution_jdk, options)])
    assert result.returncode != 0
    if result.returncode not in (124, 128 + signal.SIGKILL):
        assert read_summaries()[0]["grafts"]["zeroing"]["strategy"] == "bulk", "it had joined"


@combinations(also_deep={"jdk": SECOND_BUILDS}, jdk=EACH_VERSION, collector=COLLECTORS, strength=1)
def test_histogram_and_heap_dump_in_mid_run(
    jdk: Jdk, collector: str, tmp_path: Path, read_summaries: Summaries, programs: Path
) -> None:
    options = [f"-XX:+Use{collector}GC", "-Xmx256m", *VERIFY_HEAP, *agent_options(tmp_path, "zeroing=non-temporal")]
    command = [jdk.java, *options, "-cp", programs, "AllocateUntilTold"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean_environment()
    )
    assert process.stdin
    assert process.stdout
    try:
        assert process.stdout.readline() == "allocating\n"
        jmap = jdk.home / "bin/jmap"
        for _ in range(3):
            histogram = run([jmap, "-histo", str(process.pid)])
            assert histogram.returncode == 0, histogram.stderr
            assert "AllocateUntilTold$Node" in histogram.stdout
        dump = tmp_path / "heap.hprof"
        dumped = run([jmap, f"-dump:live,format=b,file={dump}", str(process.pid)])
        assert dumped.returncode == 0, dumped.stderr
        assert dump.read_bytes()[:12] == b"JAVA PROFILE"
        output, _ = process.communicate("stop\n")
    finally:
        process.kill()
    assert process.returncode == 0
    assert output == "every node intact\n"
    assert read_summaries()[0]["grafts"]["zeroing"]["missed_tlabs"] == 0


def refused(jdk: Jdk, options: list[str], programs: Path) -> str:
    """Starts a program that must not start; the refusal, which is one line, is returned."""
    command = [
        jdk.java,
        *options,
        "-XX:+ZeroTLAB",
        f"-agentpath:{AGENT}=zeroing=bulk",
        "-cp",
        programs,
        "ShowJoints",
    ]
    result = run(command)
    assert result.returncode == 3, result.stderr
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("memgraft: ")
    for part in ("looked for ", "; found "):
        assert part in lines[0]
    return lines[0]


@combinations(jdk=JDKS, name=["Z", "Shenandoah"], strength=1)
def test_other_collectors_are_refused(jdk: Jdk, name: str, programs: Path) -> None:
    line = refused(jdk, [f"-XX:+Use{name}GC"], programs)
    assert f"found the {name} collector" in line
    assert "Serial, Parallel or G1" in line


def test_other_jdk_versions_are_refused(programs: Path) -> None:
    line = refused(fetched_jdk("11"), [], programs)
    assert "looked for JDK 17, 21 or 25; found JDK 11" in line


def copy_with_libjvm(jdk: Jdk, home: Path, *objcopy: str) -> Jdk:
    """A copy of a JDK, by links but for its launcher and a libjvm that binutils' objcopy changes."""
    if shutil.which("objcopy") is None:
        pytest.skip("objcopy is missing: setup/packages test installs binutils")
    for folder in ("bin", "lib/server"):
        (home / folder).mkdir(parents=True)
    # The launcher finds its home from where its own file really lies, so it must be copied.
    shutil.copy(jdk.java.resolve(), home / "bin/java")
    for entry in (jdk.home / "lib").iterdir():
        if entry.name == "libjli.so":
            shutil.copy(entry.resolve(), home / "lib" / entry.name)
        elif entry.name != "server":
            (home / "lib" / entry.name).symlink_to(entry.resolve())
    for entry in (jdk.home / "lib/server").iterdir():
        if entry.name != "libjvm.so":
            (home / "lib/server" / entry.name).symlink_to(entry.resolve())
    (home / "conf").symlink_to((jdk.home / "conf").resolve())
    subprocess.run(["objcopy", *objcopy, jdk.libjvm, home / "lib/server/libjvm.so"], check=True)
    return Jdk(home)


@on_every_build
def test_a_stripped_libjvm_is_refused(jdk: Jdk, tmp_path: Path, programs: Path) -> None:
    line = refused(copy_with_libjvm(jdk, tmp_path / "stripped", "--strip-unneeded"), [], programs)
    assert "found a stripped libjvm.so" in line
    assert "Temurin" in line


@pytest.mark.parametrize(
    ("symbol", "looked_for"),
    [
        ("_ZTV20ParallelScavengeHeap", "the Parallel collector"),
        ("_ZN20ParallelScavengeHeap17allocate_new_tlabEmmPm", "the slot of _ZTV20ParallelScavengeHeap"),
        ("ZeroTLAB", "the flag ZeroTLAB"),
    ],
)
def test_a_libjvm_without_a_joint_is_refused(
    symbol: str, looked_for: str, distribution_jdk: Jdk, tmp_path: Path, programs: Path
) -> None:
    other = copy_with_libjvm(distribution_jdk, tmp_path / "other", f"--redefine-sym={symbol}={symbol}Renamed")
    line = refused(other, ["-XX:+UseParallelGC"], programs)
    assert f"looked for {looked_for}" in line


@on_every_build
def test_flags_that_contradict_the_graft_are_refused(jdk: Jdk, programs: Path) -> None:
    command = [jdk.java, f"-agentpath:{AGENT}=zeroing=bulk", "-XX:-ZeroTLAB", "-cp", programs, "ShowJoints"]
    result = run(command)
    assert (result.returncode, result.stdout) == (3, "")
    assert "looked for -XX:+ZeroTLAB; found -XX:-ZeroTLAB" in result.stderr


@pytest.mark.parametrize("options", ["", "zeroing=bukl", "zeroing", "summary=/no/such/folder,zeroing=bulk", "chekc"])
def test_wrong_agent_options_are_wrong_usage(options: str, distribution_jdk: Jdk, programs: Path) -> None:
    command = [distribution_jdk.java, "-XX:+ZeroTLAB", f"-agentpath:{AGENT}={options}", "-cp", programs, "ShowJoints"]
    result = run(command)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("memgraft: wrong agent option")
    assert result.stderr.count("\n") == 1


def test_named_twice_it_loads_once(
    distribution_jdk: Jdk, tmp_path: Path, programs: Path, read_summaries: Summaries
) -> None:
    options = " ".join(agent_options(tmp_path, "zeroing=bulk"))
    command = [distribution_jdk.java, "-cp", programs, "ShowJoints", "twice"]
    result = run(command, JAVA_TOOL_OPTIONS=options, JDK_JAVA_OPTIONS=options)
    assert result.returncode == 0, result.stderr
    assert "started twice" in result.stdout
    assert len(read_summaries()) == 1
    other = options.replace("bulk", "non-temporal")
    result = run(command, JAVA_TOOL_OPTIONS=options, JDK_JAVA_OPTIONS=other)
    assert (result.returncode, result.stdout) == (2, "")
    assert "loaded twice" in result.stderr


def test_a_killed_jvm_leaves_its_first_summary(
    distribution_jdk: Jdk, tmp_path: Path, programs: Path, read_summaries: Summaries
) -> None:
    command = [distribution_jdk.java, *agent_options(tmp_path, "zeroing=bulk"), "-cp", programs, "AllocateUntilTold"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean_environment()
    )
    assert process.stdout
    assert process.stdout.readline() == "allocating\n"
    process.kill()
    assert process.wait() == -signal.SIGKILL
    [summary] = read_summaries()
    assert summary["state"] == "running"
    assert summary["grafts"]["zeroing"]["strategy"] == "bulk"


@pytest.mark.parametrize("options", ["zeroing=bulk", "zeroing=concurrent", "buffers=core:1048576", "ordering=sc"])
def test_a_live_summary_grows_while_the_jvm_runs(
    distribution_jdk: Jdk, tmp_path: Path, programs: Path, read_summaries: Summaries, options: str
) -> None:
    ordering = ["-XX:-UseLoopInvariantCodeMotion", "-XX:-UseFastJNIAccessors", "-XX:-OptimizeStringConcat"]
    ordering.append("-XX:-OptimizeFill")
    command = [
        *[distribution_jdk.java, "-XX:+UseParallelGC", "-Xmn16m", *VERIFY_HEAP],
        *(ordering if options.startswith("ordering") else []),
        *[*agent_options(tmp_path, f"{options},live"), "-cp", programs, "AllocateUntilTold"],
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean_environment()
    )
    assert process.stdin
    seen: list[dict] = []
    try:
        while len(seen) < 3:
            [summary] = read_summaries() or [{}]
            if summary.get("wall_seconds", 0) > (seen[-1]["wall_seconds"] if seen else 0):
                assert summary["state"] == "running"
                seen.append(summary)
            time.sleep(0.05)
        process.stdin.close()
        assert process.wait() == 0
    finally:
        process.kill()
    # At most one a second, also where collections are many.
    assert seen[2]["wall_seconds"] - seen[0]["wall_seconds"] >= 2
    [ended] = read_summaries()
    assert ended["state"] == "ended"
    if "buffers" in options:
        counts = [summary["grafts"]["buffers"]["levels"][0]["taken"] for summary in [*seen, ended]]
    elif "zeroing" in options:
        counts = [summary["grafts"]["zeroing"]["bytes"] for summary in [*seen, ended]]
    else:
        counts = [summary["grafts"]["ordering"]["c1"]["stores"] for summary in [*seen, ended]]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


def test_a_summary_that_cannot_be_written_does_not_hurt_the_program(
    distribution_jdk: Jdk, tmp_path: Path, programs: Path
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    command = [distribution_jdk.java, *agent_options(folder, "zeroing=bulk"), "-cp", programs, "AllocateUntilTold"]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(),
    )
    assert process.stdout
    assert process.stdout.readline() == "allocating\n"
    shutil.rmtree(folder)
    output, errors = process.communicate("stop\n")
    assert process.returncode == 0
    assert output == "every node intact\n"
    assert errors.startswith("memgraft: cannot write the summary")
    assert errors.count("\n") == 1


def test_class_data_sharing_stays_on(jdk: Jdk, tmp_path: Path, programs: Path) -> None:
    # Made here, because the fetched runtimes carry no archive of their own. -Xshare:on fails where it cannot be used.
    archive = f"-XX:SharedArchiveFile={tmp_path / 'classes.jsa'}"
    dumped = run([jdk.java, archive, "-Xshare:dump"])
    assert dumped.returncode == 0, dumped.stdout + dumped.stderr
    options = [archive, "-Xshare:on", *agent_options(tmp_path, "zeroing=bulk")]
    result = run([jdk.java, *options, "-cp", programs, "ShowJoints"])
    assert result.returncode == 0, result.stdout + result.stderr


@on_every_build
def test_check_finds_every_collector_of_this_jvm(jdk: Jdk, tmp_path: Path) -> None:
    result = run([jdk.java, "-XX:+ZeroTLAB", f"-agentpath:{AGENT}=check,summary={tmp_path}", "-version"])
    assert (result.returncode, result.stderr) == (0, "")
    [file] = tmp_path.glob("check-*.json")
    check = json.loads(file.read_text())
    zeroing = check["grafts"]["zeroing"]
    assert zeroing["available"] is True
    joined = {name for name, collector in zeroing["collectors"].items() if collector["available"]}
    assert joined == set(COLLECTORS)
    assert set(check["collectors"]) == set(zeroing["collectors"])
    assert not zeroing["collectors"]["Z"]["available"]


def test_nothing_is_left_behind_in_the_temporary_folder(distribution_jdk: Jdk, tmp_path: Path, programs: Path) -> None:
    run([distribution_jdk.java, *agent_options(tmp_path, "zeroing=bulk"), "-cp", programs, "ShowJoints"])
    assert [file.name for file in tmp_path.iterdir() if not file.name.startswith("jvm-")] == []
