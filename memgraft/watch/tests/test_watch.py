"""What the live page is made of: places of pages, sums, words, colours, a JVM's rates, the server's door."""

import json
import os
import socket
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memgraft.errors import WrongUsageError
from memgraft.tests import placement_record as made
from memgraft.tests.loopback import answer
from memgraft.tests.synthetic import summary
from memgraft.watch import addresses, colours, facts, serve
from memgraft.watch.history import History, local_share
from memgraft.watch.jvm import JvmPanel, JvmSeries
from memgraft.watch.parts import part
from memgraft.watch.record import End, Monitor, PageMap
from memgraft.watch.saving import Saving

PAGE = 4096


def page_map(*ranges: tuple[int, list[tuple[int, int]]], cell_pages: int = 1) -> PageMap:
    found = [{"start": hex(first * PAGE), "cells": cells, "name": f"at {first}"} for first, cells in ranges]
    return PageMap.model_validate({"cell_pages": cell_pages, "ranges": found}, strict=False)


def extents_of(*maps: PageMap) -> addresses.Extents:
    extents = addresses.Extents(PAGE)
    for one in maps:
        extents.add(one)
    return extents


def layout_of(*maps: PageMap) -> addresses.Layout:
    return addresses.lay_out(extents_of(*maps).pages, maps[-1].cell_pages)


def test_a_page_is_a_pixel_from_left_to_right_and_top_to_bottom() -> None:
    one = page_map((100, [(0, 70), (1, 60), (-1, 3), (1, 1)]))
    picture = addresses.paint(layout_of(one), one, [0, 1], PAGE)
    assert picture.shape == (3, 64)
    assert picture[0].tolist() == [2] * 64
    assert picture[1].tolist() == [2] * 6 + [3] * 58
    assert picture[2].tolist() == [3] * 2 + [addresses.ABSENT] * 3 + [3] + [addresses.GAP] * 58


def test_nodes_have_the_kernels_numbers() -> None:
    one = page_map((0, [(5, 1), (2, 2)]))
    assert addresses.paint(layout_of(one), one, [2, 5], PAGE)[0, :4].tolist() == [3, 2, 2, addresses.GAP]


def test_a_large_hole_ends_a_strip_and_a_small_one_does_not() -> None:
    one = page_map((0, [(0, 5), (-1, addresses.HOLE - 1), (0, 5)]), (10_000_000, [(-1, 10**9), (1, 65)]))
    strips = layout_of(one).strips
    assert [(strip.first_page, strip.pages) for strip in strips] == [
        (0, 10 + addresses.HOLE - 1),
        (10_000_000 + 10**9, 65),
    ]
    # A row of its own for each, and an empty one in between.
    assert strips[1].first_pixel % 64 == 0
    assert strips[1].first_pixel >= strips[0].first_pixel + strips[0].pages + 64


def test_a_page_keeps_its_place_when_others_come_and_go() -> None:
    before = page_map((1000, [(0, 100)]))
    after = page_map((200, [(1, 30)]), (1000, [(0, 100)]))
    one, other = (
        addresses.paint(layout, shown, [0, 1], PAGE)
        for layout, shown in ((layout_of(before, after), before), (layout_of(before, after), after))
    )
    assert (np.argwhere(one == 2) == np.argwhere(other == 2)).all()
    assert (one == 3).sum() == 0
    assert (other == 3).sum() == 30


def test_what_has_gone_for_good_is_forgotten_and_can_still_be_shown() -> None:
    old, new = page_map((0, [(0, 10_000)])), page_map((10**6, [(1, 100)]))
    extents = extents_of(old, new)
    assert extents.pages.tolist() == [[10**6, 10**6 + 100]]
    assert extents.with_map(old).tolist() == [[0, 10_000], [10**6, 10**6 + 100]]


