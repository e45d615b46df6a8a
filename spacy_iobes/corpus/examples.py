"""The two Docs of spaCy's examples: spans of both in places that can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

from spacy.attrs import ORTH
from spacy.tokens import Doc

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
        if not self.alike:
            self.bounds = [character_bounds(doc) for doc in (reference, predicted)]
            texts = ["".join(doc.text.split()) for doc in (reference, predicted)]
            if texts[0] != texts[1]:
                raise AlignmentError(
                    f"{shown(predicted)} is predicted for {shown(reference)}, which has another "
                    "text: an example holds two Docs of one text."
                )

    def of_reference(self, spans: Iterable[Span]) -> list[Span]:
        """The spans of the reference."""
        return self._places(spans, 0)

    def of_prediction(self, spans: Iterable[Span], missing: Sequence[int]) -> list[Span]:
        """The spans of the prediction, but for those over a token that has no annotation."""
        found = self._places(spans, 1)
        if missing:
            unknown = self.of_reference(Span(i, i + 1, "") for i in missing)
            holes = {place for start, end, _ in unknown for place in range(start, end)}
            found = [span for span in found if holes.isdisjoint(range(span.start, span.end))]
        return found

    def _places(self, spans: Iterable[Span], side: int) -> list[Span]:
        if self.alike:
            return list(spans)
        bounds = self.bounds[side]
        placed = (Span(bounds[start], bounds[end], label) for start, end, label in spans)
        return [span for span in placed if span.start < span.end]


def character_bounds(doc: Doc) -> list[int]:
    """Where each token begins, and the last one ends, counting only what is not white space."""
    return [0, *accumulate(len("".join(token.text.split())) for token in doc)]
