"""What is known of sentences that may be annotated only in part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Offsets
from ..span import Span
from .span_columns import SpanColumns


class KnownSentence(NamedTuple):
    """The spans of a sentence, and the tokens of which nothing is known; all others are in none."""

    spans: list[Span]
    missing: list[int]


@dataclass(frozen=True, eq=False)
class KnownColumns(Sequence[KnownSentence]):
    """What is known of many sentences: their spans as columns, and the missing tokens of each."""

    spans: SpanColumns
    missing: Sequence[list[int]]

    def __len__(self) -> int:
        return len(self.spans)

    @overload
    def __getitem__(self, which: int) -> KnownSentence: ...

    @overload
    def __getitem__(self, which: slice) -> list[KnownSentence]: ...

    def __getitem__(self, which: int | slice) -> KnownSentence | list[KnownSentence]:
        if isinstance(which, slice):
            return [self[number] for number in range(len(self))[which]]
        return KnownSentence(self.spans[which], self.missing[which])

    @property
    def partial(self) -> bool:
        """Whether nothing is known of some tokens."""
        return any(self.missing)


@dataclass(frozen=True, eq=False)
class Known:
    """What an annotation says of the tokens of some sentences, all of them end to end.

    `spans` may overlap. Nothing is known of the tokens that are `missing`; of those in
    `missing_for[label]`, nothing about spans of that label. No span may cover `blocked` tokens, and
    `wrong` spans are known not to be there. None stands for no token and no span. A policy has
    repaired so many `violations`. Where tags come in several `layers`, these are their spans. A
    model may say how probable each span is; NaN where it does not.
    """

    spans: SpanColumns
    missing: Flags | None = None
    missing_for: Mapping[str, Flags] = field(default_factory=dict)
    blocked: Flags | None = None
    wrong: SpanColumns | None = None
    violations: int = 0
    layers: tuple[SpanColumns, ...] = ()
    probability: Floats | None = None

    def judged_by(self, gold: Known, offsets: Offsets) -> SpanColumns:
        """Return the spans that gold can judge, where these are predictions.

        A span that covers a token that is missing in gold is neither right nor wrong, and is left
        out, unless it equals a gold span. Sentence `s` has the tokens `offsets[s]:offsets[s + 1]`.
        """
        return judged(self.spans, gold.spans, gold.missing, offsets, gold.missing_for)

    @property
    def repeated(self) -> SpanColumns | None:
        """The spans that are in more than one layer; None if there are none."""
        if sum(layer.total for layer in self.layers) <= self.spans.total:
            return None
        labels = tuple(sorted({label for layer in self.layers for label in layer.labels}))
        rows = [np.stack(layer.numbered(labels).rows) for layer in self.layers]
        every = np.concatenate(rows, axis=1)
        every = every[:, np.lexsort(every[::-1])]
        again = np.flatnonzero((np.diff(every) == 0).all(axis=0)) + 1
        return SpanColumns.trusted(every[:, again].copy(), labels, len(self.spans))

    def kept(self, tokens: Flags, old: Offsets, new: Offsets) -> Known:
        """Return what is known of some of the tokens, which have other offsets then."""
        before = np.concatenate([[0], np.cumsum(tokens)])
        return self.renumbered(before, old, new, lambda flags: flags[tokens])

    def renumbered(
        self, before: Offsets, old: Offsets, new: Offsets, of_flags: Callable[[Flags], Flags]
    ) -> Known:
        """Return the same where token `t` begins at `before[t]`, in sentences with new offsets."""

        def moved(spans: SpanColumns) -> SpanColumns:
            base, shift = old[spans.sentence], new[spans.sentence]
            ends = (before[base + side] - shift for side in (spans.start, spans.end))
            columns = (spans.sentence, *(end.astype(np.int32) for end in ends), spans.label)
            return SpanColumns.trusted(columns, spans.labels, len(spans))

        return self.changed(moved, of_flags)

    def regrouped(self, old: Offsets, new: Offsets) -> Known:
        """Return the same of the same tokens in other sentences."""
        return self.changed(lambda spans: spans.regrouped(old, new), lambda flags: flags)

    def cut(self, sentences: tuple[int, int], tokens: tuple[int, int]) -> Known:
        """Return what is known of neighbouring sentences, given their tokens."""
        rows = slice(*tokens)
        known = self.changed(lambda spans: spans.cut(*sentences), lambda flags: flags[rows])
        if self.probability is None:
            return known
        mine = slice(*np.searchsorted(self.spans.sentence, sentences).tolist())
        return replace(known, probability=self.probability[mine])

    @classmethod
    def joined(cls, several: Sequence[Known], lengths: Sequence[int]) -> Known:
        """Return what is known of sentences that follow each other, given their tokens."""
        if len(several) == 1:
            return several[0]

        def flags(some: Sequence[Flags | None]) -> Flags | None:
            if all(each is None for each in some):
                return None
            parts = zip(some, lengths)
            return np.concatenate([np.zeros(n, bool) if f is None else f for f, n in parts])

        def spans(some: Sequence[SpanColumns | None]) -> SpanColumns | None:
            if all(each is None for each in some):
                return None
            none = np.zeros(0, dtype=np.int32)
            counts = [len(known.spans) for known in several]
            empty = [SpanColumns.trusted([none] * 4, (), count) for count in counts]
            return SpanColumns.joined(
                [other if each is None else each for each, other in zip(some, empty)]
            )

        labels = dict.fromkeys(label for known in several for label in known.missing_for)
        holes = {x: flags([known.missing_for.get(x) for known in several]) for x in labels}
        return cls(
            SpanColumns.joined([known.spans for known in several]),
            flags([known.missing for known in several]),
            {label: found for label, found in holes.items() if found is not None},
            flags([known.blocked for known in several]),
            spans([known.wrong for known in several]),
            sum(known.violations for known in several),
            tuple(map(SpanColumns.joined, zip(*(known.layers for known in several)))),
            _joined_probability(several),
        )

    def changed(
        self, of_spans: Callable[[SpanColumns], SpanColumns], of_flags: Callable[[Flags], Flags]
    ) -> Known:
        """Return the same with other columns of spans and other flags.

        If there are fewer spans then, nobody knows how probable they are.
        """
        absent = (self.missing, self.blocked)
        missing, blocked = (None if flags is None else of_flags(flags) for flags in absent)
        spans = of_spans(self.spans)
        return replace(
            self,
            spans=spans,
            probability=self.probability if spans.total == self.spans.total else None,
            missing=missing,
            missing_for={label: of_flags(flags) for label, flags in self.missing_for.items()},
            blocked=blocked,
            wrong=None if self.wrong is None else of_spans(self.wrong),
            layers=tuple(map(of_spans, self.layers)),
        )


def _joined_probability(several: Sequence[Known]) -> Floats | None:
    """Return the probabilities of all spans; None if those of some are not known."""
    found = [known.probability for known in several]
    return (
        None
        if any(x is None for x in found)
        else np.concatenate([x for x in found if x is not None])
    )


def judged(
    predicted: SpanColumns,
    gold: SpanColumns,
    missing: Flags | None,
    offsets: Offsets,
    missing_for: Mapping[str, Flags] = MappingProxyType({}),
) -> SpanColumns:
    """Return the predicted spans that gold can judge; `Known.judged_by` states the rule."""
    unsure = np.zeros(predicted.total, dtype=bool)
    if missing is not None:
        unsure |= _covering(predicted, missing, offsets)
    for label, holes in missing_for.items():
        if label in predicted.labels:
            mine = predicted.label == predicted.labels.index(label)
            unsure |= mine & _covering(predicted, holes, offsets)
    if not unsure.any():
        return predicted
    true = set(zip(gold.sentence.tolist(), gold.spans()))
    kept = ~unsure
    for row in np.flatnonzero(unsure).tolist():
        kept[row] = (int(predicted.sentence[row]), predicted.row(row)) in true
    return predicted.where(kept)


def _covering(spans: SpanColumns, tokens: Flags, offsets: Offsets) -> Flags:
    """Return which spans cover one of these tokens."""
    before = np.concatenate([[0], np.cumsum(tokens)])
    begin = offsets[spans.sentence]
    found: Flags = before[begin + spans.end] > before[begin + spans.start]
    return found


def flags_of(tokens: Sequence[Sequence[int]], offsets: Offsets) -> NDArray[np.bool_]:
    """Return for every token, all sentences end to end, whether its sentence lists it."""
    flags = np.zeros(int(offsets[-1]), dtype=bool)
    for begin, some in zip(offsets.tolist(), tokens):
        flags[[begin + token for token in some]] = True
    return flags


def columns_known(gold: Sequence[KnownSentence], lengths: Sequence[int]) -> KnownColumns:
    """The same in columns, of sentences of these lengths."""

    if isinstance(gold, KnownColumns):
        return gold
    return KnownColumns(
        SpanColumns.of([known.spans for known in gold], lengths), [known.missing for known in gold]
    )
