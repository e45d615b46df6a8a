"""Score files with nested mentions: two of them, with the same tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from ..corpus.mentions import missing_of
from ..corpus.nested_corpus import NestedDoc
from ..corpus.nested_joined import UNKNOWN, side_by_side
from ..corpus.nested_pairs import NestedPair
from ..span import Span
from .counts import count
from .files import FileReport, Located, Sentence
from .matching import Kept, match, nested_columns
from .mistakes import mistakes
from .nested import NestedCounts
from .signature import Signature


@dataclass
class _Place:
    """Where a sentence is: its tokens, and the lines of these in both files (0 if unknown)."""

    tokens: tuple[str, ...]
    gold_lines: list[int]
    predicted_lines: list[int]


@dataclass
class NestedScorer:
    """Scores Docs of two files; at most `locate` mistakes are kept with their sentences."""

    signature: Signature
    key: str = "sc"
    locate: int = 0
    gold: list[list[Span]] = field(default_factory=list)
    predicted: list[list[Span]] = field(default_factory=list)
    places: list[_Place] = field(default_factory=list)
    tokens: int = 0
    missing: int = 0
    untagged: int = 0

    def add(self, gold: Iterable[NestedDoc], predicted: Iterable[NestedDoc], name: str) -> None:
        """Add the Docs of two files, which must have the same tokens, in Docs of any size."""
        for pair in side_by_side(gold, predicted, self.key, name):
            self._add(*pair)

    def _add(self, gold: NestedDoc, predicted: NestedDoc) -> None:
        words = [token.text for token in gold.doc]
        pair = NestedPair(gold.doc, predicted.doc, self.key, UNKNOWN)
        bounds = [*pair.starts, max(len(words), pair.starts[-1])]
        for number, (begin, end) in enumerate(pairwise(bounds)):
            self.gold.append(list(_moved(pair.gold[number], begin)))
            self.predicted.append(list(_moved(pair.predicted[number], begin)))
            if self.locate:
                lines = [list(made.lines[begin:end]) for made in (gold, predicted)]
                stop = max([end, *(s.end for s in pair.gold[number] + pair.predicted[number])])
                self.places.append(_Place(tuple(words[begin:stop]), *lines))
        self.tokens += len(words)
        self.missing += len(pair.missing)
        self.untagged += len(missing_of(predicted.doc, self.key, UNKNOWN))

    def report(self) -> FileReport:
        """The score of all that was added."""
        matched = match(nested_columns(self.gold), nested_columns(self.predicted))
        sizes = {"tokens": self.tokens, "missing": self.missing, "untagged": self.untagged}
        counts = count(matched, **sizes, right_tokens=None, tagged=None)
        counts.require_annotation()
        located = tuple(self._located()) if self.locate else ()
        return FileReport(
            self.signature,
            counts,
            (Kept.of(matched),),
            nested=NestedCounts.of(matched),
            located=located,
        )

    def _located(self) -> Iterator[Located]:
        matched = match(nested_columns(self.gold), nested_columns(self.predicted))
        sentence = Sentence(-1, (), (), ())
        for mistake in mistakes(matched, 0, self.locate):
            number = mistake.sentence
            place = self.places[number]
            if number != sentence.number:
                spans = tuple(matched.gold[number]), tuple(matched.predicted[number])
                sentence = Sentence(number, place.tokens, *spans)
            start = (mistake.gold or mistake.predicted or (0,))[0]
            lines = (_line(some, start) for some in (place.gold_lines, place.predicted_lines))
            yield Located(mistake, sentence, *lines)


def _moved(spans: Iterable[Span], begin: int) -> Iterator[Span]:
    return (Span(start - begin, end - begin, label) for start, end, label in spans)


def _line(lines: list[int], token: int) -> int:
    return lines[token] if token < len(lines) else 0
