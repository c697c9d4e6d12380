"""The agent's table of HotSpot's own threads, against what real JVMs say they run."""

import re
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT, Jdk
from processes import clean_environment, run

THREAD_OWNERS = ROOT / "build/native/stocks/hotspot/tests/thread_owners"
# The threads that run Java code of the program's; all others that a JVM lists are its own.
OF_THE_PROGRAM = {"main", "Thread-0", "Thread-1", "Finalizer", "Reference Handler", "Common-Cleaner"}
# "C2 CompilerThread0" #5 [4712] daemon prio=9 os_prio=0 cpu=12.3ms elapsed=0.5s tid=0x... nid=0x1268 waiting ...
DUMPED = re.compile(r'^"(?P<name>.*)" .*\bnid=(?P<tid>0x[0-9a-f]+|\d+) ')
DUMP_ENDS = "JNI global ref"


@dataclass(frozen=True)
class Threads:
    """The threads of one JVM: their names in the kernel, and what the JVM's own dump calls them, by their number."""

    pid: int
    kernel: dict[int, str]
    dumped: dict[int, str]


def threads_of(jdk: Jdk, options: list[str], programs: Path, jcmd: Path | None = None) -> Threads:
    """`jcmd` talks to the JVM first: it starts another thread for that."""
    command = [jdk.java, "-Xmx64m", *options, "-cp", programs, "AllocateUntilTold"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=clean_environment()
    ) as process:
        assert process.stdin
        assert process.stdout
        try:
            while (line := process.stdout.readline()) != "allocating\n":
                assert line, f"{command} ended"
            if jcmd is not None:
                told = run([jcmd, str(process.pid), "VM.version"])
                assert told.returncode == 0, told.stderr
            process.send_signal(signal.SIGQUIT)
            dumped = {}
            while not (line := process.stdout.readline()).startswith(DUMP_ENDS):
                assert line, f"{command} ended"
                if found := DUMPED.match(line):
                    dumped[int(found["tid"], 0)] = found["name"]
            kernel = kernel_names(process.pid)
            process.communicate("stop\n")
        finally:
            process.kill()
        assert process.returncode == 0
        return Threads(process.pid, kernel, dumped)


def kernel_names(pid: int) -> dict[int, str]:
    names = {}
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            names[int(task.name)] = (task / "comm").read_text().removesuffix("\n")
        except OSError:
            continue  # it has ended: compiler threads come and go
    return names


def owners(names: list[str]) -> list[str]:
    if not THREAD_OWNERS.exists():
        pytest.skip(f"{THREAD_OWNERS} is not built: make native")
    said = subprocess.run([THREAD_OWNERS], input="\n".join(names), capture_output=True, text=True, check=True)
    return said.stdout.splitlines()


def check_every_thread(threads: Threads) -> dict[str, str]:
    """Owners by the names that the JVM uses; what it does not list goes by the kernel's."""
    tids = sorted(threads.kernel)
    found = {}
    for tid, owner in zip(tids, owners([threads.kernel[tid] for tid in tids]), strict=True):
        if tid == threads.pid and tid not in threads.dumped:
            # The launcher's thread, which has no name of HotSpot's and waits for the one that it gave to main.
            assert owner == "program"
            continue
        name = threads.dumped.get(tid, threads.kernel[tid])
        assert (owner == "program") == (name in OF_THE_PROGRAM), (name, threads.kernel[tid], owner)
        found[name] = owner
    # So that a dump in another format, in which nothing is found, would be noticed.
    assert {"VM Thread": "vm", "main": "program", "C2 CompilerThread0": "compiler"}.items() <= found.items()
    return found


@pytest.mark.parametrize(
    ("collector", "workers"),
    [
        ("Serial", set()),
        ("Parallel", {"GC Thread#0"}),
        ("G1", {"GC Thread#0", "G1 Conc#0", "G1 Main Marker", "G1 Refine#0", "G1 Service"}),
    ],
)
def test_every_thread_has_its_owner(jdk: Jdk, collector: str, workers: set[str], programs: Path) -> None:
    found = check_every_thread(threads_of(jdk, [f"-XX:+Use{collector}GC"], programs))
    collecting = {name for name, owner in found.items() if owner == "collector"}
    assert workers <= collecting
    assert workers or not collecting


def test_threads_that_only_some_options_start(jdk: Jdk, distribution_jdk: Jdk, tmp_path: Path, programs: Path) -> None:
    options = ["-XX:+UseG1GC", "-XX:+UseStringDeduplication", "-Xlog:async", f"-Xlog:gc:file={tmp_path / 'gc.log'}"]
    recording = [f"-XX:StartFlightRecording=filename={tmp_path / 'recording.jfr'}", "-Xlog:jfr+startup=off"]
    jcmd = distribution_jdk.home / "bin/jcmd"  # the fetched ones are without tools
    found = check_every_thread(threads_of(jdk, [*options, *recording], programs, jcmd))
    assert found["AsyncLog Thread"] == "vm"
    assert found["JFR Recorder Thread"] == "vm"
    assert found["Attach Listener"] == "vm"
    assert "StringDedup" in " ".join(name for name, owner in found.items() if owner == "collector")
