"""The two Docs of spaCy's examples: spans of both in common places, and what augmenters lose."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from spacy.attrs import ENT_IOB, ENT_TYPE, ORTH, SENT_START
from spacy.tokens import Doc
from spacy.training import Example

from ..codes.known import flags_of, judged
from ..codes.span_columns import SpanColumns
from ..errors import AlignmentError
from ..span import Span
from .sources import shown


def same_tokens(a: Doc, b: Doc) -> bool:
    """Whether two Docs have the same tokens."""
    return len(a) == len(b) and bool(a.to_array(ORTH).tobytes() == b.to_array(ORTH).tobytes())


class Places:
    """Places that the spans of a reference and a prediction have in common.

    Where both have the same tokens these are the tokens, else the characters that are not white
    space; a span that covers nothing but white space has no place then.
    """

    def __init__(self, reference: Doc, predicted: Doc):
        self.alike = same_tokens(reference, predicted)
        self.size = len(reference)
        if not self.alike:
            self.bounds = [character_bounds(doc) for doc in (reference, predicted)]
            texts = ["".join(doc.text.split()) for doc in (reference, predicted)]
            if texts[0] != texts[1]:
                raise AlignmentError(
                    f"{shown(predicted)} is predicted for {shown(reference)}, which has another "
                    "text: an example holds two Docs of one text."
                )
            self.size = self.bounds[0][-1]

    def of_reference(self, spans: Iterable[Span]) -> list[Span]:
        """The spans of the reference."""
        return self._places(spans, 0)

    def of_prediction(
        self, spans: Iterable[Span], gold: Sequence[Span], missing: Sequence[int]
    ) -> list[Span]:
        """Return the spans of the prediction that gold can judge.

        `gold` has its spans in common places, and `missing` the tokens of the reference that are
        not annotated.
        """
        found = self._places(spans, 1)
        if not missing:
            return found
        unknown = self.of_reference(Span(i, i + 1, "") for i in missing)
        holes = [place for start, end, _ in unknown for place in range(start, end)]
        size = max(self.size, *(span.end for span in found), 0)
        offsets = np.array([0, size])
        guesses, answers = (SpanColumns.of([each], [size]) for each in (found, gold))
        return judged(guesses, answers, flags_of([holes], offsets), offsets)[0]

    def _places(self, spans: Iterable[Span], side: int) -> list[Span]:
        if self.alike:
            return list(spans)
        bounds = self.bounds[side]
        placed = (Span(bounds[start], bounds[end], label) for start, end, label in spans)
        return [span for span in placed if span.start < span.end]


def character_bounds(doc: Doc) -> list[int]:
    """Where each token begins, and the last one ends, counting only what is not white space."""
    return [0, *accumulate(len("".join(token.text.split())) for token in doc)]


def carry(original: Doc, augmented: Doc) -> None:
    """Give an augmented reference what augmenters lose, if it has as many tokens as the original.

    These are the tags, blocked tokens, sentence starts and the attributes of span groups.
    """
    if augmented is original or len(augmented) != len(original):
        return
    augmented.user_data.update(original.user_data)
    names = [ENT_IOB, ENT_TYPE, SENT_START]
    rows: Any = original.to_array(names)
    augmented.from_array(names, rows)
    for key, group in original.spans.items():
        if key in augmented.spans and len(augmented.spans[key]) == len(group):
            augmented.spans[key].attrs.update(group.attrs)


def carry_sentences(example: Example) -> None:
    """Give the predicted Doc the sentence starts of the reference, if it has the same tokens."""
    predicted, reference = example.predicted, example.reference
    if len(predicted) == len(reference):
        rows: Any = reference.to_array([SENT_START])
        predicted.from_array([SENT_START], rows)
