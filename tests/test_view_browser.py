"""The view of a Doc in a real browser: nothing overflows, overlaps, leaks or is hard to read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from spacy_iobes.pipeline import render

from .browser import COLOURS, THEMES, Chrome, js, needs_browser, pretend, started
from .test_view import malformed, tagged

pytestmark = needs_browser

WIDTHS = (375, 1280)
NAMES = ("short", "policies", "long")
POLICIES = ["raise", "begin", "discard", "ncrfpp", "stanza", "nearest"]
LONG = "https://example.org/" + "0123456789" * 20


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages with what is hard to fit: other directions, long words, long labels, many policies."""
    arabic = tagged("كتبت آدا لوفليس إلى بنك كينيا", "O I-PER E-PER O B-ORG I-LOC", "ar")
    markup = tagged("<script>alert(1)</script> </style> of", "S-<b>x</b> ! E-LOC")
    strange = tagged("a b", "O X-PER")
    words, tags = f"Ada Lovelace of {LONG} said New ", f"B-PER I-PER O B-{'long-' * 20} O I-GPE "
    docs = [malformed(), arabic, markup, strange, tagged("", "")]
    made = {
        "short": render(docs, scheme="iobes", policy="begin", page=True),
        "policies": render(docs, scheme="iobes", policy=POLICIES, page=True),
        "long": render(tagged(words * 20, tags * 20), scheme="iobes", policy="begin", page=True),
        "fragment": render(docs, scheme="iobes", policy=POLICIES),
    }
    folder = tmp_path_factory.mktemp("views")
    for name, html in made.items():
        (folder / f"{name}.html").write_text(html or "", encoding="utf8")
    return {name: folder / f"{name}.html" for name in made}


@pytest.fixture(scope="module")
def chrome(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with started(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


def opened(chrome: Chrome, path: Path, width: int = 1280, theme: str = "light") -> Chrome:
    pretend(chrome, width, theme)
    chrome.get_log("browser")
    chrome.get(path.as_uri())
    assert chrome.get_log("browser") == []
    return chrome


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_overflows(chrome: Chrome, pages: dict[str, Path], name: str, width: int) -> None:
    code = """
        return [...document.querySelectorAll("body *")].filter((e) => {
            const box = e.getBoundingClientRect();
            const around = (e.closest(".iobes-panel") || document.body).getBoundingClientRect();
            return box.width && (box.left < around.left - 1 || box.right > around.right + 1
                || box.right > innerWidth + 1 || box.bottom > around.bottom + 1);
        }).map((e) => e.outerHTML.slice(0, 200));
    """
    assert js(opened(chrome, pages[name], width), code) == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_overlaps(chrome: Chrome, pages: dict[str, Path], name: str, width: int) -> None:
    """No two boxes of one text share more than a line of pixels, unless one is in the other."""
    code = """
        const found = [];
        const kinds = ".iobes-token, .iobes-gap, .iobes-entity, .iobes-changed";
        for (const text of document.querySelectorAll(".iobes-tokens, .iobes-text")) {
            const boxes = [...text.querySelectorAll(kinds)]
                .map((e) => [e, e.getBoundingClientRect()]);
            boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
                const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
                const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
                if (wide > 1 && high > 1 && !a.contains(b)) found.push([a.outerHTML, b.outerHTML]);
            }));
        }
        return found;
    """
    assert js(opened(chrome, pages[name], width), code) == []


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", NAMES)
def test_contrast(chrome: Chrome, pages: dict[str, Path], name: str, theme: str) -> None:
    """Every text has the contrast that WCAG AA asks for."""
    count, found = js(opened(chrome, pages[name], theme=theme), COLOURS)
    assert count > 100
    assert found == []


def test_a_notebook_keeps_its_own_looks(
    chrome: Chrome, pages: dict[str, Path], tmp_path: Path
) -> None:
    host = tmp_path / "host.html"
    names = "p h1 h2 b code mark ol li section main bdi span".split()  # noqa: SIM905
    body = "".join(f"<{name} class='panel'>{name}</{name}>" for name in names)
    host.write_text(f"<!DOCTYPE html><title>host</title><body>{body}", encoding="utf8")
    code = """
        const looks = () => [...document.querySelectorAll(".panel, body")].flatMap((e) =>
            [...getComputedStyle(e)].map((key) =>
                `${e.tagName} ${key} ${getComputedStyle(e)[key]}`));
        const before = looks();
        document.body.insertAdjacentHTML("beforeend", arguments[0]);
        const after = looks();
        const room = /(width|height|size|origin) /; // a longer page has a scroll bar
        return [before.length, before.filter((look, i) => look !== after[i] && !room.test(look))];
    """
    html = pages["fragment"].read_text(encoding="utf8")
    count, found = js(opened(chrome, host), code, html)
    assert count > 1000
    assert found == []


def test_direction(chrome: Chrome, pages: dict[str, Path]) -> None:
    """The first token of a Doc stands on the left in English, on the right in Arabic."""
    code = """
        return [...document.querySelectorAll(".iobes-tokens")].slice(0, 2).map((text) => {
            const [a, b] = [...text.querySelectorAll(".iobes-token")];
            return a.getBoundingClientRect().left < b.getBoundingClientRect().left;
        });
    """
    assert js(opened(chrome, pages["short"]), code) == [True, False]
