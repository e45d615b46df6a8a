"""Some sentences of a column file at a time, and errors that know where in the file they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from ..codes.columns import ViolationColumns
from ..codes.parse import refusal, validate_many
from ..codes.policy import Policy
from ..codes.scheme import Scheme
from ..codes.violation import Violation
from ..errors import InexpressibleError, UnreadableTagError
from .conll import Block, ColumnReader

TOKENS = 1 << 13  # in a batch, or a few more: enough to be fast, few enough to stay in the cache


@dataclass
class Batch:
    """Blocks that are worked on together."""

    name: str
    blocks: list[Block]

    @property
    def tags(self) -> list[list[str]]:
        """The tags of every block."""
        return [block.tags for block in self.blocks]

    def located(self, violations: ViolationColumns) -> Iterator[Violation]:
        """The violations with file, line and token."""
        for sentence, violation in violations.rows():
            block = self.blocks[sentence]
            line, token = block.number(violation.index), block.token(violation.index)
            yield replace(violation, file=self.name, line=line, token=token)

    @contextmanager
    def locating(self) -> Iterator[None]:
        """Errors of the verbs say file, line and token instead of sentence and index."""
        try:
            yield
        except UnreadableTagError as error:
            message = self._place(error.sentence, error.index) + error.reason
            raise UnreadableTagError(message, error.tag, error.sentence, error.index) from error
        except InexpressibleError as error:
            message = self._place(error.sentence, error.spans[0].start) + error.reason
            raise InexpressibleError(message, error.spans, error.sentence) from error

    def _place(self, sentence: int, index: int) -> str:
        block = self.blocks[sentence]
        return f"{self.name}, line {block.number(index)}, {block.token(index)!r}: "


def batches(reader: ColumnReader, tokens: int = TOKENS) -> Iterator[Batch]:
    """Group the blocks of a file."""
    blocks: list[Block] = []
    size = 0
    for block in reader:
        blocks.append(block)
        size += len(block.tags)
        if size >= tokens:
            yield Batch(reader.name, blocks)
            blocks, size = [], 0
    if blocks:
        yield Batch(reader.name, blocks)


def readable_batches(reader: ColumnReader, scheme: Scheme, policy: Policy) -> Iterator[Batch]:
    """Group the blocks of a file that the policy accepts.

    A policy that refuses does so at the end of the file, with every violation of the file in the
    error; from the first violation on there are no more batches.
    """
    found: list[Violation] = []
    for batch in batches(reader):
        if policy.refuses:
            found += batch.located(validate_many(batch.tags, scheme))
        if not found:
            yield batch
    if found:
        raise refusal(scheme, found)
