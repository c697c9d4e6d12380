"""Costs that are read, and what the model and the simulation make of them: limits, and that both agree."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraft import native
from memgraft.conftest import Memgraft
from memgraft.errors import CannotTakeError, WrongUsageError
from memgraft.report.tests.test_report import Reader
from memgraft.scaling import costs, page, work
from memgraft.scaling.costs import Costs
from memgraft.scaling.model import Stage, response, solve, visits_of
from memgraft.scaling.simulation import simulate
from memgraft.statistics import Interval
from memgraft.tests.synthetic import MACHINE

THINK, SERVICE = 2000.0, 100.0
HEAP = Stage("heap", 10_000, SERVICE, 0.0, 1)
BELOW_PROCESSORS = [Stage("processor", 8, SERVICE, 20.0, 1), Stage("heap", 10_000, SERVICE, 0.0, 16)]
FOUR = [Stage("core", 1, 20.0, 1.0, 1), Stage("processor", 8, 60.0, 20.0, 8), Stage("heap", 10_000, SERVICE, 0.0, 4)]
TIMES = {
    "swap/alone": 9.0,
    "swap/handover-core": 70.0,
    "swap/contended/2": 50.0,
    "take/atomic": 22.0,
    "take/restartable": 18.0,
    "take/contended/2": 75.0,
    "think/alone": 200.0,
    "think/swapping/2": 140.0,
    "refill/atomic": 28.0,
    "refill/restartable": 22.0,
}
KINDS = {"cpus": 2, "cores": 2, "processors": 1, "nodes": 1}


def printed(times: dict[str, float]) -> bytes:
    """As the benchmark does."""
    rows = [
        {"run_name": f"buffers/{name}/real_time/threads:2", "run_type": kind, "nanoseconds": time * factor}
        for name, time in times.items()
        for kind, factor in [("iteration", 1 + 0.01 * at) for at in range(-4, 5)] + [("aggregate", 99.0)]
    ]
    return json.dumps({"context": {name: str(count) for name, count in KINDS.items()}, "benchmarks": rows}).encode()


def known(**times: float) -> Costs:
    named = {name.replace("__", "/").replace("_", "-"): time for name, time in times.items()}
    return costs.parse(printed(TIMES | named), MACHINE)


class TestModel:
    def test_one_core_never_waits(self) -> None:
        assert response(1, SERVICE, THINK) == SERVICE
        found = solve(THINK, 1, FOUR)
        assert found.lost == pytest.approx(20 + 1 + (60 + 20) / 8 + SERVICE / 32)

    def test_saturated_it_serves_as_fast_as_it_can(self) -> None:
        cores = 2000
        found = solve(THINK, cores, [HEAP])
        assert cores / (found.think + found.lost) == pytest.approx(1 / SERVICE)
        assert found.busy == pytest.approx(1)

    def test_two_cores_by_hand(self) -> None:
        """One arrives while the other is there with the probability that the other is: S / (Z + S)."""
        assert solve(THINK, 2, [HEAP]).lost == pytest.approx(SERVICE * (1 + SERVICE / (THINK + SERVICE)))

    def test_visits_are_the_products_of_what_buffers_hold(self) -> None:
        assert visits_of(FOUR) == [1, 1 / 8, 1 / 32]

    def test_cores_of_other_processors_do_not_wait_for_each_other(self) -> None:
        alone, many = (
            solve(THINK, cores, [BELOW_PROCESSORS[0], Stage("heap", 10_000, 0.001, 0.0, 10**6)]) for cores in (8, 256)
        )
        assert many.lost == pytest.approx(alone.lost, rel=1e-6)

    @given(st.integers(1, 256), st.floats(10, 1e6), st.floats(1, 1e4))
    def test_bounds(self, cores: int, think: float, service: float) -> None:
        """Whatever the distribution: no more than 1 / S, and than N would have that never wait."""
        found = solve(think, cores, [Stage("heap", 10_000, service, 0.0, 1)])
        throughput = cores / (think + found.lost)
        assert throughput <= min(1 / service, cores / (think + service)) * (1 + 1e-9)
        assert throughput >= cores / (think + cores * service) * (1 - 1e-9)

    @given(st.integers(1, 255))
    def test_more_cores_never_wait_less(self, cores: int) -> None:
        fewer, more = (solve(THINK, number, FOUR).lost for number in (cores, cores + 1))
        assert more >= fewer * (1 - 1e-9)


class TestSimulation:
    @pytest.mark.parametrize("cores", [1, 8, 20, 64])
    @pytest.mark.parametrize("stages", [[HEAP], BELOW_PROCESSORS, FOUR], ids=["none", "processor", "both"])
    def test_it_agrees_with_the_model(self, stages: list[Stage], cores: int) -> None:
        """With the model's exponential service: in what is lost too."""
        modelled, seen = solve(THINK, cores, stages), simulate(THINK, cores, stages, 12_000, "exponential")
        assert seen.think + seen.lost == pytest.approx(modelled.think + modelled.lost, rel=0.03)
        assert seen.lost == pytest.approx(modelled.lost, rel=0.08)

    @pytest.mark.parametrize("cores", [2, 20, 64])
    def test_fixed_service_changes_the_throughput_little(self, cores: int) -> None:
        modelled, seen = solve(THINK, cores, [HEAP]), simulate(THINK, cores, [HEAP], 12_000)
        assert seen.think + seen.lost == pytest.approx(modelled.think + modelled.lost, rel=0.06)
        assert seen.lost <= modelled.lost * 1.02

    def test_one_core_never_waits(self) -> None:
        assert simulate(THINK, 1, [HEAP], 1000).lost == pytest.approx(SERVICE)

    def test_saturated_it_serves_as_fast_as_it_can(self) -> None:
        seen = simulate(THINK, 64, [HEAP], 8000)
        assert 64 / (seen.think + seen.lost) == pytest.approx(1 / SERVICE, rel=0.02)
        assert seen.busy == pytest.approx(1, abs=0.01)

    def test_the_same_question_has_the_same_answer(self) -> None:
        assert simulate(THINK, 4, FOUR, 500) == simulate(THINK, 4, FOUR, 500)


