"""Google Benchmark's output, and what is made of it."""

import json
from pathlib import Path
from typing import Any

import pytest

from memgraft import native
from memgraft.conftest import Memgraft
from memgraft.errors import CannotTakeError
from memgraft.kernels import zero
from memgraft.kernels.zero_results import contexts


def row(kernel: str, mode: str, size: int, speed: float, **fields: object) -> dict[str, Any]:
    name = f"zero/{kernel}/{mode}/{size}"
    return {"name": name, "run_name": name, "run_type": "iteration", "bytes_per_second": speed * 1e9, **fields}


def rows(*speeds: tuple[str, float]) -> list[dict[str, Any]]:
    return [
        row(kernel, mode, size, speed * (1 + repetition / 100), repetition_index=repetition)
        for mode in ("resident", "streaming")
        for size in (64, 1 << 20)
        for kernel, speed in speeds
        for repetition in range(zero.REPETITIONS)
    ]


def output(benchmarks: object) -> bytes:
    context = {"chosen_ordinary": "avx512", "chosen_non_temporal": "non-temporal-64", "streamed_bytes": "1024"}
    return json.dumps({"context": context, "benchmarks": benchmarks}).encode()


class TestParse:
    def test_repetitions_are_collected(self) -> None:
        results, context, lookup = zero.parse(output(rows(("memset", 10.0), ("avx512", 12.0))))
        assert context["streamed_bytes"] == 1024
        assert lookup is None
        assert len(results) == 8
        assert results[0].kernel == "memset"
        assert results[0].gigabytes_per_second == pytest.approx([10.0 + i / 10 for i in range(9)])
        assert results[0].median == pytest.approx(10.4)

    def test_threads_and_what_the_choice_stood_for(self) -> None:
        benchmarks = [
            row("memset", "streaming", 64, 10.0),
            {**row("memset", "streaming", 64, 9.0), "run_name": "zero/memset/streaming/64/threads:8"},
            row("calibrated", "streaming", 64, 11.0, label="avx2"),
            {"run_name": "zero/lookup", "run_type": "iteration", "cpu_time": 2.0},
        ]
        results, _, lookup = zero.parse(output(benchmarks))
        assert [(r.kernel, r.threads, r.stands_for, r.median) for r in results] == [
            ("memset", 1, None, 10.0),
            ("memset", 8, None, 9.0),
            ("calibrated", 1, "avx2", 11.0),
        ]
        assert lookup == 2.0

    def test_averages_and_errors_are_left_out(self) -> None:
        extra = [
            row("memset", "resident", 64, 1.0, run_type="aggregate", aggregate_name="mean"),
            row("avx512", "resident", 64, 1.0, error_occurred=True),
            {
                "name": "other/benchmark",
                "run_name": "other/benchmark",
                "run_type": "iteration",
                "bytes_per_second": 1.0,
            },
        ]
        assert zero.parse(output(extra))[0] == []

    @pytest.mark.parametrize(
        "garbage",
        [
            b"",
            b"{",
            b"[]",
            b"{}",
            b'{"benchmarks": [1]}',
            b'{"context": {}, "benchmarks": [{}]}',
            b'{"context": {"streamed_bytes": "x"}, "benchmarks": []}',
        ],
    )
    def test_garbage(self, garbage: bytes) -> None:
        with pytest.raises(CannotTakeError, match="rebuild it"):
            zero.parse(garbage)


def test_ratio_to_memset_has_an_interval() -> None:
    results, *_ = zero.parse(output(rows(("memset", 10.0), ("avx512", 20.0))))
    kernels = contexts(results)[results[0].context]
    memset, avx512 = (zero.as_json(kernels[name], kernels) for name in ("memset", "avx512"))
    assert memset["ratio_to_memset"] is None
    assert avx512["ratio_to_memset"]["low"] < 2.0 < avx512["ratio_to_memset"]["high"]
    assert (memset["best"], avx512["best"]) == (False, True)


