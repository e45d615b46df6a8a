"""The component `iobes_nested_ner`: exact against enumeration, and at home in spaCy."""

from __future__ import annotations

import logging
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.tokens import Span as DocSpan
from spacy.training import Example
from thinc.api import ConfigValidationError

from spacy_iobes.errors import (
    AlignmentError,
    ModelError,
    SpanError,
    SpanRangeError,
    UnknownNameError,
)

from .docs import BLANK
from .nested_recognizers import (
    ALL_ENCODERS,
    ENCODERS,
    LABELS,
    REPRESENTATIONS,
    Triple,
    World,
    example,
    examples,
    learn,
    log_sum,
    make,
    mentions,
    nested_ner,
    random_scores,
    worlds,
    written,
)

each = pytest.mark.parametrize("representation", REPRESENTATIONS)
WORDS = ["a", "b", "c", "d"]
GOLD: list[Triple] = [(0, 3, "X"), (1, 2, "Y"), (2, 4, "Y")]


def untrained(representation: str, seed: int = 0, **config: Any) -> Language:
    """A pipeline with random scores for two labels."""
    nlp = make(representation=representation, **config)
    nlp.initialize(lambda: [example(WORDS, GOLD)])
    random_scores(nested_ner(nlp), seed)
    return nlp


def doc_of(words: list[str]) -> Doc:
    return Doc(BLANK.vocab, words=words)


# exactness


@each
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_the_loss_is_the_log_likelihood(representation: str, length: int) -> None:
    pipe = nested_ner(untrained(representation, length))
    spans = [span for span in GOLD if span[1] <= length]
    pair = example(WORDS[:length], spans)
    loss, _ = pipe.get_loss([pair], pipe.model.predict([pair.predicted]))
    wanted = 0.0
    for number, label in enumerate(LABELS):
        every = worlds(pipe, pair.predicted, number)
        gold = written(pipe, [(a, b) for a, b, name in spans if name == label], length)
        (mine,) = (world.score for world in every if world.sequence == gold)
        wanted += log_sum(world.score for world in every) - mine
    assert loss == pytest.approx(wanted, rel=1e-4)