class TestCosts:
    def test_medians_of_the_repetitions_without_averages(self) -> None:
        found = known()
        assert found.nanoseconds["swap/handover-core"].median == pytest.approx(70)
        assert found.repetitions == 9
        assert found.contended("swap/contended") == (2, found.nanoseconds["swap/contended/2"])
        assert found.restartable

    def test_they_are_kept_and_read(self, tmp_path: Path) -> None:
        found = known()
        file = tmp_path / "costs.json"
        for kept in (found.as_json(), {"costs": found.as_json()}):
            file.write_text(json.dumps(kept))
            assert costs.read(file) == found

    @pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"costs": 1}', '{"costs": {"schema": 2}}', "7"])
    def test_what_is_none_is_one_line(self, tmp_path: Path, text: str) -> None:
        file = tmp_path / "costs.json"
        file.write_text(text)
        with pytest.raises(WrongUsageError, match=r"^--costs .*: cannot be read \(.*\); expected what"):
            costs.read(file)

    def test_one_cpu_cannot_measure_a_handover(self) -> None:
        alone = {name: time for name, time in TIMES.items() if "handover" not in name}
        with pytest.raises(CannotTakeError, match="no swap/handover-core: it takes two cores"):
            costs.parse(printed(alone), MACHINE)

    @pytest.mark.parametrize("output", [b"", b"{}", b'{"context": {}, "benchmarks": []}', b'{"benchmarks": [{}]}'])
    def test_a_benchmark_that_prints_something_else(self, output: bytes) -> None:
        with pytest.raises(CannotTakeError, match=f"{native.BUFFERS_BENCH} printed no"):
            costs.parse(output, MACHINE)


def median(cost: Interval) -> float:
    return cost.median


class TestStages:
    def stages(self, levels: str, cores: int = 4, tlab: int = 2048, **times: float) -> list[Stage]:
        return work.stages(tlab, levels, cores, 32, known(**times), median)

    def test_without_buffers_every_request_meets_the_heaps_pointer(self) -> None:
        [heap] = self.stages("none")
        assert heap.service == pytest.approx((3 * 70 + 9) / 4)  # once in four times the line is here
        assert (heap.sharers, heap.work, heap.requests) == (4, 0.0, 1)

    def test_a_core_has_its_buffer_for_itself(self) -> None:
        core, heap = self.stages("core=1m")
        assert (core.sharers, heap.requests) == (1, 512)
        assert core.service == pytest.approx(18)
        assert core.work == pytest.approx(4 / 512)

    def test_a_processor_shares_one(self) -> None:
        processor, heap = self.stages("processor=16m", cores=64)
        assert processor.sharers == 32
        assert processor.service == pytest.approx((31 * 70 + 9) / 32)
        assert processor.work == pytest.approx(13 + 6 / 8192)
        assert heap.sharers == 64

    def test_four_levels(self) -> None:
        assert [stage.requests for stage in self.stages("core=1m,processor=16m")] == [1, 512, 16]

    def test_lines_from_another_processor(self) -> None:
        [few], [many] = (self.stages("none", cores, swap__handover_processor=300.0) for cores in (32, 33))
        assert few.service == pytest.approx((31 * 70 + 9) / 32)
        assert many.service == pytest.approx((32 * 300 + 9) / 33)

    def test_one_core_always_has_the_line(self) -> None:
        assert self.stages("none", 1)[0].service == pytest.approx(9)


