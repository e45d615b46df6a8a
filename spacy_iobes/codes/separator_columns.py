"""The separators of many sentences and labels as one array, and the verbs on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..arrays import Offsets
from ..errors import DuplicateSpanError, SeparatorError
from ..kernels.separators_numpy import END, GO_ON, START
from ..span import Span
from .readings import DEFAULT_READING, Mention, Reading, Segment, get_reading
from .separators import Separator, illegal_text
from .span_columns import SpanColumns, span_error
from .tag_columns import listed
from .write import require_in_range, sized


@dataclass(frozen=True, eq=False)
class SeparatorColumns:
    """`gaps[G, L]`: one row for each gap, one column for each label, the bits of `Separator`.

    Sentence `s` has the rows `offsets[s]:offsets[s + 1]`, one more than it has tokens. Iterating
    gives a dict for each sentence: the separators of every label, those without a mention too.
    """

    gaps: NDArray[np.uint8]
    offsets: Offsets
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        gaps, offsets = np.asarray(self.gaps), np.asarray(self.offsets, dtype=np.int64)
        labels = tuple(listed("labels", self.labels))
        if gaps.ndim != 2 or gaps.shape[1] != len(labels):
            raise ValueError(f"gaps are (gaps, {len(labels)} labels), not {gaps.shape}.")
        if gaps.dtype.kind not in "iu" or (gaps.size and not 0 <= gaps.min() <= gaps.max() < 8):
            raise ValueError("Separators are integers from 0 to 7.")
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != len(gaps):
            raise ValueError(f"Offsets rise from 0 to the number of gaps, which is {len(gaps)}.")
        if (np.diff(offsets) < 1).any():
            raise ValueError("Every sentence has one gap more than it has tokens, so at least one.")
        self.__dict__.update(gaps=gaps.astype(np.uint8), offsets=offsets, labels=labels)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[dict[str, list[Separator]]]:
        for a, b in pairwise(self.offsets.tolist()):
            columns = self.gaps[a:b].T.tolist()
            yield {name: list(map(Separator, row)) for name, row in zip(self.labels, columns)}

    @property
    def lengths(self) -> Offsets:
        """How many tokens each sentence has."""
        return np.diff(self.offsets) - 1

    def require_legal(self) -> None:
        """Raise for the first separator that does not fit the one before it, or the edge."""
        in_before, in_behind = self.gaps & (END | GO_ON) > 0, self.gaps & (START | GO_ON) > 0
        last = self.offsets[1:] - 1
        said = np.zeros_like(in_behind)  # what the gap before says of the token between the two
        said[1:] = in_behind[:-1]
        said[self.offsets[:-1]] = False
        wrong = in_before != said
        wrong[last] |= in_behind[last]
        for label, row in np.argwhere(wrong.T)[:1].tolist():
            sentence = int(np.searchsorted(self.offsets, row, side="right")) - 1
            first, end = self.offsets[sentence : sentence + 2].tolist()
            reason = illegal_text(self.gaps[first:end, label].tolist(), row - first)
            name = self.labels[label]
            place = f"Sentence {sentence}, label {name!r}, "
            raise SeparatorError(place + reason, sentence, name, row - first)

    def busy(self) -> Iterator[tuple[int, Segment]]:
        """The segments with starts or ends within them, and the number of each.

        Their gaps are counted through all rows of a label, label after label (see `_edges`).
        """
        flat = self.gaps.T.ravel()
        opened, closed = self._edges()
        inner = np.flatnonzero((flat & GO_ON > 0) & (flat & (START | END) > 0))
        numbers = np.searchsorted(opened, inner, side="right") - 1
        found, first = np.unique(numbers, return_index=True)
        for number, gaps in zip(found.tolist(), np.split(inner, first[1:])):
            kinds = flat[gaps]
            starts, ends = (tuple(gaps[kinds & bit > 0].tolist()) for bit in (START, END))
            yield number, Segment(int(opened[number]), int(closed[number]), starts, ends)

    def _edges(self) -> tuple[Offsets, Offsets]:
        """Where segments start and end, counted through all rows of a label, label after label."""
        flat = self.gaps.T.ravel()
        apart = flat & GO_ON == 0
        return np.flatnonzero(apart & (flat & START > 0)), np.flatnonzero(apart & (flat & END > 0))

    def mentions(self, reading: Reading) -> NDArray[np.int64]:
        """The start and end of every mention, `[2, M]`, counted as `_edges` does, in no order."""
        opened, closed = self._edges()
        plain = np.ones(len(opened), dtype=bool)
        found: list[Mention] = []
        for number, segment in self.busy():
            plain[number] = False
            found += reading.rule(segment)
        rest = np.array(found, dtype=np.int64).reshape(-1, 2).T
        return np.concatenate([[opened[plain], closed[plain]], rest], axis=1)

    def ambiguous(self) -> NDArray[np.bool_]:
        """Which labels of which sentences have more than one set of mentions, `[S, L]`."""
        self.require_legal()
        found = np.zeros((len(self), len(self.labels)), dtype=bool)
        starts = [segment.start for _, segment in self.busy() if segment.ambiguous]
        label, row = np.divmod(np.array(starts, dtype=np.int64), max(len(self.gaps), 1))
        found[np.searchsorted(self.offsets, row, side="right") - 1, label] = True
        return found


def encode_many(
    spans: SpanColumns | Iterable[Iterable[Span]],
    lengths: Iterable[int],
    labels: Iterable[str] | None = None,
) -> SeparatorColumns:
    """The separators of many sentences, given their lengths; for `labels`, or those that occur."""
    columns, sizes = sized(spans, lengths)
    require_in_range(columns, sizes)
    require_single(columns)
    columns, names = _numbered(columns, labels)
    offsets = np.concatenate([[0], np.cumsum(sizes + 1)])
    gaps = np.zeros((offsets[-1], len(names)), dtype=np.uint8)
    depth = np.zeros(gaps.shape, dtype=np.int32)  # how many mentions go on here, as differences
    start, end = offsets[columns.sentence] + columns.start, offsets[columns.sentence] + columns.end
    np.add.at(depth, (start + 1, columns.label), 1)
    np.add.at(depth, (end, columns.label), -1)
    gaps[np.cumsum(depth, axis=0, dtype=np.int32) > 0] = GO_ON
    gaps[start, columns.label] |= START
    gaps[end, columns.label] |= END
    return SeparatorColumns(gaps, offsets, names)


def decode_many(
    separators: SeparatorColumns, reading: str | Reading = DEFAULT_READING
) -> SpanColumns:
    """The spans that a reading finds in many sentences; illegal separators are refused."""
    rule = get_reading(reading)
    separators.require_legal()
    start, end = separators.mentions(rule)
    label, row = np.divmod(start, max(len(separators.gaps), 1))
    sentence = np.searchsorted(separators.offsets, row, side="right") - 1
    first = separators.offsets[sentence]
    size = end - start
    rank = np.argsort(np.argsort(separators.labels)) if separators.labels else label
    order = np.lexsort((rank[label], size, row))
    parts = (sentence, row - first, row - first + size, label)
    rows = (np.ascontiguousarray(part[order], dtype=np.int32) for part in parts)
    return SpanColumns.trusted(rows, separators.labels, len(separators))


def require_single(spans: SpanColumns) -> None:
    """Raise for the first span that is there twice with the same label."""
    twice = repeated(spans)
    for row in np.flatnonzero(twice)[:1].tolist():
        span, sentence = spans.row(row), int(spans.sentence[row])
        reason = f"{tuple(span)} is there twice. Keep one."
        raise span_error(DuplicateSpanError, len(spans), sentence, reason, span)


def repeated(spans: SpanColumns) -> NDArray[np.bool_]:
    """Which rows say the same as an earlier one."""
    keys = np.stack([spans.sentence, spans.start, spans.end, spans.label])
    order = np.lexsort(keys)  # stable: of equal rows the first comes first
    same = (keys[:, order[1:]] == keys[:, order[:-1]]).all(axis=0)
    found = np.zeros(spans.total, dtype=bool)
    found[order[1:]] = same
    return found


def _numbered(
    spans: SpanColumns, labels: Iterable[str] | None
) -> tuple[SpanColumns, tuple[str, ...]]:
    """The spans with label numbers for `labels`; raises for a label that is not among them."""
    if labels is None:
        return spans, spans.labels
    names = tuple(dict.fromkeys(listed("labels", labels)))
    numbers = {name: number for number, name in enumerate(names)}
    new = np.array([numbers.get(name, -1) for name in spans.labels], dtype=np.int32)[spans.label]
    for row in np.flatnonzero(new < 0)[:1].tolist():
        label = spans.row(row).label
        raise ValueError(f"Label {label!r} is not among the labels: {', '.join(names)}.")
    rows = (spans.sentence, spans.start, spans.end, new)
    return SpanColumns.trusted(rows, names, len(spans)), names
