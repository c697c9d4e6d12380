"""What may be promised of the calibrated choice, by planted results."""

from memgraft.kernels import zero_verdict
from memgraft.kernels.zero_results import CALIBRATED, MEMSET, Result
from memgraft.kernels.zero_verdict import judge, sentences

LARGE = 32 << 10


def spread(speed: float, by: float = 0.001) -> list[float]:
    return [speed * (1 + by * (i - 4)) for i in range(9)]


def context(
    memset: float, calibrated: float, other: float, *, stands_for: str = "avx2", by: float = 0.001, size: int = LARGE
) -> list[Result]:
    return [
        Result(MEMSET, "streaming", size, spread(memset, by)),
        Result("avx2", "streaming", size, spread(other, by)),
        Result(CALIBRATED, "streaming", size, spread(calibrated, by), stands_for=stands_for),
    ]


class TestWithinThreePerCent:
    def test_holds(self) -> None:
        claim = judge(context(10, 19.7, 20, stands_for="other")).within_3_percent_of_best
        assert (claim.verdict, claim.count("holds")) == ("holds", 1)

    def test_fails(self) -> None:
        claim = judge(context(10, 19, 20, stands_for="other")).within_3_percent_of_best
        assert (claim.verdict, claim.count("fails")) == ("fails", 1)

    def test_is_not_resolved(self) -> None:
        claim = judge(context(10, 19, 20, stands_for="other", by=0.05)).within_3_percent_of_best
        assert (claim.verdict, claim.count("not resolved")) == ("not resolved", 1)

    def test_a_kernel_is_within_3_per_cent_of_itself(self) -> None:
        assert judge(context(10, 19, 20, stands_for="avx2")).within_3_percent_of_best.verdict == "holds"

    def test_one_failure_is_a_failure_and_the_worst(self) -> None:
        measured = context(10, 20, 20, size=1 << 20) + context(10, 19, 20, stands_for="other")
        claim = judge(measured).within_3_percent_of_best
        assert (claim.verdict, claim.count("holds"), claim.count("fails")) == ("fails", 1, 1)
        worst = claim.as_json()["worst"]
        assert (worst["bytes"], worst["kernel"], worst["against"], worst["verdict"]) == (
            LARGE,
            "other",
            "avx2",
            "fails",
        )
        assert worst["ratio"]["low"] < 0.95 < worst["ratio"]["high"]

    def test_giving_pages_back_is_no_rival(self) -> None:
        measured = [*context(10, 20, 20), Result("disclaim", "streaming", LARGE, spread(90))]
        assert judge(measured).within_3_percent_of_best.verdict == "holds"


class TestNeverBelowMemset:
    def test_holds(self) -> None:
        assert judge(context(10, 11, 11)).never_below_memset.verdict == "holds"

    def test_fails(self) -> None:
        assert judge(context(10, 9, 9)).never_below_memset.verdict == "fails"

    def test_memset_itself_is_not_below(self) -> None:
        assert judge(context(10, 9, 9, stands_for=MEMSET)).never_below_memset.verdict == "holds"

    def test_equals_are_not_resolved(self) -> None:
        assert judge(context(10, 10, 10)).never_below_memset.verdict == "not resolved"


class TestStreaming:
    def test_counts_large_blocks_of_its_mode_only(self) -> None:
        small = context(10, 11, 11, size=4096)
        claim = judge(context(10, 21, 21) + small).streaming_at_least_twice_memset_from_32KiB
        assert (claim.verdict, len(claim.cases)) == ("holds", 1)

    def test_fails_and_is_not_held_by_name_alone(self) -> None:
        measured = context(10, 10, 9, stands_for=MEMSET)
        assert judge(measured).streaming_at_least_twice_memset_from_32KiB.verdict == "fails"


def test_nothing_measured_is_not_resolved() -> None:
    verdict = judge([])
    assert {claim.verdict for claim in vars(verdict).values()} == {"not resolved"}
    assert all("nothing was measured that could tell" in sentence for sentence in sentences(verdict))
    assert verdict.as_json()["never_below_memset"]["worst"] is None


def test_sentences_name_the_worst_case() -> None:
    first, second, third = sentences(judge(context(10, 19, 20, stands_for="other")))
    assert first.startswith(
        "fails: the calibrated choice is within 3 % of the best kernel (0 of 1 context, fails in 1;"
    )
    assert "streaming, 32 KiB, 1 thread: other / avx2 = 0.950 [" in first
    assert second.startswith("holds: ")
    assert third.startswith("fails: ")
    assert zero_verdict.STREAMING_FROM == LARGE
