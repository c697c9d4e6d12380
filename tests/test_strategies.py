"""Every zeroing strategy in real JVMs: under heap verification, under pressure, and when its helper is in trouble."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from conftest import (
    COLLECTORS,
    EACH_VERSION,
    SECOND_BUILDS,
    VERIFY_HEAP,
    Frozen,
    Jdk,
    agent_options,
    churn,
    churn_under_verification,
    control_group,
)
from processes import clean_environment, run
from tiers import combinations, deep

STRATEGIES = ["windows", "concurrent", "pause", "adaptive"]
DEEP_JDKS = {"jdk": SECOND_BUILDS}
NEEDS_A_NURSERY = ("concurrent", "pause")
HELPER = "memgraft-zero"
Summaries = Callable[[], list[dict]]


def joins(_: str, collector: str, strategy: str) -> bool:
    return collector != "G1" or not strategy.startswith(NEEDS_A_NURSERY)


def verified(jdk: Jdk, collector: str, strategy: str, folder: Path) -> dict:
    """What zeroing says of churn under verification."""
    churn_under_verification(jdk, collector, agent_options(folder, f"zeroing={strategy}"))
    [summary] = read_all(folder)
    zeroing: dict = summary["grafts"]["zeroing"]
    assert zeroing["strategy"] == strategy.partition(",")[0]
    assert zeroing["missed_tlabs"] == 0
    assert zeroing["bytes"] == sum(by["bytes"] for by in zeroing["by"].values()) > 1_000_000
    assert zeroing["seconds"] == pytest.approx(sum(by["seconds"] for by in zeroing["by"].values()))
    return zeroing


@combinations(joins, also_deep=DEEP_JDKS, jdk=EACH_VERSION, collector=COLLECTORS, strategy=STRATEGIES)
def test_heap_is_right_under_verification(jdk: Jdk, collector: str, strategy: str, tmp_path: Path) -> None:
    zeroing = verified(jdk, collector, strategy, tmp_path)
    if strategy == "windows":
        assert zeroing["windows"] > 250
        # At each collection, and for a large object, a thread's chunk is given up: some of it, not most.
        assert zeroing["window_waste_bytes"] < zeroing["bytes"] / 4
    if strategy == "concurrent":
        assert zeroing["helper"]["started"]
        assert zeroing["by"]["helper"]["bytes"] > 1_000_000
        assert zeroing["helper"]["ready_bytes"] > 0
        assert zeroing["collections"] > 1
    if strategy == "pause":
        assert zeroing["by"]["pause"]["bytes"] > 1_000_000
    if strategy == "adaptive":
        assert sum(zeroing["decisions"].values()) == zeroing["collections"] > 0
        assert zeroing["log"]
        assert collector != "G1" or "concurrent" not in zeroing["decisions"]


@combinations(
    joins,
    also_deep=DEEP_JDKS,
    jdk=EACH_VERSION,
    collector=COLLECTORS,
    strategy=["windows,against=non-temporal", "concurrent,against=bulk"],
    strength=1,
)
def test_heap_is_right_where_epochs_alternate(jdk: Jdk, collector: str, strategy: str, tmp_path: Path) -> None:
    epochs = verified(jdk, collector, strategy, tmp_path)["epochs"]
    assert f"{epochs['grafted']},against={epochs['baseline']}" == strategy


@combinations(also_deep=DEEP_JDKS, jdk=EACH_VERSION, strategy=["windows", "concurrent", "adaptive"], strength=1)
def test_under_memory_pressure(jdk: Jdk, strategy: str, tmp_path: Path, read_summaries: Summaries) -> None:
    # Hardly more than what churn keeps alive: full collections, allocation outside TLABs, retries. Each thread may
    # hold 8 MiB of large arrays at once, which an eden of 3 MiB leaves to the old generation's 28 MiB.
    options = ["-XX:+UseParallelGC", "-Xms32m", "-Xmx32m", "-Xmn4m", *VERIFY_HEAP]
    command = churn(jdk, [*options, *agent_options(tmp_path, f"zeroing={strategy}")], threads=3, iterations=1)
    result = run(command)
    assert result.returncode == 0, result.stderr
    zeroing = read_summaries()[0]["grafts"]["zeroing"]
    assert zeroing["missed_tlabs"] == 0
    assert zeroing["bytes"] > 0


@combinations(
    also_deep=DEEP_JDKS, jdk=EACH_VERSION, strategy=["windows,window=4096", "concurrent", "adaptive"], strength=1
)
def test_small_fixed_tlabs_and_many_threads(jdk: Jdk, strategy: str, tmp_path: Path, read_summaries: Summaries) -> None:
    sizes = ["-XX:TLABSize=16k", "-XX:MinTLABSize=2k", "-XX:-ResizeTLAB"]
    options = ["-XX:+UseParallelGC", *sizes, *VERIFY_HEAP, *agent_options(tmp_path, f"zeroing={strategy}")]
    result = run(churn(jdk, options, threads=16, iterations=1))
    assert result.returncode == 0, result.stderr
    assert read_summaries()[0]["grafts"]["zeroing"]["missed_tlabs"] == 0


@pytest.mark.parametrize("strategy", ["concurrent", "pause", "windows,against=concurrent"])
def test_what_needs_a_nursery_is_refused_on_g1(strategy: str, distribution_jdk: Jdk, programs: Path) -> None:
    options = agent_options(programs, f"zeroing={strategy}")
    options[-1] = options[-1].partition(",summary=")[0]
    result = run([distribution_jdk.java, "-XX:+UseG1GC", *options, "-cp", programs, "ShowJoints"])
    assert (result.returncode, result.stdout) == (3, "")
    assert "looked for a collector that the graft knows (Serial or Parallel); found the G1 collector" in result.stderr
    assert result.stderr.count("\n") == 1


class Allocating:
    """AllocateUntilTold with a strategy, running."""

    def __init__(self, java: list[str | Path], options: list[str], programs: Path) -> None:
        command = [*java, "-Xmx64m", *options, "-cp", programs, "AllocateUntilTold"]
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=clean_environment(),
        )
        assert self.process.stdout
        assert self.process.stdout.readline() == "allocating\n"

    @property
    def pid(self) -> int:
        return self.process.pid

    def thread(self, name: str) -> int:
        """The number of the thread of that name, as soon as there is one."""
        while self.process.poll() is None:
            for task in Path(f"/proc/{self.pid}/task").iterdir():
                with contextlib.suppress(OSError):
                    if (task / "comm").read_text() == f"{name}\n":
                        return int(task.name)
            time.sleep(0.01)
        raise AssertionError(f"no thread {name} in {self.pid}")

    def collections(self, jdk: Jdk) -> int:
        """How many young collections there have been."""
        counted = run([jdk.home / "bin/jcmd", str(self.pid), "PerfCounter.print"])
        assert counted.returncode == 0, counted.stderr
        [line] = [line for line in counted.stdout.splitlines() if line.startswith("sun.gc.collector.0.invocations=")]
        return int(line.partition("=")[2])

    def stop(self) -> None:
        output, errors = self.process.communicate("stop\n")
        assert self.process.returncode == 0, errors
        assert output == "every node intact\n"


@pytest.fixture
def allocating() -> Iterator[Callable[..., Allocating]]:
    started: list[Allocating] = []

    def start(*arguments: object) -> Allocating:
        started.append(Allocating(*arguments))  # type: ignore[arg-type]
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.wait()


@pytest.mark.parametrize("strategy", ["concurrent", "adaptive"])
def test_a_frozen_helper_holds_nobody_up(
    strategy: str,
    distribution_jdk: Jdk,
    tmp_path: Path,
    programs: Path,
    read_summaries: Summaries,
    allocating: Callable[..., Allocating],
) -> None:
    options = ["-XX:+UseParallelGC", *VERIFY_HEAP, *agent_options(tmp_path, f"zeroing={strategy}")]
    # One thread's worth of CPU, so that adaptive sees an idle one where there are two.
    program = allocating([distribution_jdk.java], options, programs)
    if strategy == "adaptive" and len(os.sched_getaffinity(0)) < 4:
        # Two threads allocate: no CPU is left for the helper, and there may be none to freeze.
        program.stop()
        assert "concurrent" not in read_summaries()[0]["grafts"]["zeroing"]["decisions"]
        return
    # Wherever it is: again and again, sometimes it is in the middle of a block.
    for _ in range(5):
        with Frozen(program.thread(HELPER)):
            before = program.collections(distribution_jdk)
            # Were it held up, this would meet the test's time limit.
            while program.collections(distribution_jdk) < before + 3:
                pass
        time.sleep(0.05)
    program.stop()
    helper = read_summaries()[0]["grafts"]["zeroing"]["helper"]
    assert helper["started"]


@deep
def test_in_a_tenth_of_a_cpu(
    distribution_jdk: Jdk,
    tmp_path: Path,
    programs: Path,
    allocating: Callable[..., Allocating],
) -> None:
    """The helper is starved like everybody else; adaptive sees the quota and leaves it alone."""
    with control_group(cpus=0.1) as enter:
        for strategy in ("concurrent", "adaptive"):
            folder = tmp_path / strategy
            folder.mkdir()
            options = ["-XX:+UseSerialGC", "-Xint", *agent_options(folder, f"zeroing={strategy}")]
            program = allocating([*enter, distribution_jdk.java], options, programs)
            before = program.collections(distribution_jdk)
            while program.collections(distribution_jdk) < before + 2:
                time.sleep(0.5)
            program.stop()
    [adaptive] = read_all(tmp_path / "adaptive")
    zeroing = adaptive["grafts"]["zeroing"]
    assert "concurrent" not in zeroing["decisions"]
    assert zeroing["log"][0]["cpus"] == pytest.approx(0.1)


def read_all(folder: Path) -> list[dict]:
    return [json.loads(file.read_text()) for file in folder.glob("jvm-*.json")]


@combinations(
    also_deep=DEEP_JDKS,
    jdk=EACH_VERSION,
    collector=["Serial", "Parallel"],
    strategy=["windows", "concurrent"],
    strength=1,
)
def test_histogram_and_heap_dump_in_mid_run(
    jdk: Jdk,
    collector: str,
    strategy: str,
    tmp_path: Path,
    programs: Path,
    read_summaries: Summaries,
    allocating: Callable[..., Allocating],
) -> None:
    # Heap walks, and collections that JVM TI does not announce.
    options = [f"-XX:+Use{collector}GC", *VERIFY_HEAP, *agent_options(tmp_path, f"zeroing={strategy}")]
    program = allocating([jdk.java], options, programs)
    jmap = jdk.home / "bin/jmap"
    for kind in ("-histo", "-histo:live", "-histo"):
        histogram = run([jmap, kind, str(program.pid)])
        assert histogram.returncode == 0, histogram.stderr
        assert "AllocateUntilTold$Node" in histogram.stdout
    dump = tmp_path / "heap.hprof"
    dumped = run([jmap, f"-dump:live,format=b,file={dump}", str(program.pid)])
    assert dumped.returncode == 0, dumped.stderr
    assert dump.read_bytes()[:12] == b"JAVA PROFILE"
    program.stop()
    assert read_summaries()[0]["grafts"]["zeroing"]["missed_tlabs"] == 0


@pytest.mark.parametrize("strategy", ["windows", "concurrent"])
def test_a_crash_in_mid_zeroing_is_an_ordinary_crash(
    strategy: str, distribution_jdk: Jdk, tmp_path: Path, programs: Path, allocating: Callable[..., Allocating]
) -> None:
    log = tmp_path / "crash.log"
    crash = ["-XX:-CreateCoredumpOnCrash", f"-XX:ErrorFile={log}"]
    options = ["-XX:+UseParallelGC", *crash, *agent_options(tmp_path, f"zeroing={strategy}")]
    program = allocating([distribution_jdk.java], options, programs)
    output, _ = program.process.communicate("crash\n")
    # Without a core dump HotSpot ends with 1 (os::abort).
    assert program.process.returncode == 1
    assert "every node" not in output
    assert "SIGSEGV" in log.read_text()


def test_programs_are_started_in_mid_zeroing(
    jdk: Jdk, tmp_path: Path, programs: Path, read_summaries: Summaries
) -> None:
    options = ["-XX:+UseParallelGC", "-Xmx64m", *VERIFY_HEAP, *agent_options(tmp_path, "zeroing=concurrent")]
    for how in ("POSIX_SPAWN", "FORK"):
        launch = f"-Djdk.lang.Process.launchMechanism={how}"
        result = run([jdk.java, *options, launch, "-cp", programs, "StartProgramsWhileAllocating", "30"])
        assert result.returncode == 0, result.stderr
        assert result.stdout == "30 programs ended with 0\n"
    assert all(summary["grafts"]["zeroing"]["missed_tlabs"] == 0 for summary in read_summaries())


def adaptive_decisions(jdk: Jdk, folder: Path, cpus: Sequence[int]) -> dict[str, int]:
    """Of a program that keeps one CPU busy for ten seconds, and has these."""
    folder.mkdir()
    options = ["-XX:+UseSerialGC", "-Xmx64m", *agent_options(folder, "zeroing=adaptive")]
    pinned = ["taskset", "-c", ",".join(map(str, cpus))]
    # Long enough for the JVM's compilers to become idle.
    result = run([*pinned, *churn(jdk, options, threads=1, iterations=60)])
    assert result.returncode == 0, result.stderr
    decisions: dict[str, int] = read_all(folder)[0]["grafts"]["zeroing"]["decisions"]
    return decisions


@deep
def test_adaptive_uses_no_helper_where_no_cpu_is_idle(distribution_jdk: Jdk, tmp_path: Path) -> None:
    """Whatever else runs here: the CPUs that the program may use are all taken, by it and by a second program."""
    first, *others = sorted(os.sched_getaffinity(0))
    assert "concurrent" not in adaptive_decisions(distribution_jdk, tmp_path / "1", [first])
    if others:
        with spinning(others[0]):
            decisions = adaptive_decisions(distribution_jdk, tmp_path / "2", [first, others[0]])
        assert "concurrent" not in decisions


@contextlib.contextmanager
def spinning(cpu: int) -> Iterator[None]:
    with subprocess.Popen(["taskset", "-c", str(cpu), sys.executable, "-c", "while True: pass"]) as spinner:
        try:
            yield
        finally:
            spinner.kill()


def test_epochs_alternate_and_are_measured(distribution_jdk: Jdk, tmp_path: Path, read_summaries: Summaries) -> None:
    options = ["-XX:+UseParallelGC", "-Xmx64m", *agent_options(tmp_path, "zeroing=non-temporal,against=bulk")]
    result = run(churn(distribution_jdk, options, iterations=3))
    assert result.returncode == 0, result.stderr
    epochs = read_summaries()[0]["grafts"]["zeroing"]["epochs"]
    assert (epochs["grafted"], epochs["baseline"]) == ("non-temporal", "bulk")
    records = epochs["records"]
    assert len(records) > 10
    for record in records:
        expected = "grafted" if record["collection"] % 4 in (0, 3) else "baseline"
        assert record["side"] == expected
        assert 0 <= record["mutator_cpu_seconds"] <= record["wall_seconds"] * os.cpu_count() * 1.01
        assert record["bytes"] >= 0
    # All together, because one collection may follow another with nothing allocated in between.
    assert sum(record["bytes"] for record in records) > 100_000_000


def test_counters_are_there_or_say_why_not(
    distribution_jdk: Jdk, tmp_path: Path, programs: Path, read_summaries: Summaries
) -> None:
    options = agent_options(tmp_path, "zeroing=bulk,counters")
    result = run([distribution_jdk.java, *options, "-cp", programs, "ShowJoints"])
    assert result.returncode == 0, result.stderr
    counters = {counter["name"]: counter for counter in read_summaries()[0]["counters"]}
    assert {"cycles", "instructions", "page_faults"} <= set(counters)
    for counter in counters.values():
        assert counter["value"] >= 0 if counter["available"] else counter["reason"]
    assert counters["page_faults"]["available"]
    assert counters["page_faults"]["value"] > 1000
