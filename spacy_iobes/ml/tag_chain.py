"""Between strings and chains: the tags of a label set as states, gold spans as paths and limits.

A model scores classes. In most schemes there is one for each state; in be the score of a state is
that of what begins and that of what ends there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray

from ..arrays import Scores
from ..chain import Batch, Chain, Gradient, Layout, Limits, Spans
from ..codes.classes import Classes, classes
from ..codes.parse import read_spans
from ..codes.policy import get_policy
from ..codes.scheme import Scheme
from ..codes.silent import hushed
from ..codes.span_columns import SpanColumns
from ..codes.states import States, states
from ..codes.tag_columns import CodedTags
from ..codes.write import write_states
from ..errors import ChainError, ModelError, UnknownNameError
from ..span import Span
from .chain_scores import ChainScores


@dataclass(frozen=True, eq=False)
class TagChain:
    """The chain of a scheme over some labels: one state for each tag, silent ones too.

    C classes are what a model has outputs for; K states are what paths go through.
    """

    scheme: Scheme
    labels: tuple[str, ...]

    @cached_property
    def states(self) -> States:
        """The tags, and what may follow what."""
        return states(self.labels, self.scheme)

    @cached_property
    def layout(self) -> Layout:
        """Which states form spans."""
        return Layout(self.states.joins, self.states.label_of)

    @cached_property
    def classes(self) -> Classes:
        """What is chosen for each token, and what a state is made of."""
        return classes(self.labels, self.scheme)

    @cached_property
    def outputs(self) -> NDArray[np.int32]:
        """The class of each output of a model, `[C]`: label by label, so new labels come last."""
        every = self.classes
        if every.choices == 1:
            return np.arange(len(every.names), dtype=np.int32)
        return np.argsort(every.label_of, kind="stable").astype(np.int32)

    @cached_property
    def label_of(self) -> NDArray[np.int32]:
        """The label of each output, -1 if it has none."""
        found: NDArray[np.int32] = self.classes.label_of[self.outputs]
        return found

    @cached_property
    def of_state(self) -> NDArray[np.int32]:
        """The outputs that a state is made of, `[K, H]`: one for each choice."""
        place = np.argsort(self.outputs).astype(np.int32)
        found: NDArray[np.int32] = place[self.classes.of_state]
        return found

    @cached_property
    def choices(self) -> list[slice]:
        """The outputs of each choice."""
        return [slice(n, None, self.classes.choices) for n in range(self.classes.choices)]

    @cached_property
    def members(self) -> NDArray[np.float32]:
        """1 where a state has an output, `[K, C]`, else 0."""
        found = np.zeros((len(self), len(self.outputs)), dtype=np.float32)
        np.put_along_axis(found, self.of_state.astype(np.int64), 1.0, axis=1)
        return found

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {label: number for number, label in enumerate(self.labels)}

    def __len__(self) -> int:
        return len(self.states.tags)

    def chain(self, scores: ChainScores) -> Chain:
        """The learned steps, but only the legal ones."""
        legal, nothing = self.states.legal, -np.inf
        with advising():
            return Chain(
                np.where(legal.start, to_numpy(scores.start), nothing),
                np.where(legal.step, to_numpy(scores.step), nothing),
                np.where(legal.stop, to_numpy(scores.stop), nothing),
                self.layout,
            )

    @cached_property
    def even(self) -> Chain:
        """The chain that prefers no legal sequence to another."""
        legal = self.states.legal
        masks = (legal.start, legal.step, legal.stop)
        start, step, stop = (np.where(mask, 0.0, -np.inf) for mask in masks)
        return Chain(start, step, stop, self.layout)

    def batch(self, scores: ChainScores) -> Batch:
        """The scores of all states in all Docs."""
        return self.spread(self.heard(scores))

    def heard(self, scores: ChainScores) -> Batch:
        """The scores of all outputs in all Docs, as the model gives them."""
        with advising():
            return Batch.of(to_numpy(scores.emissions), scores.lengths)

    def spread(self, heard: Batch) -> Batch:
        """The scores of states: what their outputs sum to."""
        if self.classes.choices == 1:
            return heard
        parts = (np.take(heard.scores, some, axis=1) for some in self.of_state.T)
        return replace(heard, scores=reduce(np.add, parts))

    def folded(self, gradient: Gradient) -> Gradient:
        """The gradient of the scores of states as one of the scores of outputs."""
        if self.classes.choices == 1:
            return gradient
        members = self.members.astype(gradient.scores.dtype)
        folded: Scores = np.matmul(gradient.scores, members)
        return gradient._replace(scores=folded)

    def number(self, label: str) -> int:
        """The number of a label; an error names those that there are."""
        return number_of(label, self._numbers)

    def can_say(self, span: Span, others: Sequence[Span]) -> bool:
        """Whether there are tags for a span among others: its label, and where it touches."""
        if span.label not in self._numbers:
            return False
        touches = (
            o.end == span.start or o.start == span.end for o in others if o.label == span.label
        )
        return bool(self.scheme.split) or not any(touches)

    def columns(self, spans: Iterable[Iterable[Span]]) -> Spans:
        """Spans of several Docs, as the chain takes them."""
        return Spans.of(
            (number, span.start, span.end, self.number(span.label))
            for number, members in enumerate(spans)
            for span in members
        )

    def rows(self, spans: SpanColumns) -> Spans:
        """Return columns of spans of several Docs as the chain takes them."""
        numbers = np.array([self.number(label) for label in spans.labels], dtype=np.int64)
        label = numbers[spans.label] if len(numbers) else spans.label
        columns = (spans.sentence, spans.start, spans.end, label)
        return Spans(*(column.astype(np.int64) for column in columns))

    def path(
        self, spans: Sequence[Sequence[Span]] | SpanColumns, lengths: Sequence[int]
    ) -> NDArray[np.int32]:
        """The one path of each Doc that has exactly these spans, Doc after Doc."""
        columns = spans if isinstance(spans, SpanColumns) else SpanColumns.of(spans, lengths)
        offsets = np.cumsum([0, *lengths], dtype=np.int64)
        tags = write_states(columns, offsets, self.scheme)
        width = len(self.scheme.prefixes)
        first = [
            0,
            *(1 + width * self.number(label) + i for label in columns.labels for i in range(width)),
        ]
        found: NDArray[np.int32] = np.array(first, dtype=np.int32)[tags.codes]
        return found

    def known(
        self, batch: Batch, spans: Sequence[Sequence[Span]], outside: NDArray[np.int64]
    ) -> Batch:
        """The batch limited to paths that have these spans, and none at the tokens `outside`."""
        limits = Limits(self.layout, batch)
        limits.require(self.columns(spans))
        limits.outside(outside)
        return limits.applied()

    def spans(self, path: NDArray[np.int32], batch: Batch) -> SpanColumns:
        """The spans of a path for each Doc."""
        tags = CodedTags.trusted(path.astype(np.int32), batch.offsets, self.states.tags)
        return read_spans(hushed(tags, self.scheme), self.scheme, get_policy("raise"))


def number_of(label: str, numbers: Mapping[str, int]) -> int:
    """The number of a label; an error names those that there are."""
    if label not in numbers:
        known = ", ".join(numbers) or "none"
        raise UnknownNameError(
            f"The label {label!r} is not one of the component's. Known: {known}. "
            "Add it with add_label before training.",
            label,
            list(numbers),
        )
    return numbers[label]


@contextmanager
def advising() -> Iterator[None]:
    """Say what may have made scores that are no numbers."""
    try:
        yield
    except ChainError as error:
        raise ModelError(
            f"The model gives scores that cannot be used: {error} Training diverged (try a lower "
            "learning rate), or the encoder before it is damaged."
        ) from error


def to_numpy(array: object) -> NDArray[np.float32]:
    """An array of thinc, wherever it lives, as one of numpy."""
    if isinstance(array, np.ndarray):
        return array
    copied: NDArray[np.float32] = array.get()  # type: ignore[attr-defined]
    return copied
