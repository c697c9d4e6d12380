"""`memgraft zero calibrate` and `zero bench` on a benchmark whose answers are planted."""

import json
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from memgraft import machine, native
from memgraft.conftest import Memgraft
from memgraft.kernels.calibrate import table_for_this_cpu
from memgraft.kernels.zero_results import relative_times, throughputs
from memgraft.report.tests.test_report import Reader

SIZES = [64, 2048, 32 << 10, 1 << 20]
FLAT = {"memset": 10.0, "avx2": 9.0, "non-temporal-64": 3.0, "word-4": 5.0}
MODES = ["resident", "streaming", "streaming-late", "streaming-used"]


def plan(**changes: Any) -> dict[str, Any]:
    speeds: dict[str, Any] = {f"{k}/{m}/{t}": s for k, s in FLAT.items() for m in MODES for t in (1, 2)}
    past = {"64": 1.0, "2048": 4.0, "32768": 25.0, "1048576": 26.0}
    speeds |= {f"non-temporal-64/streaming/{t}": past for t in (1, 2)}
    return {"sizes": SIZES, "speeds": speeds, **changes}


@pytest.fixture
def planted(natives: Path) -> Path:
    """The file whose speeds the benchmark prints."""
    program, speeds = natives / native.ZERO_BENCH, natives / "plan.json"
    fake = Path(__file__).parents[2] / "tests/fake_bench.py"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {fake} {speeds} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    speeds.write_text(json.dumps(plan()))
    return speeds


def table_in(memgraft: Memgraft) -> Path:
    [path] = (memgraft.folder / ".cache/memgraft/zeroing").iterdir()
    return path


CHOSEN = """\
resident 1 0 memset
resident 2 0 memset
streaming 1 0 memset
streaming 1 32768 non-temporal-64
streaming 2 0 memset
streaming 2 32768 non-temporal-64
streaming-late 1 0 memset
streaming-late 2 0 memset
streaming-used 1 0 memset
streaming-used 2 0 memset
"""


@pytest.fixture(autouse=True)
def _no_cache_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)


class TestCalibrate:
    def test_the_planted_kernels_become_the_table(self, memgraft: Memgraft, planted: Path) -> None:
        done = memgraft("zero", "calibrate", "--json")
        assert done.code == 0, done.err
        table = table_in(memgraft)
        head, cpu, remark, columns, *rows = table.read_text().splitlines(keepends=True)
        assert head == "memgraft-zeroing-table 1\n"
        assert cpu == f"cpu {machine.cpu_name()}\n"
        assert remark.startswith("# Memgraft ")
        assert columns == "# MODE THREADS FROM-BYTES KERNEL\n"
        assert "".join(rows) == CHOSEN
        report = done.json()
        assert (report["schema"], report["kind"], report["table"]) == (1, "zero-calibration", str(table))
        assert {claim["verdict"] for claim in report["verdict"].values()} == {"holds"}
        assert report["verdict"]["streaming_at_least_twice_memset_from_32KiB"]["contexts"] == 4
        assert report["put_back_to_memset"] == []
        asked = planted.with_name("asked").read_text().splitlines()
        assert len(asked) == 2
        assert "--memgraft_table=" not in asked[0]
        assert f"--memgraft_table={table.with_name(f'.{table.name}.unverified')}" in asked[1]
        assert all("--benchmark_repetitions=9" in line and "interleaving=true" in line for line in asked)

    @pytest.mark.usefixtures("planted")
    def test_people_read_what_was_chosen_and_why(self, memgraft: Memgraft) -> None:
        done = memgraft("zero", "calibrate", "--output", "mine.table")
        assert done.code == 0, done.err
        text = " ".join(done.out.split())
        assert "from 32 KiB non-temporal-64, 2.50 [" in text
        assert "times memset: beats memset by more than its interval" in text
        assert "holds: it is never below memset (32 of 32 contexts;" in text
        assert text.endswith("mine.table")
        assert (memgraft.folder / "mine.table").is_file()
        assert not (memgraft.folder / ".cache").exists()

    def test_an_older_table_stays_until_the_new_one_is_verified(self, memgraft: Memgraft, planted: Path) -> None:
        old = memgraft.folder / "old.table"
        old.write_text("old")
        broken: dict[str, Any] = {"memset/resident/1": {}}
        planted.write_text(json.dumps(plan(by_table=broken)))
        done = memgraft("zero", "calibrate", "--output", "old.table")
        assert done.code == 1
        assert old.read_text() == "old"
        assert [path.name for path in memgraft.folder.iterdir()] == ["old.table"]

    def test_what_loses_when_verified_is_put_back(self, memgraft: Memgraft, planted: Path) -> None:
        slower = {"non-temporal-64/streaming/1": {"64": 1, "2048": 4, "32768": 8, "1048576": 26}}
        planted.write_text(json.dumps(plan(by_table=slower)))
        done = memgraft("zero", "calibrate", "--json")
        report = done.json()
        assert report["put_back_to_memset"] == [{"mode": "streaming", "threads": 1, "bytes": 32768}]
        assert report["verdict"]["never_below_memset"]["verdict"] == "fails"
        assert report["verdict"]["within_3_percent_of_best"]["verdict"] == "fails"
        rows = CHOSEN.replace("streaming 1 32768 non", "streaming 1 1048576 non")
        assert table_in(memgraft).read_text().endswith(rows)
        assert "put back to memset" in memgraft("zero", "calibrate").out

    @pytest.mark.usefixtures("planted")
    def test_largest(self, memgraft: Memgraft) -> None:
        report = memgraft("zero", "calibrate", "--quick", "--largest", "2048", "--json").json()
        assert {decision["bytes"] for decision in report["decisions"]} == {64, 2048}
        assert report["measured"]["repetitions"] == 5

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["--largest", "63"], "--largest 63: expected at least 64, the smallest block measured"),
            (["--output", "no/such/folder"], "the folder no/such does not exist"),
            (["--plots", "picture.png"], "--plots picture.png: expected a folder that exists, or a file"),
            (["--plots", "no/such/page.html"], "the folder no/such does not exist"),
        ],
    )
    def test_wrong_usage(self, memgraft: Memgraft, planted: Path, arguments: list[str], says: str) -> None:
        done = memgraft("zero", "calibrate", *arguments)
        assert (done.code, done.out) == (2, "")
        assert says in done.error
        assert not planted.with_name("asked").exists()

    @pytest.mark.usefixtures("planted")
    def test_the_page_has_all_pictures_and_nothing_from_elsewhere(self, memgraft: Memgraft) -> None:
        done = memgraft("zero", "calibrate", "--quick", "--plots", ".")
        assert done.code == 0, done.err
        text = (memgraft.folder / "zeroing.html").read_text()
        reader = Reader()
        reader.feed(text)
        assert not {tag for tag, _ in reader.tags} & {"link", "iframe", "img", "object", "embed", "base"}
        assert "holds: it is never below memset" in reader.text
        assert "non-temporal-64" in reader.text
        assert text.count("<figcaption>") == 4
        assert text.count('data-root-id="') == 4


