"""What is printed where: results on standard output, everything else on standard error.

With `--json` standard output is the JSON alone. Colours only on a terminal and not under NO_COLOR (rich sees to both);
a pipe gets lines that are not folded.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from memgraft.errors import MemgraftError

PIPE_WIDTH = 120
"""Columns of a table that goes to a file or a pipe, unless COLUMNS says otherwise."""


class Screen(Console):
    """A console that ends quietly when its reader has gone (`memgraft doctor | head -1`)."""

    def __init__(self, file: IO[str]) -> None:
        wide = None if file.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
        # Nothing that is printed here is markup: a path or a JVM's message may contain [brackets].
        super().__init__(file=file, width=wide, highlight=False, markup=False, emoji=False)

    def on_broken_pipe(self) -> NoReturn:
        _let_go(self.file)


def _let_go(file: IO[str]) -> NoReturn:
    os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())
    raise SystemExit(0)


def out() -> Screen:
    return Screen(sys.stdout)


def err() -> Screen:
    return Screen(sys.stderr)


def say(message: str) -> None:
    """One line about what is going on, on standard error."""
    print(f"memgraft: {message}", file=sys.stderr, flush=True)


def dump(value: Any) -> str:
    """JSON that every reader takes: ASCII, and no NaN."""
    return json.dumps(value, indent=2, allow_nan=False) + "\n"


def print_json(value: Any) -> None:
    try:
        sys.stdout.write(dump(value))
        sys.stdout.flush()
    except BrokenPipeError:
        _let_go(sys.stdout)


def write_file(path: Path, text: str) -> None:
    """Replaces the file at once, so that a reader never sees half of it."""
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_text(text, encoding="utf-8", errors="backslashreplace")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def table(*headers: str, right: Sequence[str] = (), gap: int = 2) -> Table:
    """A table in the one style used everywhere; the columns named in `right` hold numbers."""
    made = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0), header_style="bold")
    for header in headers:
        made.add_column(header, justify="right" if header in right else "left", overflow="fold")
    return made


def progress() -> Progress:
    """A progress bar on standard error, seen only on a terminal."""
    screen = err()
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=screen,
        transient=True,
        # Seldom: drawing takes CPU time from what is being measured.
        refresh_per_second=2,
        disable=not screen.is_terminal,
    )


def fail(error: MemgraftError) -> NoReturn:
    """Ends the process with the error's one line and its exit code."""
    say(error.message)
    raise SystemExit(error.exit_code)


def to_standard_error() -> int:
    """Where a program's standard output goes when Memgraft's own is to be JSON alone."""
    return sys.stderr.fileno()