def test_more_pages_than_pixels_show_the_first_of_several() -> None:
    pages = 3 * addresses.MOST_PIXELS
    one = page_map((0, [(0, 3), (1, 1), (0, 2), (1, pages - 6)]))
    layout = layout_of(one)
    assert layout.pages_per_pixel == 3
    assert layout.rows * layout.width <= addresses.MOST_PIXELS + layout.width
    picture = addresses.paint(layout, one, [0, 1], PAGE).ravel()
    assert picture[:4].tolist() == [2, 3, 3, 3]


RUNS = st.lists(st.tuples(st.integers(-1, 2), st.integers(1, 700)), min_size=1, max_size=6)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3000), RUNS), min_size=1, max_size=4), st.sampled_from([1, 4]))
def test_every_page_is_where_its_block_says(found: list[tuple[int, list[tuple[int, int]]]], cell_pages: int) -> None:
    """Against the slow way: page by page, and by the rectangles that the pointer meets."""
    first, ranges = 0, []
    for hole, runs in found:
        first = -(-(first + hole) // cell_pages) * cell_pages
        ranges.append((first, runs))
        first += cell_pages * sum(cells for _, cells in runs)
    one = page_map(*ranges, cell_pages=cell_pages)
    layout = layout_of(one)
    picture = addresses.paint(layout, one, [0, 1, 2], PAGE)
    expected = sum(cells for _, runs in ranges for node, cells in runs if node >= 0)
    assert int((picture >= addresses.FIRST_NODE).sum()) == expected
    flat = picture.ravel()
    for begin, runs in ranges:
        page = begin
        for node, cells in runs:
            for strip in layout.strips if node >= 0 else ():
                if strip.first_page <= page < strip.first_page + strip.pages:
                    pixel = strip.first_pixel + (page - strip.first_page) // cell_pages
                    assert (flat[pixel : pixel + cells] == node + addresses.FIRST_NODE).all()
                    break
            else:
                assert node < 0
            page += cells * cell_pages
    covered = np.zeros_like(picture)
    for block in addresses.blocks(layout, one, PAGE):
        covered[block.top : block.bottom, block.left : block.right] += 1
    assert covered.max() <= 1
    assert (covered[picture >= addresses.FIRST_NODE] == 1).all()
    assert (covered[picture == addresses.GAP] == 0).all()


@pytest.fixture
def history(tmp_path: Path) -> History:
    made.write(tmp_path / "mg.jsonl", made.lines(6, pages=2000))
    history = History(tmp_path / "mg.jsonl")
    history.poll(10)
    return history


def test_sums_since_the_start(history: History) -> None:
    intervals = history.tail.intervals
    last = history.at(5)
    assert last.accesses_so_far.tolist() == np.sum([i.accesses for i in intervals], axis=0).tolist()
    assert last.moved_so_far.tolist() == np.sum([i.moved for i in intervals], axis=0).tolist()
    assert last.refused_so_far["absent"] == 18
    assert last.lost_so_far == 3
    assert (history.at(0).milliseconds, last.milliseconds) == (5003, 5000)
    # A step back is what it was.
    assert history.at(1).accesses_so_far.sum() == sum(np.sum(i.accesses) for i in intervals[:2])


def test_shares() -> None:
    assert local_share(np.array([[3, 1], [0, 4]])) == 7 / 8
    assert local_share(np.zeros((2, 2), dtype=np.int64)) is None


def test_a_map_of_before_stands_in_for_a_missing_one(tmp_path: Path) -> None:
    program = made.Program(2, 100)
    lines = [made.start(2), *(made.interval(n, program, with_map=n == 2) for n in (1, 2, 3))]
    made.write(tmp_path / "x", iter(lines))
    history = History(tmp_path / "x")
    history.poll()
    assert history.map_at(0) is None
    for at in (1, 2):
        found = history.map_at(at)
        assert found is not None
        assert found[0] == 1


def test_numbers_in_words(history: History) -> None:
    assert history.tail.start is not None
    rows = dict(facts.numbers(history.tail.start, history.at(1)))
    assert rows["lost samples"] == "3; 3 since the start"
    assert rows["refused"] == "1 busy, 3 not present"
    assert rows["held back"] == "90 too small a share, 20 too few touches to tell, 3 would not pay, 2 frozen"
    assert rows["for touches around them"] == "5 pages"
    assert rows["CPU time of observing and placing"] == "12.5 ms (2.50 ms a second, 0.25 % of a CPU)"
    assert "would be moved" in dict(
        facts.numbers(history.tail.start.model_copy(update={"dry_run": True}), history.at(1))
    )


def test_a_monitor_is_not_said_to_see_more_than_it_does() -> None:
    seen = facts.sight(Monitor(name="x", thread=True, cpu=False, store=False, latency=True, every_access=False))
    assert seen == (
        "a sample, not every access; of each, the thread and how long it took; not the CPU or whether it wrote"
    )
    # What it does not say of itself is not said here.
    assert facts.sight(Monitor(name="x")) == "accesses"


@pytest.mark.parametrize(
    ("end", "said"),
    [
        (End(at_ms=61200.0, reason="exited", exit_code=1), "finished: the program ended with exit code 1 after 61.2 s"),
        (End(at_ms=1000.0, reason="detached"), "finished: detached after 1.00 s; the program runs on"),
        (End(at_ms=1000.0, reason="duration"), "finished: watched as long as was asked for, 1.00 s"),
        (End(at_ms=1000.0, reason="moonshine"), "finished after 1.00 s: moonshine"),
    ],
)
def test_how_it_ended(end: End, said: str) -> None:
    assert facts.ended(end) == said


def test_a_silent_record_is_not_called_live(tmp_path: Path) -> None:
    made.write(tmp_path / "x", iter([made.start()]))
    history = History(tmp_path / "x")
    history.poll()
    assert facts.condition(history.tail) == "live"
    os.utime(tmp_path / "x", (0, time.time() - 3600))
    assert facts.condition(history.tail).startswith("no new line for 3,6")


def test_words_are_no_markup() -> None:
    assert "&lt;script&gt;" in part("rows", [("program", "<script>")])
    assert "<script>" not in part("header", "<script>", "<script>", "<script>", True, "<script>", ["<script>"])


def test_colours() -> None:
    found = colours.of_nodes(66)
    assert len(set(found[:64])) == 64
    assert found[64:] == found[:2]


# Viénot, Brettel, Mollon: Digital video colourmaps for checking the legibility of displays by dichromats (1999), in
# linear light.
DICHROMATS = {
    "protanope": [[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]],
    "deuteranope": [[0.29275, 0.70725, 0], [0.29275, 0.70725, 0], [-0.02234, 0.02234, 1]],
}
# Filter Effects Module Level 1: invert(1), then hue-rotate(180deg).
HUE_ROTATED = [[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("eyes", ["all colours", *DICHROMATS])
def test_the_first_eight_are_told_apart(eyes: str, dark: bool) -> None:
    rgb = np.array([[int(c[at : at + 2], 16) / 255 for at in (1, 3, 5)] for c in colours.of_nodes(8)])
    if dark:
        rgb = np.clip((1 - rgb) @ np.array(HUE_ROTATED).T, 0, 1)
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    linear = np.clip(linear @ np.array(DICHROMATS[eyes]).T, 0, 1) if eyes in DICHROMATS else linear
    xyz = linear @ np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]).T
    f = np.cbrt(np.maximum(xyz / [0.9505, 1, 1.089], 0.008856))
    lab = np.column_stack((116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])))
    distances = np.linalg.norm(lab[:, None] - lab[None], axis=2)[np.triu_indices(8, 1)]
    # A difference of 2.3 is just noticeable (Mahy and others, 1994).
    assert distances.min() > 5 * 2.3


