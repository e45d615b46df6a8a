"""Precision against recall: the bias that is found, and the command that finds it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import DocBin
from spacy.training import Example
from typer.testing import CliRunner, Result

from spacy_iobes import Signature
from spacy_iobes.cli import app
from spacy_iobes.pipeline import Tried, best_of, tune_bias
from spacy_iobes.scoring import Figures

from .commands import fine
from .recognizers import CNN, example, examples, layer_of, learn, make, ner, weights


def shifted(by: float, **config: Any) -> Language:
    """A recogniser that knows what is true but says too little, or (`by` above 0) too much.

    The tags with which an entity begins, B and S, are shifted until it makes mistakes.
    """
    nlp = learn(make(**config), examples())
    pipe = ner(nlp)
    while nlp.evaluate(examples())["iobes_f"] > 0.9:
        biases = weights(pipe, "b").copy()
        biases[[1, 4, 5, 8]] += by
        layer_of(pipe, "b").set_param("b", biases)
    return nlp


@pytest.fixture(scope="module")
def shy() -> Language:
    return shifted(-0.5)


def at(nlp: Language, bias: float, pairs: list[Example]) -> dict[str, Any]:
    """The scores of a pipeline with this bias."""
    pipe = ner(nlp)
    before = pipe.entity_bias
    pipe.entity_bias = bias
    try:
        return nlp.evaluate(pairs)
    finally:
        pipe.entity_bias = before


def agree(nlp: Language, tried: list[Tried], pairs: list[Example]) -> None:
    """That the figures are those of a pipeline that has the bias."""
    for bias, figures in tried:
        scores = at(nlp, bias, pairs)
        wanted = [scores[f"iobes_{key}"] for key in "prf"]
        assert [figure or 0.0 for figure in figures] == pytest.approx(wanted), bias


# the library


def test_a_bias_that_helps_is_found(shy: Language) -> None:
    tried = tune_bias(ner(shy), examples())
    found = best_of(tried)
    before = next(t for t in tried if t.bias == 0.0)
    assert found.bias > 0
    assert (found.figures.f1 or 0) > (before.figures.f1 or 0)
    assert found.figures.f1 == max(t.figures.f1 or 0 for t in tried)
    assert ner(shy).entity_bias == 0.0  # to look for a bias sets none
    agree(shy, tried, examples())


def test_a_recogniser_that_says_too_much() -> None:
    nlp = shifted(0.5)
    tried = tune_bias(ner(nlp), examples())
    assert best_of(tried).bias < 0
    agree(nlp, tried, examples())


def test_no_bias_where_none_is_needed() -> None:
    nlp = learn(make(), examples())
    tried = tune_bias(ner(nlp), examples())
    assert best_of(tried) == Tried(0.0, Figures(1.0, 1.0, 1.0))


def test_biases_are_tried_around_the_best_and_in_order(shy: Language) -> None:
    heard: list[Tried] = []
    tried = tune_bias(ner(shy), examples(), coarse=(-1.0, 3.0), tell=heard.append)
    biases = [t.bias for t in tried]
    assert biases == sorted(biases)
    assert {-1.0, 0.0, 3.0} <= set(biases)
    centre = best_of([t for t in tried if t.bias in (-1.0, 0.0, 3.0)]).bias
    assert {round(centre + 0.1 * i, 1) for i in range(-4, 5)} <= set(biases)
    assert sorted(heard) == sorted(tried)


def test_of_equal_biases_the_smallest_is_best() -> None:
    figures = Figures(0.5, 0.5, 0.5)
    tried = [Tried(bias, figures) for bias in (-2.0, -0.5, 1.0, 3.0)]
    assert best_of(tried).bias == -0.5
    none = Figures(None, None, None)
    assert best_of([Tried(-1.0, none), Tried(0.0, none)]).bias == 0.0


def test_what_is_not_annotated_does_not_count(shy: Language) -> None:
    pairs = [example(["-", "O", "O", "B-LOC", "I-LOC", "O"], examples()[0].text.split())]
    tried = tune_bias(ner(shy), pairs)
    agree(shy, tried, pairs)


def test_entities_of_other_components_are_kept(shy: Language) -> None:
    """What a ruler sets before is clamped, and what has a foreign label counts as found."""
    nlp = make()
    ruler: Any = nlp.add_pipe("entity_ruler", before="iobes_ner")
    ruler.add_patterns([{"label": "LOC", "pattern": "York"}, {"label": "DATE", "pattern": "likes"}])
    ner(nlp).from_bytes(ner(shy).to_bytes())
    pairs = examples()
    for pair in pairs:
        ruler(pair.predicted)
    agree(nlp, tune_bias(ner(nlp), pairs), examples())


def test_a_threshold_is_respected() -> None:
    nlp = shifted(-0.5, threshold=0.3)
    agree(nlp, tune_bias(ner(nlp), examples()), examples())


def test_no_examples(shy: Language) -> None:
    assert best_of(tune_bias(ner(shy), [])).bias == 0.0


# the command


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(shy: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pipeline, and the same data as a .spacy and a column file."""
    folder = tmp_path_factory.mktemp("tune")
    shy.to_disk(folder / "model")
    references = [pair.reference for pair in examples()]
    DocBin(docs=references).to_disk(folder / "dev.spacy")
    rows = ["".join(f"{t.text} {tag(t)}\n" for t in doc) for doc in references]
    (folder / "dev.bio").write_text("\n".join(rows))
    return folder


