"""Starting a program with grafts: which variable carries them to the JVM, the start itself, and its CPU time.

The command is never changed. HotSpot reads two variables: the `java` launcher of JDK 9 and later puts
JDK_JAVA_OPTIONS in front of its command line (and no other program does); every HotSpot, whoever starts it, reads
JAVA_TOOL_OPTIONS.
"""

import contextlib
import errno
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO

from memgraft import native
from memgraft.errors import WrongUsageError
from memgraft.grafts.selection import Selection
from memgraft.grafts.table import (
    CHECK_ORDER,
    CHECKS_ALONE,
    COUNTERS,
    ONLY,
    ORDERING,
    SEED,
    SPECULATIVE,
    SUMMARY,
    TABLE,
    WEAK,
    ZEROING,
)
from memgraft.machine.kernel_table import table_for_this_cpu

JDK_JAVA_OPTIONS = "JDK_JAVA_OPTIONS"
JAVA_TOOL_OPTIONS = "JAVA_TOOL_OPTIONS"
FIRST_WITH_JDK_JAVA_OPTIONS = 9
"""The java command's manual page: JDK_JAVA_OPTIONS since JDK 9."""

INTERRUPT = int(signal.SIGINT)
SIGNAL_EXIT = 128
"""What a shell adds to the number of the signal that ended a program."""

File = int | IO[bytes] | None


class Via(StrEnum):
    """How the grafts reach the JVM."""

    AUTO = "auto"
    JDK = "jdk-java-options"
    TOOL = "java-tool-options"


@dataclass(frozen=True)
class Joining:
    """What is added to one variable of the program's environment; nothing at all where no graft joins."""

    variable: str | None = None
    options: tuple[str, ...] = ()

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """`base` with the options in front of what the variable already holds."""
        environment = dict(base)
        if self.variable:
            added = " ".join(quoted(option) for option in self.options)
            environment[self.variable] = f"{added} {base.get(self.variable, '')}".rstrip()
        return environment


def find_program(command: Sequence[str]) -> Path:
    """The file that the command's first word runs, or WrongUsageError."""
    if not command:
        raise WrongUsageError("no command given: expected `-- COMMAND...`, something that starts java")
    word = command[0]
    found = shutil.which(word)
    if found:
        return Path(found)
    if "/" not in word:
        raise WrongUsageError(f"command '{word}' not found: expected an executable on the PATH, or a path with a '/'")
    kind = "is a folder" if Path(word).is_dir() else "is not executable" if Path(word).exists() else "does not exist"
    raise WrongUsageError(f"command '{word}' {kind}: expected an executable file")


def java_feature(java: Path) -> int | None:
    """The JDK's feature number (17 of 17.0.15, 8 of 1.8.0_412) by the `release` file beside it, if there is one."""
    home = java.resolve().parent.parent
    # A JDK 8 has its runtime, and a second java, in the folder `jre`.
    for folder in (home, home.parent) if home.name == "jre" else (home,):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = (folder / "release").read_text(encoding="utf-8")
            if version := re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', text, re.MULTILINE):
                return int(version.group(1))
    return None


def is_java_launcher(program: Path) -> bool:
    """Whether this is a JDK's own `java`, and not a script of that name that may start something else."""
    try:
        with program.open("rb") as file:
            return program.name == "java" and file.read(4) == b"\x7fELF"
    except OSError:
        return False


def choose_variable(program: Path, via: Via) -> str:
    """The variable by which options reach the JVM that `program` is or starts."""
    if via is Via.JDK:
        return JDK_JAVA_OPTIONS
    if via is Via.TOOL or not is_java_launcher(program):
        return JAVA_TOOL_OPTIONS
    feature = java_feature(program)
    # Without a release file nothing tells a JDK 8, which would ignore JDK_JAVA_OPTIONS without a word.
    return JDK_JAVA_OPTIONS if feature and feature >= FIRST_WITH_JDK_JAVA_OPTIONS else JAVA_TOOL_OPTIONS


def quoted(option: str) -> str:
    """One option as both variables take it: split at white space, with quotes of either kind and no escapes."""
    if not re.search(r"""[\s'"]""", option):
        return option
    return "".join(f"'{part}'" if '"' in part else f'"{part}"' for part in re.findall(r"""[^"]+|"+""", option))


