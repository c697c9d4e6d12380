"""Launches of the program with some of its accesses put in order, and whether each of them failed.

Everything is on disk as it happens: one line per launch in `journal.jsonl`, the names of each setting in `settings/`,
the output of the first launches that failed in `failures/`. A hunt that was interrupted takes the journal's launches
instead of making them again.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from memgraft import native
from memgraft.errors import AskedToEnd, CannotTakeError, InterruptedRunError, MemgraftError, WrongUsageError
from memgraft.formats import JvmSummary, read_summaries
from memgraft.grafts import table
from memgraft.grafts.selection import select
from memgraft.hunt.provocations import NONE, Provocation
from memgraft.hunt.sequential import SequentialTest
from memgraft.jvm import launch
from memgraft.jvm.summaries import refusal_of, require_space, unreached_error, unsound_of
from memgraft.screen import write_file

KEPT_FAILURES = 5
"""Outputs of launches that failed, per kind of setting."""
MOST_OUTPUT_BYTES = 16 << 20
GRACE_SECONDS = 10.0
"""A program that hangs is asked to end (SIGTERM), and killed after this."""


class Kind(StrEnum):
    """What is done to the program's accesses."""

    STOCK = "stock"
    ALL = "all"
    """All are put in order, the JVM's own classes included."""
    ORDERED = "ordered"
    """Those named are put in order."""
    DELAYED = "delayed"
    """Those named take as much time, and are not in order: a control."""
    OBSERVED = "observed"
    """None; which threads access what is written down."""
    WEAK = "weak"
    """Those named are in order, and loads of all others may get old values."""
    HOTSPOT = "hotspot"
    """All are put in order by the other engine: HotSpot's own joints."""


@dataclass(frozen=True)
class Setting:
    """One way to launch the program."""

    kind: Kind
    names: frozenset[str] = frozenset()
    provocation: Provocation = NONE

    @property
    def key(self) -> str:
        """The same for the same setting, in every hunt."""
        key = f"{self.kind}+{self.provocation.name}" if self.provocation.name else str(self.kind)
        if not self.names:
            return key
        digest = hashlib.sha256("\n".join(sorted(self.names)).encode()).hexdigest()
        return f"{key}-{digest[:16]}"


STOCK = Setting(Kind.STOCK)
OBSERVED = Setting(Kind.OBSERVED)


@dataclass(frozen=True)
class Symptom:
    """When a launch has failed."""

    hang_seconds: float
    """It runs longer."""
    output: re.Pattern[str] | None = None
    """It prints something like this."""
    exit_code_counts: bool = True
    """Whether an exit code other than 0 is a failure."""

    def of(self, ended: launch.Ended, *, hung: bool, printed: str) -> str:
        """What was wrong, in words; empty: nothing."""
        if hung:
            return f"ran longer than {self.hang_seconds:g} s"
        if self.output is not None and (found := self.output.search(printed)):
            return f"printed '{found.group()[:60]}'"
        if self.exit_code_counts and ended.exit_code != 0:
            return launch.describe_exit(ended.exit_code)
        return ""


@dataclass
class Count:
    """Launches of one setting."""

    launches: int = 0
    failures: int = 0
    symptoms: Counter[str] = field(default_factory=Counter)
    longest_pass: float = 0.0
    """In seconds."""

    @property
    def passes(self) -> int:
        return self.launches - self.failures

    def add(self, symptom: str, seconds: float) -> None:
        self.launches += 1
        if symptom:
            self.failures += 1
            self.symptoms[symptom] += 1
        else:
            self.longest_pass = max(self.longest_pass, seconds)

    def as_json(self) -> dict[str, Any]:
        return {"launches": self.launches, "failures": self.failures, "symptoms": dict(self.symptoms)}


class OutOfTimeError(Exception):
    """The hunt's time is over."""


@dataclass(frozen=True)
class Program:
    """What is hunted in."""

    command: Sequence[str]
    path: Path
    variable: str
    """That carries the agent to the JVM."""
    agent: Path


def program_of(command: Sequence[str], via: launch.Via) -> Program:
    path = launch.find_program(command)
    return Program(command, path, launch.choose_variable(path, via), native.find(native.BYTECODE_AGENT))