def tag(token: Any) -> str:
    return f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "O"


@pytest.mark.parametrize("data", [["dev.spacy"], ["dev.bio", "--scheme", "bio"]])
def test_the_command(folder: Path, shy: Language, data: list[str]) -> None:
    result = run("tune", folder / "model", folder / data[0], *data[1:])
    assert result.exit_code == 0, result.output
    header, *rows, last = result.stdout.splitlines()
    assert header.split() == ["bias", "precision", "recall", "F1"]
    marked = [row.split() for row in rows if row.endswith("<- best")]
    found = best_of(tune_bias(ner(shy), examples()))
    assert len(marked) == 1
    assert float(marked[0][0]) == found.bias
    scores = at(shy, found.bias, examples())
    assert [float(x) for x in marked[0][1:4]] == pytest.approx(
        [100 * scores[f"iobes_{key}"] for key in "prf"], abs=0.01
    )
    assert last.startswith(f"best bias {found.bias:+.1f}: F1 ")


def test_directories_of_files(folder: Path, tmp_path: Path) -> None:
    """As spaCy takes them, and those of column files; with a scheme, columns are meant."""
    model, wanted = folder / "model", run("tune", folder / "model", folder / "dev.spacy").stdout
    for number, pair in enumerate(examples()):
        (tmp_path / "bins" / "more").mkdir(parents=True, exist_ok=True)
        where = tmp_path / "bins" / ("more" if number else "") / f"{number}.spacy"
        DocBin(docs=[pair.reference]).to_disk(where)
    columns = tmp_path / "columns"
    columns.mkdir()
    for number, sentence in enumerate((folder / "dev.bio").read_text().split("\n\n")):
        (columns / f"{number}.bio").write_text(sentence.rstrip("\n") + "\n")
    assert run("tune", model, tmp_path / "bins").stdout == wanted
    assert run("tune", model, columns, "--scheme", "bio").stdout == wanted
    found = run("tune", model, columns)  # bio and others would read the same
    assert (found.stdout, found.stderr) == (wanted, f"{columns}: tags read as bio\n")
    (tmp_path / "bins" / "bad.spacy").write_text("none")
    refused = run("tune", model, tmp_path / "bins")
    assert (refused.exit_code, "bad.spacy" in refused.stderr) == (2, True)
    (tmp_path / "empty").mkdir()
    refused = run("tune", model, tmp_path / "empty")
    assert (refused.exit_code, "a folder without files" in refused.stderr) == (2, True)


