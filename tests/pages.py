"""The pages of the documentation, and what their sessions do."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

from spacy_iobes.codes.scheme import ROWS

from .shared import beside

PACKAGE = Path(str(files("spacy_iobes")))
PAGES = {
    path.name: path.read_text(encoding="utf8")
    for path in (beside("README.md"), *sorted(beside("docs").glob("*.md")))
}
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def blocks(language: str, page: str = "README.md") -> list[str]:
    """The blocks of code in a language; a second word after it names a package that they need."""
    return re.findall(rf"```{language}\n(.*?)```", PAGES[page], re.DOTALL)


def examples(text: str, name: str, names: dict[str, Any]) -> doctest.DocTest:
    """A session in Python."""
    return doctest.DocTestParser().get_doctest(text, names, name, name, 0)


def run_examples(session: doctest.DocTest) -> None:
    """Every result is the one that the page shows."""
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    told: list[str] = []
    before = dict(ROWS)
    try:
        doctest.DocTestRunner(optionflags=flags).run(session, out=told.append)
    finally:  # a session may add a scheme
        ROWS.clear()
        ROWS.update(before)
    assert not told, "".join(told)


def run_commands(session: str, folder: Path) -> None:
    """Every command prints what the page shows, in a folder that holds the data of the package."""
    commands = COMMAND.findall(session)
    assert commands
    shutil.copytree(PACKAGE / "data", folder / "spacy_iobes" / "data")
    scripts = Path(sys.executable).parent
    env = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
    for command, output in commands:
        done = subprocess.run(
            command, shell=True, cwd=folder, env=env, capture_output=True, text=True, check=False
        )
        assert done.stdout + done.stderr == output
