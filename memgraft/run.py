"""`memgraft run`: one program with grafts, and at its end what the grafts did."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memgraft.errors import (
    InterruptedRunError,
    MemgraftError,
    ProgramFailedError,
    WrongUsageError,
)
from memgraft.experiment import profiles
from memgraft.formats import GIGA, Counter, JvmSummary, read_summaries
from memgraft.grafts.selection import Selection
from memgraft.grafts.table import ORDERING, sections
from memgraft.jvm import launch
from memgraft.jvm.summaries import joined_as_json, jvm_as_json, refusal_of, require_space, unreached_error, unsound_of
from memgraft.ordering import suggest
from memgraft.screen import Screen
from memgraft.version import version
from memgraft.words import bytes_of, percent, seconds_of

SCHEMA = 1


@dataclass(frozen=True)
class Finished:
    """One program that was run, and every JVM that took the grafts in it."""

    command: Sequence[str]
    selection: Selection
    joined: launch.Joining
    ended: launch.Ended
    jvms: list[JvmSummary]
    interrupted: bool
    kept: profiles.Kept | None = None
    """Why nothing joined, though adaptive zeroing was asked for."""
    suggested: list[suggest.Suggestion] | None = None
    """Methods to relax, where they were asked for."""

    @property
    def grafted(self) -> bool:
        """Whether the program ran as asked, so that there is something to report, however it ended."""
        return not self.selection.joins() or (bool(self.jvms) and refusal_of(self.jvms) is None)

    def warnings(self) -> list[str]:
        warnings = [warning for jvm in self.jvms if (warning := _warning(jvm))]
        return [
            *warnings,
            *(one for section in sections().values() for one in section.warnings(self.jvms, self.selection)),
        ]

    def error(self) -> MemgraftError | None:
        """What the exit code of `memgraft run` has to say, if anything."""
        if refusal := refusal_of(self.jvms):
            return refusal
        if unsound := unsound_of(self.jvms):
            return unsound
        if self.interrupted:
            return InterruptedRunError(f"'{self.command[0]}' was interrupted", launch.INTERRUPT)
        if self.ended.exit_code != 0:
            code = launch.describe_exit(self.ended.exit_code)
            if not self.grafted:
                return ProgramFailedError(
                    f"'{self.command[0]}' ended with {code} and no JVM that it started could be reached by the graft; "
                    "what it printed says why, and `memgraft doctor` which JVM can take the graft"
                )
            return ProgramFailedError(f"'{self.command[0]}' ended with {code}")
        return None if self.grafted else unreached_error(self.command, self.joined)

    def _suggested_as_json(self) -> dict[str, Any]:
        if self.suggested is None:
            return {}
        return {
            "suggested_relaxed": [suggestion.method for suggestion in self.suggested],
            "suggested": [suggestion.as_json() for suggestion in self.suggested],
        }

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "kind": "run",
            "memgraft": version(),
            "command": list(self.command),
            "grafts": self.selection.as_json(),
            "profile": self.kept.as_json() if self.kept else None,
            **self._suggested_as_json(),
            "joined": joined_as_json(self.joined),
            "exit_code": self.ended.exit_code,
            "wall_seconds": self.ended.wall_seconds,
            "user_seconds": self.ended.user_seconds,
            "system_seconds": self.ended.system_seconds,
            "cpu_utilisation": self.ended.cpu_seconds / self.ended.wall_seconds,
            "max_rss_bytes": self.ended.max_rss_bytes,
            "jvms": [jvm_as_json(jvm) for jvm in self.jvms],
            "warnings": self.warnings(),
        }


def run(
    command: Sequence[str],
    asked: Selection,
    via: launch.Via,
    stdout: launch.File = None,
    *,
    profile: bool = True,
    suggest_relaxed: int | None = None,
) -> Finished:
    """Runs the command with the grafts; its input, output and errors are left alone unless `stdout` is given.

    `suggest_relaxed`: with a profile of its methods, of which so many are suggested.

    With `profile` a strategy that decides for itself leaves the stock alone unless the program's profile shows a gain.
    """
    program = launch.find_program(command)
    if suggest_relaxed is not None and not asked.joins(ORDERING):
        raise WrongUsageError(
            f"--suggest-relaxed {suggest_relaxed}: expected it together with --ordering sc or sc-seed, whose methods "
            "can be relaxed"
        )
    if suggest_relaxed is not None and asked.by_bytecode:
        raise WrongUsageError(
            f"--suggest-relaxed {suggest_relaxed}: expected no --engine bytecode, under which no method can be relaxed"
        )
    kept = profiles.kept(command, program, os.environ) if profile and asked.decides else None
    selection = asked.stock if kept else asked
    # Before anything is started: a missing agent must not show after the program has done its work.
    agent = launch.agent_for(selection)
    scratch = Path(tempfile.mkdtemp(prefix="memgraft-"))
    try:
        joined = launch.Joining()
        if agent is not None:
            variable = launch.choose_variable(program, via)
            joined = launch.join(selection, variable, launch.loadable(agent, scratch), scratch, alone=True)
        if suggest_relaxed is not None:
            joined = replace(joined, options=(*joined.options, *suggest.jvm_options(scratch)))
        with launch.forwarding() as signals:
            started = launch.start(command, program, joined.environment(os.environ), stdout=stdout)
            signals.watch([started])
            [ended] = launch.wait(started)
        interrupted = signals.received == launch.INTERRUPT
        jvms = read_summaries(scratch)
        if joined.variable and not jvms:
            require_space(scratch)
        finished = Finished(command, selection, joined, ended, jvms, interrupted, kept)
        if suggest_relaxed is not None and finished.error() is None:
            homes = [Path(jvm.jvm.libjvm).parents[2] for jvm in jvms if jvm.jvm.libjvm]
            finished = replace(finished, suggested=suggest.suggestions(scratch, suggest_relaxed, homes))
        return finished
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _warning(jvm: JvmSummary) -> str:
    """What a reader of this JVM's numbers must know."""
    if jvm.state == "running":
        import psutil

        if psutil.pid_exists(jvm.pid):
            return f"the JVM of process {jvm.pid} still runs; what the graft did in it is not counted"
        return (
            f"the JVM of process {jvm.pid} ended without a summary (killed, crashed or halted); what the graft did in "
            "it is not counted"
        )
    return ""


