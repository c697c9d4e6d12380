"""`memgraft place`: what is typed, what memgraft-place is told, what is shown of what it says."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from memgraft import native, placement
from memgraft.conftest import Memgraft
from memgraft.errors import MemgraftError, WrongUsageError
from memgraft.machine import placing_here
from memgraft.placement import place
from memgraft.screen import Screen
from memgraft.tests import placement_record as made

_START = made.start()
START = _START | {
    "program": "cg",
    "command": ["./cg", "A"],
    "monitor": _START["monitor"] | {"what": "faults of NUMA balancing"},
    "nodes": [
        {"node": 0, "cpus": [0, 1], "memory_bytes": 536870912, "distances": [10, 20]},
        {"node": 2, "cpus": [2], "memory_bytes": 536870912, "distances": [20, 10]},
    ],
    "policy": {"freeze_after": 3, "more": [1, {}]},
}
SUMMARY = {
    "intervals": 12,
    "samples": 61000,
    "lost": 7,
    "unknown": 12,
    "pages": 5200,
    "moved": 5000,
    "moved_back": 10,
    "moved_by_neighbours": 300,
    "refused": {"busy": 1, "no_memory": 0, "absent": 3, "forbidden": 20, "other": 0},
    "held": {"share": 900, "few": 40, "payback": 3, "rate": 0, "frozen": 2},
    "frozen": 2,
    "waiting": 0,
    "local_before": 0.25,
    "local_after": 0.97,
    "accesses_before": [[10, 20], [55, 15]],
    "accesses_after": [[500, 10], [20, 470]],
    "kernel_moved": 0,
    "cpu_seconds": 0.4,
    "wall_seconds": 60.1,
    "largest_bytes": 4194304,
}


def end(**summary: object) -> dict[str, Any]:
    return {
        "schema": 1,
        "kind": "placement",
        "event": "end",
        "at_ms": 60123,
        "reason": "exited",
        "exit_code": 0,
        "start": START,
        "summary": {**SUMMARY, **summary},
    }


FAKE = """#!{python}
import json, sys
from pathlib import Path
words = sys.argv[1:]
plan = json.loads(Path({plan!r}).read_text())
Path({asked!r}).write_text(json.dumps(words))
print("the program's own")
print(plan["error"], end="", file=sys.stderr)
if plan["summary"]:
    Path(words[words.index("--summary") + 1]).write_text(plan["summary"])
