"""The sessions in the README and the guides do what they say."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spacy_iobes.codes.scheme import ROWS

from .shared import ROOT

PAGES = {
    path.name: path.read_text(encoding="utf8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
README = PAGES["README.md"]
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)


def blocks(language: str, page: str = "README.md") -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGES[page], re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_python_sessions(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = "\n".join(blocks("pycon", page))
    flags = doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    session = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    assert len(session.examples) > 5
    told: list[str] = []
    before = dict(ROWS)
    try:
        doctest.DocTestRunner(optionflags=flags).run(session, out=told.append)
    finally:  # a session may add a scheme
        ROWS.clear()
        ROWS.update(before)
    assert not told, "".join(told)


def test_errors_in_the_sessions_are_word_for_word() -> None:
    namespace: dict[str, object] = {}
    pattern = re.compile(r">>> (.+)\nTraceback .*\n(.+)\n")
    exec("from spacy_iobes import Span, parse, write", namespace)
    found = [match for block in blocks("pycon") for match in pattern.findall(block)]
    assert found
    for call, message in found:
        with pytest.raises(Exception) as caught:  # noqa: PT011
            exec(call, namespace)
        kind = type(caught.value)
        assert f"{kind.__module__}.{kind.__qualname__}: {caught.value}" == message


@pytest.mark.parametrize("session", [s for page in PAGES for s in blocks("console", page)])
def test_console_sessions(session: str, tmp_path: Path) -> None:
    commands = COMMAND.findall(session)
    assert commands
    shutil.copytree(ROOT / "spacy_iobes" / "data", tmp_path / "spacy_iobes" / "data")
    scripts = Path(sys.executable).parent
    env = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "80"}
    for command, output in commands:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        assert done.stdout + done.stderr == output


def test_every_file_in_the_table_exists() -> None:
    rows = re.findall(r"^\| (`.+?) \|", README.split("## What's where")[1], re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`([\w/.]+)`", row)]
    assert len(names) > 8
    assert [name for name in names if not (ROOT / "spacy_iobes" / name).exists()] == []
