"""Column files with other tags: repaired, converted or relabelled; all else stays as it was."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..codes.columns import SpanColumns, code_tags
from ..codes.parse import read_spans, validate_many
from ..codes.policy import Policy, get_policy
from ..codes.scheme import Scheme, get_scheme
from ..codes.violation import Violation
from ..codes.write import write_spans
from .batch import Batch, readable_batches
from .conll import ColumnReader, Output
from .files import write_text


@dataclass(frozen=True)
class Change:
    """A token whose tag was replaced."""

    file: str
    line: int
    token: str
    old: str
    new: str


@dataclass
class Edited:
    """What an edit did to a file."""

    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    changed: int = 0
    violations: int = 0


Watch = Callable[[list[Violation], list[Change]], None]
"""Told of every sentence that was malformed: its violations, and the tags that were replaced."""

Relabel = Callable[[str], str | None]
"""The new name of a label; None to drop its spans."""


def edit_file(
    reader: ColumnReader,
    target: str | Path,
    source_scheme: str | Scheme,
    target_scheme: str | Scheme,
    policy: str | Policy = "raise",
    *,
    relabel: Relabel | None = None,
    output: Output | None = None,
    watch: Watch | None = None,
) -> Edited:
    """Read a file in one scheme and write it in another, all at once or not at all."""
    source, goal, policy = get_scheme(source_scheme), get_scheme(target_scheme), get_policy(policy)
    output = output or Output()
    done = Edited()
    between = ""
    with write_text(target, reader.columns.encoding) as put:
        for batch in readable_batches(reader, source, policy):
            with batch.locating():
                tags = _rewritten(batch, source, goal, policy, relabel)
            if not policy.refuses:
                done.violations += _watched(batch, tags, source, watch)
            for block, new in zip(batch.blocks, tags):
                done.changed += sum(map(str.__ne__, block.tags, new))
                put(between + output.render(block, new, reader.layout))
                between = "\n"
    done.documents, done.sentences, done.tokens = reader.documents, reader.sentences, reader.tokens
    return done


def _rewritten(
    batch: Batch, source: Scheme, goal: Scheme, policy: Policy, relabel: Relabel | None
) -> list[list[str]]:
    coded = code_tags(batch.tags)
    spans = read_spans(coded, source, policy)
    if relabel is not None:
        spans = relabelled(spans, relabel)
    return write_spans(spans, coded.offsets, goal).lists()


def _watched(batch: Batch, tags: list[list[str]], scheme: Scheme, watch: Watch | None) -> int:
    """Tell of the malformed sentences of a batch; returns the number of violations."""
    found = validate_many(batch.tags, scheme)
    if watch is not None and found.total:
        by_sentence: dict[int, list[Violation]] = {}
        for sentence, violation in zip(found.sentence.tolist(), batch.located(found)):
            by_sentence.setdefault(sentence, []).append(violation)
        for sentence, violations in by_sentence.items():
            watch(violations, list(_changes(batch, sentence, tags[sentence])))
    return found.total


def _changes(batch: Batch, sentence: int, tags: list[str]) -> Iterator[Change]:
    block = batch.blocks[sentence]
    for i, (old, new) in enumerate(zip(block.tags, tags)):
        if old != new:
            yield Change(batch.name, block.number(i), block.tokens[i], old, new)


def relabelled(spans: SpanColumns, relabel: Relabel) -> SpanColumns:
    """The spans under their new labels, without those whose label is dropped."""
    new = [relabel(label) for label in spans.labels]
    labels = tuple(dict.fromkeys(label for label in new if label is not None))
    numbers = np.array([-1 if label is None else labels.index(label) for label in new], np.int32)
    label = numbers[spans.label] if len(new) else spans.label
    kept = label >= 0
    columns = (column[kept] for column in (spans.sentence, spans.start, spans.end, label))
    return SpanColumns.trusted(columns, labels, spans.sentences)


def relabelling(
    keep: Collection[str] = (),
    remove: Collection[str] = (),
    rename: Mapping[str, str] | None = None,
) -> Relabel:
    """Keep only some labels (or remove some), then rename those that are left."""

    def relabel(label: str) -> str | None:
        if (keep and label not in keep) or label in remove:
            return None
        return (rename or {}).get(label, label)

    return relabel
