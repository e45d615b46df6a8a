"""Annotated files with other tags: repaired, converted or relabelled."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Flags
from ..codes.known import Known
from ..codes.policy import get_tag_policy
from ..codes.scheme import SCHEMES, Scheme
from ..codes.tag_columns import CodedTags, different
from ..codes.violation import Violation
from ..errors import FileError, OptionError
from ..names import counted
from .corpus import Parts, Saved, Several, format_to_write, save_parts
from .files import write_bytes
from .findings import finding_lines
from .formats import ending_of, format_by_ending
from .formats.columns import ColumnWriter
from .formats.options import ReadOptions, SaveOptions
from .inputs import is_stream, require_other
from .opener import Opener
from .outputs import CALLED_COLUMNS
from .sentences import Sentences


@dataclass(frozen=True)
class Change:
    """A token whose tag was replaced."""

    file: str
    line: int
    token: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"    {self.line}: {self.token!r}: {self.old} => {self.new}"


Watch = Callable[[list[Violation], list[Change]], None]
"""Told of every sentence that was malformed: its violations, and the tags that were replaced."""

Relabel = Callable[[str], str | None]
"""The new name of a label; None to drop its spans."""


@dataclass(frozen=True)
class Edited:
    """What became of files that were written to one output, and the labels that they had."""

    inputs: tuple[str, ...]
    output: str
    saved: Saved
    columns: bool
    labels: frozenset[str]

    def lines(self, named: Collection[str] = ()) -> list[str]:
        """Return what was done in words, and which of the labels that somebody named it lacks."""
        done = self.saved
        changed = f"{counted(done.changed, 'tag')} changed"
        changed = changed if self.columns else counted(done.labels.total(), "span")
        repaired = f", {counted(done.repaired, 'violation')} repaired" if done.repaired else ""
        lines = [f"{changed}{repaired} in {done}", *finding_lines(done.findings)]
        if unseen := ", ".join(sorted(set(named) - self.labels)):
            lines.append(f"no span was labelled {unseen}")
        return [f"{self.output}: {line}" for line in lines]

    def as_dict(self, repairs: list[dict[str, Any]]) -> dict[str, Any]:
        """Return what was done as plain values, with what was told of repaired sentences."""
        done = self.saved
        return {
            "inputs": list(self.inputs),
            "output": self.output,
            **done.size,
            **{name: getattr(done, name) for name in ("changed", "missing", "blocked")},
            "violations": done.repaired,
            "labels": done.counts,
            "repairs": repairs,
            "findings": list(map(asdict, done.findings)),
        }


@dataclass(frozen=True)
class Edit:
    """How to read files and write them: under a policy, with other labels, in another format."""

    files: Opener
    how: ReadOptions
    save: SaveOptions
    scheme: str = ""
    policy: str = "raise"
    relabel: Relabel | None = None

    def write(self, inputs: list[str], output: str, watch: Watch | None = None) -> Edited:
        """Write files to one output, all at once or not at all."""
        seen = set[str]()

        def change(known: Known) -> Known:
            seen.update(known.spans.labels)
            return relabelled(known, self.relabel) if self.relabel else known

        with ExitStack() as stack:
            bare = not format_to_write(output, self.save).annotated
            scheme = None if bare else self.scheme
            opened = (self.files.opened(path, self.how, scheme) for path in inputs)
            corpora = tuple(map(stack.enter_context, opened))
            require_other(output, inputs if len(inputs) > 1 else [])
            formats = {corpus.format.name for corpus in corpora}
            found = next((corpus.scheme for corpus in corpora if corpus.scheme), "")
            how = self._written(formats, output, found)
            columns = formats | {how.to} == {"columns"}
            source: Iterable[Sentences] = Several(corpora)
            if how.to == "columns" and not columns and any(map(is_stream, inputs)):
                source = list(source)  # it is read twice
            parts = Parts(source, self.scheme, self.policy, change)
            if how.to == "columns":
                done = edit_columns(parts, output, how, watch)
            else:
                done = save_parts(parts, output, how)
        names = tuple(corpus.name for corpus in corpora)
        return Edited(names, output, done, columns, frozenset(seen))

    def _written(self, formats: set[str], output: str, found: str) -> SaveOptions:
        """Return how to write a file: as its source, unless something else is said."""
        to = self.save.to
        if to == "auto":
            ending = ending_of(output)
            named = format_by_ending(ending)
            columns = self.save.to_scheme or len(formats) > 1 or ending in CALLED_COLUMNS
            to = named.name if named else "columns" if columns else next(iter(formats))
        scheme = self.save.to_scheme or self.scheme or found
        if to == "columns" and not scheme:
            message = f"name the scheme of the tags to write: {', '.join(SCHEMES)}"
            raise OptionError(message, "--to-scheme")
        key = self.save.spans_key or self.how.spans_key
        return replace(
            self.save, to=to, to_scheme=scheme, spans_key=key, encoding=self.how.encoding
        )


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


def renames(text: str) -> Iterator[tuple[str, str]]:
    """Yield old and new names, from `OLD=NEW` or from a JSON file of new names with old ones."""
    if not text.lower().endswith(".json") and ("=" in text or not Path(text).exists()):
        for pair in text.split(","):
            old, _, new = (part.strip() for part in pair.partition("="))
            if not (old and new):
                raise OptionError(f"{pair!r} is not OLD=NEW, and {text!r} no JSON file", "--map")
            yield old, new
        return
    try:
        groups = json.loads(Path(text).read_text(encoding="utf8"))
        pairs = [
            (old, new)
            for new, members in groups.items()
            for old in ([members] if isinstance(members, str) else members)
        ]
        if not all(isinstance(old, str) for old, _ in pairs):
            raise ValueError("a label is no string")
        if len({old for old, _ in pairs}) < len(pairs):
            raise ValueError("a label is renamed twice")
        yield from pairs
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise FileError(f"{text}: cannot be read: {reason}.", text) from error
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        message = f"{text}: not JSON of the form {{NEW: [OLD, ...]}} ({error})."
        raise FileError(message, text) from error
