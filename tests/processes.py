"""Programs that tests start: each ends in time, or says where it was; and none stays behind.

A test's process adopts what its programs leave behind (PR_SET_CHILD_SUBREAPER of prctl(2)), so that a JVM whose parent
has ended is still found among its descendants.
"""

import contextlib
import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import psutil
import pytest

LIMIT = 600
"""Seconds for one program: far above what any needs, so that only what hangs meets it."""
GRACE = 60
"""Seconds for a program that was told to end, or whose parent has."""
PR_SET_CHILD_SUBREAPER = 36  # <linux/prctl.h>


def adopt_orphans() -> None:
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def clean_environment(**changes: str) -> dict[str, str]:
    """This process's environment without any JVM options of the person who runs the tests."""
    environment = {k: v for k, v in os.environ.items() if k not in {"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"}}
    return environment | changes


def run(command: Iterable[object], *, limit: float | None = None, **changes: str) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end. What takes longer than its limit is a failure, with the stacks of all its threads."""
    limit = limit or LIMIT
    words = [str(word) for word in command]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=clean_environment(**changes)
    )
    try:
        output, errors = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        where = end([psutil.Process(process.pid)])
        output, errors = process.communicate()
        pytest.fail(f"not ended within {limit:g} s: {' '.join(words)}\n{where}\n{output[-3000:]}\n{errors[-3000:]}")
    except BaseException:  # the test's own time limit, or Ctrl-C
        print(end([psutil.Process(process.pid)]))
        process.communicate()
        raise
    return subprocess.CompletedProcess(words, process.returncode, output, errors)


def end(processes: Iterable[psutil.Process]) -> str:
    """Kills these programs and all that they started; returns where their threads were."""
    doomed: dict[int, psutil.Process] = {}
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            doomed |= {one.pid: one for one in [process, *process.children(recursive=True)]}
    where = "\n".join(stacks(process) for process in doomed.values())
    for process in doomed.values():
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    return where


def stacks(process: psutil.Process) -> str:
    """Where the threads of a program are: of a JVM in its own words, of others by gdb, or by what Linux says."""
    try:
        command = " ".join(process.cmdline())
        told = f"--- {process.pid} ({process.status()}): {command[:500]}\n"
        if process.name() == "java" and shutil.which("jcmd"):
            return told + _output(["jcmd", str(process.pid), "Thread.print"])
        if shutil.which("gdb"):
            return told + _output(["gdb", "-p", str(process.pid), "-batch", "-ex", "thread apply all backtrace 30"])
        for thread in process.threads():
            with contextlib.suppress(OSError):
                waits = Path(f"/proc/{process.pid}/task/{thread.id}/wchan").read_text()
                told += f"thread {thread.id}, user {thread.user_time} s, waits in {waits or 'nothing'}\n"
    except psutil.Error as gone:
        return f"--- {gone}"
    return told


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=GRACE)
    except subprocess.TimeoutExpired:
        return f"{command[0]} did not answer within {GRACE} s\n"
    return done.stdout + done.stderr


def _alive() -> list[psutil.Process]:
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


@contextlib.contextmanager
def nothing_left_behind(grace: float = GRACE) -> Iterator[None]:
    """Fails where a program that was started meanwhile still runs, and ends it."""
    before = set(_alive())
    yield
    started = [one for one in _alive() if one not in before and before.isdisjoint(_ancestors(one))]
    # A program that has just been told to end may take a moment.
    _, left = psutil.wait_procs(started, timeout=grace)
    if left:
        pytest.fail(f"left behind:\n{end(left)}")


def _ancestors(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.parents()
    except psutil.NoSuchProcess:
        return []
