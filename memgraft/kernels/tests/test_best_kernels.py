"""The choice among planted kernels, and the table that it becomes."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memgraft import machine
from memgraft.errors import CannotTakeError
from memgraft.kernels.best_kernels import choose, rows
from memgraft.kernels.zero_results import CALIBRATED, MEMSET, MODES, OF_MANY, Context, Result, contexts, ratio_of
from memgraft.machine import kernel_table
from memgraft.machine.kernel_table import Row

SIZES = [64, 1024, 32 << 10, 1 << 20]
CLEAR = 0.002
REPETITIONS = 9


def results(
    speeds: dict[str, list[float]], *, mode: str = "streaming", threads: int = 1, noise: float = CLEAR, seed: int = 1
) -> list[Result]:
    """Each kernel with a speed per size, and some noise."""
    random_numbers = random.Random(seed)  # noqa: S311  the same each time
    return [
        Result(
            kernel,
            mode,
            size,
            [speed * random_numbers.uniform(1 - noise, 1 + noise) for _ in range(REPETITIONS)],
            threads,
        )
        for kernel, by_size in speeds.items()
        for size, speed in zip(SIZES, by_size, strict=True)
    ]


def chosen(measured: list[Result]) -> list[str]:
    return [decision.kernel for decision in choose(measured)]


class TestChoose:
    def test_planted_best_kernels_are_found(self) -> None:
        speeds = {MEMSET: [10.0, 10, 10, 10], "avx2": [5.0, 12, 5, 5], "non-temporal-64": [1.0, 1, 20, 21]}
        assert chosen(results(speeds)) == [MEMSET, "avx2", "non-temporal-64", "non-temporal-64"]

    def test_ties_stay_with_memset(self) -> None:
        assert chosen(results({MEMSET: [10.0] * 4, "avx2": [10.0] * 4})) == [MEMSET] * 4

    def test_less_than_one_per_cent_is_not_worth_a_row(self) -> None:
        assert chosen(results({MEMSET: [10.0] * 4, "avx2": [10.08] * 4})) == [MEMSET] * 4

    def test_noise_moves_nothing(self) -> None:
        speeds = {MEMSET: [10.0] * 4, **{f"kernel-{i}": [10.0] * 4 for i in range(8)}}
        changes = sum(
            kernel != MEMSET for seed in range(25) for kernel in chosen(results(speeds, noise=0.3, seed=seed))
        )
        # 800 comparisons of equals, of which half a per cent may look better by chance.
        assert changes <= 8

    def test_what_smaller_blocks_have_is_kept_where_nothing_beats_it(self) -> None:
        speeds = {MEMSET: [10.0, 10, 10, 10], "avx2": [12.0, 12, 12, 12], "avx512": [11.0, 12.04, 14, 14]}
        assert chosen(results(speeds)) == ["avx2", "avx2", "avx512", "avx512"]

    def test_what_becomes_slower_than_memset_is_not_kept(self) -> None:
        speeds = {MEMSET: [10.0, 10, 10, 10], "avx2": [12.0, 9.5, 9.5, 12]}
        assert chosen(results(speeds)) == ["avx2", MEMSET, MEMSET, "avx2"]

    def test_what_beats_the_size_below_must_beat_memset_too(self) -> None:
        noisy = [10 + 0.1 * i for i in range(-4, 5)]
        measured = results({MEMSET: [10.0] * 4, "avx2": [12.0, 10, 10, 10], "avx512": [9.0, 10.2, 10.2, 10.2]})
        measured = [replace(r, gigabytes_per_second=noisy) if r.kernel == MEMSET else r for r in measured]
        assert chosen(measured) == ["avx2"] * 4

    def test_threads_and_modes_are_chosen_apart(self) -> None:
        fast, slow = {MEMSET: [10.0] * 4, "avx2": [20.0] * 4}, {MEMSET: [10.0] * 4, "avx2": [5.0] * 4}
        measured = results(slow) + results(fast, threads=2) + results(fast, mode="resident")
        by_series = {(d.context.mode, d.context.threads): d.kernel for d in choose(measured)}
        assert by_series == {("streaming", 1): MEMSET, ("streaming", 2): "avx2", ("resident", 1): "avx2"}

    def test_giving_pages_back_is_no_kernel(self) -> None:
        speeds = {MEMSET: [10.0] * 4, "disclaim-huge": [99.0] * 4}
        for mode in MODES:
            assert chosen(results(speeds, mode=mode)) == [MEMSET] * 4

    def test_the_choice_itself_is_no_candidate(self) -> None:
        assert chosen(results({MEMSET: [10.0] * 4, CALIBRATED: [99.0] * 4})) == [MEMSET] * 4

    def test_without_memset_nothing_is_chosen(self) -> None:
        with pytest.raises(CannotTakeError, match=r"memset was not measured with streaming, 64 bytes, 1 threads"):
            choose(results({"avx2": [10.0] * 4}))

    def test_the_reason_is_given(self) -> None:
        speeds = {MEMSET: [10.0, 10, 10, 10], "avx2": [12.0, 12, 5, 5], "avx512": [9.0, 14, 5, 5]}
        decisions = choose(results(speeds))
        assert [decision.reason for decision in decisions] == [
            "beats memset by more than its interval",
            "beats avx2",
            "avx512 no longer beats it",
            "nothing beats it by more than its interval",
        ]
        ratio = decisions[1].ratio_to_memset
        assert ratio is not None
        assert ratio.low < 1.4 < ratio.high
        assert decisions[2].ratio_to_memset is None

    @given(
        st.dictionaries(
            st.sampled_from(["avx2", "avx512", "rep-stosb", "non-temporal-64", "disclaim"]),
            st.lists(st.floats(min_value=1, max_value=40), min_size=4, max_size=4),
        ),
        st.integers(min_value=0, max_value=1000),
        st.sampled_from([0.001, 0.05, 0.5]),
    )
    def test_nothing_is_chosen_that_looks_slower_than_memset(
        self, speeds: dict[str, list[float]], seed: int, noise: float
    ) -> None:
        measured = results({MEMSET: [10.0, 20.0, 5.0, 10.0], **speeds}, noise=noise, seed=seed)
        by_context = contexts(measured)
        for decision in choose(measured):
            if decision.kernel != MEMSET:
                kernels = by_context[decision.context]
                ratio = ratio_of(kernels[decision.kernel], kernels[MEMSET], OF_MANY)
                assert ratio is not None
                assert ratio.high >= 1
                assert ratio.median >= 0.99


class TestTable:
    def test_neighbours_share_a_row(self) -> None:
        speeds = {MEMSET: [10.0, 10, 10, 10], "non-temporal-64": [1.0, 1, 20, 21]}
        assert rows(choose(results(speeds))) == [
            Row("streaming", 1, 0, MEMSET),
            Row("streaming", 1, 32 << 10, "non-temporal-64"),
        ]

    def test_text(self) -> None:
        text = kernel_table.text_of("A CPU", [Row("streaming", 1, 0, MEMSET), Row("streaming", 1, 64, "avx2")], "why")
        assert text == (
            "memgraft-zeroing-table 1\ncpu A CPU\n# why\n# MODE THREADS FROM-BYTES KERNEL\n"
            "streaming 1 0 memset\nstreaming 1 64 avx2\n"
        )

    def test_path(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", "/home/me")
        name = "memgraft/zeroing/genuineintel-6-85-7-intel-r-xeon-r-gold-6248.table"
        cpu = "GenuineIntel 6 85 7 Intel(R) Xeon(R) Gold 6248"
        for variable, expected in (("/cache", f"/cache/{name}"), ("relative", f"/home/me/.cache/{name}")):
            monkeypatch.setenv("XDG_CACHE_HOME", variable)
            assert str(kernel_table.default_path(cpu)) == expected
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert str(kernel_table.default_path(cpu)) == f"/home/me/.cache/{name}"

    def test_of_this_cpu(self, monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        monkeypatch.setattr(machine, "cpu_name", lambda: "A CPU")
        assert kernel_table.table_for_this_cpu() is None
        path = kernel_table.default_path("A CPU")
        kernel_table.write(path, "A CPU", [Row("resident", 1, 0, MEMSET)], "why")
        assert kernel_table.table_for_this_cpu() == path
        monkeypatch.setattr(machine, "cpu_name", lambda: "")
        assert kernel_table.table_for_this_cpu() is None


def test_contexts_come_in_one_order() -> None:
    speeds = {MEMSET: [1.0] * 4}
    measured = results(speeds, mode="streaming", threads=2) + results(speeds) + results(speeds, mode="resident")
    measured.reverse()
    assert [c for c in contexts(measured) if c.bytes in (64, 1024)] == [
        Context(mode, threads, size)
        for mode, threads in (("resident", 1), ("streaming", 1), ("streaming", 2))
        for size in (64, 1024)
    ]
