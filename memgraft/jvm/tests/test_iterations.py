"""What programs report, and what of it counts."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraft.errors import WrongUsageError
from memgraft.jvm import iterations
from memgraft.jvm.iterations import Iteration, parse


def line(number: int, workload: object = "w", **fields: object) -> str:
    values = {"wall_seconds": 1.0, "cpu_seconds": 2.0, "worker_cpu_seconds": 1.5, "checksum": "c", **fields}
    return json.dumps({"memgraft_iteration": number, "workload": workload, **values})


def times(*seconds: float, workload: str = "w") -> list[Iteration]:
    return parse(line(number, workload, cpu_seconds=s) for number, s in enumerate(seconds))


def cpu(iteration: Iteration) -> float | None:
    return iteration.cpu_seconds


class TestParse:
    def test_iterations_among_other_output(self) -> None:
        found = parse(["starting\n", line(0) + "\n", "{not json}", '{"other": 1}', "[1]", "  " + line(1), "done"])
        assert [i.iteration for i in found] == [0, 1]
        assert found[0].worker_cpu_seconds == 1.5

    def test_only_the_wall_time_is_needed(self) -> None:
        [found] = parse(['{"memgraft_iteration": 0, "wall_seconds": 1}'])
        assert (found.workload, found.cpu_seconds, found.checksum) == ("", None, None)

    @pytest.mark.parametrize(
        "fields",
        [
            {"wall_seconds": 0},
            {"wall_seconds": -1.0},
            {"wall_seconds": "1.0"},
            {"wall_seconds": None},
            {"cpu_seconds": float("nan")},
            {"cpu_seconds": float("inf")},
            {"checksum": 12},
            {"workload": 3},
            {"checksum": "\ud800"},
            {"memgraft_iteration": -1},
            {"memgraft_iteration": 0.5},
            {"memgraft_iteration": True},
        ],
    )
    def test_a_wrong_iteration_is_no_silence(self, fields: dict[str, object]) -> None:
        with pytest.raises(WrongUsageError, match="cannot be used"):
            parse([line(0, **fields)])

    def test_a_long_wrong_line_is_cut(self) -> None:
        with pytest.raises(WrongUsageError) as raised:
            parse([line(0, wall_seconds="x" * 10_000)])
        assert len(raised.value.message) < 600

    @pytest.mark.parametrize("numbers", [[1], [0, 2], [0, 0], [0, 1, 0, 1]])
    def test_iterations_count_from_0(self, numbers: list[int]) -> None:
        with pytest.raises(WrongUsageError, match="iterations count from 0"):
            parse(line(number) for number in numbers)

    def test_two_workloads_in_one_launch(self) -> None:
        found = parse([line(0, "a"), line(0, "b"), line(1, "b"), line(1, "a")])
        assert iterations.workloads(found) == ["a", "b"]

    @pytest.mark.parametrize("length", range(len(line(0))))
    def test_a_line_cut_off_is_not_an_iteration(self, length: int) -> None:
        assert parse([line(0)[:length]]) == []

    @given(st.lists(st.text() | st.text().map(lambda t: '{"memgraft_iteration"' + t)))
    def test_any_text_is_parsed_or_refused(self, lines: list[str]) -> None:
        with contextlib.suppress(WrongUsageError):
            parse(lines)

    def test_deep_nesting_is_the_programs_own_business(self) -> None:
        assert parse(['{"memgraft_iteration": ' + "[" * 100_000]) == []


class TestSteady:
    @pytest.mark.parametrize(("count", "warmup"), [(1, 1), (2, 1), (3, 2), (4, 2), (9, 5), (10, 5)])
    def test_warm_up_is_the_first_half_rounded_up(self, count: int, warmup: int) -> None:
        assert len(iterations.steady(times(*[1.0] * count))) == count - warmup

    def test_mean_of_the_rest(self) -> None:
        assert iterations.steady_mean(times(9.0, 9.0, 1.0, 3.0), cpu) == 2.0
        assert iterations.steady_mean(times(9.0, 2.0, 1.0, 3.0), cpu, warmup=1) == 2.0
        assert iterations.steady_mean(times(2.0, 4.0), cpu, warmup=0) == 3.0

    def test_one_iteration_is_all_warm_up(self) -> None:
        assert iterations.steady_mean(times(1.0), cpu) is None
        assert iterations.steady_mean([], cpu) is None

    def test_a_time_that_is_missing_anywhere_is_no_time(self) -> None:
        found = parse([line(0), line(1), line(2, cpu_seconds=None), line(3)])
        assert iterations.steady_mean(found, cpu) is None
        assert iterations.steady_mean(found, lambda i: i.wall_seconds) == 1.0

    def test_no_time_at_all_is_no_time(self) -> None:
        assert iterations.steady_mean(times(0.0, 0.0), cpu) is None

    def test_workloads_count_each(self) -> None:
        both = [*times(5.0, 1.0, workload="a"), *times(5.0, 5.0, 2.0, 4.0, workload="b")]
        assert iterations.steady_mean(both, cpu) == 4.0

    def test_a_workload_without_steady_iterations(self) -> None:
        both = [*times(5.0, 1.0, workload="a"), *times(5.0, workload="b")]
        assert iterations.steady_mean(both, cpu) is None


class TestChecksums:
    def test_same(self) -> None:
        assert iterations.checksum_difference(times(1.0, 2.0), times(3.0, 4.0)) is None

    def test_different(self) -> None:
        other = parse([line(0), line(1, checksum="d")])
        different = iterations.checksum_difference(times(1.0, 2.0), other)
        assert different == iterations.Difference("w", 1, "c", "d")

    def test_only_common_iterations_are_compared(self) -> None:
        assert iterations.checksum_difference(times(1.0), times(1.0, 1.0)) is None
        assert iterations.checksum_difference(times(1.0), times(1.0, workload="other")) is None

    def test_none_given(self) -> None:
        assert iterations.checksum_difference(times(1.0), parse([line(0, checksum=None)])) is None
