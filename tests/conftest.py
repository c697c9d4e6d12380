"""What the end-to-end tests run on: this checkout's agent and workloads, and every JVM that setup/jdks fetched."""

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from processes import adopt_orphans, nothing_left_behind, run

ROOT = Path(__file__).resolve().parent.parent
AGENT = ROOT / "memgraft/native/libmemgraft_hotspot.so"
FORGETFUL_AGENT = ROOT / "build/native/stocks/hotspot/tests/libmemgraft_forgetful.so"
# Its non-temporal strategy is bulk and 3 % of the thread's CPU time more: an effect that is known.
SLOWED_AGENT = ROOT / "build/native/stocks/hotspot/tests/libmemgraft_slowed.so"
# Its ordering graft does nothing.
UNORDERED_AGENT = ROOT / "build/native/stocks/hotspot/tests/libmemgraft_unordered.so"
# It has one graft more, which does nothing.
IDLE_AGENT = ROOT / "build/native/stocks/hotspot/tests/libmemgraft_idle.so"
AGENT_AARCH64 = ROOT / "build/agent-aarch64/stocks/hotspot/libmemgraft_hotspot.so"
# Debian's packages of that architecture bring its dynamic linker; what g++-aarch64-linux-gnu has goes with no other.
LINKER_AARCH64 = Path("/lib/ld-linux-aarch64.so.1")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memgraft/jdks"
JDKS_AARCH64 = CACHE.parent / "jdks-aarch64"

# Under these HotSpot checks all that it has, before and after every collection.
VERIFY_EVERYTHING = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+VerifyBeforeGC", "-XX:+VerifyAfterGC"]
# Under these it walks and checks its whole heap, and what threads refer to. Tables of classes, strings and code are
# left out: they take two thirds of the time, and no graft of allocation touches them.
VERIFY_HEAP = [*VERIFY_EVERYTHING, "-XX:VerifySubSet=threads,heap"]


@dataclass(frozen=True)
class Jdk:
    """A Java home."""

    home: Path

    @property
    def java(self) -> Path:
        return self.home / "bin/java"

    @property
    def libjvm(self) -> Path:
        return self.home / "lib/server/libjvm.so"


def system_jdk() -> Jdk:
    """The JDK that java on the PATH belongs to: the distribution's."""
    found = subprocess.run(
        ["bash", "-c", 'readlink -f "$(command -v javac)"'], capture_output=True, text=True, check=True
    )
    return Jdk(Path(found.stdout.strip()).parent.parent)


def fetched_jdk(version: str) -> Jdk:
    homes = sorted(CACHE.glob(f"temurin-{version}.*"))
    if not homes:
        pytest.skip(f"no Temurin {version} in {CACHE}: setup/jdks could not fetch it")
    return Jdk(homes[-1])


EACH_VERSION = ["distribution", "21", "25"]
"""One JVM of each feature version: the distribution's is a 17."""
SECOND_BUILDS = ["17"]
JDKS = [*EACH_VERSION, *SECOND_BUILDS]
COLLECTORS = ["Serial", "Parallel", "G1"]


def pytest_configure() -> None:
    adopt_orphans()
    # Ctrl-C interrupts what tests start, even where a shell runs them in the background, where nothing would.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _nothing_left_behind() -> Iterator[None]:
    with nothing_left_behind():
        yield


def jdk_called(name: str) -> Jdk:
    return system_jdk() if name == "distribution" else fetched_jdk(name)


@pytest.fixture(params=[*EACH_VERSION, *(pytest.param(name, marks=pytest.mark.deep) for name in SECOND_BUILDS)])
def jdk(request: pytest.FixtureRequest) -> Jdk:
    """Each JVM that the grafts must join; the gate has one of each version."""
    return jdk_called(request.param)


on_every_build = pytest.mark.parametrize("jdk", JDKS, indirect=True)
"""Where joints are looked for: they differ between builds."""


@pytest.fixture(params=EACH_VERSION)
def jdk_of_each_version(request: pytest.FixtureRequest) -> Jdk:
    return jdk_called(request.param)


@pytest.fixture(scope="session")
def distribution_jdk() -> Jdk:
    return system_jdk()


def needed(path: Path, what: str, remedy: str) -> Path:
    if not path.exists():
        pytest.skip(f"{what}: no {path}: {remedy}")
    return path


@pytest.fixture(scope="session")
def agent_aarch64() -> Path:
    return needed(AGENT_AARCH64, "the agent for aarch64 is not built", "make agent-aarch64 says why")


