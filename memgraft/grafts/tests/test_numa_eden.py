"""`--numa-eden`: what it becomes on its way to the agent, and what is said of it."""

import json

import pytest
from typer.testing import CliRunner

from memgraft.cli import app
from memgraft.errors import WrongUsageError
from memgraft.formats import Buffers, JvmSummary, Numa
from memgraft.grafts import buffers_section
from memgraft.grafts.selection import Selection, select

COUNTS = Numa(
    nodes=2,
    fillings=423,
    local_fillings=335,
    moved_fillings=43,
    remote_fillings=9,
    spares_used=107,
    bound_bytes=165_675_008,
    waste_at_collections_bytes=8_388_608,
)
EPERM = "mbind: Operation not permitted"


@pytest.mark.parametrize(
    ("typed", "name", "agent", "jvm"),
    [
        ("numa-eden", "thread=growing,numa-eden", "buffers=none,numa-eden", []),
        ("node=16m,numa-eden", "thread=growing,node=16m,numa-eden", "buffers=node:16777216,numa-eden", []),
        (
            "numa-eden,thread=64k,core=1m",
            "thread=64k,core=1m,numa-eden",
            "buffers=core:1048576,numa-eden",
            ["-XX:TLABSize=65536", "-XX:-ResizeTLAB"],
        ),
        ("thread=64k,numa-eden,numa-eden", "thread=64k,numa-eden", "buffers=none,numa-eden", None),
    ],
)
def test_is_a_word_among_the_levels(typed: str, name: str, agent: str, jvm: list[str] | None) -> None:
    selection = select({"buffers": typed})
    assert selection.joins()
    assert selection.label == name
    assert select({"buffers": name}).agent_options == [agent]
    if jvm is not None:
        assert select({"buffers": name}).jvm_options == jvm


def test_can_be_compared_with_the_same_buffers_unbound() -> None:
    selection = select({"buffers": "thread=growing,node=16m,numa-eden"})
    assert selection.other_side("node=16m") == select({"buffers": "thread=growing,node=16m"})
    assert selection.stock.as_json() == {"buffers": "thread=growing"}


def test_levels_are_checked_as_without_it() -> None:
    with pytest.raises(WrongUsageError, match="'chip=1m' names no level"):
        select({"buffers": "chip=1m,numa-eden"})


@pytest.mark.parametrize(
    ("options", "taken"),
    [
        (["--numa-eden"], "thread=growing,numa-eden"),
        (["--buffers", "thread=64k,node=4m", "--numa-eden"], "thread=64k,node=4m,numa-eden"),
        (["--buffers", "numa-eden", "--numa-eden"], "thread=growing,numa-eden"),
    ],
)
def test_the_flag_adds_the_word(options: list[str], taken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: dict[str, str] = {}

    class StopError(Exception):
        pass

    def run(_command: object, selection: Selection, *_: object, **__: object) -> None:
        seen.update(selection.as_json())
        raise StopError

    monkeypatch.setattr("memgraft.run.run", run)
    assert isinstance(CliRunner().invoke(app, ["run", *options, "--", "java"]).exception, StopError)
    assert seen == {"buffers": taken}


def lines(numa: Numa | None) -> list[str]:
    return list(buffers_section.lines(Buffers(numa=numa)))


def test_what_it_did_is_one_line() -> None:
    [line] = lines(COUNTS)
    assert line == (
        "NUMA-Eden: 423 fillings for 2 nodes: 335 were on their node, 43 moved to it, 9 left on another; "
        "158 MiB bound, 8 MiB of spares lost at collections"
    )
    assert lines(None) == []


def test_one_node_has_nothing_to_bind() -> None:
    assert lines(Numa(nodes=1)) == ["one NUMA node: nothing to bind"]


def test_failures_have_their_reason() -> None:
    [line] = lines(COUNTS.model_copy(update={"failures": 846, "reason": EPERM}))
    assert line.endswith(f"; 846 system calls failed ({EPERM}; containers need CAP_SYS_NICE for it)")
    [line] = lines(COUNTS.model_copy(update={"failures": 1, "reason": "mbind: Cannot allocate memory"}))
    assert line.endswith("; 1 system call failed (mbind: Cannot allocate memory)")


def jvm(numa: Numa | None) -> JvmSummary:
    summary = {
        "schema": 1,
        "kind": "jvm-summary",
        "state": "ended",
        "pid": 1,
        "jvm": {"version": "17", "feature": 17, "vendor": "", "name": ""},
        "grafts": {"buffers": {"numa": numa.model_dump() if numa else None}},
    }
    return JvmSummary.model_validate_json(json.dumps(summary))


def test_a_comparison_has_its_rows() -> None:
    rows = dict(buffers_section.rows([[jvm(COUNTS)], [jvm(COUNTS), jvm(COUNTS)]]))
    assert rows["NUMA-Eden: fillings"].startswith("634")
    assert "NUMA-Eden: failed system calls" in rows
    assert dict(buffers_section.rows([[jvm(Numa(nodes=1))]]))["NUMA-Eden"] == "one NUMA node: nothing to bind"
    assert not any("NUMA" in name for name, _ in buffers_section.rows([[jvm(None)]]))
