"""What a person has read so far, and what was found there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..span import Span
from .batches import Batch

MEMORY = 1000  # sentences whose expectation is kept

Answers = dict[int, tuple[Span, ...]]


@dataclass
class Reading:
    """`answers`: the sentences that are annotated, with all their mentions, if there are any.

    `rejected` sentences were read, but are not fit to be annotated. Those of the `audit` were drawn
    at random, and the ranking has not chosen them yet. They are annotated like others, but nothing
    is learned from them until it does: so at any time they are a random sample of all sentences
    that the ranking has not chosen, and tell how many mentions there are. `predicted` is what was
    expected of sentences when they were chosen.
    """

    answers: Answers = field(default_factory=dict)
    rejected: set[int] = field(default_factory=set)
    audit: set[int] = field(default_factory=set)
    predicted: dict[int, float] = field(default_factory=dict)

    @property
    def read(self) -> set[int]:
        """All sentences that need not be shown again."""
        return self.answers.keys() | self.rejected

    @property
    def mentions(self) -> int:
        """How many mentions were found."""
        return sum(map(len, self.answers.values()))

    def begin(self, batch: Batch) -> None:
        """Begin to read a batch."""
        self.audit = (self.audit - set(batch.promoted)) | set(batch.audit)
        self.predicted |= dict(zip(batch.sentences, batch.expected))
        for sentence in list(self.predicted)[:-MEMORY]:
            del self.predicted[sentence]

    def answer(self, sentence: int, spans: Sequence[Span]) -> None:
        """Take the mentions of a sentence."""
        self.answers[sentence] = tuple(sorted(spans))
        self.rejected.discard(sentence)

    def reject(self, sentence: int) -> None:
        """Take a sentence out."""
        self.rejected.add(sentence)
        self.answers.pop(sentence, None)

    def take_back(self, sentence: int) -> None:
        """Forget what was said of a sentence."""
        self.rejected.discard(sentence)
        self.answers.pop(sentence, None)

    def taught(self) -> Answers:
        """What is learned from: everything but the audit."""
        return {s: spans for s, spans in self.answers.items() if s not in self.audit}