sys.exit(plan["code"])
"""


def plant(memgraft: Memgraft, summary: object, code: int = 0, error: str = "") -> Path:
    """A memgraft-place that ends so; the file in which it leaves what it was asked."""
    plan, asked = memgraft.folder / "plan", memgraft.folder / "asked"
    written = summary if isinstance(summary, str) else json.dumps(summary)
    plan.write_text(json.dumps({"summary": written, "code": code, "error": error}))
    program = memgraft.natives / native.PLACE
    program.write_text(FAKE.format(python=sys.executable, plan=str(plan), asked=str(asked)))
    program.chmod(0o755)
    return asked


def shown(document: dict[str, Any], tmp_path: Path) -> str:
    file, summary = tmp_path / "shown", tmp_path / "summary"
    summary.write_text(json.dumps(document))
    with file.open("w") as stream:
        place.show(place.Finished(0, placement.read(summary), document, None), Screen(stream))
    return file.read_text()


@pytest.mark.parametrize(
    ("text", "expected"), [("500ms", 0.5), ("5s", 5), ("5", 5), ("1m", 60), ("2h", 7200), (".25", 0.25), ("1.5 s", 1.5)]
)
def test_times(text: str, expected: float) -> None:
    assert place.seconds("--interval", text) == pytest.approx(expected)


@pytest.mark.parametrize("text", ["", "0", "0ms", "-1s", "5 minutes", "fast", "1e3", "inf"])
def test_what_is_no_time(text: str) -> None:
    with pytest.raises(WrongUsageError, match=r"--drain .*: expected a time above 0 such as 500ms, 5s or 1m"):
        place.seconds("--drain", text)


def test_only_what_was_typed_is_passed_on() -> None:
    assert place.Asked(pid=7).options() == ["--pid", "7"]
    asked = place.Asked(["ls"], interval="500ms", drain="20ms", dry_run=True, map=True, record=Path("x"), least_share=0)
    assert asked.options() == [
        *("--interval", "0.5", "--drain", "20", "--record", "x", "--least-share", "0", "--dry-run", "--map")
    ]
    assert place.Asked(pid=7, observing_cpu=0.05).options() == ["--observing-cpu", "0.05", "--pid", "7"]
    plain = place.Asked(pid=7, ignore_move_cost=True, ignore_neighbours=True)
    assert plain.options() == ["--pid", "7", "--ignore-move-cost", "--ignore-neighbours"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "nothing to place: expected --pid N or `-- COMMAND...`"),
        (["--pid", "7", "--", "ls"], "--pid 7 and a command: expected only one of them"),
        (["--pid", "0"], "--pid 0: expected a number greater than or equal to 1;"),
        (["--duration", "5s", "--", "ls"], "--duration 5s: expected it with --pid"),
        (["--monitor", "luck", "--", "ls"], "--monitor luck: expected auto, hint-faults, pmu, faults-in-process or"),
        (["--map", "--", "ls"], "--map: expected --record FILE with it"),
        (["--interval", "soon", "--", "ls"], "--interval soon: expected a time above 0"),
        (["--least-share", "2", "--", "ls"], "--least-share 2: expected a number less than or equal to 1;"),
        (["--record", "no/such/x", "--", "ls"], "--record no/such/x: the folder no/such does not exist"),
        (["--", "no-such-program"], "command 'no-such-program' not found"),
    ],
)
def test_wrong_usage(memgraft: Memgraft, arguments: list[str], expected: str) -> None:
    asked = plant(memgraft, end())
    done = memgraft("place", *arguments)
    assert (done.code, done.out) == (2, "")
    assert expected in done.error
    assert not asked.exists(), "nothing was started"


def test_the_command_keeps_its_words_and_its_output(memgraft: Memgraft) -> None:
    asked = plant(memgraft, end())
    done = memgraft("place", "--monitor", "replay:x", "--record", "r.jsonl", "echo", "--json", "-x")
    assert (done.code, done.out) == (0, "the program's own\n")
    words = json.loads(asked.read_text())
    at = words.index("--")
    assert words[at + 1 :] == ["echo", "--json", "-x"]
    assert words[: at - 2] == ["--monitor", "replay:x", "--record", "r.jsonl"]
    assert "moved         5,000 pages (19.53 MiB), 10 of them back" in done.err
    assert "record        r.jsonl" in done.err


def test_json_is_what_memgraft_place_wrote(memgraft: Memgraft) -> None:
    plant(memgraft, end())
    done = memgraft("place", "--json", "--", "true")
    assert done.json() == end()
    assert done.err == "the program's own\n"


def test_a_failed_command_is_reported_after_its_summary(memgraft: Memgraft) -> None:
    said = "memgraft place: 'false' ended with exit code 1\n"
    plant(memgraft, end(), 1, said)
    done = memgraft("place", "--", "false")
    assert done.code == 1
    assert said in done.err
    assert "  samples       61,000" in done.err


@pytest.mark.parametrize("code", [2, 3])
def test_a_refusal_is_memgraft_places_one_line(memgraft: Memgraft, code: int) -> None:
    line = "memgraft place: this machine has one NUMA node: there is nothing to place\n"
    plant(memgraft, "", code, line)
    done = memgraft("place", "--", "true")
    assert (done.code, done.err) == (code, line)


@pytest.mark.parametrize(("summary", "code"), [("", 139), ("{", 0), (json.dumps({**end(), "schema": 2}), 0)])
def test_no_summary_is_one_line(memgraft: Memgraft, summary: str, code: int) -> None:
    plant(memgraft, summary, code)
    done = memgraft("place", "--", "true")
    assert done.code == 1
    expected = "memgraft-place ended with exit code 139 (SIGSEGV)" if code else "is no summary of a placement"
    assert expected in done.error


def test_no_native_part(memgraft: Memgraft) -> None:
    done = memgraft("place", "--", "true")
    assert done.code == 3
    assert "the native part memgraft-place is not at" in done.error


def test_what_is_shown(tmp_path: Path) -> None:
    text = shown(end(), tmp_path)
    for line in (
        "memgraft place: cg (process 4711), 60.1 s, 2 nodes",
        "  monitor       hint-faults: faults of NUMA balancing",
        "  sees          the thread, the CPU; not loads from stores, the latency; a sample of accesses",
        "  samples       61,000 on 5,200 pages in 12 intervals of 5.00 s; 7 lost; 12 on pages whose node",
        "  non-local     75.0 % before (75 of 100 samples); 3.0 % after (30 of 1,000 samples)",
        "  that is       of touches, at most one of a page at a time; of all accesses the share may be another",
        "  moved         5,000 pages (19.53 MiB), 10 of them back, 300 for touches of pages around them",
        "  frozen        2 pages at the end",
        "  held          900 used by others about as much, 40 touched too seldom to tell, 3 not worth the move, ",
        "  refused       1 busy, 3 not there any more, 20 not allowed there",
        "  kernel moved  0 pages by its own balancing",
        "  overhead      400 ms of CPU time, 0.67 % of one CPU; 4 MiB of memory at most",
        "samples before     node 0  node 2  non-local",
        "threads on node 2      55      15     78.6 %",
        "threads on node 0     500      10      2.0 %",
    ):
        assert line in text, text
    assert max(map(len, shown(end(unknown=0), tmp_path).splitlines())) <= 120
    every = end()
    every["start"] = {**START, "monitor": {**START["monitor"], "name": "pmu"}}
    assert "that is" not in shown(every, tmp_path)


def test_nothing_is_claimed_that_nobody_saw(tmp_path: Path) -> None:
    none = {"accesses_before": [[0, 0], [0, 0]], "accesses_after": [[0, 0], [0, 0]]}
    silent = shown(end(samples=0, pages=0, **none), tmp_path)
    assert "samples       none in 12 intervals of 5.00 s" in silent
    assert "not resolved before (no samples); not resolved after (no samples)" in silent
    assert "threads on" not in silent
    assert "not resolved after (no page was told where it is)" in shown(end(**none), tmp_path)
    dry = end()
    dry["start"] = {**START, "dry_run": True}
    text = shown(dry, tmp_path)
    assert "dry run: nothing was moved" in text
    assert "would move    5,000 pages" in text


@pytest.mark.parametrize("field", ["samples", "local_before", "accesses_after"])
def test_a_negative_number_is_no_summary(tmp_path: Path, field: str) -> None:
    file = tmp_path / "summary"
    file.write_text(json.dumps(end(**{field: -1})))
    with pytest.raises(MemgraftError, match=rf"summary\.{field}"):
        placement.read(file)


class TestPlacingHere:
    def kernel(self, root: Path, balancing: str | None, paranoid: str) -> dict[str, Any]:
        folder = root / "proc/sys/kernel"
        folder.mkdir(parents=True)
        if balancing is not None:
            (folder / "numa_balancing").write_text(f"{balancing}\n")
        (folder / "perf_event_paranoid").write_text(f"{paranoid}\n")
        return placing_here.examine(root)

    def test_several_nodes_and_samples(self, tmp_path: Path) -> None:
        for node in range(3):
            (tmp_path / f"sys/devices/system/node/node{node}").mkdir(parents=True)
        (tmp_path / "sys/bus/event_source/devices/ibs_op").mkdir(parents=True)
        found = self.kernel(tmp_path, "1", "2")
        assert (found["nodes"], found["numa_balancing"], found["perf_event_paranoid"]) == (3, 1, 2)
        assert found["hint_faults"] == {"available": True, "reason": "kernel.numa_balancing is 1"}
        assert found["pmu"]["reason"].startswith("IBS: ")
        assert dict(placing_here.lines(found))["nodes"] == "3"

    def test_no_balancing_and_no_samples(self, tmp_path: Path) -> None:
        found = self.kernel(tmp_path, None, "2")
        assert found["hint_faults"]["reason"].startswith("this kernel has no kernel.numa_balancing")
        assert not found["pmu"]["available"]
        assert dict(placing_here.lines(found))["nodes"].startswith("1: nothing to place")

    def test_who_is_not_root(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("os.geteuid", lambda: 1000)
        strict = self.kernel(tmp_path / "strict", "1", "3")["hint_faults"]
        assert strict["reason"] == "kernel.perf_event_paranoid is 3; 2 or lower allows it, or CAP_PERFMON"
        off = self.kernel(tmp_path / "off", "0", "2")["hint_faults"]
        assert (off["available"], "sysctl kernel.numa_balancing=1" in off["reason"]) == (False, True)

    def test_this_machine_says_something(self, memgraft: Memgraft) -> None:
        assert set(placing_here.move_pages()) == {"available", "reason"}
        done = memgraft("doctor")
        assert "Placement of pages" in done.out
        assert "  move_pages  " in done.out
