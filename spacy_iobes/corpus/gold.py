"""What the references of examples say about the tokens of the predicted Docs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal

import numpy as np
from spacy.attrs import IS_SPACE
from spacy.tokens import Doc
from spacy.training import Example

from ..codes.known import KnownColumns, KnownSentence, columns_known
from ..codes.policy import get_policy
from ..codes.span_columns import SpanColumns
from ..errors import AlignmentError, SpanError
from ..span import Span
from .examples import character_bounds, same_tokens
from .sources import offsets_of, shown
from .tagged import TaggedDocs, sentence_starts

Misaligned = Literal["raise", "missing"]
ADVICE = (
    "Gold is taken as it is: repair it first, for example with the component iobes_repairer "
    '(scheme = "bio", source = "ents", and a policy).'
)


def gold_of(
    examples: Sequence[Example], misaligned: Misaligned = "raise", sentence_bound: bool = False
) -> KnownColumns:
    """The entities of the references as spans of the predicted Docs; blocked tokens are outside.

    An entity that no recogniser could find is refused, or its tokens are missing: one whose
    boundaries are not those of tokens of the predicted Doc, or are white space, or that leaves its
    sentence.
    """
    docs = [example.predicted for example in examples]
    tagged = TaggedDocs.entities([example.reference for example in examples], ADVICE)
    spans = tagged.spans(get_policy("raise"))
    missing: list[list[int]] = [[]] * len(examples)
    if tagged.pieces.missing.any():
        missing = [tagged.pieces.absent(number)[0] for number in range(len(examples))]
    alike = [same_tokens(example.reference, example.predicted) for example in examples]
    if all(alike) and all_findable(spans, docs, sentence_bound):
        return KnownColumns(spans, missing)
    found = []
    for example, same, gold in zip(examples, alike, KnownColumns(spans, missing)):
        if not same:
            gold = Projection(example.reference, example.predicted, misaligned).known(gold)
        found.append(findable(gold, example.predicted, misaligned, sentence_bound))
    return columns_known(found, list(map(len, docs)))


def all_findable(spans: SpanColumns, docs: Sequence[Doc], sentence_bound: bool) -> bool:
    """Whether no span of these Docs begins or ends with white space, or leaves a sentence."""
    if not spans.total:
        return True
    offsets = offsets_of(docs)
    begin = offsets[spans.sentence]
    first, last = begin + spans.start, begin + spans.end - 1
    space = np.concatenate([doc.to_array(IS_SPACE) for doc in docs])
    if space[first].any() or space[last].any():
        return False
    if not sentence_bound:
        return True
    sentence = np.cumsum(sentence_starts(docs, offsets))
    return bool((sentence[first] == sentence[last]).all())


def findable(
    known: KnownSentence, doc: Doc, misaligned: Misaligned, sentence_bound: bool
) -> KnownSentence:
    """What is known, without entities that begin or end with white space, or leave a sentence."""
    space = doc.to_array(IS_SPACE).astype(bool)
    starts = (
        sentence_starts([doc], offsets_of([doc])) if sentence_bound else np.zeros(0, dtype=bool)
    )
    if not (space.any() or starts.any()):
        return known
    spans, missing = [], set(known.missing)
    blanks, sentence = space.tolist(), np.cumsum(starts).tolist() or [0] * len(space)
    for span in known.spans:
        blank = blanks[span.start] or blanks[span.end - 1]
        if not blank and sentence[span.start] == sentence[span.end - 1]:
            spans.append(span)
        elif misaligned == "missing":
            missing.update(range(span.start, span.end))
        else:
            reason, more = "begins or ends with white space", ""
            if not blank:
                reason, more = "leaves its sentence", ", let it (sentence_bound = false)"
            raise AlignmentError(
                f"{shown(doc)}: the entity {doc[span.start : span.end].text!r} ({span.label}) "
                f"{reason}. Correct the annotation{more}, or let such tokens be unknown with "
                'misaligned = "missing".'
            )
    return KnownSentence(spans, sorted(missing))


class Projection:
    """From the tokens of a reference to those of another Doc of the same text."""

    def __init__(self, reference: Doc, predicted: Doc, misaligned: Misaligned):
        self.reference, self.predicted, self.misaligned = reference, predicted, misaligned
        self.theirs, self.ours = character_bounds(reference), character_bounds(predicted)
        if self.theirs[-1] != self.ours[-1]:
            raise AlignmentError(
                f"{shown(predicted)} is predicted for {shown(reference)}, which has another text: "
                "an example holds two Docs of one text."
            )

    def known(self, gold: KnownSentence) -> KnownSentence:
        """The same knowledge about the other tokens."""
        spans, missing = [], {i for run in runs(gold.missing) for i in self._touched(*run)}
        for span in gold.spans:
            tokens = self._touched(span.start, span.end)
            ends = self.ours[tokens.start], self.ours[tokens.stop] if tokens else -1
            if ends == (self.theirs[span.start], self.theirs[span.end]):
                spans.append(Span(tokens.start, tokens.stop, span.label))
            elif self.misaligned == "raise":
                raise AlignmentError(self._complaint(span, tokens))
            else:
                missing.update(tokens)
        return KnownSentence(spans, sorted(missing))

    def _touched(self, start: int, end: int) -> range:
        """The tokens that share a character with some tokens of the reference."""
        begin, stop = self.theirs[start], self.theirs[end]
        if begin == stop:
            return range(0)
        return range(bisect_right(self.ours, begin) - 1, bisect_left(self.ours, stop))

    def _complaint(self, span: Span, tokens: range) -> str:
        entity = self.reference[span.start : span.end].text
        inside = [self.predicted[i].text for i in tokens]
        return (
            f"{shown(self.reference)}: the entity {entity!r} ({span.label}) does not begin and end "
            f"with tokens of the predicted Doc, which are {inside}. Correct the annotation or the "
            'tokenizer, or let such tokens be unknown with misaligned = "missing".'
        )


def runs(tokens: Sequence[int]) -> list[tuple[int, int]]:
    """Tokens in order as ranges of neighbours, so that what lies between two belongs to them."""
    found: list[tuple[int, int]] = []
    for token in tokens:
        begin = found.pop()[0] if found and found[-1][1] == token else token
        found.append((begin, token + 1))
    return found


def wrong_spans(reference: Doc, key: str) -> list[Span]:
    """The spans of a reference that are known to be wrong, `reference.spans[key]`."""
    spans = [Span(span.start, span.end, span.label_) for span in reference.spans.get(key, ())]
    for span in spans:
        if not span.label:
            raise SpanError(
                f"{shown(reference)}: {reference[span.start : span.end].text!r} in spans[{key!r}] "
                "has no label: say which label is wrong there, with a span for each.",
                [span],
            )
    return spans


def rejected_of(
    examples: Sequence[Example], key: str, misaligned: Misaligned = "raise"
) -> list[list[Span]]:
    """The spans known to be wrong, `reference.spans[key]`, as spans of the predicted Docs."""
    found = []
    for example in examples:
        spans = wrong_spans(example.reference, key)
        if spans and not same_tokens(example.reference, example.predicted):
            projection = Projection(example.reference, example.predicted, misaligned)
            spans = projection.known(KnownSentence(spans, [])).spans
        found.append(spans)
    return found
