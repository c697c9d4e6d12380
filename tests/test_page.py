"""The pages of comparisons, calibrations and hunts in a real browser: each says what it has to, alone, at any width."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import ASKED_FOR, chromium, errors_of
from conftest import memgraft
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from memgraft.hunt import page
from memgraft.hunt.tests import findings

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
# A desktop's window and a telephone's, in pixels.
WIDTHS = (1200, 400)


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    driver = chromium("--window-size=1200,1600")
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
        assert errors_of(browser) == []
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
        assert errors_of(browser) == []
        assert browser.execute_script(ASKED_FOR) == []


def test_the_page_of_a_hunt_shows_the_field_and_every_launch(browser: webdriver.Chrome, tmp_path: Path) -> None:
    hostile = "<script>document.title='obeyed'</script>"
    finding = findings.found(tmp_path)
    finding.notes.append(hostile)
    file = tmp_path / "report.html"
    file.write_text(page.render(finding), encoding="utf-8")
    for width in WIDTHS:
        browser.set_window_size(width, 1600)
        browser.get(file.as_uri())
        text = browser.find_element(By.TAG_NAME, "body").text
        assert "Missing volatile: org.example.Server.stopped" in text
        assert "org.example.Server.stopped: declare it volatile" in text
        assert "What fits what was seen: a loop that looks once" in text
        assert hostile in text
        assert browser.title != "obeyed"
        marks = browser.find_elements(By.CSS_SELECTOR, ".failed-mark, .passed-mark")
        # And once each in the key.
        assert len(marks) == sum(len(phase.launched) for phase in finding.phases) + 2
        assert all(mark.is_displayed() for mark in marks)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert errors_of(browser) == []
        assert browser.execute_script(ASKED_FOR) == []
