"""What is kept of a program, when it keeps adaptive zeroing from joining, and what a broken profile does."""

import json
from pathlib import Path
from typing import Any

import pytest

from memgraft.conftest import Done, Memgraft, program
from memgraft.experiment import profiles


def measurement(strategy: str, verdict: str = "not resolved", low: float = 0.97, high: float = 1.04) -> dict[str, Any]:
    return {
        "strategy": strategy,
        "date": "2026-01-02T03:04:05+00:00",
        "memgraft": "0",
        "metric": "cpu",
        "ratio": {"median": (low + high) / 2, "low": low, "high": high},
        "verdict": verdict,
        "pairs": 10,
        "collectors": ["Parallel"],
    }


COMMAND = ["java", "-jar", "x.jar"]


class Kept:
    def __init__(self, folder: Path) -> None:
        self.program = folder / "start.sh"
        self.program.touch()
        self.environment = {"XDG_CACHE_HOME": str(folder), "PATH": ""}

    def __call__(self, *measurements: dict[str, Any], unmeasured: bool = False) -> profiles.Kept | None:
        key = profiles.fingerprint(COMMAND, self.program, self.environment)
        file = profiles.file_of(key, self.environment)
        file.parent.mkdir(parents=True, exist_ok=True)
        whole = {"schema": 1, "kind": "profile", "fingerprint": key, "measurements": measurements}
        file.write_text(json.dumps(whole))
        return profiles.kept(COMMAND, self.program, self.environment, unmeasured=unmeasured)


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    return Kept(tmp_path)


class TestDecision:
    @pytest.mark.parametrize(
        "measured",
        [
            [measurement("adaptive", "faster", 0.9, 0.95)],
            # What one strategy gains adaptive may find.
            [measurement("adaptive"), measurement("windows", "faster", 0.9, 0.95)],
        ],
    )
    def test_adaptive_joins_where_something_was_a_gain(self, kept: Kept, measured: list[dict[str, Any]]) -> None:
        assert kept(*measured) is None
        assert kept(*measured, unmeasured=True) is None

    @pytest.mark.parametrize(
        ("measured", "reason"),
        [
            ([], "nothing was measured of this program yet"),
            ([measurement("bulk", "slower", 1.01, 1.04)], "no strategy was measured to be a gain"),
            ([measurement("bulk"), measurement("windows")], "no strategy was measured to be a gain"),
            # What zeroing that costs nothing would gain is not what a strategy does.
            ([measurement("pause", "faster", 0.9, 0.95)], "no strategy was measured to be a gain"),
            ([measurement("pause", low=0.98, high=1.01)], "no strategy was measured to be a gain"),
        ],
    )
    def test_where_nothing_is_settled_only_a_comparison_joins(
        self, kept: Kept, measured: list[dict[str, Any]], reason: str
    ) -> None:
        assert kept(*measured, unmeasured=True) is None
        found = kept(*measured)
        assert found is not None
        assert reason in found.reason
        assert "`memgraft compare --zeroing adaptive` measures it" in found.reason

    @pytest.mark.parametrize(
        ("measured", "reason"),
        [
            ([measurement("adaptive", "slower", 1.01, 1.04)], "between 1.0 % more and 4.0 % more"),
            ([measurement("adaptive")], "adaptive zeroing was measured and is no gain"),
            ([measurement(name) for name in ("bulk", "windows", "non-temporal")], "every strategy"),
            ([measurement("pause", low=0.995, high=1.02)], "would gain at most 0.50 %"),
            ([measurement("pause", "slower", 1.02, 1.04)], "would gain at most 0.00 %"),
        ],
    )
    def test_the_stock_is_kept(self, kept: Kept, measured: list[dict[str, Any]], reason: str) -> None:
        for unmeasured in (False, True):
            found = kept(*measured, unmeasured=unmeasured)
            assert found is not None
            assert reason in found.reason
            assert found.as_json()["kept"] == "hot-path"


class TestFingerprint:
    def test_what_changes_it(self, tmp_path: Path) -> None:
        start, java = tmp_path / "start.sh", tmp_path / "jdk/bin/java"
        java.parent.mkdir(parents=True)
        for file in (start, java):
            file.touch(mode=0o755)
        release = tmp_path / "jdk/release"
        release.write_text('IMPLEMENTOR="V"\nJAVA_RUNTIME_VERSION="17.0.1+1"\n')
        environment = {"PATH": str(java.parent)}
        first = profiles.fingerprint(["start.sh", "a"], start, environment)
        assert first["java"] == "17.0.1+1 V"
        assert first == profiles.fingerprint(["./start.sh", "a"], start, {**environment, "OTHER": "x"})
        assert first != profiles.fingerprint(["start.sh", "b"], start, environment)
        assert first != profiles.fingerprint(["start.sh", "a"], start, {**environment, "JAVA_TOOL_OPTIONS": "-Xmx1g"})
        assert profiles.fingerprint(["x"], start, {"JAVA_HOME": str(tmp_path / "jdk")})["java"] == "17.0.1+1 V"
        release.write_text('JAVA_VERSION="21"\n')
        assert profiles.fingerprint(["start.sh", "a"], start, environment)["java"] == "21"
        release.unlink()
        assert profiles.fingerprint(["start.sh", "a"], start, environment)["java"] == str(java)


