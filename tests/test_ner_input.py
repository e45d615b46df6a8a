"""Input that `iobes_ner` cannot use, or can only in part: gold, models, names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
import srsly
from confection import ConfigValidationError
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.tokens import Span as DocSpan
from spacy.training import Example

from spacy_iobes import Span
from spacy_iobes.corpus import gold_of, rejected_of
from spacy_iobes.errors import (
    AlignmentError,
    ChainError,
    InexpressibleError,
    MalformedTagsError,
    ModelError,
    SpanError,
    UnknownNameError,
)
from spacy_iobes.ml import get_objective

from . import by_hand
from .docs import BLANK, bare, component, stored, with_entities
from .recognizers import (
    CNN,
    agrees,
    example,
    examples,
    known,
    layer_of,
    learn,
    make,
    ner,
    weights,
    worlds_of,
)


def pair(reference: str, predicted: str, tags: str) -> Example:
    """Two Docs of one text, tokens divided by `|`, with BIO tags for the reference."""
    docs = [
        Doc(BLANK.vocab, words=text.split("|"), spaces=[False] * len(text.split("|")))
        for text in (predicted, reference)
    ]
    marks: Any = with_entities(tags.split(), BLANK.vocab).to_array(["ENT_IOB", "ENT_TYPE"])
    return Example(docs[0], docs[1].from_array(["ENT_IOB", "ENT_TYPE"], marks))


# the reference has other tokens


def test_gold_moves_to_other_tokens() -> None:
    (gold,) = gold_of([pair("New|York|er|s", "N|ew|Yorkers", "B-X O O O")])
    assert gold == ([Span(0, 2, "X")], [])
    (gold,) = gold_of([pair("N|ew|York", "New|York", "B-X I-X B-Y")])
    assert gold == ([Span(0, 1, "X"), Span(1, 2, "Y")], [])


def test_white_space_between_tokens_does_not_matter() -> None:
    (gold,) = gold_of([pair("New| |York", "New |York", "B-X I-X I-X")])
    assert gold == ([Span(0, 2, "X")], [])
    (gold,) = gold_of([pair(" New|York", " |New|Yo|rk", "B-X B-Y")])
    assert gold == ([Span(1, 2, "X"), Span(2, 4, "Y")], [])


def test_white_space_between_unknown_tokens_is_unknown() -> None:
    (gold,) = gold_of([pair("New |York|is", "New| |York|i|s", "- - O")])
    assert gold == ([], [0, 1, 2])
    (gold,) = gold_of([pair("New |York", "New| |York", "- O")])
    assert gold == ([], [0])


def test_part_of_a_token_that_is_unknown() -> None:
    (gold,) = gold_of([pair("a|b|c", "ab|c", "- O O")])
    assert gold == ([], [0])
    (gold,) = gold_of([pair("ab|c", "a|b|c", "- O")])
    assert gold == ([], [0, 1])


CROSSING = pair("New|York|ers", "New|Yorkers", "B-X I-X O")


def test_an_entity_across_tokens_is_refused() -> None:
    with pytest.raises(AlignmentError) as caught:
        gold_of([CROSSING])
    message = str(caught.value)
    assert "the entity 'NewYork' (X) does not begin and end with tokens" in message
    assert "['New', 'Yorkers']" in message
    assert 'misaligned = "missing"' in message


def test_an_entity_across_tokens_can_be_unknown() -> None:
    assert list(gold_of([CROSSING], "missing")) == [([], [0, 1])]
    (gold,) = gold_of([pair("a|b|c|d", "ab|c|d", "O B-X O B-Y")], "missing")
    assert gold == ([Span(2, 3, "Y")], [0])


@st.composite
def two_ways(draw: st.DrawFn) -> Example:
    """A text cut into tokens in two ways, the reference with random BIO tags and gaps."""
    letters = draw(st.text("abc", min_size=1, max_size=8))
    cuts = [draw(st.sets(st.integers(1, len(letters)))) for _ in range(2)]
    texts = ["".join(f"|{c}" if i in cut else c for i, c in enumerate(letters)) for cut in cuts]
    size = texts[1].count("|") + 1
    legal = sorted(by_hand.legal_sequences(min(size, 4), "bio"))
    tags = [*draw(st.sampled_from(legal)), *["O"] * (size - 4)]
    holes = draw(st.sets(st.integers(0, size - 1)))
    tags = ["-" if tag == "O" and i in holes else tag for i, tag in enumerate(tags)]
    return pair(texts[1], texts[0], " ".join(tags))


def letters_of(doc: Doc) -> list[set[int]]:
    """The letters of each token."""
    return [set(range(token.idx, token.idx + len(token))) for token in doc]


@given(two_ways())
def test_gold_moves_letter_by_letter(given_pair: Example) -> None:
    reference, predicted = given_pair.reference, given_pair.predicted
    theirs, ours = letters_of(reference), letters_of(predicted)
    bounds = {0, *(max(token) + 1 for token in ours)}
    spans, unknown = [], set()
    for token, letters in zip(reference, theirs):
        if token.ent_iob == 0:
            unknown |= letters
    for ent in reference.ents:
        letters = set().union(*theirs[ent.start : ent.end])
        if {min(letters), max(letters) + 1} <= bounds:
            inside = [i for i, mine in enumerate(ours) if mine & letters]
            spans.append(Span(inside[0], inside[-1] + 1, ent.label_))
        else:
            unknown |= letters
    missing = [i for i, mine in enumerate(ours) if mine & unknown]
    assert list(gold_of([given_pair], "missing")) == [(spans, missing)]


def test_the_component_does_as_it_is_told() -> None:
    strict, lenient = known("iobes"), known("iobes", misaligned="missing")
    scores, _ = strict.model.begin_update([CROSSING.predicted])
    with pytest.raises(AlignmentError, match="does not begin and end with tokens"):
        strict.get_loss([CROSSING], scores)
    scores, _ = lenient.model.begin_update([CROSSING.predicted])
    loss, _ = lenient.get_loss([CROSSING], scores)
    assert loss == pytest.approx(0, abs=1e-5)


def test_the_loss_is_that_of_the_tokens_that_are_predicted() -> None:
    moved = pair("w|0|w|1|w2", "w0|w1|w2", "B-X I-X O O -")
    pipe = known("iobes")
    scores, _ = pipe.model.begin_update([moved.predicted])
    loss, _ = pipe.get_loss([moved], scores)
    wanted = -worlds_of(pipe, moved.predicted).log_probability(agrees(["B-X", "O", "-"]))
    assert loss == pytest.approx(wanted, rel=1e-5)


def test_another_text_is_refused() -> None:
    docs = [Doc(BLANK.vocab, words=words) for words in (["a", "b"], ["a", "b", "c"])]
    docs[1].set_ents([])
    with pytest.raises(AlignmentError, match="which has another text"):
        gold_of([Example(*docs)])


def test_wrong_spans_move_too_and_are_left_out_across_tokens() -> None:
    moved = pair("N|ew|York|er", "New|Yorker", "- - - -")
    spans = [(0, 2, "X"), (2, 3, "X"), (2, 4, "Y")]
    moved.reference.spans["wrong"] = [DocSpan(moved.reference, *span) for span in spans]
    assert rejected_of([moved], "wrong", "missing") == [[Span(0, 1, "X"), Span(1, 2, "Y")]]
    with pytest.raises(AlignmentError, match="'York'"):
        rejected_of([moved], "wrong")
    assert rejected_of([moved], "other") == [[]]


def test_tokens_that_differ_from_those_of_the_gold_in_training() -> None:
    nlp = make()
    given = pair(
        "Anna |lives |in |New|-|York|.", "Anna |lives |in |New-York|.", "B-X O O B-Y I-Y I-Y O"
    )
    learn(nlp, [given])
    assert nlp.evaluate([given])["iobes_f"] == 1.0
    assert [ent.text for ent in nlp(given.predicted).ents] == ["Anna ", "New-York"]


# the reference itself


def test_malformed_references_are_refused() -> None:
    nlp = make()
    bad = example(["O", "I-LOC"])
    nlp.initialize(lambda: [*examples(), bad])
    with pytest.raises(MalformedTagsError, match="In the Doc 'w0 w1'") as caught:
        nlp.update([*examples(), bad])
    assert [violation.index for violation in caught.value.violations] == [1]
    assert "name a policy" not in str(caught.value)


@pytest.mark.parametrize("side", ["gold", "preset"])
def test_malformed_entities_are_repaired_as_the_message_says(side: str) -> None:
    nlp = learn(make(), examples(), steps=1)
    doc = with_entities(["O", "I-LOC"], nlp.vocab)
    with pytest.raises(MalformedTagsError, match=r"iobes_repairer \(scheme = \"bio\"") as caught:
        nlp.update([Example(bare(2), doc)]) if side == "gold" else nlp(doc)
    assert "name a policy" not in str(caught.value)
    config = {"scheme": "bio", "source": "ents", "policy": "begin"}
    if side == "gold":
        doc = component("iobes_repairer", **config)(doc)
        nlp.update([Example(bare(2), doc)])
    else:
        nlp.add_pipe("iobes_repairer", config=config, first=True)
        doc = nlp(doc)
    assert stored(doc)[1] == "B-LOC"


def test_a_label_that_is_not_known() -> None:
    nlp = make()
    nlp.initialize(examples)
    for tags in (["O", "B-NEW"], ["-", "B-NEW"]):
        with pytest.raises(UnknownNameError, match=r"'NEW' is not one of .* Known: LOC, PER"):
            nlp.update([example(tags)])
    pipe = known("bio", incorrect_spans_key="wrong")
    wrong = example(["-", "-"])
    wrong.reference.spans["wrong"] = [DocSpan(wrong.reference, 0, 1, "NEW")]
    scores, _ = pipe.model.begin_update([wrong.predicted])
    with pytest.raises(UnknownNameError, match="'NEW' is not one of"):
        pipe.get_loss([wrong], scores)


def test_wrong_spans_have_labels() -> None:
    nlp, pair = make(incorrect_spans_key="wrong"), examples()[0]
    pair.reference.spans["wrong"] = [DocSpan(pair.reference, 0, 1)]
    with pytest.raises(SpanError, match=r"'Anna' in spans\['wrong'\] has no label"):
        nlp.initialize(lambda: [pair])
    nlp.initialize(examples)
    with pytest.raises(SpanError, match="has no label: say which label is wrong there"):
        nlp.update([pair])


@pytest.mark.parametrize("tags", [["B-X", "B-X", "O"], ["B-X", "B-X", "-"]])
@pytest.mark.parametrize("objective", ["crf", "softmax"])
def test_entities_that_the_scheme_cannot_tell_apart(tags: list[str], objective: Any) -> None:
    pipe, bad = known("io", objective=objective), example(tags)
    scores, _ = pipe.model.begin_update([bad.predicted])
    with pytest.raises(InexpressibleError, match="io cannot tell apart"):
        pipe.get_loss([bad], scores)


def test_entities_that_overlap_cannot_be_in_a_doc() -> None:
    doc = Doc(BLANK.vocab, words=["a", "b"])
    with pytest.raises(ValueError, match="E1010"):
        doc.set_ents([DocSpan(doc, 0, 2, "X"), DocSpan(doc, 1, 2, "Y")])


# models


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A trained pipeline on disk."""
    learn(make(), examples(), steps=1).to_disk(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize(("name", "value"), [("W", np.nan), ("step", np.inf), ("b", -np.inf)])
def test_a_damaged_model_is_refused(tmp_path: Path, name: str, value: float) -> None:
    nlp = learn(make(), examples(), steps=1)
    damaged = weights(ner(nlp), name).copy()
    damaged.flat[3] = value
    layer_of(ner(nlp), name).set_param(name, damaged)
    nlp.to_disk(tmp_path)
    match = f"iobes_ner: the parameter '{name}' of the layer .* holds NaN or infinite"
    with pytest.raises(ModelError, match=match):
        spacy.load(tmp_path)
    with pytest.raises(ModelError, match=match):
        make().from_bytes(nlp.to_bytes())


def test_a_damaged_encoder_is_refused(tmp_path: Path) -> None:
    nlp = learn(make(), examples(), steps=1)
    node = next(node for node in ner(nlp).model.walk() if node.name == "hashembed")
    table: Any = node.get_param("E")
    table[0, 0] = np.nan
    nlp.to_disk(tmp_path)
    with pytest.raises(ModelError, match="the parameter 'E' of the layer 'hashembed'"):
        spacy.load(tmp_path)


def edit(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def test_a_model_for_other_labels_is_refused(saved: Path) -> None:
    edit(saved / "iobes_ner" / "cfg", lambda cfg: cfg["labels"].append("MORE"))
    with pytest.raises(ModelError, match=r"has 9 outputs, but 3 labels in iobes need 13"):
        spacy.load(saved)


def test_a_model_for_another_scheme_is_refused(saved: Path) -> None:
    config = saved / "config.cfg"
    config.write_text(config.read_text().replace('scheme = "iobes"', 'scheme = "bio"'))
    with pytest.raises(ModelError, match=r"trained for iobes tags, but the config says bio"):
        spacy.load(saved)


def test_bytes_for_other_labels_are_refused() -> None:
    one = learn(make(), examples(), steps=1)
    data = srsly.msgpack_loads(ner(one).to_bytes())
    data["cfg"] = srsly.json_dumps(json.loads(data["cfg"]) | {"labels": ["LOC"]}).encode()
    with pytest.raises(ModelError, match="made for other labels"):
        ner(make()).from_bytes(srsly.msgpack_dumps(data))


def test_a_model_that_is_not_initialised() -> None:
    nlp = make()
    for text in ("a b", ""):
        with pytest.raises(ModelError, match="iobes_ner: the model is not initialised"):
            nlp(text)
    with pytest.raises(ModelError, match="is not initialised"):
        ner(nlp).nbest([nlp.make_doc("a")], 2)
    with pytest.raises(ModelError, match="iobes_ner: the model is not initialised"):
        nlp.update(examples())
    ner(nlp).add_label("X")
    with pytest.raises(ModelError, match="is not initialised"):
        nlp("a b")


# questions


def test_questions_are_about_a_list_of_docs() -> None:
    pipe, doc = known("iobes"), bare(3)
    asked: list[Callable[[Any], Any]] = [
        pipe.marginals,
        pipe.expected_counts,
        lambda docs: pipe.nbest(docs, 2),
    ]
    for ask in asked:
        with pytest.raises(TypeError, match=r"a list of Docs, \[doc\] instead of doc"):
            ask(doc)
        with pytest.raises(TypeError, match=r"Ask about Docs, not about str: nlp\(text\)"):
            ask(["w0 w1"])
        assert len(ask(iter([doc, doc]))) == 2
    for wrong in ([doc], doc[0:2], "w0"):
        with pytest.raises(TypeError, match="Ask about Docs, not about"):
            pipe.span_probability(wrong, 0, 1, "X")  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [2.5, 2.0, 0, -1, "2", None])
def test_n_is_a_whole_number(n: Any) -> None:
    with pytest.raises(ChainError, match="n is a whole number, at least 1, not"):
        known("iobes").nbest([bare(2)], n)


def test_a_model_that_is_no_chain() -> None:
    tagger = {"@architectures": "spacy.Tagger.v2", "tok2vec": CNN}
    for model in (CNN, tagger):
        nlp = spacy.blank("en")
        with pytest.raises(ModelError, match=r"is no chain\. .* spacy-iobes\.ChainTagger\.v1"):
            nlp.add_pipe("iobes_ner", config={"model": model})


def test_nothing_is_stored_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not load into this component: Can't read file"):
        ner(make()).from_disk(tmp_path / "nowhere")
    with pytest.raises(ModelError, match=r"does not load into this component: .*[^.]\. If it has"):
        ner(make()).from_bytes(b"abc")


# names


def test_names_that_do_not_exist() -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown scheme 'ibo'.*Known: io, iob1"):
        make(scheme="ibo")
    with pytest.raises(ConfigValidationError, match="objective"):
        make(objective="hinge")
    with pytest.raises(UnknownNameError, match=r"Unknown objective 'hinge'\. Known: crf, softmax"):
        get_objective("hinge")
    with pytest.raises(ConfigValidationError, match="misaligned"):
        make(misaligned="ignore")
    with pytest.raises(ConfigValidationError, match="treshold"):
        make(treshold=0.5)
    with pytest.raises(ConfigValidationError, match="entity_bias"):
        make(entity_bias="high")


@pytest.mark.parametrize("label", ["", 3, None])
def test_what_is_no_label(label: Any) -> None:
    with pytest.raises(ValueError, match="E187"):
        ner(make()).add_label(label)


def test_one_label_is_a_list_too() -> None:
    """Or it would be taken for a label for each letter."""
    with pytest.raises(TypeError, match=r"Labels are a list.*\['PER'\]"):
        ner(make()).initialize(examples, labels="PER")


def test_no_examples_to_initialise_from() -> None:
    with pytest.raises(TypeError, match="E930"):
        make().initialize(list)
    with pytest.raises(TypeError, match="E930"):
        ner(make()).initialize(examples()[0])  # type: ignore[arg-type]
