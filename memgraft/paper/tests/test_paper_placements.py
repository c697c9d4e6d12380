"""Figures of placement: their definitions, and their numbers from runs that were kept."""

import json
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memgraft import native
from memgraft.conftest import Memgraft
from memgraft.errors import CannotTakeError, MemgraftError, WrongUsageError
from memgraft.experiment.metrics import MetricName
from memgraft.guest.machine import Done
from memgraft.paper import counted, definition, placements, work
from memgraft.paper.asked import Asked, Choice
from memgraft.paper.counted import Counted
from memgraft.paper.placements import Kept, Run
from memgraft.placement.tests.test_place import SUMMARY
from memgraft.statistics import Interval
from memgraft.tests.synthetic import MACHINE

EVERY = [one for one in definition.definitions() if one.placements]
SIDES = ["without", "every 0.5 s", "every 1 s", "every 2 s", "every 4 s"]
FOUR, COUNTED = "placement-table-4", "placement-table-4-counted"
BEFORE = Run("mg", "without", 0, 2000, 1000, 800, 0, 0, 0.2, 20.0, True)
SETTINGS = {
    "class": "S",
    "seconds": 2.0,
    "rounds": 3,
    "nodes": 4,
    "monitor": "faults-in-process",
    "machine": MACHINE,
}


def runs(kernel: str, after: int) -> list[Run]:
    """Non-local samples of a thousand, three rounds: as many as `after` with migration, and one more each round."""
    found = []
    for turn in range(3):
        found.append(replace(BEFORE, kernel=kernel, round=turn))
        found += [
            replace(found[-1], side=side, non_local=after + turn, moved=500, moved_back=7, cpu_seconds=0.4)
            for side in SIDES[1:]
        ]
        found[-len(SIDES)] = replace(BEFORE, kernel=kernel, round=turn)
    return found


