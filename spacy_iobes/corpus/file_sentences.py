"""The sentences of a column file: words, one or more layers of tags, and what the tags say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .. import kernels
from ..codes.parse import refusal
from ..codes.policy import POLICIES, Policy, get_tag_policy
from ..codes.scheme import Scheme, get_scheme
from ..codes.span_columns import SpanColumns
from ..codes.tag_columns import CodedTags
from ..codes.violation import Violation
from ..codes.write import write_spans
from ..errors import ColumnError, FileError
from ..kernels.columns_numpy import MARKER, NEWDOC, kind_of
from ..span import Span
from .conll import ColumnReader, Columns, Part
from .corpus import Corpus, likely_schemes
from .formats.options import ReadOptions
from .tagged_part import TaggedPart

TOKEN_AND_TAG = 2  # columns


class Layer(NamedTuple):
    """One column of tags: as the file has them, what they say, and perhaps in another scheme."""

    tags: list[str]
    spans: list[Span]
    missing: list[int]
    blocked: list[int]
    rewritten: list[str]


class Sentence(NamedTuple):
    """A sentence of a file; `opens` says whether a document begins with it.

    `lines` are the numbers of its lines, one for each token.
    """

    words: list[str]
    layers: tuple[Layer, ...]
    opens: bool
    lines: Sequence[int] = ()


class Held(NamedTuple):
    """What a file holds: the lengths of its sentences, and how often each label occurs.

    `opens` are the sentences with which documents begin.
    """

    lengths: list[int]
    labels: Counter[str]
    opens: list[int]


@dataclass(frozen=True)
class TagReading:
    """How to read the tags of a file.

    `layers` are the columns that hold tags, if it is not the one column of the reader. Spans must
    be `labelled` if they are to become entities. Tags are also written in `tag_scheme`, if given.
    `names` are the labels that spans have whose tags name none, one for each layer. With `alone`, a
    file without named layers must have no column but those of the token and the tag; with `every`,
    all its columns but that of the token are layers.
    """

    scheme: Scheme
    policy: Policy = POLICIES["raise"]
    layers: tuple[int, ...] = ()
    labelled: bool = True
    tag_scheme: Scheme | None = None
    names: tuple[str, ...] = ()
    alone: bool = False
    every: bool = False


def tag_reading(
    scheme: str | None, policy: str, layers: Sequence[int] = (), labels: Sequence[str] = ()
) -> TagReading | None:
    """How to read the tags of column files with nested mentions; None without a scheme."""
    if len(set(layers)) < len(layers):
        raise FileError(f"A column is one layer, but these are named: {list(layers)}.")
    if labels and len(labels) != max(len(layers), 1):
        counts = f"{len(labels)} labels for {max(len(layers), 1)} layers"
        raise FileError(f"{counts}: name one for each.")
    if not scheme:
        return None
    goal, rule = get_scheme(scheme), get_tag_policy(policy)
    return TagReading(goal, rule, tuple(layers), labelled=False, names=tuple(labels))


class FileSentences:
    """Iterates over the sentences of a file, once, and counts the violations.

    A policy that refuses does so at the end of the file, with every violation of the file in the
    error; from the first part with a violation on there are no more sentences.
    """

    def __init__(self, reader: ColumnReader, reading: TagReading):
        self.reader = reader
        self.reading = reading
        self.violations = 0

    def __iter__(self) -> Iterator[Sentence]:
        words_of = PartWords(self.reader)
        for columns in self.parts():
            layers = zip(*(self._layers(tagged, spans) for tagged, spans in columns))
            part = columns[0][0].part
            lines, at = (part.scanned.line.astype(np.int64) + part.line).tolist(), 0
            for (words, opens), every in zip(words_of(part), layers):
                yield Sentence(words, every, opens, lines[at : at + len(words)])
                at += len(words)

    def check(self) -> Held:
        """Read all of the file for the errors that it may have."""
        held = Held([], Counter(), [])
        for columns in self.parts():
            part = columns[0][0].part
            if self.reader.columns.count_documents:
                held.opens.extend(len(held.lengths) + at for at in sorted(document_starts(part)))
            held.lengths.extend(np.diff(part.tags.offsets).tolist())
            for _, spans in columns:
                counts = np.bincount(spans.label, minlength=len(spans.labels)).tolist()
                held.labels.update({label: n for label, n in zip(spans.labels, counts) if n})
        return held

    def parts(self) -> Iterator[list[tuple[TaggedPart, SpanColumns]]]:
        """The parts of the file that are good: each layer with its spans."""
        reading, found = self.reading, list[Violation]()
        for part in self.reader:
            require_tokens(part)
            columns = [TaggedPart(layer, reading.scheme) for layer in self._columns(part)]
            self.violations += sum(tagged.pieces.found.total for tagged in columns)
            if reading.policy.refuses:
                found += (wrong for tagged in columns for wrong in tagged.violations())
            if not found:
                spans = [tagged.spans(reading.policy, reading.labelled) for tagged in columns]
                if reading.names:
                    spans = [named(some, name) for some, name in zip(spans, reading.names)]
                yield list(zip(columns, spans))
        if found:
            error = refusal(reading.scheme, sorted(found, key=lambda wrong: wrong.line or 0))
            given = self.reader.columns
            layers = [replace(given, tag=layer) for layer in reading.layers] or [given]
            if not reading.every:
                files = [Corpus(str(self.reader.path), options_of(each)) for each in layers]
                error.schemes = likely_schemes(files, reading.scheme)
            raise error

    def _columns(self, part: Part) -> Iterator[Part]:
        """The part once for each layer."""
        if self.reading.alone and not self.reading.layers and part.layout.width > TOKEN_AND_TAG:
            raise ColumnError(
                f"{part.name} has {part.layout.width} columns: name each that holds tags (--layer "
                "1 --layer 2, for example), or the only one that does (--layer -1 is the last).",
                part.name,
            )
        every = range(part.layout.width) if self.reading.every else ()
        others = [column for column in every if column != part.layout.token % len(every)]
        for column in self.reading.layers or others or [part.layout.tag]:
            layout = part.layout._replace(tag=column)
            if layout == part.layout:
                yield part
                continue
            scanned = kernels.scan(part.buffer, True, layout, self.reader.vocabulary)
            if scanned.wrong:
                raise self.reader.refusal(part.buffer, scanned.wrong, part.line, layout)
            tags = CodedTags.trusted(scanned.codes, scanned.offsets, self.reader.tag_names())
            yield replace(part, scanned=scanned, tags=tags, layout=layout)

    def _layers(self, tagged: TaggedPart, spans: SpanColumns) -> Iterator[Layer]:
        """One layer of each sentence."""
        tags = tagged.part.tags.lists()
        rewritten: list[list[str]] = [[]] * len(tags)
        if self.reading.tag_scheme:
            with tagged.part.locating():
                offsets = tagged.part.tags.offsets
                rewritten = write_spans(spans, offsets, self.reading.tag_scheme).lists()
        for number, (old, members, new) in enumerate(zip(tags, spans, rewritten)):
            yield Layer(old, members, *tagged.pieces.absent(number), new)


def named(spans: SpanColumns, name: str) -> SpanColumns:
    """The same spans; those without a label have this one."""
    if "" not in spans.labels:
        return spans
    labels = tuple(dict.fromkeys(label or name for label in spans.labels))
    number = np.array([labels.index(label or name) for label in spans.labels], dtype=np.int32)
    columns = (spans.sentence, spans.start, spans.end, number[spans.label])
    return SpanColumns.trusted(columns, labels, spans.sentences)


def options_of(columns: Columns) -> ReadOptions:
    """Return how to read the same columns."""
    return ReadOptions(
        "columns",
        delimiter=columns.delimiter or "whitespace",
        token=columns.token,
        tag=columns.tag,
        comment=columns.comment,
        encoding=columns.encoding,
        documents="markers" if columns.markers else "tokens",
    )


class PartWords:
    """The words of the sentences of a file, part by part, and whether one begins a document."""

    def __init__(self, reader: ColumnReader):
        self.count_documents = reader.columns.count_documents
        self._opens = True

    def __call__(self, part: Part) -> Iterator[tuple[list[str], bool]]:
        """Those of the next part."""
        starts = document_starts(part) if self.count_documents else set()
        places = zip(part.scanned.token_begin.tolist(), part.scanned.token_end.tolist())
        words = [part.buffer[begin:end].decode() for begin, end in places]
        for number, (begin, end) in enumerate(pairwise(part.tags.offsets.tolist())):
            yield words[begin:end], self._opens or number in starts
            self._opens = False
        self._opens = self._opens or len(part.tags) in starts


def require_tokens(part: Part) -> None:
    """Raise for the first token that is empty: a Doc has none."""
    for at in np.flatnonzero(part.scanned.token_begin == part.scanned.token_end)[:1].tolist():
        line = part.flat_number(at)
        raise ColumnError(
            f"{part.name}, line {line}: the token is empty, and a Doc has no empty tokens. "
            "Is the column right (--token)?",
            part.name,
            line,
        )


def document_starts(part: Part) -> set[int]:
    """The sentences that begin a document; one more than there are stands for what follows."""
    if not part.scanned.documents:
        return set()
    signs = (*part.layout.markers, *([part.layout.comment] if part.layout.comment else []))
    lines = [
        number
        for number, row in enumerate(part.buffer.split(b"\n"))
        if row.startswith(signs)
        and kind_of(row.removesuffix(b"\r"), part.layout) in (MARKER, NEWDOC)
    ]
    first = part.scanned.line[part.tags.offsets[:-1]]
    return set(np.searchsorted(first, lines).tolist())