def test_rates_of_a_jvm(tmp_path: Path) -> None:
    def write(seconds: float, refills: int, zeroed: int) -> None:
        levels = [
            {"kind": "core", "bytes": 1 << 20, "buffers": 2, "take": "atomic", "taken": refills * 10}
            | {"taken_bytes": 1, "refills": refills, "foreign": 1, "foreign_percent": 0.1, "contended": 0, "moved": 0}
            | {"waste_at_refills_bytes": 0, "waste_at_collections_bytes": 0}
            | {"latency": dict.fromkeys(LATENCIES, 0)}
        ]
        changed = summary(wall_seconds=seconds, state="running").model_dump(by_alias=True)
        changed["grafts"] = {
            "zeroing": {"strategy": "bulk", "kernel": "x", "bytes": zeroed, "seconds": seconds / 10},
            "buffers": {"levels": levels},
        }

        (tmp_path / "jvm-1-1.json").write_text(json.dumps(changed))

    series, panel = JvmSeries(tmp_path), JvmPanel(Saving())
    panel.show(series)
    for seconds, refills, zeroed in ((1.0, 100, 10**9), (3.0, 500, 2 * 10**9)):
        write(seconds, refills, zeroed)
        series._next = 0
        series.poll()
    assert series.error == ""
    panel.show(series)
    data = panel.source.data
    assert data["at"] == [1.0, 3.0]
    assert data["core"] == [100.0, 200.0]
    assert data["bytes"] == [1.0, 0.5]
    assert data["speed"] == pytest.approx([10.0, 5.0])
    assert "5,000 requests, 500 refills" in panel.facts.text