def test_what_is_paid_later_is_fastest_only_where_that_is_timed_too() -> None:
    speeds = (("memset", 10.0), ("disclaim", 90.0), ("disclaim-populate", 20.0))
    measured = [
        row(kernel, mode, 4096, speed + repetition)
        for mode in ("streaming", "streaming-used")
        for kernel, speed in speeds
        for repetition in range(zero.REPETITIONS)
    ]
    results, *_ = zero.parse(output(measured))
    as_json = [zero.as_json(r, kernels) for kernels in contexts(results).values() for r in kernels.values()]
    best = {(found["mode"], found["kernel"]) for found in as_json if found["best"]}
    assert best == {("streaming", "disclaim-populate"), ("streaming-used", "disclaim")}


def test_kernels_come_in_an_order_that_reads_well() -> None:
    names = ["word-4", "non-temporal-64", "avx512", "memset", "non-temporal-16", "avx2", "calibrated"]
    assert zero.kernel_order(names) == [
        "memset",
        "calibrated",
        "avx2",
        "avx512",
        "non-temporal-16",
        "non-temporal-64",
        "word-4",
    ]


def test_kernels_stand_side_by_side_as_far_as_they_fit() -> None:
    kernels = ["memset", "avx2", "non-temporal-16", "word-4"]
    assert zero.side_by_side(kernels, 200) == [kernels]
    assert zero.side_by_side(kernels, 40) == [["memset", "avx2"], ["non-temporal-16", "word-4"]]
    assert zero.side_by_side(kernels, 1) == [[kernel] for kernel in kernels]


def test_without_memset_there_is_no_ratio() -> None:
    results, *_ = zero.parse(output(rows(("avx512", 20.0))))
    assert zero.as_json(results[0], {"avx512": results[0]})["ratio_to_memset"] is None


@pytest.fixture
def bench(natives: Path) -> Path:
    """A benchmark that prints what it was asked for, and results."""
    program = natives / native.ZERO_BENCH
    benchmarks = output(rows(("memset", 10.0), ("non-temporal-64", 20.0))).decode()
    program.write_text(
        f"#!/bin/sh\nprintf '%s\\n' \"$@\" > {natives}/asked\nprintf '%s' '{benchmarks}'\n"
        "echo '***WARNING*** of the library' >&2; echo 'memgraft-zero-bench: avx512 is left out' >&2\n"
    )
    program.chmod(0o755)
    return program


class TestCommand:
    def test_json(self, memgraft: Memgraft, bench: Path) -> None:
        done = memgraft("zero", "bench", "--json")
        assert done.code == 0
        report = done.json()
        assert (report["schema"], report["kernels"]) == (2, ["memset", "non-temporal-64"])
        assert report["results"][0]["gigabytes_per_second"] == pytest.approx(10.4)
        asked = (bench.parent / "asked").read_text()
        assert "--benchmark_enable_random_interleaving=true" in asked
        assert "--benchmark_repetitions=9" in asked
        assert "--benchmark_min_time=0.01\n" in asked

    @pytest.mark.usefixtures("bench")
    def test_table(self, memgraft: Memgraft) -> None:
        done = memgraft("zero", "bench", "--quick")
        assert done.code == 0
        assert "1 MiB" in done.out
        assert "*20.8" in done.out
        assert "streaming: block after block" in done.out
        assert "The grafts use avx512 (bulk) and non-temporal-64 (non-temporal) here." in done.out
        assert "avx512 is left out" in done.out
        assert "***WARNING***" not in done.out
        assert "\x1b" not in done.out

    def test_failure_names_the_last_line(self, memgraft: Memgraft, bench: Path) -> None:
        bench.write_text("#!/bin/sh\necho first >&2\necho no memory >&2\nexit 9\n")
        done = memgraft("zero", "bench")
        assert (done.code, done.out) == (1, "")
        assert done.error.endswith("ended with exit code 9: no memory")

    def test_nothing_measured(self, memgraft: Memgraft, bench: Path) -> None:
        bench.write_text('#!/bin/sh\necho \'{"context": {}, "benchmarks": []}\'\n')
        assert memgraft("zero", "bench").code == 3

    def test_not_built(self, memgraft: Memgraft) -> None:
        done = memgraft("zero", "bench")
        assert done.code == 3
        assert "make build" in done.error