def show(finished: Finished, screen: Screen) -> None:
    """The summary at the program's end: a few lines for one JVM, a table for several."""
    ended = finished.ended
    screen.print(
        f"memgraft: {finished.selection}: {seconds_of(ended.wall_seconds)} wall, "
        f"{seconds_of(ended.cpu_seconds)} CPU ({percent(ended.cpu_seconds / ended.wall_seconds)} of one CPU)",
        soft_wrap=True,
    )
    done = [jvm for jvm in finished.jvms if jvm.state == "ended"]
    if len(done) == 1:
        for line in (_in_words(done[0]), *_details(done[0])):
            screen.print(f"memgraft: {line}", soft_wrap=True)
    elif done:
        for made in filter(None, (section.table(done) for section in sections().values())):
            screen.print(made)
    if finished.kept:
        measured = ", ".join(map(str, finished.kept.measurements))
        screen.print(
            f"memgraft: adaptive kept the stock's own hot path: {finished.kept.reason}"
            f"{'; measured: ' if measured else ''}{measured}; --no-profile joins all the same",
            soft_wrap=True,
        )
    elif not finished.selection.joins():
        screen.print("memgraft: the agent was not loaded: the stock does this by itself", soft_wrap=True)
    for line in suggest.lines(finished.suggested or []):
        screen.print(line, soft_wrap=True, markup=False, highlight=False)
    for warning in finished.warnings():
        screen.print(f"memgraft: warning: {warning}", soft_wrap=True)


def _in_words(jvm: JvmSummary) -> str:
    said = filter(None, (section.in_words(jvm) for section in sections().values()))
    return ": ".join([str(jvm.jvm), *said])


def _details(jvm: JvmSummary) -> Iterator[str]:
    """What the grafts have to say beyond that, and the hardware counters, a line each."""
    for section in sections().values():
        yield from section.lines(jvm)
    available = [f"{_counted(c)} {c.name.replace('_', ' ')}" for c in jvm.counters if c.available]
    if available:
        yield f"hardware counters: {', '.join(available)}"
    for reason in dict.fromkeys(c.reason for c in jvm.counters if not c.available):
        names = ", ".join(c.name.replace("_", " ") for c in jvm.counters if not c.available and c.reason == reason)
        yield f"no hardware counters of {names}: {reason}"


def _counted(counter: Counter) -> str:
    match counter.unit:
        case "nanoseconds":
            return seconds_of(counter.value / GIGA)
        case "bytes":
            return bytes_of(counter.value)
        case _:
            return f"{counter.value:,.0f}"
