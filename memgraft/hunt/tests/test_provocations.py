"""What a provocation does to a program, whether or not it fails then."""

import os
import subprocess
import sys
from pathlib import Path

from memgraft.hunt import provocations
from memgraft.hunt.provocations import LOADED, NONE, PINNED

PROGRAM = """
import os, subprocess, sys, threading
wanted = int(sys.argv[1])
if len(sys.argv) == 2:
    sys.exit(subprocess.run([sys.executable, "-S", "-I", __file__, sys.argv[1], "child"]).returncode)
over = threading.Event()
threads = [threading.Thread(target=over.wait) for _ in range(5)]
for thread in threads:
    thread.start()
cpus = []
# Begun by a thread that stays on one CPU, they are all on that one at first.
while len(set().union(*cpus)) < wanted or any(len(its) > 1 for its in cpus):
    cpus = [os.sched_getaffinity(thread.native_id) for thread in threads]
over.set()
"""


def test_each_thread_stays_on_one_cpu(tmp_path: Path) -> None:
    """Those of a program that the command starts, too. It ends when each has one, and no CPU is without."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM)
    cpus = min(5, len(os.sched_getaffinity(0)))
    started = subprocess.Popen([sys.executable, "-S", "-I", file, str(cpus)])
    with PINNED.upon(started.pid):
        assert started.wait() == 0


def test_a_program_that_has_ended_has_no_threads() -> None:
    ended = subprocess.Popen([sys.executable, "-S", "-I", "-c", ""])
    ended.wait()
    assert list(provocations._threads(ended.pid)) == []


def test_others_leave_threads_alone() -> None:
    before = os.sched_getaffinity(0)
    with NONE.beside(), NONE.upon(os.getpid()), LOADED.upon(os.getpid()):
        assert os.sched_getaffinity(0) == before
