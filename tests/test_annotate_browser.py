"""The annotation page in a real browser, with a real server that may be killed."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_iobes import Span
from spacy_iobes.generate import GeneratedSentence
from spacy_iobes.selection import Pool, Session, Settings

from .browser import (
    COLOURS,
    NO_DRIVER,
    THEMES,
    Chrome,
    js,
    needs_browser,
    pretend,
    started,
)
from .commands import fine
from .served import Served, Server, here, served
from .small_sessions import gold_of, mentions, sentences, small

keys = pytest.importorskip("selenium.webdriver.common.keys", reason=NO_DRIVER)
chains = pytest.importorskip("selenium.webdriver.common.action_chains", reason=NO_DRIVER)
builders = pytest.importorskip("selenium.webdriver.common.actions.action_builder", reason=NO_DRIVER)
pointers = pytest.importorskip("selenium.webdriver.common.actions.pointer_input", reason=NO_DRIVER)
waiting = pytest.importorskip("selenium.webdriver.support.wait", reason=NO_DRIVER)

pytestmark = needs_browser
Keys = keys.Keys
LABELS = ("PER", "LOC")
LETTERS = {"PER": "p", "LOC": "l", "ORG": "o", "DATE": "d", "SHIP": "h"}
WIDTHS = (375, 1280)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    with started(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


class Page:
    """The page in a browser, used as a person would."""

    def __init__(self, browser: Chrome, server: Served, width: int = 1280, theme: str = "light"):
        self.browser, self.server = browser, server
        pretend(browser, width, theme)
        browser.get("about:blank")
        browser.get_log("browser")
        browser.get_log("performance")
        browser.get(server.url)
        self.ready()

    def until(self, condition: Callable[[], object], message: str) -> None:
        wait = waiting.WebDriverWait(self.browser, 30, poll_frequency=0.02)
        wait.until(lambda _: condition(), message)

    def ready(self) -> None:
        """Wait until a sentence is shown, or all are read."""
        shown = (
            "return document.readyState === 'complete' && !document.body.ariaBusy && "
            "(document.getElementById('sentence').textContent !== '' && "
            "!document.getElementById('task').hidden || "
            "document.getElementById('pause-text').textContent.startsWith('All '))"
        )
        self.until(lambda: js(self.browser, shown), "nothing is shown")

    def text(self, name: str) -> str:
        found: str = js(
            self.browser, "return document.getElementById(arguments[0]).textContent", name
        )
        return found

    @property
    def sentence(self) -> int:
        """The number of the sentence that is shown, from 0; -1 at the end."""
        if js(self.browser, "return document.getElementById('task').hidden"):
            return -1
        return int(self.text("why").rpartition(" ")[2].replace(",", "")) - 1

    @property
    def spans(self) -> list[Span]:
        """The mentions that are drawn: from their names, and the words that are underlined."""
        rows = js(
            self.browser,
            """
            return [...document.querySelectorAll("button.name")].map((name) => [
                Number(name.closest(".token").dataset.token), name.getAttribute("aria-label")]);
            """,
        )
        found, words = [], self.words
        for start, told in rows:
            label, _, text = told.removeprefix("Remove ").partition(": ")
            ends = [e for e in range(start + 1, len(words) + 1) if " ".join(words[start:e]) == text]
            found.append(Span(start, ends[0], label))
        return sorted(found)

    @property
    def words(self) -> list[str]:
        found: list[str] = js(
            self.browser,
            "return [...document.querySelectorAll('.token > .text')].map((e) => e.textContent)",
        )
        return found

    @property
    def suggestions(self) -> list[str]:
        found: list[str] = js(
            self.browser,
            "return [...document.querySelectorAll('.candidate')].map((e) => e.ariaLabel)",
        )
        return found

    def press(self, *some: str) -> None:
        chains.ActionChains(self.browser).send_keys(*some).perform()

    def extend(self, count: int, key: str = "") -> None:
        """Shift and an arrow."""
        arrow = key or Keys.ARROW_RIGHT
        chain = chains.ActionChains(self.browser).key_down(Keys.SHIFT)
        chain.send_keys(*[arrow] * count).key_up(Keys.SHIFT).perform()

    def answered(self, *some: str) -> None:
        """Press something that answers, and wait for what is next."""
        before = js(self.browser, "return performance.getEntriesByType('resource').length")
        self.press(*some)
        sent = "return performance.getEntriesByType('resource').length > arguments[0]"
        self.until(lambda: js(self.browser, sent, before), f"{some} did nothing")
        self.ready()

    def draw(self, span: Span) -> None:
        """Make a mention by keys alone."""
        self.press(Keys.HOME, Keys.ESCAPE, Keys.HOME, *[Keys.ARROW_RIGHT] * span.start)
        if span.end - span.start > 1:
            self.extend(span.end - span.start - 1)
        self.press(LETTERS[span.label])

    def silent(self) -> None:
        assert self.browser.get_log("browser") == []


@pytest.fixture
def open_page(browser: Chrome, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens the page of a new small session."""
    with ExitStack() as stack:

        def go(count: int = 12, width: int = 1280, **settings: Any) -> Page:
            chosen = {"batch": 6, "audit": 0.0, **settings}
            server = stack.enter_context(here(small(tmp_path / "state", count, **chosen)))
            return Page(browser, server, width)

        yield go