LATENCIES = ("requests", "median_nanoseconds", "p99_nanoseconds", "highest_nanoseconds")


@pytest.mark.parametrize(
    ("record", "options", "said"),
    [
        ("no/such/run", {}, "no/such/run: the folder no/such does not exist"),
        (".", {}, ". is a folder; expected a record"),
        ("x", {"jvm": Path("no/jvm")}, "--jvm no/jvm: no such folder"),
    ],
)
def test_what_cannot_be_watched(record: str, options: dict[str, Path], said: str) -> None:
    with pytest.raises(WrongUsageError, match=said.replace(".", r"\.")):
        serve(Path(record), browser=False, jvm=options.get("jvm"))


def test_what_is_no_record_is_said_before_anything_is_served(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("hello\n")
    addresses_said: list[str] = []
    with pytest.raises(WrongUsageError, match="line 1: hello: expected"):
        serve(tmp_path / "x", browser=False, show=addresses_said.append)
    assert addresses_said == []


def test_only_who_knows_the_token_gets_in(tmp_path: Path) -> None:
    made.write(tmp_path / "mg.jsonl", made.lines(2, pages=600))
    stopped, said, known = threading.Event(), [""], threading.Event()

    def show(address: str) -> None:
        said[0] = address
        known.set()

    thread = threading.Thread(target=lambda: serve(tmp_path / "mg.jsonl", browser=False, show=show, stopped=stopped))
    thread.start()
    try:
        assert known.wait(30)
        address = said[0]
        host, token = address.split("/")[2:4]
        assert host.startswith("127.0.0.1:")
        # Nor is it open on the machine's other addresses.
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.2", int(host.rpartition(":")[2])), timeout=120)
        assert len(token) >= 32
        assert answer(address) == 200
        assert answer(f"{address}static/js/bokeh.min.js") == 200
        wrong = token[:-1] + ("x" if token[-1] != "x" else "y")
        for path in (
            "",
            wrong,
            f"{wrong}/",
            f"{wrong}/ws",
            f"{wrong}/static/js/bokeh.min.js",
            "static/js/bokeh.min.js",
        ):
            assert answer(f"http://{host}/{path}") == 403, path
        for path in ("ws", "metadata", "autoload.js"):
            assert answer(f"http://{host}/{path}") == 403, path
    finally:
        stopped.set()
        thread.join(30)
    assert not thread.is_alive()


def test_a_taken_port_is_said(tmp_path: Path) -> None:
    made.write(tmp_path / "mg.jsonl", made.lines(1, pages=60))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(WrongUsageError, match=rf"--port {port}: Address already in use; choose a free one"):
            serve(tmp_path / "mg.jsonl", browser=False, port=port)