class TestAsked:
    def ask(self, tlabs: str | None = None, *levels: str) -> work.Asked:
        return work.ask(tlabs, levels, 1.0, 32, True, None)

    def test_everything_by_default(self) -> None:
        asked = self.ask()
        assert asked.tlabs == [2048, 8192, 32768, 131072]
        assert asked.levels == list(work.LEVELS)

    @pytest.mark.parametrize(
        ("tlabs", "levels", "why"),
        [
            ("growing", [], "--tlabs growing: expected sizes"),
            ("3", [], "'thread=3' has no size"),
            (None, ["node=1m"], "--levels node=1m: expected none, or sizes of core and processor"),
            (None, ["core=64k"], "core=64k is no larger multiple of thread=128k"),
            (None, ["chip=1m"], "'chip=1m' names no level"),
        ],
    )
    def test_one_line_says_what_is_wrong(self, tlabs: str | None, levels: list[str], why: str) -> None:
        with pytest.raises(WrongUsageError) as refused:
            self.ask(tlabs, *levels)
        assert why in str(refused.value)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("costs") / "costs.json"
    file.write_text(json.dumps(known().as_json()))
    return file


@pytest.fixture(scope="module")
def scaled(file: Path) -> work.Scaling:
    return work.scale(work.ask("2k", ["none", "core=1m"], 1.0, 32, True, file), lambda _: None)


def test_buffers_of_cores_take_the_load_off_the_pointer(scaled: work.Scaling) -> None:
    [none, core] = (scaled.at(2048, levels)[-1] for levels in scaled.asked.levels)
    assert none.cores == 256
    assert none.model.share > 0.8
    assert core.model.share < 0.01
    assert none.gigabytes_per_second(none.model) == pytest.approx(2048 / 70, rel=0.01)
    for point in scaled.points:
        assert point.low.lost <= point.model.lost <= point.high.lost


def test_sentences_say_where_and_what_is_measured(scaled: work.Scaling) -> None:
    first, agreement, measured, held = work.sentences(scaled)
    assert "without buffers: between 16 and 32 cores; with core=1m: not up to 256 cores" in first
    assert "of the throughput at most" in agreement
    assert "take 50.0 ns per swap, and 70.0 ns where the line changes its core" in measured
    # 2 * 140 - 200 measured; S (1 + S / (200 + S)) by the formula, with S = (70 + 9) / 2.
    assert "2 threads that each work for 200 ns between two swaps lose 80.0 ns with each" in held
    assert "the formula says 46.0 ns" in held


def test_the_page_stands_alone_and_says_what_is_modelled(scaled: work.Scaling) -> None:
    text = page.render(scaled)
    reader = Reader()
    reader.feed(text)
    body = " ".join(reader.text.split())
    assert "contention on more cores is modelled" in body
    assert "Assumed a core allocates 1.00 GB/s" in body
    assert "70.0 ns [" in body
    assert "default-src 'none'" in text
    assert not [tag for tag, attributes in reader.tags if tag in ("img", "link") or "src" in attributes]


def test_the_command(memgraft: Memgraft, file: Path) -> None:
    words = ["buffers", "scale", "--quick", "--costs", str(file), "--tlabs", "8k", "--levels", "none"]
    shown = memgraft(*words, "--plots", "page.html")
    assert shown.code == 0, shown.err
    assert "measured elsewhere or earlier, read from" in shown.out
    assert "assumed: a core allocates 1.00 GB/s" in shown.out
    assert "No row is a measurement." in shown.out
    assert (memgraft.folder / "page.html").is_file()
    told: dict[str, Any] = memgraft(*words, "--json").json()
    assert [point["cores"] for point in told["modelled"]] == [2, 4, 8, 16, 32, 64, 128, 256]
    assert told["assumed"] == {"gigabytes_per_second_per_core": 1.0, "cores_per_processor": 32}
    again = memgraft(*words[:4], "nowhere.json")
    assert again.code == 2
    assert "--costs nowhere.json: cannot be read" in again.error
    missing = memgraft("buffers", "scale", "--quick")
    assert missing.code == 3
    assert "make build" in missing.error
