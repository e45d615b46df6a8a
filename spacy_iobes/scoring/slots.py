"""One answer per slot: a document is asked once for each label, and any right filler will do.

This is how templates are filled from seminar announcements and the like, where a document says the
same thing several times. For each document and label the most confident predicted span is the
answer. It is right if its words are those of any gold span of that label in the document, wherever
they stand.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

import numpy as np

from ..errors import AlignmentError, SpanRangeError
from ..span import Span
from .counts import CORRECT, INCORRECT, MUC, OUTCOMES, UNPAIRED, Counts


def slot_answers(predicted: Iterable[Span], confidences: Iterable[float]) -> dict[str, Span]:
    """The most confident span of each label.

    Of equally confident ones the first in the text is taken: the one that begins first, and of
    those the one that ends first.
    """
    best = dict[str, tuple[float, Span]]()
    for span, confidence in zip_longest(predicted, confidences):
        if span is None or confidence is None:
            raise AlignmentError("Every predicted span has one confidence, and no more.")
        if math.isnan(confidence):
            raise ValueError(f"The confidence of {tuple(span)} is not a number (nan).")
        rank = (-confidence, Span(*span))
        if span[2] not in best or rank < best[span[2]]:
            best[span[2]] = rank
    return {label: span for label, (_, span) in best.items()}


def filler(tokens: Sequence[str], span: Span, spaces: Sequence[bool] | None = None) -> str:
    """The words of a span with single spaces, whatever white space is in the text.

    `spaces` says which tokens white space comes behind; without it all tokens stand apart.
    """
    if not 0 <= span[0] < span[1] <= len(tokens):
        raise SpanRangeError(f"{tuple(span)} is no span of {len(tokens)} tokens.", [span])
    words = tokens[span[0] : span[1]]
    if spaces is not None:
        words = ["".join(w + " " * s for w, s in zip(words, spaces[span[0] : span[1]]))]
    return " ".join(" ".join(words).split())


def slot_counts(
    gold: Sequence[Sequence[Span]],
    predicted: Sequence[Sequence[Span]],
    confidences: Sequence[Sequence[float]],
    tokens: Sequence[Sequence[str]],
    spaces: Sequence[Sequence[bool]] | None = None,
) -> Counts:
    """Count the answers of documents, each with its gold spans, predicted spans and tokens.

    Of each label `exact` has right answers, answers, and documents that have the slot: what
    precision, recall and F1 divide by. The other tables say the same of answers in place of spans:
    a wrong answer is paired with the slot, a slot without an answer is missed, and an answer
    without a slot is spurious. `sentences` are documents.
    """
    sides = {"gold": gold, "predicted": predicted, "confidences": confidences, "tokens": tokens}
    if spaces is not None:
        sides["spaces"] = spaces
    if len({len(side) for side in sides.values()}) > 1:
        sizes = ", ".join(f"{len(side)} of {name}" for name, side in sides.items())
        raise AlignmentError(f"There must be one of everything for each document, not {sizes}.")
    every = [spans for side in (gold, predicted) for spans in side]
    labels = tuple(sorted({label for spans in every for _, _, label in spans}))
    tally = _Tally(labels)
    for number, words in enumerate(tokens):
        gaps = None if spaces is None else spaces[number]
        slots = dict[str, set[str]]()
        for span in gold[number]:
            slots.setdefault(span[2], set()).add(filler(words, span, gaps))
        answers = {
            label: filler(words, span, gaps)
            for label, span in slot_answers(predicted[number], confidences[number]).items()
        }
        tally.add(slots, answers)
    size = sum(map(len, tokens))
    return Counts(labels, *tally.tables, len(tokens), size, right_tokens=None, tagged=None)


class _Tally:
    """Adds up what documents were asked and what they answered."""

    def __init__(self, labels: tuple[str, ...]):
        size = len(labels)
        self.index = {label: number for number, label in enumerate(labels)}
        self.exact = np.zeros((size, 3), dtype=np.int64)
        self.sides = np.zeros((2, size, len(OUTCOMES)), dtype=np.int64)  # gold, predicted
        self.confusion = np.zeros((size + 1, size + 1), dtype=np.int64)

    def add(self, slots: Mapping[str, set[str]], answers: Mapping[str, str]) -> None:
        """Add a document: the fillers of its slots, and the answer for each label."""
        for label in {*slots, *answers}:
            at, asked, answered = self.index[label], label in slots, label in answers
            right = asked and answered and answers[label] in slots[label]
            outcome = CORRECT if right else INCORRECT if asked and answered else UNPAIRED
            self.exact[at] += (right, answered, asked)
            self.sides[0, at, outcome] += asked
            self.sides[1, at, outcome] += answered
            self.confusion[at if asked else -1, at if answered else -1] += 1

    @property
    def tables(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The tables of `Counts`; all kinds of match are the same here."""
        return self.exact, np.stack([self.sides] * len(MUC)), self.confusion
