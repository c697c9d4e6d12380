"""A hunt as one HTML page that needs nothing else, not even scripts."""

from collections.abc import Iterator, Sequence
from typing import Any

from memgraft.formats.ordering import Accessor
from memgraft.hunt.finding import Finding, Phase, Verdict
from memgraft.hunt.show import advice, besides, explained_steps, headline, provoked, rows, symptoms
from memgraft.hunt.suspects import telling
from memgraft.hunt.trials import Kind, Launched, Setting
from memgraft.jvm.launch import shown
from memgraft.report.page import template
from memgraft.version import version
from memgraft.words import count_of, listed, percent, seconds_of

SOON = 0.01
"""What began within so many seconds began at the start."""
FEW = 3
"""So many names are told; of more, their number."""
KINDS = {
    Kind.STOCK: "nothing in order: the stock",
    Kind.ALL: "everything in order",
    Kind.OBSERVED: "nothing in order, observed",
    Kind.WEAK: "nothing in order: weak memory",
    Kind.HOTSPOT: "everything in order, by HotSpot's joints",
}
VERDICTS = {Verdict.FOUND: "faster", Verdict.NOT_ORDER: "slower"}
"""The colours of the page's style: green, red; else yellow."""


def render(finding: Finding) -> str:
    """The page as text."""
    explanation = finding.explanation
    return template("hunt.html.j2").render(
        title=f"The hunt for a missing volatile: {shown(finding.command)}",
        verdict=headline(finding),
        kind=VERDICTS.get(finding.verdict, "not-resolved"),
        notes=[*provoked(finding), *finding.notes],
        counts=[
            {
                "what": what,
                "failed": f"{count.failures:,}",
                "launches": f"{count.launches:,}",
                "share": percent(count.failures / count.launches) if count.launches else "",
                "how": symptoms(count),
            }
            for what, count in rows(finding)
        ],
        cure=[_suspect(finding, name) for name in sorted(finding.lacking)] if finding.verdict is Verdict.FOUND else [],
        besides=list(besides(finding)),
        explanation=explanation
        and {
            "pattern": str(explanation.pattern),
            "threads": [
                {"name": thread, "steps": explained_steps(explanation, steps)} for thread, steps in explanation.threads
            ],
            "words": explanation.words,
        },
        patch=finding.patch,
        phases=[_phase(finding, phase) for phase in finding.phases],
        facts=[
            ("command", shown(finding.command)),
            ("launches", f"{finding.launches:,}"),
            ("time", seconds_of(finding.seconds)),
            ("suspects", f"{len(finding.suspects):,}: {finding.where}" if finding.suspects else "none looked for"),
            ("memory", "weak: loads may get old values" if finding.weak else "this machine's"),
        ],
        version=version(),
    )


def _suspect(finding: Finding, name: str) -> dict[str, Any]:
    suspect, declared = finding.suspect(name), finding.declared.get(name)
    return {
        "advice": advice(name),
        "declared": f"{declared.file}, line {declared.line}" if declared else "",
        "accesses": [*_accesses("stored", suspect.stores), *_accesses("loaded", suspect.loads)],
    }


def _accesses(what: str, accessors: Sequence[Accessor]) -> Iterator[dict[str, Any]]:
    for accessor in telling(accessors):
        frames = [frame.partition("//")[2] or frame for frame in accessor.stack]
        times = count_of(accessor.times, "time")
        yield {"what": f"{what} by thread {accessor.thread}, {times}", "frames": frames}


def _phase(finding: Finding, phase: Phase) -> dict[str, Any]:
    """Its launches, a row for each setting."""
    of_settings: dict[Setting, list[Launched]] = {}
    for launched in phase.launched:
        of_settings.setdefault(launched.setting, []).append(launched)
    return {
        "doing": phase.doing,
        "began": f"after {seconds_of(phase.began_seconds)}" if phase.began_seconds > SOON else "at the start",
        "rows": [_row(finding, setting, launches) for setting, launches in of_settings.items()],
    }


def _row(finding: Finding, setting: Setting, launches: Sequence[Launched]) -> dict[str, Any]:
    failed = sum(bool(launched.symptom) for launched in launches)
    return {
        "setting": label(setting, finding),
        "names": sorted(setting.names) if len(setting.names) > FEW else [],
        "failed": f"{failed:,} of {len(launches):,} failed",
        "marks": [
            {"failed": bool(one.symptom), "told": f"{one.symptom or 'passed'}, {seconds_of(one.seconds)}"}
            for one in launches
        ],
    }


def label(setting: Setting, finding: Finding) -> str:
    """What is in order in a launch, in words, and what makes it fail more often."""
    name = setting.provocation.name
    return f"{_order(setting, finding)} ({name})" if name else _order(setting, finding)


def _order(setting: Setting, finding: Finding) -> str:
    if not setting.names and setting.kind in KINDS:
        return KINDS[setting.kind]
    how = "only as slow" if setting.kind is Kind.DELAYED else "in order"
    if setting.kind is Kind.WEAK and not finding.weak:
        how = "weak memory, in order"
    plain = finding.suspects - setting.names
    if len(setting.names) <= FEW:
        return f"{how}: {listed(sorted(setting.names), 'and') if setting.names else 'nothing'}"
    if setting.names < finding.suspects and len(plain) <= FEW:
        return f"{how}: all but {listed(sorted(plain), 'and')}"
    return f"{how}: {count_of(len(setting.names), 'suspect')}"
