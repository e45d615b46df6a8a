"""From the scores of classes to spans: each token for itself, or the best legal sequence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Offsets
from ..chain import Chain, Posterior, Spans, best
from ..codes.parse import read_spans
from ..codes.policy import get_tag_policy
from ..codes.span_columns import SpanColumns
from ..codes.tag_columns import CodedTags
from .codec import Codec
from .pairing import Lengths, exact_pairs, greedy_pairs


class Found(NamedTuple):
    """Spans, and how sure each of them is, from 0 to 1."""

    spans: SpanColumns
    confidence: Floats


@dataclass(frozen=True, eq=False)
class Scored:
    """What a learner thinks of some units.

    `chain` has the legal steps. `structured`: the scores are potentials of that chain; if not, they
    are logarithms of probabilities within each choice. `lengths` says how long spans are in what it
    learned from.
    """

    codec: Codec
    chain: Chain
    scores: Floats
    offsets: Offsets
    structured: bool
    lengths: Lengths

    @cached_property
    def posterior(self) -> Posterior:
        """The distribution over legal sequences."""
        return Posterior.of(self.chain, self.codec.batch(self.scores, self.offsets))


Decoding = Callable[[Scored], Found]


def greedy(scored: Scored) -> Found:
    """The most probable class of each token for itself, read as published tools read tags.

    Where begins and ends are chosen apart, each begin takes the end that makes the most frequent
    length. The confidence of a span is the product of the probabilities of its classes.
    """
    codec = scored.codec
    logs = codec.class_logs(scored.posterior) if scored.structured else scored.scores
    if codec.classes.choices > 1:
        return Found(*greedy_pairs(codec, logs, scored.offsets, scored.lengths))
    codes = logs.argmax(axis=1).astype(np.int32)
    tags = CodedTags.trusted(codes, scored.offsets, codec.classes.names)
    spans = in_order(read_spans(tags, codec.scheme, get_tag_policy("begin")), codec.labels)
    sums = np.concatenate([[0.0], np.cumsum(np.maximum(logs[np.arange(len(codes)), codes], -1e3))])
    begin = scored.offsets[spans.sentence]
    return Found(spans, np.exp(sums[begin + spans.end] - sums[begin + spans.start]))


def constrained(scored: Scored) -> Found:
    """The best legal sequence; the confidence of a span is its probability among legal ones.

    Where begins and ends are chosen apart by classifiers, it is the best set of pairs by begin, end
    and length.
    """
    codec, posterior = scored.codec, scored.posterior
    if codec.classes.choices > 1 and not scored.structured:
        spans = exact_pairs(codec, scored.scores, scored.offsets, scored.lengths)
    else:
        path = best(posterior.chain, posterior.batch).states
        spans = in_order(codec.tags.spans(path, posterior.batch), codec.labels)
    return Found(spans, probabilities(posterior, spans))


def probabilities(posterior: Posterior, spans: SpanColumns) -> Floats:
    """How probable each span is among legal sequences."""
    columns = (spans.sentence, spans.start, spans.end, spans.label)
    asked = Spans(*(column.astype(np.int64) for column in columns))
    return np.exp(posterior.span_log_probability(asked))


DECODINGS: Mapping[str, Decoding] = MappingProxyType({"greedy": greedy, "constrained": constrained})
"""How spans are found, by name."""


def in_order(spans: SpanColumns, labels: tuple[str, ...]) -> SpanColumns:
    """The same spans with their labels numbered as in `labels`."""
    if spans.labels == labels:
        return spans
    numbers = np.array([labels.index(label) for label in spans.labels], dtype=np.int32)
    label = numbers[spans.label] if spans.total else spans.label
    return SpanColumns.trusted(
        (spans.sentence, spans.start, spans.end, label), labels, spans.sentences
    )


def trimmed(found: Found, space: NDArray[np.bool_], offsets: Offsets) -> Found:
    """The same spans without the white space that they begin or end with."""
    spans = found.spans
    places = np.arange(len(space))
    after = np.minimum.accumulate(np.where(space, len(space), places)[::-1])[::-1]
    before = np.maximum.accumulate(np.where(space, -1, places))
    begin = offsets[spans.sentence]
    start = after[begin + spans.start]
    end = before[begin + spans.end - 1] + 1
    kept = start < end
    columns = (
        spans.sentence[kept],
        (start - begin)[kept].astype(np.int32),
        (end - begin)[kept].astype(np.int32),
        spans.label[kept],
    )
    trimmed = SpanColumns.trusted(columns, spans.labels, spans.sentences)
    return Found(trimmed, found.confidence[kept])
