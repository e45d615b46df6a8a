"""Explanations: readable features whose weights add up to the scores of the model."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from typer.testing import CliRunner, Result

from spacy_iobes import Span
from spacy_iobes.cli import app
from spacy_iobes.errors import ModelError, SpanRangeError, UnknownNameError
from spacy_iobes.ml import token_features
from spacy_iobes.pipeline import Comparison, beside, explain

from . import by_hand, nested_recognizers
from .recognizers import SENTENCES, examples, learn, make, ner, outputs_of
from .test_features_training import trained

WORDS = SENTENCES[0][0].split()  # Anna lives in New York .
NEW_YORK = Span(3, 5, "LOC")


@pytest.fixture(scope="module")
def nlp() -> Language:
    made: Language = trained()
    return made


def doc_of(nlp: Language, words: list[str]) -> Doc:
    return nlp(Doc(nlp.vocab, words=words))


# names


def test_names_say_what_a_feature_looks_at() -> None:
    templates = ["bias", "lower", "digits", "shape[-1]", "lower[-2] kinds lower[+1]", "suffix2"]
    nlp = trained(2, settings={"templates": templates})
    doc = Doc(nlp.vocab, words=["Mr.", "O'Hara", "x1"])
    first, second, third = token_features(ner(nlp).model, doc)
    assert [feature.name for feature in second] == [
        "bias",
        'lower="o\'hara"',
        "shape[-1]='Xx.'",
        "lower[-2]=(start) kinds=\"X'Xx\" lower[+1]='x1'",
        "suffix2='ra'",
    ]
    assert "shape[-1]=(start)" in [feature.name for feature in first]
    names = [feature.name for feature in third]
    assert names[2] == "digits='x#'"
    assert names[4] == "lower[-2]='mr.' kinds='xd' lower[+1]=(end)"


def test_attributes_of_tokens_can_be_read() -> None:
    nlp = trained(2, settings={"templates": ["TAG", "POS[-1]", "LEMMA"]})
    doc = Doc(nlp.vocab, words=["a", "b"], tags=["DT", "NN"], pos=["DET", "NOUN"])
    first, second = token_features(ner(nlp).model, doc)
    assert [feature.name for feature in first] == ["TAG='DT'", "POS[-1]=(start)"]
    assert [feature.name for feature in second] == ["TAG='NN'", "POS[-1]='DET'"]


def test_what_was_never_seen_has_no_weight(nlp: Language) -> None:
    (features,) = token_features(ner(nlp).model, Doc(nlp.vocab, words=["Qwxyz"]))
    by_name = {feature.name: feature for feature in features}
    assert not by_name["lower='qwxyz'"].seen
    assert not by_name["lower='qwxyz'"].weights.any()
    assert by_name["bias"].seen
    assert by_name["bias"].weights.any()


# sums


@pytest.mark.parametrize("scheme", ["iobes", "bio", "iob1", "io", "bia", "be"])
@pytest.mark.parametrize("learned_steps", [False, True])
def test_the_weights_add_up_to_the_scores_of_the_model(scheme: str, learned_steps: bool) -> None:
    nlp = trained(scheme=scheme, learned_steps=learned_steps)
    pipe, doc = ner(nlp), doc_of(nlp, [*WORDS, "Lee"])
    scores: Any = pipe.model.predict([doc])
    for row, features in zip(scores.emissions, token_features(pipe.model, doc)):
        np.testing.assert_allclose(sum(f.weights for f in features), row, atol=1e-5)
    names = list(pipe.tags.states.tags)

    def score(spans: list[Span]) -> tuple[float, float]:
        """The scores of the tags and of the steps of an annotation, by hand."""
        tags = by_hand.encode(spans, len(doc), by_hand.SPOKEN.get(scheme, scheme))
        path = [names.index(tag) for tag in tags]
        steps = [scores.step[a, b] for a, b in pairwise(path)]
        ends = scores.start[path[0]] + scores.stop[path[-1]]
        rows = scores.emissions[:, outputs_of(scheme, pipe.labels)].sum(axis=2)
        return sum(rows[range(len(doc)), path]), sum(steps) + ends

    (found,) = explain(pipe, doc, [NEW_YORK])
    analyses = pipe.nbest([doc], 20)[0]
    first = analyses[0].spans
    second = next(a.spans for a in analyses if NEW_YORK not in a.spans)
    assert found.best
    assert found.runner_up is not None
    for comparison, mine, its in (
        (found.outside, [NEW_YORK], []),
        (found.runner_up, first, second),
    ):
        total, steps = (a - b for a, b in zip(score(mine), score(its)))
        assert comparison.total == pytest.approx(total, abs=1e-4)
        assert comparison.steps == pytest.approx(steps, abs=1e-4)
        for top in (0, 3, 10**6):
            shown = sum(reason.weight for reason in comparison.reasons[:top])
            assert shown + comparison.rest(top) + comparison.other == pytest.approx(total, abs=1e-4)
        assert abs(comparison.other) < 1e-4
        strength = [round(abs(reason.weight), 6) for reason in comparison.reasons]
        assert strength == sorted(strength, reverse=True)


def test_what_is_compared(nlp: Language) -> None:
    doc = doc_of(nlp, WORDS)
    (found,) = explain(ner(nlp), doc, [NEW_YORK])
    assert (found.text, found.span) == ("New York", NEW_YORK)
    assert found.probability == ner(nlp).span_probability(doc, *NEW_YORK)
    outside = found.outside
    assert (outside.tokens, outside.tags, outside.instead) == (
        [3, 4],
        ["B-LOC", "E-LOC"],
        ["O", "O"],
    )
    assert outside.total > 0
    assert outside.spans == []
    rival: Any = found.runner_up
    assert isinstance(rival, Comparison)
    assert rival.tags != rival.instead
    assert rival.total + rival.steps > 0  # or it would be the best


def test_a_span_that_was_not_found(nlp: Language) -> None:
    doc = doc_of(nlp, WORDS)
    (found,) = explain(ner(nlp), doc, [Span(3, 5, "PER")])
    assert not found.best
    assert found.probability < 0.5
    assert found.runner_up is not None
    assert found.runner_up.spans == [NEW_YORK]
    assert found.runner_up.total < 0


def test_a_span_takes_the_place_of_others() -> None:
    spans = [Span(0, 2, "A"), Span(2, 3, "B"), Span(4, 6, "A")]
    assert beside(spans, Span(1, 4, "C")) == [Span(1, 4, "C"), Span(4, 6, "A")]
    assert beside([], Span(0, 1, "C")) == [Span(0, 1, "C")]


def test_what_cannot_be_explained(nlp: Language) -> None:
    doc = doc_of(nlp, WORDS)
    for start, end in ((2, 2), (4, 9)):
        with pytest.raises(SpanRangeError, match="is no span of 6 tokens"):
            explain(ner(nlp), doc, [Span(start, end, "LOC")])
    with pytest.raises(SpanRangeError):
        explain(ner(nlp), Doc(nlp.vocab), [Span(0, 1, "LOC")])
    with pytest.raises(UnknownNameError, match="Known: LOC, PER"):
        explain(ner(nlp), doc, [Span(0, 1, "SHIP")])
    assert explain(ner(nlp), Doc(nlp.vocab), []) == []
    cnn = learn(make(), examples())
    with pytest.raises(ModelError, match="has no features that can be read"):
        explain(ner(cnn), doc_of(cnn, WORDS), [NEW_YORK])


# the command


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def fine(*arguments: object) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def model(nlp: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explain") / "model"
    nlp.to_disk(path)
    return path


def test_the_table_adds_up(nlp: Language, model: Path) -> None:
    text = "Anna lives in New Qyork"
    lines = fine("explain", model, text, "--limit", 4).splitlines()
    found = [(e.label_, e.text) for e in nlp(text).ents]
    heads = [line for line in lines if ", probability " in line]
    assert [head.partition(", tokens")[0] for head in heads] == [f"{a} {b!r}" for a, b in found]
    tables = [i for i, line in enumerate(lines) if line.split() == ["weight", "token", "feature"]]
    assert len(tables) == 2 * len(found)
    for start in tables:
        end = lines.index("", start)
        rows = [line.split() for line in lines[start + 2 : end]]
        rule = next(i for i, row in enumerate(rows) if row[0].startswith("-----"))
        assert rule == 5
        shown = sum(float(row[0]) for row in rows[:rule])
        assert shown == pytest.approx(float(rows[rule + 1][0]), abs=0.006)
    assert any("never seen in training: " in line and "'qyork'" in line for line in lines)


def test_everything_in_json(nlp: Language, model: Path) -> None:
    (data,) = json.loads(fine("explain", model, " ".join(WORDS), "--json", "--limit", 0))
    assert data["tokens"] == WORDS
    assert [(s["start"], s["end"], s["label"]) for s in data["spans"]] == [
        (0, 1, "PER"),
        (3, 5, "LOC"),
    ]
    for span in data["spans"]:
        for name in ("against_outside", "against_runner_up"):
            one = span[name]
            total = sum(reason["weight"] for reason in one["reasons"]) + one["other"]
            assert total == pytest.approx(one["total"])
            assert (one["more"], one["rest"]) == (0, 0)
    short = fine("explain", model, " ".join(WORDS), "--json", "--limit", 2)
    one = json.loads(short)[0]["spans"][0]["against_outside"]
    assert len(one["reasons"]) == 2
    total = sum(reason["weight"] for reason in one["reasons"]) + one["rest"] + one["other"]
    assert total == pytest.approx(one["total"])


def test_spans_can_be_asked_for(model: Path) -> None:
    text = " ".join(WORDS)
    printed = fine("explain", model, text, "--span", "3:4:LOC", "--span", "0:1:LOC")
    assert "LOC 'New', tokens 3:4, probability " in printed
    assert printed.count("not in the most probable annotation") == 2
    assert "against the most probable annotation, LOC 'New York'" in printed
    assert fine("explain", model, text, "--span", "3:4", "--label", "LOC") in printed
    only = fine("explain", model, text, "--label", "PER")
    assert "PER 'Anna'" in only
    assert "LOC 'New York', tokens" not in only
    assert fine("explain", model, "is in").startswith("no entity in 2 tokens; --span asks for one")


@pytest.mark.parametrize(
    ("text", "told"), [("testt.bio", True), ("data/a", True), ("Anna", False), ("U.S.", False)]
)
def test_a_misspelt_file_is_told(model: Path, text: str, told: bool) -> None:
    said = f"{text}: there is no such file, so it is taken for a text"
    assert (said in run("explain", model, text).stderr) == told


def test_sentences_of_a_column_file(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "in.bio"
    path.write_text("is O\nin O\n\nAnna B-PER\nlives O\n")
    printed = fine("explain", model, path)
    assert "sentence 0: is in" in printed
    assert "sentence 1: Anna lives" in printed
    assert "PER 'Anna', tokens 0:1" in printed
    assert "sentence 0" not in fine("explain", model, path, "--sentence", 1)
    (data,) = json.loads(fine("explain", model, path, "--sentence", 1, "--json"))
    assert (data["sentence"], data["tokens"]) == (1, ["Anna", "lives"])


def test_what_the_command_cannot_use(model: Path, tmp_path: Path) -> None:
    learn(make(), examples()).to_disk(tmp_path / "cnn")
    spacy.blank("en").to_disk(tmp_path / "blank")
    nested = nested_recognizers.make("hashed")
    nested.initialize(nested_recognizers.examples)
    nested.to_disk(tmp_path / "nested")
    (tmp_path / "file").write_text("Anna\n")
    cases: list[tuple[list[object], int, str]] = [
        ([tmp_path / "none", "Anna"], 2, "no pipeline there"),
        ([tmp_path / "blank", "Anna"], 2, "no recogniser 'iobes_ner'"),
        ([tmp_path / "nested", "Anna"], 2, "none: iobes_nested_ner finds nested mentions"),
        ([tmp_path / "cnn", "Anna"], 2, "has no features that can be read"),
        ([model, "Anna", "--span", "0-1"], 2, "is not a span such as 0:2:PER"),
        ([model, "Anna", "--span", "0:1"], 2, "is not a span such as 0:2:PER"),
        ([model, "Anna", "--span", "0:9:PER"], 1, "is no span of 1 tokens"),
        ([model, "Anna", "--span", "0:1:SHIP"], 2, "'SHIP' is not one of the component's"),
        ([model, "Anna", "--label", "SHIP"], 2, "'SHIP' is not one of the component's"),
        ([model, tmp_path / "file", "--format", "xml"], 2, "Unknown format 'xml'"),
        ([model, tmp_path / "file", "--sentence", 3], 2, "there is no sentence 3"),
    ]
    for arguments, code, message in cases:
        result = run("explain", *arguments)
        said = " ".join(result.stderr.replace("│", " ").split())
        assert (result.exit_code, message in said) == (code, True), result.output
