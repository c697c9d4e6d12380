"""What can go wrong, and the exit code each kind ends with.

Every message is one line that names the offending value, what was expected and what to do.
"""

import contextlib
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import typer
from pydantic import ValidationError

EXPECTED = re.compile(r"Input should be (.+?)(?:, unable to .*)?")
"""pydantic's messages about a value that cannot be taken."""
WRONG_VALUE = re.compile(r"Invalid value for (.+?): (Input should be .+)")
"""The same as typer passes it on, who leaves the value out."""


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


class AskedToEnd(SystemExit):
    """A signal that asks this process to end, with the exit code that a shell knows it by.

    As an exception it ends what was started, and takes temporary folders away, as Ctrl-C does.
    """

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number
        self.name = signal.Signals(number).name


def end_when_asked() -> None:
    """From now on such a signal raises AskedToEnd."""

    def end(number: int, _frame: object) -> NoReturn:
        raise AskedToEnd(number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # nohup's stays ignored
            signal.signal(number, end)


def one_line(text: str) -> str:
    """`text` on one line, with control characters (a log line may hold escape sequences) made visible."""
    joined = " ".join(text.split())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in joined)


def expected_by(message: str) -> str:
    """What pydantic says that it expected, without its own words around."""
    found = EXPECTED.fullmatch(message)
    expected = found[1] if found else message
    return f"a number {expected}" if expected.startswith(("greater than", "less than")) else expected


def usage_error(error: typer.TyperException) -> WrongUsageError:
    """The parser's message, in the one form of all messages."""
    # pydantic, which typer has look at values, announces its errors.
    message = " ".join(error.format_message().replace("Value error, ", "").split()).rstrip(".")
    wrong = WRONG_VALUE.fullmatch(message)
    if wrong and isinstance(error.__cause__, ValidationError):
        value = error.__cause__.errors()[0]["input"]
        option = wrong[1].replace("'", "")
        message = f"{option} {value}: expected {expected_by(wrong[2])}"
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "memgraft"
    return WrongUsageError(f"{message[:1].lower()}{message[1:]}; see `{command} --help`")


@contextlib.contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Names the folder in an error of the system that names no file: a full disk shows only when a file is written."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(folder)
        raise
