"""The sessions in the README and the guides do what they say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from .pages import PAGES, blocks, examples, run_commands, run_examples
from .shared import ROOT

README = PAGES["README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_python_sessions(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
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


def test_every_file_in_the_table_exists() -> None:
    rows = re.findall(r"^\| (`.+?) \|", README.split("## What's where")[1], re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`([\w/.]+)`", row)]
    assert len(names) > 8
    assert [name for name in names if not (ROOT / "spacy_iobes" / name).exists()] == []
