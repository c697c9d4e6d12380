"""`compare` from outside, with a stand-in for a program that has JVMs under it."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memgraft.conftest import Done, Memgraft, program, set_up
from memgraft.experiment.compare import default_output

TWO_CPUS = pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two CPUs")


EPOCHS = ("compare", "--pairing", "epochs", "--zeroing")


class Compare:
    def __init__(self, memgraft: Memgraft) -> None:
        self.memgraft = memgraft
        self.output = memgraft.folder / "out"

    def __call__(self, *words: str, options: tuple[str, ...] = (), zeroing: str = "bulk") -> Done:
        fixed = ["compare", "--zeroing", zeroing, "--launches", "6", "--output", "out"]
        return self.memgraft(*fixed, *options, "--", *program(*words))

    def launches(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.output / "launches.jsonl").read_text().splitlines()]


@pytest.fixture
def compare(memgraft: Memgraft) -> Compare:
    return Compare(memgraft)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Compare, Done]:
    """One comparison that several tests look at."""
    compare = Compare(set_up(tmp_path_factory.mktemp("finished")))
    return compare, compare("iterations=4", "factor=0.9", options=("--json",))


class TestFinished:
    def test_the_json_stands_alone_and_is_on_disk(self, finished: tuple[Compare, Done]) -> None:
        compare, done = finished
        assert done.code == 0
        result = done.json()
        assert result["verdict"] == "faster"
        assert result["ratio"] == {"median": pytest.approx(0.9), "low": pytest.approx(0.9), "high": pytest.approx(0.9)}
        assert result["launches"] == {"baseline": 6, "grafted": 6, "switched": 0}
        assert result["baseline"] == {"zeroing": "hot-path"}
        assert result["graft"]["zeroing"]["direct_cost"] == 0.01
        assert result["graft"]["zeroing"]["intervals"]["bytes"] == {"low": 1e8, "high": 1e8}
        assert result["jvms"][0]["collector"] == "G1"
        assert result["iterations"]["warmup_most"] == 2
        assert json.loads((compare.output / "result.json").read_text()) == result
        assert "used 10.0 % less" in done.err

    def test_the_page(self, finished: tuple[Compare, Done]) -> None:
        compare, done = finished
        page = compare.output / "report.html"
        assert done.json()["report"] == str(page)
        assert "With bulk zeroing fake used 10.0 % less CPU time per steady iteration" in page.read_text()

    def test_launches_alternate_after_a_warm_up(self, finished: tuple[Compare, Done]) -> None:
        compare, _ = finished
        sides = "".join(done["side"][0] for done in compare.launches())
        assert sides == "g" + "bggb" * 3
        assert [done["pair"] for done in compare.launches()] == [None, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]

    def test_every_launch_has_its_logs(self, finished: tuple[Compare, Done]) -> None:
        compare, _ = finished
        logs = sorted(path.name for path in (compare.output / "logs").iterdir())
        assert len(logs) == 26
        assert logs[:2] == ["launch-01-grafted.err", "launch-01-grafted.out"]
        assert "hello from the program" in (compare.output / "logs" / logs[1]).read_text()

    def test_the_stock_side_has_nothing_added(self, finished: tuple[Compare, Done]) -> None:
        compare, _ = finished
        assert all(bool(done["jvms"]) == (done["side"] == "grafted") for done in compare.launches())


@TWO_CPUS
def test_concurrent_pairs_swap_their_cpus(compare: Compare) -> None:
    done = compare("iterations=2", options=("--pairing", "concurrent", "--json"))
    assert done.code == 0
    assert done.json()["pairing"] == "concurrent"
    stock = [launch["cpus"] for launch in compare.launches() if launch["side"] == "baseline"]
    assert stock[0] == stock[2] != stock[1] == stock[3]
    assert any("half of what the program would use" in warning for warning in done.json()["warnings"])


def test_concurrent_on_one_cpu_is_refused(compare: Compare) -> None:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    try:
        done = compare(options=("--pairing", "concurrent"))
    finally:
        os.sched_setaffinity(0, before)
    assert done.code == 3
    assert "expected at least 2 CPUs" in done.error
    assert not compare.output.exists()


def test_stock_against_stock(compare: Compare) -> None:
    done = compare("iterations=2", options=("--json",), zeroing="hot-path")
    assert done.code == 0
    assert done.json()["graft"] == {"zeroing": {"strategy": "hot-path"}}
    assert "Stock against stock" in done.json()["sentence"]
    assert not any((compare.output / "summaries").iterdir())


def test_report_on_a_terminals_worth_of_text(compare: Compare) -> None:
    done = compare("iterations=4", "factor=1.1")
    assert done.code == 0
    assert done.out.startswith("With bulk zeroing fake used 10.0 % more CPU time per steady iteration")
    assert "What the graft did" in done.out
    assert "\x1b" not in done.out + done.err


def test_default_output_folder(memgraft: Memgraft) -> None:
    done = memgraft("compare", "--zeroing", "bulk", "--launches", "6", "--", *program("iterations=2"))
    assert done.code == 0
    [folder] = (memgraft.folder / "memgraft-out").iterdir()
    assert folder.name.startswith("compare-")
    assert (folder / "report.html").is_file()


def test_commands_that_begin_in_one_second_have_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    now = datetime(2026, 12, 1, 11, 2, 3, tzinfo=UTC)
    for name in ("hunt-20261201-110203", "hunt-20261201-110203-2", "hunt-20261201-110203-3"):
        folder = default_output(now, "hunt")
        assert folder == Path("memgraft-out") / name
        folder.mkdir(parents=True)


def test_against_another_strategy(compare: Compare) -> None:
    done = compare("iterations=4", "factor=1.0", options=("--against", "non-temporal", "--json"))
    assert done.code == 0
    result = done.json()
    assert result["baseline"] == {"zeroing": "non-temporal"}
    assert result["baseline_graft"]["zeroing"]["strategy"] == "non-temporal"
    assert result["graft"]["zeroing"]["strategy"] == "bulk"
    assert "than with non-temporal zeroing" in result["sentence"]
    assert all(done["jvms"] for done in compare.launches())
    assert "stock" not in (compare.output / "report.html").read_text().split("<h2>How quiet")[0].split("<body>")[1]


def test_against_a_graft_with_the_stock_as_the_graft(compare: Compare) -> None:
    done = compare("iterations=2", options=("--against", "bulk", "--json"), zeroing="hot-path")
    assert done.code == 0
    assert [bool(launch["jvms"]) for launch in compare.launches()][:3] == [False, True, False]


class TestEpochs:
    def test_a_launch_is_both_sides(self, memgraft: Memgraft) -> None:
        words = program("iterations=2", "epochs=600", "factor=0.9")
        done = memgraft(*EPOCHS, "windows", "--window", "65536", "--json", "--output", "out", "--", *words)
        assert done.code == 0, done.err
        result = done.json()
        assert result["launches"] == {"baseline": 0, "grafted": 0, "switched": 1}
        assert result["verdict"] == "faster"
        assert result["ratio"]["median"] == pytest.approx(0.9)
        assert result["metric"] == "epoch-cpu"
        assert result["epochs"]["counted"] == 300
        assert result["metrics"]["epoch-cpu"]["baseline_seconds_per_gigabyte"]["median"] == pytest.approx(1)
        assert "With windows zeroing (window 65536) fake used 10.0 % less CPU time of its threads per GB" in done.err
        assert "than with bulk zeroing" in result["sentence"]
        assert "zeroing=windows,window=65536,against=bulk" in (memgraft.folder / "out/report.html").read_text()

    def test_too_few_collections(self, memgraft: Memgraft) -> None:
        done = memgraft(*EPOCHS, "windows", "--", *program("epochs=40"))
        assert done.code == 2
        assert "40 epochs (times between two collections) were seen in one launch" in done.error
        assert "expected at least 48: use a smaller young generation" in done.error

    def test_launches_are_added_up(self, memgraft: Memgraft) -> None:
        done = memgraft(*EPOCHS, "windows", "--launches", "2", "--json", "--", *program("epochs=40"))
        assert done.code == 0, done.err
        assert done.json()["epochs"]["quadruples"] == 10


class TestStops:
    def test_at_a_launch_that_fails(self, compare: Compare) -> None:
        done = compare("exit=5", "stderr=out of luck")
        assert (done.code, done.out) == (1, "")
        assert "the warm-up launch (grafted) (launch 1 of 13) ended with exit code 5" in done.error
        assert "out of luck" in done.error
        assert str(compare.output / "logs/launch-01-grafted.err") in done.error
        assert len(compare.launches()) == 1

    def test_at_a_refusal_before_any_long_work(self, compare: Compare) -> None:
        done = compare("refuse=3")
        assert done.code == 3
        assert done.error.startswith("memgraft: the fake graft cannot join")
        assert len(compare.launches()) == 1

    def test_where_no_jvm_is_reached(self, compare: Compare) -> None:
        done = compare("jvms=0")
        assert done.code == 2
        assert "could be reached" in done.error

    def test_at_a_wrong_result(self, compare: Compare) -> None:
        done = compare("iterations=2", "grafted_checksum=x")
        assert done.code == 1
        assert (
            "WRONG RESULT: iteration 0 of workload 'fake' has checksum 'c' in the baseline launch of pair 1"
            in done.error
        )
        assert "and 'cx' in the warm-up launch (grafted)" in done.error
        assert len(compare.launches()) == 2

    def test_where_the_metric_is_not_reported(self, compare: Compare) -> None:
        done = compare("iterations=1", options=("--metric", "iteration-cpu"))
        assert done.code == 2
        assert "--metric iteration-cpu: the warm-up launch (grafted) did not report that time" in done.error

    def test_where_warm_up_leaves_nothing(self, compare: Compare) -> None:
        done = compare("iterations=3", options=("--warmup-iterations", "3"))
        assert done.code == 2
        assert "--warmup-iterations 3 leaves no steady iteration" in done.error
        assert "expected at most 2" in done.error

    def test_at_an_output_folder_that_is_in_use(self, compare: Compare) -> None:
        compare.output.mkdir()
        (compare.output / "mine").touch()
        done = compare()
        assert done.code == 2
        assert "is not an empty folder" in done.error
        assert [path.name for path in compare.output.iterdir()] == ["mine"]

    def test_without_warm_up_launches(self, compare: Compare) -> None:
        done = compare("exit=5", options=("--warmup-launches", "0"))
        assert "the baseline launch of pair 1 (launch 1 of 12)" in done.error


def test_stack_frames_are_not_the_last_word(compare: Compare) -> None:
    done = compare("exit=1", "stderr=java.lang.Error: why\n\tat a.B(C.java:1)\n\t... 3 more\n")
    assert "its last line on standard error: java.lang.Error: why;" in done.error
