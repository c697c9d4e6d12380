"""What test runners said of each test, as they write it in JUnit's format."""

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclass(frozen=True)
class Outcome:
    """One test's, and for what was skipped the reason."""

    test: str
    what: str
    reason: str = ""


def outcomes(file: Path) -> list[Outcome]:
    """Of pytest's --junitxml or ctest's --output-junit."""
    return [_outcome(case) for case in ET.parse(file).getroot().iter("testcase")]  # noqa: S314 our own file


def _outcome(case: ET.Element) -> Outcome:
    # ctest gives a test's own name as its class, too.
    test = case.get("name", "")
    if case.get("classname") not in (None, test):
        test = f"{case.get('classname')}.{test}"
    if case.find("failure") is not None or case.find("error") is not None:
        return Outcome(test, FAILED)
    skipped = case.find("skipped")
    if skipped is not None:
        return Outcome(test, SKIPPED, skipped.get("message") or "")
    return Outcome(test, PASSED)
