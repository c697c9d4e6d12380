"""The live page in a real browser: what is drawn is what the record says, live and in replay, and nobody else sees it.

`MEMGRAFT_WATCH_SHOTS=FOLDER` keeps screenshots of it there, to be looked at; with `MEMGRAFT_WATCH_RECORD=FILE` of that
record, as docs/watch.md tells.
"""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import ASKED_FOR, chromium, errors_of
from conftest import ROOT, Jdk, agent_options
from PIL import Image
from processes import clean_environment
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

from memgraft.tests import placement_record as made
from memgraft.tests.loopback import answer
from memgraft.watch import addresses, colours
from memgraft.watch.history import History

PATIENCE = 300


@pytest.fixture(scope="module")
def downloads(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="module")
def browser(downloads: Path) -> Iterator[webdriver.Chrome]:
    driver = chromium("--window-size=1400,1000", "--hide-scrollbars")
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})
    yield driver
    driver.quit()


def started(record: Path, *options: str | Path) -> "subprocess.Popen[str]":
    """The command, without what is native of Memgraft, which it does not need."""
    return subprocess.Popen(
        [ROOT / ".venv/bin/python", "-P", "-m", "memgraft", "watch", record, "--no-browser", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=clean_environment(PYTHONPATH=str(ROOT)),
    )


@contextlib.contextmanager
def watching(record: Path, *options: str | Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`memgraft watch` while it runs, and the address that it printed."""
    process = started(record, *options)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.stderr.read() if process.stderr else ""
        yield address, process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait()


class Watched:
    """The page in the browser."""

    def __init__(self, browser: webdriver.Chrome) -> None:
        self.browser = browser

    def open(self, address: str) -> "Watched":
        # What an earlier page says when its server goes is not this one's.
        self.browser.get("about:blank")
        self.browser.get_log("browser")
        self.browser.get(address)
        self.until(lambda: self.script("return window.Bokeh?.documents?.[0]?.get_model_by_name('map') != null"))
        return self

    def script(self, text: str) -> Any:
        return self.browser.execute_script(text)

    def until(self, holds: Callable[[], Any]) -> Any:
        return WebDriverWait(self.browser, PATIENCE, 0.1).until(lambda _: holds())

    def model(self, name: str, what: str) -> Any:
        return self.script(f"return Bokeh.documents[0].get_model_by_name('{name}').{what}")

    def text(self, name: str) -> str:
        """Of a root, with what is in its shadow trees; nothing while the page is being loaded."""
        return str(
            self.script(
                f"""const model = window.Bokeh?.documents[0]?.get_model_by_name('{name}');
                return model && Bokeh.index.get_by_id(model.id)?.shadow_el.textContent || "" """
            )
        )

    def press(self, name: str) -> None:
        self.script(
            f"""const model = Bokeh.documents[0].get_model_by_name('{name}');
            for (const view of Bokeh.index) for (const one of view.children())
              if (one.model === model) one.shadow_el.querySelector('button').click();"""
        )

    def shows(self, words: str) -> None:
        self.until(lambda: words in self.text("moment"))

    def picture(self) -> list[list[int]]:
        """The pixels of the map, as the browser has them."""
        flat, columns = self.script(
            "const data = Bokeh.documents[0].get_model_by_name('map-source').data;"
            "return [Array.from(data.image[0]), data.dw[0]]"
        )
        return [flat[at : at + columns] for at in range(0, len(flat), columns)]

    def colour_at(self, column: float, row: float) -> str:
        """What is really on the map's canvas there, without the page's filter."""
        red, green, blue, alpha = self.script(
            f"""const view = Bokeh.index.get_by_id(Bokeh.documents[0].get_model_by_name('map').id);
            const canvas = view.export("png", false), x = view.frame.x_scale.compute({column});
            const y = view.frame.y_scale.compute({row});
            return Array.from(canvas.ctx.getImageData(Math.round(x), Math.round(y), 1, 1).data)"""
        )
        return "none" if alpha == 0 else f"#{red:02x}{green:02x}{blue:02x}"

    def frame(self, name: str) -> list[float]:
        """Width and height of what a picture has between its axes."""
        place = f"Bokeh.index.get_by_id(Bokeh.documents[0].get_model_by_name('{name}').id).frame.bbox"
        return list(self.script(f"return [{place}.width, {place}.height]"))

    def errors(self) -> list[dict[str, Any]]:
        return errors_of(self.browser)


@pytest.fixture
def watched(browser: webdriver.Chrome) -> Watched:
    browser.set_window_size(1400, 1000)
    return Watched(browser)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    record = tmp_path_factory.mktemp("finished") / "mg.jsonl"
    made.write(record, made.lines())
    return record


@pytest.fixture(scope="module")
def server(finished: Path) -> Iterator[str]:
    with watching(finished) as (address, _):
        yield address


def test_a_finished_run_is_drawn_as_it_ended(watched: Watched, server: str, finished: Path) -> None:
    watched.open(server)
    watched.shows("interval 16 of 16")
    history = History(finished)
    history.poll(10)
    found = history.map_at(15)
    assert found is not None
    layout = history.layout(found[1])
    expected = addresses.paint(layout, found[1], [0, 1, 2, 3], made.PAGE)
    assert watched.picture() == expected.tolist()
    # And on the canvas: a pixel of each node, one of none, one between strips.
    shown = {0: "none", 1: colours.GAP} | dict(enumerate(colours.of_nodes(4), 2))
    watched.until(lambda: watched.colour_at(0.5, 0.5) == shown[2])
    for value, colour in shown.items():
        places = [(r, c) for r, row in enumerate(expected.tolist()) for c, one in enumerate(row) if one == value]
        # In the midst of its like, so that rounding does not matter.
        row, column = next((r, c) for r, c in places if 0 < c < 255 and all((r, c + by) in places for by in (-1, 1)))
        assert watched.colour_at(column + 0.5, row + 0.5) == colour
    last = history.at(15)
    numbers = watched.model("contention-so-far-source", "data.label")
    assert f"threads of node 1, memory of node 0: {last.accesses_so_far[1, 0]:,} of" in numbers[4]
    assert f"{int(last.moved_so_far.sum()):,} pages moved since the start" in watched.text("header")
    assert "exit code 0" in watched.text("header")
    assert "16 busy, 48 not present" in watched.text("numbers")
    assert "not whether it wrote" in watched.text("about")
    # What was watched is shown, and not obeyed.
    assert "<script>document.title='obeyed'</script>" in watched.text("about")
    assert watched.browser.title == "memgraft watch: mg (process 4711)"
    assert watched.errors() == []


def pauses(watched: Watched) -> bool:
    """Presses the button until the page is paused: on a busy machine playing may have come to the end meanwhile."""
    if watched.model("playing", "active") or "interval 16 of" in watched.text("moment"):
        watched.press("playing")
    return "paused" in watched.text("moment")


def test_back_and_forward_in_time(watched: Watched, server: str, finished: Path) -> None:
    history = History(finished)
    history.poll(10)
    watched.open(server).shows("interval 16 of 16")
    watched.press("first")
    watched.shows("interval 1 of 16, 5.0 s, paused")
    assert "0 pages moved since the start" in watched.text("header")
    assert {value for row in watched.picture()[2:78] for value in row} == {2}
    watched.press("forward")
    watched.shows("interval 2 of 16")
    watched.press("back")
    watched.shows("interval 1 of 16")
    # A slider that is dragged, and keys.
    watched.script("Bokeh.documents[0].get_model_by_name('interval').value = 6")
    watched.shows("interval 7 of 16")
    assert f"{int(history.at(6).moved_so_far.sum()):,} pages moved" in watched.text("header")
    watched.browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_RIGHT)
    watched.shows("interval 8 of 16")
    watched.browser.find_element(By.TAG_NAME, "body").send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    watched.shows("interval 6 of 16")
    # Playing goes on from here, step by step; pausing stays.
    watched.browser.find_element(By.TAG_NAME, "body").send_keys(Keys.SPACE)
    watched.until(lambda: "interval 6 of" not in watched.text("moment"))
    assert "paused" not in watched.text("moment")
    watched.until(lambda: pauses(watched))
    still = watched.text("moment")
    time.sleep(1.5)
    assert watched.text("moment") == still
    watched.press("latest")
    watched.shows("interval 16 of 16")
    assert watched.errors() == []


def test_what_comes_is_shown_without_loading_the_page_again(watched: Watched, tmp_path: Path) -> None:
    record, program = tmp_path / "live.jsonl", made.Program(4, 3000)
    lines = [made.start(dry_run=True), *(made.interval(number, program, 0.5) for number in range(1, 5))]
    made.write(record, iter(lines[:2]))
    with watching(record) as (address, _):
        watched.open(address).shows("interval 1 of 1")
        # On a busy machine the page may come after so long that the record counts as silent.
        os.utime(record)
        watched.until(lambda: "live" in watched.text("header"))
        assert "dry run: nothing is moved" in watched.text("header")
        watched.script("window.loaded = 'once'")
        with record.open("a") as file:
            # In two pieces, as a writer's buffer may end anywhere.
            text = json.dumps(lines[2]) + "\n"
            file.write(text[:500])
            file.flush()
            time.sleep(1)
            file.write(text[500:])
        watched.shows("interval 2 of 2")
        watched.press("playing")
        watched.until(lambda: watched.model("playing", "active") is False)
        with record.open("a") as file:
            file.write(json.dumps(lines[3]) + "\n")
        watched.shows("interval 2 of 3, 10.0 s, paused")
        watched.press("playing")
        watched.shows("interval 3 of 3")
        with record.open("a") as file:
            file.write(json.dumps(lines[4]) + "\nnonsense\n")
        watched.shows("interval 4 of 4")
        watched.until(lambda: "Reading stopped" in watched.text("header"))
        assert f"{record}, line 6: nonsense: expected Invalid JSON" in watched.text("header")
        assert watched.script("return window.loaded") == "once"
        # Another run in the same file, with other nodes: that is another page.
        made.write(record, made.lines(2, nodes=2, pages=600, program="cg"))
        watched.until(lambda: watched.browser.title == "memgraft watch: cg (process 4711)")
        watched.shows("interval 2 of 2")


def test_the_token_keeps_others_out(watched: Watched, server: str) -> None:
    host, token = server.split("/")[2:4]
    assert answer(server) == 200
    for path in (
        "",
        "ws",
        token[:-1],
        f"{token[:-1]}/ws",
        "static/js/bokeh.min.js",
        token[1:] + "/static/js/bokeh.min.js",
    ):
        assert answer(f"http://{host}/{path}") == 403, path
    # A page of another origin may not join, even if it knew the token.
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    upgrade |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "bokeh, x"}
    origins = {"http://elsewhere.example": 403, f"http://{host}": 101}
    for origin, expected in origins.items():
        connection = http.client.HTTPConnection(host, timeout=120)
        connection.request("GET", f"/{token}/ws", headers=upgrade | {"Origin": origin})
        assert connection.getresponse().status == expected, origin
        connection.close()
    # The page itself asks nobody else for anything.
    watched.open(server).shows("interval")
    asked = watched.script(ASKED_FOR)
    assert asked
    assert all(name.startswith((server, "blob:")) for name in asked), asked


def saved(folder: Path, name: str) -> Path:
    for _ in range(PATIENCE * 10):
        if (folder / name).exists():
            return folder / name
        time.sleep(0.1)
    raise AssertionError(f"no {name}, but {[file.name for file in folder.iterdir()]}")


@pytest.mark.parametrize("dark", [False, True])
def test_pictures_are_saved(watched: Watched, server: str, downloads: Path, dark: bool) -> None:
    theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    watched.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [theme]})
    interval = 5 if dark else 4
    watched.open(server).shows("interval 16 of 16")
    watched.script(f"Bokeh.documents[0].get_model_by_name('interval').value = {interval - 1}")
    watched.shows(f"interval {interval} of 16")
    stem = f"memgraft-mg-4711-interval-{interval}"
    for button, name in (("save-map", "map"), ("save-page", "page")):
        watched.browser.find_element(By.ID, button).click()
        with Image.open(saved(downloads, f"{stem}-{name}.png")) as picture:
            rgb = picture.convert("RGB")
            found = {colour for _, colour in rgb.getcolors(1 << 24) or []}
            # Dark ink on white with the nodes' own colours, on a dark page, too.
            for colour in ("#ffffff", *colours.of_nodes(4)):
                assert tuple(int(colour[at : at + 2], 16) for at in (1, 3, 5)) in found
            assert rgb.getpixel((rgb.width - 1, 0)) == (255, 255, 255)
            assert rgb.width > 1000
    # Bokeh's own tool, which every picture has, uses the same names.
    assert (
        watched.model("migrations", "toolbar.tools.find(tool => tool.type === 'SaveTool').filename")
        == f"{stem}-migrations"
    )
    watched.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_pointer_tells_which_page_it_is_on(watched: Watched, server: str) -> None:
    watched.open(server).shows("interval 16 of 16")
    watched.until(lambda: watched.colour_at(0.5, 2.5) != "none")
    x, y = watched.script(
        """const view = Bokeh.index.get_by_id(Bokeh.documents[0].get_model_by_name('map').id);
        view.el.scrollIntoView({block: "center"});
        const box = view.canvas_view.el.getBoundingClientRect();
        return [box.x + view.frame.x_scale.compute(10.5), box.y + view.frame.y_scale.compute(4.5)]"""
    )
    for by in (0, 1):
        event = {"type": "mouseMoved", "x": x + by, "y": y, "pointerType": "mouse"}
        watched.browser.execute_cdp_cmd("Input.dispatchMouseEvent", event)
        time.sleep(0.3)
    words = watched.until(
        lambda: watched.script(
            """const found = [];
            const walk = root => root.querySelectorAll('*').forEach(element => {
              if (element.classList.contains('bk-tooltip-row-value')) found.push(element.textContent);
              if (element.shadowRoot) walk(element.shadowRoot);
            });
            walk(document);
            return found.join(' | ')"""
        )
    )
    # Two whole rows of 256 pages before it.
    assert f"{made.HEAP + (2 * 256 + 10) * made.PAGE:#x}: node" in words
    assert "[anon]" in words
    assert f"{made.HEAP:#x} to " in words


@pytest.mark.parametrize("width", [1400, 420])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_picture_has_room(watched: Watched, server: str, width: int, theme: str) -> None:
    folder, own = os.environ.get("MEMGRAFT_WATCH_SHOTS"), os.environ.get("MEMGRAFT_WATCH_RECORD")
    size = {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    browser = watched.browser
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    try:
        with watching(Path(own)) if own else contextlib.nullcontext((server, None)) as (address, _):
            watched.open(address).shows("interval")
            pictures = ("map", "migrations", "shares", "shares-over-time", "kernel-moves", "contention-now")
            sizes = {name: watched.frame(name) for name in pictures}
            assert all(wide > width * 0.35 and high > 50 for wide, high in sizes.values()), sizes
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width
            if folder:
                height = min(browser.execute_script("return document.documentElement.scrollHeight"), 5000)
                browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size | {"height": height})
                time.sleep(1.5)
                browser.save_screenshot(f"{folder}/watch-{width}-{theme}.png")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_a_jvm_beside_it(
    watched: Watched, finished: Path, tmp_path: Path, programs: Path, distribution_jdk: Jdk
) -> None:
    """A real one, whose agent says every second what it has done so far."""
    options = agent_options(tmp_path, "zeroing=bulk,buffers=core:1048576,live")
    command = [distribution_jdk.java, "-XX:+UseParallelGC", "-Xmn16m", *options, "-cp", programs, "AllocateUntilTold"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=clean_environment()) as jvm:
        try:
            with watching(finished, "--jvm", tmp_path) as (address, _):
                watched.open(address).shows("interval")
                watched.until(lambda: len(watched.model("jvm-source", "data.at")) >= 3)
                assert "running" in watched.text("jvm")
                assert "buffers of core" in watched.text("jvm")
                core, zeroed, speed = (
                    watched.model("jvm-source", f"data.{name}") for name in ("core", "bytes", "speed")
                )
                for name in ("refills", "zeroing"):
                    assert watched.frame(name)[1] > 80
                assert all(rate > 0 for rate in [*core[1:], *zeroed[1:], *speed[1:]])
                if folder := os.environ.get("MEMGRAFT_WATCH_SHOTS"):
                    place = "Bokeh.index.get_by_id(Bokeh.documents[0].get_model_by_name('jvm').id).el"
                    watched.script(f"{place}.scrollIntoView()")
                    time.sleep(1)
                    watched.browser.save_screenshot(f"{folder}/watch-jvm.png")
                assert jvm.stdin is not None
                jvm.stdin.close()
                assert jvm.wait(60) == 0
                watched.until(lambda: "ended" in watched.text("jvm"))
                assert watched.errors() == []
        finally:
            jvm.kill()


def test_an_interrupt_ends_it_and_the_page_says_so(watched: Watched, finished: Path) -> None:
    with watching(finished) as (address, process):
        watched.open(address).shows("interval")
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
        watched.until(lambda: watched.browser.find_element(By.CLASS_NAME, "lost").is_displayed())


def test_a_record_that_comes_later_is_waited_for(tmp_path: Path) -> None:
    record = tmp_path / "later.jsonl"
    process = started(record)
    try:
        assert process.stderr is not None
        assert process.stdout is not None
        assert process.stderr.readline() == f"memgraft: waiting for {record} and its first line\n"
        made.write(record, made.lines(1, pages=60))
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/\n", process.stdout.readline())
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate()
