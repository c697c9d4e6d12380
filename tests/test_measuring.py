"""Measuring with the real agent: epochs, effects that are known, the bound, profiles, the papers' figures."""

import json
from pathlib import Path

import pytest
from conftest import ROOT, SLOWED_AGENT, memgraft, memgraft_with

COLLECTOR = ["-XX:+UseParallelGC", "-Xms128m", "-Xmx128m", "-Xmn12m"]


def allocating(programs: Path, megabytes: int, *options: str) -> list[str]:
    return ["java", *COLLECTOR, *options, "-cp", str(programs), "AllocateSteadily", str(megabytes)]


@pytest.mark.parametrize(("strategy", "against"), [("windows", "bulk"), ("concurrent", "non-temporal")])
def test_epochs_of_two_strategies(strategy: str, against: str, programs: Path, tmp_path: Path) -> None:
    result = memgraft(
        *["compare", "--json", "--pairing", "epochs", "--zeroing", strategy, "--against", against],
        *["--output", tmp_path / "out", "--", *allocating(programs, 1500)],
    )
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["grafts"]["zeroing"] == strategy
    assert report["baseline"]["zeroing"] == against
    assert report["epochs"]["quadruples"] >= 6
    # A GB of small objects takes a processor of any kind between a hundredth of a second and a minute.
    cost = report["metrics"]["epoch-cpu"]["baseline_seconds_per_gigabyte"]["median"]
    assert 0.01 < cost < 60
    assert (tmp_path / "out/report.html").is_file()


def test_too_few_collections_are_refused(programs: Path, tmp_path: Path) -> None:
    result = memgraft(
        *["compare", "--pairing", "epochs", "--zeroing", "windows", "--output", tmp_path / "out"],
        *["--", *allocating(programs, 50)],
    )
    assert result.returncode == 2
    assert "use a smaller young generation" in result.stderr


class TestPlanted:
    """3 % of the threads' CPU time, burnt by an agent made for that."""

    @pytest.fixture(autouse=True)
    def slowed(self) -> None:
        if not SLOWED_AGENT.is_file():
            pytest.skip(f"no {SLOWED_AGENT}: make native builds it")

    def verdict(self, folder: Path, *arguments: str | Path) -> tuple[str, float]:
        words = ["compare", "--json", "--zeroing", "non-temporal", "--against", "bulk", "--output", folder / "out"]
        result = memgraft_with(SLOWED_AGENT, folder, *words, *arguments)
        assert result.returncode == 0, result.stderr
        report = json.loads(result.stdout)
        return report["verdict"], report["ratio"]["median"]

    def test_epochs_find_it(self, programs: Path, tmp_path: Path) -> None:
        verdict, ratio = self.verdict(tmp_path, "--pairing", "epochs", "--", *allocating(programs, 12000))
        assert verdict == "slower"
        assert 1.01 < ratio < 1.06


def test_the_bound(programs: Path, tmp_path: Path) -> None:
    result = memgraft(
        *["zero", "bound", "--json", "--launches", "6", "--output", tmp_path / "out"],
        *["--", *allocating(programs, 300)],
        XDG_CACHE_HOME=str(tmp_path),
    )
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["kind"] == "bound"
    assert report["metric"] == "cpu-outside-pauses"
    assert report["graft"]["zeroing"]["pause_seconds"] > 0
    assert report["graft"]["zeroing"]["thread_seconds"] < report["graft"]["zeroing"]["pause_seconds"]
    [profile] = (tmp_path / "memgraft/profiles").glob("*.json")
    assert json.loads(profile.read_text())["measurements"][0]["collectors"] == ["Parallel"]


def test_the_bound_needs_a_collector_that_it_knows(programs: Path, tmp_path: Path) -> None:
    command = ["java", "-XX:+UseG1GC", "-cp", str(programs), "ShowJoints"]
    result = memgraft("zero", "bound", "--launches", "6", "--output", tmp_path / "out", "--", *command)
    assert result.returncode == 3
    assert "G1" in result.stderr


def test_adaptive_heeds_the_programs_profile(programs: Path, tmp_path: Path) -> None:
    command = allocating(programs, 100)
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    compare = ["compare", "--json", "--zeroing", "bulk", "--launches", "6", "--output", tmp_path / "out"]
    assert memgraft(*compare, "--", *command, **cache).returncode == 0
    [profile] = (tmp_path / "memgraft/profiles").glob("*.json")
    known = json.loads(profile.read_text())
    # The verdict of a noisy machine is not what this tests.
    measured = known["measurements"][0] | {"strategy": "adaptive", "verdict": "slower"}
    measured["ratio"] = {"median": 1.03, "low": 1.01, "high": 1.05}
    profile.write_text(json.dumps(known | {"measurements": [measured]}))
    kept = memgraft("run", "--zeroing", "adaptive", "--", *command, **cache)
    assert kept.returncode == 0
    assert "adaptive kept the stock's own hot path: adaptive zeroing was measured and is no gain" in kept.stderr
    joined = memgraft("run", "--zeroing", "adaptive", "--no-profile", "--", *command, **cache)
    assert "adaptive chose" in joined.stderr


# --- the papers ------------------------------------------------------------------------------------------------------

FROM_LAUNCHES = [
    *("zeroing-table-4.1", "zeroing-5.1", "zeroing-5.2a", "zeroing-5.4", "zeroing-5.5", "zeroing-5.6", "zeroing-5.7a"),
    *("zeroing-5.9", "zeroing-5.10", "zeroing-5.11", "zeroing-table-5.1"),
]
FROM_KERNELS = ["zeroing-3.1", "power-zeroing-1", "power-zeroing-2"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One small grid and one quick benchmark that every table and figure is made of."""
    folder = tmp_path_factory.mktemp("paper") / "measured"
    words = ["--size", "small", "--workloads", "churn,lusearch", "--launches", "6", "--iterations", "2"]
    # These need every strategy.
    result = memgraft("paper", "zeroing-5.10", "zeroing-5.11", "power-zeroing-1", *words, "--output", folder)
    assert result.returncode == 0, result.stderr
    return folder


@pytest.mark.parametrize("name", [*FROM_LAUNCHES, *FROM_KERNELS])
def test_paper_at_small_size(name: str, measured: Path, tmp_path: Path) -> None:
    result = memgraft("paper", name, "--from", measured, "--output", tmp_path / "out", "--json")
    assert result.returncode == 0, result.stderr
    [made] = json.loads(result.stdout)["papers"]
    assert made["ours"]
    rows = {cell["row"] for part in made["ours"] for cell in part["cells"]}
    assert {"churn", "lusearch"} <= rows or name in FROM_KERNELS
    assert made["published"] or made["table"] or made["unpublished"]
    assert Path(made["page"]).is_file()


def test_every_definition_that_is_measured_is_tested_here() -> None:
    listed = json.loads(memgraft("paper", "--json").stdout)["papers"]
    assert {one["name"] for one in listed if not one["absent"]} == {*FROM_LAUNCHES, *FROM_KERNELS}
    assert all((ROOT / f"experiments/zeroing/{one['name']}.toml").is_file() for one in listed)
