"""What CONTRIBUTING.md says of adding a graft, with one that does nothing (stocks/hotspot/tests/idle)."""

import json
from pathlib import Path
from typing import Any

from conftest import EACH_VERSION, IDLE_AGENT, ROOT, Jdk, memgraft
from processes import run
from tiers import combinations

TABLE = ROOT / "stocks/hotspot/grafts.cpp"
TABLE_WITH_IDLE = IDLE_AGENT.parent / "grafts_with_idle.cpp"

# The command line with a row more in its own table.
DRIVER = """
import sys
from pathlib import Path
from memgraft import native
from memgraft.grafts import section, table
native.FOLDER = Path(sys.argv.pop(1))

class Idle(section.Section):
    def lines(self, jvm):
        if idle := jvm.grafts.model_extra.get("idle"):
            yield f"idle through {idle['collections']} collections"

idle = table.Graft(
    name="idle",
    help="Nothing.",
    choices=(table.Choice("off", "the stock's own", joins=False), table.Choice("on", "the same", switches=False)),
    jvm_options=(),
    section=Idle,
)
table.GRAFTS = (*table.GRAFTS, idle)
from memgraft.cli import main
main()
"""


def with_idle(folder: Path, *words: str | Path) -> Any:
    natives = folder / "native"
    natives.mkdir()
    (natives / "libmemgraft_hotspot.so").symlink_to(IDLE_AGENT)
    return run([ROOT / ".venv/bin/python", "-P", "-c", DRIVER, natives, *words], PYTHONPATH=str(ROOT))


def test_the_agent_has_one_row_more() -> None:
    """Its include and its row; everything else of it is in its own folder."""
    known = TABLE.read_text().splitlines()
    lines = TABLE_WITH_IDLE.read_text().splitlines()
    assert [line for line in lines if line not in known] == ['#include "idle/graft.h"', "    make_idle_graft,"]
    assert [line for line in lines if "idle" not in line] == known
    assert sorted(file.name for file in (ROOT / "stocks/hotspot/tests/idle").iterdir()) == ["graft.cpp", "graft.h"]


@combinations(
    jdk=EACH_VERSION, beside=["", ",zeroing=bulk", ",buffers=cpu:131072,zeroing=bulk", ",ordering=sc"], strength=1
)
def test_it_joins_by_itself_and_beside_others(beside: str, jdk: Jdk, programs: Path, tmp_path: Path) -> None:
    agent = f"-agentpath:{IDLE_AGENT}=idle=on{beside},summary={tmp_path}"
    flags = ["-XX:+ZeroTLAB"] if "zeroing" in beside else []
    if "ordering" in beside:
        flags = ["LoopInvariantCodeMotion", "FastJNIAccessors"]
        flags = [*(f"-XX:-Use{flag}" for flag in flags), "-XX:-OptimizeStringConcat", "-XX:-OptimizeFill"]
    done = run([jdk.java, "-XX:+UseParallelGC", "-Xmx64m", *flags, agent, "-cp", programs, "AllocateSteadily", "300"])
    assert done.returncode == 0, done.stderr
    [summary] = [json.loads(file.read_text()) for file in tmp_path.glob("jvm-*.json")]
    wanted = {"idle", *(word.split("=")[0] for word in beside.split(",") if word)}
    assert set(summary["grafts"]) == wanted
    assert summary["grafts"]["idle"]["collections"] > 0


def test_the_agent_asks_it_what_it_does_not_know(tmp_path: Path, programs: Path) -> None:
    for options, expected in (
        ("idle=off", "wrong agent option 'idle=off': looked for idle=on"),
        ("idle", "wrong agent option 'idle': looked for idle=on"),
        ("idel=on", "idle=WHETHER, summary=FOLDER"),
        ("live,summary=/", "ordering=sc or sc-seed; idle=on) or check"),
    ):
        done = run(["java", f"-agentpath:{IDLE_AGENT}={options}", "-cp", programs, "ShowJoints"])
        assert done.returncode == 2
        assert expected in done.stderr
    checked = run(["java", f"-agentpath:{IDLE_AGENT}=check,summary={tmp_path}", "-cp", programs, "ShowJoints"])
    assert checked.returncode == 0
    [check] = [json.loads(file.read_text()) for file in tmp_path.glob("check-*.json")]
    assert check["grafts"]["idle"]["available"]


def test_the_command_line_has_it_by_one_row(tmp_path: Path, programs: Path) -> None:
    report = tmp_path / "run.json"
    program = ["java", "-cp", programs, "ShowJoints"]
    done = with_idle(tmp_path, "run", "--idle", "on", "--output", report, "--", *program)
    assert done.returncode == 0, done.stderr
    [jvm] = json.loads(report.read_text())["jvms"]
    assert jvm["state"] == "ended"
    assert f"memgraft: idle through {jvm['grafts']['idle']['collections']} collections\n" in done.stderr
    assert memgraft("run", "--idle", "on", "--", *program).returncode == 2
