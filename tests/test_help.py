"""The help of commands: every option once, in 80 columns, with its default."""

from __future__ import annotations

import re
from typing import Any

import pytest
import typer

from spacy_iobes.cli import MODULES, app

from .commands import fine

GROUP: Any = typer.main.get_group(app)


@pytest.fixture(autouse=True)
def eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("name", MODULES)
def test_every_option_is_there_once(name: str) -> None:
    text = fine(name, "--help").stdout
    assert max(map(len, text.splitlines())) <= 80
    assert "<" not in re.sub("<PER>|<[?]xml", "", text)
    listed = re.findall(r"^  (?:-\w, )?(--[a-z-]+)", text, re.MULTILINE)
    options = [
        param.opts[-1] if param.opts[-1].startswith("--") else param.opts[0]
        for param in GROUP.commands[name].params
        if getattr(param, "param_type_name", "") == "option"
    ]
    assert sorted(listed) == sorted({*options, "--help"})
    assert fine(name, "-h").stdout == text


def test_defaults_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    text = " ".join(fine("score", "-h").stdout.split())
    for said in (
        "--gold-policy NAME What malformed gold tags become. [raise]",
        "rounds=N Rounds of resampling. [10,000]",
        "--tag N Column of the tag, from 0; negative: from the end. [-1]",
        "-s, --scheme NAME Scheme of the tags",
        "--policies Score under every policy, side by side. ",
    ):
        assert said in text
    assert text.startswith("Usage: iobes score GOLD [PRED...] [OPTIONS] Score predictions")


def test_two_screens_are_enough_for_score() -> None:
    assert len(fine("score", "-h").stdout.splitlines()) <= 100


def test_all_commands_by_panel() -> None:
    text = fine("-h").stdout
    assert re.findall(r"^(\w+):$", text, re.MULTILINE) == [
        "Files",
        "Scores",
        "Recognisers",
        "Annotation",
        "Lab",
        "Options",
    ]
    assert set(re.findall(r"^  ([a-z]+)  ", text, re.MULTILINE)) == set(MODULES)
