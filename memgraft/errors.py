"""What can go wrong, and the exit code each kind ends with.

Every message is one line that names the offending value, what was expected and what to do.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path


class MemgraftError(Exception):
    """An error to be shown as one line; the subclasses say which exit code it means."""

    exit_code = 1

    @property
    def message(self) -> str:
        """The message as one line that a terminal can show safely."""
        return one_line(str(self))


class ProgramFailedError(MemgraftError):
    """The program that was run failed; the message reports its own code."""

    exit_code = 1


class WrongUsageError(MemgraftError):
    """The command line, or what it points at, is not usable as given."""

    exit_code = 2


class CannotTakeError(MemgraftError):
    """This machine or this runtime cannot take the graft."""

    exit_code = 3


class InterruptedRunError(MemgraftError):
    """A signal ended the work; raised only after the programs that were started have ended."""

    def __init__(self, message: str, signal_number: int) -> None:
        super().__init__(message)
        # As a shell counts: 130 for Ctrl-C.
        self.exit_code = 128 + signal_number


def one_line(text: str) -> str:
    """`text` on one line, with control characters (a log line may hold escape sequences) made visible."""
    joined = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in joined)


@contextlib.contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Names the folder in an error of the system that names no file: a full disk shows only when a file is written."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(folder)
        raise
