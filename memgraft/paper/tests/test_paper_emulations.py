"""Figures of Arm machines: from counts that never happened to fences, instructions and modelled times."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from memgraft import native
from memgraft.errors import CannotTakeError, MemgraftError, WrongUsageError
from memgraft.experiment.metrics import MetricName
from memgraft.paper import definition, emulations, work
from memgraft.paper.asked import Asked
from memgraft.paper.emulations import FENCE_CYCLES, KINDS, Run
from memgraft.paper.measures import MEAN
from memgraft.paper.tests.earlier import Made, make, text_of, values
from memgraft.tests.synthetic import MACHINE

EVERY = [one for one in definition.definitions() if one.emulations]
PLAIN = dict.fromkeys(KINDS, 0.0) | {"other": 600.0, "load": 300.0, "store": 100.0}
SEED = PLAIN | {"dmb ishld": 300.0, "dmb ish": 100.0}
ORDERED = PLAIN | {"load": 0.0, "store": 0.0, "ldar": 300.0, "stlr": 100.0}
SPECULATIVE = PLAIN | {"other": 900.0, "dmb ishld": 30.0, "dmb ish": 10.0, "dmb ishst": 40.0}
SIDES = {"stock": PLAIN, "sc": ORDERED, "sc-seed": SEED, "sc-bytecode": SEED, "speculative": SPECULATIVE}


def runs(workload: str, rounds: int = 6, slower: float = 1.0) -> list[Run]:
    return [
        Run(workload, side, turn, {kind: count * slower for kind, count in executed.items()})
        for turn in range(rounds)
        for side, executed in SIDES.items()
    ]


def keep(folder: Path, found: list[Run]) -> Path:
    settings = {
        "workloads": [],
        "size": "small",
        "iterations": 20,
        "rounds": 6,
        "jvm": "temurin-21",
        "machine": MACHINE,
    }
    folder.mkdir()
    document = {"schema": 1, "kind": "executed", "settings": settings, "runs": [asdict(one) for one in found]}
    (folder / emulations.KEPT).write_text(json.dumps(document))
    return folder


def asked(source: Path | None, output: Path, **changes: Any) -> Asked:
    return Asked("small", 6, 6, changes.get("workloads"), MetricName.ITERATION_WALL, source, output)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("emulations")
    found = [*runs("xalan"), *runs("h2", slower=2.0), *runs("sparksort")]
    return make([one.name for one in EVERY], asked(keep(folder / "kept", found), folder / "out"))


def test_fences_are_of_a_thousand_instructions(made: Made) -> None:
    ours = made["ordering-3.16"]["ours"]
    seed = {(cell["row"], cell["series"]): cell["median"] for cell in ours[1]["cells"]}
    assert seed["xalan", "dmb ishld"] == seed["h2", "dmb ishld"] == pytest.approx(1000 * 300 / 1400)
    assert seed["xalan", "ldar"] == 0
    ordered = {(cell["row"], cell["series"]): cell["median"] for cell in ours[2]["cells"]}
    assert ordered["xalan", "ldar"] == pytest.approx(300)


def test_instructions_are_relative_to_the_stock(made: Made) -> None:
    ours = values(made["ordering-3.16"])
    assert ours["xalan", "sc-seed"] == pytest.approx(1.4)
    assert ours["h2", "sc"] == ours[MEAN, "sc"] == pytest.approx(1.0)


def test_time_is_modelled(made: Made) -> None:
    ours = values(made["ordering-3.18"])
    assert ours["xalan", "sc-seed"] == pytest.approx(1.4 + 0.4 * FENCE_CYCLES)
    assert ours["xalan", "sc, ldar and stlr for nothing"] == pytest.approx(1.0)
    assert ours["xalan", "sc, ldar and stlr as dear as a fence"] == pytest.approx(1.0 + 0.4 * FENCE_CYCLES)
    behind_stores = values(made["ordering-3.19"])["xalan", "sc-seed, fences behind stores only"]
    assert behind_stores == pytest.approx(1.4 + 0.1 * FENCE_CYCLES)


def test_engines_are_modelled_side_by_side(made: Made) -> None:
    ours = values(made["ordering-engines-arm"])
    assert ours["xalan", "sc-bytecode"] == ours["xalan", "sc-seed"] == pytest.approx(1.4 + 0.4 * FENCE_CYCLES)
    assert ours["xalan", "speculative"] == pytest.approx(1.38 + 0.08 * FENCE_CYCLES)
    *_, of_speculation = made["ordering-engines-arm"]["ours"]
    fences = {cell["series"]: cell["median"] for cell in of_speculation["cells"] if cell["row"] == "xalan"}
    assert fences["dmb ishst"] == pytest.approx(1000 * 40 / 1380)


def test_only_what_a_figure_shows_is_launched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made_ready(monkeypatch, tmp_path)
    figures = [definition.find(name) for name in ("ordering-3.19", "ordering-engines-arm")]
    assert planned(figures[:1]).sides == ["stock", "sc-seed"]
    assert planned(figures).sides == ["stock", "sc-seed", "sc", "sc-bytecode", "speculative"]
    (tmp_path / native.BYTECODE_AGENT).unlink()
    with pytest.raises(CannotTakeError, match=r"ordering\.jar is not at"):
        planned(figures)


def test_counts_of_other_orderings_are_refused(tmp_path: Path) -> None:
    found = [one for one in runs("xalan") if one.side != "speculative"]
    with pytest.raises(WrongUsageError, match="launches under speculative; the counts are of sc, sc-bytecode, sc-seed"):
        work.make(["ordering-engines-arm"], asked(keep(tmp_path / "kept", found), tmp_path / "out"))


def planned(figures: list[definition.Definition]) -> emulations.Plan:
    return emulations.plan(figures, Asked("small", 1, 6, "xalan"))


def made_ready(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """As if an emulator, the native parts and a JVM for AArch64 were there."""
    home = folder / "memgraft/jdks-aarch64/temurin-21.0.1"
    (home / "bin").mkdir(parents=True)
    (home / "release").write_text('JAVA_VERSION="21.0.1"\n')
    for file in ("qemu-aarch64", "agent.so", "plugin.so", native.BYTECODE_AGENT, home / "bin/java"):
        (folder / file).write_text("")
        (folder / file).chmod(0o755)
    monkeypatch.setattr(emulations, "AGENT", folder / "agent.so")
    monkeypatch.setattr(emulations, "PLUGIN", folder / "plugin.so")
    monkeypatch.setattr(native, "FOLDER", folder)
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))


def test_the_more_instructions_a_cycle_the_dearer_a_fence(made: Made) -> None:
    slow, fast = made["ordering-3.18"]["ours"]
    at = {table["title"]: {(c["row"], c["series"]): c["median"] for c in table["cells"]} for table in (slow, fast)}
    assert at[fast["title"]]["xalan", "sc-seed"] == pytest.approx(1.4 + 3 * 0.4 * FENCE_CYCLES)
    assert at[fast["title"]]["xalan", "sc-seed"] > at[slow["title"]]["xalan", "sc-seed"]


def test_each_figure_has_its_own_programs(made: Made) -> None:
    assert {row for row, _ in values(made["ordering-3.24"])} == {"sparksort"}
    assert {row for row, _ in values(made["ordering-3.19"])} == {"xalan", "h2", MEAN}


@pytest.mark.parametrize("name", [one.name for one in EVERY])
def test_the_page_says_that_it_is_a_model(made: Made, name: str) -> None:
    page = Path(made[name]["page"])
    body = text_of(page)
    assert "emulat" in body
    assert ("modelled" in body) == any(part.shows == "modelled-time" for part in definition.find(name).emulations)
    for one in made[name]["published"]:
        assert one["value"] in body
    assert page.read_text().count("<figure>") == len(made[name]["ours"]) > 0


def test_the_second_half_is_counted() -> None:
    lines = [{"when": "write"} | dict.fromkeys(KINDS, 10.0 * end * end) for end in range(1, 7)]
    lines.append({"when": "exit"} | dict.fromkeys(KINDS, 1e9))
    assert emulations.per_iteration(lines, 6) == dict.fromkeys(KINDS, 10.0 * (36 - 9) / 3)
    with pytest.raises(MemgraftError, match="saw 6 lines of the program, expected 8"):
        emulations.per_iteration(lines, 8)


def test_counts_that_the_disk_had_no_room_for_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    file.write_text('{"when": "write"}\n{"when": "wri')
    with pytest.raises(MemgraftError, match=r"counts are not whole .* disk full"):
        emulations.counted(file)


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(WrongUsageError, match="no counts that can be read"):
        emulations.read(tmp_path)
    (tmp_path / emulations.KEPT).write_text('{"schema": 2, "kind": "executed"}')
    with pytest.raises(WrongUsageError, match="schema 2 of executed"):
        emulations.read(tmp_path)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    figure = [definition.find("ordering-3.18")]
    with pytest.raises(WrongUsageError, match="there is no 'nosuch'"):
        emulations.plan(figure, Asked("small", 1, 6, "nosuch"))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotTakeError, match="no qemu-aarch64"):
        emulations.plan(figure, Asked("small", 1, 6))
    (tmp_path / "qemu-aarch64").write_text("")
    (tmp_path / "qemu-aarch64").chmod(0o755)
    monkeypatch.setattr(emulations, "AGENT", tmp_path / "agent.so")
    monkeypatch.setattr(emulations, "PLUGIN", tmp_path / "plugin.so")
    with pytest.raises(CannotTakeError, match=r"plugin.so: `make native` builds it"):
        emulations.plan(figure, Asked("small", 1, 6))
    (tmp_path / "plugin.so").write_text("")
    (tmp_path / "agent.so").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(CannotTakeError, match="`setup/jdks` fetches one"):
        emulations.plan(figure, Asked("small", 1, 6))


def test_figures_of_other_launches_are_asked_for_by_themselves(tmp_path: Path) -> None:
    with pytest.raises(WrongUsageError, match="no launches in common"):
        work.make(["ordering-3.3", "ordering-3.18"], asked(None, tmp_path / "out"))


def test_the_cost_of_a_fence_is_the_published_one() -> None:
    assert math.isclose(FENCE_CYCLES, (3027 + 3035) / 2 / 1000, rel_tol=0.001)


@pytest.mark.parametrize(("rounds", "said"), [(6, "Median and 95 % interval;"), (1, "too seldom for an interval;")])
def test_few_launches_have_no_interval(rounds: int, said: str, tmp_path: Path) -> None:
    kept = keep(tmp_path / "kept", runs("xalan", rounds))
    [made] = work.make(["ordering-3.18"], asked(kept, tmp_path / "out"))
    text = Path(made["page"]).read_text()
    assert said in text
    assert ("95 % interval" in text) == (rounds >= 6)


def test_launches_are_those_that_were_counted() -> None:
    settings = {"size": "small", "iterations": 20, "rounds": 6, "jvm": "temurin-21", "machine": MACHINE}
    *interrupted, _ = runs("xalan")
    told = dict(emulations.measured(emulations.Kept(settings, interrupted)))["launches"]
    assert told.startswith("5 to 6 launches of each workload and ordering; what stands in brackets")


def test_a_figure_has_an_interval_where_all_that_it_shows_was_launched_often_enough(tmp_path: Path) -> None:
    found = [*runs("sparksort"), *runs("xalan", 5)]
    made = make(["ordering-3.24", "ordering-3.18"], asked(keep(tmp_path / "kept", found), tmp_path / "out"))
    assert "95 % interval" in text_of(Path(made["ordering-3.24"]["page"]))
    assert "95 % interval" not in text_of(Path(made["ordering-3.18"]["page"]))
