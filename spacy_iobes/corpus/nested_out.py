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
from ..codes.violation import MISSING
from ..errors import FileError, InexpressibleError, UnknownNameError
from ..span import Span
from .doc_columns import DocFile
from .docbin import HERE, doc_violations, malformed_docs
from .files import write_bytes
from .findings import UNANNOTATED, Finding, finding_lines
from .folders import beside, put
from .layers import group_layers
from .sources import Entities, group_spans
from .tagged import TaggedDocs

Format = Literal["columns", "brat", "jsonl", "jsonl-tokens"]
"""What Docs are written as."""


def format_named(name: str, output: str, others: Sequence[str] = ()) -> Format:
    """The format of that name; without one, what the name of the output says.

    If it is none, the error also lists `others`, which somebody else knows.
    """
    every = (*get_args(Format), *others)
    if not name:
        plain = output.lower().removesuffix(".gz")
        return "jsonl" if plain.endswith((".jsonl", ".json", ".ndjson")) else "columns"
    for known in get_args(Format):
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

    They are the spans of a group, or without a `key` the entities. A `plain` format knows no labels
    with white space, and no texts that are not annotated.
    """

    def __init__(
        self, file: DocFile, key: str, policy: Policy = POLICIES["raise"], plain: bool = False
    ):
        self.file = file
        self.done = NestedPrinted()
        self.plain = plain
        if key:
            file.require_group(key)
            self.spans = [group_spans(doc, key) for doc in file.docs]
            self.missing = [missing_in(doc, key) for doc in file.docs]
        else:
            tagged = TaggedDocs.read(file.docs, Entities(), get_scheme("bio"), file.unit)
            violations = doc_violations(tagged, file.name)
            if policy.refuses and violations:
                raise malformed_docs(violations, HERE)
            self.done.repaired = len(violations)
            self.spans = list(tagged.spans(policy))
            self.missing = [tagged.pieces.absent(number)[0] for number in range(len(file.docs))]

    def __iter__(self) -> Iterator[tuple[Doc, list[Span] | None]]:
        """Every Doc with its mentions, None if it is not annotated."""
        for number, (doc, spans) in enumerate(zip(self.file.docs, self.spans)):
            self.done.docs += 1
            self.done.tokens += len(doc)
            if self._unknown(number):
                yield doc, None
                continue
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

    def _unknown(self, number: int) -> bool:
        """Whether the format can say that a Doc is not annotated, and it is not.

        What the format cannot say of its tokens is noted.
        """
        doc, missing = self.file.docs[number], self.missing[number]
        if missing and len(missing) == len(doc) and not self.spans[number] and not self.plain:
            return True
        for token in missing:
            place = f"{self.file.name}, Doc {number}, token {token}"
            shown = (token, token + 1, doc[token].text)
            self.done.findings.append(Finding(UNANNOTATED, place, 0, MISSING, (shown,)))
        return False

    def _kind(self, span: Span, known: dict[Span, None]) -> str:
        """Why a span is not written; empty if it is."""
        if span.start >= span.end:
            return "empty"
        if self.plain and (not span.label or len(span.label.split()) != 1 or _odd(span.label)):
            return "label"
        return "repeated" if span in known else ""

    def require_all(self, lossy: bool) -> None:
        """Raise if something was left out, unless that is fine."""
        lost = [found for found in self.done.findings if found.kind != "repeated"]
        if lost and not lossy:
            raise InexpressibleError(
                f"{'; '.join(finding_lines(lost))}. Leave them out (--lossy), or not."
            )


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


def missing_in(doc: Doc, key: str) -> list[int]:
    """The tokens that are not annotated: all without the group, else what its attributes say."""
    if key not in doc.spans:
        return list(range(len(doc)))
    return sorted({index for _, index, tag in group_layers(doc, key)[1] if tag == MISSING})


def _as_object(doc: Doc, spans: Sequence[Span] | None, tokens: bool) -> dict[str, Any]:
    whole = {"tokens": [token.text for token in doc]} if tokens else {"text": doc.text}
    if spans is None:
        return {**whole, "spans": None}
    ends = (span[:2] if tokens else _characters(doc, span) for span in spans)
    rows = [Span(*row, span.label)._asdict() for row, span in zip(ends, spans)]
    return {**whole, "spans": rows}


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
            lines = (_line(doc, span, i) for i, span in enumerate(spans or (), 1))
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
