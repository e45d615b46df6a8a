"""The spans of many sentences as columns, and the verbs that select, rename and regroup them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import index

import numpy as np

from ..arrays import Flags, Ints, Offsets, integers, sentence_bounds
from ..errors import SpanError, SpanRangeError
from ..span import Span

Rows = tuple[Ints, Ints, Ints, Ints]
Given = tuple[int, int, str]
"""A span as people write it: start, end, label."""


@dataclass(frozen=True, eq=False)
class SpanColumns:
    """The spans of many sentences, one row each, sorted by sentence and start.

    `label` holds numbers, `labels[label]` is the string. Iterating gives one list of `Span` for
    each sentence, `len()` the number of sentences, `total` the number of spans.
    """

    sentence: Ints
    start: Ints
    end: Ints
    label: Ints
    labels: tuple[str, ...]
    sentences: int

    def __post_init__(self) -> None:
        labels = tuple(self.labels)
        for name in ("sentence", "start", "end", "label"):
            column = integers(f"the column {name}", getattr(self, name), np.int32)
            self.__dict__[name] = column
            if len(column) != len(self.sentence):
                raise ValueError("All columns of spans have the same length.")
        if self.total and not 0 <= self.label.min() <= self.label.max() < len(labels):
            raise ValueError(f"Label numbers lie between 0 and {len(labels) - 1}.")
        if self.total and not 0 <= self.sentence.min() <= self.sentence.max() < self.sentences:
            raise ValueError(f"Sentence numbers lie between 0 and {self.sentences - 1}.")
        order = np.lexsort((self.start, self.sentence))
        if (np.diff(order) < 0).any():
            raise ValueError("Rows of spans are sorted by sentence, then by start.")
        self.__dict__["labels"] = labels

    @classmethod
    def trusted(
        cls, columns: Iterable[Ints], labels: tuple[str, ...], sentences: int
    ) -> SpanColumns:
        """What a kernel made, which needs no check."""
        spans = cls.__new__(cls)
        spans.__dict__.update(zip(("sentence", "start", "end", "label"), columns))
        for column in (spans.sentence, spans.start, spans.end, spans.label):
            column.setflags(write=False)
        spans.__dict__.update(labels=labels, sentences=sentences)
        return spans

    @classmethod
    def of(cls, spans: Sequence[Iterable[Given]], lengths: Sequence[int]) -> SpanColumns:
        """Return the spans of sentences of these lengths, given in any order, as columns."""
        labels: dict[str, int] = {}
        rows: list[tuple[int, int, int, int]] = []
        for sentence, (members, length) in enumerate(zip(spans, lengths)):
            checked = [checked_span(span, length, sentence, len(spans)) for span in members]
            for start, end, label in sorted(checked):
                rows.append((sentence, start, end, labels.setdefault(label, len(labels))))
        columns = np.array(rows, dtype=np.int32).reshape(-1, 4).T
        return cls.trusted(map(np.ascontiguousarray, columns), tuple(labels), len(spans))

    @property
    def total(self) -> int:
        """How many spans there are."""
        return len(self.sentence)

    @property
    def rows(self) -> Rows:
        """The four columns: sentence, start, end, label."""
        return self.sentence, self.start, self.end, self.label

    def __len__(self) -> int:
        return self.sentences

    def row(self, number: int) -> Span:
        """One row as a span."""
        at = range(self.total)[number]
        return self.spans(slice(at, at + 1))[0]

    def spans(self, rows: slice = slice(None)) -> list[Span]:
        """Some rows, or all of them, as one list of spans."""
        labels = map(self.labels.__getitem__, self.label[rows].tolist())
        return list(map(Span, self.start[rows].tolist(), self.end[rows].tolist(), labels))

    def __iter__(self) -> Iterator[list[Span]]:
        spans = self.spans(slice(None))
        bounds = sentence_bounds(self.sentence, self.sentences)
        return (spans[a:b] for a, b in pairwise(bounds))

    def __getitem__(self, sentence: int) -> list[Span]:
        number = range(self.sentences)[sentence]
        a, b = (self.sentence.searchsorted(s) for s in (number, number + 1))
        return self.spans(slice(int(a), int(b)))

    def where(self, chosen: Flags | Ints | Offsets | slice) -> SpanColumns:
        """Return some of the rows: a flag for each, or their numbers in order."""
        return SpanColumns.trusted((c[chosen] for c in self.rows), self.labels, self.sentences)

    def cut(self, begin: int, end: int) -> SpanColumns:
        """Return the spans of the sentences from `begin` to `end`, which are counted from 0."""
        first, last = np.searchsorted(self.sentence, [begin, end])
        sentence, *others = (column[first:last] for column in self.rows)
        return SpanColumns.trusted((sentence - np.int32(begin), *others), self.labels, end - begin)

    def numbered(self, labels: Sequence[str]) -> SpanColumns:
        """Return the spans with their labels numbered as in `labels`, which has all of them."""
        labels = tuple(labels)
        if labels == self.labels:
            return self
        places = {label: number for number, label in enumerate(labels)}
        number = np.array([places.get(label, -1) for label in self.labels], dtype=np.int32)
        label = number[self.label] if len(number) else self.label
        return SpanColumns.trusted((*self.rows[:3], label), labels, self.sentences)

    def relabelled(self, new: Sequence[str | None]) -> SpanColumns:
        """Return the spans under new labels, one for each of `labels`; None drops its spans."""
        labels = tuple(dict.fromkeys(label for label in new if label is not None))
        number = np.array([-1 if x is None else labels.index(x) for x in new], dtype=np.int32)
        label = number[self.label] if len(number) else self.label
        renamed = SpanColumns.trusted((*self.rows[:3], label), labels, self.sentences)
        return renamed if None not in new else renamed.where(label >= 0)

    def with_labels(self, wanted: Collection[str]) -> SpanColumns:
        """Return the spans that have one of these labels."""
        return self.relabelled([label if label in wanted else None for label in self.labels])

    def with_spans(self, more: Sequence[tuple[int, Given]]) -> SpanColumns:
        """Return these and other spans, which are given with their sentences, in order."""
        labels = tuple(dict.fromkeys([*self.labels, *(label for _, (_, _, label) in more)]))
        rows = [(n, start, end, labels.index(label)) for n, (start, end, label) in more]
        new = np.array(rows, dtype=np.int32).reshape(-1, 4).T
        columns = [np.concatenate(pair) for pair in zip(self.numbered(labels).rows, new)]
        order = np.lexsort((columns[2], columns[1], columns[0]))
        return SpanColumns.trusted((column[order] for column in columns), labels, len(self))

    def regrouped(self, old: Offsets, new: Offsets) -> SpanColumns:
        """Return the spans of the same tokens in other sentences.

        Sentence `s` had the tokens `old[s]:old[s + 1]` and has `new[s]:new[s + 1]` now. A span
        belongs to the sentence that it begins in.
        """
        if old is new or np.array_equal(old, new):
            return self
        base = old[self.sentence]
        sentence = np.searchsorted(new, base + self.start, side="right") - 1
        shift = base - new[sentence]
        columns = (sentence, self.start + shift, self.end + shift)
        found = (column.astype(np.int32) for column in columns)
        return SpanColumns.trusted((*found, self.label), self.labels, len(new) - 1)

    @property
    def disjoint(self) -> bool:
        """Whether no two spans share a token."""
        base = self.sentence.astype(np.int64) << 32
        furthest = np.maximum.accumulate(base + self.end)
        return not (base[1:] + self.start[1:] < furthest[:-1]).any()

    def sharing(self) -> tuple[Flags, Flags]:
        """Return which spans lie inside another one or have its boundaries, and which share tokens.

        A span inside another one shares its tokens, too.
        """
        base = self.sentence.astype(np.int64) << 32
        order = np.lexsort((-self.end, self.start, self.sentence))
        start, end = (base + self.start)[order], (base + self.end)[order]
        before = np.maximum.accumulate(end)[:-1]
        inside, shares = np.zeros((2, self.total), dtype=bool)
        inside[order[1:]] = before >= end[1:]
        equal = (start[1:] == start[:-1]) & (end[1:] == end[:-1])
        inside[order[:-1][equal]] = True
        shares[order[1:]] = before > start[1:]
        shares[order[:-1][start[1:] < end[:-1]]] = True
        return inside, shares

    def in_layers(self, innermost: bool = False) -> list[SpanColumns]:
        """Return the spans in as few layers as it takes for no two of a layer to share a token.

        The longest of a sentence choose first, each the first layer that has room, so that the
        first layer has the outermost spans; with `innermost` the shortest choose first.
        """
        layer = np.zeros(self.total, dtype=np.int64)
        crowded = np.flatnonzero(np.bincount(self.sentence, minlength=1) > 1)
        bounds = np.searchsorted(self.sentence, [crowded, crowded + 1]).T.tolist()
        start, end = self.start.tolist(), self.end.tolist()
        for first, last in bounds:
            rows = range(first, last)
            if all(end[row] <= start[row + 1] for row in rows[:-1]):
                continue
            taken = list[set[int]]()
            for row in sorted(rows, key=lambda row: end[row] - start[row], reverse=not innermost):
                tokens = range(start[row], end[row])
                free = (n for n, used in enumerate(taken) if used.isdisjoint(tokens))
                number = next(free, len(taken))
                taken[number:number] = [set()] if number == len(taken) else []
                taken[number].update(tokens)
                layer[row] = number
        return [self.where(layer == number) for number in range(int(layer.max(initial=0)) + 1)]

    @classmethod
    def merged(cls, several: Sequence[SpanColumns]) -> SpanColumns:
        """Return the spans of several columns of the same sentences, each span once."""
        if len(several) == 1:
            return several[0]
        labels = tuple(sorted({label for spans in several for label in spans.labels}))
        parts = [np.stack(spans.numbered(labels).rows) for spans in several]
        rows = np.concatenate(parts, axis=1)
        rows = rows[:, np.lexsort(rows[::-1])]
        new = np.append(True, (np.diff(rows) != 0).any(axis=0))[: rows.shape[1]]
        columns = map(np.ascontiguousarray, rows[:, new])
        return cls.trusted(columns, labels, several[0].sentences)

    @classmethod
    def joined(cls, several: Sequence[SpanColumns]) -> SpanColumns:
        """Return the spans of several columns whose sentences follow each other."""
        if len(several) == 1:
            return several[0]
        labels = tuple(dict.fromkeys(label for spans in several for label in spans.labels))
        before = np.cumsum([0, *(spans.sentences for spans in several)])
        parts = [spans.numbered(labels).rows for spans in several]
        sentence = [rows[0] + np.int32(first) for rows, first in zip(parts, before.tolist())]
        columns = [np.concatenate(sentence or [np.zeros(0, np.int32)])]
        columns += [
            np.concatenate([rows[i] for rows in parts] or [np.zeros(0, np.int32)])
            for i in (1, 2, 3)
        ]
        return cls.trusted(columns, labels, int(before[-1]))


def checked_span(span: Given, length: int, sentence: int, sentences: int) -> Span:
    """The span, if it is one of a sentence of that length."""
    start, end, label = span
    if not isinstance(label, str):
        raise TypeError(f"A label is a str, not {label!r}.")
    found = Span(index(start), index(end), label)
    if not 0 <= found.start < found.end <= length:
        reason = f"{tuple(found)} is no span of {length} tokens: 0 <= start < end <= {length}."
        raise span_error(SpanRangeError, sentences, sentence, reason, found)
    return found


def span_error(
    kind: type[SpanError], sentences: int, sentence: int, reason: str, *wrong: Span
) -> SpanError:
    """The error of that kind, which says the sentence where there are several."""
    place = f"Sentence {sentence}: " if sentences > 1 else ""
    return kind(place + reason, wrong, sentence, reason)
