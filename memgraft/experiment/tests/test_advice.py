"""Each warning where it belongs, and none where it does not."""

import dataclasses
from typing import Any

import pytest

from memgraft.experiment import advice
from memgraft.experiment.design import Pairing
from memgraft.experiment.metrics import MetricName
from memgraft.formats import Grafts
from memgraft.statistics import Interval
from memgraft.tests import synthetic


def warned(**arguments: Any) -> str:
    return "\n".join(advice.warnings(synthetic.outcome(**arguments)))


def test_a_quiet_clear_comparison_has_no_warning() -> None:
    assert warned(done=synthetic.launches(ratio=0.9)) == ""


def test_others() -> None:
    text = warned(done=synthetic.launches(others_share=0.3))
    assert "other programs used 30.0 % of this machine's CPU time" in text
    assert "--pairing concurrent" in text


def test_stolen() -> None:
    assert "hypervisor gave 10.0 %" in warned(done=synthetic.launches(stolen_share=0.1))


def test_concurrent_is_not_advised_where_it_is_in_use_or_cannot_be() -> None:
    done = synthetic.launches(others_share=0.3)
    for launch in done:
        launch.planned = dataclasses.replace(launch.planned, cpus=(0,))
    text = warned(done=done, pairing=Pairing.CONCURRENT)
    assert "--pairing concurrent" not in text
    assert "each side ran on 1 CPU, half" in text
    one_cpu = {**synthetic.MACHINE, "usable_cpus": 1}
    assert "--pairing concurrent" not in warned(done=synthetic.launches(others_share=0.3), machine=one_cpu)


def test_drift() -> None:
    done = synthetic.launches()
    for launch in done:
        launch.iterations = synthetic.iterations(1 + launch.number / 50, 4)
    assert "became 30.0 % slower" in warned(done=done)


def test_variation() -> None:
    text = warned(done=synthetic.launches(spread=(0.8, 1.2)))
    assert "launches of the grafted side vary by" in text


def test_more_launches_where_they_would_help() -> None:
    assert "about --launches" in warned(done=synthetic.launches(ratio=1.01, spread=(0.98, 1.02, 1.0, 1.01)))


def test_missed_tlabs() -> None:
    zeroing = synthetic.summary().grafts.zeroing
    assert zeroing is not None
    missed = Grafts(zeroing=zeroing.model_copy(update={"missed_tlabs": 2}))
    done = synthetic.launches()
    done[1].jvms = [synthetic.summary(grafts=missed)]
    assert "2 TLABs of the grafted launches did not reach the graft" in warned(done=done)


def test_nothing_zeroed() -> None:
    zeroing = synthetic.summary().grafts.zeroing
    assert zeroing is not None
    nothing = Grafts(zeroing=zeroing.model_copy(update={"tlabs": 0, "bytes": 0, "seconds": 0.0}))
    done = synthetic.launches()
    for launch in done[1::2]:
        launch.jvms = [synthetic.summary(grafts=nothing)]
    assert "zeroed no TLAB at all" in warned(done=done)


def test_jvms_without_a_final_summary() -> None:
    done = synthetic.launches()
    done[1].jvms.append(synthetic.summary(state="running"))
    assert "1 JVM of the grafted launches left no final summary" in warned(done=done)


def test_no_iterations() -> None:
    assert "reports no iterations" in warned(done=synthetic.launches(iteration_count=0))


def test_some_iterations() -> None:
    done = synthetic.launches()
    done[0].iterations = []
    assert "1 launch reported no iterations" in warned(done=done)
    done[0].iterations = synthetic.iterations(1.2345678, 5)
    assert "between 4 and 5 iterations" in warned(done=done)


def test_only_one_iteration() -> None:
    assert "print at least two" in warned(done=synthetic.launches(iteration_count=1))


def test_no_checksum() -> None:
    done = synthetic.launches()
    for launch in done:
        launch.iterations = synthetic.iterations(1.2345678, 4, checksum=None)
    assert "have no checksum" in warned(done=done)


def test_still_warming() -> None:
    done = synthetic.launches(iteration_count=5)
    # Only the second iteration on is counted, so the slow first one is in.
    text = "\n".join(advice.warnings(synthetic.outcome(done, warmup_iterations=0)))
    assert "still became 50.0 % faster within a launch" in text


def test_clock_ticks() -> None:
    done = synthetic.launches()
    for launch in done:
        launch.iterations = synthetic.iterations(0.05, 4)
    assert "clock ticks of 10 ms, 20.0 % of a steady iteration" in warned(done=done)
    assert "clock ticks" not in warned(done=done, metric=MetricName.ITERATION_WALL)


def test_a_calibration_that_differs_is_the_first_thing_said() -> None:
    done = synthetic.launches(1.1, strategy="hot-path", others_share=0.5)
    first = advice.warnings(synthetic.outcome(done, strategy="hot-path"))[0]
    assert first.startswith("both sides are the same stock JVM, and yet they differ")


@pytest.mark.parametrize("check", advice.CHECKS)
def test_every_check_takes_every_kind_of_comparison(check: Any) -> None:
    for strategy in ("bulk", "hot-path"):
        for count in (0, 1, 2, 5):
            done = synthetic.launches(pairs=6, iteration_count=count, strategy=strategy)
            list(check(synthetic.outcome(done, strategy=strategy)))


def test_interval_of_noise_is_there() -> None:
    assert isinstance(synthetic.outcome().noise.others_share, Interval)
