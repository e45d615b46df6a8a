"""Docs of two files of the same tokens side by side, whatever each file takes for a Doc."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from spacy.tokens import Doc
from spacy.tokens import Span as DocSpan

from ..errors import AlignmentError
from .doc_mentions import missing_of
from .gold import runs
from .nested_corpus import NestedDoc

UNKNOWN = "iobes_unknown"
"""A span group of joined Docs: the tokens that are not annotated."""


def joined(docs: Sequence[Doc], key: str) -> Doc:
    """Docs in a row as one, in which each of them, or each of its sentences, is a sentence."""
    words, spaces, starts = list[str](), list[bool](), list[bool | int | None]()
    rows, unknown = list[tuple[int, int, str]](), list[tuple[int, int]]()
    for doc in docs:
        at = len(words)
        words += (token.text for token in doc)
        spaces += (bool(token.whitespace_) for token in doc)
        known = doc.has_annotation("SENT_START")
        starts += (not token.i or (known and bool(token.is_sent_start)) for token in doc)
        rows += ((span.start + at, span.end + at, span.label_) for span in doc.spans.get(key, ()))
        unknown += ((at + begin, at + end) for begin, end in runs(missing_of(doc, key)))
    apart = all(doc.has_unknown_spaces for doc in docs)
    whole = Doc(docs[0].vocab, words=words, spaces=None if apart else spaces, sent_starts=starts)
    if any(key in doc.spans for doc in docs):
        whole.spans[key] = [DocSpan(whole, *row) for row in rows]
    if unknown:
        whole.spans[UNKNOWN] = [DocSpan(whole, start, end) for start, end in unknown]
    return whole


class _Side:
    """One of the two files: Docs that wait for their tokens on the other side."""

    def __init__(self, docs: Iterable[NestedDoc]):
        self.docs = iter(docs)
        self.held: list[NestedDoc] = []
        self.words: list[str] = []
        self.read = 0

    def take(self) -> bool:
        """Hold one more Doc; False if there is none."""
        made = next(self.docs, None)
        if made is None:
            return False
        self.held.append(made)
        self.words += (token.text for token in made.doc)
        self.read += 1
        return True

    def give(self, key: str) -> NestedDoc:
        """What is held as one Doc."""
        held, self.held, self.words = self.held, [], []
        if len(held) == 1:
            return held[0]
        lines = [line for made in held for line in made.lines]
        return NestedDoc(joined([made.doc for made in held], key), lines=lines)


def side_by_side(
    gold: Iterable[NestedDoc], predicted: Iterable[NestedDoc], key: str, name: str
) -> Iterator[tuple[NestedDoc, NestedDoc]]:
    """Pairs of Docs with the same tokens: as few Docs of each file joined as that takes.

    Where tokens differ, or one file ends before the other, an error says where in the prediction,
    whose `name` is given.
    """
    sides = first, second = _Side(gold), _Side(predicted)
    compared = 0
    while True:
        shorter, longer = sorted(sides, key=lambda side: (len(side.words), len(side.held)))
        if not shorter.take():
            while not longer.words and longer.take():
                pass  # what is left may be Docs without tokens
            if not longer.words:
                return
            if not shorter.held:
                side = "gold" if shorter is first else "prediction"
                raise AlignmentError(f"{name}: the {side} ends after {shorter.read:,} Docs.")
            raise _differing(first, second, len(shorter.words), name)
        both = min(len(side.words) for side in sides)
        for at in range(compared, both):
            if first.words[at] != second.words[at]:
                raise _differing(first, second, at, name)
        compared = both
        if len(first.words) == len(second.words) and first.held and second.held:
            yield first.give(key), second.give(key)
            compared = 0


def _differing(gold: _Side, predicted: _Side, at: int, name: str) -> AlignmentError:
    """The error for tokens that are not the same; it counts those of the Doc of the prediction."""
    a, b = (
        repr(side.words[at]) if at < len(side.words) else "nothing" for side in (gold, predicted)
    )
    number = predicted.read - len(predicted.held)
    for made in predicted.held[:-1]:
        if at < len(made.doc):
            break
        at -= len(made.doc)
        number += 1
    message = f"token {at} is {a} in the gold file but {b} in the prediction"
    return AlignmentError(f"{name}, Doc {number}: {message}.")
