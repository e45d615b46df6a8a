"""The pages of the documentation, and what their sessions do."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from spacy_iobes.codes import ROWS

from .shared import beside

PACKAGE = Path(str(files("spacy_iobes")))
PAGES = {
    path.name: path.read_text(encoding="utf8")
    for path in (beside("README.md"), *sorted(beside("docs").glob("*.md")))
}
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
FENCE = re.compile(r"^```(.*)\n((?:(?!```).*\n)*)```$", re.MULTILINE)
SNIPPET = re.compile(r"(?<!`)`([^`]+)`(?!`)")


class Block(NamedTuple):
    """A fenced block of a page; `needs` is a package without which it cannot be run."""

    page: str
    line: int
    language: str
    needs: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def fenced(page: str) -> Iterator[Block]:
    """Yield the blocks of a page in their order."""
    for match in FENCE.finditer(PAGES[page]):
        language, _, needs = match[1].partition(" ")
        line = PAGES[page].count("\n", 0, match.start()) + 1
        yield Block(page, line, language, needs, match[2])


BLOCKS = [block for page in PAGES for block in fenced(page)]


def blocks(language: str, page: str = "README.md", needs: str = "") -> list[str]:
    """Return the text of the blocks of a page in a language."""
    return [b.text for b in BLOCKS if (b.page, b.language, b.needs) == (page, language, needs)]


def snippets(page: str) -> list[str]:
    """Return the code within the sentences and tables of a page, each on one line."""
    return [" ".join(code.split()) for code in SNIPPET.findall(FENCE.sub("", PAGES[page]))]


def examples(text: str, name: str, names: dict[str, Any]) -> doctest.DocTest:
    """A session in Python."""
    return doctest.DocTestParser().get_doctest(text, names, name, name, 0)


def run_examples(session: doctest.DocTest) -> None:
    """Check that every result, or error, is the one that the page shows."""
    told: list[str] = []
    before = dict(ROWS)
    try:
        doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(
            session, out=told.append
        )
    finally:  # a session may add a scheme
        ROWS.clear()
        ROWS.update(before)
    assert not told, "".join(told)


def run_commands(session: str, folder: Path) -> None:
    """Check that every command prints what the page shows, where the data of the package are."""
    commands = COMMAND.findall(session)
    assert commands
    shutil.copytree(PACKAGE / "data", folder / "spacy_iobes" / "data")
    for command, output in commands:
        done = in_shell(command, folder)
        assert done.stdout + done.stderr == output


def in_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command line in a folder, with the scripts of this Python before others."""
    scripts = Path(sys.executable).parent
    env = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
    return subprocess.run(
        command, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
