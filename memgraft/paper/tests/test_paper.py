"""The papers' tables and figures: their definitions, their numbers from launches that were kept, their pages."""

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path

import pytest

from memgraft.conftest import Memgraft
from memgraft.errors import CannotTakeError, MemgraftError, WrongUsageError
from memgraft.experiment.metrics import MetricName
from memgraft.paper import definition, grid, work
from memgraft.paper.asked import Asked
from memgraft.paper.measures import MEAN
from memgraft.paper.tests.earlier import STRATEGIES, Made, asked, keep, launch, make, values
from memgraft.report.tests.test_report import HOSTILE, Reader
from memgraft.tests.synthetic import MACHINE, SPREAD

KERNELS = ("memset", "word-4", "avx2", "non-temporal-64")
EVERY = [one for one in definition.definitions() if one.family == "zeroing" and not (one.needs or one.elsewhere)]


def kept(folder: Path, strategies: Sequence[str] = STRATEGIES, launches: int = 6, most_threads: int = 4) -> Path:
    """The output of an earlier one: a grid of two workloads, and a benchmark of kernels."""
    numbers = range(1, launches + 1)
    programs = {
        workload: [launch(strategy, number, factor) for number in numbers for strategy in strategies]
        for workload, factor in (("one", 1.0), ("two", 2.0))
    }
    keep(folder, strategies, programs, launches=launches)
    results = [
        {
            "kernel": kernel,
            "mode": mode,
            "bytes": size,
            "threads": threads,
            "gigabytes_per_second_repetitions": [speed * s / threads**0.5 for s in SPREAD],
        }
        for threads in range(1, most_threads + 1)
        for mode in ("resident", "streaming")
        for size in (64, 1024, 4096, 65536)
        for speed, kernel in enumerate(KERNELS, 1)
    ]
    bench = {
        "kernels": list(KERNELS),
        "machine": MACHINE,
        "repetitions": 10,
        "results": results,
        "chosen": {"ordinary": "avx2", "non_temporal": "non-temporal-64"},
    }
    (folder / "bench.json").write_text(json.dumps(bench))
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Every table and figure, from launches whose numbers are known."""
    folder = tmp_path_factory.mktemp("paper")
    return make([one.name for one in EVERY], asked(kept(folder / "kept"), folder / "out"))


class TestNumbers:
    def test_time_relative_to_hot_path(self, made: Made) -> None:
        ours = values(made["zeroing-5.11"])
        assert ours["one", "adaptive"] == pytest.approx(0.9)
        assert ours["two", "concurrent"] == pytest.approx(1.2)
        assert ours[MEAN, "non-temporal"] == pytest.approx(0.99)
        assert set(values(made["zeroing-5.11"], 1).values()) == {7}

    def test_time_relative_to_bulk(self, made: Made) -> None:
        assert values(made["zeroing-5.10"])["one", "adaptive"] == pytest.approx(0.9 / 1.1)
        assert values(made["zeroing-5.2a"])["one", "hot-path"] == pytest.approx(1 / 1.1)
        assert values(made["zeroing-5.7a"])[MEAN, "non-temporal"] == pytest.approx(0.99 / 1.1)
        assert values(made["zeroing-table-5.1"], 1)["one", "concurrent"] == pytest.approx(1.2 / 1.1)

    def test_what_the_agent_counted(self, made: Made) -> None:
        assert values(made["zeroing-5.1"])["one", "bulk"] == pytest.approx(3 / 8 / 6)
        assert values(made["zeroing-5.4"])["two", "bulk"] == pytest.approx(8.0)
        assert values(made["zeroing-5.5"])["two", "bulk"] == pytest.approx(1.5)
        assert values(made["zeroing-5.6"])["one", "non-temporal"] == pytest.approx(2.0)
        assert values(made["zeroing-5.9"])["one", "concurrent"] == pytest.approx(0.5)
        allocated, rate, _ = (values(made["zeroing-table-4.1"], part)["one", "bulk"] for part in range(3))
        assert allocated == pytest.approx(2000)
        assert rate == pytest.approx(1.0)

    def test_kernels(self, made: Made) -> None:
        assert values(made["zeroing-3.1"])["4096", "non-temporal-64"] == pytest.approx(4 / 3, rel=0.01)
        assert values(made["zeroing-3.1"], 1)["4096", "non-temporal-64"] == pytest.approx(4 / 3, rel=0.01)
        assert values(made["zeroing-3.1"], 2)["4096", "avx2"] == pytest.approx(2.0, rel=0.01)
        assert "(one thread, 4 threads)" in made["zeroing-3.1"]["ours"][2]["title"]
        assert {row for row, _ in values(made["power-zeroing-1"])} == {"64", "1024"}
        assert {row for row, _ in values(made["power-zeroing-2"])} == {"4096", "65536"}
        assert values(made["power-zeroing-2"])["4096", "avx2"] == pytest.approx(1.5, rel=0.01)
        assert "word-4" not in {series for _, series in values(made["power-zeroing-2"])}

    def test_a_machine_of_one_cpu(self, tmp_path: Path) -> None:
        [result] = work.make(["zeroing-3.1"], asked(kept(tmp_path / "k", most_threads=1), tmp_path / "o"))
        assert len(result["ours"]) == 1
        assert "one CPU only" in result["measured"]["several threads"]

    def test_intervals_hold_their_medians(self, made: Made) -> None:
        for result in made.values():
            for cell in (cell for part in result["ours"] for cell in part["cells"]):
                assert cell["low"] <= cell["median"] <= cell["high"]

    def test_another_metric(self, tmp_path: Path) -> None:
        [result] = work.make(["zeroing-5.10"], asked(kept(tmp_path / "k"), tmp_path / "o", MetricName.ITERATION_CPU))
        assert values(result)["one", "adaptive"] == pytest.approx(0.9 / 1.1)
        assert "iteration-cpu" in result["measured"]["time"]


class TestPage:
    @pytest.mark.parametrize("name", [one.name for one in EVERY])
    def test_stands_alone_and_says_both(self, made: Made, name: str) -> None:
        text = Path(made[name]["page"]).read_text()
        reader = Reader()
        reader.feed(text)
        body = " ".join(reader.text.split())
        for one in made[name]["published"]:
            assert one["value"] in body
        assert made[name]["source"] in body
        assert ("another JVM" in body) is bool(definition.find(name).grid)
        assert "default-src 'none'" in text
        assert not [tag for tag, attributes in reader.tags if tag in ("img", "link") or "src" in attributes]
        assert text.count("<figure>") == len(made[name]["ours"])
        assert HOSTILE not in text


class TestDefinitions:
    def test_everything_the_papers_show_is_there(self) -> None:
        names = {one.name for one in definition.definitions()}
        assert {
            f"zeroing-{item}" for item in ("3.1", "5.1", "5.2a", "5.4", "5.6", "5.7a", "5.9", "5.10", "5.11")
        } <= names
        assert {"zeroing-table-4.1", "zeroing-table-5.1", "power-zeroing-1", "power-zeroing-2"} <= names

    def test_no_alias_is_a_name_or_used_twice(self) -> None:
        spelled = [name for one in definition.definitions() for name in (one.name, *one.aliases)]
        assert len(spelled) == len(set(spelled))

    @pytest.mark.parametrize(
        ("typed", "name"),
        [
            ("zeroing-5.1", "zeroing-5.1"),
            ("zeroing-figure-5.1", "zeroing-5.1"),
            ("zeroing-fig-5.1a", "zeroing-5.1"),
            ("zeroing-table-5.1", "zeroing-table-5.1"),
            ("zeroing-4.1", "zeroing-table-4.1"),
            ("Zeroing-5.7", "zeroing-5.7a"),
            ("power-zeroing-figure-2", "power-zeroing-2"),
        ],
    )
    def test_other_spellings(self, typed: str, name: str) -> None:
        assert definition.find(typed).name == name

    def test_tables_are_whole(self) -> None:
        for one in definition.definitions():
            if one.table:
                assert all(len(row) == len(one.table.columns) for row in one.table.rows)
        table = definition.find("zeroing-table-4.1").table
        assert table is not None
        assert len(table.rows) == 20

    @pytest.mark.parametrize("text", ["title = 1", "title =", 'title = "t"\nsurprise = 1'])
    def test_a_wrong_one_is_named(self, tmp_path: Path, text: str) -> None:
        file = tmp_path / "x.toml"
        file.write_text(text)
        with pytest.raises(MemgraftError, match=r"x\.toml defines no table or figure"):
            definition.read(file)

    def test_the_wheel_carries_them(self) -> None:
        build = tomllib.loads((grid.CHECKOUT / "pyproject.toml").read_text())
        packages = build["tool"]["scikit-build"]["wheel"]["packages"]
        checkout, installed = (place.relative_to(grid.CHECKOUT).as_posix() for place in definition.PLACES)
        carried = {f"{installed}/{family}": f"{checkout}/{family}" for family in definition.FAMILIES}
        assert packages == {"memgraft": "memgraft", **carried}
        assert all((grid.CHECKOUT / folder).is_dir() for folder in carried.values())


class TestRefusals:
    def test_counters_that_are_not_counted(self) -> None:
        with pytest.raises(CannotTakeError, match=r"zeroing-5\.3 \(figure 5\.3\) is not measured here: needs bus"):
            work.chosen(["zeroing-5.3"])

    def test_unknown(self) -> None:
        with pytest.raises(WrongUsageError, match=r"no table or figure 'zeroing-9'; `memgraft paper` lists them"):
            work.chosen(["zeroing-9"])

    def test_no_grid(self, tmp_path: Path) -> None:
        with pytest.raises(WrongUsageError, match="no grid of launches that can be read"):
            work.make(["zeroing-5.1"], asked(tmp_path / "nowhere", tmp_path / "out"))

    def test_a_strategy_that_was_not_run(self, tmp_path: Path) -> None:
        source = kept(tmp_path / "kept", ["bulk"])
        with pytest.raises(WrongUsageError, match="has 0 launches of one with hot-path, expected 6"):
            work.make(["zeroing-5.2a"], asked(source, tmp_path / "out"))

    def test_a_grid_cut_short(self, tmp_path: Path) -> None:
        source = kept(tmp_path / "kept", ["bulk"])
        log = source / "grid/two/launches.jsonl"
        log.write_text("\n".join(log.read_text().splitlines()[:-1]))
        with pytest.raises(WrongUsageError, match="has 5 launches of two with bulk, expected 6"):
            work.make(["zeroing-5.1"], asked(source, tmp_path / "out"))

    def test_no_benchmark(self, tmp_path: Path) -> None:
        with pytest.raises(WrongUsageError, match="no benchmark of kernels"):
            work.make(["power-zeroing-1"], asked(tmp_path, tmp_path / "out"))

    def test_plans(self) -> None:
        with pytest.raises(WrongUsageError, match="there is no 'nope'; expected some of churn, h2"):
            grid.plan(["bulk"], Asked("small", 6, 2, "churn,nope"))
        with pytest.raises(WrongUsageError, match="--launches 5: expected at least 6"):
            grid.plan(["bulk"], Asked("small", 5, 2))

    def test_without_elision_is_the_stock_with_two_flags(self) -> None:
        planned = grid.plan(["hot-path", "hot-path without elision", "bulk"], Asked("small", 6, 2, "churn"))
        [churn] = planned.programs
        stock, without, bulk = (planned.command(churn, strategy) for strategy in planned.strategies)
        assert set(without) - set(stock) == {"--jvm=-XX:-ReduceFieldZeroing", "--jvm=-XX:-ReduceBulkZeroing"}
        assert bulk == stock
        joins = [planned.selection(churn, strategy).joins() for strategy in planned.strategies]
        assert joins == [False, False, True]

    def test_not_in_a_checkout(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setattr(grid, "CHECKOUT", tmp_path)
        with pytest.raises(CannotTakeError, match=r"run `bin/memgraft paper` in a checkout"):
            grid.plan(["bulk"], Asked("small", 6, 2))


def test_the_command(memgraft: Memgraft) -> None:
    listed = memgraft("paper")
    assert listed.code == 0
    assert re.search(r"^zeroing-5\.11 +Execution time", listed.out, re.MULTILINE)
    assert "needs bus transactions" in listed.out
    entries = {entry["name"]: entry for entry in memgraft("paper", "--json").json()["papers"]}
    assert entries["zeroing-5.11"]["absent"] is None
    kept(memgraft.folder / "kept")
    words = ("zeroing-5.11", "zeroing-5.1", "--from", "kept", "--output", "out")
    shown = memgraft("paper", *words)
    assert shown.code == 0, shown.err
    assert re.search(r"one +0\.9\d+ \[.*\] +1\.20 \[.*\] +0\.900 \[", shown.out)
    assert re.search(r"adaptive, average, i7-2600 +improves by 2\.7% +5\.6", shown.out)
    assert (memgraft.folder / "out/zeroing-5.1.html").is_file()
    again = memgraft("paper", *words)
    assert again.code == 2
    assert "is not an empty folder" in again.error
    assert memgraft("paper", "zeroing-5.8").code == 3
