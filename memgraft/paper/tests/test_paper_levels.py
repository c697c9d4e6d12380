"""The figures of allocation buffers: what is run, what is left out and why, and numbers of known launches."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from memgraft.conftest import Memgraft
from memgraft.errors import WrongUsageError
from memgraft.paper import definition, levels, work
from memgraft.paper.asked import Asked, Choice
from memgraft.paper.grid import Plan
from memgraft.paper.measures import MEAN
from memgraft.paper.tests.earlier import Made, asked, keep, make, text_of, values
from memgraft.paper.tests.earlier import launch as zeroing_launch
from memgraft.tests.synthetic import SPREAD

NAMES = [one.name for one in definition.definitions() if one.levels]
TWO_CORES = {"cpu": 2, "core": 2, "processor": 1, "node": 1}
PAPERS = {"cpu": 80, "core": 40, "processor": 4, "node": 4}
LEFT_OUT = {"core=1m,processor=16m,node=64m": "this machine has as many nodes as processors (1)"}
ATOMIC = "thread=4k,core=1m --take atomic"
SECONDS = {
    ATOMIC: 1.0,
    "thread=growing": 1.0,
    "thread=4k": 2.0,
    "thread=4k,core=512k": 0.8,
    "thread=4k,core=1m": 1.6,
    "thread=growing,core=512k": 1.25,
    "thread=growing,core=1m": 0.5,
}
FOREIGN = {
    "thread=4k,core=512k": (3, 10_000),
    "thread=4k,core=1m": (7, 1000),
    "thread=growing,core=512k": (0, 0),
    ATOMIC: (9, 1000),
}
COLLECTIONS = {"thread=growing": 10, "thread=4k": 20, "thread=4k,core=512k": 5, "thread=4k,core=1m": 8}
LOST = {"thread=4k,core=512k": (1, 2), "thread=4k,core=1m": (0, 40)}
"""Of 1,000 bytes: at refills, at collections."""


def launch(strategy: str, number: int) -> dict[str, Any]:
    made = zeroing_launch("bulk", number, 1.0) | {"side": strategy}
    seconds = SECONDS[strategy] * SPREAD[number]
    for iteration in made["iterations"]:
        iteration["wall_seconds"] = seconds
        iteration["collections"] = COLLECTIONS.get(strategy, 7)
    foreign, taken = FOREIGN.get(strategy, (1, 100))
    time = {"requests": 0, "median_nanoseconds": 0.0, "p99_nanoseconds": 0.0, "highest_nanoseconds": 0.0}
    zeros = dict.fromkeys(("refills", "contended", "moved"), 0)
    at_refills, at_collections = LOST.get(strategy, (0, 0))
    zeros |= {"waste_at_refills_bytes": at_refills, "waste_at_collections_bytes": at_collections}
    zeros["taken_bytes"] = 1000 if taken else 0
    level = {"kind": "core", "bytes": 2**20, "buffers": 2, "take": "restartable", "taken": taken, "foreign": foreign}
    level |= {"foreign_percent": 0.0, "latency": time, **zeros}
    [jvm] = made["jvms"]
    jvm["grafts"] = {"buffers": {"levels": [level] if "core" in strategy else []}}
    if strategy == "thread=growing":
        made["jvms"] = []
    return made


def kept(folder: Path, strategies: Sequence[str] = tuple(SECONDS), launches: int = 6) -> Path:
    """The output of an earlier one: javac with 2 and 80 threads."""
    found = [launch(strategy, number) for number in range(1, launches + 1) for strategy in strategies]
    return keep(
        folder,
        strategies,
        {"javac-2": found, "javac-80": found},
        graft="buffers",
        programs=[{"workload": "javac", "threads": threads} for threads in (2, 80)],
        launches=launches,
        left_out=LEFT_OUT,
    )


def part_of(result: dict[str, Any], title: str) -> dict[tuple[str, str], float]:
    """What a part shows of 2 threads: medians by row and series."""
    [table] = [one for one in result["ours"] if one["title"] == f"{title}: javac, 2 threads"]
    return {(cell["row"], cell["series"]): cell["median"] for cell in table["cells"]}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("paper")
    names = [name for name in NAMES if name != "buffers-table-1"]
    return make(names, asked(kept(folder / "kept"), folder / "out"))


class TestNumbers:
    def test_speed_up_over_the_same_tlabs(self, made: Made) -> None:
        [two, eighty, *_] = made["buffers-figure-2"]["ours"]
        assert two["title"] == "(b) speed-up with CLABs over the same TLABs without: javac, 2 threads"
        assert eighty["title"].endswith("javac, 80 threads")
        ours = values(made["buffers-figure-2"])
        assert ours["4k TLABs", "core=512k"] == pytest.approx(2.5)
        assert ours["growing TLABs", "core=512k"] == pytest.approx(0.8)
        assert ours[MEAN, "core=512k"] == pytest.approx(2**0.5)
        assert ours["4k TLABs", "core=1m"] == pytest.approx(1.25)

    def test_speed_up_over_growing_tlabs(self, made: Made) -> None:
        ours = values(made["buffers-figure-3"], 1)
        assert ours["4k TLABs", "core=512k"] == pytest.approx(1.25)
        assert ours["4k TLABs", "core=1m"] == pytest.approx(0.625)
        assert ours["growing TLABs", "core=1m"] == pytest.approx(2.0)

    def test_foreign_allocations(self, made: Made) -> None:
        ours = part_of(made["buffers-table-2"], "foreign allocations, CLABs, by restartable sequences where possible")
        assert ours["4k TLABs", "core=512k"] == pytest.approx(0.0003)
        assert ours["4k TLABs", "core=1m"] == pytest.approx(0.007)
        assert (MEAN, "core=1m") not in ours

    def test_foreign_allocations_by_compare_and_swap_are_a_table_of_their_own(self, made: Made) -> None:
        [atomic, *_] = [one for one in made["buffers-table-2"]["ours"] if "by compare-and-swap" in one["title"]]
        [cell] = atomic["cells"]
        assert (cell["row"], cell["series"]) == ("4k TLABs", "core=1m")
        assert cell["median"] == pytest.approx(0.009)

    def test_collections_with_over_collections_without(self, made: Made) -> None:
        same = part_of(made["buffers-figure-2"], "(b) collections with CLABs, relative to the same TLABs without")
        assert same["4k TLABs", "core=512k"] == pytest.approx(5 / 20)
        assert same["4k TLABs", "core=1m"] == pytest.approx(8 / 20)
        assert same["growing TLABs", "core=512k"] == pytest.approx(7 / 10)
        assert same[MEAN, "core=512k"] == pytest.approx((5 / 20 * 7 / 10) ** 0.5)
        growing = part_of(made["buffers-figure-3"], "(b) collections with CLABs, relative to growing TLABs without")
        assert growing["4k TLABs", "core=512k"] == pytest.approx(5 / 10)

    def test_bytes_that_buffers_lost(self, made: Made) -> None:
        lost = part_of(made["buffers-figure-2"], "(b) bytes lost in CLABs")
        assert lost["4k TLABs", "core=512k"] == pytest.approx(0.003)
        assert lost["4k TLABs", "core=1m"] == pytest.approx(0.04)
        assert ("growing TLABs", "core=512k") not in lost, "the buffers were never asked"

    def test_no_collections_where_the_program_counts_none(self, tmp_path: Path) -> None:
        source = kept(tmp_path / "kept")
        for log in source.glob("grid/*/launches.jsonl"):
            log.write_text(re.sub(r', "collections": \d+', "", log.read_text()))
        [result] = work.make(["buffers-figure-2"], asked(source, tmp_path / "out"))
        assert not [one for one in result["ours"] if "collections" in one["title"]]
        assert [one for one in result["ours"] if "speed-up" in one["title"]]

    def test_no_mean_of_what_was_not_collected_at_all(self, tmp_path: Path) -> None:
        source = kept(tmp_path / "kept")
        for log in source.glob("grid/*/launches.jsonl"):
            log.write_text(log.read_text().replace('"collections": 5', '"collections": 0'))
        [result] = work.make(["buffers-figure-2"], asked(source, tmp_path / "out"))
        same = part_of(result, "(b) collections with CLABs, relative to the same TLABs without")
        assert same["4k TLABs", "core=512k"] == 0
        assert (MEAN, "core=512k") not in same
        assert (MEAN, "core=1m") in same

    def test_no_share_where_nothing_was_asked_of_the_buffers(self, made: Made) -> None:
        for table in made["buffers-table-2"]["ours"]:
            assert ("growing TLABs", "core=512k") not in {(cell["row"], cell["series"]) for cell in table["cells"]}

    def test_it_says_which_part_was_run(self, made: Made) -> None:
        measured = made["buffers-four-levels"]["measured"]
        assert measured["TLABs run"] == "4k; growing (not: 16k; 64k)"
        assert measured["threads run"] == "2; 80 (not: 16)"
        assert measured["workloads run"] == "javac (not: lusearch)"
        [left_out] = [of for of in measured if of.startswith("left out: ")]
        assert left_out.endswith("node=64m")
        assert "as many nodes" in measured[left_out]
        assert measured["level core"] == "2 buffers, restartable"

    def test_one_row_and_no_mean(self, tmp_path: Path) -> None:
        source = kept(tmp_path / "kept")
        [result] = work.make(
            ["buffers-figure-2"], asked(source, tmp_path / "out", choice=Choice(tlabs="4k", sizes="1m"))
        )
        assert set(values(result)) == {("4k TLABs", "core=1m")}


@pytest.mark.parametrize("name", [name for name in NAMES if name != "buffers-table-1"])
def test_the_page_stands_alone_and_says_both(made: Made, name: str) -> None:
    page = Path(made[name]["page"])
    body = text_of(page)
    for one in made[name]["published"]:
        assert one["value"] in body
    assert "4k; growing" in body
    assert page.read_text().count("<figure>") == len(made[name]["ours"])


class TestPlan:
    def plan(self, name: str, choice: Choice, kinds: dict[str, int] | None = None) -> Plan:
        return levels.plan([definition.find(name)], Asked("small", 6, 2, choice=choice), kinds or TWO_CORES)

    def test_all_of_figure_2(self) -> None:
        """Under each of 6 TLAB sizes nothing, 5 PLABs and 4 CLABs; 2 workloads, 3 numbers of threads."""
        planned = self.plan("buffers-figure-2", Choice())
        assert len(planned.strategies) == 6 * (1 + 5 + 4)
        assert planned.total == 60 * 2 * 3 * 6
        assert planned.left_out == {}
        assert planned.strategies[:2] == ["thread=1k", "thread=1k,processor=4m"]

    def test_figures_2_and_3_are_of_the_same_launches(self) -> None:
        first, second = (self.plan(f"buffers-figure-{number}", Choice()) for number in (2, 3))
        both = levels.plan([definition.find(f"buffers-figure-{n}") for n in (2, 3)], Asked("small", 6, 2))
        assert set(both.strategies) == set(first.strategies)
        assert set(second.strategies) <= set(first.strategies)

    def test_the_command(self) -> None:
        planned = self.plan("buffers-table-2", Choice(threads="80", heap="1536m", tlabs="4k", sizes="1m"))
        [javac, _] = planned.programs
        words = planned.command(javac)
        assert words[1] == "javac"
        assert {"--jvm=-Xmx1536m", "--jvm=-Xmn512m", "--jvm=-XX:+UseParallelGC"} <= set(words)
        assert words[words.index("--threads") + 1] == words[words.index("--items") + 1] == "80"
        assert list(planned.strategies) == ["thread=4k,core=1m --take atomic", "thread=4k,core=1m"]
        atomic, as_possible = (planned.selection(javac, strategy) for strategy in planned.strategies)
        assert atomic.agent_options == ["buffers=core:1048576", "take=atomic"]
        assert as_possible.agent_options == ["buffers=core:1048576"]

    @pytest.mark.parametrize("feature", [17, 21, 25, None])
    def test_without_tlabs_where_the_jdk_can(self, feature: int | None) -> None:
        kinds = {**TWO_CORES, "processor": 1}
        of_table = [definition.find("buffers-table-1")]
        planned = levels.plan(of_table, Asked("small", 6, 2, choice=Choice(sizes="4m")), kinds, feature)
        can = feature != 17
        assert ("thread=none,processor=4m" in planned.strategies) == can
        assert len(planned.strategies) == (9 if can else 8)
        left_out = {} if can else {"no TLABs": "needs JDK 21 or 25, found JDK 17; JAVA_HOME chooses another"}
        assert planned.left_out == left_out

    def test_nothing_is_left_of_a_row_that_the_jdk_cannot_have(self) -> None:
        with pytest.raises(WrongUsageError, match="nothing of it can run here: needs JDK 21 or 25"):
            levels.plan(
                [definition.find("buffers-table-1")],
                Asked("small", 6, 2, choice=Choice(tlabs="none", sizes="4m")),
                {**TWO_CORES, "processor": 1},
                17,
            )

    def test_what_does_not_fit_is_left_out_and_why(self) -> None:
        planned = self.plan("buffers-table-2", Choice(heap="3g"), PAPERS)
        assert planned.left_out == {
            "core=16m": "40 buffers of 16m are more than half of the eden (768m); a larger --heap holds them"
        }
        assert not [name for name in planned.strategies if "core=16m" in name]

    def test_a_level_that_adds_nothing_is_left_out(self) -> None:
        planned = self.plan("buffers-four-levels", Choice())
        assert list(planned.left_out) == ["core=1m,processor=16m,node=64m"]
        assert "as many nodes as processors (1)" in next(iter(planned.left_out.values()))

    @pytest.mark.parametrize(
        ("choice", "why"),
        [
            (Choice(threads="2,x"), "--threads 2,x: expected numbers from 1"),
            (Choice(threads="0"), "--threads 0: expected numbers from 1"),
            (Choice(tlabs="3k"), "--tlabs 3k: nothing of buffers-figure-2 is left; expected some of --tlabs 1k,4k"),
            (Choice(sizes="3m"), "--sizes 3m: nothing of buffers-figure-2 is left"),
            (Choice(heap="lots"), "--heap lots: expected a size such as 512m or 3g"),
            (Choice(heap="16m", sizes="64m"), "nothing of it can run here: 1 buffer of 64m are more than half"),
        ],
    )
    def test_what_cannot_be_chosen(self, choice: Choice, why: str) -> None:
        with pytest.raises(WrongUsageError) as refused:
            self.plan("buffers-figure-2", choice)
        assert why in str(refused.value)


class TestRefusals:
    def test_zeroing_and_buffers_share_no_launches(self, tmp_path: Path) -> None:
        with pytest.raises(WrongUsageError, match="no launches in common"):
            work.make(["buffers-figure-2", "zeroing-5.1"], asked(tmp_path, tmp_path / "out"))

    def test_zeroing_has_nothing_to_choose(self, tmp_path: Path) -> None:
        with pytest.raises(WrongUsageError, match=r"--tlabs 4k: zeroing-5\.1 does not take it"):
            work.make(["zeroing-5.1"], asked(tmp_path, tmp_path / "out", choice=Choice(tlabs="4k")))

    def test_a_grid_that_has_nothing_of_it(self, tmp_path: Path) -> None:
        source = kept(tmp_path / "kept")
        with pytest.raises(WrongUsageError, match="none that this figure shows"):
            work.make(["buffers-table-1"], asked(source, tmp_path / "out"))

    def test_a_grid_cut_short(self, tmp_path: Path) -> None:
        source = kept(tmp_path / "kept")
        log = source / "grid/javac-80/launches.jsonl"
        log.write_text("\n".join(log.read_text().splitlines()[:-1]))
        with pytest.raises(WrongUsageError, match="has 5 launches of javac-80 with thread=growing,core=1m, expected 6"):
            work.make(["buffers-figure-2"], asked(source, tmp_path / "out"))


class TestDefinitions:
    def test_every_table_and_figure_of_the_paper(self) -> None:
        figures = {f"buffers-{one}" for one in ("figure-2", "figure-3", "table-1", "table-2", "four-levels")}
        assert set(NAMES) == figures

    @pytest.mark.parametrize("typed", ["buffers-figure-2", "buffers-fig-2", "buffers-figure-2b", "Buffers-2"])
    def test_other_spellings(self, typed: str) -> None:
        assert definition.find(typed).name == "buffers-figure-2"

    def test_rows_and_columns_are_those_of_the_published_tables(self) -> None:
        for name, rows in (("buffers-table-1", 9), ("buffers-table-2", 6)):
            one = definition.find(name)
            assert one.table is not None
            assert len(one.table.rows) == rows
            tlabs = [row[0].lower().removesuffix("b") for row in one.table.rows]
            assert ["none" if tlab == "no" else tlab for tlab in tlabs] == one.levels[0].tlabs
            assert len(one.table.columns) == 1 + len(one.levels[0].levels)

    def test_every_combination_can_be_asked_for(self) -> None:
        for part in (part for name in NAMES for part in definition.find(name).levels):
            assert all(levels.under_all(part))

    def test_what_is_relative_has_its_baseline(self) -> None:
        part = {"title": "x", "tlabs": ["1k"], "levels": ["core=1m"]}
        for quantity, relative in (("speed-up", None), ("collections", None), ("waste", "same TLABs")):
            with pytest.raises(ValidationError, match="relative to something"):
                definition.LevelsPart.model_validate(part | {"quantity": quantity, "relative_to": relative})


def test_the_command(memgraft: Memgraft) -> None:
    kept(memgraft.folder / "kept")
    shown = memgraft("paper", "buffers-figure-2", "--tlabs", "4k", "--from", "kept", "--output", "out")
    assert shown.code == 0, shown.err
    assert "javac, 80 threads" in shown.out
    assert "2.50 [" in shown.out
    assert "TLABs run: 4k; growing (not: 1k; 16k; 64k; 128k)" in " ".join(shown.out.split())
    assert "CLABs perform on average slightly better" in shown.out
    assert memgraft("paper", "buffers-figure-2", "zeroing-5.1", "--from", "kept", "--output", "o").code == 2
