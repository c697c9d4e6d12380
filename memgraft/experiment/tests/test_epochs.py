"""The statistics of epochs: a planted effect is found, none is found where there is none, and order does not matter."""

import math
from collections.abc import Sequence

import pytest

from memgraft import statistics
from memgraft.errors import WrongUsageError
from memgraft.experiment import advice, epochs
from memgraft.experiment.design import Side
from memgraft.formats import Epoch, EpochSide
from memgraft.report import facts
from memgraft.tests import synthetic

PLANTED = 1.03
PAIRED: Sequence[EpochSide] = ("baseline", "grafted", "grafted", "baseline")
STRICT: Sequence[EpochSide] = ("baseline", "grafted")


def one(side: EpochSide, seconds: float = 1.0, size: int = 100) -> Epoch:
    return Epoch(collection=0, side=side, mutator_cpu_seconds=seconds, bytes=size)


def series(sides: str) -> list[Epoch]:
    return [one("baseline" if side == "b" else "grafted") for side in sides]


def shapes(found: Sequence[epochs.Quadruple]) -> list[str]:
    return ["".join(epoch.side[0] for epoch in four) for four in found]


class TestQuadruples:
    @pytest.mark.parametrize(
        ("sides", "expected"),
        [
            ("bggb" * 3, ["bggb"] * 3),
            ("bggbgbbg", ["bggb", "gbbg"]),
            # One out of step: until the next four that cancel a drift.
            ("gbggbbggb", ["bggb", "bggb"]),
            # Strictly in turn: every second one the other way round.
            ("bg" * 7, ["bgbg", "gbgb", "bgbg"]),
            ("bggbbggb", ["bggb", "bggb"]),
            ("bbbb", []),
            ("bgg", []),
            ("", []),
        ],
    )
    def test_four_neighbours(self, sides: str, expected: list[str]) -> None:
        assert shapes(epochs.quadruples(series(sides))) == expected

    def test_an_epoch_cut_short_is_left_out(self) -> None:
        made = series("bggb" * 2)
        made.insert(3, one("baseline", size=3))
        made.insert(5, one("grafted", size=0))
        made.insert(5, one("grafted", seconds=0.0))
        assert shapes(epochs.quadruples(made)) == ["bggb", "bggb"]

    def test_a_steady_drift_cancels(self) -> None:
        made = [one(e.side, 1 + 0.1 * at) for at, e in enumerate(series("bggb"))]
        [four] = epochs.quadruples(made)
        assert epochs.cost(four, Side.GRAFTED) == pytest.approx(epochs.cost(four, Side.BASELINE))

    def test_cost_is_per_byte(self) -> None:
        made = [one("baseline", 1, 100), one("grafted", 2, 200), one("grafted", 4, 400), one("baseline", 3, 300)]
        [four] = epochs.quadruples(made)
        assert epochs.cost(four, Side.GRAFTED) == pytest.approx(epochs.cost(four, Side.BASELINE)) == pytest.approx(1e7)

    @pytest.mark.parametrize(("count", "left"), [(0, 0), (1, 0), (5, 2), (8, 4)])
    def test_the_first_half_is_warm_up(self, count: int, left: int) -> None:
        assert len(epochs.steady(series("b" * count))) == left


