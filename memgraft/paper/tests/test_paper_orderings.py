"""The figures of sequential consistency: what is run and where, and numbers of known launches."""

import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from memgraft import machine
from memgraft.conftest import Memgraft
from memgraft.errors import CannotTakeError, MemgraftError, WrongUsageError
from memgraft.experiment.metrics import MetricName
from memgraft.grafts import declarations, table
from memgraft.grafts.selection import select
from memgraft.grafts.table import Choice as GraftChoice
from memgraft.grafts.table import Graft, Parameter
from memgraft.machine import Place, places
from memgraft.paper import definition, grid, orderings, work
from memgraft.paper.asked import Asked, Choice
from memgraft.paper.grid import Plan, Program
from memgraft.paper.measures import MEAN
from memgraft.paper.tests.earlier import Made, asked, keep, make, text_of, values
from memgraft.paper.tests.earlier import launch as zeroing_launch
from memgraft.tests.synthetic import SPREAD

MEASURED = [one.name for one in definition.definitions() if one.orderings]
EMULATED = [one.name for one in definition.definitions() if one.emulations]
ABSENT = [one.name for one in definition.definitions() if one.elsewhere and one.name.startswith("ordering-")]
TWO = [Place(0, "0", "0"), Place(1, "1", "0")]
"""One processor of two cores."""
SERVER = [Place(cpu, str(cpu % 12 % 6), str(cpu % 12 // 6)) for cpu in range(24)]
"""The dissertation's: two processors of six cores; CPUs 12 to 23 are the second hardware threads."""
SECONDS = {"stock": 1.0, "sc": 1.25, "sc-seed": 2.0} | {f"sc-relaxed-{n}": 1.2 - n / 100 for n in (1, 5, 10, 20)}
SAVINGS = ("sc-private-objects", "sc-final-loads", "sc-last-fences", "no-fences", "switches")
BY_BYTECODE = ("sc-bytecode", "speculative", "speculative-checks")
SECONDS |= dict.fromkeys((*SAVINGS, *BY_BYTECODE), 1.9)
SECONDS |= {f"sc-seed-relaxed-{n}": 1.8 - n / 100 for n in (1, 5, 10, 20)}
FIRST = 3.0
"""What a first iteration takes more than a steady one, and with an ordering once more."""
PROGRAMS = [
    *(Program(name) for name in ("luindex", "xalan")),
    *(Program(name, standalone=True) for name in ("sparksort", "sparkkmeans")),
    *(Program("xalan", threads, range(threads), "near", items=False) for threads in (1, 2)),
]
GRAFT = Graft(
    name="ordering",
    help="",
    choices=(
        GraftChoice("stock", "", joins=False),
        *(GraftChoice(name, "") for name in ("sc", "sc-seed", *SAVINGS, *BY_BYTECODE)),
    ),
    jvm_options=(),
    parameters=(Parameter(name="relaxed", value=declarations.Place(), help="", choices=("sc", "sc-seed")),),
)


@pytest.fixture
def _graft(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "GRAFTS", (GRAFT,))


def launch(strategy: str, number: int, factor: float) -> dict[str, Any]:
    made = zeroing_launch("bulk", number, 1.0) | {"side": strategy, "jvms": []}
    seconds = SECONDS[strategy] * SPREAD[number] * factor
    first = FIRST if strategy == "stock" else FIRST**2
    for iteration, times in zip(made["iterations"], (first, 1), strict=True):
        iteration["wall_seconds"] = seconds * times
    return made


def kept(folder: Path, programs: Sequence[Program] = PROGRAMS, **changes: Any) -> Path:
    """The output of an earlier one: two programs of DaCapo, one of which with 1 and 2 threads too, two of Spark."""
    # Two threads halve the time of the stock, and the cost of an order.
    costs = {"xalan": 1.1, "xalan-2-near": 0.9}
    launches = {
        program.name: [
            launch(strategy, number, 1.0 if strategy == "stock" else costs.get(program.name, 1.0))
            for number in range(1, 7)
            for strategy in SECONDS
        ]
        for program in programs
    }
    described = [asdict(program) | {"cpus": list(program.cpus)} for program in programs]
    grid_of = {"graft": "ordering", "programs": described, "left_out": {}, "asked": None} | changes
    return keep(folder, list(SECONDS), launches, **grid_of)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("paper")
    names = [name for name in MEASURED if name != "ordering-3.13"]
    return make(names, asked(kept(folder / "kept"), folder / "out"))


class TestNumbers:
    def test_seconds(self, made: Made) -> None:
        ours = values(made["ordering-3.2"])
        assert ours["luindex", "stock"] == pytest.approx(1.0, rel=0.01)
        assert ours["luindex", "sc-seed"] == pytest.approx(2.0, rel=0.01)
        assert not [row for row, _ in ours if row.startswith(MEAN)]

    def test_relative_to_the_stock(self, made: Made) -> None:
        ours = values(made["ordering-3.3"])
        assert ours["luindex", "sc"] == pytest.approx(1.25)
        assert ours["xalan", "sc-seed"] == pytest.approx(2.2)
        assert ours[MEAN, "sc"] == pytest.approx(1.25 * 1.1**0.5)
        assert {row for row, _ in ours} == {"luindex", "xalan", MEAN}
        assert values(made["ordering-3.15"]) == ours

    def test_each_figure_has_its_own_programs(self, made: Made) -> None:
        assert set(values(made["ordering-3.5"])) == {("sparksort", "sc"), ("sparksort", "sc-seed")}
        assert {row for row, _ in values(made["ordering-3.6"])} == {"sparkkmeans"}

    def test_a_mean_for_each_number_of_threads(self, made: Made) -> None:
        ours = values(made["ordering-3.11"])
        assert ours["xalan, 1 thread, CPUs 0", "sc"] == pytest.approx(1.25)
        assert ours["xalan, 2 threads, CPUs 0,1", "sc"] == pytest.approx(1.125)
        assert len(values(made["ordering-3.12"])) == 2 * 3
        assert made["ordering-3.11"]["measured"]["threads run"] == "1 thread, CPUs 0; 2 threads, CPUs 0,1"

    def test_relaxed_methods(self, made: Made) -> None:
        ours = values(made["ordering-3.14"])
        assert ours["luindex", "sc-seed"] == pytest.approx(2.0)
        assert ours["luindex", "sc-seed-relaxed-20"] == pytest.approx(1.6)
        assert ours["luindex", "sc-relaxed-1"] == pytest.approx(1.19)
        assert "hottest 1, 5, 10, 20 methods" in made["ordering-3.14"]["measured"]["relaxed"]

    def test_the_first_iteration(self, made: Made) -> None:
        ours = values(made["ordering-4.6"])
        assert ours["luindex", "sc"] == pytest.approx(1.25 * FIRST)

    def test_means_of_several_programs_with_threads(self, tmp_path: Path) -> None:
        both = [Program(name, n, range(n), "near") for name in ("xalan", "lusearch") for n in (1, 2)]
        [result] = work.make(["ordering-3.11"], asked(kept(tmp_path / "kept", both), tmp_path / "out"))
        ours = values(result)
        assert ours[f"{MEAN}, 1 thread, CPUs 0", "sc"] == pytest.approx(1.25)
        assert ours[f"{MEAN}, 2 threads, CPUs 0,1", "sc"] == pytest.approx(1.25 * 0.9**0.5)

    def test_programs_that_were_asked_for(self, tmp_path: Path) -> None:
        source = kept(tmp_path / "kept", [Program("sparksort")], asked="sparksort")
        [result] = work.make(["ordering-3.3"], asked(source, tmp_path / "out"))
        assert {row for row, _ in values(result)} == {"sparksort"}
        assert result["measured"]["workloads run"].startswith("sparksort (not: lusearch; luindex")

    def test_the_metric_that_was_asked_for(self, tmp_path: Path) -> None:
        source = kept(tmp_path / "kept")
        [result] = work.make(["ordering-4.6"], asked(source, tmp_path / "out", MetricName.ITERATION_CPU))
        assert set(values(result).values()) == {1.0}


@pytest.mark.parametrize("name", [name for name in MEASURED if name != "ordering-3.13"])
def test_the_page_stands_alone_and_says_both(made: Made, name: str) -> None:
    page = Path(made[name]["page"])
    body = text_of(page)
    for one in made[name]["published"]:
        assert one["value"] in body
    assert page.read_text().count("<figure>") == len(made[name]["ours"]) > 0


@pytest.mark.usefixtures("_graft")
class TestPlan:
    def plan(self, *names: str, choice: Choice | None = None, at: Sequence[Place] = TWO, of: str | None = None) -> Plan:
        wanted = [definition.find(name) for name in names]
        return orderings.plan(wanted, Asked("small", 6, 6, of, choice=choice or Choice()), at)

    def test_both_placements_against_the_stock(self) -> None:
        planned = self.plan("ordering-3.3")
        assert list(planned.strategies) == ["stock", "sc", "sc-seed"]
        assert [one.name for one in planned.programs][:2] == ["lusearch", "luindex"]
        assert planned.selection(planned.programs[0], "sc") == select({"ordering": "sc"})
        assert planned.total == 9 * 3 * 6
        words = planned.command(planned.programs[0])
        assert {"--jvm=-Xmx1g", "--jvm=-XX:+UseParallelGC"} <= set(words)
        assert "--threads" not in words

    def test_figures_of_the_same_programs_share_their_launches(self) -> None:
        names = ("ordering-3.2", "ordering-3.3", "ordering-3.15")
        assert self.plan(*names).total == self.plan("ordering-3.3").total

    def test_programs_have_the_strategies_of_their_figures_only(self) -> None:
        planned = self.plan("ordering-3.5", "ordering-3.14")
        own = {one.name: set(planned.strategies_of(one)) for one in planned.programs}
        assert own["sparksort-standalone"] == {"stock", "sc", "sc-seed"}
        relaxed = set(SECONDS) - {*SAVINGS, *BY_BYTECODE}
        assert own["luindex"] == relaxed
        assert planned.total == (3 * 3 + 4 * len(relaxed)) * 6

    def test_parts_that_are_processes_of_their_own(self) -> None:
        planned = self.plan("ordering-3.5", of="sparksort")
        [program] = planned.programs
        assert "--standalone" in planned.command(program)
        with pytest.raises(WrongUsageError, match="xalan has one process only, and the programs of ordering-3"):
            self.plan("ordering-3.5", of="sparksort,xalan")
        # Not where the figure is one of single processes.
        assert "--standalone" not in planned.command(self.plan("ordering-3.3", of="sparksort").programs[0])

    def test_each_saving_is_measured_alone(self) -> None:
        planned = self.plan("ordering-savings", of="luindex")
        assert set(planned.strategies_of(planned.programs[0])) == {"stock", "sc", "sc-seed", *SAVINGS}

    def test_starting_takes_one_iteration_a_launch(self) -> None:
        assert self.plan("ordering-4.6").iterations == 1
        assert self.plan("ordering-3.3", "ordering-4.6").iterations == 6

    def test_threads_have_cpus(self) -> None:
        planned = self.plan("ordering-3.11", of="xalan")
        assert [(one.name, list(one.cpus)) for one in planned.programs] == [
            ("xalan-1-near", [0]),
            ("xalan-2-near", [0, 1]),
        ]
        words = planned.command(planned.programs[1])
        assert words[words.index("--threads") + 1] == "2"
        assert "--items" not in words

    def test_more_threads_than_cpus_are_left_out(self) -> None:
        planned = self.plan("ordering-3.11", choice=Choice(threads="1,3"), of="xalan")
        assert [one.threads for one in planned.programs] == [1]
        assert planned.left_out == {"3 threads, near": "takes 3 CPUs of this machine; there are 2 in all"}
        with pytest.raises(CannotTakeError, match="nothing of it can run here: takes 3 CPUs"):
            self.plan("ordering-3.11", choice=Choice(threads="3"))

    def test_two_sockets(self) -> None:
        planned = self.plan("ordering-3.13", choice=Choice(threads="6"), at=SERVER, of="xalan")
        assert [(one.name, list(one.cpus)) for one in planned.programs] == [
            ("xalan-6-near", [0, 1, 2, 3, 4, 5]),
            ("xalan-6-sockets", [0, 1, 2, 6, 7, 8]),
        ]

    @pytest.mark.parametrize(
        ("name", "choice", "why"),
        [
            ("ordering-3.3", Choice(threads="2"), "--threads 2: ordering-3.3 runs with as many threads as CPUs"),
            ("ordering-3.11", Choice(threads="x"), "--threads x: expected numbers from 1"),
            ("ordering-3.3", Choice(tlabs="4k"), "--tlabs 4k: ordering-3.3 has no buffers"),
            ("ordering-3.3", Choice(heap="lots"), "--heap lots: expected a size"),
        ],
    )
    def test_what_cannot_be_chosen(self, name: str, choice: Choice, why: str) -> None:
        with pytest.raises(WrongUsageError) as refused:
            self.plan(name, choice=choice)
        assert why in str(refused.value)

    def test_an_ordering_that_the_graft_has_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """It would not join, and the stock be measured in its place."""
        monkeypatch.setattr(table, "GRAFTS", ())
        with pytest.raises(CannotTakeError, match="takes --ordering stock; of this Memgraft, --ordering is not there"):
            self.plan("ordering-3.3")


@pytest.mark.usefixtures("_graft")
class TestRelaxed:
    def test_each_strategy_has_a_file_of_its_hottest(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked_for = []

        def suggested(command: Sequence[str], ordering: str, count: int) -> list[str]:
            asked_for.append((command[1], ordering, count))
            return [f"A.m{number}()V" for number in range(count)]

        monkeypatch.setattr(orderings, "suggested", suggested)
        planned = orderings.plan([definition.find("ordering-3.14")], Asked("small", 6, 2, "xalan"), TWO)
        assert isinstance(planned, orderings.OrderingPlan)
        planned.find_relaxed(tmp_path)
        assert asked_for == [("xalan", "sc", 20), ("xalan", "sc-seed", 20)]
        [xalan] = planned.programs
        five = planned.selection(xalan, "sc-seed-relaxed-5")
        assert five.label == "sc-seed"
        assert Path(five.value("relaxed") or "").read_text().splitlines() == [f"A.m{number}()V" for number in range(5)]
        assert planned.selection(xalan, "sc-seed") == select({"ordering": "sc-seed"})

    @pytest.mark.parametrize(
        ("code", "out", "found"),
        [
            (0, '{\n"suggested_relaxed": ["A.b()V", "A.c()V", "A.d()V"]\n}\n', ["A.b()V", "A.c()V"]),
            (0, '{"suggested": []}\n', None),
            (0, "", None),
            (3, "", None),
        ],
    )
    def test_what_is_suggested(
        self, monkeypatch: pytest.MonkeyPatch, code: int, out: str, found: list[str] | None
    ) -> None:
        def captured(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
            assert {"--suggest-relaxed", "2", "sc", "xalan"} <= set(command)
            return subprocess.CompletedProcess(command, code, out, "memgraft: cannot\n")

        monkeypatch.setattr(orderings, "captured", captured)
        if found is None:
            with pytest.raises(MemgraftError, match="does not say which methods to relax"):
                orderings.suggested(["w", "xalan"], "sc", 2)
        else:
            assert orderings.suggested(["w", "xalan"], "sc", 2) == found


class TestCpus:
    """Which CPUs so many threads get, as the dissertation says of its machine."""

    @pytest.mark.parametrize("threads", [1, 3, 6, 9, 12, 24])
    def test_near(self, threads: int) -> None:
        assert orderings.near(threads, SERVER) == list(range(threads))

    def test_siblings_that_follow_each_other(self) -> None:
        paired = [Place(cpu, str(cpu // 2), "0") for cpu in range(4)]
        assert orderings.near(2, paired) == [0, 2]
        assert orderings.near(4, paired) == [0, 2, 1, 3]

    def test_not_so_many(self) -> None:
        assert orderings.near(3, TWO) is None
        assert orderings.across(2, TWO) is None
        assert orderings.across(3, SERVER) is None
        assert orderings.across(24, SERVER) == [*range(6), *range(12, 18), *range(6, 12), *range(18, 24)]

    def test_as_sysfs_says(self, tmp_path: Path) -> None:
        for cpu, core, package in ((0, 0, 0), (1, 0, 1)):
            folder = tmp_path / f"sys/devices/system/cpu/cpu{cpu}/topology"
            folder.mkdir(parents=True)
            (folder / "core_id").write_text(f"{core}\n")
            (folder / "physical_package_id").write_text(f"{package}\n")
        assert places([1, 0], tmp_path) == [Place(0, "0", "0"), Place(1, "0", "1")]
        assert places([0], tmp_path / "nowhere") == [Place(0, "0", "")]


class TestRefusals:
    def test_zeroing_and_orderings_share_no_launches(self, tmp_path: Path) -> None:
        with pytest.raises(WrongUsageError, match="no launches in common; expected figures of"):
            work.make(["ordering-3.3", "zeroing-5.1"], asked(tmp_path, tmp_path / "out"))

    def test_a_grid_that_has_nothing_of_it(self, tmp_path: Path) -> None:
        source = kept(tmp_path / "kept", [Program("xalan")])
        with pytest.raises(WrongUsageError, match=r"has no launches of ordering-3\.5; measure again"):
            work.make(["ordering-3.5"], asked(source, tmp_path / "out"))

    def test_a_grid_cut_short(self, tmp_path: Path) -> None:
        source = kept(tmp_path / "kept")
        log = source / "grid/luindex/launches.jsonl"
        log.write_text("\n".join(log.read_text().splitlines()[1:]))
        with pytest.raises(WrongUsageError, match="has 5 launches of luindex with stock, expected 6"):
            work.make(["ordering-3.3"], asked(source, tmp_path / "out"))

    @pytest.mark.parametrize("name", ABSENT)
    def test_other_machines_and_designs(self, name: str) -> None:
        with pytest.raises(CannotTakeError, match=r"is not measured here: takes .* Arm"):
            work.chosen([name])

    def test_one_socket(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(machine, "kinds", lambda: {"processor": 1})
        with pytest.raises(CannotTakeError, match="takes CPUs of 2 sockets; this machine has 1"):
            work.chosen(["ordering-3.13"])
        monkeypatch.setattr(machine, "kinds", lambda: {"processor": 2})
        assert [one.name for one in work.chosen(["ordering-3.13"])] == ["ordering-3.13"]


class TestDefinitions:
    def test_every_figure_of_the_two_chapters(self) -> None:
        ours = [one for one in definition.definitions() if one.name.startswith("ordering-")]
        spelled = {name.removeprefix("ordering-") for one in ours for name in (one.name, *one.aliases)}
        chapters = {f"3.{figure}" for figure in range(2, 25)} | {f"4.{figure}" for figure in range(4, 9)}
        assert spelled == chapters | {"engines", "engines-arm", "savings"}
        assert {one.name for one in ours} == {*MEASURED, *EMULATED, *ABSENT}

    def test_in_the_order_of_their_numbers(self) -> None:
        names = [one.name for one in definition.definitions() if one.name.startswith("ordering-")]
        assert names.index("ordering-3.3") < names.index("ordering-3.10") < names.index("ordering-4.4")

    def test_its_workloads_are_there(self) -> None:
        for one in definition.definitions():
            if one.orderings:
                assert one.programs is not None
                assert set(one.programs.workloads) <= set(grid.known_workloads())


def test_the_command(memgraft: Memgraft) -> None:
    kept(memgraft.folder / "kept")
    shown = memgraft("paper", "ordering-3.3", "--from", "kept", "--output", "out")
    assert shown.code == 0, shown.err
    assert "2.20 [" in shown.out
    assert "a slowdown of 28%" in shown.out
    assert "workloads run: luindex; xalan (not: lusearch" in " ".join(shown.out.split())
    assert memgraft("paper", "ordering-3.21").code == 3
