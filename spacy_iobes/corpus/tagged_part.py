"""The tags of a part of a file, some of which may say that a token has none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..codes.parse import validate_many
from ..codes.pieces import Pieces
from ..codes.policy import Policy
from ..codes.scheme import Scheme
from ..codes.span_columns import SpanColumns
from ..codes.violation import Violation
from ..errors import InexpressibleError, UnreadableTagError
from .conll import Part


@dataclass(frozen=True, eq=False)
class TaggedPart:
    """A part of a file whose tags may say that a token is missing (`-`) or blocked (`!`)."""

    part: Part
    scheme: Scheme

    @cached_property
    def pieces(self) -> Pieces:
        """The tags, cut where a token has none."""
        return Pieces.of(self.part.tags, self.scheme)

    def violations(self) -> Iterator[Violation]:
        """Every violation with file, line and token; its index counts the tokens of a sentence."""
        return self.part.located(validate_many(self.part.tags, self.scheme))

    def spans(self, policy: Policy, labelled: bool = False) -> SpanColumns:
        """The spans that the policy finds; where they must be `labelled`, one that is not raises.

        The violations are for the caller to refuse.
        """
        try:
            found = self.pieces.spans(policy)
        except UnreadableTagError as error:
            at = error.sentence, error.index
            message = self._shown(*at) + error.reason
            raise UnreadableTagError(message, error.tag, *at, error.reason) from error
        spans = self.pieces.in_whole(found)
        if labelled:
            self._require_labels(spans)
        return spans

    def _require_labels(self, spans: SpanColumns) -> None:
        """Raise for the first span without a label, which spaCy would drop without a word."""
        nameless = [number for number, label in enumerate(spans.labels) if not label]
        for row in np.flatnonzero(np.isin(spans.label, nameless))[:1].tolist():
            span, sentence = spans.row(row), int(spans.sentence[row])
            reason = (
                "an entity of a Doc needs a label. Give these spans one, or put them into a span "
                "group (convert --set output-spans-key), where they may go without."
            )
            place = self._shown(sentence, span.start)
            raise InexpressibleError(place + reason, [span], sentence, reason)

    def _shown(self, sentence: int, index: int) -> str:
        """A place in a message."""
        line, token = self.part.number(sentence, index), self.part.token(sentence, index)
        return f"{self.part.name}, line {line}, {token!r}: "
