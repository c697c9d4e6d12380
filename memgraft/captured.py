"""Runs a program for what it prints."""

import subprocess
from collections.abc import Sequence


def captured(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Waits for its end; what ends the wait, such as Ctrl-C, asks the program to end as well, and waits for that.

    subprocess.run would kill it, and leave the programs alone that it started.
    """
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, encoding="utf-8", errors="replace"
    ) as process:
        try:
            out, errors = process.communicate()
        except BaseException:
            # Of a terminal's Ctrl-C it has heard already; of a signal sent to this process alone it has not.
            process.terminate()
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, errors)
