"""How fast zeroing has to be to pay, from launches made of numbers and from the fake program."""

from typing import Any

import pytest

from memgraft.conftest import Memgraft, program
from memgraft.formats import Grafts, Zeroing
from memgraft.report import facts
from memgraft.tests import synthetic


def bound(ratio: float, gigabytes_per_second: float, allocated: int | None = 10**9, **changes: Any) -> Any:
    """An outcome whose stock iterations take 1.2345678 s and allocate 1 GB."""
    share = {"bytes": 4_000_000_000, "seconds": 4 / gigabytes_per_second}
    zeroing = Zeroing.model_validate({"strategy": "pause", "kernel": "nt", "by": {"pause": share}})
    done = synthetic.launches(ratio, strategy="pause", **changes)
    for launch in done:
        launch.jvms = [s.model_copy(update={"grafts": Grafts(zeroing=zeroing)}) for s in launch.jvms]
        launch.iterations = [
            i.model_copy(update={"worker_cpu_seconds": i.cpu_seconds, "allocated_bytes": allocated})
            for i in launch.iterations
        ]
    return synthetic.outcome(done, strategy="pause", bound=True)


def test_the_speed_needed_is_bytes_over_seconds_saved() -> None:
    found = bound(0.9, 20).break_even
    # 1 GB in a tenth of 1.2345678 s.
    assert found.needed.median == pytest.approx(8.1, rel=0.02)
    assert found.needed.low <= found.needed.median <= found.needed.high
    assert found.measured.median == pytest.approx(20)


@pytest.mark.parametrize(
    ("speed", "pays", "sentence"),
    [
        (20, "yes", "so zeroing on the program's own CPUs can pay."),
        (4, "no", "zeroing costs more than it saves; only an idle CPU can hide it."),
        (8.1, "not resolved", "can pay is not resolved."),
    ],
)
def test_whether_it_pays(speed: float, pays: str, sentence: str) -> None:
    outcome = bound(0.9, speed)
    assert outcome.break_even.pays == pays
    assert facts.verdict(outcome).endswith(sentence)
    assert "The stock zeroes as if at 8.1" in facts.verdict(outcome)


def test_a_saving_that_may_be_nothing_needs_an_infinite_speed() -> None:
    outcome = bound(0.99, 50, spread=[0.97, 1.03, 0.98, 1.02])
    assert outcome.break_even.as_json()["needed_gigabytes_per_second"]["high"] is None
    assert outcome.break_even.pays == "not resolved"
    assert "infinite]" in facts.verdict(outcome)


def test_nothing_saved_pays_at_no_speed() -> None:
    outcome = bound(1.1, 20)
    assert outcome.break_even.as_json()["needed_gigabytes_per_second"] == {"median": None, "low": None, "high": None}
    assert outcome.break_even.pays == "no"
    assert "GB/s" not in facts.verdict(outcome)


def test_a_saving_that_may_be_large_is_not_resolved() -> None:
    outcome = bound(1.01, 20, spread=[0.9, 1.1, 0.91, 1.09])
    assert outcome.break_even.as_json()["needed_gigabytes_per_second"]["median"] is None
    assert outcome.break_even.pays == "not resolved"


def test_without_allocated_bytes_nothing_is_said() -> None:
    outcome = bound(0.9, 20, allocated=None)
    assert outcome.break_even is None
    assert "GB/s" not in facts.verdict(outcome)


class TestCommand:
    def bound(self, memgraft: Memgraft, *words: str) -> dict[str, Any]:
        done = memgraft("zero", "bound", "--launches", "6", "--json", "--", *program(*words))
        assert done.code == 0, done.err
        result: dict[str, Any] = done.json()
        return result

    def test_of_iterations(self, memgraft: Memgraft) -> None:
        found = self.bound(memgraft, "iterations=4", "factor=0.9", "pause=0.00005", "allocated=900000000")["break_even"]
        # 0.9 GB in a tenth of 0.9 s, and 1 MB in 50 us.
        assert found["needed_gigabytes_per_second"]["median"] == pytest.approx(10)
        assert found["measured_gigabytes_per_second"]["median"] == pytest.approx(20)
        assert found["pays"] == "yes"

    def test_of_whole_launches(self, memgraft: Memgraft) -> None:
        result = self.bound(memgraft, "pause=0.001")
        assert result["break_even"]["measured_gigabytes_per_second"]["median"] == pytest.approx(1)
        ratio = result["ratio"]
        needed = result["break_even"]["needed_gigabytes_per_second"]
        if ratio["median"] < 1:
            saved = result["metrics"]["cpu-outside-pauses"]["baseline_seconds"]["median"] * (1 - ratio["median"])
            assert needed["median"] == pytest.approx(0.001 / saved)
        else:
            assert needed["median"] is None
