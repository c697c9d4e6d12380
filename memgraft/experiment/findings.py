"""Everything that a comparison found, before any of it is written: what reports are made of."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memgraft import machine
from memgraft.experiment import advice, outcome, profiles
from memgraft.experiment.compare import Comparison
from memgraft.experiment.outcome import Outcome
from memgraft.jvm import jvms
from memgraft.jvm.launch import is_java_launcher


@dataclass(frozen=True)
class Findings:
    """The outcome and what goes with it."""

    outcome: Outcome
    warnings: Sequence[str]
    bulk: profiles.Measurement | None = None
    """Only of the bound: what an earlier comparison with bulk zeroing measured, which the bound stands beside."""


def find(comparison: Comparison, started: datetime) -> Findings:
    """The findings of a finished comparison; asks the machine, and a JVM where none has said what it is."""
    known = any(done.jvms for done in comparison.launches)
    # Without an agent no JVM has said what it is; a command that is itself java can be asked.
    jvm = jvms.identify(comparison.program) if not known and is_java_launcher(comparison.program) else None
    result = outcome.analyse(comparison, machine.describe(), started.isoformat(timespec="seconds"), jvm)
    return Findings(result, advice.warnings(result), _bulk(comparison) if comparison.settings.bound else None)


def _bulk(comparison: Comparison) -> profiles.Measurement | None:
    _, profile = profiles.profile_of(comparison.settings.command, comparison.program, os.environ)
    return profile.of("bulk") if profile else None
