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

COLOURS = """
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const known = new Map();
    function rgba(colour) {
        if (!known.has(colour)) {
            context.clearRect(0, 0, 1, 1);
            context.fillStyle = colour;
            context.fillRect(0, 0, 1, 1);
            known.set(colour, [...context.getImageData(0, 0, 1, 1).data].map((x) => x / 255));
        }
        return known.get(colour);
    }
    const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    function behind(element) {
        for (let e = element; e; e = e.parentElement) {
            const colour = rgba(getComputedStyle(e).backgroundColor);
            if (colour[3] === 1) return colour;
            if (colour[3] > 0) throw new Error(`translucent: ${e.outerHTML.slice(0, 200)}`);
        }
        throw new Error("nothing behind");
    }
    const found = [];
    let count = 0;
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
        if (element.closest("script, style, noscript, option, :disabled")) continue;
        const [a, b] = [rgba(getComputedStyle(element).color), behind(element)].map(light);
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        count += 1;
        if (ratio < 4.5) found.push([ratio, element.outerHTML.slice(0, 200)]);
    }
    return [count, found];
"""
"""How many texts a page shows, and those that lack the contrast that WCAG AA asks for."""

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
