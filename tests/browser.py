"""Chromium without a window, driven by selenium, for the tests of pages that need it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NO_DRIVER = "no selenium to drive the browser: pip install selenium"
webdriver = pytest.importorskip("selenium.webdriver", reason=NO_DRIVER)

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
needs_browser = pytest.mark.skipif(
    not (CHROMIUM and DRIVER),
    reason="no chromium or no chromedriver: apt-get install chromium chromium-driver",
)

FLAGS = """
    --headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync
    --disable-dev-shm-usage
""".split()  # noqa: SIM905
THEMES = ("light", "dark")

Chrome = Any  # selenium may be missing when types are checked


@contextmanager
def started(profile: Path) -> Iterator[Chrome]:
    """A browser with an empty profile."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM or ""
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def pretend(browser: Chrome, width: int, theme: str) -> None:
    """Give the page its width and the theme that its system prefers."""
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def js(browser: Chrome, code: str, *arguments: object) -> Any:
    return browser.execute_script(code, *arguments)
