"""Docs with mentions as brat folders and as JSON lines."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from spacy.tokens import Doc

from ..codes.policy import POLICIES, Policy
from ..codes.scheme import get_scheme
from ..errors import FileError, InexpressibleError, UnknownNameError
from ..span import Span
from .doc_columns import DocFile
from .docbin import doc_violations
from .files import write_bytes
from .folders import beside, put
from .nested import Finding, told
from .sources import Entities, group_spans
from .tagged import TaggedDocs

Format = Literal["columns", "brat", "jsonl", "jsonl-tokens"]
"""What from-docbin writes."""


def format_named(name: str, output: str) -> Format:
    """The format of that name; without one, what the name of the output says."""
    every = get_args(Format)
    if not name:
        plain = output.lower().removesuffix(".gz")
        return "jsonl" if plain.endswith((".jsonl", ".json", ".ndjson")) else "columns"
    for known in every:
        if name == known:
            return known  # type: ignore[no-any-return]
    raise UnknownNameError(f"Unknown format {name!r}. Known: {', '.join(every)}.", name, every)


@dataclass
class NestedPrinted:
    """What was written, and what was not."""

    docs: int = 0
    tokens: int = 0
    spans: int = 0
    repaired: int = 0
    findings: list[Finding] = field(default_factory=list)


class Mentions:
    """The mentions of Docs that a format can hold, and those that it cannot.

    They are the spans of a group, or without a `key` the entities.
    """

    def __init__(
        self, file: DocFile, key: str, policy: Policy = POLICIES["raise"], spaces: bool = True
    ):
        self.file = file
        self.done = NestedPrinted()
        self.spaces = spaces  # whether labels may hold white space
        if key:
            file.require_group(key)
            self.spans = [group_spans(doc, key) for doc in file.docs]
        else:
            tagged = TaggedDocs.read(file.docs, Entities(), get_scheme("bio"), file.unit)
            self.done.repaired = len(doc_violations(tagged, file.name))
            self.spans = list(tagged.spans(policy))

    def __iter__(self) -> Iterator[tuple[Doc, list[Span]]]:
        for number, (doc, spans) in enumerate(zip(self.file.docs, self.spans)):
            self.done.docs += 1
            self.done.tokens += len(doc)
            kept: dict[Span, None] = {}
            for span in sorted(spans, key=lambda span: (span.start, -span.end, span.label)):
                if kind := self._kind(span, kept):
                    place = f"{self.file.name}, Doc {number}, token {span.start}"
                    shown = (*span[:2], doc[span.start : span.end].text)
                    self.done.findings.append(Finding(kind, place, 0, span.label, (shown,)))
                else:
                    kept[span] = None
            self.done.spans += len(kept)
            yield doc, list(kept)

    def _kind(self, span: Span, known: dict[Span, None]) -> str:
        """Why a span is not written; empty if it is."""
        if span.start >= span.end:
            return "empty"
        if not self.spaces and (not span.label or len(span.label.split()) != 1 or _odd(span.label)):
            return "label"
        return "repeated" if span in known else ""

    def require_all(self, lossy: bool) -> None:
        """Raise if something was left out, unless that is fine."""
        lost = [found for found in self.done.findings if found.kind != "repeated"]
        if lost and not lossy:
            raise InexpressibleError(f"{'; '.join(told(lost))}. Leave them out (--lossy), or not.")


def _odd(label: str) -> bool:
    return label != label.strip()


def write_json_lines(mentions: Mentions, target: str, tokens: bool, lossy: bool) -> NestedPrinted:
    """Write an object for each Doc: its text and mentions by characters, or both by tokens."""
    rows = [_as_object(doc, spans, tokens) for doc, spans in mentions]
    mentions.require_all(lossy)
    with write_bytes(target) as write:
        for row in rows:
            write((json.dumps(row, ensure_ascii=False) + "\n").encode("utf8"))
    return mentions.done


def _as_object(doc: Doc, spans: Sequence[Span], tokens: bool) -> dict[str, Any]:
    if tokens:
        rows = [span._asdict() for span in spans]
        return {"tokens": [token.text for token in doc], "spans": rows}
    offsets = ((*_characters(doc, span), span.label) for span in spans)
    return {"text": doc.text, "spans": [Span(*row)._asdict() for row in offsets]}


def _characters(doc: Doc, span: Span) -> tuple[int, int]:
    last = doc[span.end - 1]
    return doc[span.start].idx, last.idx + len(last)


def write_brat(mentions: Mentions, target: str, lossy: bool) -> NestedPrinted:
    """Write a folder with a text and its annotations for each Doc, whole or not at all."""
    folder = Path(target)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = f"{target}: something is there already. Name a folder that is new or empty."
        raise FileError(message, target)
    new = beside(folder)
    try:
        width = len(str(max(len(mentions.file.docs) - 1, 0)))
        for number, (doc, spans) in enumerate(mentions):
            name = new / f"{number:0{width}}"
            _put(name.with_suffix(".txt"), doc.text)
            lines = (_line(doc, span, i) for i, span in enumerate(spans, 1))
            _put(name.with_suffix(".ann"), "".join(lines))
        mentions.require_all(lossy)
        put(new, folder)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    return mentions.done


def _put(path: Path, text: str) -> None:
    path.write_bytes(text.encode("utf8"))


def _line(doc: Doc, span: Span, number: int) -> str:
    first, last = _characters(doc, span)
    shown = "".join(" " if c in "\n\r\t" else c for c in doc.text[first:last])
    return f"T{number}\t{span.label} {first} {last}\t{shown}\n"


WRITERS: dict[str, Callable[[Mentions, str, bool], NestedPrinted]] = {
    "brat": write_brat,
    "jsonl": lambda mentions, target, lossy: write_json_lines(mentions, target, False, lossy),
    "jsonl-tokens": lambda mentions, target, lossy: write_json_lines(mentions, target, True, lossy),
}
"""What writes Docs in each format but columns."""
