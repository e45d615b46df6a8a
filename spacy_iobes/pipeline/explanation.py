"""Why a recogniser finds a span: the features that speak for it and against it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ..chain import Batch, Chain, nbest
from ..ml.chain_scores import ChainScores
from ..ml.explain import Feature, hashed_features, token_features
from ..ml.tag_chain import to_numpy
from ..names import counted
from ..scoring.tables import aligned
from ..span import Span
from .documents import DocSentence
from .ner import EntityRecognizer

ANSWERS = (8, 64, 512)  # among so many is the runner-up looked for
UNSEEN = 3  # features that were never seen, by name


class Reason(NamedTuple):
    """A feature of a token, and by how much it prefers one tag to another."""

    token: int
    feature: str
    weight: float
    seen: bool


@dataclass(frozen=True)
class Comparison:
    """One annotation of a Doc against another, at the tokens where they differ.

    The reasons, the strongest first, and `other`, what other parts of the encoder say, add up to
    `total`, the difference of the scores of the tags. `steps` is what the steps between the tags
    add, which are 0 unless they are learned, and `bias` what `entity_bias` adds for the spans that
    one has more than the other. `spans` are those of the other annotation there.
    """

    tokens: list[int]
    tags: list[str]
    instead: list[str]
    spans: list[Span]
    reasons: list[Reason]
    other: float
    total: float
    steps: float
    bias: float

    def rest(self, top: int) -> float:
        """Return the sum of all but the strongest reasons."""
        return sum(reason.weight for reason in self.reasons[top:])

    def lines(self, doc: Doc, name: str, top: int) -> Iterator[str]:
        """Yield a table whose weights add up to its last row; a `top` of 0 has all reasons."""
        shown = self.reasons[: top or None]
        rows = [(f"{r.weight:+.3f}", doc[r.token].text, r.feature) for r in shown if r.weight]
        if rest := len(self.reasons) - len(shown):
            rows.append((f"{self.rest(len(shown)):+.3f}", "", f"{rest:,} more"))
        if abs(self.other) > 5e-4:
            rows.append((f"{self.other:+.3f}", "", "other parts of the encoder"))
        tags = f"{' '.join(self.tags)} against {' '.join(self.instead)}"
        rows.append((f"{self.total:+.3f}", "", tags))
        yield f"against {name}"
        yield aligned(("weight", "token", "feature"), rows, "rll", rules=(0, len(rows) - 1))
        if self.steps:
            yield f"{self.steps:+.3f} for the steps between the tags"
        if self.bias:
            yield f"{self.bias:+.3f} for entities as such (entity_bias)"
        yield ""

    def as_dict(self, first: int, top: int) -> dict[str, Any]:
        """Return plain values, with the strongest reasons; tokens are counted from `first`."""
        top = top or len(self.reasons)
        reasons = [reason._replace(token=reason.token - first) for reason in self.reasons[:top]]
        return {
            **asdict(self),
            "tokens": [token - first for token in self.tokens],
            "spans": [span_data(span, first) for span in self.spans],
            "reasons": [reason._asdict() for reason in reasons],
            "rest": self.rest(top),
            "more": max(len(self.reasons) - top, 0),
            "unseen": [reason.feature for reason in self.reasons if not reason.seen],
        }


@dataclass(frozen=True)
class Explanation:
    """A span, its tags, how probable it is, and what speaks for it.

    The runner-up is the most probable annotation of the Doc without the span; None if it is not
    among the first few hundred. Where no entity leaves its sentence, only that of the span differs.
    Of a span that is not in the most probable annotation, that is what it is compared with.
    """

    span: Span
    text: str
    probability: float
    best: bool
    outside: Comparison
    runner_up: Comparison | None

    def lines(self, doc: Doc, first: int, top: int) -> Iterator[str]:
        """Yield the explanation in words; tokens are counted from `first`."""
        start, end, label = self.span.start - first, self.span.end - first, self.span.label
        found = "" if self.best else ", not in the most probable annotation"
        place = f"tokens {start}:{end}, probability {self.probability:.4f}"
        yield f"{label} {self.text!r}, {place}{found}"
        yield ""
        yield from self.outside.lines(doc, "O", top)
        if self.runner_up is None:
            yield "no runner-up among the most probable annotations"
        else:
            spans = self.runner_up.spans
            rival = ", ".join(f"{s.label} {doc[s.start : s.end].text!r}" for s in spans)
            name = "the runner-up" if self.best else "the most probable annotation"
            yield from self.runner_up.lines(doc, f"{name}, {rival or 'O'}", top)
        if new := [r.feature for r in self.outside.reasons if not r.seen]:
            count = f"{len(new):,} of {counted(len(self.outside.reasons), 'feature')}"
            more = ", …" if len(new) > UNSEEN else ""
            yield f"never seen in training: {count}: {', '.join(new[:UNSEEN])}{more}"
        yield ""

    def as_dict(self, first: int, top: int) -> dict[str, Any]:
        """Return plain values; tokens are counted from `first`."""
        return {
            **span_data(self.span, first),
            "text": self.text,
            "probability": self.probability,
            "best": self.best,
            "against_outside": self.outside.as_dict(first, top),
            "against_runner_up": self.runner_up and self.runner_up.as_dict(first, top),
        }


@dataclass(frozen=True)
class ExplainedSentence:
    """A sentence of a Doc with explanations of spans in it."""

    part: DocSentence
    doc: Doc
    spans: list[Explanation]

    def lines(self, top: int, several: bool) -> Iterator[str]:
        """Yield the explanations in words, under the text of the sentence if it is of several."""
        number, first, last = self.part
        if several:
            yield f"sentence {number}: {self.doc[first:last].text}"
        if not self.spans:
            yield f"no entity in {counted(last - first, 'token')}; --span asks for one"
        for each in self.spans:
            yield from each.lines(self.doc, first, top)

    def as_dict(self, top: int) -> dict[str, Any]:
        """Return plain values."""
        number, first, last = self.part
        return {
            "sentence": number,
            "tokens": [token.text for token in self.doc[first:last]],
            "spans": [each.as_dict(first, top) for each in self.spans],
        }


def explained_sentence(
    pipe: EntityRecognizer, doc: Doc, part: DocSentence, wanted: Sequence[Span], label: str = ""
) -> ExplainedSentence:
    """Explain spans of a sentence: those wanted, else its entities, of one label or of all."""
    spans = [part.place(span) for span in wanted]
    if not wanted:
        labels = {label} if label else set(pipe.labels)
        here = (e for e in doc.ents if part.start <= e.start < part.end and e.label_ in labels)
        spans = [Span(e.start, e.end, e.label_) for e in here]
    return ExplainedSentence(part, doc, explain(pipe, doc, spans))


def span_data(span: Span, first: int) -> dict[str, Any]:
    """Return a span as plain values, counted from a token."""
    return {"start": span.start - first, "end": span.end - first, "label": span.label}


def explain(pipe: EntityRecognizer, doc: Doc, spans: Sequence[Span]) -> list[Explanation]:
    """Explain spans of a Doc; it needs a recogniser with hashed features."""
    hashed_features(pipe.model)
    probable = [pipe.span_probability(doc, *span) for span in spans]  # raises for what is no span
    if not spans:
        return []
    compare = _Comparer(pipe, doc, token_features(pipe.model, doc), pipe.model.predict([doc]))
    return [_explained(pipe, doc, span, p, compare) for span, p in zip(spans, probable)]


def _explained(
    pipe: EntityRecognizer, doc: Doc, span: Span, probability: float, compare: _Comparer
) -> Explanation:
    with_it, without = rivals(pipe, doc, span)
    return Explanation(
        span,
        doc[span.start : span.end].text,
        probability,
        best=with_it is not None,
        outside=compare([span], []),
        runner_up=None if without is None else compare(with_it or beside(without, span), without),
    )


def rivals(
    pipe: EntityRecognizer, doc: Doc, span: Span
) -> tuple[list[Span] | None, list[Span] | None]:
    """The most probable annotation if it has the span, and the most probable one without it."""
    chain, batch = pipe.posed([doc])
    (first,) = answers(pipe, chain, batch, 1)
    if pipe.sentence_bound:
        start, end = sentence_around(doc, span)
        others = [s for s in first if s.end <= start or end <= s.start]
        taken = {token for s in others for token in range(s.start, s.end)}
        free = [i for i in range(len(doc)) if not start <= i < end and i not in taken]
        batch = pipe.tags.known(batch, [others], np.array(free, dtype=np.int64))
    for count in ANSWERS:
        found = answers(pipe, chain, batch, count)
        without = [spans for spans in found if span not in spans]
        if without or len(found) < count:
            break
    return (first if span in first else None), (without[0] if without else None)


def answers(pipe: EntityRecognizer, chain: Chain, batch: Batch, count: int) -> list[list[Span]]:
    """The most probable annotations of one Doc; fewer where there are fewer."""
    found = nbest(chain, batch, count)
    there = np.isfinite(found.log_probability[:, 0])
    return [pipe.tags.spans(states, batch)[0] for states in found.states[there]]


def sentence_around(doc: Doc, span: Span) -> tuple[int, int]:
    """The tokens of the sentence of a span; all of a Doc that knows of none."""
    if not doc.has_annotation("SENT_START"):
        return 0, len(doc)
    return doc[span.start].sent.start, doc[span.end - 1].sent.end


def beside(spans: Sequence[Span], span: Span) -> list[Span]:
    """The spans with another one, which takes the place of those it overlaps."""
    kept = [s for s in spans if s.end <= span.start or span.end <= s.start]
    return sorted([*kept, span])


class _Comparer:
    """Compares two annotations of a Doc by what a model says of it."""

    def __init__(
        self,
        pipe: EntityRecognizer,
        doc: Doc,
        features: Sequence[Sequence[Feature]],
        scores: ChainScores,
    ):
        self.tags = pipe.tags
        self.bias = pipe.entity_bias
        self.size = len(doc)
        self.features = features
        names = ("emissions", "start", "step", "stop")
        arrays = (to_numpy(getattr(scores, name)).astype(np.float64) for name in names)
        self.emissions, self.start, self.step, self.stop = arrays

    def __call__(self, spans: Sequence[Span], others: Sequence[Span]) -> Comparison:
        path, other = (self.tags.path([some], [self.size]) for some in (spans, others))
        tokens = np.flatnonzero(path != other)
        a, b, of_state = path[tokens], other[tokens], self.tags.of_state
        reasons = [
            Reason(token, name, float(weights[mine].sum() - weights[its].sum()), seen)
            for token, mine, its in zip(tokens.tolist(), of_state[a], of_state[b])
            for name, weights, seen in self.features[token]
        ]
        rows = self.emissions[tokens][:, of_state.T].sum(axis=1)  # [tokens, K]
        total = float((rows[np.arange(len(a)), a] - rows[np.arange(len(b)), b]).sum())
        names, there = self.tags.states.tags, set(tokens.tolist())
        return Comparison(
            tokens.tolist(),
            [names[state] for state in a],
            [names[state] for state in b],
            [span for span in others if there & set(range(span.start, span.end))],
            sorted(reasons, key=lambda reason: (-round(abs(reason.weight), 6), reason.token)),
            total - sum(reason.weight for reason in reasons),
            total,
            self._steps(path) - self._steps(other),
            self.bias * (len(spans) - len(others)),
        )

    def _steps(self, path: NDArray[np.int32]) -> float:
        ends = self.start[path[0]] + self.stop[path[-1]]
        return float(ends + self.step[path[:-1], path[1:]].sum())
