"""ARCHITECTURE.md leads a reader to the right file in one step, and names nothing that is not there."""

import re
import subprocess
from dataclasses import dataclass

import pytest
from conftest import ROOT

TRACKED = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
SOURCES = (".c", ".cpp", ".h", ".java", ".py")
MOST_LINES = 500


@dataclass(frozen=True)
class Question:
    """What a reader asks, the row that answers, its first file, and what is found there."""

    asked: str
    row: str
    file: str
    found: str


QUESTIONS = [
    Question(
        "where is a TLAB handed out of a buffer",
        "where a TLAB comes from",
        "stocks/hotspot/buffers/install.cpp",
        "void* buffered_allocate_new_tlab(",
    ),
    Question(
        "where is a fresh TLAB made zero",
        "what happens at a refill",
        "stocks/hotspot/zeroing/hooks.cpp",
        "void* grafted_memset(",
    ),
    Question(
        "which stores go without a fence",
        "which stores need no fence",
        "stocks/hotspot/ordering/c2_private.cpp",
        "Privacy::",
    ),
    Question(
        "why was my JVM refused",
        "how joints are looked for and refused",
        "stocks/hotspot/join/joints.cpp",
        "Joints find_joints(",
    ),
    Question(
        "what makes a comparison noisy",
        "a warning",
        "memgraft/experiment/advice.py",
        "def warnings(",
    ),
    Question(
        "where does an option's default stand",
        "an option of the agent",
        "memgraft/grafts/table.py",
        "default=32768",
    ),
    Question(
        "which kernel does a CPU get that was never calibrated",
        "which kernel a CPU gets",
        "zeroing/defaults.cpp",
        "std::string_view default_name(",
    ),
    Question(
        "when is a difference called resolved",
        "how a difference is judged",
        "memgraft/statistics.py",
        "class Interval",
    ),
    Question(
        "why does a page stay where it is",
        "which pages move",
        "placement/policy.cpp",
        "Verdict judge(",
    ),
    Question(
        "what is published of a figure",
        "a table or figure of a paper",
        "experiments/ordering/",
        "published",
    ),
]


def rows() -> list[tuple[str, list[str]]]:
    """What stands in the tables: the first column, and every file or folder that the row names."""
    found = []
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.split(" | ")]
        if line.startswith("| ") and len(cells) > 1 and not line.startswith("| ---"):
            # What is built is not tracked.
            listed = line.replace("`build/`", "")
            named = re.findall(r"`([\w./-]+(?:/|\.(?:cpp|h|c|py|java|md|sh|json|txt)))`", listed)
            found.append((cells[0].removeprefix("| "), named))
    return found


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.asked)
def test_a_question_leads_to_its_file(question: Question) -> None:
    [named] = [named for about, named in rows() if about.startswith(question.row)]
    assert any(question.file.endswith(name) for name in named), named
    files = [ROOT / path for path in TRACKED if path.startswith(question.file)]
    assert any(question.found in file.read_text() for file in files)


def test_what_it_names_is_there() -> None:
    places = [*TRACKED, *{f"{'/'.join(path.split('/')[:depth])}/" for path in TRACKED for depth in range(1, 6)}]
    ends = {f"/{place}" for place in places}
    missing = [name for _, named in rows() for name in named if not any(end.endswith(f"/{name}") for end in ends)]
    assert missing == []


def test_no_file_is_too_long_to_be_read_at_once() -> None:
    lines = {name: len((ROOT / name).read_text().splitlines()) for name in TRACKED if name.endswith(SOURCES)}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}
