"""The report page in a real browser: Chromium without a window, driven by selenium."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spacy_iobes.cli import app

from .browser import (
    COLOURS,
    NO_DRIVER,
    THEMES,
    Chrome,
    js,
    needs_browser,
    pretend,
    started,
    webdriver,
)
from .test_page import KINDS, LABELS, run, written

exceptions = pytest.importorskip("selenium.common.exceptions", reason=NO_DRIVER)
select = pytest.importorskip("selenium.webdriver.support.select", reason=NO_DRIVER)
waiting = pytest.importorskip("selenium.webdriver.support.wait", reason=NO_DRIVER)

pytestmark = needs_browser
MANY = 5_000
WIDTHS = (360, 1280)

Open = Callable[..., Chrome]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="module")
def browser(folder: Path) -> Iterator[Chrome]:
    """One browser for all tests that store nothing in it."""
    with started(folder / "profile") as driver:
        yield driver


@pytest.fixture(scope="module")
def small(folder: Path) -> Path:
    """The page of the corpus with six mistakes."""
    gold, predicted = written(folder / "gold.bio", 0, 1), written(folder / "system.bio", 0, 2)
    return made(gold, predicted)


@pytest.fixture(scope="module")
def wide(folder: Path) -> Path:
    """A page with what is hard to fit: long names, long words, a long sentence, many labels."""
    word = "https://example.org/" + "0123456789" * 20
    labels = [f"LABEL-{'x' * number}-{number}" for number in range(30)]
    gold, predicted = folder / ("gold-" + "long" * 30), folder / ("predicted_" + "long" * 30)
    tokens = [f"{word}\tB-{label}\n" for label in labels] * 20
    gold.write_text("".join(tokens))
    predicted.write_text("".join(tokens[1:] + tokens[:1]).replace("-0\n", "-1\n"))
    return made(gold, predicted)


@pytest.fixture(scope="module")
def many(folder: Path) -> Path:
    """A page with many mistakes: every sentence has one, every tenth is spurious."""
    gold, predicted = folder / "many.gold", folder / "many.predicted"
    rows = [("O", "B-B") if i % 10 == 0 else ("B-A", "O") for i in range(MANY)]
    for side, path in enumerate((gold, predicted)):
        lines = [f"sentence O\nnumber O\nn{i}n {row[side]}\n" for i, row in enumerate(rows)]
        path.write_text("\n".join(lines))
    return made(gold, predicted)


@pytest.fixture(scope="module")
def perfect(folder: Path) -> Path:
    """A page where every figure is 100.00."""
    gold = written(folder / "perfect.bio", 0, 1)
    return made(gold, gold)


@pytest.fixture(scope="module")
def nested(folder: Path) -> Path:
    """A page of mentions that nest and cross, with a long word and a long label among them."""
    words = ["human", "IL-2", "gene", "promoter", "x" * 300, *("in T cells " * 60).split()]
    gold = [[0, 4, "DNA"], [0, 3, "DNA"], [1, 2, "protein"], [4, 5, "L" * 80], [5, 8, "cell"]]
    predicted = [[0, 4, "DNA"], [1, 3, "DNA"], [1, 2, "protein"], [6, 8, "<b>cell</b>"]]
    paths = [folder / "nested.gold.jsonl", folder / "nested.system.jsonl"]
    for path, spans in zip(paths, (gold, predicted)):
        rows = [{"tokens": words, "spans": spans}, {"tokens": ["none"], "spans": []}]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    page = folder / "nested.html"
    result = CliRunner().invoke(app, ["score", *map(str, paths), "--html", str(page)])
    assert result.exit_code == 0, result.stderr
    return page


@pytest.fixture(scope="module")
def partial(folder: Path) -> Path:
    """The small corpus by another match, and not all of its mistakes."""
    gold, predicted = written(folder / "muc.gold", 0, 1), written(folder / "muc.system", 0, 2)
    return made(gold, predicted, "--match", "muc-partial", "--limit", "4")


def made(gold: Path, predicted: Path, *options: str) -> Path:
    path = gold.with_suffix(".html")
    result = run(gold, predicted, "--policy", "begin", "--html", path, *options)
    assert result.exit_code == 0, result.stderr
    return path


@pytest.fixture
def opened(browser: Chrome) -> Iterator[Open]:
    """Opens a page; afterwards the console must be silent."""

    def go(path: Path, width: int = 1280, theme: str = "light") -> Chrome:
        pretend(browser, width, theme)
        browser.get("about:blank")
        browser.get_log("performance")
        browser.get(path.as_uri())
        return browser

    browser.get_log("browser")
    yield go
    assert browser.get_log("browser") == []


def texts(browser: Chrome, selector: str) -> list[str]:
    found = js(
        browser,
        "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
        selector,
    )
    assert isinstance(found, list)
    return found


def wait_until(browser: Chrome, condition: Callable[[], bool], message: str) -> None:
    wait = waiting.WebDriverWait(browser, 10, poll_frequency=0.05)
    wait.until(lambda _: condition(), message)


def wait_for(browser: Chrome, selector: str, wanted: str) -> None:
    """Wait until an element says what it should."""
    message = f"{selector} never said {wanted!r}"
    wait_until(browser, lambda: texts(browser, selector) == [wanted], message)


def choose(browser: Chrome, field: str, option: str) -> None:
    select.Select(browser.find_element("id", field)).select_by_visible_text(option)


def search(browser: Chrome, text: str) -> None:
    field = browser.find_element("id", "search")
    field.clear()
    field.send_keys(text)


def kinds(browser: Chrome) -> list[str]:
    return texts(browser, ".list .kind")


# From a file, without a network


def test_nothing_is_fetched(opened: Open, small: Path) -> None:
    browser = opened(small)
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    requests = [e["params"] for e in events if e["method"] == "Network.requestWillBeSent"]
    addresses = {request["request"]["url"] for request in requests}
    assert addresses - {"data:,"} == {small.as_uri()}


def test_scripts_in_the_data_are_text(opened: Open, small: Path) -> None:
    browser = opened(small)
    with pytest.raises(exceptions.NoAlertPresentException):
        _ = browser.switch_to.alert.text
    search(browser, "<script>ALERT(1)")
    wait_for(browser, "#count", "2 of 6 mistakes")
    assert len(texts(browser, "script")) == 3
    gold, predicted = texts(browser, ".text")
    assert gold.startswith("<script>alert(1)</script>ORG </script> &amp;")
    assert predicted.startswith("<script>alert(1)</script> </script>MISC-x &amp;")


def test_other_scripts_may_not_run(browser: Chrome, small: Path, folder: Path) -> None:
    """Were markup ever to get through, the policy of the page would stop it."""
    evil = folder / "evil.html"
    html = small.read_text(encoding="utf8")
    added = "<script>document.title = 'evil'</script><img src='http://localhost:9/'></body>"
    evil.write_text(html.replace("</body>", added), encoding="utf8")
    browser.get(evil.as_uri())
    assert browser.title == "system.bio against gold.bio"
    said = " ".join(entry["message"] for entry in browser.get_log("browser"))
    assert said.count("Content Security Policy") >= 2


# Figures


def test_figures(opened: Open, small: Path) -> None:
    browser = opened(small)
    assert browser.title == "system.bio against gold.bio"
    assert texts(browser, "h1") == [browser.title]
    assert texts(browser, "#score") == ["30.77"]
    assert texts(browser, ".scores tbody th") == [
        *LABELS,
        *(f"{name} average" for name in ("micro", "macro", "weighted")),
    ]
    assert texts(browser, ".scores tr:nth-child(3) td") == ["3", "0", "0", "–", "0.00", "0.00"]
    widths = js(
        browser,
        "return [...document.querySelectorAll('tr:nth-child(1) .fill')].map((fill) =>"
        "Math.round(100 * fill.offsetWidth / fill.parentElement.offsetWidth))",
    )
    assert widths == pytest.approx([25, 50, 33], abs=1)
    assert texts(browser, ".heat tbody tr:nth-child(3) td") == ["2", "0", "0", "0", "1"]
    assert texts(browser, "#policy-table .refused") == ["refused"]
    assert texts(browser, "#policy-table .chosen td") == ["1", "28.57", "33.33", "30.77", "0.00"]
    assert len(texts(browser, "#match-table tbody tr")) == 4


def test_figures_of_another_match(opened: Open, partial: Path) -> None:
    browser = opened(partial)
    assert texts(browser, "#score") == ["61.54"]
    assert texts(browser, "#match")[0].startswith("spans that overlap")
    assert texts(browser, "#policy-figures") == ["micro average, muc-partial match"]
    assert texts(browser, ".scores tr:nth-child(3) td")[:7] == ["3", "0", "1", "0", "1", "1", "0"]
    assert len(texts(browser, ".scores tr:nth-child(3) .fill")) == 3


def test_the_page_says_that_it_does_not_hold_all_mistakes(
    opened: Open, partial: Path, small: Path
) -> None:
    browser = opened(partial)
    assert texts(browser, "#count") == ["4 of 4 mistakes"]
    assert texts(browser, "#cut")[0].startswith("This page holds the first 4 of 6 mistakes.")
    assert browser.find_element("id", "cut").is_displayed()
    assert not opened(small).find_element("id", "cut").is_displayed()


def test_labels_have_colours_of_their_own(opened: Open, small: Path) -> None:
    browser = opened(small)
    code = (
        "return [...document.querySelectorAll('.swatch')].map((e) => getComputedStyle(e)"
        ".backgroundColor)"
    )
    first = js(browser, code)
    assert len(set(first)) == len(LABELS)
    browser.refresh()
    assert js(browser, code) == first


# Mistakes


def test_mistakes_are_drawn(opened: Open, small: Path) -> None:
    browser = opened(small)
    assert texts(browser, "#count") == ["6 of 6 mistakes"]
    assert len(texts(browser, ".card")) == 5  # two mistakes share a sentence
    first = ".card:first-child "
    assert texts(browser, f"{first} .text") == [
        "Ada LovelacePER met IBMORG ",
        "Ada LovelacePER met IBMLOC ",
    ]
    assert texts(browser, f"{first} .mistaken") == ["IBMORG", "IBMLOC"]
    assert texts(browser, f"{first} .lines") == ["gold line 4 · predicted line 4"]
    third = ".card:nth-child(3) "
    assert texts(browser, f"{third} .mistaken") == [
        "<script>alert(1)</script>ORG",
        "</script>MISC-x",
    ]
    assert texts(browser, f"{third} .gap") == ["</script>", "<script>alert(1)</script>"]


@pytest.mark.parametrize("kind", KINDS)
def test_filter_by_kind(opened: Open, small: Path, kind: str) -> None:
    browser = opened(small)
    choose(browser, "kind", f"{kind} ({KINDS[kind]})")
    wait_for(browser, "#count", f"{KINDS[kind]} of 6 mistakes")
    assert kinds(browser) == [kind] * KINDS[kind]


def test_filter_by_label_of_either_side(opened: Open, small: Path) -> None:
    browser = opened(small)
    choose(browser, "label", "ORG (3)")
    wait_for(browser, "#count", "3 of 6 mistakes")
    assert kinds(browser) == ["label", "missed", "label and boundary"]
    choose(browser, "label", "LOC (3)")
    wait_for(browser, ".card:first-child .kind", "label")
    assert kinds(browser) == ["label", "boundary", "label and boundary"]
    choose(browser, "kind", "boundary (1)")
    wait_for(browser, "#count", "1 of 6 mistakes")


def test_search(opened: Open, small: Path) -> None:
    browser = opened(small)
    search(browser, "  new   YORK ")
    wait_for(browser, "#count", "1 of 6 mistakes")
    assert kinds(browser) == ["boundary"]
    search(browser, "nowhere")
    wait_for(browser, "#count", "0 of 6 mistakes")
    wait_for(browser, "#cards", "No mistake is like that.")
    browser.find_element("id", "clear").click()
    wait_for(browser, "#count", "6 of 6 mistakes")


def test_a_cell_shows_its_mistakes(opened: Open, small: Path) -> None:
    browser = opened(small)
    browser.find_element("css selector", ".heat tr:nth-child(3) button").send_keys(
        webdriver.Keys.ENTER
    )
    wait_for(browser, "#count", "2 of 6 mistakes")
    assert kinds(browser) == ["label", "label and boundary"]
    wait_for(browser, "#cell", "gold ORG, predicted LOC ✕")
    browser.find_element("id", "cell").click()
    wait_for(browser, "#count", "6 of 6 mistakes")
    for cell in browser.find_elements("css selector", ".heat button"):
        name = cell.get_attribute("aria-label") or ""
        cell.click()
        wait_for(browser, "#count", f"{name.split()[-2]} of 6 mistakes")


def test_by_keyboard(opened: Open, small: Path) -> None:
    keys = webdriver.Keys
    browser = opened(small)
    browser.find_element("id", "search").click()
    webdriver.ActionChains(browser).send_keys("script", keys.TAB, "missed").perform()
    wait_for(browser, "#count", "1 of 6 mistakes")
    webdriver.ActionChains(browser).send_keys(keys.TAB, keys.TAB, keys.ENTER).perform()
    wait_for(browser, "#count", "6 of 6 mistakes")


def test_thousands_of_mistakes(opened: Open, many: Path) -> None:
    """Only a page of them is drawn, and a filter is done when its event is."""
    browser = opened(many)
    assert texts(browser, "#count") == ["5,000 of 5,000 mistakes"]
    assert texts(browser, "#place") == ["1 of 100"]
    assert len(kinds(browser)) == 50
    code = """
        const field = document.getElementById(arguments[0]);
        field.value = arguments[1];
        field.dispatchEvent(new Event(field.tagName === "INPUT" ? "input" : "change"));
        return document.getElementById("count").textContent;
    """
    assert js(browser, code, "kind", "spurious") == "500 of 5,000 mistakes"
    assert js(browser, code, "label", "0") == "0 of 5,000 mistakes"
    assert js(browser, code, "label", "1") == "500 of 5,000 mistakes"
    assert js(browser, code, "search", "number n4990n") == "1 of 5,000 mistakes"
    assert kinds(browser) == ["spurious"]


def test_pages(opened: Open, many: Path) -> None:
    browser = opened(many)
    previous, following = (browser.find_element("id", name) for name in ("previous", "next"))
    assert not previous.is_enabled()
    following.click()
    wait_for(browser, "#place", "2 of 100")
    assert "n50n" in texts(browser, ".card:first-child .text")[0]
    choose(browser, "kind", "spurious (500)")
    wait_for(browser, "#place", "1 of 10")
    for number in range(2, 11):
        following.click()
        wait_for(browser, "#place", f"{number} of 10")
    assert not following.is_enabled()
    previous.click()
    wait_for(browser, "#place", "9 of 10")


def test_long_sentences_are_cut_around_mistakes(opened: Open, wide: Path) -> None:
    browser = opened(wide)
    sizes = [len(text.split()) for text in texts(browser, ".text")]
    assert len(sizes) > 2
    assert max(sizes) <= 1 + 100 + 2 * 40 + 2


def test_nested_spans_are_stacked(opened: Open, nested: Path) -> None:
    """Every span is a bar under its tokens, the shortest nearest to them."""
    browser = opened(nested)
    assert not browser.find_element("id", "policies").is_displayed()
    code = """
        const drawn = (side) => {
            const bars = [];
            [...side.querySelectorAll(".token")].forEach((token, place) => {
                [...token.querySelectorAll(".lane")].forEach((cell, lane) => {
                    if (cell.classList.contains("first")) {
                        bars.push([lane, place, place, cell.title, [...cell.classList].slice(1)]);
                    }
                    if (cell.classList.contains("last")) {
                        bars.filter((bar) => bar[0] === lane).at(-1)[2] = place + 1;
                    }
                });
            });
            const state = (names) => ["wrong", "absent"].filter((name) => names.includes(name));
            return bars.map((bar) => [...bar.slice(0, 4), state(bar[4])]);
        };
        return [...document.querySelectorAll(".card:first-child .side")].map(drawn);
    """
    gold, predicted = js(browser, code)
    assert sorted(gold) == [
        [0, 1, 2, "protein", []],
        [0, 4, 5, "L" * 80, ["wrong"]],
        [0, 5, 8, "cell", ["wrong"]],
        [1, 0, 3, "DNA", ["wrong"]],
        [2, 0, 4, "DNA", []],
    ]
    assert sorted(predicted) == [
        [0, 1, 2, "protein", []],
        [0, 4, 5, "L" * 80, ["absent"]],
        [0, 6, 8, "<b>cell</b>", ["wrong"]],
        [1, 1, 3, "DNA", ["wrong"]],
        [2, 0, 4, "DNA", []],
    ]
    rows = texts(browser, ".scores tbody th")
    assert "inside another mention of the same label" in rows


# Looks


@pytest.mark.parametrize("theme", THEMES)
def test_theme_follows_the_system_until_one_is_chosen(
    small: Path, tmp_path: Path, theme: str
) -> None:
    other = THEMES[theme == "light"]
    with started(tmp_path / "profile") as browser:
        pretend(browser, 1280, theme)
        browser.get(small.as_uri())
        assert is_dark(browser) == (theme == "dark")
        wait_for(browser, "#theme", f"{other.title()} theme")
        browser.find_element("id", "theme").click()
        wait_for(browser, "#theme", f"{theme.title()} theme")
        assert is_dark(browser) == (other == "dark")
        wait_until(browser, lambda: remembered(browser, other), "the theme was forgotten")


def remembered(browser: Chrome, theme: str) -> bool:
    """Choose a theme and come back; now and then Chromium loses what a file:// page has stored."""
    if is_dark(browser) != (theme == "dark"):
        browser.find_element("id", "theme").click()
    browser.refresh()
    return is_dark(browser) == (theme == "dark")


