"""Score tags or spans: a value that holds the counts, the figures and their recipe."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes.columns import CodedTags, SpanColumns
from ..codes.parse import read_spans, validate_many
from ..codes.policy import Policy, get_policy
from ..codes.scheme import OUTSIDE, Scheme, get_scheme
from ..errors import AlignmentError, TagError
from ..kernels import encode
from .counts import MUC, Counts, Figures, MucCounts, count, figures
from .matching import Kept, Matched, match, nested_columns
from .signature import Signature

SENTENCES = 1 << 15  # scored at a time
MISSED, SPURIOUS = "missed", "spurious"
ERROR_KINDS = ("label", "border", "label and border", MISSED, SPURIOUS)
"""How a prediction can be wrong; the first three are pairs of a gold span and a prediction."""


@dataclass(frozen=True)
class Mistake:
    """A gold span that was not found, a prediction that is not gold, or a pair of both."""

    kind: str
    sentence: int
    gold: tuple[int, int, str] | None
    predicted: tuple[int, int, str] | None


@dataclass(frozen=True, eq=False)
class Report:
    """A score with its recipe. `value` is the figure that the signature names."""

    signature: Signature
    counts: Counts
    kept: tuple[Kept, ...] = ()

    def __str__(self) -> str:
        value = "undefined" if self.value is None else f"{100 * self.value:.2f}"
        return f"{value} {self.signature}"

    @cached_property
    def per_label(self) -> dict[str, Figures]:
        """The figures of every label that occurs in the gold spans or the predictions."""
        rows = zip(self.counts.labels, self.counts.exact.tolist())
        return {label: figures(*row) for label, row in rows}

    @cached_property
    def micro(self) -> Figures:
        """The figures of all spans together."""
        return figures(*self.counts.totals)

    @cached_property
    def macro(self) -> Figures:
        """The mean over the labels; what is undefined counts as 0."""
        return self._mean(np.ones(len(self.counts.labels)))

    @cached_property
    def weighted(self) -> Figures:
        """The mean over the labels, weighted by their gold spans; what is undefined counts as 0."""
        return self._mean(self.counts.exact[:, 2].astype(float))

    def _mean(self, weights: NDArray[np.float64]) -> Figures:
        if not weights.sum():
            return Figures(None, None, None)
        table = np.array([[figure or 0.0 for figure in row] for row in self.per_label.values()])
        precision, recall, f1 = (weights @ table / weights.sum()).tolist()
        return Figures(precision, recall, f1)

    @property
    def accuracy(self) -> float | None:
        """The share of tokens whose tags were the same before any repair."""
        return self.counts.accuracy

    @cached_property
    def tagged(self) -> Figures:
        """The figures of single tokens: the same tag, and not `O`; None where spans were given."""
        return (
            Figures(None, None, None)
            if self.counts.tagged is None
            else figures(*self.counts.tagged)
        )

    @cached_property
    def muc(self) -> dict[str, MucCounts]:
        """The four MUC-style matches over all labels."""
        return {kind: self.counts.muc_counts(kind) for kind in MUC}

    @cached_property
    def value(self) -> float | None:
        """The figure that the signature names."""
        wanted = self.signature
        if wanted.match == "exact":
            source: Figures | MucCounts = getattr(self, wanted.average)
        else:
            source = self.muc[wanted.match.removeprefix("muc-")]
        value: float | None = getattr(source, wanted.metric)
        return value

    def by_sentence(self) -> NDArray[np.int64]:
        """(correct, predicted, gold) of every sentence, for tests of significance."""
        nothing = np.zeros((0, 3), dtype=np.int64)
        return np.concatenate([nothing, *(part.tallies for part in self.kept)], dtype=np.int64)

    @property
    def mistakes(self) -> Iterator[Mistake]:
        """Every false positive and false negative, sentence by sentence."""
        before = 0
        for part in self.kept:
            yield from mistakes(part.faulty, before)
            before += len(part.tallies)

    def as_dict(self) -> dict[str, Any]:
        """Everything but the mistakes, ready for JSON; None where a figure is undefined."""
        counts = self.counts
        correct, predicted, gold = counts.totals
        return {
            "signature": str(self.signature),
            "value": self.value,
            "micro": self.micro._asdict(),
            "macro": self.macro._asdict(),
            "weighted": self.weighted._asdict(),
            "accuracy": self.accuracy,
            "tagged": self.tagged._asdict(),
            "correct": correct,
            "predicted": predicted,
            "gold": gold,
            "sentences": counts.sentences,
            "tokens": counts.tokens,
            "violations": {"predicted": counts.violations, "gold": counts.gold_violations},
            "labels": {
                label: {**row._asdict(), **dict(zip(("correct", "predicted", "gold"), numbers))}
                for (label, row), numbers in zip(self.per_label.items(), counts.exact.tolist())
            },
            "muc": {
                kind: {
                    **row._asdict(),
                    "labels": {x: counts.muc_counts(kind, x)._asdict() for x in counts.labels},
                }
                for kind, row in self.muc.items()
            },
            "confusion": {"labels": list(counts.labels), "rows": counts.confusion.tolist()},
        }


def mistakes(matched: Matched, before: int = 0) -> Iterator[Mistake]:
    """What is wrong in a part whose first sentence is number `before`, sentence by sentence."""
    gold, predicted = matched.gold.spans(), matched.predicted.spans()
    label, borders = matched.same_label, matched.same_borders
    left = np.ones(len(gold), dtype=bool)
    left[matched.by_border[matched.by_border >= 0]] = False
    rows = [
        (int(matched.gold.sentence[i]), gold[i].start, 0, MISSED, gold[i], None)
        for i in np.flatnonzero(left).tolist()
    ]
    for k in np.flatnonzero(~matched.right).tolist():
        i = int(matched.by_border[k])
        kind = SPURIOUS
        if i >= 0:
            kind = "border" if label[k] else "label" if borders[k] else "label and border"
        sentence = int(matched.predicted.sentence[k])
        answer = gold[i] if i >= 0 else None
        start = (answer or predicted[k]).start
        rows.append((sentence, start, 1, kind, answer, predicted[k]))
    for sentence, _, _, kind, answer, guess in sorted(rows, key=lambda row: row[:3]):
        pair = (tuple(span) if span else None for span in (answer, guess))
        yield Mistake(kind, before + sentence, *pair)


@dataclass(frozen=True, eq=False)
class Side:
    """The tags of gold or prediction, the policy for them, and the spans it finds."""

    tags: CodedTags
    policy: Policy
    scheme: Scheme

    @cached_property
    def spans(self) -> SpanColumns:
        """The spans; raises for what cannot be read or is refused."""
        return read_spans(self.tags, self.scheme, self.policy)

    def read(self) -> None:
        """Read the spans now, so that an error is raised here."""
        assert self.spans is not None

    @property
    def repaired(self) -> int:
        """How many violations the policy had to repair."""
        return 0 if self.policy.refuses else validate_many(self.tags, self.scheme).total


def match_sides(gold: Side, predicted: Side) -> tuple[Matched, Counts]:
    """Score tags of the same sentences, coded with the same numbers."""
    require_aligned(gold.tags, predicted.tags)
    matched = match(gold.spans, predicted.spans)
    counts = count(
        matched,
        tokens=len(gold.tags.codes),
        **compare_tags(gold.tags, predicted.tags),
        violations=predicted.repaired,
        gold_violations=gold.repaired,
    )
    return matched, counts


def compare_tags(gold: CodedTags, predicted: CodedTags) -> dict[str, Any]:
    """The counts of tokens that have the same tag on both sides, and of those that have one."""
    a, b = gold.codes, predicted.codes
    right = int(np.count_nonzero(a == b))
    known = max(gold.tags, predicted.tags, key=len)  # one is the beginning of the other
    outside = known.index(OUTSIDE) if OUTSIDE in known else -1
    neither = int(np.count_nonzero((a == outside) & (b == outside)))
    tagged = (len(side) - int(np.count_nonzero(side == outside)) for side in (b, a))
    return {"right_tokens": right, "tagged": (right - neither, *tagged)}


def require_aligned(gold: CodedTags, predicted: CodedTags) -> None:
    """Raise for the first sentence that is longer on one side."""
    if len(gold) != len(predicted):
        raise AlignmentError(f"{len(gold)} gold sentences but {len(predicted)} predicted ones.")
    different = np.flatnonzero(np.diff(gold.offsets) != np.diff(predicted.offsets))
    for sentence in different[:1].tolist():
        a, b = (int(np.diff(side.offsets)[sentence]) for side in (gold, predicted))
        raise AlignmentError(f"Sentence {sentence} has {a} gold tags but {b} predicted ones.")


def code_alike(gold: Any, predicted: Any) -> tuple[CodedTags, CodedTags]:
    """Code the tags of both sides with the same numbers."""
    vocabulary: dict[str, int] = {}
    coded = []
    for side in (gold, predicted):
        if isinstance(side, CodedTags):
            numbers = [vocabulary.setdefault(tag, len(vocabulary)) for tag in side.tags]
            codes = np.array(numbers, dtype=np.int32)[side.codes] if numbers else side.codes
            coded.append((codes, side.offsets))
        else:
            coded.append(encode(side, vocabulary))
    tags = tuple(vocabulary)
    a, b = (CodedTags.trusted(codes, offsets, tags) for codes, offsets in coded)
    return a, b


def in_parts(gold: Any, predicted: Any) -> Iterator[tuple[Any, Any]]:
    """Some sentences of both sides at a time, so that memory does not grow with the corpus."""
    for begin in range(0, max(len(gold), len(predicted), 1), SENTENCES):
        part = slice(begin, begin + SENTENCES)
        yield gold[part], predicted[part]


def score(
    gold: Any,
    pred: Any,
    *,
    scheme: str | Scheme | None = None,
    repair: str | Policy | None = None,
    gold_repair: str | Policy = "raise",
    metric: str = "f1",
    average: str = "micro",
    match_by: str = "exact",
) -> Report:
    """Score predictions against gold: lists of tags in a scheme, or (without one) lists of spans.

    With a `scheme` there is no default for `repair`, the policy for malformed predictions. Spans
    are (start, end, label); they may overlap and nest.
    """
    if scheme is None:
        signature = Signature(metric, average, match_by)
        matched = match(*(nested_columns(side) for side in (gold, pred)))
        counts = count(matched, right_tokens=None, tagged=None)
        return Report(signature, counts, (Kept.of(matched),))
    if repair is None:
        raise TypeError("Name the policy for malformed predictions: repair='begin', for example.")
    found, policy, gold_policy = get_scheme(scheme), get_policy(repair), get_policy(gold_repair)
    signature = Signature(metric, average, match_by, found.name, policy.name, gold_policy.name)

    def scored(part: tuple[Any, Any]) -> tuple[Kept, Counts]:
        a, b = code_alike(*part)
        matched, counts = match_sides(Side(a, gold_policy, found), Side(b, policy, found))
        return Kept.of(matched), counts

    whole = [side if isinstance(side, (list, CodedTags)) else list(side) for side in (gold, pred)]
    try:
        parts = [scored(part) for part in in_parts(*whole)]
    except (TagError, AlignmentError):
        scored((whole[0], whole[1]))  # the same error with everything in it, counted from the start
        raise
    counts = sum((more for _, more in parts), Counts.none())
    return Report(signature, counts, tuple(kept for kept, _ in parts))
