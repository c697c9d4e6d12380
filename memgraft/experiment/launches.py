"""Launches of one command, with this graft or that, as a plan says (design.py).

Everything is on disk as it happens: a launch's output in `logs/`, its JVMs' summaries in `summaries/`, and one line per
launch in `launches.jsonl`.
"""

import json
import os
import re
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from memgraft.errors import InterruptedRunError, MemgraftError, ProgramFailedError, WrongUsageError, one_line
from memgraft.experiment.design import Planned
from memgraft.formats import JvmSummary, read_summaries
from memgraft.grafts.selection import Selection
from memgraft.jvm import iterations, launch
from memgraft.jvm.iterations import Iteration
from memgraft.jvm.jvms import NO_NEWS
from memgraft.jvm.summaries import jvm_as_json, refusal_of, require_space, unreached_error, unsound_of
from memgraft.machine import Load

LOG_TAIL_BYTES = 16384
STACK_FRAME = re.compile(r"^\s+(at |\.\.\. \d+ more)")


@dataclass
class Launch:
    """One launch that has ended."""

    number: int
    """Counts from 1 over all launches, in the order of their starts."""
    planned: Planned
    joined: launch.Joining
    ended: launch.Ended
    others_share: float
    """Share of all CPU time during this launch that neither idled nor was ours."""
    stolen_share: float
    """Share that the hypervisor gave to somebody else."""
    log: Path
    """Its standard output; standard error is beside it."""
    iterations: list[Iteration] = field(default_factory=list)
    jvms: list[JvmSummary] = field(default_factory=list)

    @property
    def side(self) -> str:
        return self.planned.side

    @property
    def counted(self) -> bool:
        return self.planned.pair is not None

    @property
    def errors_log(self) -> Path:
        return self.log.with_suffix(".err")

    def as_json(self) -> dict[str, Any]:
        return {
            "launch": self.number,
            "side": self.side,
            "pair": self.planned.pair,
            "cpus": list(self.planned.cpus),
            **asdict(self.ended),
            "others_share": self.others_share,
            "stolen_share": self.stolen_share,
            "iterations": [i.model_dump(by_alias=True, exclude_none=True) for i in self.iterations],
            "jvms": [jvm_as_json(jvm) for jvm in self.jvms],
            "stdout": str(self.log),
            "stderr": str(self.errors_log),
        }


Watcher = Callable[[Planned, int, int], None]
"""Told of every group before it starts: its first launch, how many launches have ended, how many there will be."""


