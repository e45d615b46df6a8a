"""Advanced settings of commands: `--set NAME=VALUE`, a field of a dataclass each."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from spacy_iobes.cli.settings import setting_name, values_of
from spacy_iobes.corpus import ReadOptions, SaveOptions
from spacy_iobes.corpus.formats.options import ADVANCED, option, option_fields

from .commands import fine, run
from .transcripts import FIXTURES


@dataclass(frozen=True)
class Some:
    words: tuple[str, ...] = option((), "Some words.", ADVANCED, option="--word")
    many: int = option(3, "How many.", ADVANCED)
    share: float | None = option(None, "What share.", ADVANCED)
    sure: bool = option(False, "Whether that is sure.", ADVANCED)
    name: str = option("", "What it is called.", ADVANCED)


FIELDS = {setting_name(each): each for each in option_fields(Some)}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], {}),
        (["word=a", "word=b=c"], {"words": ("a", "b=c")}),
        (["many=4", "many=5"], {"many": 5}),
        (["share=0.5"], {"share": 0.5}),
        (["sure"], {"sure": True}),
        (["sure=No"], {"sure": False}),
        (["name="], {"name": ""}),
        (["unknown=1"], {}),  # that of another dataclass of the command
    ],
)
def test_values_are_what_fields_hold(texts: list[str], expected: dict[str, Any]) -> None:
    assert values_of(texts, FIELDS) == expected


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("many=few", "a whole number"), ("share=half", "a number"), ("sure=maybe", "yes or no")],
)
def test_other_values_are_refused(text: str, wanted: str) -> None:
    with pytest.raises(Exception, match=wanted):
        values_of([text], FIELDS)


def test_settings_of_two_dataclasses_go_to_each(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("<p><x>a</x> b</p>", encoding="utf8")
    options = ["--format", "inline", "--to-scheme", "bio", "--to", "columns"]
    settings = ["--set", "ignore-tag=p", "--set", "output-delimiter=comma"]
    assert fine("convert", path, "-", *options, *settings).stdout == "a,B-x\nb,O\n\n"


def test_unknown_settings_are_refused_with_those_that_are_known() -> None:
    result = run("summarize", FIXTURES / "gold.bio", "--set", "anotator=me")
    assert result.exit_code == 2
    assert "Did you mean 'annotator'?" in result.stderr
    said = run("summarize", FIXTURES / "gold.bio", "--annotator", "me").stderr
    assert "it is a setting, --set annotator=VALUE" in said


def test_the_help_lists_every_setting() -> None:
    text = fine("convert", "--help").stdout
    advanced = text.partition("\nAdvanced:\n")[2]
    for cls in (ReadOptions, SaveOptions):
        for each in option_fields(cls):
            if each.metadata["panel"] == ADVANCED:
                assert f"\n    {setting_name(each)}" in advanced