class TestCommands:
    """`compare` and `zero bound` keep, `run` heeds."""

    def run(self, memgraft: Memgraft, *options: str) -> Done:
        return memgraft("run", "--zeroing", "adaptive", *options, "--json", "--", *program("iterations=4"))

    def test_no_gain_is_kept_in_mind(self, memgraft: Memgraft) -> None:
        first = self.run(memgraft).json()
        assert first["joined"] is None
        assert "nothing was measured of this program yet" in first["profile"]["reason"]
        told = memgraft("run", "--zeroing", "adaptive", "--", *program("iterations=4"))
        assert "nothing was measured of this program yet; `memgraft compare" in told.err
        assert "measured:" not in told.err
        compared = memgraft("compare", "--zeroing", "adaptive", "--launches", "6", "--", *program("iterations=4"))
        assert compared.code == 0, compared.err
        done = self.run(memgraft)
        assert done.code == 0, done.err
        assert done.json()["joined"] is None
        assert done.json()["profile"]["kept"] == "hot-path"
        told = memgraft("run", "--zeroing", "adaptive", "--", *program("iterations=4"))
        assert "memgraft: adaptive kept the stock's own hot path: adaptive zeroing was measured" in told.err
        assert "adaptive 1.000 [1.000, 1.000] not resolved (20" in told.err
        assert self.run(memgraft, "--no-profile").json()["joined"] is not None
        again = memgraft(
            "compare", "--zeroing", "adaptive", "--launches", "6", "--json", "--", *program("iterations=4")
        ).json()
        assert again["joined"] is None
        assert again["profile"]["kept"] == "hot-path"
        assert any("both sides are the stock" in warning for warning in again["warnings"])
        joined = memgraft(
            *("compare", "--zeroing", "adaptive", "--no-profile", "--launches", "6", "--json"),
            *("--", *program("iterations=4")),
        ).json()
        assert joined["joined"] is not None
        assert joined["profile"] is None
        other = memgraft("run", "--zeroing", "adaptive", "--json", "--", *program("iterations=5"))
        assert "nothing was measured" in other.json()["profile"]["reason"]

    def test_a_gain_is_kept_in_mind(self, memgraft: Memgraft) -> None:
        gains = program("iterations=4", "factor=0.9")
        compared = memgraft("compare", "--zeroing", "adaptive", "--launches", "6", "--json", "--", *gains).json()
        assert compared["verdict"] == "faster"
        done = memgraft("run", "--zeroing", "adaptive", "--json", "--", *gains).json()
        assert done["joined"] is not None
        assert done["profile"] is None

    def test_the_bound(self, memgraft: Memgraft) -> None:
        bound = memgraft("zero", "bound", "--launches", "6", "--json", "--", *program("iterations=4", "factor=0.9"))
        assert bound.code == 0, bound.err
        result = bound.json()
        assert result["kind"] == "bound"
        assert result["metric"] == "iteration-worker-cpu"
        assert result["verdict"] == "faster"
        assert result["sentence"].startswith(
            "If zeroing cost nothing, fake would use 10.0 % less CPU time of the working"
        )
        assert "no zeroing strategy can gain more than 10.0 %" in result["sentence"]
        assert set(result["metrics"]) == {"iteration-worker-cpu", "cpu-outside-pauses"}
        [file] = (memgraft.folder / ".cache/memgraft/profiles").glob("*.json")
        assert json.loads(file.read_text())["measurements"][0]["strategy"] == "pause"
        assert "bound-" in result["report"]

    def test_the_pause_is_not_counted(self, memgraft: Memgraft) -> None:
        """Without iterations: of the CPU time of a whole launch the pauses' zeroing is taken off."""
        bound = memgraft("zero", "bound", "--launches", "6", "--json", "--", *program("pause=0.001"))
        result = bound.json()
        assert result["metric"] == "cpu-outside-pauses"
        launches = [json.loads(line) for line in (Path(result["output"]) / "launches.jsonl").read_text().splitlines()]
        grafted = [
            done["user_seconds"] + done["system_seconds"] - 0.001 for done in launches if done["side"] == "grafted"
        ]
        pairs = result["metrics"]["cpu-outside-pauses"]["pairs"]
        assert [pair["grafted_seconds"] for pair in pairs] == pytest.approx(grafted[1:])

    def test_a_broken_profile_is_one_warning(self, memgraft: Memgraft) -> None:
        done = memgraft("compare", "--zeroing", "adaptive", "--launches", "6", "--", *program("iterations=4"))
        assert done.code == 0
        [file] = (memgraft.folder / ".cache/memgraft/profiles").glob("*.json")
        file.write_text("{ half")
        done = self.run(memgraft)
        assert done.code == 0
        assert "nothing was measured" in done.json()["profile"]["reason"]
        [line] = [line for line in done.err.splitlines() if "the profile" in line]
        assert line.startswith(f"memgraft: warning: the profile {file} cannot be read")

    def test_a_cache_that_cannot_be_written_is_no_failure(self, memgraft: Memgraft) -> None:
        (memgraft.folder / ".cache").touch()
        done = memgraft("compare", "--zeroing", "bulk", "--launches", "6", "--", *program("iterations=4"))
        assert done.code == 0, done.err
        assert "the program's profile could not be kept" in done.err