class TestBench:
    @pytest.mark.usefixtures("planted")
    def test_the_choice_is_measured_beside_the_kernels(self, memgraft: Memgraft) -> None:
        by_default = memgraft("zero", "bench", "--json").json()
        assert by_default["table"] is None
        assert by_default["verdict"]["within_3_percent_of_best"]["verdict"] == "fails"
        assert memgraft("zero", "calibrate").code == 0
        report = memgraft("zero", "bench", "--json").json()
        assert report["table"] == str(table_in(memgraft))
        assert report["verdict"]["within_3_percent_of_best"]["verdict"] == "holds"
        assert report["lookup_nanoseconds"] == 1.5
        [row] = [
            row
            for row in report["results"]
            if (row["kernel"], row["mode"], row["bytes"], row["threads"]) == ("calibrated", "streaming", 1 << 20, 2)
        ]
        assert (row["stands_for"], row["best_kernel"], row["best"]) == ("non-temporal-64", "non-temporal-64", False)
        assert row["ratio_to_best"]["low"] < 1 < row["ratio_to_best"]["high"]
        assert 2.5 < row["ratio_to_memset"]["low"] < 2.6 < row["ratio_to_memset"]["high"]

    @pytest.mark.usefixtures("planted")
    def test_people_are_told_which_table(self, memgraft: Memgraft) -> None:
        assert "calibrated: by the defaults; `memgraft zero calibrate` makes a table" in memgraft("zero", "bench").out
        assert memgraft("zero", "calibrate").code == 0
        out = memgraft("zero", "bench").out
        assert "calibrated: by " in out
        assert (
            "streaming: block after block through memory larger than the caches, nothing used afterwards; 2 threads"
            in out
        )
        assert "holds: streaming from 32 KiB on is at least twice as fast as memset (4 of 4 contexts;" in " ".join(
            out.split()
        )

    def test_a_table_that_is_refused_is_the_one_line(self, memgraft: Memgraft, planted: Path) -> None:
        assert memgraft("zero", "calibrate").code == 0
        program = planted.with_name(native.ZERO_BENCH)
        program.write_text("#!/bin/sh\necho 'memgraft-zero-bench: x.table: line 3: no' >&2\nexit 3\n")
        done = memgraft("zero", "bench")
        assert (done.code, done.out, done.error) == (3, "", "memgraft: x.table: line 3: no")


def test_the_launcher_finds_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert table_for_this_cpu() is None


class TestSeries:
    """What the published figures are drawn from."""

    def test_relative_times_are_against_the_loop(self) -> None:
        rows = relative_times(_measured())
        assert {(row["kernel"], row["bytes"]) for row in rows} == {("word-4", 64), ("memset", 64)}
        [memset] = [row for row in rows if row["kernel"] == "memset"]
        assert memset["relative_time"] == pytest.approx(0.5, rel=0.02)
        assert memset["low"] <= 0.5 <= memset["high"]

    def test_throughputs_are_of_all_threads_together(self) -> None:
        rows = throughputs(_measured(), "resident")
        assert [(row["threads"], round(row["gigabytes_per_second"])) for row in rows if row["kernel"] == "memset"] == [
            (1, 10),
            (2, 16),
        ]
        assert [row["scaling"] and round(row["scaling"].median, 1) for row in rows if row["kernel"] == "memset"] == [
            None,
            1.6,
        ]


def _measured() -> list[Any]:
    from memgraft.kernels.tests.test_zero_verdict import spread
    from memgraft.kernels.zero_results import Result

    return [
        Result("word-4", "resident", 64, spread(5)),
        Result("memset", "resident", 64, spread(10)),
        Result("calibrated", "resident", 64, spread(10), stands_for="memset"),
        Result("memset", "resident", 64, spread(8), threads=2),
    ]
