"""The README and the guides: what they list is there, and they lead to each other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .pages import PACKAGE, PAGES
from .shared import beside

README = PAGES["README.md"]


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


TITLES = {
    "Brian Lester (2020)": "iobes: Library for Span Level Processing",
    "Chester Palen-Michel, Nolan Holley and Constantine Lignos (2021)": "SeqScore: Addressing"
    " Barriers to Reproducible Named Entity Recognition Evaluation",
    "Christian Siefkes (2006)": "A Comparison of Tagging Strategies for Statistical Information"
    " Extraction",
    "Aldrian Obaja Muis and Wei Lu (2017)": "Labeling Gaps Between Words: Recognizing Overlapping"
    " Mentions with Mention Separators",
    "Yoshimasa Tsuruoka, Jun'ichi Tsujii and Sophia Ananiadou (2008)": "Accelerating the annotation"
    " of sparse named entities by dynamic sentence selection",
}


@pytest.mark.parametrize("authors", TITLES)
def test_the_papers_are_cited(authors: str) -> None:
    assert f"* {authors}. *{TITLES[authors]}*." in " ".join(README.split())


AIMS = re.compile(r"wanted w|was wanted|\| wanted|targets? met|### targets|not met|>= \d+x")


@pytest.mark.parametrize("page", ["README.md", *sorted({*PAGES} - {"README.md"}), "RESULTS.md"])
def test_pages_say_what_is_and_not_what_was_aimed_at(page: str) -> None:
    text = PAGES.get(page) or beside("benchmarks/RESULTS.md").read_text(encoding="utf8")
    assert AIMS.findall(text) == []
