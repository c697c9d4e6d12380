"""The report of a comparison: the same facts on a terminal (terminal.py) and on a page (page.py, figures.py)."""

import os
from datetime import datetime
from typing import Any

from memgraft import machine
from memgraft.experiment import advice, outcome, profiles
from memgraft.experiment.compare import Comparison
from memgraft.jvm import jvms
from memgraft.jvm.launch import is_java_launcher
from memgraft.report import facts, page, terminal
from memgraft.screen import Screen, dump, write_file
from memgraft.words import percent

PAGE = "report.html"
RESULT = "result.json"


def write(comparison: Comparison, started: datetime, screen: Screen, *, brief: bool) -> dict[str, Any]:
    """Writes page and JSON into the comparison's folder, shows the report, and returns the JSON.

    `brief` shows the verdict and the warnings only: for when the JSON goes to standard output.
    """
    known = any(done.jvms for done in comparison.launches)
    # Without an agent no JVM has said what it is; a command that is itself java can be asked.
    jvm = jvms.identify(comparison.program) if not known and is_java_launcher(comparison.program) else None
    result = outcome.analyse(comparison, machine.describe(), started.isoformat(timespec="seconds"), jvm)
    warnings = advice.warnings(result)
    report = comparison.output / PAGE
    write_file(report, page.render(result, warnings))
    as_json = {**result.as_json(report, warnings), "sentence": facts.verdict(result)}
    bulk = _bulk(comparison) if comparison.settings.bound else None
    if bulk is not None:
        as_json["bulk_direct_cost"] = {"direct_cost": bulk.direct_cost, "date": bulk.date}
    write_file(comparison.output / RESULT, dump(as_json))
    terminal.show(result, warnings, report, screen, brief=brief)
    if bulk is not None and bulk.direct_cost is not None:
        screen.print(
            f"direct cost of bulk zeroing: {percent(bulk.direct_cost)} of CPU time (measured {bulk.date[:10]})"
        )
    return as_json


def _bulk(comparison: Comparison) -> profiles.Measurement | None:
    """What an earlier comparison with bulk zeroing found: the cost that can be measured, beside the bound."""
    _, profile = profiles.profile_of(comparison.settings.command, comparison.program, os.environ)
    return profile.of("bulk") if profile else None