def is_dark(browser: Chrome) -> bool:
    channels = js(browser, "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g)")
    return sum(map(int, channels)) < 3 * 128


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["small", "wide", "many", "perfect", "partial", "nested"])
def test_nothing_is_wider_than_the_page(
    opened: Open, name: str, width: int, request: pytest.FixtureRequest
) -> None:
    browser = opened(request.getfixturevalue(name), width)
    root = "document.documentElement"
    assert js(browser, f"return {root}.scrollWidth <= {root}.clientWidth")
    outside = """
        const beyond = (e) => e.getBoundingClientRect().right > innerWidth + 1;
        return [...document.querySelectorAll("body *")]
            .filter((e) => beyond(e) && !e.parentElement.closest(".scroll"))
            .map((e) => e.outerHTML.slice(0, 200));
    """
    assert js(browser, outside) == []
    inside = """
        return [...document.querySelectorAll(".panel, .card, .list li, td, button")]
            .filter((e) => e.scrollWidth > e.clientWidth + 1)
            .map((e) => e.outerHTML.slice(0, 200));
    """
    assert js(browser, inside) == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["small", "wide", "perfect", "partial", "nested"])
def test_nothing_overlaps(
    opened: Open, name: str, width: int, request: pytest.FixtureRequest
) -> None:
    """No two blocks in the same parent share more than a line of pixels."""
    browser = opened(request.getfixturevalue(name), width)
    code = """
        const found = [];
        const isBlock = (e) => {
            const style = getComputedStyle(e);
            return !style.display.startsWith("inline") && style.display !== "none"
                && ["static", "relative"].includes(style.position)
                && e.offsetWidth && e.offsetHeight;
        };
        for (const parent of document.querySelectorAll("body, body *")) {
            const boxes = [...parent.children].filter(isBlock).slice(0, 40)
                .map((e) => [e, e.getBoundingClientRect()]);
            boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
                const wide = Math.min(p.right, q.right) - Math.max(p.left, q.left);
                const high = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
                if (wide > 1 && high > 1) found.push([a, b].map((e) => e.outerHTML.slice(0, 120)));
            }));
        }
        return found;
    """
    assert js(browser, code) == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_figure_stands_on_one_line(opened: Open, perfect: Path, width: int) -> None:
    browser = opened(perfect, width)
    code = """
        return [...document.querySelectorAll(".figure > :first-child")]
            .map((e) => [e.textContent, e.getClientRects().length, e.scrollWidth <= e.clientWidth,
                e.offsetHeight < 1.9 * parseFloat(getComputedStyle(e).fontSize)]);
    """
    figures = js(browser, code)
    assert ["100.00", 1, True, True] in figures
    assert all(figure[1:] == [1, True, True] for figure in figures)


