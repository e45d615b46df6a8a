"""Scores by characters: other tokens of the same text, and mentions that no tokens fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_iobes import Signature

from .commands import fine, run

Mention = tuple[int, int, str]
"""First and last character, of those that are no white space, and the label."""


def columns(path: Path, sentences: Sequence[tuple[str, Sequence[int], Sequence[Mention]]]) -> Path:
    """Write letters of sentences, cut into tokens at some places; mentions are whole tokens."""
    lines = list[str]()
    for letters, cuts, mentions in sentences:
        for begin, end in pairwise([0, *cuts, len(letters)]):
            tag = "O"
            for first, last, label in mentions:
                if first <= begin and end <= last:
                    tag = f"{'B' if begin == first else 'I'}-{label}"
            lines.append(f"{letters[begin:end]}\t{tag}\n")
        lines.append("\n")
    path.write_text("".join(lines), encoding="utf8")
    return path


def texts(path: Path, rows: Sequence[tuple[str, Sequence[Mention] | None]]) -> Path:
    """Write texts with mentions by all of their characters."""
    made = list[dict[str, Any]]()
    for text, mentions in rows:
        spans: Any = mentions
        if mentions is not None:
            spans = [{"start": a, "end": b, "label": label} for a, b, label in mentions]
        made.append({"text": text, "spans": spans})
    path.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf8")
    return path


def counted(gold: Path, predicted: Path, *options: str) -> tuple[int, int, int]:
    said = fine("score", gold, predicted, "--characters", "--layout", "json", *options).stdout
    found = json.loads(said)
    assert "|offsets:characters" in found["signature"]
    assert Signature.parse(found["signature"]).offsets == "characters"
    labels = found["labels"].values()
    correct, gold_spans, predicted_spans = (
        sum(row[name] for row in labels) for name in ("correct", "gold", "predicted")
    )
    return correct, gold_spans, predicted_spans


def test_other_tokens_of_the_same_text(tmp_path: Path) -> None:
    mentions = [(0, 3, "PER"), (16, 22, "PER"), (26, 32, "LOC")]
    gold = texts(tmp_path / "gold.jsonl", [("Ada didn't meet Bo-Yin in Kisumu.", mentions)])
    predicted = tmp_path / "predicted.bio"
    predicted.write_text(
        "Ada\tB-PER\ndid\tO\nn't\tO\nmeet\tO\nBo-Yin\tB-PER\nin\tO\nKisumu.\tB-LOC\n"
    )
    files = [gold, predicted, "-s", "bio"]
    result = run("score", *files)
    assert result.exit_code == 2
    assert "The tokens differ" in result.stderr
    assert counted(gold, predicted, "-s", "bio") == (2, 3, 3)
    said = fine("score", "--errors", *files, "--characters", "--layout", "json").stdout
    (report,) = json.loads(said)
    (mistake,) = report["mistakes"]
    assert (mistake["gold_text"], mistake["predicted_text"]) == ("Kisumu", "Kisumu.")
    both = fine("compare", gold, "-a", predicted, "-b", gold, *files[2:], "--characters")
    assert "difference A - B: -33.33" in both.stdout


def test_mentions_within_tokens_are_found(tmp_path: Path) -> None:
    """They count as missed where tokens are compared, whatever is predicted."""
    row = ("Æsop-like fables 🦊", [(0, 4, "PER"), (10, 16, "MISC")])
    gold = texts(tmp_path / "gold.jsonl", [row])
    assert counted(gold, texts(tmp_path / "same.jsonl", [row])) == (2, 2, 2)
    predicted = columns(tmp_path / "some.bio", [("Æsop-likefables🦊", [4, 9, 15], [(0, 4, "PER")])])
    assert counted(gold, predicted, "-s", "bio") == (1, 2, 1)


def test_what_is_not_annotated_counts_neither_for_nor_against(tmp_path: Path) -> None:
    gold = texts(tmp_path / "gold.jsonl", [("Ada ran", [(0, 3, "PER")]), ("Bo ran", None)])
    rows = [("Ada ran", [(0, 3, "PER")]), ("Bo ran", [(0, 2, "X")])]
    predicted = texts(tmp_path / "predicted.jsonl", rows)
    assert counted(gold, predicted) == (1, 1, 1)


def test_other_texts_are_refused(tmp_path: Path) -> None:
    gold = texts(tmp_path / "gold.jsonl", [("Ada  met\u00a0Bo", [])])
    fine("score", gold, texts(tmp_path / "same.jsonl", [("Ada metBo", [])]), "--characters")
    other = texts(tmp_path / "other.jsonl", [("Ada mat Bo", [])])
    result = run("score", gold, other, "--characters")
    assert result.exit_code == 2
    assert "The texts differ" in result.stderr
    assert "'met' in line 1" in " ".join(result.stderr.split())
    assert "White space does not count" in " ".join(result.stderr.split())
    short = run("score", gold, texts(tmp_path / "short.jsonl", [("Ada", [])]), "--characters")
    assert short.exit_code == 2
    assert "no sentence boundary in common" in " ".join(short.stderr.split())


LABELS = ("X", "Y")


@st.composite
def annotated(draw: Any) -> list[tuple[str, list[int], list[int], set[Mention], set[Mention]]]:
    """Sentences of letters, cut into tokens in two ways, with mentions of whole tokens."""
    made = []
    for _ in range(draw(st.integers(1, 4))):
        letters = draw(st.text("aéß漢🦊", min_size=1, max_size=9))
        some = []
        for _ in range(2):
            cuts = sorted(draw(st.sets(st.integers(1, max(len(letters) - 1, 1)))))
            cuts = [cut for cut in cuts if cut < len(letters)]
            bounds, mentions, at = [0, *cuts, len(letters)], set[Mention](), 0
            while at < len(bounds) - 1:
                size = draw(st.integers(0, 3))
                end = min(at + size, len(bounds) - 1)
                if size:
                    mentions.add((bounds[at], bounds[end], draw(st.sampled_from(LABELS))))
                at = max(end, at + 1)
            some.append((cuts, mentions))
        made.append((letters, some[0][0], some[1][0], some[0][1], some[1][1]))
    return made


@settings(deadline=None, max_examples=60)
@given(annotated())
def test_counts_are_those_of_sets_of_characters(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[Any]
) -> None:
    folder = tmp_path_factory.mktemp("characters")
    gold = columns(folder / "gold.bio", [(x, cuts, spans) for x, cuts, _, spans, _ in sentences])
    other = columns(folder / "other.bio", [(x, cuts, spans) for x, _, cuts, _, spans in sentences])
    correct = sum(len(one & two) for *_, one, two in sentences)
    wanted = (correct, sum(len(x[3]) for x in sentences), sum(len(x[4]) for x in sentences))
    assert counted(gold, other, "-s", "bio") == wanted
