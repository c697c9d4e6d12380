"""Shows what a missing `volatile` does to a small server, that `--ordering sc` mends it, and which field it is.

    show.py [--launches N] [--requests N] [--no-hunt]

Launches JobServer.java by turns on the JVM as it is and under the graft, and prints a table of what happened. Then it
hunts for the field because of which the heartbeat goes on. Exit codes: 0, whatever happened; 2, wrong usage; 3, no JVM
here can do it; else that of the server, or of the hunt.
"""

import argparse
import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

HERE = Path(__file__).resolve().parent
MEMGRAFT = HERE.parent.parent / "bin/memgraft"
HUNT_REQUESTS = 20_000
"""So few that a launch is over soon; the heartbeat goes on all the same."""
SIDES = {"stock JVM": [], "--ordering sc": [str(MEMGRAFT), "run", "--ordering", "sc", "--"]}


@dataclass
class Happened:
    """To all launches of a side."""

    requests: int = 0
    slept_over: int = 0
    heartbeats: int = 0
    went_on: int = 0

    def add(self, line: str) -> None:
        for name, count in json.loads(line).items():
            setattr(self, name, getattr(self, name) + count)


def positive(word: str) -> int:
    number = int(word) if word.isdecimal() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{word}': expected a whole number, 1 or more")
    return number


def launch(before: Sequence[str], requests: int) -> str:
    """What the server printed."""
    command = [*before, "java", str(HERE / "JobServer.java"), str(requests)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        print(result.stderr, end="", file=sys.stderr)
        sys.exit(result.returncode)
    return result.stdout


def table(happened: dict[str, Happened], launches: int) -> Table:
    shown = Table(title=f"A small server without its volatile, {launches} launches each", title_justify="left")
    shown.add_column("")
    for side in happened:
        shown.add_column(side, justify="right")
    rows = {
        "requests left for the worker": [f"{side.requests:,}" for side in happened.values()],
        "requests that it slept over": [f"{side.slept_over:,}" for side in happened.values()],
        "heartbeats told to stop": [f"{side.heartbeats:,}" for side in happened.values()],
        "heartbeats that went on": [f"{side.went_on:,}" for side in happened.values()],
    }
    for name, cells in rows.items():
        shown.add_row(name, *cells)
    return shown


def hunt() -> None:
    """Which field it is that the heartbeat does not see."""
    with tempfile.TemporaryDirectory() as classes:
        subprocess.run(["javac", "-d", classes, str(HERE / "JobServer.java")], check=True)
        command = [str(MEMGRAFT), "hunt", "--fails-when", '"went_on": 1', "--sources", str(HERE), "--"]
        command += ["java", "-cp", classes, "JobServer", str(HUNT_REQUESTS)]
        print("\nWhich field does the heartbeat not see? The hunt finds it; this takes a minute or two.")
        print(f"+ {shlex.join(command)}", flush=True)
        result = subprocess.run(command, check=False)
    if result.returncode != 0:
        sys.exit(result.returncode)


def main() -> None:
    parser = argparse.ArgumentParser(prog="show.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--launches", type=positive, default=3, help="of each side (3)")
    parser.add_argument("--requests", type=positive, default=200_000, help="in each launch (200000)")
    parser.add_argument("--no-hunt", action="store_true", help="only show it")
    options = parser.parse_args()
    if shutil.which("java") is None or shutil.which("javac") is None:
        print("show.py: found no java and javac on the PATH: the server is compiled when it starts", file=sys.stderr)
        sys.exit(3)
    happened = {side: Happened() for side in SIDES}
    for number in range(options.launches):
        for side, before in SIDES.items():
            print(f"launch {number + 1} of {options.launches}: {side}", flush=True)
            happened[side].add(launch(before, options.requests))
    Console().print(table(happened, options.launches))
    if not options.no_hunt:
        hunt()


if __name__ == "__main__":
    main()