def java_of(program: Program) -> Path:
    """A java of the program's kind: itself, $JAVA_HOME's, or the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    if launch.is_java_launcher(program.path):
        return program.path
    return Path(home) / "bin/java" if home else Path("java")


@dataclass(frozen=True)
class Launched:
    """One launch that was judged."""

    setting: Setting
    symptom: str
    """How it failed; empty: it passed."""
    seconds: float

    def as_json(self) -> dict[str, Any]:
        return {"setting": self.setting.key, "symptom": self.symptom, "seconds": round(self.seconds, 3)}


Watcher = Callable[[Launched, Count], None]
"""Told of every launch that was judged, and of all launches of its setting so far."""


class Trials:
    """The launches of one hunt, all counted."""

    def __init__(
        self, program: Program, symptom: Symptom, folder: Path, watcher: Watcher = lambda _launched, _count: None
    ) -> None:
        self.program = program
        self.symptom = symptom
        self.folder = folder
        self.counts: defaultdict[Setting, Count] = defaultdict(Count)
        self.deadline: float | None = None
        """By time.monotonic; None: no end."""
        self._watcher = watcher
        self._journal = folder / "journal.jsonl"
        for part in ("settings", "failures"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        self._earlier: defaultdict[str, deque[dict[str, Any]]] = defaultdict(deque)
        if self._journal.exists():
            for line in self._journal.read_text(encoding="utf-8").splitlines():
                # The last one may be half a line, where the disk was full or the machine stopped.
                with contextlib.suppress(json.JSONDecodeError):
                    kept = json.loads(line)
                    self._earlier[kept["setting"]].append(kept)

    @property
    def launches(self) -> int:
        return sum(count.launches for count in self.counts.values())

    def has_earlier(self, setting: Setting) -> bool:
        """Whether the next launch with that setting is one of an earlier hunt's."""
        return bool(self._earlier[setting.key])

    def gone(self, setting: Setting, test: SequentialTest) -> bool:
        """Whether the failure has vanished with that setting; as many launches as it takes to tell."""
        count = self.counts[setting]
        while (gone := test.gone(count.failures, count.passes)) is None:
            self.once(setting)
        return gone

    def once(self, setting: Setting) -> str:
        """One more launch: how it failed; empty where it passed."""
        if earlier := self._earlier[setting.key]:
            kept = earlier.popleft()
            done = Launched(setting, str(kept["symptom"]), float(kept["seconds"]))
        else:
            if self.deadline is not None and time.monotonic() > self.deadline:
                raise OutOfTimeError
            done = Launched(setting, *self._launch(setting))
            with self._journal.open("a", encoding="utf-8") as file:
                file.write(json.dumps(done.as_json()) + "\n")
        self.counts[setting].add(done.symptom, done.seconds)
        self._watcher(done, self.counts[setting])
        return done.symptom

    def observe(self, provocation: Provocation = NONE) -> list[JvmSummary]:
        """One launch in which threads' accesses are written down; what its JVMs left, however it ended."""
        with self._scratch() as scratch:
            self._run(replace(OBSERVED, provocation=provocation), scratch)
            return read_summaries(scratch / "summaries")

    def _launch(self, setting: Setting) -> tuple[str, float]:
        with self._scratch() as scratch:
            ended, hung = self._run(setting, scratch)
            printed = printed_in(scratch / "stdout") + printed_in(scratch / "stderr")
            symptom = self.symptom.of(ended, hung=hung, printed=printed)
            if setting.kind is not Kind.STOCK:
                self._require_joined(ended, read_summaries(scratch / "summaries"), scratch, symptom)
            if symptom and self.counts[setting].failures < KEPT_FAILURES:
                number = self.launches + 1
                write_file(self.folder / "failures" / f"{number}-{setting.kind}.txt", f"{symptom}\n\n{printed}")
            return symptom, ended.wall_seconds

    @contextlib.contextmanager
    def _scratch(self) -> Iterator[Path]:
        folder = Path(tempfile.mkdtemp(prefix="memgraft-hunt-"))
        try:
            (folder / "summaries").mkdir()
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _run(self, setting: Setting, scratch: Path) -> tuple[launch.Ended, bool]:
        """How the launch ended, and whether it had to be ended."""
        environment = self._joining(setting, scratch).environment(os.environ)
        with (
            (scratch / "stdout").open("wb") as stdout,
            (scratch / "stderr").open("wb") as stderr,
            setting.provocation.beside(),
            launch.forwarding() as signals,
        ):
            started = launch.start(
                self.program.command,
                self.program.path,
                environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                own_group=True,
            )
            signals.watch([started])
            with setting.provocation.upon(started.pid), ending(started, self.symptom.hang_seconds) as hung:
                [ended] = launch.wait(started)
        if signals.received is not None:
            raise interrupted(self.folder, signals.received)
        return ended, hung.is_set()

    def _joining(self, setting: Setting, scratch: Path) -> launch.Joining:
        joining = self._agent(setting, scratch)
        provoked = setting.provocation.jvm_options
        return (
            replace(joining, variable=self.program.variable, options=joining.options + provoked)
            if provoked
            else joining
        )

    def _agent(self, setting: Setting, scratch: Path) -> launch.Joining:
        if setting.kind is Kind.STOCK:
            return launch.Joining()
        if setting.kind is Kind.HOTSPOT:
            selection = select({table.ORDERING: "sc"})
            other = launch.loadable(native.find(native.HOTSPOT_AGENT), scratch)
            return launch.join(selection, self.program.variable, other, scratch / "summaries")
        options = []
        if setting.kind is Kind.OBSERVED:
            options = ["observe"]
        elif setting.kind is Kind.WEAK:
            # The same seeds for each setting.
            options = [f"{table.WEAK}={self.counts[setting].launches + 1}"]
        elif setting.kind is Kind.DELAYED:
            options = ["delay"]
        if setting.names or setting.kind in {Kind.ORDERED, Kind.DELAYED}:
            options.append(table.ONLY.told(self._file_of(setting).absolute()))
        agent = launch.loadable(self.program.agent, scratch)
        option = launch.java_agent_option(agent, options, scratch / "summaries")
        return launch.Joining(self.program.variable, (option,))

    def _file_of(self, setting: Setting) -> Path:
        """The file with its names."""
        file = self.folder / "settings" / f"{setting.key}.txt"
        if not file.exists():
            write_file(file, "".join(f"{name}\n" for name in sorted(setting.names)))
        return file

    def _require_joined(self, ended: launch.Ended, jvms: Sequence[JvmSummary], scratch: Path, symptom: str) -> None:
        """An error where the agent did not do its work: what such a launch shows would be the stock's."""
        if refusal := refusal_of(jvms):
            raise refusal
        if not jvms:
            require_space(scratch)
            if symptom:
                raise CannotTakeError(
                    f"'{self.program.command[0]}' {symptom} before any JVM that it started could be reached by "
                    f"{self.program.variable}: {launch.describe_exit(ended.exit_code)}"
                )
            raise self._unreached()
        if unsound := unsound_of(jvms):
            raise unsound

    def _unreached(self) -> MemgraftError:
        return unreached_error(self.program.command, launch.Joining(self.program.variable))