@pytest.mark.parametrize("width", WIDTHS)
def test_a_colour_stands_beside_its_label(opened: Open, wide: Path, width: int) -> None:
    browser = opened(wide, width)
    code = """
        return [...document.querySelectorAll(".named")].map((e) => {
            const [swatch, name] = [...e.children].map((child) => child.getBoundingClientRect());
            return swatch.right <= name.left && swatch.bottom <= name.top + 24;
        });
    """
    beside = js(browser, code)
    assert len(beside) > 29
    assert all(beside)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_label_of_the_heat_map_is_cut(opened: Open, wide: Path, width: int) -> None:
    browser = opened(wide, width)
    code = """
        return [...document.querySelectorAll(".heat th span")].filter((e) => {
            const style = getComputedStyle(e);
            const cut = e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1;
            return style.textOverflow === "ellipsis" || style.overflow === "hidden" || cut;
        }).map((e) => e.outerHTML);
    """
    assert js(browser, code) == []


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", ["small", "wide", "nested"])
def test_contrast(opened: Open, name: str, theme: str, request: pytest.FixtureRequest) -> None:
    """Every text has the contrast that WCAG AA asks for."""
    browser = opened(request.getfixturevalue(name), theme=theme)
    count, found = js(browser, COLOURS)
    assert count > 100
    assert found == []


def test_every_control_has_a_name(opened: Open, small: Path) -> None:
    browser = opened(small)
    code = """
        return [...document.querySelectorAll("button, input, select, [tabindex='0']")]
            .filter((e) => !e.hidden && !(e.getAttribute("aria-label") || e.textContent.trim()
                && e.tagName === "BUTTON" || e.labels && e.labels.length))
            .map((e) => e.outerHTML.slice(0, 200));
    """
    assert js(browser, code) == []