def prepare_output(folder: Path, parts: Sequence[str] = ("logs", "summaries")) -> Path:
    """Makes the folder, which must be new or empty: launches of two comparisons must never mix."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WrongUsageError(f"--output {folder} exists and is not an empty folder: name one that does not exist yet")
    for part in ("", *parts):
        (folder / part).mkdir(parents=True, exist_ok=True)
    return folder.absolute()


class Launches:
    """The launches of one plan."""

    def __init__(
        self,
        command: Sequence[str],
        via: launch.Via,
        selections: Mapping[str, Selection],
        groups: Sequence[Sequence[Planned]],
        output: Path,
        commands: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """`commands`: of each side, where these differ in what the program is told."""
        self.command = command
        self.commands = commands or {}
        self.program = launch.find_program(command)
        self.variable = launch.choose_variable(self.program, via)
        self.selections = selections
        self.agents = {side: launch.agent_for(selection) for side, selection in selections.items()}
        self.groups = groups
        self.launches: list[Launch] = []
        self.output = prepare_output(output)

    @property
    def counted(self) -> list[Launch]:
        return [done for done in self.launches if done.counted]

    def run(self, watch: Watcher) -> None:
        """Runs every launch; the first thing that goes wrong ends it as the error it is."""
        total = sum(len(group) for group in self.groups)
        with launch.forwarding() as signals:
            for group in self.groups:
                watch(group[0], len(self.launches), total)
                ended = self._run_group(group, signals)
                if signals.received is not None:
                    raise self._interrupted(signals.received)
                self._check(ended)

    def _run_group(self, group: Sequence[Planned], signals: launch.Signals) -> list[Launch]:
        joins, logs = [], []
        programs: list[launch.Program] = []
        before = Load.now()
        try:
            for planned in group:
                name = f"launch-{len(self.launches) + len(programs) + 1:02}-{planned.side}"
                joins.append(self._joining(planned, self.output / "summaries" / name))
                logs.append(self.output / "logs" / f"{name}.out")
                programs.append(self._start(planned, joins[-1], logs[-1]))
                signals.watch(programs)
        except BaseException:
            for program in programs:
                program.stop()
            launch.wait(*programs)
            raise
        all_ended = launch.wait(*programs)
        others, stolen = Load.now().shares_since(before, sum(ended.cpu_seconds for ended in all_ended))
        finished = []
        for planned, joined, log, ended in zip(group, joins, logs, all_ended, strict=True):
            done = Launch(len(self.launches) + 1, planned, joined, ended, others, stolen, log)
            self.launches.append(done)
            finished.append(done)
        try:
            for done in finished:
                done.jvms = read_summaries(self.output / "summaries" / done.log.stem)
                done.iterations = self._iterations(done)
        finally:
            self._keep(finished)
        # Of two that ran at once the one that failed by itself comes first, not the one stopped because of it.
        stopped = {done.number: program.stopped for done, program in zip(finished, programs, strict=True)}
        return sorted(finished, key=lambda done: stopped[done.number])

    def _start(self, planned: Planned, joined: launch.Joining, log: Path) -> launch.Program:
        with log.open("xb") as stdout, log.with_suffix(".err").open("xb") as stderr:
            return launch.start(
                self.commands.get(planned.side, self.command),
                self.program,
                joined.environment(os.environ),
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cpus=planned.cpus,
                # Ctrl-C is for this process, which then ends the program with everything that it started.
                own_group=True,
            )

    def _joining(self, planned: Planned, summaries: Path) -> launch.Joining:
        agent = self.agents[planned.side]
        if agent is None:
            return launch.Joining()
        summaries.mkdir()
        selection = self.selections[planned.side]
        return launch.join(selection, self.variable, launch.loadable(agent, self.output), summaries)

    def _iterations(self, done: Launch) -> list[Iteration]:
        if done.ended.exit_code != 0:
            # Its last line may be cut off, and it will not be compared with anything.
            return []
        try:
            with done.log.open(encoding="utf-8", errors="replace") as lines:
                return iterations.parse(lines)
        except WrongUsageError as error:
            raise WrongUsageError(f"{done.planned.name}: {error} (in {done.log})") from None

    def _keep(self, finished: Sequence[Launch]) -> None:
        """One write per launch: a reader, or a run cut short, never sees half a line between two others."""
        with (self.output / "launches.jsonl").open("ab", buffering=0) as file:
            for done in finished:
                file.write(json.dumps(done.as_json()).encode() + b"\n")

    def _check(self, ended: Sequence[Launch]) -> None:
        for done in ended:
            if refusal := refusal_of(done.jvms):
                raise refusal
            if done.ended.exit_code != 0:
                raise self._failed(done)
            if done.joined.variable and not done.jvms:
                require_space(self.output / "summaries")
                raise unreached_error(self.command, done.joined)
            if unsound := unsound_of(done.jvms):
                raise unsound
            self.check_metric(done)
            self._check_results(done)

    def _failed(self, done: Launch) -> MemgraftError:
        unreached = " and no JVM that it started could be reached by the graft"
        reached = unreached if done.joined.variable and not done.jvms else ""
        line = last_line(done.errors_log)
        said = f"; its last line on standard error: {line}" if line else ""
        return ProgramFailedError(
            f"{done.planned.name} (launch {done.number} of {sum(map(len, self.groups))}) ended with "
            f"{launch.describe_exit(done.ended.exit_code)}{reached}{said}; its output is in {done.errors_log}"
        )

    def check_metric(self, done: Launch) -> None:
        """Whether this launch has what was asked to be measured; a plan that asks for nothing takes any."""

    def _check_results(self, done: Launch) -> None:
        for earlier in self.launches[: done.number - 1]:
            different = iterations.checksum_difference(earlier.iterations, done.iterations)
            if different is not None:
                raise ProgramFailedError(
                    f"WRONG RESULT: iteration {different.iteration} of workload '{different.workload}' has checksum "
                    f"'{different.second}' in {done.planned.name} and '{different.first}' in {earlier.planned.name}: "
                    f"times of different work cannot be compared; see {done.log} and {earlier.log}"
                )

    def _interrupted(self, number: int) -> MemgraftError:
        return InterruptedRunError(
            f"interrupted by {launch.signal_name(number)} after {len(self.counted)} counted launches; what was "
            f"measured is in {self.output / 'launches.jsonl'}",
            number,
        )


def last_line(log: Path) -> str:
    """The last line of a log that says something by itself: no stack frame, and not what every JVM prints."""
    with log.open("rb") as file:
        file.seek(max(log.stat().st_size - LOG_TAIL_BYTES, 0))
        lines = file.read().decode("utf-8", "replace").splitlines()
    return next(
        (one_line(line) for line in reversed(lines) if not (STACK_FRAME.match(line) or NO_NEWS.match(line))), ""
    )
