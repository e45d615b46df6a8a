"""What `iobes_ner` learns from: losses by summing every tag sequence, gradients by differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from spacy.tokens import Span as DocSpan
from spacy.training import Example

from spacy_iobes import Span
from spacy_iobes.ml import build_chain_tagger
from spacy_iobes.pipeline import EntityRecognizer

from . import by_hand
from .recognizers import (
    CNN,
    NAMES,
    Parameters,
    agrees,
    encoder,
    example,
    examples,
    known,
    lacks,
    layer_of,
    learn,
    log_sum,
    make,
    ner,
    outputs_of,
    parameters,
    vectors,
    weights,
    worlds,
    worlds_of,
)

COMPLETE: tuple[list[str], ...] = (
    ["O", "B-X", "I-X", "O"],
    ["B-Y"],
    [],
    ["B-X", "O", "B-X", "B-Y"],
    ["O", "O", "O"],
    ["B-Y", "I-Y", "I-Y", "B-X"],
)
BLOCKED = (["!", "B-X", "I-X", "!"], ["!", "!"], ["B-Y", "!", "O"])
PARTIAL = (
    ["-", "-", "-", "-"],
    ["-"],
    ["O", "-", "-", "B-X"],
    ["B-X", "I-X", "-", "-"],
    ["-", "B-Y", "-", "!"],
    ["-", "!", "O", "-"],
    ["B-X", "-", "B-X", "O"],
)
every_scheme = pytest.mark.parametrize("scheme", by_hand.PREFIXES)


def loss_of(pipe: EntityRecognizer, pairs: Sequence[Example]) -> tuple[float, Parameters]:
    """The loss of some examples, and the gradient of every parameter as training adds it up."""
    scores, backprop = pipe.model.begin_update([pair.predicted for pair in pairs])
    loss, gradient = pipe.get_loss(pairs, scores)
    backprop(gradient)
    grads: dict[str, Any] = {name: layer_of(pipe, name).get_grad(name) for name in NAMES}
    return loss, grads


def by_brute_force(pipe: EntityRecognizer, tags: Sequence[str]) -> float:
    """The negative log-likelihood of what is known of a sentence."""
    return -worlds_of(pipe, example(tags).predicted).log_probability(agrees(tags))


@every_scheme
@pytest.mark.parametrize("gold", [COMPLETE, BLOCKED, PARTIAL], ids=["all", "blocked", "partial"])
def test_the_loss_is_the_negative_log_likelihood(scheme: str, gold: Sequence[list[str]]) -> None:
    pipe = known(scheme, spread=1.5)
    wanted = [by_brute_force(pipe, tags) for tags in gold]
    for tags, value in zip(gold, wanted):
        assert loss_of(pipe, [example(tags)])[0] == pytest.approx(value, rel=1e-5, abs=1e-5)
    together = loss_of(pipe, [example(tags) for tags in gold])[0]
    assert together == pytest.approx(sum(wanted), rel=1e-5)


@every_scheme
def test_the_loss_of_large_scores(scheme: str) -> None:
    """Scores that plain probabilities in single precision cannot hold."""
    pipe = known(scheme, spread=40.0)
    for tags in (*COMPLETE, *PARTIAL):
        loss, gradient = loss_of(pipe, [example(tags)])
        assert loss == pytest.approx(by_brute_force(pipe, tags), rel=1e-4, abs=1e-2)
        assert all(np.isfinite(gradient[name]).all() for name in NAMES)


@every_scheme
def test_complete_and_partial_gold_in_one_batch(scheme: str) -> None:
    pipe = known(scheme)
    gold = [*COMPLETE, *PARTIAL]
    loss, _ = loss_of(pipe, [example(tags) for tags in gold])
    assert loss == pytest.approx(sum(by_brute_force(pipe, tags) for tags in gold), rel=1e-5)


@every_scheme
def test_nothing_is_learned_from_what_is_not_annotated(scheme: str) -> None:
    loss, gradient = loss_of(known(scheme), [example(["-"] * 4), example([])])
    assert loss == pytest.approx(0, abs=1e-5)
    for name in NAMES:
        np.testing.assert_allclose(gradient[name], 0, atol=1e-6)


def test_losses_of_an_update_are_those_of_the_examples() -> None:
    nlp = learn(make(), examples(), steps=3)
    losses: dict[str, float] = {}
    pipe = ner(nlp)
    wanted = -sum(
        np.log(next(a.probability for a in pipe.nbest([pair.predicted], 1000)[0] if fits(a, pair)))
        for pair in examples()
    )
    nlp.update(examples(), losses=losses, drop=0.0)
    assert losses["iobes_ner"] == pytest.approx(wanted, rel=1e-4)


def fits(analysis: Any, pair: Example) -> bool:
    gold = [(ent.start, ent.end, ent.label_) for ent in pair.reference.ents]
    return [tuple(span) for span in analysis.spans] == gold


# gradients: differences of the loss by brute force, in double precision


def slopes(value: Callable[[Parameters], float], at: Parameters) -> Parameters:
    """The derivative with respect to every parameter, by central differences."""
    size, found = 1e-5, {}
    for name, values in at.items():
        found[name] = np.zeros_like(values)
        for place in np.ndindex(values.shape):
            sides = []
            for change in (size, -size):
                moved = values.copy()
                moved[place] += change
                sides.append(value(at | {name: moved}))
            found[name][place] = (sides[0] - sides[1]) / (2 * size)
    return found


GOLD = (["O", "B-X", "I-X"], ["-", "B-Y"], ["!"])


@every_scheme
def test_the_gradient_of_the_whole_model(scheme: str) -> None:
    pipe = known(scheme)
    pairs = [example(tags) for tags in GOLD]

    def value(values: Parameters) -> float:
        return -sum(
            worlds(scheme, pair.predicted, values).log_probability(agrees(tags))
            for pair, tags in zip(pairs, GOLD)
        )

    _, gradient = loss_of(pipe, pairs)
    for name, wanted in slopes(value, parameters(pipe)).items():
        np.testing.assert_allclose(gradient[name], wanted, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("objective", ["crf", "softmax"])
def test_the_gradient_goes_on_to_the_encoder(objective: Any) -> None:
    pipe = known("iobes", objective=objective)
    _, gradient = loss_of(pipe, [example(tags) for tags in COMPLETE])
    rows = pipe.model.get_ref("tok2vec").attrs["gradient"]
    inputs = [vectors(example(tags).predicted) for tags in COMPLETE]
    assert [len(row) for row in rows] == [len(row) for row in inputs]
    # with d, the gradient of the emissions: that of W is d.T @ inputs, and what goes on is d @ W
    product = np.concatenate(rows).T @ np.concatenate(inputs)
    np.testing.assert_allclose(weights(pipe, "W").T @ gradient["W"], product, atol=1e-4)


def test_steps_that_are_not_learned_stay_at_zero() -> None:
    nlp = make(objective="softmax", model={"learned_steps": False, "tok2vec": CNN})
    learn(nlp, examples(), steps=5)
    for name in ("start", "step", "stop"):
        assert not np.any(weights(ner(nlp), name))
    assert np.any(weights(ner(nlp), "W"))


def test_learned_steps_are_not_touched_by_softmax_but_by_crf() -> None:
    for objective, learned in (("softmax", False), ("crf", True)):
        nlp = learn(make(objective=objective), examples(), steps=2)
        assert np.any(weights(ner(nlp), "step")) == learned


@every_scheme
def test_softmax_is_the_cross_entropy_of_the_tags_each_token_may_have(scheme: str) -> None:
    """May have: in some legal sequence that agrees with the gold. Missing tokens cost nothing."""
    pipe = known(scheme, objective="softmax")
    gold = [*COMPLETE, *PARTIAL, ["-", "O", "B-X", "-"], ["!", "-", "B-Y", "I-Y"]]
    pairs = [example(tags) for tags in gold]

    def value(values: Parameters) -> float:
        total = 0.0
        for pair, tags in zip(pairs, gold):
            rows = vectors(pair.predicted).astype(np.float64) @ values["W"].T + values["b"]
            for row, right in zip(rows, right_tags(scheme, tags)):
                for outputs in outputs_of(scheme).T:  # one choice or two, each for itself
                    every, wanted = (sorted({*outputs[some]}) for some in (slice(None), right))
                    total += log_sum(row[every]) - log_sum(row[wanted])
        return total

    loss, gradient = loss_of(pipe, pairs)
    assert loss == pytest.approx(value(parameters(pipe)), rel=1e-5)
    for name, wanted in slopes(value, parameters(pipe)).items():
        np.testing.assert_allclose(gradient[name], wanted, atol=3e-5, err_msg=name)


def right_tags(scheme: str, gold: Sequence[str]) -> list[list[int]]:
    """The tags that each token may have; those of a missing one are all."""
    fits, every = agrees(gold), by_hand.all_states(scheme)
    legal = by_hand.legal_sequences(len(gold), by_hand.SPOKEN.get(scheme, scheme), ("X", "Y"))
    agreeing = [tags for tags, spans in legal.items() if fits(tags, spans)]
    return [
        [every.index(tag) for tag in {tags[i] for tags in agreeing}]
        if old != "-"
        else [*range(len(every))]
        for i, old in enumerate(gold)
    ]


def test_some_schemes_do_not_say_every_tag_of_a_known_token() -> None:
    """What makes the test above more than a test of plain cross-entropy."""
    assert [len(right) for right in right_tags("iob1", ["-", "B-X", "O"])] == [5, 2, 1]
    assert [len(right) for right in right_tags("ioe1", ["B-X", "-"])] == [2, 5]
    assert [len(right) for right in right_tags("bia", ["-", "O", "O"])] == [7, 3, 1]
    assert [len(right) for right in right_tags("iobes", ["-", "B-X", "-"])] == [9, 1, 9]


@pytest.mark.parametrize("objective", ["crf", "softmax"])
def test_white_space_that_is_missing_begins_no_span(objective: Any) -> None:
    """So that in ioe1 a span before it cannot end with E."""
    pipe = known("ioe1", objective=objective)
    one, other = (example(["B-X", last], ["w0", word]) for last, word in (("-", "\n"), ("O", "\n")))
    losses = [loss_of(pipe, [pair])[0] for pair in (one, other)]
    if objective == "softmax":
        row = vectors(one.predicted)[1] @ parameters(pipe)["W"].T + parameters(pipe)["b"]
        losses[0] += log_sum(row) - row[0]
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_softmax_of_large_scores() -> None:
    for tags in (*COMPLETE, *PARTIAL):
        loss, gradient = loss_of(known("iob1", spread=300.0, objective="softmax"), [example(tags)])
        assert 0 <= loss < np.inf
        assert all(np.isfinite(gradient[name]).all() for name in NAMES)


# spans that are known to be wrong


def with_wrong(tags: Sequence[str], wrong: Sequence[Span], key: str = "wrong") -> Example:
    pair = example(tags)
    pair.reference.spans[key] = [DocSpan(pair.reference, *span) for span in wrong]
    return pair


WRONG: tuple[tuple[list[str], list[Span]], ...] = (
    (["-", "-", "-"], [Span(0, 1, "X")]),
    (["-", "-", "-", "-"], [Span(1, 3, "Y"), Span(1, 3, "X"), Span(0, 4, "X")]),
    (["O", "-", "-"], [Span(2, 3, "X")]),
    (["B-X", "I-X", "O"], [Span(0, 1, "X")]),
    (["-"], [Span(0, 1, "Y")]),
    ([], []),
)


@every_scheme
def test_spans_known_to_be_wrong(scheme: str) -> None:
    pipe = known(scheme, incorrect_spans_key="wrong")
    pairs = [with_wrong(*row) for row in WRONG]

    def value(values: Parameters) -> float:
        total = 0.0
        for pair, (tags, wrong) in zip(pairs, WRONG):
            every = worlds(scheme, pair.predicted, values)
            total -= every.log_probability(agrees(tags))
            for span in wrong:
                total -= every.log_probability(lacks(span))
        return total

    loss, gradient = loss_of(pipe, pairs)
    assert loss == pytest.approx(value(parameters(pipe)), rel=1e-5)
    if scheme in ("iobes", "iob1", "bia"):
        for name, wanted in slopes(value, parameters(pipe)).items():
            np.testing.assert_allclose(gradient[name], wanted, atol=3e-5, err_msg=name)


def test_other_groups_are_no_wrong_spans() -> None:
    pair = with_wrong(["-", "-"], [Span(0, 1, "X")], key="other")
    assert loss_of(known("bio", incorrect_spans_key="wrong"), [pair])[0] == pytest.approx(0)
    assert loss_of(known("bio"), [with_wrong(["-", "-"], [Span(0, 1, "X")])])[0] == pytest.approx(0)


def test_a_wrong_span_is_unlearned() -> None:
    nlp = learn(make(incorrect_spans_key="wrong"), examples())
    doc = examples()[0].predicted
    before = ner(nlp).span_probability(doc, 3, 5, "LOC")
    pair = example(["-"] * 6, SENTENCE)
    pair.reference.spans["wrong"] = [DocSpan(pair.reference, 3, 5, "LOC")]
    for _ in range(10):
        nlp.update([pair])
    after = ner(nlp).span_probability(doc, 3, 5, "LOC")
    assert before > 0.9
    assert after < 0.1


SENTENCE = ["Anna", "lives", "in", "New", "York", "."]


# what training does


@every_scheme
@pytest.mark.parametrize("objective", ["crf", "softmax"])
def test_every_scheme_and_objective_learns(scheme: str, objective: str) -> None:
    nlp = learn(make(scheme=scheme, objective=objective), examples())
    scores = nlp.evaluate(examples())
    assert (scores["iobes_f"], scores["iobes_violations"]) == (1.0, 0)
    assert f"|scheme:{scheme}|policy:raise|" in scores["iobes_signature"]


def test_the_loss_falls() -> None:
    nlp = make()
    optimizer = nlp.initialize(examples)
    values = []
    for _ in range(30):
        losses: dict[str, float] = {}
        nlp.update(examples(), sgd=optimizer, losses=losses)
        values.append(losses["iobes_ner"])
    assert values[-1] < values[0] / 2
    assert min(values) > 0


def test_half_of_the_annotation_is_enough() -> None:
    """Every entity is annotated in one sentence and missing in the other."""
    sure = [example(tags.split(), text.split()) for text, tags in TWICE]
    nlp = learn(make(), sure)
    assert len(nlp("Anna saw Paris").ents) == 2


TWICE = (
    ("Anna saw Paris", "B-PER O -"),
    ("Anna saw Paris", "- O B-LOC"),
    ("Lee saw Rome", "B-PER O -"),
    ("Lee saw Rome", "- O B-LOC"),
)


def test_an_update_of_nothing_but_empty_docs() -> None:
    pipe = known("iobes")
    losses: dict[str, float] = {}
    pipe.update([example([]), example([])], losses=losses)
    assert losses == {"iobes_ner": 0.0}
    assert not any(layer_of(pipe, name).has_grad(name) for name in NAMES)


def test_empty_docs_among_others() -> None:
    pipe = known("iobes")
    pairs = [example([]), example(COMPLETE[0]), example([]), example(["B-X"]), example([])]
    full = [pairs[1], pairs[3]]
    loss, gradient = loss_of(known("iobes"), full)
    again, same = loss_of(pipe, pairs)
    assert again == pytest.approx(loss)
    for name in NAMES:
        np.testing.assert_allclose(same[name], gradient[name], atol=1e-6)


def test_no_update_without_examples() -> None:
    losses: dict[str, float] = {}
    learn(make(), examples(), steps=1).update([], losses=losses)
    assert losses.get("iobes_ner", 0.0) == 0.0


def test_a_model_that_diverged_is_an_error() -> None:
    pipe = known("iobes")
    layer_of(pipe, "W").set_param("W", weights(pipe, "W") * np.nan)
    with pytest.raises(ValueError, match="is nan"):
        loss_of(pipe, [example(COMPLETE[0])])


def test_a_model_without_labels_learns_that_there_is_nothing() -> None:
    pipe = EntityRecognizer(example([]).reference.vocab, build_chain_tagger(encoder()))
    pipe.initialize(lambda: [example(["O", "O"])])
    assert pipe.labels == ()
    loss, _ = loss_of(pipe, [example(["O", "-", "!"])])
    assert loss == pytest.approx(0)
    assert list(pipe.predict([example(["O"]).predicted]).spans) == [[]]