class TestBatches:
    def test_neighbours_stay_together_in_order(self) -> None:
        ratios = [epochs.Ratio(1.0, 1.0 + at, 1) for at in range(90)]
        batches = epochs.batched(ratios, 30)
        assert len(batches) == 30
        assert [batch.ratio for batch in batches] == sorted(batch.ratio for batch in batches)

    def test_an_odd_epoch_hardly_moves_a_batch(self) -> None:
        ratios = [epochs.Ratio(1.0, 1.0, 1)] * 9 + [epochs.Ratio(1.0, 50.0, 1)]
        assert epochs.batched(ratios, 1)[0].ratio == pytest.approx(1.0)

    def test_few_launches_have_thirty_batches_together(self) -> None:
        for launches in (1, 2, 5):
            switched = epochs.analyse([[synthetic.epochs(seed=n)] for n in range(launches)])
            assert len(switched.batches) == 30 // launches * launches
            assert switched.autocorrelation is not None

    def test_from_six_launches_on_each_is_one_batch(self) -> None:
        switched = epochs.analyse([[synthetic.epochs(seed=n)] for n in range(7)])
        assert len(switched.batches) == 7
        assert switched.autocorrelation is None

    def test_too_few(self) -> None:
        with pytest.raises(WrongUsageError, match="make 5 quadruples; expected at least 6"):
            epochs.analyse([[synthetic.epochs(count=40)]])

    @pytest.mark.parametrize("launches", [1, 2, 5, 6, 10])
    def test_what_is_asked_for_is_enough(self, launches: int) -> None:
        enough = synthetic.epochs(count=epochs.needed_per_launch(launches))
        epochs.require_epochs([enough], launches)
        epochs.analyse([[enough]] * launches)
        if launches < 6:
            with pytest.raises(WrongUsageError, match="expected at least"):
                epochs.require_epochs([enough[:-8]], launches)

    @pytest.mark.parametrize(
        ("values", "expected"), [([1, 2, 1, 2, 1, 2], -5 / 6), ([1, 1, 1], 0), ([1, 2, 3, 4], 0.25)]
    )
    def test_autocorrelation(self, values: list[float], expected: float) -> None:
        assert epochs.autocorrelation(values) == pytest.approx(expected)


def verdicts(ratio: float, seeds: int, order: Sequence[EpochSide] = PAIRED) -> list[statistics.Verdict]:
    return [
        statistics.verdict(epochs.interval(epochs.analyse([[synthetic.epochs(ratio, seed=seed, order=order)]])))
        for seed in range(seeds)
    ]


class TestPlanted:
    """A JVM with 600 epochs, each 5 % off (7 of 10 parts of that as the one before), drifting by 30 %, disturbed."""

    def test_three_percent_are_found(self) -> None:
        assert verdicts(PLANTED, 60).count("slower") >= 57

    def test_found_where_sides_alternate_strictly(self) -> None:
        assert verdicts(PLANTED, 40, STRICT).count("slower") >= 38

    @pytest.mark.parametrize("order", [PAIRED, STRICT])
    def test_none_is_found_where_there_is_none(self, order: Sequence[EpochSide]) -> None:
        """A 95 % interval may miss in 5 %; 100 seeds then miss 5 times, and more than 11 times once in 200 tries."""
        found = [verdict for verdict in verdicts(1.0, 100, order) if verdict != "not resolved"]
        assert len(found) <= 11

    def test_the_estimate_is_the_effect(self) -> None:
        medians = [
            epochs.interval(epochs.analyse([[synthetic.epochs(PLANTED, seed=seed)]])).median for seed in range(60)
        ]
        assert sum(math.log(median) for median in medians) / 60 == pytest.approx(math.log(PLANTED), abs=0.002)


class TestReport:
    def test_the_sentence(self) -> None:
        outcome = synthetic.switched_outcome(0.9)
        assert facts.verdict(outcome).startswith(
            "With windows zeroing fake used 9.5 % less CPU time of its threads per GB"
        )
        assert facts.verdict(outcome).endswith("over 300 epochs of 1 launch.")

    def test_one_launch_is_said_to_be_one(self) -> None:
        assert any("1 launch of epochs" in warning for warning in advice.warnings(synthetic.switched_outcome()))
        six = advice.warnings(synthetic.switched_outcome(launch_count=6))
        assert not any("of epochs" in warning for warning in six)

    def test_phases_longer_than_a_batch_are_a_warning(self) -> None:
        rising = [epochs.Ratio(1.0, 1.0 + at / 100, 1) for at in range(30)]
        correlation = epochs.autocorrelation([math.log(ratio.ratio) for ratio in rising])
        assert epochs.significant(correlation, 30)
        assert not epochs.significant(0.1, 30)
