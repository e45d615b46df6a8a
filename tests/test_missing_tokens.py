"""Tokens that are not annotated (`-`) are no evidence, for scores and for learning."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.scorer import get_ner_prf
from spacy.tokens import Doc, DocBin, Span, SpanGroup
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_iobes import SCHEMES, TagScores, check, convert, parse, repair, score, validate
from spacy_iobes.corpus import Unit, nested_corpus
from spacy_iobes.errors import TagError
from spacy_iobes.pipeline import span_scorer
from spacy_iobes.pipeline.scorers import nested_scorer

from .commands import fine, run

GOLD = ["B-PER", "I-PER", "O", "-"]
PREDICTED = ["B-PER", "I-PER", "O", "B-LOC"]


def column_file(path: Path, *sentences: Sequence[str | tuple[str, ...]]) -> Path:
    lines = [
        "".join(
            f"w{i} {' '.join([row] if isinstance(row, str) else row)}\n"
            for i, row in enumerate(sentence)
        )
        for sentence in sentences
    ]
    path.write_text("\n".join(lines), encoding="utf8")
    return path


def entities(tags: list[str]) -> Doc:
    """A Doc whose entities are these tags, `-` being missing."""
    iob = {"-": "", "O": "O"}
    ents = [iob.get(tag, tag) for tag in tags]
    return Doc(Vocab(), words=[f"w{i}" for i in range(len(tags))], ents=ents)


def group(length: int, spans: list[tuple[int, int, str]], missing: list[int] | None = None) -> Doc:
    doc = Doc(Vocab(), words=[f"w{i}" for i in range(length)])
    attrs: dict[str, Any] = {}
    if missing:
        attrs = {"layers": [0] * len(spans), "layer_missing": [[0, i] for i in missing]}
    found = [Span(doc, *span) for span in spans]
    doc.spans["sc"] = SpanGroup(doc, name="sc", attrs=attrs, spans=found)
    return doc


def test_files_with_a_missing_token_score_100(tmp_path: Path) -> None:
    gold = column_file(tmp_path / "gold.bio", GOLD)
    predicted = column_file(tmp_path / "predicted.bio", PREDICTED)
    options = ["-s", "bio", "-p", "raise"]
    printed = json.loads(fine("score", gold, predicted, *options, "--layout", "json").stdout)
    assert (printed["value"], printed["predicted"], printed["gold"]) == (1.0, 1, 1)
    assert printed["missing"] == {"predicted": 0, "gold": 1}
    table = fine("score", gold, predicted, *options).stdout
    assert "tokens that the gold does not annotate: 1" in table


def test_the_scorers_of_docs_say_100_too() -> None:
    example = Example(entities(PREDICTED), entities(GOLD))
    assert span_scorer(scheme=None, policy=None)([example])["iobes_f"] == 1.0
    spans = [(0, 2, "PER")]
    example = Example(group(4, [*spans, (3, 4, "LOC")]), group(4, spans, [3]))
    assert nested_scorer("sc")([example])["iobes_nested_f"] == 1.0
    scorer = span_scorer(source="spans:sc", scheme=None, policy=None)
    assert scorer([example])["iobes_f"] == 1.0


def test_lists_with_a_missing_token_score_100() -> None:
    found = score([GOLD], [PREDICTED], scheme="bio", policy="raise")
    assert found.value == 1.0
    assert found.accuracy == 1.0
    assert found.tagged.f1 == 1.0


def test_missing_tokens_of_predictions_are_outside_and_counted(tmp_path: Path) -> None:
    gold = column_file(tmp_path / "gold.bio", PREDICTED)
    predicted = column_file(tmp_path / "predicted.bio", GOLD)
    done = fine("score", gold, predicted, "-s", "bio", "-p", "raise")
    assert "tokens that the predictions do not annotate: 1, taken as O" in done.stdout
    assert "score 66.67" in done.stdout
    assert score([PREDICTED], [GOLD], scheme="bio", policy="raise").accuracy == 0.75


def test_gold_without_an_annotated_token_is_an_error(tmp_path: Path) -> None:
    nothing = column_file(tmp_path / "gold.bio", ["-", "-"])
    predicted = column_file(tmp_path / "predicted.bio", ["O", "B-X"])
    done = run("score", nothing, predicted, "-s", "bio", "-p", "raise")
    assert done.exit_code == 1
    assert "annotates none of its 2 tokens" in done.stderr
    with pytest.raises(TagError, match="none of its 2 tokens"):
        score([["-", "-"]], [["O", "B-X"]], scheme="bio", policy="raise")


def test_a_right_prediction_over_a_missing_token_counts_in_both_scorers() -> None:
    """Another layer, or a group of its own, does not annotate a token of a gold mention."""
    gold = [(0, 3, "PER"), (1, 2, "LOC")]
    example = Example(group(5, [*gold, (1, 4, "LOC"), (2, 3, "X")]), group(5, gold, [2]))
    expected = {"p": 1.0, "r": 1.0, "f": 1.0}  # two right ones; the others cover token 2
    by_group = span_scorer(source="spans:sc", scheme=None, policy=None)([example])
    nested = nested_scorer("sc")([example])
    for key, value in expected.items():
        assert by_group[f"iobes_{key}"] == nested[f"iobes_nested_{key}"] == value


TAGS = ["B-A", "I-A", "B-B", "O", "-"]


def legal(tags: tuple[str, ...]) -> bool:
    return all(tag != "I-A" or before in ("B-A", "I-A") for before, tag in zip(("O", *tags), tags))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_files_score_as_spacy_scores_docs(length: int) -> None:
    every = [tags for tags in product(TAGS, repeat=length) if legal(tags)]
    for gold in every:
        if set(gold) == {"-"}:
            continue
        for predicted in every:
            if "-" in predicted:
                continue
            found = score([list(gold)], [list(predicted)], scheme="bio", policy="raise")
            examples = [Example(entities(list(predicted)), entities(list(gold)))]
            theirs = get_ner_prf(examples)
            correct, guessed, true = found.counts.totals
            if not guessed + true:
                assert not theirs["ents_f"]
                continue
            assert theirs["ents_p"] == pytest.approx(correct / guessed if guessed else 0.0)
            assert theirs["ents_r"] == pytest.approx(correct / true if true else 0.0)


def test_verbs_read_tokens_without_a_tag() -> None:
    tags = ["B-X", "I-X", "-", "B-X", "!"]
    assert [tuple(span) for span in parse(tags, "bio")] == [(0, 2, "X"), (3, 4, "X")]
    assert validate(tags, "bio") == []
    assert convert(tags, "bio", "iobes") == ["B-X", "E-X", "-", "S-X", "!"]
    assert convert(tags, "bio", "bia") == ["B-X", "I-X", "-", "B-X", "!"]
    assert convert(tags, "bio", "be") == ["B-X", "E-X", "-", "BE-X", "!"]
    assert "bio" in check([tags]).legal
    (wrong,) = validate(["B-X", "-", "I-X"], "bio")
    assert (wrong.index, wrong.previous, wrong.current, wrong.kind) == (2, None, "I-X", "start")
    assert "a token without a tag -> I-X" in wrong.message
    assert repair(["B-X", "-", "I-X"], "bio", "begin").tags == ["B-X", "-", "B-X"]
    scores = TagScores(["O", "B-X", "I-X"], np.log([[1, 8, 1], [8, 1, 1], [1, 2, 7]]))
    assert repair(["I-X", "-", "I-X"], "bio", "best", scores).tags == ["B-X", "-", "B-X"]


@given(
    st.sampled_from(sorted(set(SCHEMES) - {"io"})),
    st.lists(st.lists(st.sampled_from(["X", "Y", "O"]), max_size=4), max_size=4),
    st.data(),
)
def test_what_lies_between_missing_tokens_is_read_as_a_sentence_of_its_own(
    scheme: str, words: list[list[str]], data: st.DataObject
) -> None:
    runs = [
        convert([tag if tag == "O" else f"B-{tag}" for tag in run], "bio", scheme) for run in words
    ]
    tags = [tag for run in runs for tag in (*run, data.draw(st.sampled_from(["-", "!"])))]
    spans, at = [], 0
    for labels in words:
        spans += [(at + i, at + i + 1, label) for i, label in enumerate(labels) if label != "O"]
        at += len(labels) + 1
    assert [tuple(span) for span in parse(tags, scheme)] == spans
    assert validate(tags, scheme) == []
    back = convert(tags, scheme, "bio")
    assert [old for old, new in zip(tags, back) if new in "-!"] == [t for t in tags if t in "-!"]


@pytest.mark.parametrize("scheme", sorted(SCHEMES))
def test_commands_keep_tokens_without_a_tag(tmp_path: Path, scheme: str) -> None:
    tags = convert(["B-X", "I-X", "O", "-", "!", "B-Y"], "bio", scheme)
    path = column_file(tmp_path / "tags", tags)
    assert "(1 not annotated)" in fine("validate", path, "-s", scheme).stdout
    assert fine("repair", path, "-", "-s", scheme, "-p", "begin").stdout == path.read_text()
    back = fine("convert", path, "-", "-s", scheme, "--to-scheme", "bio").stdout
    expected = ["B-X", "I-X", "O", "-", "!", "B-Y"]
    assert [line.split()[1] for line in back.splitlines()] == expected
    assert scheme in json.loads(fine("validate", path, "--json").stdout)[0]["legal"]


def test_violations_beside_missing_tokens_name_the_line_of_the_tag(tmp_path: Path) -> None:
    path = column_file(tmp_path / "tags", ["B-X", "-", "O", "E-X", "-"])
    found = json.loads(run("validate", path, "-s", "iobes", "--json").stdout)["files"][0]
    places = [(wrong["line"], wrong["token"], wrong["kind"]) for wrong in found["violations"]]
    assert places == [(1, "w0", "end"), (4, "w3", "start")]


@pytest.mark.parametrize("model", ["edge", "state", "per_label"])
@pytest.mark.parametrize("unit", ["sentence", "document"])
def test_nested_learning_takes_nothing_from_missing_tokens(
    tmp_path: Path, unit: Unit, model: str
) -> None:
    nlp = spacy.blank("en")
    pipe: Any = nlp.add_pipe("iobes_nested_ner", config={"representation": model})

    def loss_of(*rows: tuple[str, str]) -> tuple[float, Any]:
        path = column_file(tmp_path / "layers", list(rows))
        examples = list(nested_corpus(path, scheme="bio", unit=unit, layers=[1, 2])(nlp))
        if not pipe.labels:
            nlp.initialize(lambda: examples)
        scores, _ = pipe.model.begin_update([example.predicted for example in examples])
        loss, gradient = pipe.get_loss(examples, scores)
        return float(loss), gradient

    known = [("B-X", "O"), ("I-X", "B-Y"), ("O", "O")]
    whole, _ = loss_of(*known, ("O", "O"), ("O", "O"), ("O", "O"))
    part, _ = loss_of(*known, ("-", "-"), ("-", "-"), ("-", "-"))
    assert 0 < part < whole
    nothing, gradient = loss_of(*[("-", "-")] * 4)
    assert nothing == pytest.approx(0.0, abs=1e-5)
    assert all(np.abs(array).max(initial=0) < 1e-5 for array in arrays(gradient))


def arrays(gradient: Any) -> list[Any]:
    """The arrays of numbers in a gradient, however it holds them."""
    if isinstance(gradient, np.ndarray):
        return [gradient] if gradient.dtype.kind == "f" else []
    if isinstance(gradient, (list, tuple)):
        return [array for member in gradient for array in arrays(member)]
    return arrays(list(vars(gradient).values())) if hasattr(gradient, "__dict__") else []


def test_an_augmenter_does_not_make_missing_tokens_outside(tmp_path: Path) -> None:
    from spacy.training.augment import create_lower_casing_augmenter

    path = column_file(tmp_path / "layers", [("B-X", "O"), ("-", "-"), ("O", "B-Y")])
    reader = nested_corpus(
        path, scheme="bio", layers=[1, 2], augmenter=create_lower_casing_augmenter(level=1.0)
    )
    (example,) = reader(spacy.blank("en"))
    guess = group(3, [(0, 1, "X"), (1, 2, "X"), (2, 3, "Y")])
    found = nested_scorer("sc")([Example(guess, example.reference)])
    assert found["iobes_nested_f"] == 1.0


@pytest.fixture(scope="module")
def flat_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("flat")
    data = column_file(folder / "train.bio", *[["B-X", "O", "O"], ["O", "B-X", "I-X"]] * 6)
    fine("train", data, data, "-s", "bio", "-o", folder / "model", "--epochs", "1")
    return folder / "model"


def test_docs_without_entities(tmp_path: Path, flat_model: Path) -> None:
    """Their only group is taken for them; without spans there is nothing to learn."""
    path = tmp_path / "group.spacy"
    DocBin(docs=[group(3, [(0, 2, "X")])]).to_disk(path)
    assert "best bias" in fine("tune", flat_model, path).stdout
    fine("train", path, path, "-o", tmp_path / "model", "--max-steps", "1")
    DocBin(docs=[group(3, [])]).to_disk(path)
    for line in (["tune", flat_model, path], ["train", path, path, "-o", tmp_path / "model"]):
        done = run(*line)
        assert done.exit_code == 2
        assert "there is no entity in 1 Doc" in done.stderr
    DocBin(docs=[group(3, [(0, 2, "X"), (1, 2, "X")])]).to_disk(path)
    done = run("train", path, path, "-o", tmp_path / "model")
    assert done.exit_code == 1
    assert "Find nested mentions (--nested), or keep one." in done.stderr