def counted_by_emulator(found: list[Run]) -> list[Run]:
    """As much of all accesses as of the samples; of the second half a tenth of that. Misses are another share."""
    return [
        replace(
            one,
            counted=Counted(1_000_000 * one.resolved, 1_000_000 * one.non_local, 500, one.non_local // 20),
            missed=Counted(2_000_000, 1_000 * one.non_local + 100_000, 1000, one.non_local // 4),
        )
        for one in found
    ]


def kept(folder: Path, found: list[Run]) -> Path:
    document = {"schema": 1, "kind": "placements", "settings": SETTINGS, "runs": [asdict(one) for one in found]}
    (folder / placements.KEPT).write_text(json.dumps(document))
    return folder


def asked(source: Path, output: Path, **fields: Any) -> Asked:
    return Asked("small", 3, 2, None, MetricName.ITERATION_WALL, source, output, **fields)


def cells(result: dict[str, Any], title: str) -> dict[tuple[str, str], float]:
    [table] = [one for one in result["ours"] if one["title"] == title]
    return {(cell["row"], cell["series"]): cell["median"] for cell in table["cells"]}


def test_there_are_all_that_are_measured() -> None:
    names = {one.name for one in EVERY}
    assert names >= {"placement-table-4", "placement-table-6", "placement-figure-3", "placement-figure-4"}
    assert definition.find("placement-4").name == "placement-figure-4"


@pytest.mark.parametrize("one", EVERY, ids=lambda one: one.name)
def test_every_figure_is_made_of_runs_that_were_kept(one: definition.Definition, tmp_path: Path) -> None:
    source = tmp_path / "kept"
    source.mkdir()
    kept(source, counted_by_emulator(runs("mg", 100) + runs("ft", 790)))
    [result] = work.make([one.name], asked(source, tmp_path / "out"))
    page = Path(result["page"]).read_text()
    assert page.count("modelled") >= 1 or one.name == COUNTED
    assert "Other programs and another machine: the published values" in page
    assert json.loads((tmp_path / "out" / f"{one.name}.json").read_text())["ours"] == result["ours"]


def test_what_ran_longer_is_said(tmp_path: Path) -> None:
    found = placements.read(kept(tmp_path, runs("ep", 100)))
    said = "as many iterations as take 2 s there by themselves, or as are specified"
    assert dict(placements.measured(found))["length"] == said
    longer = replace(found, settings={**found.settings, "at_once": {"ep": 20.0, "ft": 10.0}})
    assert dict(placements.measured(longer))["length"] == f"{said}; ep 20 s and ft 10 s, with all CPUs at the same time"


def test_runs_of_another_class_are_not_what_was_asked_for(tmp_path: Path) -> None:
    kept(tmp_path, runs("mg", 100))
    with pytest.raises(WrongUsageError, match=r"--class W: the runs in .* are of class S; expected that one"):
        work.make(["placement-table-4"], asked(tmp_path, tmp_path / "out", choice=Choice(kernel_class="W")))
    assert not (tmp_path / "out").exists()
    assert work.make(["placement-table-4"], asked(tmp_path, tmp_path / "out", choice=Choice(kernel_class="S")))


def test_numbers() -> None:
    found = Kept({"rounds": 3}, runs("mg", 100) + runs("ft", 790))
    four, gain = definition.find("placement-table-4"), definition.find("placement-figure-4")
    samples, remote, less = placements.tables(four, found)
    assert [cell.value.median for cell in samples.cells] == [2000, 2000]
    assert remote.at("mg", "without") == Interval(0.8, 0.8, 0.8)
    assert remote.at("mg", "every 1 s") == Interval(0.101, 0.1, 0.102)
    assert remote.at("ft", "every 2 s") is None
    reduced = less.at("mg", "every 1 s")
    assert reduced is not None
    assert reduced.median == pytest.approx(1 - 0.101 / 0.8)
    [modelled] = placements.tables(gain, found)
    one = modelled.at("mg", "every 1 s")
    assert one is not None
    # 225 ns and 75 ns more for each that is not local.
    assert one.median == pytest.approx(1 - (225 + 75 * 0.101) / (225 + 75 * 0.8))


def test_numbers_of_all_accesses() -> None:
    found = Kept({"rounds": 3}, counted_by_emulator(runs("mg", 100)))
    every, remote, less, late, *of_misses, samples = placements.tables(definition.find(COUNTED), found)
    assert [(cell.series, cell.value.median, every.words(cell.value.median)) for cell in every.cells] == [
        ("without", 1000, "1,000")
    ]
    assert remote.at("mg", "without") == Interval(0.8, 0.8, 0.8)
    assert remote.at("mg", "every 1 s") == Interval(0.101, 0.1, 0.102)
    reduced = less.at("mg", "every 1 s")
    assert reduced is not None
    assert reduced.median == pytest.approx(1 - 101 / 800)
    assert late.at("mg", "without") == Interval(0.08, 0.08, 0.08)
    assert samples.at("mg", "every 1 s") == Interval(0.101, 0.1, 0.102)
    missed, remote_misses, less_misses, late_misses = of_misses
    assert [missed.words(cell.value.median) for cell in missed.cells] == ["2.00"]
    assert remote_misses.at("mg", "without") == Interval(0.45, 0.45, 0.45)
    reduced = less_misses.at("mg", "every 1 s")
    assert reduced is not None
    assert reduced.median == pytest.approx(1 - 201 / 900)
    assert late_misses.at("mg", "without") == Interval(0.2, 0.2, 0.2)


def test_runs_from_before_there_were_caches_are_shown_without(tmp_path: Path) -> None:
    kept(tmp_path, [replace(one, missed=None) for one in counted_by_emulator(runs("mg", 100))])
    [result] = work.make([COUNTED], asked(tmp_path, tmp_path / "out"))
    assert not [part["title"] for part in result["ours"] if "misses" in part["title"]]
    assert "caches" not in result["measured"]


def test_the_reduction_is_of_numbers_not_of_shares() -> None:
    """A thread that waits by reading makes a share smaller, and no other access less far."""
    found = counted_by_emulator(runs("mg", 400))
    more = [replace(one, counted=Counted(2 * 10**9, one.counted.non_local, 0, 0)) for one in found if one.counted]
    _, _, less, *_ = placements.tables(definition.find(COUNTED), Kept({}, [*found[:1], more[2]]))
    reduced = less.at("mg", "every 1 s")
    assert reduced is not None
    assert reduced.median == 0.5


def test_what_the_emulator_wrote(tmp_path: Path) -> None:
    file = tmp_path / "counts"
    with_half = [[[0, 0], [0, 0]], [[40, 0], [9, 0]], [[50, 10], [40, 0]], [[60, 10], [40, 90]]]
    misses = [[[0, 0], [0, 0]], [[0, 0], [3, 0]], [[0, 0], [4, 0]], [[0, 2], [4, 0]]]
    both = ({"accesses": rows, "misses": missed} for rows, missed in zip(with_half, misses, strict=True))
    file.write_text("".join(json.dumps(line) + "\n" for line in both))
    # Half of the 200 are reached with the third line; half of the 6 with the second.
    assert counted.read(file) == (Counted(200, 50, 100, 0), Counted(6, 6, 3, 3))
    file.write_text('{"accesses": [[0, 0], [0, 0]], "misses": [[0, 0], [0, 0]]}\n')
    with pytest.raises(MemgraftError, match="counted no access at 0x200000000000-0x20ffffffffff"):
        counted.read(file)
    file.write_text("")
    with pytest.raises(MemgraftError, match="counted no access"):
        counted.read(file)
    for cut in ('{"accesses": [[1, 0], [', '{"accesses": [[1, 0], [0, 1]]}'):
        file.write_text(cut)
        with pytest.raises(MemgraftError, match=r"counts: not what the emulator counts .*; is the disk full"):
            counted.read(file)


def test_runs_without_counts_are_not_what_was_asked_for(tmp_path: Path) -> None:
    kept(tmp_path, [*counted_by_emulator(runs("mg", 100)), *runs("cg", 100)])
    with pytest.raises(WrongUsageError, match=f"{COUNTED}: of the runs kept no accesses were counted"):
        work.make([COUNTED], asked(tmp_path, tmp_path / "out"))
    # The other way about they will do: samples are samples.
    kept(tmp_path, counted_by_emulator(runs("mg", 100)))
    [result] = work.make([FOUR], asked(tmp_path, tmp_path / "out"))
    assert result["measured"]["accesses"] == "to the kernels' arrays, all counted by the emulator"
    assert result["measured"]["caches"] == "modelled: 64 KiB of each CPU, 8 lines of 64 bytes in a set"


def test_rounds_are_those_that_were_measured() -> None:
    found = runs("mg", 100)
    assert dict(placements.measured(Kept({**SETTINGS, "rounds": 6}, found)))["rounds"].startswith("3 runs of each")
    half = [*found, replace(BEFORE, round=3)]
    words = dict(placements.measured(Kept({**SETTINGS, "rounds": 6}, half)))["rounds"]
    assert words.startswith("3 to 4 runs of each")
    assert "no interval" in words
    assert (
        "too seldom for an interval"
        in placements.tables(definition.find("placement-table-4"), Kept({}, half))[0].spread
    )


def test_the_second_half_is_a_table_where_it_was_kept() -> None:
    four = definition.find("placement-table-4")
    before = runs("mg", 100)
    assert "second half" not in " ".join(table.title for table in placements.tables(four, Kept({"rounds": 3}, before)))
    # All local in the end, which is a share, too.
    halves = [replace(one, late_resolved=50, late_non_local=40 if one.side == "without" else 0) for one in before]
    *_, late = placements.tables(four, Kept({"rounds": 3}, halves))
    assert late.title == "non-local share of samples in the second half of the run"
    assert late.at("mg", "without") == Interval(0.8, 0.8, 0.8)
    assert late.at("mg", "every 1 s") == Interval(0, 0, 0)


def test_what_nobody_saw_is_left_out() -> None:
    blind = [replace(one, resolved=0, non_local=0) for one in runs("mg", 100)]
    four = definition.find("placement-table-4")
    with pytest.raises(MemgraftError, match="'non-local share of samples': the monitor saw nothing"):
        placements.tables(four, Kept({"rounds": 3}, blind))
    seen = placements.tables(four, Kept({"rounds": 3}, blind + runs("cg", 5)))
    assert seen[1].rows == ["cg"]


def test_kept_runs_that_do_not_do(tmp_path: Path) -> None:
    with pytest.raises(WrongUsageError, match="no runs of placement that can be read"):
        placements.read(tmp_path)
    (tmp_path / placements.KEPT).write_text('{"schema": 2, "kind": "placements"}')
    with pytest.raises(WrongUsageError, match="schema 2 of placements"):
        placements.read(tmp_path)
    some = Kept({"rounds": 3}, [one for one in runs("mg", 5) if one.side != "every 4 s"])
    with pytest.raises(WrongUsageError, match="no runs every 4 s were kept"):
        placements.tables(definition.find("placement-figure-3"), some)


def test_what_the_guest_said_becomes_a_run() -> None:
    intervals = [
        {"event": "interval", "kind": "placement", "accesses": [[10, 90], [0, 0]]},
        {"event": "interval", "kind": "placement", "accesses": [[95, 5], [0, 0]]},
    ]
    end = {"event": "end", "kind": "placement", "summary": SUMMARY}
    kernel = {"kind": "kernel", "verified": None}
    output = "\n".join(json.dumps(line) for line in [kernel, *intervals, end, {**end, "start": {}}])
    output += "\nthp_fault_alloc 12\nthp_split_page_failed 0\n"
    found = placements._run("mg", "without", 0, Done(output, 0))
    assert found.huge_pages == {"thp_fault_alloc": 12, "thp_split_page_failed": 0}
    assert (found.resolved, found.non_local, found.moved, found.verified) == (200, 95, 5000, None)
    assert (found.late_resolved, found.late_non_local) == (100, 5)
    with pytest.raises(MemgraftError, match="mg without: exit code 3 in the guest, which said: no way"):
        placements._run("mg", "without", 0, Done("no way", 3))


def test_plan(memgraft: Memgraft, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "FOLDER", memgraft.natives)
    figure = [definition.find("placement-figure-3")]
    with pytest.raises(CannotTakeError, match="the native part memgraft-place is not at"):
        placements.plan(figure, Asked("small", 1, 2))
    with pytest.raises(WrongUsageError, match="--workloads mg,xy: expected kernels of cg, mg, ft"):
        placements.plan(figure, Asked("small", 1, 2, "mg,xy"))
    for name in (native.PLACE, native.SAMPLER):
        (memgraft.natives / name).touch()
    monkeypatch.setattr(placements, "busybox", lambda: "busybox")
    planned = placements.plan(figure, Asked("small", 2, 2, "mg, ft"))
    assert (planned.kernels, planned.intervals, planned.seconds, planned.total) == (["mg", "ft"], [0.5, 1, 2, 4], 2, 4)
    assert planned.sides == SIDES
    assert planned.kernel_class == "S"
    assert not planned.counted
    monkeypatch.setattr(counted, "PLUGIN", memgraft.natives / "plugin.so")
    both = [definition.find(name) for name in (FOUR, COUNTED)]
    with pytest.raises(WrongUsageError, match=f"^{COUNTED} counts every access, .* and {FOUR} does not"):
        placements.plan(both, Asked("small", 1, 2))
    with pytest.raises(CannotTakeError, match=r"no .*plugin\.so, which counts accesses: `make native` builds it"):
        placements.plan(both[1:], Asked("small", 1, 2))
    counted.PLUGIN.touch()
    assert placements.plan(both[1:], Asked("small", 1, 2)).counted
    larger = placements.plan(figure, Asked("default", 2, 2, "mg", choice=Choice(kernel_class="W")))
    assert (larger.kernel_class, larger.seconds) == ("W", 120)


@dataclass
class Typed:
    """What an emulated machine that is none was told."""

    commands: list[str] = field(default_factory=list)
    at_once: list[bool] = field(default_factory=list)
    plugins: list[list[str]] = field(default_factory=list)

    def boot(
        self,
        root: SimpleNamespace,
        _nodes: object,
        commands: list[str],
        _seconds: int,
        *,
        concurrent: bool,
        plugins: list[str],
    ) -> list[Done]:
        self.commands.extend(commands)
        self.at_once.append(concurrent)
        self.plugins.append(plugins)
        for plugin in plugins:
            assert f"out={root.folder.parent}/" in plugin
            # One more with each guest.
            so_far = len(self.plugins)
            counts = json.dumps({"accesses": [[so_far, 2, 0, 0], *[[0] * 4] * 3], "misses": [[1, 0, 0, 0]]})
            Path(plugin.split(",")[1].removeprefix("out=")).write_text(counts + "\n")
        kernel = {"kind": "kernel", "verified": None, "iterations": 4, "seconds_per_iteration": 10}
        interval = {"event": "interval", "kind": "placement", "accesses": [[10, 90], [0, 0]]}
        end = {"event": "end", "kind": "placement", "summary": SUMMARY}
        return [Done("\n".join(map(json.dumps, [interval, end, kernel])), 0) for _ in commands]


@pytest.fixture
def typed(memgraft: Memgraft, monkeypatch: pytest.MonkeyPatch) -> Typed:
    """All but the emulator."""
    monkeypatch.setattr(native, "FOLDER", memgraft.natives)
    for name in (native.PLACE, native.SAMPLER):
        (memgraft.natives / name).touch()
    typed = Typed()
    monkeypatch.setattr(placements, "boot", typed.boot)
    monkeypatch.setattr(placements, "Root", lambda folder: SimpleNamespace(add=lambda *_: None, folder=folder))
    monkeypatch.setattr(placements, "kernels_program", lambda: Path("memgraft-kernels"))
    return typed


def test_the_guest_runs_the_class_that_was_asked_for(memgraft: Memgraft, typed: Typed) -> None:
    """What is typed there, once to see how long an iteration takes, then each side."""
    plan = placements.Plan("W", ["sp", "ep"], [1.0], 120.0, 1)
    placements.run(plan, memgraft.folder, lambda *_: None)
    alone, _, without, every, *longer = typed.commands
    assert alone.endswith("/bin/memgraft-kernels sp --class W --first-touch main --json")
    kernel = "-- /bin/memgraft-kernels sp --class W --first-touch main --json --iterations 12 "
    assert kernel in without
    assert kernel in every
    assert "--ignore-move-cost" in every
    assert "grep ^thp_ /proc/vmstat" in every
    assert ("--dry-run" in without, "--dry-run" in every) == (True, False)
    assert typed.at_once == [False, True, False, True]
    assert typed.plugins == [[]] * 4
    assert all("memgraft-kernels ep --class W --first-touch main --json --iterations 120 " in line for line in longer)
    settings = placements.read(memgraft.folder).settings
    assert (settings["class"], settings["at_once"]) == ("W", {"ep": 1200.0})


def test_each_side_that_is_counted_has_its_own_guest(memgraft: Memgraft, typed: Typed) -> None:
    plan = placements.Plan("S", ["sp"], [1.0], 20.0, 2, counted=True)
    placements.run(plan, memgraft.folder, lambda *_: None)
    # An iteration takes as long as it does when it is counted.
    assert len(typed.commands) == len(typed.plugins) == 5
    assert ["--dry-run" in command for command in typed.commands[1:]] == [True, False] * 2
    for [plugin] in typed.plugins:
        assert plugin.startswith(f"{counted.PLUGIN},out=")
        assert plugin.endswith(",nodes=256:256:256:256,ms=250,data=0x200000000000-0x20ffffffffff,cache=65536")
    runs = placements.read(memgraft.folder).runs
    assert [one.counted.accesses for one in runs if one.counted] == [4, 5, 6, 7]
    assert [one.missed.accesses for one in runs if one.missed] == [1] * 4
    found = placements.read(memgraft.folder)
    assert found.settings["cache_bytes"] == counted.CACHE_BYTES
    smaller = replace(found, settings={**found.settings, "cache_bytes": 4096})
    assert dict(placements.measured(smaller))["caches"].startswith("modelled: 4 KiB of each CPU")
    assert [one.side for one in runs] == ["without", "every 1 s"] * 2


def test_no_emulator_is_one_line(memgraft: Memgraft) -> None:
    for name in (native.PLACE, native.SAMPLER):
        (memgraft.natives / name).touch()
    done = memgraft("paper", "placement-table-4", PATH="/nonexistent")
    assert done.code == 3
    assert "no qemu-system-x86_64 to emulate a machine with nodes" in done.error
    assert not (memgraft.folder / "memgraft-out").exists()


def test_what_buffers_choose_is_nothing_here(memgraft: Memgraft) -> None:
    done = memgraft("paper", "placement-table-4", "--heap", "1g")
    assert done.code == 2
    assert "--heap 1g: placement-table-4 does not take it; expected a figure of buffers" in done.error


def test_only_kernels_have_a_class(memgraft: Memgraft) -> None:
    done = memgraft("paper", "buffers-table-2", "--class", "W")
    assert done.code == 2
    assert "--class W: buffers-table-2 runs no NAS kernels; expected a figure of placement" in done.error
