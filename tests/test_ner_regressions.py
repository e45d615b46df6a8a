"""Mistakes that the recogniser and the policy `best` once made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from typer.testing import CliRunner

from spacy_iobes import repair, score
from spacy_iobes.cli import app
from spacy_iobes.errors import (
    AlignmentError,
    InexpressibleError,
    ModelError,
    UnknownNameError,
)

from .recognizers import make, ner


def example(nlp: Language, words: str, tags: str) -> Example:
    tokens = words.split("|")
    ents = tags.split()
    return Example(Doc(nlp.vocab, words=tokens), Doc(nlp.vocab, words=tokens, ents=ents))


@pytest.fixture
def nlp() -> Language:
    made = make()
    given = [example(made, "a|b", "B-X I-X"), example(made, "c", "O")]
    made.initialize(lambda: given)
    return made


def test_generators_are_docs_too(nlp: Language) -> None:
    docs = [Doc(nlp.vocab, words=["a"]), Doc(nlp.vocab, words=["b", "c"])]
    stream: Any = iter(docs)
    assert len(ner(nlp).nbest(stream, 2)) == 2


def test_a_bias_in_the_config_of_a_stored_pipeline_counts(nlp: Language, tmp_path: Path) -> None:
    nlp.to_disk(tmp_path / "model")
    config = {"components": {"iobes_ner": {"entity_bias": 30.0}}}
    loaded = spacy.load(tmp_path / "model", config=config)
    assert ner(loaded).entity_bias == 30.0


@pytest.mark.parametrize(("words", "bound"), [("a|\n|b|\n", False), ("a|b|c|d", True)])
def test_the_loss_is_that_of_the_sequences_decoding_considers(words: str, bound: bool) -> None:
    made = make(sentence_bound=bound)
    given = example(made, words, "B-X O O O")
    made.initialize(lambda: [given])
    pipe = ner(made)
    for layer in pipe.model.walk():  # untrained, everything is equally probable
        for name in layer.param_names:
            if layer.has_param(name):
                shape = layer.get_param(name).shape
                values: Any = np.random.default_rng(1).normal(size=shape).astype("f")
                layer.set_param(name, values)
    if bound:
        given.predicted[2].is_sent_start = True
    loss, _ = pipe.get_loss([given], pipe.model.predict([given.predicted]))
    analyses = pipe.nbest([given.predicted], 2000)[0]
    (wanted,) = [
        a.log_probability for a in analyses if [tuple(s) for s in a.spans] == [(0, 1, "X")]
    ]
    assert loss == pytest.approx(-wanted, rel=1e-5)


def test_gold_that_decoding_never_finds_is_refused_or_missing() -> None:
    strict, lenient = make(), make(misaligned="missing")
    given = example(strict, "\n|a", "B-X I-X")
    for made in (strict, lenient):
        made.initialize(lambda: [given])
    with pytest.raises(AlignmentError, match="white space"):
        strict.update([given])
    assert lenient.update([given])["iobes_ner"] == 0.0


def test_another_scheme_with_as_many_tags_is_refused(nlp: Language) -> None:
    bio, ioe2 = make(scheme="bio"), make(scheme="ioe2")
    given = [example(bio, "a|b", "B-X I-X")]
    bio.initialize(lambda: given)
    with pytest.raises(ModelError, match="bio tags, but the config says ioe2"):
        ner(ioe2).from_bytes(ner(bio).to_bytes())


def test_loading_into_a_component_with_other_labels_is_refused(nlp: Language) -> None:
    other = make()
    given = [example(other, "a|b|c", "B-X B-Y B-Z")]
    other.initialize(lambda: given)
    with pytest.raises(ModelError, match=r"does not load .* not initialised"):
        ner(nlp).from_bytes(ner(other).to_bytes())


def test_scores_that_are_no_numbers_come_with_advice(nlp: Language) -> None:
    output = ner(nlp).model.get_ref("output_layer")
    wrong: Any = np.full(output.get_param("b").shape, np.nan, dtype="f")
    output.set_param("b", wrong)
    with pytest.raises(ModelError, match="diverged"):
        nlp(Doc(nlp.vocab, words=["a"]))


def test_errors_in_training_name_the_doc() -> None:
    made = make(scheme="io")
    given = [example(made, "x", "O"), example(made, "touching|spans", "B-X B-X")]
    made.initialize(lambda: given)
    with pytest.raises(InexpressibleError, match="'touching spans'"):
        made.update(given)


@pytest.mark.parametrize("command", ["repair", "convert", "summarize"])
def test_no_command_pretends_to_know_scores(command: str, tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("a B-X\n")
    more = {
        "repair": [str(tmp_path / "out"), "-s", "iobes"],
        "convert": [str(tmp_path / "out"), "--scheme", "iobes", "--to-scheme", "bio"],
    }.get(command, ["-s", "iobes"])
    done = CliRunner().invoke(app, [command, str(path), *more, "--policy", "best"])
    assert done.exit_code == 2
    assert "scores" in done.output


def test_neither_does_score() -> None:
    with pytest.raises(UnknownNameError, match="scores"):
        score([["O"]], [["O"]], scheme="bio", policy="best")
    with pytest.raises(TypeError, match="TagScores"):
        repair(["I-X"], "bio", "best", [{"O": 1.0}])  # type: ignore[arg-type]