@each
def test_the_gradient_is_that_of_the_loss(representation: str) -> None:
    """A little more of any one output changes the loss as its gradient says."""
    pipe = nested_ner(untrained(representation))
    pair = example(WORDS, GOLD)
    scores = pipe.model.predict([pair.predicted])
    _, gradient = pipe.get_loss([pair], scores)
    for name in ("scores", "steps"):
        values, found = getattr(scores, name), getattr(gradient, name)
        if not values.size:
            continue
        assert np.shape(found) == values.shape
        for at in list(np.ndindex(values.shape))[:: max(values.size // 25, 1)]:
            kept, losses = values[at], []
            for change in (1e-2, -1e-2):
                values[at] = kept + change
                losses.append(pipe.get_loss([pair], scores)[0])
            values[at] = kept
            assert (losses[0] - losses[1]) / 2e-2 == pytest.approx(found[at], abs=2e-3)


@each
@pytest.mark.parametrize("bias", [0.0, 1.5, -1.5])
def test_the_best_mentions_are_those_of_the_best_sequence(representation: str, bias: float) -> None:
    pipe = nested_ner(untrained(representation, 3, entity_bias=bias))
    doc = doc_of(WORDS)
    pipe(doc)
    for number, label in enumerate(LABELS):
        found = [(a, b) for a, b, name in mentions(doc) if name == label]
        every = worlds(pipe, doc, number)
        counts = [sum(map(counted, world.sequence)) for world in every]
        best = max(zip(every, counts), key=lambda pair: pair[0].score + bias * pair[1])[0]
        assert written(pipe, found, len(doc)) == best.sequence
        assert frozenset(found) in best.readings


def counted(kind: str) -> int:
    """What a bias counts: starts, ends while others go on, and the first tag of each mention."""
    return kind[:2] in ("B-", "S-") or ("S" in kind) + ("E" in kind and "C" in kind)


@each
def test_the_probability_of_a_span(representation: str) -> None:
    """That a mention starts there, one ends there, and all between is in one."""
    pipe = nested_ner(untrained(representation, 5))
    doc = doc_of(WORDS)
    every = worlds(pipe, doc, 1)
    total = log_sum(world.score for world in every)
    for start, end in ((0, 1), (0, 4), (1, 3), (2, 4)):
        good = [
            world.score for world in every if may_be(world.sequence, world.readings, start, end)
        ]
        wanted = math.exp(log_sum(good) - total)
        assert pipe.span_probability(doc, start, end, "Y") == pytest.approx(wanted, rel=1e-4)


def may_be(sequence: tuple[str, ...], readings: Any, start: int, end: int) -> bool:
    if len(readings[0]) and "x" in "".join(sequence):  # of tags there is one reading
        return (start, end) in readings[0]
    if set("".join(sequence)) <= set("O"):
        return False
    inner = all("C" in kind for kind in sequence[start + 1 : end])
    return "S" in sequence[start] and "E" in sequence[end] and inner


@each
def test_the_best_annotations_together(representation: str) -> None:
    """The probability of each is that of its two labels, and none that is better is left out."""
    pipe = nested_ner(untrained(representation, 7))
    doc = doc_of(WORDS[:3])
    found = pipe.nbest([doc], 6)[0]
    chances = []
    for number in range(2):
        every = worlds(pipe, doc, number)
        total = log_sum(world.score for world in every)
        chances.append([world.score - total for world in every])
    wanted = sorted((a + b for a in chances[0] for b in chances[1]), reverse=True)[:6]
    assert [analysis.log_probability for analysis in found] == pytest.approx(wanted, rel=1e-4)
    assert found[0].probability == pytest.approx(math.exp(wanted[0]), rel=1e-4)
    pipe(doc)
    assert [tuple(span) for span in found[0].spans] == sorted(mentions(doc))
    assert len({tuple(analysis.spans) for analysis in found}) >= 2


@each
def test_all_annotations_together_are_certain(representation: str) -> None:
    pipe = nested_ner(untrained(representation, 7))
    doc = doc_of(WORDS[:2])
    every = math.prod(len(worlds(pipe, doc, number)) for number in range(2))
    found = pipe.nbest([doc], every + 1)[0]
    assert len(found) == every
    assert math.fsum(analysis.probability for analysis in found) == pytest.approx(1, abs=1e-9)


@each
def test_the_expected_number_of_mentions(representation: str) -> None:
    """Of the mentions that every sequence is read as: the shortest from the latest start."""
    pipe = nested_ner(untrained(representation, 9))
    doc = doc_of(WORDS)
    (found,) = pipe.expected_counts([doc])
    for number, label in enumerate(LABELS):
        every = worlds(pipe, doc, number)
        total = log_sum(world.score for world in every)
        wanted = sum(math.exp(w.score - total) * len(nearest_start(w)) for w in every)
        assert found[label] == pytest.approx(wanted, rel=1e-4)


def nearest_start(world: World) -> set[tuple[int, int]]:
    """Each end within has the latest start; starts that have none go on to the end of the whole."""
    if "x" in "".join(world.sequence) or "O" in world.sequence:
        return set(world.readings[0])
    found: set[tuple[int, int]] = set()
    starts: list[int] = []
    used: set[int] = set()
    for gap, letters in enumerate(world.sequence):
        if "E" in letters and "C" in letters:
            found.add((starts[-1], gap))
            used.add(starts[-1])
        elif "E" in letters:
            found |= {(s, gap) for s in starts if s == starts[0] or s not in used}
            starts, used = [], set()
        if "S" in letters:
            starts.append(gap)
    return found


@each
def test_sentences_are_chains_of_their_own(representation: str) -> None:
    """Two sentences in a Doc say what they say alone, and no mention leaves one."""
    nlp = untrained(representation, 2, sentence_bound=True)
    pipe = nested_ner(nlp)
    pair = example([*WORDS, *WORDS[:2]], None, sentences=(0, 4))
    asked = pipe.asked([pair.predicted])
    assert asked.units.lengths.tolist() == [4, 2]
    assert pipe.span_probability(pair.predicted, 3, 5, "X") == 0.0
    pipe(pair.predicted)
    assert not [span for span in mentions(pair.predicted) if span[0] < 4 < span[1]]
    free = nested_ner(untrained(representation, 2, sentence_bound=False))
    assert free.asked([pair.predicted]).units.lengths.tolist() == [6]


@each
def test_no_mention_begins_or_ends_with_white_space(representation: str) -> None:
    for seed in range(8):
        pipe = nested_ner(untrained(representation, seed, entity_bias=3.0))
        doc = doc_of(["a", "\n", "b", " "])
        pipe(doc)
        assert mentions(doc)
        for start, end, _ in mentions(doc):
            assert not doc[start].is_space
            assert not doc[end - 1].is_space


# learning


@each
@pytest.mark.parametrize("encoder", ALL_ENCODERS)
def test_it_learns_what_it_is_shown(representation: str, encoder: str) -> None:
    nlp = learn(make(encoder, representation=representation, scores=True), examples())
    scores = nlp.evaluate(examples())
    share = 12 / 13 if representation == "per_label" else 1.0  # of 7, one is inside its label
    assert scores["iobes_nested_f"] == pytest.approx(share)
    doc = nlp(examples()[0].predicted)
    wanted = [(1, 5, "X"), (2, 3, "Y"), (6, 7, "Y")]
    wanted += [(2, 4, "X")] * (representation != "per_label")
    assert sorted(mentions(doc)) == sorted(wanted)
    chances = doc.spans["sc"].attrs["scores"]
    assert len(chances) == len(wanted)
    assert all(0.5 < chance <= 1.0 for chance in chances)


@each
def test_mentions_that_cannot_be_learned_are_told(
    representation: str, caplog: pytest.LogCaptureFixture
) -> None:
    logger = logging.getLogger("spacy")
    logger.addHandler(caplog.handler)
    try:
        make(representation=representation).initialize(examples)
    finally:
        logger.removeHandler(caplog.handler)
    said = "per_label cannot hold and does not learn: 1 of 7, the first"
    assert (said in caplog.text) == (representation == "per_label")
    assert ("'IL-2 gene' (X)" in caplog.text) == (representation == "per_label")


@pytest.mark.parametrize("encoder", ALL_ENCODERS)
@each
def test_it_is_stored_and_goes_on(encoder: str, representation: str, tmp_path: Path) -> None:
    nlp = learn(make(encoder, representation=representation), examples(), 20)
    nlp.to_disk(tmp_path / "model")
    docs = [nlp(pair.predicted) for pair in examples()]
    again = spacy.load(tmp_path / "model")
    assert [mentions(again(Doc(again.vocab, words=[t.text for t in doc]))) for doc in docs] == [
        mentions(doc) for doc in docs
    ]
    copied = pickle.loads(pickle.dumps(again))
    assert nested_ner(copied).model.to_bytes() == nested_ner(nlp).model.to_bytes()
    doc = copied(Doc(copied.vocab, words=[token.text for token in docs[0]]))
    assert mentions(doc) == mentions(docs[0])
    again.resume_training()
    losses = again.update(examples())
    assert losses["iobes_nested_ner"] < 20


def test_labels_can_be_added() -> None:
    nlp = learn(make("both", representation="state"), examples())
    pipe = nested_ner(nlp)
    before = [mentions(nlp(pair.predicted)) for pair in examples()]
    assert pipe.add_label("Z") == 1
    assert pipe.add_label("Z") == 0
    assert [mentions(nlp(pair.predicted)) for pair in examples()] == before
    more = [example(["Zurich", "here"], [(0, 1, "Z")]), *examples()]
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.03
    for _ in range(60):
        nlp.update(more, sgd=optimizer)
    doc = nlp(more[0].predicted)
    assert mentions(doc) == [(0, 1, "Z")]


def test_the_same_seed_gives_the_same_model() -> None:
    first, second = (learn(make("both"), examples(), 5).to_bytes() for _ in "ab")
    assert first == second


# what is not known, and what is not right


@each
def test_nothing_is_learned_from_what_is_not_annotated(representation: str) -> None:
    pipe = nested_ner(untrained(representation, missing_spans_key="missing"))
    with pytest.raises(ValueError, match="another group than spans_key"):
        make(missing_spans_key="sc")
    for pair in (example(WORDS, None), example(WORDS, [], missing=[(0, 4)])):
        loss, gradient = pipe.get_loss([pair], pipe.model.predict([pair.predicted]))
        assert loss == pytest.approx(0, abs=1e-6)
        assert np.abs(gradient.scores).max() == pytest.approx(0, abs=1e-6)


def test_what_is_found_at_missing_tokens_does_not_count_unless_it_is_right() -> None:
    nlp = make(missing_spans_key="missing")
    pair = example(WORDS, [(0, 2, "X")], missing=[(1, 3)])
    predicted = [(0, 2, "X"), (2, 3, "X"), (3, 4, "X")]
    pair.predicted.spans["sc"] = [DocSpan(pair.predicted, *span) for span in predicted]
    scores = nested_ner(nlp).score([pair])
    assert (scores["iobes_nested_p"], scores["iobes_nested_r"]) == (0.5, 1.0)


def test_an_unknown_label_is_named() -> None:
    pipe = nested_ner(untrained("edge"))
    pair = example(WORDS, [(0, 1, "other")])
    with pytest.raises(UnknownNameError, match=r"'other' is not one of .* X, Y"):
        pipe.get_loss([pair], pipe.model.predict([pair.predicted]))


def test_a_span_without_a_label_is_named() -> None:
    with pytest.raises(SpanError, match=r"span 1:3 \('b c'\) in spans\['sc'\] has no label"):
        make().initialize(lambda: [example(WORDS, [(1, 3, "")])])


def test_a_mention_over_the_end_of_a_sentence() -> None:
    pair = example(WORDS, [(1, 3, "X")], sentences=(0, 2))
    pipe = nested_ner(untrained("edge"))
    with pytest.raises(
        AlignmentError, match=r"'b c' .X. leaves its sentence.*sentence_bound = false"
    ):
        pipe.get_loss([pair], pipe.model.predict([pair.predicted]))
    lenient = nested_ner(untrained("edge", misaligned="missing"))
    loss, _ = lenient.get_loss([pair], lenient.model.predict([pair.predicted]))
    assert math.isfinite(loss)
    free = nested_ner(untrained("edge", sentence_bound=False))
    assert math.isfinite(free.get_loss([pair], free.model.predict([pair.predicted]))[0])


def test_duplicates_count_once_and_a_span_may_have_two_labels() -> None:
    pipe = nested_ner(untrained("edge"))
    once, twice = (example(WORDS, [(0, 2, "X")] * times + [(0, 2, "Y")]) for times in (1, 2))
    losses = [pipe.get_loss([p], pipe.model.predict([p.predicted]))[0] for p in (once, twice)]
    assert losses[0] == losses[1]


@each
def test_empty_docs_and_no_docs(representation: str) -> None:
    nlp = untrained(representation, scores=True)
    assert mentions(nlp(Doc(nlp.vocab))) == []
    assert list(nlp.pipe([])) == []
    docs = list(nlp.pipe([Doc(nlp.vocab), Doc(nlp.vocab, words=WORDS), Doc(nlp.vocab)]))
    alone = nlp(Doc(nlp.vocab, words=WORDS))
    assert [mentions(doc) for doc in docs] == [[], mentions(alone), []]
    pairs = [Example(Doc(nlp.vocab), Doc(nlp.vocab)), example(WORDS, GOLD)]
    assert math.isfinite(nlp.update(pairs)["iobes_nested_ner"])
    assert nested_ner(nlp).expected_counts([Doc(nlp.vocab)]) == [{"X": 0.0, "Y": 0.0}]
    assert nested_ner(nlp).nbest([Doc(nlp.vocab)], 2) == [[(1.0, [], 0.0)]]


@each
def test_data_without_mentions(representation: str) -> None:
    nlp = make(representation=representation)
    with pytest.warns(UserWarning, match=r"no reference has a mention in spans\['sc'\].*'missing'"):
        nlp.initialize(lambda: [example(WORDS, [])])
    assert nested_ner(nlp).labels == ()
    nlp.update([example(WORDS, [])])
    assert mentions(nlp(doc_of(WORDS))) == []


@each
def test_two_hundred_labels(representation: str) -> None:
    names = [f"L{number:03}" for number in range(200)]
    pairs = [example(WORDS, [(n % 3, n % 3 + 1, name) for n, name in enumerate(names)])]
    nlp = learn(make("hashed", representation=representation), pairs, 20)
    assert len(mentions(nlp(doc_of(WORDS)))) == 200


@pytest.mark.parametrize("representation", ["edge", "per_label"])
def test_fifty_thousand_tokens(representation: str) -> None:
    nlp = learn(make("hashed", representation=representation), examples())
    text, spans = ["NF-kB", "in", "the", "T", "cell", "line"], [(0, 1), (3, 5), (3, 6)]
    doc = nlp(Doc(nlp.vocab, words=text * 8334))
    assert len(doc) > 50_000
    assert [(a % 6, b - a + a % 6) for a, b, _ in mentions(doc)] == spans * 8334


def test_a_model_for_something_else() -> None:
    nlp = learn(make(representation="edge"), examples(), 1)
    other = make(representation="state")
    with pytest.raises(ModelError, match="representation = 'edge', but the config says 'state'"):
        other.from_bytes(nlp.to_bytes())
    with pytest.raises(ConfigValidationError, match=r"'edges' is not|permitted: 'edge', "):
        make(representation="edges")
    with pytest.raises(ModelError, match=r"scores no gaps.*SeparatorTagger"):
        spacy.blank("en").add_pipe("iobes_nested_ner", config={"model": ENCODERS["cnn"]["tok2vec"]})


def test_questions_that_make_no_sense() -> None:
    pipe = nested_ner(untrained("edge"))
    with pytest.raises(SpanRangeError, match="no span of 4 tokens"):
        pipe.span_probability(doc_of(WORDS), 2, 5, "X")
    with pytest.raises(UnknownNameError, match="Known: X, Y"):
        pipe.span_probability(doc_of(WORDS), 0, 1, "Z")
    with pytest.raises(TypeError, match="a list of Docs"):
        pipe.nbest(doc_of(WORDS), 1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="threshold"):
        make(threshold=2.0)
