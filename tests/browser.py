"""A real browser for the pages that Memgraft makes."""

import shutil

import pytest

selenium = pytest.importorskip("selenium", reason="make development installs it")
from selenium import webdriver  # noqa: E402

# What a page has asked the network for.
ASKED_FOR = "return performance.getEntriesByType('resource').map(entry => entry.name)"
SEVERE = "SEVERE"


def chromium(*arguments: str) -> webdriver.Chrome:
    """Chromium without a window; the test is skipped where there is none. Who asked for it calls its quit()."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if program is None or driver is None:
        pytest.skip("chromium and chromedriver are missing: setup/packages test installs them where they can be had")
    options = webdriver.ChromeOptions()
    options.binary_location = program
    for argument in (
        *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
        *("--disable-background-networking", "--disable-component-update", "--disable-sync", *arguments),
    ):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))


def errors_of(browser: webdriver.Chrome) -> list[dict]:
    """What the page has said in the browser's console that it should not have to say."""
    return [entry for entry in browser.get_log("browser") if entry["level"] == SEVERE]