def loadable(agent: Path, scratch: Path) -> Path:
    """The agent under a path that -agentpath and -javaagent can name: its options start at the first '='."""
    if not re.search(r"""[='"\n]""", str(agent)):
        return agent
    link = scratch / agent.name
    if re.search(r"""[='"\n]""", str(link)):
        raise WrongUsageError(
            f"-agentpath cannot hold '=' or quotes, and both {agent.parent} and {scratch} have them: use a folder with "
            "a plain name (TMPDIR for `run`, --output for `compare`)"
        )
    if not link.is_symlink():
        link.symlink_to(agent)
    return link


def agent_option(agent: Path, options: Sequence[str], summaries: Path) -> str:
    """The JVM option that loads the agent and has it write into the folder `summaries`."""
    return f"-agentpath:{agent}={','.join([*options, SUMMARY.told(summaries)])}"


def java_agent_option(agent: Path, options: Sequence[str], summaries: Path) -> str:
    """The same of the agent that rewrites classes."""
    return f"-javaagent:{agent}={','.join([*options, SUMMARY.told(summaries)])}"


def agent_for(selection: Selection) -> Path | None:
    """The agent that such a selection joins with, or CannotTakeError where it is not there; None: nothing joins."""
    if not selection.joins():
        return None
    return native.find(native.BYTECODE_AGENT if selection.by_bytecode else native.HOTSPOT_AGENT)


def join(selection: Selection, variable: str, agent: Path, summaries: Path, *, alone: bool = False) -> Joining:
    """What makes the JVMs of one launch take the grafts and leave their summaries in a folder.

    `alone`: with hardware counters, and with the ordering graft's check of every compiled method. Not in a comparison,
    where they would burden one side only.
    """
    if not selection.joins():
        return Joining()
    if selection.by_bytecode:
        only = selection.value(ONLY.name)
        options = [ONLY.told(only)] if only else []
        label = selection.joining.label
        if label == WEAK:
            options.append(f"{WEAK}={selection.value(SEED.name) or SEED.default}")
        elif label == SPECULATIVE:
            options += ["speculate", *(["check"] if alone else [])]
        elif label == CHECKS_ALONE:
            options.append("speculate=never-switch")
        elif alone and not only:
            # Where some accesses are left as they are, there is nothing to check.
            options.append("check")
        return Joining(variable, (*selection.jvm_options, java_agent_option(agent, options, summaries)))
    options = [*selection.agent_options, *([COUNTERS.told()] if alone else [])]
    if alone and selection.joins(ORDERING):
        options.append(CHECK_ORDER.told())
    # Without one the agent chooses its kernels by the CPU's family.
    if selection.joins(ZEROING) and (table := table_for_this_cpu()):
        options.append(TABLE.told(table))
    return Joining(variable, (*selection.jvm_options, agent_option(agent, options, summaries)))


@dataclass
class Ended:
    """One program that has ended."""

    exit_code: int
    """As a shell counts: 128 + N after signal N."""
    wall_seconds: float
    user_seconds: float
    system_seconds: float
    max_rss_bytes: int

    @property
    def cpu_seconds(self) -> float:
        """Of the program and of all its descendants that were waited for (getrusage(2), RUSAGE_CHILDREN)."""
        return self.user_seconds + self.system_seconds