def test_the_command_in_json_and_its_output(folder: Path, tmp_path: Path) -> None:
    output = tmp_path / "tuned"
    model, dev = folder / "model", folder / "dev.spacy"
    result = run("tune", model, dev, "--output", output, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["output"] == str(output)
    best = max(report["tried"], key=lambda row: (row["f1"] or 0, -abs(row["bias"])))
    assert report["best"] == best["bias"] > 0
    tuned, before = spacy.load(output), spacy.load(model)
    assert ner(tuned).entity_bias == pytest.approx(report["best"])
    assert tuned.get_pipe_config("iobes_ner")["entity_bias"] == pytest.approx(report["best"])
    assert ner(before).entity_bias == 0.0
    scores = [nlp.evaluate(examples())["iobes_f"] for nlp in (tuned, before)]
    assert scores[0] == pytest.approx(best["f1"])
    assert scores[0] > scores[1]
    docs = [before.make_doc(pair.text) for pair in examples()]
    for a, b in zip(ner(tuned).marginals(docs), ner(before).marginals(docs)):
        np.testing.assert_array_equal(a, b)


def test_malformed_gold_is_repaired_by_a_policy(folder: Path, tmp_path: Path) -> None:
    """The figures are those of data that were repaired before, and the recipe says so."""
    bad = tmp_path / "bad.bio"
    bad.write_text((folder / "dev.bio").read_text().replace("B-", "I-"))
    fine("repair", bad, tmp_path / "good.bio", "-s", "bio", "-p", "begin")
    line = ["tune", folder / "model"]
    assert run(*line, bad, "-s", "bio").exit_code == 1
    result = run(*line, bad, "-s", "bio", "--policy", "begin", "-o", tmp_path / "tuned")
    assert result.exit_code == 0, result.output
    wanted = run(*line, tmp_path / "good.bio", "-s", "bio").stdout
    assert result.stdout.splitlines()[:-1] == wanted.splitlines()[:-1]
    assert result.stderr == f"{bad}: 6 violations repaired (begin)\n"
    meta = json.loads((tmp_path / "tuned" / "meta.json").read_text())
    signature = Signature.parse(meta["performance"]["iobes_signature"])
    assert (signature.scheme, signature.policy, signature.gold_policy) == ("bio", "raise", "begin")
    report = json.loads(run(*line, bad, "-s", "bio", "-p", "begin", "--json").stdout)
    assert report["repaired"] == 6
    assert "Unknown policy 'fix'" in run(*line, bad, "-s", "bio", "-p", "fix").stderr


def test_entities_do_not_nest(folder: Path, tmp_path: Path) -> None:
    row = {"tokens": ["Anna", "Smith"], "spans": [[0, 2, "PER"], [1, 2, "PER"]]}
    (tmp_path / "in.jsonl").write_text(json.dumps(row))
    result = run("tune", folder / "model", tmp_path / "in.jsonl")
    assert result.exit_code == 1
    assert "PER 'Anna Smith' and PER 'Smith' overlap, which entities cannot." in result.stderr
    result = run("tune", folder / "model", folder / "dev.spacy", "--layer", 1)
    assert result.exit_code == 2
    assert "this is for column files" in " ".join(result.stderr.replace("│", " ").split())


def test_a_pipeline_is_tuned_twice(folder: Path, tmp_path: Path) -> None:
    """The second time the bias is not added to the first one."""
    first, second = tmp_path / "first", tmp_path / "second"
    assert run("tune", folder / "model", folder / "dev.spacy", "-o", first).exit_code == 0
    result = run("tune", first, folder / "dev.spacy", "-o", second)
    assert f"written to {second}" in result.stdout
    biases = [ner(spacy.load(path)).entity_bias for path in (first, second)]
    assert biases[0] == pytest.approx(biases[1])


def test_another_name_and_components_before(folder: Path, shy: Language, tmp_path: Path) -> None:
    nlp = spacy.blank("en", vocab=shy.vocab)
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("iobes_ner", name="mine", config={"model": {"tok2vec": CNN}})
    mine: Any = nlp.get_pipe("mine")
    mine.from_bytes(ner(shy).to_bytes())
    nlp.to_disk(tmp_path / "model")
    result = run("tune", tmp_path / "model", folder / "dev.spacy", "--component", "mine", "--json")
    assert json.loads(result.stdout)["best"] == best_of(tune_bias(ner(shy), examples())).bias
    again = run("tune", tmp_path / "model", folder / "dev.spacy", "--json")
    assert again.stdout == result.stdout  # without a name, it is the last recogniser
    result = run("tune", tmp_path / "model", folder / "dev.spacy", "--component", "other")
    assert result.exit_code == 2
    assert "no recogniser 'other'. Known: mine. Name one (--component)" in result.stderr


def test_what_comes_before_the_recogniser_counts(folder: Path, tmp_path: Path) -> None:
    """An encoder that it listens to, and entities that a ruler sets."""
    nlp = spacy.blank("en")
    nlp.add_pipe("tok2vec", config={"model": CNN})
    ruler: Any = nlp.add_pipe("entity_ruler")
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16, "upstream": "*"}
    nlp.add_pipe("iobes_ner", config={"model": {"tok2vec": listener}})
    optimizer = nlp.initialize(examples)
    optimizer.learn_rate = 0.03
    for _ in range(5):
        nlp.update(examples(), sgd=optimizer)
    ruler.add_patterns([{"label": "LOC", "pattern": "Anna"}])
    nlp.to_disk(tmp_path / "model")
    result = run("tune", tmp_path / "model", folder / "dev.spacy", "--json")
    tried = {row["bias"]: row["f1"] for row in json.loads(result.stdout)["tried"]}
    for bias in (0.0, 2.0):
        assert tried[bias] == pytest.approx(at(nlp, bias, examples())["iobes_f"])


def test_what_the_command_cannot_use(folder: Path, tmp_path: Path) -> None:
    model, dev = folder / "model", folder / "dev.spacy"
    blank = tmp_path / "blank"
    spacy.blank("en").to_disk(blank)
    (tmp_path / "bad.bio").write_text("a I-LOC\n")
    (tmp_path / "vague.bio").write_text("a B-X\nb I-X\nc E-X\n\nd E-X\n")
    (tmp_path / "label.bio").write_text("a B-NEW\n")
    (tmp_path / "file").write_text("")
    cases: list[tuple[list[object], str]] = [
        ([tmp_path / "none", dev], "no pipeline there"),
        ([model, tmp_path / "none.spacy"], "there is no such file"),
        ([model, tmp_path / "vague.bio"], "vague.bio: name the scheme of its tags (--scheme)"),
        ([model, folder / "dev.bio", "--scheme", "ibo"], "Unknown scheme 'ibo'"),
        ([blank, dev], "The pipeline has no recogniser."),
        ([model, dev, "--output", tmp_path / "file"], "a file is in the way"),
    ]
    for arguments, message in cases:
        result = run("tune", *arguments)
        assert (result.exit_code, message in result.stderr) == (2, True), result.output
    result = run("tune", model, tmp_path / "bad.bio", "--scheme", "bio")
    assert result.exit_code == 1
    assert "I-LOC" in result.stderr