def bio(some: Sequence[GeneratedSentence]) -> list[list[list[str]]]:
    """The lines of sentences, tags written here."""
    found = []
    for each in some:
        tags = ["O"] * len(each.words)
        for start, end, label in each.spans:
            tags[start:end] = [f"B-{label}", *[f"I-{label}"] * (end - start - 1)]
        found.append([list(row) for row in zip(each.words, tags)])
    return found


def test_by_keyboard_alone_to_the_end(open_page: Callable[..., Page], tmp_path: Path) -> None:
    """Every sentence is annotated as it should be; what is written is what was pressed."""
    page, gold, asked = open_page(20, audit=0.25), gold_of(sentences(20), LABELS), list[int]()
    chosen = 0
    while (number := page.sentence) >= 0:
        asked.append(number)
        assert page.words == sentences(20)[number].words
        spoken = [f"{label}: {' '.join(page.words[s:e])}." for s, e, label in gold[number]]
        wanted = f"{' '.join(spoken) or 'No mention.'} "
        ways = [
            i
            for i, one in enumerate(page.suggestions, 1)
            if one.startswith(f"Accept {i}: {wanted}")
        ]
        if ways:
            chosen += 1
            page.answered(str(ways[0]))
            continue
        page.press("0")
        assert page.spans == []
        for span in gold[number]:
            page.draw(span)
        assert page.spans == gold[number]
        page.answered(Keys.ENTER)
    assert sorted(asked) == list(range(20))
    assert chosen, "no suggestion was ever right"
    assert page.text("pause-text") == "All 20 sentences are read."
    assert page.text("export") == "spacy-iobes convert state FILE"
    assert page.text("coverage") == "100 %"
    assert page.text("mentions") == str(sum(map(len, gold)))
    page.silent()
    fine("convert", tmp_path / "state", tmp_path / "out.bio", "--to-scheme", "bio")
    blocks = (tmp_path / "out.bio").read_text().strip().split("\n\n")
    rows = [[line.split("\t") for line in block.split("\n")] for block in blocks]
    assert [block for block in rows if block[0][0] != "-DOCSTART-"] == bio(sentences(20))


def test_killed_in_the_middle_it_goes_on(browser: Chrome, tmp_path: Path) -> None:
    small(tmp_path / "state", 20, batch=6).close()
    with served(tmp_path / "state") as server:
        goes_on(Page(browser, server), server, tmp_path)


