"""Column files with other tags: repaired, converted or relabelled; all else stays as it was."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..codes.annotated_runs import keep_absent
from ..codes.parse import read_spans, validate_many
from ..codes.policy import Policy, get_tag_policy
from ..codes.scheme import Scheme, get_scheme
from ..codes.span_columns import SpanColumns
from ..codes.tag_columns import CodedTags, different
from ..codes.violation import Violation
from ..codes.write import write_spans
from .conll import ColumnReader, Part
from .files import write_bytes
from .output import Output
from .survey import accepted


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
    labels: set[str] = field(default_factory=set)


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
    source, goal = get_scheme(source_scheme), get_scheme(target_scheme)
    policy = get_tag_policy(policy)
    output = output or Output()
    done = Edited()
    with write_bytes(target, reader.columns.encoding) as put:
        for number, part in enumerate(accepted(reader, source, policy)):
            with part.locating():
                spans = read_spans(part.tags, source, policy)
                done.labels.update(spans.labels)
                spans = relabelled(spans, relabel) if relabel else spans
                tags = keep_absent(part.tags, write_spans(spans, part.tags.offsets, goal))
            changed = np.flatnonzero(different(part.tags, tags))
            done.changed += len(changed)
            if not policy.refuses:
                done.violations += _watched(part, tags, changed, source, watch)
            put((b"" if number else reader.mark) + output.render(part, tags))
    done.documents, done.sentences, done.tokens = reader.documents, reader.sentences, reader.tokens
    return done


def _watched(
    part: Part, tags: CodedTags, changed: NDArray[np.intp], scheme: Scheme, watch: Watch | None
) -> int:
    """Tell of the malformed sentences of a part; returns the number of violations."""
    found = validate_many(part.tags, scheme)
    if watch is not None and found.total:
        by_sentence: dict[int, list[Violation]] = {}
        for sentence, violation in zip(found.sentence.tolist(), part.located(found)):
            by_sentence.setdefault(sentence, []).append(violation)
        for sentence, violations in by_sentence.items():
            begin, end = part.tags.offsets[sentence : sentence + 2]
            inside = changed[np.searchsorted(changed, begin) : np.searchsorted(changed, end)]
            watch(violations, [_change(part, tags, sentence, int(i - begin)) for i in inside])
    return found.total


def _change(part: Part, tags: CodedTags, sentence: int, index: int) -> Change:
    line, token = part.number(sentence, index), part.token(sentence, index)
    old, new = part.tags.tag(sentence, index), tags.tag(sentence, index)
    return Change(part.name, line, token, old or "", new or "")


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
    """Rename labels, then keep only some (or remove some) by their new names."""

    def relabel(label: str) -> str | None:
        new = (rename or {}).get(label, label)
        return None if (keep and new not in keep) or new in remove else new

    return relabel
