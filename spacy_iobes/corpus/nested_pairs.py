"""Nested mentions of two Docs of one text, sentence by sentence."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from spacy.tokens import Doc

from ..span import Span
from .doc_mentions import missing_of
from .examples import Places
from .sources import group_spans


class NestedPair:
    """The spans of a reference and a prediction in places that both have in common.

    `starts` are the places where the sentences of the reference begin; a Doc that does not know
    them is one. A span belongs to the sentence in which it begins. `missing` are the tokens of the
    reference that are not annotated, as `missing_of` finds them: what is predicted over them is
    left out, unless it is right.
    """

    def __init__(self, reference: Doc, predicted: Doc, key: str, missing_key: str | None = None):
        self.places = Places(reference, predicted)
        self.missing = missing_of(reference, key, missing_key)
        self.starts = self._starts(reference)
        answers = self.places.of_reference(group_spans(reference, key))
        every = group_spans(predicted, key)
        guesses = self.places.of_prediction(every, answers, self.missing)
        self.gold, self.predicted = (_dealt(spans, self.starts) for spans in (answers, guesses))

    def _starts(self, reference: Doc) -> list[int]:
        starts = [0]
        if reference.has_annotation("SENT_START"):
            starts += (token.i for token in reference[1:] if token.is_sent_start)
        tokens = [Span(i, len(reference), "") for i in starts if i < len(reference)]
        return [start for start, _, _ in self.places.of_reference(tokens)] or [0]


def _dealt(spans: Iterable[Span], starts: Sequence[int]) -> list[list[Span]]:
    """The spans of each sentence, given where these begin."""
    found: list[list[Span]] = [[] for _ in starts]
    for span in spans:
        found[max(bisect_right(starts, span.start) - 1, 0)].append(span)
    return found
