"""Reads what jcstress prints (`-v`), and judges it."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ordering.jcstress.samples import PREFIX, SAMPLES

SCHEMA = 1
FORBIDDEN = "FORBIDDEN"
_BEGIN = re.compile(r"^\.{10} \[(?P<status>[^]]+)\] (?P<test>\S+)$")
_HEAD = re.compile(r"^\s*Observed state\s+Occurrences\s+Expectation\s+Interpretation\s*$")
_ROW = re.compile(
    r"^\s*(?P<outcome>\S.*?)\s+(?P<count>[\d,]+)\s+"
    r"(?P<expectation>ACCEPTABLE|ACCEPTABLE_INTERESTING|FORBIDDEN|UNKNOWN)(?:\s.*)?$"
)


class ReadError(Exception):
    """What was printed is not a report of jcstress."""


@dataclass
class Test:
    """One sample, all its compilation modes and JVM flags together."""

    name: str
    runs: int = 0
    wrong: list[str] = field(default_factory=list)
    """The status of every run that was not OK."""
    outcomes: Counter[str] = field(default_factory=Counter)
    expectations: dict[str, str] = field(default_factory=dict)

    @property
    def not_sc(self) -> Mapping[str, int]:
        """Outcomes that were seen and that no interleaving gives."""
        allowed = SAMPLES[self.name]
        return {outcome: count for outcome, count in self.outcomes.items() if count and outcome not in allowed}

    @property
    def forbidden(self) -> Mapping[str, int]:
        """Outcomes that were seen and that the Java memory model forbids."""
        return {o: count for o, count in self.outcomes.items() if count and self.expectations[o] == FORBIDDEN}

    def as_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "kind": "jcstress",
            "test": self.name,
            "runs": self.runs,
            "wrong": self.wrong,
            "not_sc": sum(self.not_sc.values()),
            "outcomes": [
                {
                    "outcome": outcome,
                    "count": count,
                    "expectation": self.expectations[outcome].lower(),
                    "grade": "sc" if outcome in SAMPLES[self.name] else "not sc",
                }
                for outcome, count in sorted(self.outcomes.items())
            ],
        }


def read(report: str) -> list[Test]:
    """Every known sample of the report. A run that failed and was interesting is listed twice, and counted twice."""
    _, found, printed = report.partition("\nRUN RESULTS:")
    if not found:
        raise ReadError("no results in what jcstress printed")
    tests: dict[str, Test] = {}
    test: Test | None = None
    in_table = False
    for line in printed.splitlines():
        if begin := _BEGIN.match(line):
            name = begin["test"].removeprefix(PREFIX)
            test = tests.setdefault(name, Test(name)) if name in SAMPLES else None
            if test is not None:
                test.runs += 1
                test.wrong += [begin["status"]] if begin["status"] != "OK" else []
        elif _HEAD.match(line):
            in_table = True
        elif not line.strip():
            in_table = False
        elif in_table and test is not None:
            if (row := _ROW.match(line)) is None:
                raise ReadError(f"a row of {test.name} that cannot be read: {line.strip()}")
            test.outcomes[row["outcome"]] += int(row["count"].replace(",", ""))
            test.expectations[row["outcome"]] = row["expectation"]
    return [tests[name] for name in SAMPLES if name in tests]


def complaints(tests: Sequence[Test], asked: Sequence[str], expect: str | None, seen: Sequence[str]) -> Iterator[str]:
    """Why the samples are not as they should be, a line each; `seen` are those that `reordered` wants."""
    by_name = {test.name: test for test in tests}
    for name in asked:
        test = by_name.get(name)
        if test is None or not sum(test.outcomes.values()):
            yield f"{name}: no outcome at all"
            continue
        if test.wrong:
            yield f"{name}: {len(test.wrong)} of {test.runs} runs ended with {', '.join(sorted(set(test.wrong)))}"
        for outcome, count in test.forbidden.items():
            yield f"{name}: {outcome} {count:,} times, which the Java memory model forbids"
        if expect == "sc":
            for outcome, count in test.not_sc.items():
                yield f"{name}: {outcome} {count:,} times, which is not sequentially consistent"
        if expect == "reordered" and name in seen and not test.not_sc:
            yield f"{name}: nothing was reordered"


def lines(tests: Sequence[Test]) -> Iterator[str]:
    """A table for people."""
    width = max((len(test.name) for test in tests), default=0)
    for test in tests:
        total = sum(test.outcomes.values())
        shown = ", ".join(f"[{outcome}] {count:,}" for outcome, count in test.not_sc.items()) or "none"
        yield f"{test.name:{width}}  {test.runs:3} runs  {total:15,} outcomes  not sc: {shown}"
