"""The page of a comparison in a real browser: it shows what it says, alone, at every width."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import memgraft

selenium = pytest.importorskip("selenium", reason="make development installs it")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

SEVERE = "SEVERE"
# The pictures on the page, each as its size in pixels; what is smaller is an icon.
PICTURES = """
  const found = [];
  const walk = root => root.querySelectorAll('*').forEach(element => {
    if (element.tagName.toLowerCase() === 'svg' && element.querySelector('path')) {
      const box = element.getBoundingClientRect();
      if (box.width > 200 && box.height > 100) found.push([box.width, box.height]);
    }
    if (element.shadowRoot) walk(element.shadowRoot);
  });
  walk(document);
  return found;
"""
# What a page has asked the network for.
ASKED_FOR = "return performance.getEntriesByType('resource').map(entry => entry.name)"
# A desktop's window and a telephone's, in pixels.
WIDTHS = (1200, 400)


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        pytest.skip("chromium and chromedriver are missing: setup/packages test installs them where they can be had")
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in (
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1200,1600"),
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """A comparison whose effect is known: 25 % slower."""
    from conftest import ROOT
    from processes import run

    folder = tmp_path_factory.mktemp("page")
    run(["javac", "-d", folder / "classes", ROOT / "tests/programs/SetIterations.java"])
    result = memgraft(
        *["compare", "--json", "--output", folder / "out", "--zeroing", "bulk", "--launches", "7", "--"],
        # An argument that the page must show and not obey.
        *["java", "-Dmarkup=<script>document.title='obeyed'</script>", "-cp", folder / "classes"],
        *["SetIterations", folder / "counter", "1.25"],
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_page_says_and_draws_what_was_found(browser: webdriver.Chrome, comparison: dict) -> None:
    percent = f"{100 * (comparison['ratio']['median'] - 1):.1f} % more"
    for width in WIDTHS:
        browser.set_window_size(width, 1600)
        browser.get(Path(comparison["report"]).as_uri())
        text = browser.find_element(By.TAG_NAME, "body").text
        assert percent in text
        assert "<script>document.title='obeyed'</script>" in text
        assert browser.title != "obeyed"
        # Bokeh draws into SVG elements inside shadow roots, once the page is there.
        WebDriverWait(browser, 300).until(lambda driver: len(driver.execute_script(PICTURES)) >= 3)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert [entry for entry in browser.get_log("browser") if entry["level"] == SEVERE] == []
        assert browser.execute_script(ASKED_FOR) == []


def test_calibration_page_draws_every_picture(browser: webdriver.Chrome, calibration: tuple[Path, dict]) -> None:
    folder, _ = calibration
    several = len(os.sched_getaffinity(0)) > 1  # without several CPUs there is no scaling to draw
    for width in WIDTHS:
        browser.set_window_size(width, 1600)
        browser.get((folder / "zeroing.html").as_uri())
        WebDriverWait(browser, 300).until(lambda driver: len(driver.execute_script(PICTURES)) == 3 + several)
        for picture_width, picture_height in browser.execute_script(PICTURES):
            assert picture_width > 0.7 * width
            assert picture_height > 300
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert [entry for entry in browser.get_log("browser") if entry["level"] == SEVERE] == []
        assert browser.execute_script(ASKED_FOR) == []
