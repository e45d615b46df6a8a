"""Gold and predicted tags of the same sentences: read, compared and counted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..codes.annotated_runs import having
from ..codes.known import judged
from ..codes.parse import read_spans, refusal, validate_many
from ..codes.policy import Policy
from ..codes.scheme import OUTSIDE, Scheme
from ..codes.span_columns import SpanColumns
from ..codes.tag_columns import CodedTags
from ..codes.violation import BLOCKED, MISSING
from ..errors import AlignmentError, MalformedTagsError, UnreadableTagError
from ..kernels import encode
from .counts import Counts, count
from .matching import Matched, match

SENTENCES = 1 << 15  # scored at a time


@dataclass(frozen=True, eq=False)
class Side:
    """The tags of gold or prediction, the policy for them, and the spans it finds."""

    tags: CodedTags
    policy: Policy
    scheme: Scheme
    name: str = ""  # of the side, for its errors
    option: str = ""  # that would name another policy

    @cached_property
    def spans(self) -> SpanColumns:
        """The spans; raises for what cannot be read or is refused."""
        try:
            return read_spans(self.tags, self.scheme, self.policy)
        except UnreadableTagError as error:
            message = f"{self.name}, {error}" if self.name else str(error)
            place = error.tag, error.sentence, error.index
            raise UnreadableTagError(message, *place, error.reason) from error
        except MalformedTagsError as error:
            rows = list(validate_many(self.tags, self.scheme).rows())
            numbers = [sentence for sentence, _ in rows] if len(self.tags) > 1 else ()
            found = [violation for _, violation in rows]
            raise refusal(self.scheme, found, numbers, self.name, self.option) from error

    def read(self) -> None:
        """Read the spans now, so that an error is raised here."""
        assert self.spans is not None

    @property
    def repaired(self) -> int:
        """How many violations the policy had to repair."""
        return 0 if self.policy.refuses else validate_many(self.tags, self.scheme).total


def match_sides(gold: Side, predicted: Side) -> tuple[Matched, Counts]:
    """Score tags of the same sentences, coded with the same numbers."""
    require_aligned(gold.tags, predicted.tags)
    guesses = predicted.spans
    missing, untagged = (missing_in(side.tags) for side in (gold, predicted))
    if missing is not None:
        guesses = judged(guesses, gold.spans, missing, gold.tags.offsets)
    matched = match(gold.spans, guesses)
    counts = count(
        matched,
        tokens=len(gold.tags.codes),
        missing=0 if missing is None else int(missing.sum()),
        untagged=0 if untagged is None else int(untagged.sum()),
        **compare_tags(gold.tags, predicted.tags),
        violations=predicted.repaired,
        gold_violations=gold.repaired,
    )
    return matched, counts


def missing_in(tags: CodedTags) -> NDArray[np.bool_] | None:
    """Return which tokens are not annotated, or None if no tag says so."""
    return having(tags, (MISSING,)) if MISSING in tags.tags else None


def compare_tags(gold: CodedTags, predicted: CodedTags) -> dict[str, Any]:
    """The counts of tokens that have the same tag on both sides, and of those that have one.

    Tokens that are missing in gold do not count; else `-` and `!` are outside.
    """
    known = max(gold.tags, predicted.tags, key=len)  # one is the beginning of the other
    outside = known.index(OUTSIDE) if OUTSIDE in known else -1
    a, b = gold.codes, predicted.codes
    if MISSING in known or BLOCKED in known:
        annotated = ~having(gold, (MISSING,))
        a, b = (
            np.where(having(side, (MISSING, BLOCKED)), outside, side.codes)[annotated]
            for side in (gold, predicted)
        )
    right = int(np.count_nonzero(a == b))
    neither = int(np.count_nonzero((a == outside) & (b == outside)))
    tagged = (len(side) - int(np.count_nonzero(side == outside)) for side in (b, a))
    return {"right_tokens": right, "tagged": (right - neither, *tagged)}


def require_aligned(gold: CodedTags, predicted: CodedTags) -> None:
    """Raise for the first sentence that is longer on one side."""
    if len(gold) != len(predicted):
        raise AlignmentError(f"{len(gold)} gold sentences but {len(predicted)} predicted ones.")
    different = np.flatnonzero(np.diff(gold.offsets) != np.diff(predicted.offsets))
    for sentence in different[:1].tolist():
        a, b = (int(np.diff(side.offsets)[sentence]) for side in (gold, predicted))
        raise AlignmentError(f"Sentence {sentence} has {a} gold tags but {b} predicted ones.")


def code_alike(gold: Any, predicted: Any) -> tuple[CodedTags, CodedTags]:
    """Code the tags of both sides with the same numbers."""
    vocabulary: dict[str, int] = {}
    coded = []
    for side in (gold, predicted):
        if isinstance(side, CodedTags):
            numbers = [vocabulary.setdefault(tag, len(vocabulary)) for tag in side.tags]
            codes = np.array(numbers, dtype=np.int32)[side.codes] if numbers else side.codes
            coded.append((codes, side.offsets))
        else:
            coded.append(encode(side, vocabulary))
    tags = tuple(vocabulary)
    a, b = (CodedTags.trusted(codes, offsets, tags) for codes, offsets in coded)
    return a, b


def in_parts(gold: Any, predicted: Any) -> Iterator[tuple[Any, Any]]:
    """Some sentences of both sides at a time, so that memory does not grow with the corpus."""
    for begin in range(0, max(len(gold), len(predicted), 1), SENTENCES):
        part = slice(begin, begin + SENTENCES)
        yield gold[part], predicted[part]
