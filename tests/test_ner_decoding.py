"""What `iobes_ner` finds: legal always, the best by brute force, and true to what is set before."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.tokens import Span as DocSpan

from spacy_iobes import Span
from spacy_iobes.chain import best
from spacy_iobes.errors import (
    ChainError,
    MalformedTagsError,
    SpanRangeError,
    UnknownNameError,
)
from spacy_iobes.pipeline import EntityRecognizer

from . import by_hand
from .docs import BLANK, VOCAB, bare, ids, stored, with_entities
from .recognizers import NAMES, Condition, entities, known, layer_of, scatter, weights, worlds_of

every_scheme = pytest.mark.parametrize("scheme", by_hand.PREFIXES)
SPREADS = (0.1, 1.0, 10.0, 40.0)


def spaced(*words: str) -> Doc:
    """A Doc of words, of which some may be white space."""
    doc = Doc(BLANK.vocab, words=list(words), spaces=[False] * len(words))
    assert [token.is_space for token in doc] == [word.isspace() for word in words]
    return doc


def text(length: int) -> Doc:
    """A Doc whose tokens differ from those of other lengths."""
    return Doc(VOCAB, words=[f"{length}:{i}" for i in range(length)])


# never illegal


def legal_steps(scheme: str) -> tuple[Any, Any, Any]:
    """Which tags may begin, follow and end, as the definitions say."""
    tags = by_hand.all_states(scheme)
    pairs = by_hand.legal_neighbours(scheme)
    step = np.array([[(a, b) in pairs for b in tags] for a in tags])
    start, stop = (np.array([pair in pairs for pair in edge]) for edge in edges(tags))
    return start, step, stop


def edges(tags: Sequence[str]) -> list[list[tuple[str, str]]]:
    """Every tag at a sentence start, and at a sentence end."""
    return [[("^", tag) for tag in tags], [(tag, "$") for tag in tags]]


PLAIN = [text(length) for length in (9, 1, 0, 2, 5, 3)]


def various() -> list[Doc]:
    """Docs with all that limits what may be found."""
    preset = with_entities(["B-X", "I-X", "-", "!", "B-Y", "B-Y", "-"])
    foreign = with_entities(["-", "B-other", "-", "-", "O"])
    sentences = Doc(VOCAB, words=list("abcdef"), sent_starts=[1, 0, 0, 1, 0, 1])
    space = spaced(" ", "a", "\n", "b", "\n\n", " ", "c", " ")
    return [text(9), text(1), bare(0), preset, foreign, sentences, space, text(2)]


@every_scheme
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize(("models", "clamp"), [(200, False), (30, True)])  # 10,120 in all
def test_no_model_emits_an_illegal_sequence(
    scheme: str, spread: float, models: int, clamp: bool
) -> None:
    start, step, stop = legal_steps(scheme)
    random, docs = np.random.default_rng(int(spread * 10)), various() if clamp else PLAIN
    pipe = known(scheme, sentence_bound=clamp)
    lengths = np.array([len(doc) for doc in docs if len(doc)])
    last = np.cumsum(lengths) - 1
    first = last - lengths + 1
    for _ in range(models):
        scatter(pipe, random, spread)
        path = best(*pipe.posed(docs, clamp)).states
        assert start[path[first]].all()
        assert stop[path[last]].all()
        assert np.delete(step[path[:-1], path[1:]], last[:-1]).all()


@every_scheme
@pytest.mark.parametrize("spread", SPREADS)
def test_the_best_of_all_legal_sequences_is_found(scheme: str, spread: float) -> None:
    pipe, random = known(scheme), np.random.default_rng(1)
    docs = [text(length) for length in (4, 0, 1, 3, 5)]
    for bias in (0.0, 1.5, -1.5):
        pipe.entity_bias = bias
        scatter(pipe, random, spread)
        for doc, spans in zip(docs, pipe.predict(docs).spans):
            every = worlds_of(pipe, doc, bias)
            found = every.scores[every.spans.index(tuple(spans))]
            assert found == pytest.approx(every.scores.max(), rel=1e-6, abs=1e-5)


@pytest.mark.parametrize("objective", ["crf", "softmax"])
def test_the_objective_does_not_matter_for_decoding(objective: Any) -> None:
    doc = text(4)
    pipe = known("bilou", objective=objective)
    assert pipe.predict([doc]).spans[0] == list(worlds_of(pipe, doc).best)


# what is set already


def conditioned(tags: Sequence[str], labels: Iterable[str] = ("X", "Y")) -> Condition:
    """Whether spans agree with what a Doc says beforehand: entities and blocked tokens."""
    read = by_hand.begin(["O" if tag in ("-", "!") else tag for tag in tags])
    wanted = [span for span in read if span.label in set(labels)]
    taken = {i for span in read if span not in wanted for i in range(span.start, span.end)}
    closed = taken | {i for i, tag in enumerate(tags) if tag == "!"}

    def condition(tags: by_hand.Tags, spans: by_hand.Spans) -> bool:
        inside = {i for span in spans for i in range(span.start, span.end)}
        return set(wanted) <= set(spans) and not inside & closed

    return condition


PRESET = (
    ["B-X", "I-X", "-", "-"],
    ["-", "B-Y", "-", "!"],
    ["!", "!", "-", "-"],
    ["-", "-", "B-other", "I-other"],
    ["B-X", "B-Y", "B-other", "-"],
    ["O", "O", "O", "O"],
    ["O", "B-X", "O", "!"],
    ["B-X", "B-X", "-"],
)


def touching(tags: Sequence[str]) -> bool:
    return list(tags[:2]) == ["B-X", "B-X"]


@every_scheme
@pytest.mark.parametrize("preset", PRESET, ids=" ".join)
def test_what_is_set_is_kept(scheme: str, preset: list[str]) -> None:
    pipe, random = known(scheme), np.random.default_rng(2)
    for spread in SPREADS:
        scatter(pipe, random, spread)
        doc = with_entities(preset)
        every = worlds_of(pipe, doc)
        pipe(doc)
        before = by_hand.begin(["O" if tag in ("-", "!") else tag for tag in preset])
        assert set(before) <= set(entities([doc])[0])
        assert [tag == "!" for tag in stored(doc)] == [tag == "!" for tag in preset]
        if scheme == "io" and touching(preset):
            continue
        limited = every.given(conditioned(preset))
        found = [span for span in entities([doc])[0] if span[2] != "other"]
        score = limited.scores[limited.spans.index(tuple(Span(*span) for span in found))]
        assert score == pytest.approx(limited.scores.max(), rel=1e-6, abs=1e-5)


def test_io_keeps_touching_entities_that_it_has_no_tags_for() -> None:
    doc = with_entities(["B-X", "B-X", "I-X", "-"])
    known("io")(doc)
    assert stored(doc)[:3] == ["B-X", "B-X", "I-X"]


def test_ids_of_entities_are_kept() -> None:
    doc = bare(4)
    doc.ents = [
        DocSpan(doc, 0, 2, "X", kb_id="Q1", span_id="one"),
        DocSpan(doc, 3, 4, "other", kb_id="Q2", span_id="two"),
    ]
    known("iobes", spread=10)(doc)
    kept = [ids(doc)[i] for i in (0, 1, 3)]
    assert kept == [("Q1", "one"), ("Q1", "one"), ("Q2", "two")]
    first, *_, last = doc.ents
    assert [(ent.kb_id_, ent.id_) for ent in (first, last)] == [("Q1", "one"), ("Q2", "two")]
    assert ids(doc)[2] == ("", "")


def test_malformed_entities_are_refused() -> None:
    with pytest.raises(MalformedTagsError, match="In the Doc 'w0 w1'"):
        known("iobes").predict([with_entities(["O", "I-X"])])


def test_a_second_run_changes_nothing() -> None:
    pipe, random = known("iobes"), np.random.default_rng(0)
    for _ in range(20):
        scatter(pipe, random, 3.0)
        docs = [text(6), spaced(" ", "a", "b", " ")]
        once = entities(map(pipe, docs))
        assert entities(map(pipe, docs)) == once


# white space, sentences


def no_bare_space(doc: Doc) -> Condition:
    return lambda _, spans: (
        not any(doc[span.start].is_space or doc[span.end - 1].is_space for span in spans)
    )


SPACES = ([" ", "a", "\n", "b"], ["a", " ", " ", "b"], [" ", "\n"], [" "], ["a", "b", "\t\t"])


@every_scheme
@pytest.mark.parametrize("words", SPACES, ids=repr)
def test_no_entity_begins_or_ends_with_white_space(scheme: str, words: list[str]) -> None:
    pipe, random = known(scheme), np.random.default_rng(3)
    for spread in SPREADS:
        scatter(pipe, random, spread)
        doc = spaced(*words)
        limited = worlds_of(pipe, doc).given(no_bare_space(doc))
        spans = tuple(pipe.predict([doc]).spans[0])
        score = limited.scores[limited.spans.index(spans)]
        assert score == pytest.approx(limited.scores.max(), rel=1e-6, abs=1e-5)


def test_white_space_in_an_entity_that_is_set_is_left_alone() -> None:
    doc = spaced(" ", "a", " ", "b", " ")
    doc.ents = [DocSpan(doc, 0, 2, "X"), DocSpan(doc, 3, 5, "Y")]
    known("iobes", spread=10)(doc)
    assert entities([doc]) == [[(0, 2, "X"), (3, 5, "Y")]]


def crossing(spans: by_hand.Spans, boundaries: Iterable[int]) -> bool:
    return any(span.start < boundary < span.end for span in spans for boundary in boundaries)


@every_scheme
def test_entities_can_be_bound_by_sentences(scheme: str) -> None:
    bound, free = known(scheme, sentence_bound=True), known(scheme)
    random, crossed = np.random.default_rng(4), 0
    doc = Doc(VOCAB, words=list("abcd"), sent_starts=[True, False, True, False])
    for _ in range(20):
        scatter(bound, random, 3.0)
        for name in NAMES:
            layer_of(free, name).set_param(name, weights(bound, name))
        every = worlds_of(bound, doc)
        inside = every.given(lambda _, spans: not crossing(spans, [2]))
        assert tuple(bound.predict([doc]).spans[0]) == inside.best
        assert tuple(free.predict([doc]).spans[0]) == every.best
        crossed += crossing(every.best, [2])
    assert crossed


def test_a_doc_without_sentences_is_one() -> None:
    doc = text(4)
    one, other = known("bio", sentence_bound=True), known("bio")
    assert one.predict([doc]).spans[0] == other.predict([doc]).spans[0]


def test_an_entity_that_is_set_may_cross_sentences() -> None:
    doc = Doc(VOCAB, words=list("abcd"), sent_starts=[True, False, True, False])
    doc.ents = [DocSpan(doc, 1, 3, "X")]
    known("iobes", sentence_bound=True)(doc)
    assert (1, 3, "X") in entities([doc])[0]


# precision against recall


@every_scheme
def test_a_higher_bias_never_finds_fewer_entities(scheme: str) -> None:
    pipe, random = known(scheme), np.random.default_rng(5)
    for spread in (0.5, 3.0):
        scatter(pipe, random, spread)
        docs = [text(length) for length in range(8)]
        numbers = []
        for bias in np.arange(-12, 12.5, 0.5).tolist():
            pipe.entity_bias = bias
            numbers.append([len(spans) for spans in pipe.predict(docs).spans])
        for fewer, more in pairwise(numbers):
            assert all(a <= b for a, b in zip(fewer, more))
        assert sum(numbers[0]) < sum(numbers[-1])


def test_a_bias_does_not_change_what_is_probable() -> None:
    doc = text(4)
    plain, biased = known("iobes"), known("iobes", entity_bias=3.0)
    assert biased.expected_counts([doc]) == plain.expected_counts([doc])
    assert biased.entity_bias == 3.0


# probabilities

LONG = (4, 0, 1, 3)
PRESETS = (None, ["B-X", "-", "-", "!"], ["-", "-", "B-other", "-"])


def doc_of(preset: list[str] | None) -> Doc:
    return text(4) if preset is None else with_entities(preset)


@every_scheme
@pytest.mark.parametrize("clamp", [False, True])
@pytest.mark.parametrize("preset", PRESETS, ids=str)
def test_beliefs(scheme: str, clamp: bool, preset: list[str] | None) -> None:
    """All that a recogniser says beyond its answer, with and without what is set beforehand."""
    pipe, doc = known(scheme, spread=1.5), doc_of(preset)
    every = worlds_of(pipe, doc)
    if clamp and preset:
        every = every.given(conditioned(preset))
    check_nbest(pipe.nbest([doc], 7, clamp)[0], every)
    number = {tag: i for i, tag in enumerate(by_hand.all_states(scheme))}
    marginals, counts = np.zeros((len(doc), len(number))), dict.fromkeys(pipe.labels, 0.0)
    for tags, spans, probability in zip(every.tags, every.spans, every.probabilities):
        marginals[np.arange(len(doc)), [number[tag] for tag in tags]] += probability
        for span in spans:
            counts[span.label] += probability
    np.testing.assert_allclose(pipe.marginals([doc], clamp)[0], marginals, atol=1e-5)
    assert pipe.expected_counts([doc], clamp)[0] == pytest.approx(counts, abs=1e-5)
    for span in (Span(0, 1, "X"), Span(1, 4, "Y"), Span(2, 3, "X"), Span(0, 4, "Y")):
        found = pipe.span_probability(doc, *span, clamp)
        assert found == pytest.approx(every.probability(span), abs=1e-5)


def check_nbest(found: Sequence[Any], every: Any) -> None:
    order = np.argsort(-every.scores)[:7]
    wanted = every.probabilities[order]
    assert [a.probability for a in found] == pytest.approx(wanted.tolist(), abs=1e-5)
    for analysis, place in zip(found, order):
        assert analysis.spans == list(every.spans[place])


@every_scheme
def test_beliefs_about_several_docs(scheme: str) -> None:
    pipe, docs = known(scheme), [text(length) for length in LONG]
    assert [row.shape for row in pipe.marginals(docs)] == [(n, len(pipe.tags)) for n in LONG]
    for doc, counts, analyses in zip(docs, pipe.expected_counts(docs), pipe.nbest(docs, 1000)):
        every = worlds_of(pipe, doc)
        assert len(analyses) == len(every.spans)
        assert {tuple(a.spans) for a in analyses} == set(every.spans)
        assert sum(a.probability for a in analyses) == pytest.approx(1)
        mean = float(every.probabilities @ [len(spans) for spans in every.spans])
        assert sum(counts.values()) == pytest.approx(mean, abs=1e-5)


def test_the_columns_of_marginals_have_names() -> None:
    assert known("iobes").tags.states.tags == by_hand.all_tags("iobes")


@every_scheme
@pytest.mark.parametrize("preset", PRESETS, ids=str)
def test_scores_of_entities(scheme: str, preset: list[str] | None) -> None:
    pipe, doc = known(scheme, seed=6, scores=True, entity_bias=2.0), doc_of(preset)
    every = worlds_of(pipe, doc)
    if preset:
        every = every.given(conditioned(preset))
    pipe(doc)
    group = doc.spans["iobes_ner"]
    spans = [Span(span.start, span.end, span.label_) for span in group]
    assert [tuple(s) for s in spans] == entities([doc])[0]
    wanted = [1.0 if span.label == "other" else every.probability(span) for span in spans]
    assert group.attrs["scores"].tolist() == pytest.approx(wanted, abs=1e-5)
    assert spans


def test_scores_of_several_docs_under_another_key() -> None:
    pipe = known("bio", seed=6, scores=True, spans_key="mine", entity_bias=1.0)
    docs = [text(length) for length in (3, 0, 0, 5, 1)]
    for doc in pipe.pipe(docs, batch_size=4):
        every = worlds_of(pipe, doc)
        wanted = [every.probability(Span(*row)) for row in entities([doc])[0]]
        assert doc.spans["mine"].attrs["scores"].tolist() == pytest.approx(wanted, abs=1e-5)
        assert [(s.start, s.end, s.label_) for s in doc.spans["mine"]] == entities([doc])[0]


def test_no_scores_unless_asked_for() -> None:
    doc = known("bio", threshold=0.3)(text(3))
    assert not doc.spans


@every_scheme
@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.9, 1.0])
def test_a_threshold_keeps_what_is_probable(scheme: str, threshold: float) -> None:
    docs = [text(length) for length in range(1, 6)]
    free, strict = (known(scheme, seed=7, spread=2, threshold=t) for t in (0.0, threshold))
    for doc, spans, kept in zip(docs, free.predict(docs).spans, strict.predict(docs).spans):
        every = worlds_of(free, doc)
        assert kept == [span for span in spans if every.probability(span) >= threshold]


@given(st.integers(0, 1000), st.sampled_from(sorted(by_hand.PREFIXES)), st.sampled_from(SPREADS))
@settings(max_examples=60)
def test_what_is_set_passes_any_threshold(seed: int, scheme: str, spread: float) -> None:
    pipe = known(scheme, seed=seed, spread=spread, threshold=1.0, scores=True)
    doc = with_entities(["-", "B-X", "I-X", "I-X", "-", "-", "B-Y", "-"])
    pipe(doc)
    assert {(1, 4, "X"), (6, 7, "Y")} <= set(entities([doc])[0])


def test_questions_that_make_no_sense() -> None:
    pipe, doc = known("iobes"), text(3)
    for start, end in ((-1, 1), (1, 1), (2, 1), (0, 4)):
        with pytest.raises(SpanRangeError, match="is no span of 3 tokens"):
            pipe.span_probability(doc, start, end, "X")
    with pytest.raises(TypeError, match="integer"):
        pipe.span_probability(doc, 0, 1.5, "X")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="'Z' is not one of the component's"):
        pipe.span_probability(doc, 0, 1, "Z")
    with pytest.raises(ChainError, match="n is a whole number, at least 1"):
        pipe.nbest([doc], 0)


def test_nothing_is_asked() -> None:
    pipe = known("iobes")
    assert pipe.nbest([], 3) == []
    assert pipe.expected_counts([]) == []
    assert list(pipe.predict([]).spans) == []
    assert [tuple(analysis) for analysis in pipe.nbest([bare(0)], 3)[0]] == [(1.0, [], 0.0)]
    assert pipe.expected_counts([bare(0)]) == [{"X": 0.0, "Y": 0.0}]
    assert pipe.marginals([bare(0)])[0].shape == (0, 9)
    assert pipe.marginals([]) == []


def test_asking_changes_no_doc() -> None:
    pipe: EntityRecognizer = known("iobes", scores=True)
    doc = with_entities(["-", "B-X", "!"])
    pipe.predict([doc])
    pipe.nbest([doc], 2)
    pipe.expected_counts([doc], clamp=True)
    assert (stored(doc), len(doc.spans)) == (["-", "B-X", "!"], 0)
