"""The sessions in the README and the guides do what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .pages import PACKAGE, PAGES, blocks, examples, run_commands, run_examples
from .shared import beside

README = PAGES["README.md"]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks("pycon", page)])
def test_python_sessions(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(PACKAGE.parent)
    session = examples("\n".join(blocks("pycon", page)), page, {})
    assert len(session.examples) > 5
    run_examples(session)


@pytest.mark.parametrize("page", ["README.md", "migration.md"])
def test_errors_in_the_sessions_are_word_for_word(page: str) -> None:
    namespace: dict[str, object] = {}
    pattern = re.compile(r">>> (.+)\nTraceback .*\n(.+)\n")
    exec("from spacy_iobes import Span, parse, score, write", namespace)
    found = [match for block in blocks("pycon", page) for match in pattern.findall(block)]
    assert found
    for call, message in found:
        with pytest.raises(Exception) as caught:  # noqa: PT011
            exec(call, namespace)
        kind = type(caught.value)
        name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
        assert f"{name}: {caught.value}" == message


@pytest.mark.parametrize("session", [s for page in PAGES for s in blocks("console", page)])
def test_console_sessions(session: str, tmp_path: Path) -> None:
    run_commands(session, tmp_path)


def listed() -> list[str]:
    """The names in the table of what is where."""
    table = README.split("## What's where")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.+?) \|", table, re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`([\w/.]+)`", row)]


def test_every_file_in_the_table_exists() -> None:
    assert len(listed()) > 8
    assert [name for name in listed() if not (PACKAGE / name).exists()] == []


def test_every_part_of_the_package_is_in_the_table() -> None:
    parts = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert len(parts) > 8
    assert parts == {name.partition("/")[0] for name in listed() if "/" in name}


def linked(page: str) -> list[str]:
    """The files that a page links to."""
    return re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", PAGES[page])


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    folder = beside("README.md").parent
    folder = folder if page == "README.md" else folder / "docs"
    assert [target for target in linked(page) if not (folder / target).exists()] == []


def test_every_page_can_be_reached() -> None:
    """From link to link, beginning with the README."""
    reached: set[str] = set()
    waiting = ["README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        waiting += {Path(target).name for target in linked(page)} & PAGES.keys() - reached
    assert reached == {*PAGES}


@pytest.mark.parametrize("page", PAGES)
def test_every_session_is_run(page: str) -> None:
    """Nothing that looks like a session stands in a block that no test runs."""
    fences = re.findall(r"^```(.*)\n((?:(?!```).*\n)*)```$", PAGES[page], re.MULTILINE)
    assert PAGES[page].count("```") == 2 * len(fences)
    for language, body in fences:
        shown = re.search(r"^(?:>>>|\$) ", body, re.MULTILINE)
        assert bool(shown) == (language.split()[0] in ("pycon", "console")), body
        if shown and " " in language:
            assert page == "migration.md", body  # test_migration.py runs those
