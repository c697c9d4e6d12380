"""The report of a comparison: the same findings on a terminal (terminal.py) and on a page (page.py, figures.py)."""

from typing import Any

from memgraft.experiment.findings import Findings
from memgraft.report import facts, page, terminal
from memgraft.screen import Screen, dump, write_file
from memgraft.words import percent

PAGE = "report.html"
RESULT = "result.json"


def write(findings: Findings, screen: Screen, *, brief: bool) -> dict[str, Any]:
    """Writes page and JSON into the comparison's folder, shows the report, and returns the JSON.

    `brief` shows the verdict and the warnings only: for when the JSON goes to standard output.
    """
    outcome, warnings, bulk = findings.outcome, list(findings.warnings), findings.bulk
    report = outcome.output / PAGE
    write_file(report, page.render(outcome, warnings))
    as_json = {**outcome.as_json(report, warnings), "sentence": facts.verdict(outcome)}
    if bulk is not None:
        as_json["bulk_direct_cost"] = {"direct_cost": bulk.direct_cost, "date": bulk.date}
    write_file(outcome.output / RESULT, dump(as_json))
    terminal.show(outcome, warnings, report, screen, brief=brief)
    if bulk is not None and bulk.direct_cost is not None:
        screen.print(
            f"direct cost of bulk zeroing: {percent(bulk.direct_cost)} of CPU time (measured {bulk.date[:10]})"
        )
    return as_json
