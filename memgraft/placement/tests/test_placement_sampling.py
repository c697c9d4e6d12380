"""The distance metric and the ways of sampling, on streams whose truth is known, and on a small kernel."""

import json
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memgraft.errors import MemgraftError
from memgraft.placement import placement_sampling as sampling


def test_distance() -> None:
    assert sampling.distance(50, 100, 5, 10) == 0
    assert sampling.distance(50, 100, 10, 10) == pytest.approx(1)
    assert sampling.distance(50, 100, 0, 10) == pytest.approx(1)
    assert sampling.distance(10, 100, 2, 10) == pytest.approx(1)
    assert sampling.distance(0, 100, 0, 10) is None
    assert sampling.distance(5, 100, 0, 0) is None
    with pytest.raises(ValueError, match="101 of 100"):
        sampling.distance(101, 100, 1, 1)
    with pytest.raises(ValueError, match="3 of 2"):
        sampling.distance(1, 100, 3, 2)


def test_published_average_is_that_of_the_published_distances() -> None:
    """So that the table was read right; the paper rounds to two digits."""
    published = tomllib.loads(sampling.DEFINITION.read_text())["published"]
    for name, distances in published["distance"].items():
        assert len(distances) == 6
        assert sum(distances) / 6 == pytest.approx(published["average"][name], abs=0.011)


def test_rows() -> None:
    row = sampling.compare([60, 40], 10, sampling.Sampled(64, [3, 1], 4))
    assert row.distances == pytest.approx([0.25, 0.375])
    assert row.average == pytest.approx(0.3125)
    assert (row.percent_sampled, row.percent_pages) == (4, 40)
    empty = sampling.compare([60, 40], 10, sampling.Sampled(64, [0, 0], 0))
    assert (empty.distances, empty.average) == ([None, None], None)


def bursts() -> Iterator[tuple[float, int]]:
    """Processor 0 in bursts of 1000 transactions, one per time unit; then processor 1 requests 100, each 40 later."""
    time = 0.0
    for _ in range(200):
        for _ in range(1000):
            time += 1
            yield time, 0
        for _ in range(100):
            time += 40
            yield time, 1


def test_maximum_rate_prefers_who_is_slow_and_intervals_do_not() -> None:
    """The paper's explanation of its table 1, on a stream with these rates."""
    rows = {}
    for interval in (0, 256, 1024):
        requested, sampled = sampling.run_analyzer(bursts(), 2, sampling.Analyzer(interval, emptying=40))
        assert requested == [200_000, 20_000]
        rows[interval] = sampling.compare(requested, None, sampled)
    # Nearly all of the slow one's are samples, and 8 of 48 of the other's.
    assert rows[0].distances[1] == pytest.approx((1 / (1 + 10 * 8 / 47)) / (1 / 11) - 1, rel=0.1)
    assert rows[0].percent_sampled > 20
    for interval in (256, 1024):
        assert (rows[interval].average or 0) < 0.3 < (rows[0].average or 0)
        assert rows[interval].percent_sampled == pytest.approx(100 * 8 / interval, rel=0.05)


def test_an_interval_that_software_cannot_keep() -> None:
    fast = ((float(number), 0) for number in range(100_000))
    _, sampled = sampling.run_analyzer(fast, 1, sampling.Analyzer(64, emptying=500))
    assert sampled.samples == pytest.approx(100_000 * 8 / 508, rel=0.01)
    steady = ((float(number), number % 3) for number in range(100_000))
    _, all_of_them = sampling.run_analyzer(steady, 3, sampling.Analyzer(0, emptying=0))
    assert all_of_them.samples == 100_000


def measured() -> dict[str, Any]:
    return {
        "cache_bytes": 32768,
        "emptying_accesses": 150,
        "accesses": 9999,
        "transactions": 600,
        "pages": 20,
        "by_thread": [100] * 6,
        "samplers": [
            {"interval": 0, "samples": 60, "pages": 18, "by_thread": [20, 8, 8, 8, 8, 8]},
            {"interval": 64, "samples": 12, "pages": 9, "by_thread": [2] * 6},
            {"interval": 4096, "samples": 8, "pages": 1, "by_thread": [8, 0, 0, 0, 0, 0]},
        ],
    }


def test_report() -> None:
    definition = tomllib.loads(sampling.DEFINITION.read_text())
    made = sampling.report(definition, "S", measured())
    assert list(made["table_1"]) == ["max", "64"]  # one sample is none of an interval
    assert made["table_1"]["max"]["distance"] == pytest.approx([1.0, *[0.2] * 5])
    assert made["table_1"]["max"]["published"]["average"] == 0.56
    assert made["figure_2"]["measured"][0]["percent_pages"] == 90
    text = "\n".join(sampling.lines(made))
    assert "1.00 (0.51)" in text
    assert "10.00 (17.56)" in text
    with pytest.raises(MemgraftError, match="had 6 threads, expected 7"):
        sampling.read(measured(), 7)


@pytest.mark.skipif(
    shutil.which(sampling.QEMU) is None or not sampling.PLUGIN.is_file() or not sampling.KERNELS.is_file(),
    reason="no qemu-x86_64 (qemu-user), plugin or kernels: `make build`",
)
def test_a_small_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "sampling.json"
    assert sampling.main(["--class", "S", "--json", str(out)]) == 0
    made = json.loads(out.read_text())
    table = made["table_1"]
    assert list(table) == ["max", "64", "256", "1024", "4096"]
    assert made["transactions"] < made["accesses"]
    # A sample is eight transactions in a row.
    for interval in (1024, 4096):
        assert table[str(interval)]["percent_sampled"] == pytest.approx(100 * 8 / interval, rel=0.05)
    assert table["max"]["percent_sampled"] > table["256"]["percent_sampled"]
    for way in table.values():
        assert len(way["distance"]) == 6
        assert way["average"] < 0.5
    pages = [point["percent_pages"] for point in made["figure_2"]["measured"]]
    assert pages == sorted(pages, reverse=True)
    assert "processor 5" in capsys.readouterr().out