def goes_on(page: Page, server: Server, tmp_path: Path) -> None:
    gold, known = gold_of(sentences(20), LABELS), list[int]()
    for _ in range(8):
        number = page.sentence
        page.press("0")
        for span in gold[number]:
            page.draw(span)
        page.answered(Keys.ENTER)
        known.append(number)
    server.end(signal.SIGKILL)
    number = page.sentence
    page.press("0")
    for span in gold[number]:
        page.draw(span)
    page.press(Keys.ENTER)
    page.until(lambda: "does not answer" in page.text("notices"), "nobody was told")
    assert "Your answer is kept" in page.text("notices")
    page.press("s", "x", "z", Keys.ENTER)  # nothing else is taken meanwhile
    with Session.look(tmp_path / "state") as session:
        assert [made.sentence for made in session.decisions] == known
    with served(tmp_path / "state") as again:
        assert again.url == server.url
        page.until(lambda: page.sentence not in (number, -1), "it did not go on")
        page.ready()
        assert page.text("notices") == ""
        known.append(number)
        for _ in range(3):
            number = page.sentence
            page.press("0")
            for span in gold[number]:
                page.draw(span)
            page.answered(Keys.ENTER)
            known.append(number)
    with Session.look(tmp_path / "state") as session:
        assert [(made.sentence, made.answer) for made in session.decisions] == [
            (number, "accept") for number in known
        ]
        assert all(list(made.spans) == gold[made.sentence] for made in session.decisions)


def test_old_hints_go_when_the_server_does(browser: Chrome, tmp_path: Path) -> None:
    small(tmp_path / "state", 12).close()
    with served(tmp_path / "state") as server:
        page = Page(browser, server)
        page.press("z")
        assert page.text("notices") == "There is nothing to undo."
        server.end(signal.SIGKILL)
        page.press(Keys.ENTER)
        page.until(lambda: "does not answer" in page.text("notices"), "nobody was told")
        assert "nothing to undo" not in page.text("notices")


def box(page: Page, token: int) -> tuple[int, int]:
    """The middle of a word, in the window."""
    x, y = js(
        page.browser,
        """
        const token = document.querySelectorAll(".token > .text")[arguments[0]];
        const box = token.getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
        """,
        token,
    )
    return int(x), int(y)


