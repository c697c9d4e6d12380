"""A finding as SARIF, which code hosts and editors show beside the source (OASIS, SARIF 2.1.0, 2020)."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from memgraft.formats.ordering import Accessor
from memgraft.hunt.explain import Explanation
from memgraft.hunt.finding import Finding, Verdict
from memgraft.hunt.frames import Frame, parsed
from memgraft.hunt.patch import VOLATILE, Declared, is_field
from memgraft.hunt.show import advice, headline
from memgraft.hunt.suspects import telling
from memgraft.jvm.launch import shown
from memgraft.version import version

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ROOT = "%SRCROOT%"
"""What file names are relative to: the folder in which the hunt was started."""
VOLATILE_RULE, ORDER_RULE = "missing-volatile", "missing-order"
RULES = {
    VOLATILE_RULE: "Threads share a field without order, and the program fails because it is not volatile.",
    ORDER_RULE: "Threads share array elements or an object without order, and the program fails because of that.",
}

_LINE_END = re.compile(r"\r\n|\r|\n")


def sarif(finding: Finding, sources: Sequence[Path], root: Path) -> dict[str, Any]:
    """The whole log; files below `root` are named relative to it."""
    of = _Writer(finding, sources, root.resolve())
    found = finding.verdict is Verdict.FOUND
    told = [] if found else [{"level": "note", "message": {"text": headline(finding)}}]
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "memgraft hunt",
                        "version": version(),
                        "rules": [{"id": rule, "shortDescription": {"text": text}} for rule, text in RULES.items()],
                    }
                },
                "columnKind": "utf16CodeUnits",
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "commandLine": f"memgraft hunt {'--weak ' if finding.weak else ''}-- {shown(finding.command)}",
                        "toolExecutionNotifications": told,
                    }
                ],
                "results": [of.result(name) for name in sorted(finding.lacking)] if found else [],
            }
        ],
    }


class _Writer:
    def __init__(self, finding: Finding, sources: Sequence[Path], root: Path) -> None:
        self._finding = finding
        self._sources = sources
        self._root = root

    def result(self, name: str) -> dict[str, Any]:
        finding, suspect = self._finding, self._finding.suspect(name)
        declared, explanation = finding.declared.get(name), finding.explanation
        words = [f"{advice(name)}.", headline(finding), *([explanation.words] if explanation else [])]
        accesses = list(self._accesses("stored", suspect.stores)) + list(self._accesses("loaded", suspect.loads))
        made: dict[str, Any] = {
            "ruleId": VOLATILE_RULE if is_field(name) else ORDER_RULE,
            "level": "error",
            "message": {"text": " ".join(words)},
            "partialFingerprints": {"suspect/v1": name},
        }
        logical = [{"fullyQualifiedName": name, "kind": "member" if is_field(name) else "function"}]
        if declared:
            place = {"physicalLocation": self._physical(declared.file, declared.line)}
        elif accesses:
            # Where it is declared is not known, but where it is accessed.
            place = {"physicalLocation": accesses[0]["physicalLocation"]}
        else:
            place = {}
        made["locations"] = [{**place, "logicalLocations": logical}]
        if accesses:
            made["relatedLocations"] = [{"id": number, **one} for number, one in enumerate(accesses, start=1)]
        if explanation and (flow := self._flow(explanation)):
            made["codeFlows"] = [flow]
        if declared and not declared.modifier:
            made["fixes"] = [self._fix(declared)]
        return made

    def _accesses(self, what: str, accessors: Sequence[Accessor]) -> Iterator[dict[str, Any]]:
        for accessor in telling(accessors):
            frame = parsed(accessor.stack[0]) if accessor.stack else None
            if place := self._place(frame):
                yield {"physicalLocation": place, "message": {"text": f"{what} by thread {accessor.thread}"}}

    def _flow(self, explanation: Explanation) -> dict[str, Any] | None:
        """What each thread does; None where a source is missing."""
        threads = []
        for thread, steps in explanation.threads:
            places = [self._place(step.frame) for step in steps]
            if None in places:
                return None
            locations = [
                {"location": {"physicalLocation": place, "message": {"text": step.told(explanation.short(step.name))}}}
                for place, step in zip(places, steps, strict=True)
            ]
            threads.append({"id": thread, "message": {"text": f"thread {thread}"}, "locations": locations})
        return {"message": {"text": explanation.pattern}, "threadFlows": threads}

    def _fix(self, declared: Declared) -> dict[str, Any]:
        with declared.file.open(encoding="utf-8", newline="") as source:
            units = source.read().encode("utf-16-le")[: 2 * declared.offset]
        *lines, last = _LINE_END.split(units.decode("utf-16-le"))
        column = len(last.encode("utf-16-le")) // 2 + 1
        region = {"startLine": len(lines) + 1, "startColumn": column, "endColumn": column}
        return {
            "description": {"text": f"declare {' and '.join(declared.fields)} volatile"},
            "artifactChanges": [
                {
                    "artifactLocation": self._artifact(declared.file),
                    "replacements": [{"deletedRegion": region, "insertedContent": {"text": VOLATILE}}],
                }
            ],
        }

    def _place(self, frame: Frame | None) -> dict[str, Any] | None:
        file = frame.source(self._sources) if frame else None
        return self._physical(file, frame.line) if file and frame else None

    def _physical(self, file: Path, line: int | None) -> dict[str, Any]:
        region = {} if line is None else {"region": {"startLine": line}}
        return {"artifactLocation": self._artifact(file), **region}

    def _artifact(self, file: Path) -> dict[str, str]:
        absolute = file.resolve()
        if absolute.is_relative_to(self._root):
            return {"uri": quote(absolute.relative_to(self._root).as_posix()), "uriBaseId": ROOT}
        return {"uri": absolute.as_uri()}
