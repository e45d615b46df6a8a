"""Annotated files with other tags: repaired, converted or relabelled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..arrays import Flags
from ..codes.known import Known
from ..codes.policy import get_tag_policy
from ..codes.scheme import Scheme
from ..codes.tag_columns import CodedTags, different
from ..codes.violation import Violation
from .corpus import Parts, Saved
from .files import write_bytes
from .formats.columns import ColumnWriter
from .formats.options import SaveOptions
from .sentences import Sentences


@dataclass(frozen=True)
class Change:
    """A token whose tag was replaced."""

    file: str
    line: int
    token: str
    old: str
    new: str


Watch = Callable[[list[Violation], list[Change]], None]
"""Told of every sentence that was malformed: its violations, and the tags that were replaced."""

Relabel = Callable[[str], str | None]
"""The new name of a label; None to drop its spans."""


def edit_columns(
    parts: Parts, target: str | Path, how: SaveOptions, watch: Watch | None = None
) -> Saved:
    """Write the parts of a source as columns, all at once or not at all, and tell what changed."""
    writer, done = ColumnWriter(how, parts), Saved()
    refuses = get_tag_policy(parts.policy).refuses
    with write_bytes(target, how.encoding) as put:
        for part, known in parts:
            tags = writer.tags(part, known)
            done.add(part, known)
            for old, new in zip(part.tags, tags):
                changed = different(old, new)
                done.changed += int(changed.sum())
                if watch is not None and not refuses:
                    _tell(part, (old, new), changed, parts.scheme, watch)
            put(writer.render(part, tags))
        done.leave_out(writer.finish())
    return done


def _tell(
    part: Sentences,
    tags: tuple[CodedTags, CodedTags],
    changed: Flags,
    scheme: str | Scheme,
    watch: Watch,
) -> None:
    """Tell of the malformed sentences of one layer of a part."""
    old, new = tags
    layer = replace(part, tags=(old,))
    by_sentence: dict[int, list[Violation]] = {}
    for found in layer.found(scheme):
        for sentence, violation in zip(found.sentence.tolist(), part.located(found)):
            by_sentence.setdefault(sentence, []).append(violation)
    for sentence, violations in by_sentence.items():
        begin, end = part.offsets[sentence : sentence + 2].tolist()
        places = (np.flatnonzero(changed[begin:end]) + begin).tolist()
        names = part.words.strings
        watch(
            violations,
            [
                Change(
                    part.name,
                    part.line_of(at) or 0,
                    names(at, at + 1)[0],
                    old.tags[old.codes[at]],
                    new.tags[new.codes[at]],
                )
                for at in places
            ],
        )


def relabelled(known: Known, relabel: Relabel) -> Known:
    """Return the same with other labels, without the spans whose label is dropped."""
    return known.changed(
        lambda spans: spans.relabelled([relabel(label) for label in spans.labels]),
        lambda flags: flags,
    )


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
