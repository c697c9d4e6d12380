"""Tables of several JVMs: none of a graft that was not asked for, and each graft's own figures."""

import io

import pytest
from rich.console import Console

from memgraft.formats import Buffers, Grafts, Jvm, JvmSummary
from memgraft.grafts.table import sections
from memgraft.grafts.tests.test_ordering_graft import ordering

LATENCY = {"requests": 1, "median_nanoseconds": 1.0, "p99_nanoseconds": 2.0, "highest_nanoseconds": 3.0}
LEVEL = {
    "kind": "core",
    "bytes": 1 << 20,
    "buffers": 2,
    "take": "restartable",
    "taken": 12_345,
    "taken_bytes": 1 << 30,
    "refills": 678,
    "foreign": 1,
    "foreign_percent": 0.25,
    "contended": 0,
    "moved": 0,
    "waste_at_refills_bytes": 0,
    "waste_at_collections_bytes": 0,
    "latency": LATENCY,
}


def summary(pid: int, grafts: Grafts) -> JvmSummary:
    jvm = Jvm(version="21.0.8+9", feature=21, vendor="v", name="n", collector="G1")
    return JvmSummary(
        schema=1, kind="jvm-summary", state="ended", pid=pid, jvm=jvm, program="org.example.Main x", grafts=grafts
    )


def shown(*jvms: JvmSummary) -> list[str]:
    text = io.StringIO()
    console = Console(file=text, width=120)
    for made in filter(None, (section.table(jvms) for section in sections().values())):
        console.print(made)
    return text.getvalue().splitlines()


def test_ordering_tells_what_was_compiled_and_checked() -> None:
    lines = shown(*(summary(pid, Grafts(ordering=ordering(unsafe=2, unsafe_in_c1=1))) for pid in (11, 12)))
    assert lines[0].split()[0] == "process"
    [first, second] = [line.split() for line in lines if "org.example.Main" in line]
    assert first[0] == "11"
    assert second[-6:] == ["400", "5,000", "41,000", "13,000", "26,100", "3"]


@pytest.mark.parametrize(("levels", "expected"), [([LEVEL], "12,345"), ([], "none")])
def test_buffers_tell_of_the_lowest_level(levels: list[object], expected: str) -> None:
    buffers = Buffers.model_validate({"levels": levels})
    lines = shown(*(summary(pid, Grafts(buffers=buffers)) for pid in (11, 12)))
    assert sum(expected in line for line in lines) == 2


def test_there_is_a_table_for_each_graft_that_joined() -> None:
    both = Grafts(ordering=ordering(), buffers=Buffers.model_validate({"levels": [LEVEL]}))
    assert sum(line.startswith("process") for line in shown(summary(11, both), summary(12, both))) == 2
    assert shown(summary(11, Grafts()), summary(12, Grafts())) == []
