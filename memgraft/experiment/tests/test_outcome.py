"""What is made of launches: metrics, verdicts, JSON."""

import json
from pathlib import Path

import pytest

from memgraft.errors import WrongUsageError
from memgraft.experiment.metrics import MetricName
from memgraft.experiment.outcome import Outcome
from memgraft.report import facts
from memgraft.tests import synthetic


def as_json(outcome: Outcome) -> dict[str, object]:
    """Through text and back: what a reader of --json has."""
    text = json.dumps(outcome.as_json(Path("/out/report.html"), ["w"]), allow_nan=False)
    parsed: dict[str, object] = json.loads(text)
    return parsed


class TestMetric:
    def test_auto_is_the_cpu_time_of_steady_iterations(self) -> None:
        outcome = synthetic.outcome()
        assert outcome.headline.metric.name is MetricName.ITERATION_CPU
        assert outcome.headline.baseline == [pytest.approx(1.2345678)] * 10

    def test_auto_without_iterations_is_the_cpu_time_of_the_launch(self) -> None:
        outcome = synthetic.outcome(synthetic.launches(iteration_count=0))
        assert outcome.headline.metric.name is MetricName.CPU
        assert MetricName.ITERATION_WALL not in outcome.measured

    @pytest.mark.parametrize("missing", [0, 1])
    def test_auto_needs_two_iterations_in_every_launch(self, missing: int) -> None:
        done = synthetic.launches()
        done[7].iterations = done[7].iterations[:missing]
        assert synthetic.outcome(done).headline.metric.name is MetricName.CPU

    def test_different_numbers_of_iterations(self) -> None:
        done = synthetic.launches()
        done[3].iterations = synthetic.iterations(1.0, 9)
        outcome = synthetic.outcome(done)
        assert outcome.headline.metric.name is MetricName.ITERATION_CPU
        assert outcome.iterations is not None
        assert (outcome.iterations.fewest, outcome.iterations.most) == (4, 9)
        assert (outcome.iterations.warmup_fewest, outcome.iterations.warmup_most) == (2, 5)

    @pytest.mark.parametrize("metric", [MetricName.WALL, MetricName.ITERATION_WALL])
    def test_asked_for(self, metric: MetricName) -> None:
        assert synthetic.outcome(metric=metric).headline.metric.name is metric

    def test_asked_for_and_not_there(self) -> None:
        with pytest.raises(WrongUsageError, match="iteration-worker-cpu"):
            synthetic.outcome(metric=MetricName.ITERATION_WORKER_CPU)

    def test_pairs_are_matched_by_number_not_by_order(self) -> None:
        done = synthetic.launches(ratio=0.9)
        shuffled = done[::-1]
        assert synthetic.outcome(shuffled).headline.ratios == synthetic.outcome(done).headline.ratios


class TestVerdict:
    def test_faster(self) -> None:
        outcome = synthetic.outcome(synthetic.launches(ratio=0.969))
        assert outcome.headline.verdict == "faster"
        assert facts.verdict(outcome) == (
            "With bulk zeroing fake used 3.1 % less CPU time per steady iteration (95 % interval 2.7 % to 3.4 % less), "
            "over 10 pairs of launches."
        )

    def test_slower(self) -> None:
        sentence = facts.verdict(synthetic.outcome(synthetic.launches(ratio=1.2)))
        assert sentence.startswith(
            "With bulk zeroing fake used 20.1 % more CPU time per steady iteration (95 % interval "
        )
        assert sentence.endswith("% more), over 10 pairs of launches.")

    def test_not_resolved_says_what_would_have_shown(self) -> None:
        outcome = synthetic.outcome(synthetic.launches(ratio=1.0))
        sentence = facts.verdict(outcome)
        assert outcome.headline.verdict == "not resolved"
        assert sentence.startswith("No difference resolved: with bulk zeroing fake used between 0.")
        assert f"anything beyond ±{outcome.headline.ratio.resolvable * 100:.2f} % would have shown" in sentence

    def test_wall_time_is_taken_not_used(self) -> None:
        sentence = facts.verdict(synthetic.outcome(synthetic.launches(ratio=0.9), metric=MetricName.WALL))
        assert "fake took 10.0 % less wall-clock time per launch" in sentence

    def test_stock_against_stock(self) -> None:
        quiet = synthetic.outcome(synthetic.launches(strategy="hot-path"), strategy="hot-path")
        assert facts.verdict(quiet).startswith("Stock against stock, over 10 pairs of launches: no difference resolved")
        loud = synthetic.outcome(synthetic.launches(1.1, strategy="hot-path"), strategy="hot-path")
        assert "do not trust small effects" in facts.verdict(loud)