class Program:
    """One program that is running."""

    def __init__(self, process: subprocess.Popen[bytes], own_group: bool) -> None:
        self._process = process
        self.own_group = own_group
        self._started = time.monotonic()
        self.pid = process.pid
        self.ended: Ended | None = None
        self.stopped = False
        """Whether it was asked to end because another one failed."""

    def stop(self) -> None:
        self.stopped = True
        self.signal(signal.SIGTERM)

    def signal(self, number: int) -> None:
        """Passes a signal on: to everything the program started where it leads a process group."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number) if self.own_group else os.kill(self.pid, number)

    def reaped(self, status: int, usage: resource.struct_rusage) -> None:
        """Keeps what the kernel said at the end (wait4(2))."""
        wall = time.monotonic() - self._started
        code = os.waitstatus_to_exitcode(status)
        # Popen must not wait for it again.
        self._process.returncode = code
        kibibyte = 1024  # the unit of ru_maxrss on Linux, getrusage(2)
        shell_code = code if code >= 0 else SIGNAL_EXIT - code
        self.ended = Ended(shell_code, wall, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * kibibyte)


def start(
    command: Sequence[str],
    program: Path,
    environment: Mapping[str, str],
    *,
    stdin: File = None,
    stdout: File = None,
    stderr: File = None,
    cpus: Sequence[int] = (),
    own_group: bool = False,
) -> Program:
    """Starts `command`, on `cpus` if given."""
    before = os.sched_getaffinity(0)
    try:
        if cpus:
            # A child inherits its parent's CPUs, so they are set before it exists and no code runs between fork and
            # exec.
            os.sched_setaffinity(0, cpus)
        process = subprocess.Popen(
            command,
            # A Path has lost its "./", and without any "/" it would be looked for on the PATH.
            executable=program if "/" in str(program) else f"./{program}",
            env=environment,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            process_group=0 if own_group else None,
        )
    except OSError as error:
        if error.errno == errno.ENOEXEC:
            reason = "it is neither a binary for this machine nor a script that starts with '#!'"
        else:
            reason = os.strerror(error.errno or 0)
        raise WrongUsageError(f"command '{command[0]}' cannot be started: {reason}") from None
    finally:
        if cpus:
            os.sched_setaffinity(0, before)
    return Program(process, own_group)


def wait(*programs: Program) -> list[Ended]:
    """Waits until all have ended; each one's times are its own, whichever ends first."""
    waiting = {program.pid: program for program in programs if program.ended is None}
    while waiting:
        # Python runs the signal handlers in between and then waits on (PEP 475).
        pid, status, usage = os.wait3(0)
        if program := waiting.pop(pid, None):
            program.reaped(status, usage)
            if program.ended is not None and program.ended.exit_code != 0:
                # What was to be compared with it is of no use any more.
                for other in waiting.values():
                    other.stop()
    return [program.ended for program in programs if program.ended is not None]


class Signals:
    """Which signals came while programs were running, and to whom they go; see `forwarding`."""

    def __init__(self) -> None:
        self.received: int | None = None
        """The first one."""
        self._programs: list[Program] = []

    def watch(self, programs: Sequence[Program]) -> None:
        """From now on signals go to these; one that came while they were being started goes to them at once."""
        self._programs = list(programs)
        if self.received is not None:
            self._pass_on(self.received, again=False)

    def handle(self, number: int, _frame: object) -> None:
        again = self.received is not None
        self.received = self.received or number
        self._pass_on(number, again)

    def _pass_on(self, number: int, again: bool) -> None:
        for program in self._programs:
            if program.ended is not None:
                continue
            if program.own_group:
                program.signal(signal.SIGKILL if again else signal.SIGTERM)
            elif number != signal.SIGINT or again or not _in_foreground():
                program.signal(number)


@contextlib.contextmanager
def forwarding() -> Iterator[Signals]:
    """Passes signals on to the programs that run, instead of leaving them alone in the world.

    A program in this process's own group gets what came, except that a terminal's Ctrl-C has reached it already, so
    that it hears of it only at the second Ctrl-C. One that leads its own group is asked to end with SIGTERM, and killed
    at the second signal. A signal that whoever started this process wants ignored (nohup) stays ignored.
    """
    signals = Signals()
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        if before[number] is not signal.SIG_IGN:
            signal.signal(number, signals.handle)
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _in_foreground() -> bool:
    """Whether a terminal's Ctrl-C goes to this process and its children."""
    try:
        with Path("/dev/tty").open("rb", buffering=0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def signal_name(number: int) -> str:
    """`SIGKILL`; numbers without a name stay numbers."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def describe_exit(exit_code: int) -> str:
    """`exit code 137 (SIGKILL)`."""
    name = f" ({signal_name(exit_code - SIGNAL_EXIT)})" if SIGNAL_EXIT < exit_code < SIGNAL_EXIT + signal.NSIG else ""
    return f"exit code {exit_code}{name}"


def shown(command: Sequence[str]) -> str:
    """The command as a shell takes it; words with single quotes in double ones where that is easier to read."""

    def word(text: str) -> str:
        return f'"{text}"' if "'" in text and not re.search(r'["$`\\!]', text) else shlex.quote(text)

    return " ".join(word(text) for text in command)
