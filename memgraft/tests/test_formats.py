"""What agents write, whole, truncated and foreign."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraft import formats
from memgraft.errors import CannotTakeError

JVM = {
    "version": "17.0.15+6-Debian-1deb12u1",
    "feature": 17,
    "vendor": "Debian",
    "name": "OpenJDK 64-Bit Server VM",
    "libjvm": "/usr/lib/jvm/x/libjvm.so",
    "collector": "G1",
}
ENDED: dict[str, Any] = {
    "schema": 1,
    "kind": "jvm-summary",
    "state": "ended",
    "pid": 4711,
    "jvm": JVM,
    "program": "org.example.Main arg",
    "wall_seconds": 10.0,
    "user_seconds": 19.0,
    "system_seconds": 1.0,
    "grafts": {
        "zeroing": {
            "strategy": "non-temporal",
            "kernel": "non-temporal-64",
            "tlabs": 1280,
            "missed_tlabs": 0,
            "bytes": 8_000_000_000,
            "cycles": 2_500_000_000,
            "seconds": 1.0,
        }
    },
}
REFUSED: dict[str, Any] = {
    "schema": 1,
    "kind": "jvm-summary",
    "state": "refused",
    "pid": 1,
    "jvm": {name: JVM[name] for name in ("version", "feature", "vendor", "name")},
    "refusal": {
        "message": "m: looked for a; found b; do c",
        "looked_for": "a",
        "found": "b",
        "advice": "c",
        "exit_code": 3,
    },
}
RUNNING = {**{k: ENDED[k] for k in ("schema", "kind", "pid", "jvm")}, "state": "running"}
CHECK: dict[str, Any] = {
    "schema": 1,
    "kind": "jvm-check",
    "jvm": {**JVM, "collector": None},
    "collectors": ["Serial", "Z"],
    "grafts": {
        "zeroing": {
            "available": True,
            "reason": "joins Serial",
            "collectors": {
                "Serial": {"available": True, "reason": "every joint found"},
                "Z": {"available": False, "reason": "no"},
            },
        }
    },
}


def written(folder: Path, content: object, name: str = "jvm-1-1.json") -> Path:
    (folder / name).write_text(json.dumps(content))
    return folder


class TestSummary:
    def test_figures_are_those_of_the_thesis(self, tmp_path: Path) -> None:
        [summary] = formats.read_summaries(written(tmp_path, ENDED))
        zeroing = summary.grafts.zeroing
        assert zeroing is not None
        assert zeroing.gigabytes_per_second == 8.0  # BytesZeroed / ZeroingCycles
        assert summary.direct_cost == 0.05  # ZeroingCycles / (UserTime + SystemTime)
        assert summary.cpu_utilisation == 2.0  # (UserTime + SystemTime) / ExecutionTime
        assert str(summary.jvm) == "OpenJDK 64-Bit Server VM 17.0.15+6-Debian-1deb12u1 (Debian, G1 collector)"

    def test_nothing_zeroed_is_no_division_by_zero(self, tmp_path: Path) -> None:
        [summary] = formats.read_summaries(written(tmp_path, RUNNING))
        assert summary.direct_cost is None
        assert summary.cpu_utilisation is None
        zeroing = formats.Zeroing(strategy="bulk", kernel="avx512")
        assert zeroing.gigabytes_per_second is None

    def test_a_refusal(self, tmp_path: Path) -> None:
        [summary] = formats.read_summaries(written(tmp_path, REFUSED))
        assert summary.refusal is not None
        assert (summary.refusal.message, summary.refusal.exit_code) == ("m: looked for a; found b; do c", 3)
        assert str(summary.jvm).endswith("(Debian)")

    def test_jvms_come_in_the_order_of_their_starts(self, tmp_path: Path) -> None:
        for pid, started in ((5, 300), (9, 20), (7, 1000)):
            written(tmp_path, {**ENDED, "pid": pid}, f"jvm-{pid}-{started}.json")
        assert [summary.pid for summary in formats.read_summaries(tmp_path)] == [9, 5, 7]

    def test_drafts_and_other_files_are_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "jvm-1-1.json.draft").write_text("{ half")
        (tmp_path / "notes.txt").write_text("mine")
        assert formats.read_summaries(tmp_path) == []

    def test_fields_of_a_newer_writer_are_ignored(self, tmp_path: Path) -> None:
        assert formats.read_summaries(written(tmp_path, {**ENDED, "nodes": 2}))

    @pytest.mark.parametrize(
        "change",
        [
            {"schema": 2},
            {"schema": "1"},
            {"kind": "jvm-check"},
            {"state": "odd"},
            {"pid": "4711"},
            {"pid": True},
            {"jvm": None},
            {"wall_seconds": -1.0},
            {"wall_seconds": "1"},
            {"grafts": {"zeroing": {"strategy": "bulk", "kernel": "k", "bytes": -1}}},
            {"grafts": {"zeroing": {"strategy": "bulk", "kernel": "k", "seconds": float("nan")}}},
        ],
    )
    def test_anything_else_is_one_clear_line(self, tmp_path: Path, change: dict[str, object]) -> None:
        with pytest.raises(CannotTakeError, match=r"jvm-1-1\.json cannot be read .*schema 1") as raised:
            formats.read_summaries(written(tmp_path, {**ENDED, **change}))
        assert "\n" not in raised.value.message

    @pytest.mark.parametrize("length", range(0, len(json.dumps(ENDED)), 37))
    def test_truncated_files(self, tmp_path: Path, length: int) -> None:
        (tmp_path / "jvm-1-1.json").write_text(json.dumps(ENDED)[:length])
        with pytest.raises(CannotTakeError):
            formats.read_summaries(tmp_path)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(ENDED)), inner, max_size=4),
    max_leaves=8,
)


@given(st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_or_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    (folder / "jvm-1-1.json").write_bytes(content)
    (folder / "check-1-1.json").write_bytes(content)
    for read in (formats.read_summaries, formats.read_check):
        with pytest.raises(CannotTakeError):
            read(folder)


class TestCheck:
    def test_what_a_jvm_can_take(self, tmp_path: Path) -> None:
        check = formats.read_check(written(tmp_path, CHECK, "check-1-1.json"))
        assert check is not None
        assert check.grafts["zeroing"].available
        assert not check.grafts["zeroing"].collectors["Z"].available

    def test_none_written(self, tmp_path: Path) -> None:
        assert formats.read_check(tmp_path) is None


def test_what_the_newer_strategies_say(tmp_path: Path) -> None:
    """As docs/formats.md, section 2, prints it."""
    epoch = {"collection": 3, "side": "baseline", "mutator_cpu_seconds": 0.02, "wall_seconds": 0.02, "bytes": 20}
    more = {
        "window_bytes": 32768,
        "windows": 1234,
        "window_waste_bytes": 999,
        "fresh_bytes": 4096,
        "collections": 42,
        "by": {"thread": {"bytes": 1, "seconds": 0.1}, "helper": {"bytes": 2, "seconds": 0.2}},
        "helper": {"started": True, "reason": "", "ready_bytes": 1, "waits": 3, "wait_seconds": 0.001, "steals": 2},
        "decisions": {"concurrent": 12, "windows": 30},
        "log": [{"collection": 5, "strategy": "windows", "running_threads": 1.7, "cpus": 2, "reason": "r"}],
        "epochs": {"grafted": "windows", "baseline": "bulk", "records": [epoch]},
    }
    counter = {"name": "cache_misses", "unit": "events", "available": False, "reason": "none here", "value": 0}
    summary = json.loads(json.dumps(ENDED)) | {"counters": [counter]}
    summary["grafts"]["zeroing"] |= more
    (tmp_path / "jvm-1-1.json").write_text(json.dumps(summary))
    [read] = formats.read_summaries(tmp_path)
    zeroing = read.grafts.zeroing
    assert zeroing is not None
    assert zeroing.by is not None
    assert zeroing.by.helper == formats.Share(bytes=2, seconds=0.2)
    assert zeroing.by.pause is None
    assert zeroing.helper is not None
    assert zeroing.helper.waits == 3
    assert zeroing.epochs is not None
    assert zeroing.epochs.records[0].side == "baseline"
    assert read.counters[0].reason == "none here"
    epoch["side"] = "neither"
    summary["grafts"]["zeroing"]["epochs"]["records"] = [epoch]
    (tmp_path / "jvm-1-1.json").write_text(json.dumps(summary))
    with pytest.raises(CannotTakeError, match="side"):
        formats.read_summaries(tmp_path)