@pytest.fixture(scope="session")
def java_aarch64(request: pytest.FixtureRequest) -> list[str | Path]:
    """How Java of the other architecture is started: of the version that a test asks for, or 21."""
    version = getattr(request, "param", "21")
    qemu = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
    if qemu is None:
        pytest.skip("no qemu-aarch64: package qemu-user (setup/packages test)")
    needed(LINKER_AARCH64, "no C library for aarch64", "package libelf-dev:arm64 brings it (setup/packages test)")
    homes = sorted(JDKS_AARCH64.glob(f"temurin-{version}.*"))
    if not homes:
        pytest.skip(f"no Temurin {version} for aarch64 in {JDKS_AARCH64}: setup/jdks could not fetch it")
    return [qemu, homes[-1] / "bin/java"]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The class path of tests/programs, compiled."""
    classes = tmp_path_factory.mktemp("classes")
    sources = [
        *sorted((ROOT / "tests/programs").glob("*.java")),
        *(ROOT / "ordering/annotation/src").rglob("*.java"),
    ]
    subprocess.run(["javac", "--release", "17", "-Xlint:all", "-Werror", "-d", classes, *sources], check=True)
    return classes


def memgraft(*arguments: str | Path, limit: float | None = None, **changes: str) -> subprocess.CompletedProcess[str]:
    return run([ROOT / "bin/memgraft", *arguments], limit=limit, **changes)


DRIVER = """
import sys
from pathlib import Path
from memgraft import native
native.FOLDER = Path(sys.argv.pop(1))
from memgraft.cli import main
main()
"""


def memgraft_with(agent: Path, folder: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """The command line with another agent in the place of Memgraft's own, by way of a native folder in `folder`."""
    natives = folder / "native"
    natives.mkdir()
    (natives / AGENT.name).symlink_to(agent)
    return run([ROOT / ".venv/bin/python", "-P", "-c", DRIVER, natives, *arguments], PYTHONPATH=str(ROOT))


def agent_options(folder: Path, options: str, agent: Path = AGENT) -> list[str]:
    return ["-XX:+ZeroTLAB", f"-agentpath:{agent}={options},summary={folder}"]


def churn(jdk: Jdk, options: list[str], *, threads: int = 3, iterations: int = 2) -> list[str | Path]:
    """The allocation storm that checks every fresh array and object for zeroes."""
    jvm = [f"--jvm={option}" for option in options]
    return [
        *["env", f"JAVA_HOME={jdk.home}", ROOT / "bin/workload", "churn", *jvm],
        *["--size", "small", "--threads", str(threads), "--iterations", str(iterations)],
    ]


def churn_under_verification(jdk: Jdk, collector: str, options: list[str], *, threads: int = 3) -> None:
    """Has churn pass in a heap of 96 MB, which HotSpot looks through before and after each collection."""
    heap = [f"-XX:+Use{collector}GC", "-Xms96m", "-Xmx96m", *VERIFY_HEAP]
    result = run(churn(jdk, [*heap, *options], threads=threads, iterations=1))
    assert result.returncode == 0, result.stderr


class Frozen:
    """One thread of another process that does not run meanwhile (ptrace(2), PTRACE_SEIZE and PTRACE_INTERRUPT)."""

    _SEIZE, _INTERRUPT, _DETACH = 0x4206, 0x4207, 17
    _WALL = 0x40000000  # __WALL of wait(2): threads too

    def __init__(self, thread: int) -> None:
        self.thread = thread

    def _ptrace(self, request: int) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        libc.ptrace.restype = ctypes.c_long
        if libc.ptrace(request, self.thread, None, None) != 0:
            code = ctypes.get_errno()
            if request == self._SEIZE and code == errno.EPERM:
                pytest.skip("ptrace is not permitted here, so that no thread can be frozen")
            raise OSError(code, os.strerror(code))

    def __enter__(self) -> None:
        self._ptrace(self._SEIZE)
        self._ptrace(self._INTERRUPT)
        os.waitpid(self.thread, self._WALL)

    def __exit__(self, *_: object) -> None:
        self._ptrace(self._DETACH)


@contextlib.contextmanager
def control_group(cpus: float) -> Iterator[list[str | Path]]:
    """What to put in front of a command so that it gets no more than so many CPUs; skips where that takes rights."""
    period = 100_000
    for parent, limits in (
        (Path("/sys/fs/cgroup"), {"cpu.max": f"{round(cpus * period)} {period}"}),
        (Path("/sys/fs/cgroup/cpu"), {"cpu.cfs_period_us": str(period), "cpu.cfs_quota_us": str(round(cpus * period))}),
    ):
        group = parent / f"memgraft-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if not all((group / name).exists() for name in limits):
                continue
            for name, value in limits.items():
                (group / name).write_text(value)
            yield ["sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh"]
            return
        finally:
            for _ in range(100):
                with contextlib.suppress(OSError):
                    group.rmdir()
                    break
                time.sleep(0.05)
    pytest.skip("no control group with a limit of CPU time could be made here (it takes root, or delegation)")


@pytest.fixture
def read_summaries(tmp_path: Path) -> Callable[[], list[dict]]:
    """Reads what agents with summary=tmp_path wrote."""

    def read() -> list[dict]:
        return [json.loads(file.read_text()) for file in sorted(tmp_path.glob("jvm-*.json"))]

    return read


@pytest.fixture(scope="session")
def calibration(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> tuple[Path, dict]:
    """A quick calibration of this machine: its cache folder, beside the table in it zeroing.html; and what it said."""
    parent = tmp_path_factory.getbasetemp()
    folder = (parent if worker_id == "master" else parent.parent) / "calibration"
    with made_once(folder) as missing:
        if missing:
            words = ["--quick", "--largest", "2048", "--json", "--plots", folder]
            result = memgraft("zero", "calibrate", *words, XDG_CACHE_HOME=str(folder))
            assert result.returncode == 0, result.stderr
            (folder / "said.json").write_text(result.stdout)
    return folder, json.loads((folder / "said.json").read_text())


@contextlib.contextmanager
def made_once(folder: Path) -> Iterator[bool]:
    """Whether what several workers share must still be made: one does so, and the others wait for it."""
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "done"
        missing = not done.exists()
        folder.mkdir(exist_ok=True)
        yield missing
        done.touch()