def drag(page: Page, start: int, end: int) -> None:
    """Press on a word, go over others, and let go."""
    pointer = pointers.PointerInput("mouse", "it")
    actions = builders.ActionBuilder(page.browser, mouse=pointer)
    (x, y), (u, v) = box(page, start), box(page, end)
    actions.pointer_action.move_to_location(x, y).pointer_down()
    if end != start:
        actions.pointer_action.move_to_location((x + u) // 2, (y + v) // 2).move_to_location(u, v)
    actions.pointer_action.pointer_up()
    actions.perform()


def touch(page: Page, start: int, end: int) -> None:
    """The same with a finger."""
    (x, y), (u, v) = box(page, start), box(page, end)
    places = [(x, y), ((x + u) // 2, (y + v) // 2), (u, v)]
    for place, kind in zip(places, ("touchStart", "touchMove", "touchMove")):
        points = [{"x": place[0], "y": place[1]}]
        event = {"type": kind, "touchPoints": points}
        page.browser.execute_cdp_cmd("Input.dispatchTouchEvent", event)
    event = {"type": "touchEnd", "touchPoints": []}
    page.browser.execute_cdp_cmd("Input.dispatchTouchEvent", event)


def click(page: Page, selector: str) -> None:
    page.browser.find_element("css selector", selector).click()


def test_mouse(open_page: Callable[..., Page], tmp_path: Path) -> None:
    page = open_page()
    drag(page, 0, 2)
    assert page.spans == [Span(0, 3, "PER")]
    drag(page, 3, 1)  # backwards, and over the one before
    assert page.spans == [Span(1, 4, "PER")]
    click(page, "#labels button:nth-child(2)")
    drag(page, 0, 0)
    assert page.spans == [Span(0, 1, "LOC"), Span(1, 4, "PER")]
    drag(page, 2, 2)  # a click within a mention changes nothing
    assert page.spans == [Span(0, 1, "LOC"), Span(1, 4, "PER")]
    click(page, "button.name")
    assert page.spans == [Span(1, 4, "PER")]
    number = page.sentence
    click(page, "#accept")
    page.until(lambda: page.sentence != number, "not accepted")
    page.ready()
    second = page.sentence
    click(page, "#skip")
    page.until(lambda: page.sentence != second, "not skipped")
    page.ready()
    third = page.sentence
    click(page, "#reject")
    page.until(lambda: page.sentence != third, "not rejected")
    page.ready()
    click(page, "#undo")
    page.until(lambda: page.sentence == third, "not undone")
    page.silent()
    with Session.look(tmp_path / "state") as session:
        assert [made[1:4] for made in session.decisions] == [
            (number, "accept", (Span(1, 4, "PER"),)),
            (second, "skip", ()),
        ]


@pytest.mark.parametrize("height", [5, 890])
def test_a_drag_ends_wherever_it_is_let_go(open_page: Callable[..., Page], height: int) -> None:
    """Outside of the sentence, too; what comes later is none of its business."""
    page = open_page()
    pointer = pointers.PointerInput("mouse", "it")
    actions = builders.ActionBuilder(page.browser, mouse=pointer)
    actions.pointer_action.move_to_location(*box(page, 1)).pointer_down()
    actions.pointer_action.move_to_location(*box(page, 2)).move_to_location(*box(page, 3))
    actions.pointer_action.move_to_location(box(page, 3)[0], height).pointer_up()
    actions.pointer_action.move_to_location(*box(page, 0)).move_to_location(*box(page, 2))
    actions.perform()
    assert page.spans == [Span(1, 4, "PER")]
    assert js(page.browser, "return document.querySelectorAll('.cursor, .chosen').length") == 0
    drag(page, 5, 5)
    assert page.spans == [Span(1, 4, "PER"), Span(5, 6, "PER")]


@pytest.mark.parametrize("way", ["key", "button"])
def test_what_is_selected_is_not_lost_when_the_sentence_is_accepted(
    open_page: Callable[..., Page], tmp_path: Path, way: str
) -> None:
    """It becomes a mention first, which is seen; then the sentence is accepted."""
    page = open_page()
    page.press(Keys.HOME)
    page.extend(1)
    assert page.text("accept-wide") == "Add mention"
    page.press(Keys.ENTER) if way == "key" else click(page, "#accept")
    assert (page.sentence, page.spans) == (0, [Span(0, 2, "PER")])
    assert page.text("accept-wide") == "Accept 1 mention"
    page.press(Keys.ENTER) if way == "key" else click(page, "#accept")
    page.until(lambda: page.sentence == 1, "not accepted")
    with Session.look(tmp_path / "state") as session:
        assert session.decisions[0].spans == (Span(0, 2, "PER"),)


def test_a_suggestion_is_accepted_by_a_click(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    page, gold = open_page(), gold_of(sentences(12), LABELS)
    while not page.suggestions:
        number = page.sentence
        for span in gold[number]:
            page.draw(span)
        page.answered(Keys.ENTER)
        page.until(lambda: "Learning" not in page.text("training"), "it learns for ever")
    click(page, "#more")
    number, told = page.sentence, page.suggestions[1]
    click(page, "#candidates li:nth-child(2) button")
    page.until(lambda: page.sentence != number, "not accepted")
    with Session.look(tmp_path / "state") as session:
        (made,) = [made for made in session.decisions if made.sentence == number]
        words = session.pool.words(number)[0]
    spoken = [f"{label}: {' '.join(words[s:e])}." for s, e, label in made.spans]
    assert told.startswith(f"Accept 2: {' '.join(spoken) or 'No mention.'} ")


def test_what_is_hardly_likely_is_not_suggested_at_first(open_page: Callable[..., Page]) -> None:
    page, gold = open_page(30), gold_of(sentences(30), LABELS)
    hidden = 0
    while page.sentence >= 0:
        given = page.server.state()["task"]["suggestions"][:9]
        likely = [i for i, one in enumerate(given) if not i or one["probability"] >= 0.05][:5]
        wanted = [i for i, one in enumerate(given) if i in likely or not one["spans"]]
        assert len(page.suggestions) == len(wanted)
        for number, (told, i) in enumerate(zip(page.suggestions, wanted), 1):
            spoken = " ".join(f"{span[2]}:" for span in given[i]["spans"]) or "No mention."
            assert told.startswith(f"Accept {number}: {spoken.partition(' ')[0]}")
        more = js(page.browser, "return !document.getElementById('more').hidden")
        if given and more:
            hidden += 1
            click(page, "#more")
            assert len(wanted) < len(page.suggestions) <= len(given)
            assert js(page.browser, "return document.getElementById('more').hidden")
        page.press("0")
        for span in gold[page.sentence]:
            page.draw(span)
        page.answered(Keys.ENTER)
        page.until(lambda: "Learning" not in page.text("training"), "it learns for ever")
    assert hidden, "nothing was ever unlikely"
    page.silent()


def test_keys_of_the_selection(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, " ", Keys.ARROW_RIGHT, Keys.ENTER)
    assert page.spans == [Span(1, 3, "PER")]
    page.press(Keys.END)
    page.extend(1, Keys.ARROW_LEFT)
    size = len(page.words)
    page.press(Keys.TAB, Keys.ENTER)  # the next label
    assert page.spans == [Span(1, 3, "PER"), Span(size - 2, size, "LOC")]
    page.press(Keys.HOME, " ", "2")  # the second label
    assert page.spans[0] == Span(0, 1, "LOC")
    page.press(Keys.BACK_SPACE)
    assert page.spans == [Span(1, 3, "PER"), Span(size - 2, size, "LOC")]
    page.press(Keys.ARROW_RIGHT, Keys.DELETE)
    assert page.spans == [Span(size - 2, size, "LOC")]
    page.press("z")  # changes first, then answers
    assert page.spans == [Span(1, 3, "PER"), Span(size - 2, size, "LOC")]
    page.press("0")
    assert page.spans == []
    chains.ActionChains(page.browser).key_down(Keys.CONTROL).send_keys("z").key_up(
        Keys.CONTROL
    ).perform()
    assert page.spans == [Span(1, 3, "PER"), Span(size - 2, size, "LOC")]
    assert page.sentence == 0
    page.press(Keys.HOME, " ", Keys.ESCAPE, Keys.ESCAPE)
    assert js(page.browser, "return document.querySelectorAll('.cursor, .chosen').length") == 0
    page.silent()


def test_the_cursor_moves_over_words_that_stay(open_page: Callable[..., Page]) -> None:
    """Long sentences would be slow if each step drew all words anew."""
    page = open_page()
    js(page.browser, "window.drawn = [...document.querySelectorAll('.token')]")
    chosen = "return window.drawn.flatMap((e, i) => e.matches(arguments[0]) ? [i] : [])"
    page.press(Keys.HOME, Keys.ARROW_RIGHT)
    page.extend(2)
    assert js(page.browser, chosen, ".chosen") == [1, 2, 3]
    assert js(page.browser, chosen, ".cursor") == [3]
    assert js(page.browser, "return document.querySelectorAll('.gap.chosen').length") == 2
    page.extend(3, Keys.ARROW_LEFT)
    assert js(page.browser, chosen, ".chosen") == [0, 1]
    assert js(page.browser, chosen, ".cursor") == [0]
    assert js(page.browser, "return window.drawn.every((e) => e.isConnected)")


def test_undo_brings_back_what_was_answered(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.draw(Span(0, 2, "LOC"))
    page.answered(Keys.ENTER)
    page.answered("s")
    assert page.sentence == 2
    page.answered("z")
    assert (page.sentence, page.spans) == (1, [])
    page.answered("z")
    assert (page.sentence, page.spans) == (0, [Span(0, 2, "LOC")])
    page.press("z")
    assert page.sentence == 0
    assert "nothing to undo" in page.text("notices")
    assert page.text("read") == "0 of 12"


def test_undo_takes_the_plot_back_with_it(open_page: Callable[..., Page]) -> None:
    """No point lies behind what is read now, and nothing is told at the very beginning."""
    page, gold = open_page(20), gold_of(sentences(20), LABELS)
    while page.sentence >= 0:
        page.press("0")
        for span in gold[page.sentence]:
            page.draw(span)
        page.answered(Keys.ENTER)
        page.until(lambda: "Learning" not in page.text("training"), "it learns for ever")
    assert len(plotted(page)) > 2
    assert "Learned" in page.text("training")
    for left in range(19, -1, -1):
        page.answered("z")
        assert page.text("read") == f"{left} of 20"
        xs = plotted(page)
        assert xs == sorted(set(xs))
        assert page.text("plot").endswith((f"0{left} read", "0read"))
        page.until(lambda: "Learning" not in page.text("training"), "it learns for ever")
    assert plotted(page) == []
    assert page.text("training") == ""


def plotted(page: Page) -> list[float]:
    """The places of the points of the plot, from left to right as they are drawn."""
    found: list[float] = js(
        page.browser,
        """
        const line = document.querySelector("#plot polyline");
        return line ? [...line.points].map((point) => point.x) : [];
        """,
    )
    return found


def test_nested_mentions(open_page: Callable[..., Page], tmp_path: Path) -> None:
    every = ("PER", "LOC", "ORG", "DATE")
    some = [each for each in sentences(400) if len(mentions(each, True)) > len(each.spans)][:1]
    deep = sentences(400).index(some[0])
    page = open_page(deep + 1, labels=every, nested=True, batch=deep + 1, audit=0.0)
    while page.sentence != deep:
        page.answered("s")
    wanted = [span for span in mentions(some[0], True) if span.label in every]
    for span in wanted:
        page.draw(span)
    assert page.spans == wanted
    levels = js(
        page.browser,
        "return new Set([...document.querySelectorAll('.name')].map((e) => e.dataset.level)).size",
    )
    assert levels > 1
    drag(page, 0, 1)
    assert page.spans == sorted({*wanted, Span(0, 2, "PER" if not wanted else page_label(page))})
    page.answered(Keys.ENTER)
    page.silent()
    with Session.look(tmp_path / "state") as session:
        assert set(wanted) <= set(session.decisions[-1].spans)


def test_words_that_are_there_twice_are_told_apart(browser: Chrome, tmp_path: Path) -> None:
    doc = Doc(Vocab(), words=["Bo", "met", "Bo", "and", "Bo", "met", "Ada"])
    session = Session.create(tmp_path / "state", Pool.of([doc], ["PER"]), Settings(("PER",)))
    with here(session) as server:
        page = Page(browser, server)
        session.decide(0, "accept", [(0, 1, "PER"), (4, 6, "PER"), (6, 7, "PER")])
        page.press(Keys.ENTER)
        page.until(lambda: page.sentence == -1, "it is not at the end")
        page.answered("z")
        told = page.text("live")
    assert told.endswith("PER: Bo (1 of 3). PER: Bo met (2 of 2). PER: Ada.")


def page_label(page: Page) -> str:
    """The label of new mentions."""
    found: str = js(
        page.browser, "return document.querySelector('#labels [aria-pressed=true]').firstChild.data"
    )
    return found


def test_known_mentions_are_shown_and_stay(open_page: Callable[..., Page]) -> None:
    page = open_page(12, labels=("SHIP",))
    number = page.sentence
    known = sentences(12)[number].spans
    names = js(
        page.browser,
        "return [...document.querySelectorAll('span.name.known')].map((e) => e.textContent)",
    )
    assert sorted(names) == sorted(span.label for span in known)
    assert known
    page.draw(Span(known[0].start, known[0].end, "SHIP"))
    assert page.spans == []
    assert "is known already" in page.text("notices")


def test_the_help_opens_and_closes(open_page: Callable[..., Page]) -> None:
    page = open_page()
    opened = "return document.getElementById('help').open"
    page.press("?")
    assert js(page.browser, opened)
    page.press("x", "s")  # keys are for the help now
    page.press(Keys.ESCAPE)
    assert not js(page.browser, opened)
    page.press("?", "?")
    assert not js(page.browser, opened)
    assert (page.sentence, page.text("read")) == (0, "0 of 12")


def test_a_held_key_answers_once(open_page: Callable[..., Page]) -> None:
    page = open_page()
    js(
        page.browser,
        """
        for (let i = 0; i < 5; i += 1) {
            const event = { key: "Enter", bubbles: true, repeat: i > 0 };
            document.getElementById("sentence").dispatchEvent(new KeyboardEvent("keydown", event));
        }
        """,
    )
    page.until(lambda: page.sentence == 1, "not accepted")
    assert page.text("read") == "1 of 12"


def test_two_pages_do_not_answer_for_each_other(open_page: Callable[..., Page]) -> None:
    page = open_page()
    state = page.server.state()
    body = {"number": 1, "sentence": state["task"]["sentence"], "answer": "reject", "spans": []}
    assert page.server.ask("/api/decide", body)[0] == 200
    page.press(Keys.ENTER)
    page.until(lambda: page.sentence == 1, "it does not show where the session is")
    assert "went on elsewhere" in page.text("notices")
    assert page.server.state()["number"] == 2


@pytest.mark.parametrize("way", ["key", "button"])
def test_it_says_when_it_is_enough(open_page: Callable[..., Page], way: str) -> None:
    page, gold = open_page(40, target=0.05, audit=0.25), gold_of(sentences(40), LABELS)
    for _ in range(24):
        if "may stop here" in page.text("notices"):
            break
        page.press("0")
        for span in gold[page.sentence]:
            page.draw(span)
        page.answered(Keys.ENTER)
        page.until(lambda: "Learning" not in page.text("training"), "it learns for ever")
    assert "You may stop here, or go on." in page.text("notices")
    assert page.text("coverage").endswith(" %")
    assert js(page.browser, "return document.querySelectorAll('#plot .line').length") > 0
    before = page.sentence
    page.answered(Keys.ENTER)
    assert page.sentence != before
    page.press(Keys.HOME, Keys.ESCAPE)  # leaves the word
    assert "may stop here" in page.text("notices")
    page.press(Keys.ESCAPE) if way == "key" else click(page, ".notice.good button")
    assert page.text("notices") == ""
    page.browser.refresh()
    page.ready()
    assert page.text("notices") == ""
    page.answered(Keys.ENTER)
    assert page.text("notices") == ""


MARKUP = [
    "<img",
    "src=x",
    "onerror=alert(1)>",
    "<script>alert(2)</script>",
    "&amp;",
    "</div>",
    "“{}”",
]


@pytest.fixture
def hostile(tmp_path: Path) -> Session:
    """A session whose text, context and label are markup."""
    starts: list[bool | int | None] = [i % len(MARKUP) == 0 for i in range(2 * len(MARKUP))]
    doc = Doc(Vocab(), words=MARKUP * 2, sent_starts=starts)
    labels = ["<b>bold</b>", "constructor"]
    pool = Pool.of([doc], labels)
    return Session.create(tmp_path / "<i>state", pool, Settings(tuple(labels)))


def test_markup_is_text(browser: Chrome, hostile: Session) -> None:
    with here(hostile) as server:
        page = Page(browser, server)
        assert page.words == MARKUP
        assert page.text("after") == " ".join(MARKUP)
        page.press(Keys.HOME, "b")
        page.press(Keys.ARROW_RIGHT, "c")
        assert [span.label for span in page.spans] == ["<b>bold</b>", "constructor"]
        page.answered(Keys.ENTER)
        made = js(
            browser,
            "return document.querySelectorAll('img, i:not([class]), b:not(.chance b)').length",
        )
        assert made == 0
        assert js(browser, "return document.scripts.length") == 1
        assert browser.title == "<b>bold</b>, constructor · <i>state"
        page.silent()


def test_nothing_is_asked_of_anybody_else(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.answered(Keys.ENTER)
    entries = [json.loads(row["message"])["message"] for row in page.browser.get_log("performance")]
    urls = {
        entry["params"]["request"]["url"]
        for entry in entries
        if entry["method"] == "Network.requestWillBeSent"
    }
    home = f"http://127.0.0.1:{page.server.port}/"
    assert {url for url in urls if url.startswith("http")} == {
        page.server.url,
        *(home + name for name in ("page.css", "page.js", "plot.js", "sentence.js", "server.js")),
        *({home + "icon.svg"} & urls),
        home + "api/state",
        home + "api/decide",
    }
    assert js(page.browser, "return location.href") == home  # the key is not in the address bar
    assert js(page.browser, "return document.cookie") == ""  # nor can scripts read it
    page.browser.refresh()
    page.ready()
    assert page.text("read") == "1 of 12"


LONG = ["https://example.org/" + "0123456789" * 20, *("word " * 60).split(), "x" * 300]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", THEMES)
def test_it_fits_and_can_be_read(browser: Chrome, tmp_path: Path, width: int, theme: str) -> None:
    """No text lacks contrast, and nothing is wider than the window."""
    labels = [f"LABEL-{'x' * number}-{number}" for number in range(12)]
    starts: list[bool | int | None] = [i % len(LONG) == 0 for i in range(3 * len(LONG))]
    doc = Doc(Vocab(), words=LONG * 3, sent_starts=starts)
    pool = Pool.of([doc], labels, nested=True)
    settings = Settings(tuple(labels), batch=1)
    with here(Session.create(tmp_path / ("state" * 30), pool, settings)) as server:
        page = Page(browser, server, width, theme)
        for count in (1, 5, 12):
            page.press(Keys.HOME, Keys.ESCAPE, Keys.ESCAPE, Keys.HOME)
            page.extend(count)
            page.press(Keys.TAB, Keys.ENTER)
        page.press("z", Keys.HOME)
        page.extend(2)
        count, faint = js(browser, COLOURS)
        assert count > 50
        assert faint == []
        assert js(browser, "return document.documentElement.scrollWidth") <= width
        page.press(Keys.ESCAPE, "?")
        assert js(browser, COLOURS)[1] == []
        page.press(Keys.ESCAPE)
        for _ in range(2):
            page.answered(Keys.ENTER)
        page.answered(Keys.ENTER)
        assert page.sentence == -1
        assert js(browser, COLOURS)[1] == []
        assert js(browser, "return document.documentElement.scrollWidth") <= width


def test_a_finger_on_a_telephone(open_page: Callable[..., Page], tmp_path: Path) -> None:
    page = open_page(12, width=375)
    shown = "return document.getElementById('accept').innerText.trim()"
    assert js(page.browser, shown) == "Accept none"
    lefts = js(
        page.browser,
        """
        return [...document.querySelectorAll("#title, #labels button, #why, #sentence")]
            .map((e) => e.getBoundingClientRect().left);
        """,
    )
    assert lefts[0] == lefts[1] == lefts[-1] == lefts[-2]
    touch(page, 0, 0)
    assert page.spans == [Span(0, 1, "PER")]
    touch(page, 1, 2)
    assert page.spans == [Span(0, 1, "PER"), Span(1, 3, "PER")]
    sizes = js(
        page.browser,
        """
        return [...document.querySelectorAll("#actions button")]
            .map((e) => e.getBoundingClientRect())
            .map((box) => [box.height, box.left, box.right, box.bottom]);
        """,
    )
    assert all(height >= 44 and left >= 0 and right <= 375 for height, left, right, _ in sizes)
    assert all(bottom <= 900 for *_, bottom in sizes)
    click(page, "#accept")
    page.until(lambda: page.sentence == 1, "not accepted")
    with Session.look(tmp_path / "state") as session:
        assert session.decisions[0].spans == (Span(0, 1, "PER"), Span(1, 3, "PER"))


def test_everything_has_a_name_for_those_who_cannot_see(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.draw(Span(0, 2, "PER"))
    nameless = js(
        page.browser,
        """
        const title = (e) => e.getAttribute("aria-labelledby") || e.textContent.trim();
        return [...document.querySelectorAll("button, [role], [tabindex], section, aside, dialog")]
            .filter((e) => e.checkVisibility() && e.role !== "status" && !(e.ariaLabel || title(e)))
            .map((e) => e.outerHTML.slice(0, 100));
        """,
    )
    assert nameless == []
    page.press(Keys.HOME)
    assert page.text("live") == f"{page.words[0]}, in PER {' '.join(page.words[:2])}"
    page.extend(1)
    assert page.text("live") == f"Selected: {' '.join(page.words[:2])}"
    assert js(page.browser, "return document.activeElement.id") == "sentence"
    page.press(Keys.ESCAPE, Keys.ESCAPE)
    order = []
    for _ in range(4):
        page.press(Keys.TAB)
        order.append(js(page.browser, "return document.activeElement.id"))
    assert order == ["accept", "clear", "skip", "reject"]
    page.silent()