class TestJson:
    def test_what_the_issue_promises(self) -> None:
        result = as_json(synthetic.outcome(synthetic.launches(ratio=0.9)))
        assert result["schema"] == 2
        assert result["verdict"] == "faster"
        assert set(result["ratio"]) == {"median", "low", "high"}  # type: ignore[call-overload]
        assert result["launches"] == {"baseline": 10, "grafted": 10, "switched": 0}
        assert result["metric"] == "iteration-cpu"
        assert result["pairing"] == "alternate"
        assert result["command"] == ["java", "-jar", "x.jar"]
        assert result["warnings"] == ["w"]
        assert result["report"] == "/out/report.html"
        assert {"metrics", "machine", "jvms", "iterations", "noise", "graft"} <= set(result)

    def test_figures_of_the_graft(self) -> None:
        graft = as_json(synthetic.outcome())["graft"]
        zeroing = graft["zeroing"]  # type: ignore[index]
        assert (zeroing["strategy"], zeroing["kernel"]) == ("bulk", "avx512")
        assert (zeroing["bytes"], zeroing["tlabs"], zeroing["cycles"]) == (4_000_000_000, 10, 10**9)
        assert zeroing["gigabytes_per_second"] == 8.0
        assert zeroing["direct_cost"] == 0.05
        assert zeroing["cpu_utilisation"] == 2.0
        assert set(zeroing["intervals"]) >= {"bytes", "direct_cost", "gigabytes_per_second"}

    def test_several_jvms_in_a_launch_are_added(self) -> None:
        done = synthetic.launches()
        for launch in done[1::2]:
            launch.jvms = [synthetic.summary(), synthetic.summary(pid=2)]
        outcome = synthetic.outcome(done)
        assert outcome.zeroing is not None
        assert outcome.zeroing.figures["bytes"].median == 8_000_000_000
        assert outcome.zeroing.figures["direct_cost"].median == 0.05
        assert len(outcome.jvms) == 1

    def test_stock_against_stock_has_the_strategy_only(self) -> None:
        result = as_json(synthetic.outcome(strategy="hot-path"))
        assert result["graft"] == {"zeroing": {"strategy": "hot-path"}}
        assert result["joined"] is None

    def test_jvms_without_an_end_have_no_figures(self) -> None:
        done = synthetic.launches()
        for launch in done[1::2]:
            launch.jvms = [synthetic.summary(state="running")]
        assert as_json(synthetic.outcome(done))["graft"] == {"zeroing": {"strategy": "bulk"}}


@pytest.mark.parametrize(
    ("program", "name"),
    [("org.example.Main a b", "Main"), ("/opt/app/server.jar --port 1", "server.jar"), ("Main", "Main"), ("", "java")],
)
def test_the_program_is_named_in_a_word(program: str, name: str) -> None:
    done = synthetic.launches(iteration_count=0)
    for launch in done[1::2]:
        launch.jvms = [synthetic.summary(program=program)]
    assert synthetic.outcome(done).program == name


def test_two_main_classes_are_the_commands_name() -> None:
    done = synthetic.launches(iteration_count=0)
    done[1].jvms = [synthetic.summary(program="a.B")]
    assert synthetic.outcome(done, command=["/usr/bin/mvn", "test"]).program == "mvn"