def interrupted(folder: Path, number: int) -> InterruptedRunError:
    """What a signal that ended the hunt says."""
    return InterruptedRunError(f"the hunt was interrupted; --resume --output {folder} goes on with it", number)


@contextlib.contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """A signal between two launches ends the hunt with the same words as one that comes during a launch."""
    try:
        yield
    except KeyboardInterrupt:
        raise interrupted(folder, signal.SIGINT) from None
    except AskedToEnd as asked:
        raise interrupted(folder, asked.number) from None


def printed_in(file: Path) -> str:
    """What a program printed; of very much, the end."""
    with file.open("rb") as output:
        output.seek(max(0, file.stat().st_size - MOST_OUTPUT_BYTES))
        return output.read().decode(errors="replace")


@contextlib.contextmanager
def ending(program: launch.Program, seconds: float) -> Iterator[threading.Event]:
    """Ends a program that runs longer; the event tells whether that was so."""
    hung = threading.Event()
    done = threading.Event()

    def watch() -> None:
        if not done.wait(seconds):
            hung.set()
            # Its JVMs write their summaries.
            program.stop()
            if not done.wait(GRACE_SECONDS):
                program.signal(signal.SIGKILL)

    watching = threading.Thread(target=watch, daemon=True)
    watching.start()
    try:
        yield hung
    finally:
        done.set()
        watching.join()
        # Whatever it started and left behind would disturb the launches that follow.
        program.signal(signal.SIGKILL)


def prepare_folder(folder: Path, command: Sequence[str], *, weak: bool, resume: bool) -> None:
    """Makes the hunt's folder, or takes an earlier one again where that is asked for."""
    about = folder / "hunt.json"
    mine = {"schema": 1, "kind": "hunt", "command": list(command), "weak": weak}
    if resume:
        if not about.is_file():
            raise WrongUsageError(f"--resume with --output {folder}: expected the folder of an earlier hunt")
        earlier = json.loads(about.read_text(encoding="utf-8"))
        if earlier != mine:
            raise WrongUsageError(
                f"--resume with --output {folder}: expected the command of that hunt, "
                f"{'--weak ' if earlier['weak'] else ''}-- {launch.shown(earlier['command'])}; found "
                f"{'--weak ' if weak else ''}-- {launch.shown(command)}"
            )
        return
    if folder.exists() and any(folder.iterdir()):
        raise WrongUsageError(f"--output {folder}: expected a new folder, or --resume to go on with the hunt in it")
    folder.mkdir(parents=True, exist_ok=True)
    write_file(about, json.dumps(mine) + "\n")
