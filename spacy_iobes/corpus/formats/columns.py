"""Column files: one token on a line, columns of tags, a blank line between sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from ... import kernels
from ...arrays import Ints
from ...codes.annotated_runs import keep_absent
from ...codes.known import Known
from ...codes.scheme import Scheme, get_scheme
from ...codes.span_columns import SpanColumns
from ...codes.tag_columns import CodedTags
from ...codes.violation import BLOCKED, MISSING
from ...errors import ColumnError, FileError, InexpressibleError, SpanError
from ...kernels.columns_numpy import MARKER, NEWDOC, columns_of, kind_of
from ..conll import AUTO, BOM, MARKERS, ColumnReader, Columns, Part, delimiter_named
from ..files import Progress, read_bytes, shown, write_bytes
from ..findings import NO_SPANS, Finding, finding_lines
from ..inputs import is_stream
from ..sentences import Sentences
from ..words import Words
from .options import LayerName, ReadOptions, SaveOptions

MARKS = tuple(marker.encode() for marker in MARKERS)
AS_READ = SaveOptions(to="columns")


@dataclass(frozen=True, eq=False)
class ColumnOrigin:
    """The lines of some sentences: the part of the file, and where the tags of each layer are.

    `marked` says whether a line that marks a document stands before the first sentence.
    """

    part: Part
    places: tuple[tuple[Ints, Ints], ...]
    columns: tuple[int, ...]
    mark: bytes
    suffix: bool
    marked: bool = False

    def cut(self, begin: int, end: int) -> None:
        """Lines are edited part by part: some of them cannot be."""


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Read a column file, part by part, in memory that does not grow with it."""
    columns, layers, names = _columns(path, how)
    reader = ColumnReader(path, columns, progress)
    opens, begun, marked, documents, sentences = True, False, False, 0, 0
    for part in reader:
        starts = document_starts(part) if columns.count_documents else set()
        marked = marked or 0 in starts
        begin = sorted({0, *starts} if opens else starts)
        if len(part.tags):
            opens = begin[-1:] == [len(part.tags)]
            begin = [start for start in begin if start < len(part.tags)]
        else:
            opens, begin = opens or bool(starts), []
        parts = list(_layers(reader, part, layers))
        tags = tuple(layer.tags for layer in parts)
        yield Sentences(
            reader.name,
            part.tags.offsets,
            np.array(begin, dtype=np.int64),
            partial(_words, part),
            tuple(_renamed(x, prefixed) for x in tags) if how.suffix else tags,
            tuple(layer.label for layer in layers) if any(x.label for x in layers) else (),
            line=part.scanned.line + np.int32(part.line),
            before=(documents, sentences),
            origin=ColumnOrigin(
                part,
                tuple((layer.scanned.tag_begin, layer.scanned.tag_end) for layer in parts),
                tuple(layer.column for layer in layers),
                b"" if begun else reader.mark,
                how.suffix,
                marked,
            ),
            read_column=partial(_column, part, names),
        )
        marked = len(part.tags) in starts if len(part.tags) else marked
        documents, sentences = documents + len(begin), sentences + len(part.tags)
        begun = True


def needs_scheme(path: str | Path, how: ReadOptions) -> bool:
    """Return that columns of tags name no scheme."""
    return True


def _words(part: Part) -> Words:
    return Words(part.buffer, part.scanned.token_begin, part.scanned.token_end)


def _column(part: Part, names: Sequence[str], name: str | int) -> CodedTags:
    """Return any column of the lines, by its number or by its name in the header."""
    width = part.layout.width
    number = names.index(name) if isinstance(name, str) and name in names else name
    if not isinstance(number, int) or (width and not -width <= number < width):
        there = f"columns 0 to {width - 1}"
        there += f": {', '.join(names)}" if names else ", which have no names without a header"
        raise ColumnError(f"{part.name}: no column {name!r}. There are {there}.", part.name)
    vocabulary = dict[bytes, int]()
    scanned = kernels.scan(part.buffer, True, part.layout._replace(tag=number), vocabulary)
    tags = tuple(tag.decode() for tag in vocabulary)
    return CodedTags.trusted(scanned.codes, scanned.offsets, tags)


Found = tuple[Columns, tuple[LayerName, ...], Sequence[str]]


def _columns(path: str | Path, how: ReadOptions) -> Found:
    """Return how to scan a file, its layers, and the names of its columns if a header has them."""
    layers = how.named_layers
    columns = Columns(
        delimiter_named(how.delimiter),
        how.token,
        layers[0].column if layers else how.tag,
        how.comment,
        markers=() if how.documents == "tokens" else MARKERS,
        encoding=how.encoding,
        count_documents=how.documents == "markers",
    )
    if not how.header:
        return columns, layers or (LayerName(how.tag),), ()
    return _headed(path, columns, layers)


def _headed(path: str | Path, columns: Columns, layers: tuple[LayerName, ...]) -> Found:
    """Return the same for a file whose first line names its columns, and is no token.

    The layers are those that were named, or all columns but that of the tokens.
    """
    name, first = shown(path), _first_line(path, columns.encoding)
    if not first.strip():
        return columns, layers or (LayerName(columns.tag),), ()
    delimiter = columns.delimiter
    if delimiter == AUTO:
        delimiter = "\t" if "\t" in first else ""
    names = first.split(delimiter) if delimiter else first.split()
    every = range(len(names))
    for number in (columns.token, *(layer.column for layer in layers)):
        if number not in every and number + len(names) not in every:
            message = f"there is no column {number}: the header has {len(names)} columns."
            raise ColumnError(f"{name}, line 1: {message}", name, 1)
    chosen = layers or tuple(LayerName(i) for i in every if i != every[columns.token])
    if not chosen:
        raise ColumnError(f"{name}, line 1: the header names no column of tags.", name, 1)
    found = tuple(LayerName(i, label or names[i]) for i, label in chosen)
    columns = replace(columns, tag=found[0].column, markers=(*columns.markers, first))
    return columns, found, names


def _first_line(path: str | Path, encoding: str) -> str:
    if is_stream(str(path)):
        message = f"{shown(path)}: a pipe can be read only once. Save it to a file and name that."
        raise FileError(message, str(path))
    chunk = next(read_bytes(path, encoding), b"").removeprefix(BOM)
    return chunk.partition(b"\n")[0].decode().rstrip("\r")


def _layers(reader: ColumnReader, part: Part, layers: Sequence[LayerName]) -> Iterator[Part]:
    """Yield the part once for each layer, with its tags."""
    for layer in layers:
        layout = part.layout._replace(tag=layer.column)
        if layout == part.layout:
            yield part
            continue
        scanned = kernels.scan(part.buffer, True, layout, reader.vocabulary)
        if scanned.wrong:
            raise reader.refusal(part.buffer, scanned.wrong, part.line, layout)
        tags = CodedTags.trusted(scanned.codes, scanned.offsets, reader.tag_names())
        yield replace(part, scanned=scanned, tags=tags, layout=layout)


def document_starts(part: Part) -> set[int]:
    """Return the sentences that begin a document; that behind the last one may be among them."""
    if not part.scanned.documents:
        return set()
    signs = (*part.layout.markers, *([part.layout.comment] if part.layout.comment else []))
    found = set[int]()
    for sign in signs:
        if len(found) < part.scanned.documents:
            lines = _lines_with(part.buffer, sign)
            found |= {at for at in lines if _kind(part, at) in (MARKER, NEWDOC)}
    begin = sorted(found)
    first = part.scanned.token_begin[part.tags.offsets[:-1]]
    return set(np.searchsorted(first, begin).tolist())


def _lines_with(buffer: bytes, sign: bytes) -> Iterator[int]:
    """Yield where lines begin that start with a sign; this is faster than to split the lines."""
    if buffer.startswith(sign):
        yield 0
    at = buffer.find(b"\n" + sign)
    while at >= 0:
        yield at + 1
        at = buffer.find(b"\n" + sign, at + 1)


def _kind(part: Part, begin: int) -> str:
    """Return what the line is that begins there."""
    end = part.buffer.find(b"\n", begin)
    row = part.buffer[begin : end if end >= 0 else None]
    return kind_of(row.removesuffix(b"\r"), part.layout)


def _renamed(layer: CodedTags, rename: Callable[[str], str]) -> CodedTags:
    return CodedTags.trusted(layer.codes, layer.offsets, tuple(map(rename, layer.tags)))


def prefixed(tag: str) -> str:
    """Return `B-PER` for `PER-B`."""
    label, hyphen, prefix = tag.rpartition("-")
    return f"{prefix}-{label}" if hyphen and label else tag


def suffixed(tag: str) -> str:
    """Return `PER-B` for `B-PER`."""
    prefix, hyphen, label = tag.partition("-")
    return f"{label}-{prefix}" if hyphen and label else tag


def edit(part: Sentences, layers: Sequence[CodedTags], how: SaveOptions = AS_READ) -> bytes:
    """Return the lines of sentences with other tags in their layers; all else stays as it was.

    Lines are written anew if `how` names a delimiter, or wants nothing but tokens and tags, or one
    more column of tags.
    """
    origin: ColumnOrigin = part.origin
    if origin.suffix:
        layers = [_renamed(layer, suffixed) for layer in layers]
    between = delimiter_named(how.delimiter).encode() or origin.part.layout.delimiter
    for tag in dict.fromkeys(tag for layer in layers for tag in layer.tags):
        if breaks(tag.encode(), between):
            raise FileError(f"{part.name}: the tag {tag!r} would break its column.", part.name)
    names, codes, at = list[bytes](), list[Ints](), 0
    for layer in layers:
        codes.append(layer.codes + np.int32(at))
        names += (tag.encode() for tag in layer.tags)
        at = len(names)
    table = np.stack(codes, axis=1)
    if how.append or how.only_tags or how.delimiter:
        spliced = _anew(origin, [[names[c] for c in row] for row in table.tolist()], how)
    else:
        order = np.argsort([begin[0] if len(begin) else 0 for begin, _ in origin.places])
        begin, end = (
            np.stack([origin.places[number][side] for number in order.tolist()], axis=1).ravel()
            for side in (0, 1)
        )
        spliced = kernels.splice(origin.part.buffer, begin, end, table[:, order].ravel(), names)
    return origin.mark + spliced


def _anew(origin: ColumnOrigin, tags: Sequence[Sequence[bytes]], how: SaveOptions) -> bytes:
    """Return lines that are written anew, with these tags; other lines stay as they were."""
    part, layout = origin.part, origin.part.layout
    given = delimiter_named(how.delimiter).encode()
    between = given or layout.delimiter or b" "
    bounds = [_line(part, at) for at in range(len(tags))]
    rows = list[bytes]()
    for at, ((begin, end), new) in enumerate(zip(bounds, tags)):
        row = part.buffer[begin:end]
        if how.append:
            rows.append(between.join([row, *new]))
            continue
        fields = [row[a:b] for a, b in columns_of(row, layout.delimiter)]
        for column, tag in zip(origin.columns, new):
            fields[column] = tag
        fields = [fields[layout.token], *new] if how.only_tags else fields
        for field in fields if given else ():
            if breaks(field, given):
                place = f"{part.name}, line {part.flat_number(at)}"
                raise FileError(
                    f"{place}: {field.decode()!r} holds the delimiter to be written.", part.name
                )
        rows.append(between.join(fields))
    first, last = (np.array([bound[side] for bound in bounds], dtype=np.int32) for side in (0, 1))
    return kernels.splice(part.buffer, first, last, np.arange(len(rows), dtype=np.int32), rows)


def _line(part: Part, at: int) -> tuple[int, int]:
    """Return where the line of a token begins and ends, without its line end."""
    begin = part.buffer.rfind(b"\n", 0, part.scanned.token_begin[at]) + 1
    end = part.buffer.find(b"\n", begin)
    end = len(part.buffer) if end < 0 else end
    return begin, end - part.buffer[begin:end].endswith(b"\r")


def breaks(field: bytes, delimiter: bytes) -> bool:
    """Return whether a field would not be read back as one: empty delimiters are white space."""
    held = (delimiter,) if delimiter else (b" ", b"\t")
    return any(each in field for each in (*held, b"\n", b"\r"))


def save(
    parts: Iterable[tuple[Sentences, Known]], path: str | Path, how: SaveOptions
) -> Sequence[Finding]:
    """Write sentences as columns, in the scheme `how.to_scheme`; return what was left out.

    Sentences that come from columns keep all but their tags. Others are read twice, and their
    documents begin with a marker, if there are several and one has several sentences.
    """
    writer = ColumnWriter(how, parts)
    with write_bytes(path, how.encoding) as put:
        for part, known in parts:
            put(writer.render(part, writer.tags(part, known)))
        return writer.finish()


def save_tags(parts: Iterable[Sentences], path: str | Path, how: SaveOptions) -> None:
    """Write sentences with the tags that they have, legal or not: a column for each layer."""
    writer = ColumnWriter(how, ())
    writer.arrangement = Arrangement(marked=how.document_markers)
    with write_bytes(path, how.encoding) as put:
        for part in parts:
            put(writer.render(part, part.tags))


class ColumnWriter:
    """Turns sentences into lines, part by part, and keeps what was left out of them."""

    def __init__(self, how: SaveOptions, parts: Iterable[tuple[Sentences, Known]]):
        self.how = how
        self.parts = parts
        self.scheme = get_scheme(how.to_scheme) if how.to_scheme else None
        self.arrangement: Arrangement | None = None
        self.left_out: list[Finding] = []
        self._no_spans: list[Finding] = []
        self._begun = False

    def tags(self, part: Sentences, known: Known) -> list[CodedTags]:
        """Return the tags of each column; `-` and `!` are where the source has them."""
        if self.arrangement is None:
            as_read = isinstance(part.origin, ColumnOrigin) and self.how.order == "source"
            count = Arrangement(len(part.tags))
            self.arrangement = (
                count if as_read and count.count else Arrangement.of(self.parts, self.how)
            )
        layers, lost = self.arrangement.arrange(part, known, self.how)
        self.left_out += lost
        self._no_spans += (found for found in part.findings if found.kind in NO_SPANS)
        scheme = self.scheme or part.named_scheme()
        return [_tags(part, number, layer, known, scheme) for number, layer in enumerate(layers)]

    def finish(self) -> list[Finding]:
        """Return the spans that were left out; raise for other mentions, if nothing may be lost."""
        if self._no_spans and not self.how.lossy:
            lines = "; ".join(finding_lines(self._no_spans))
            raise InexpressibleError(
                f"{lines}. Columns have no such mentions: leave them out (--lossy)."
            )
        return self.left_out

    def render(self, part: Sentences, tags: Sequence[CodedTags]) -> bytes:
        """Return the lines of a part with these tags."""
        anew = self.how.append or self.how.only_tags
        if isinstance(part.origin, ColumnOrigin) and (anew or len(tags) == len(part.origin.places)):
            return edit(part, tags, self.how)
        if not len(part):
            return b""
        delimiter = delimiter_named(self.how.delimiter or "tab").encode() or b" "
        part = _writable(part, tags, delimiter)
        arrangement = self.arrangement or Arrangement()
        labels = arrangement.labels or part.layer_labels
        begun, self._begun = self._begun, True
        if begun:
            return _rows(part, delimiter, arrangement.marked)
        rows = _rows(part, delimiter, arrangement.marked)
        mark = BOM if rows.startswith(BOM) else b""
        return mark + (_header(labels, len(tags), delimiter) if self.how.header else b"") + rows


@dataclass(frozen=True)
class Arrangement:
    """How many columns of tags a file gets, perhaps one for each of some `labels`.

    Its documents are `marked` if somebody wants that, or if one of several has several sentences.
    """

    count: int = 0
    labels: tuple[str, ...] = ()
    marked: bool = False

    @classmethod
    def of(cls, parts: Iterable[tuple[Sentences, Known]], how: SaveOptions) -> Arrangement:
        """Return what all parts of a source need: as many columns as its deepest sentence.

        Nothing is read of it where `how` says all of that.
        """
        if how.layers and how.document_markers and how.order != "label":
            return cls(how.layers, (), True)
        deepest, labels, documents, long = 1, set[str](), 0, False
        for part, known in parts:
            filled = np.flatnonzero(np.diff(part.offsets))
            documents += len(part.opens)
            document = np.searchsorted(part.opens, filled, side="right")
            long = long or bool((np.bincount(document) > 1).any())
            labels.update(known.spans.labels)
            if how.order != "label":
                deepest = max(deepest, len(_layers_of(known, how.order, ())))
        marked = how.document_markers or (long and documents > 1)
        if how.order != "label":
            return cls(how.layers or deepest, (), marked)
        if how.layers not in (0, len(labels)):
            raise InexpressibleError(
                f"One column for each label is {len(labels)} columns, not {how.layers}."
            )
        return cls(len(labels), tuple(sorted(labels)), marked)

    def arrange(
        self, part: Sentences, known: Known, how: SaveOptions
    ) -> tuple[Sequence[SpanColumns], list[Finding]]:
        """Return the spans of each column of tags, and, if `lossy`, those that find no place."""
        layers, rest = list[SpanColumns](), list[SpanColumns]()
        for layer in _layers_of(known, how.order, self.labels):
            first, *others = [layer] if layer.disjoint else layer.in_layers()
            layers.append(first)
            rest += others
        count = self.count or len(layers)
        deep = _found("deep", part, layers[count:]) + _found("overlapping", part, rest)
        if deep and not how.lossy:
            enough = f"{len(layers)} columns (--set layers={len(layers)}), "
            raise InexpressibleError(
                f"{'; '.join(finding_lines(deep))}. Choose {enough * (not rest)}another order "
                "(--set order), another format, or leave them out (--lossy)."
            )
        none = known.spans.where(slice(0, 0))
        return [*layers[:count], *[none] * (count - len(layers))], deep


def _layers_of(known: Known, order: str, labels: Sequence[str]) -> Sequence[SpanColumns]:
    """Return spans in layers: as the source has them, by depth, or one layer for each label."""
    if order == "label":
        return [known.spans.with_labels([label]) for label in labels]
    if order == "source" and known.layers:
        return known.layers
    return [known.spans] if known.spans.disjoint else known.spans.in_layers(order == "innermost")


def _found(kind: str, part: Sentences, layers: Sequence[SpanColumns]) -> list[Finding]:
    """Return a finding for each span of some layers."""
    rows = [row for layer in layers for row in zip(layer.sentence.tolist(), layer.spans())]
    return [
        Finding(
            kind,
            part.place(part.at(sentence, start)),
            sentence,
            label,
            ((start, end, part.text(sentence, start, end)),),
        )
        for sentence, (start, end, label) in rows
    ]


def _tags(
    part: Sentences, number: int, spans: SpanColumns, known: Known, scheme: Scheme
) -> CodedTags:
    """Return the tags of one column; `-` and `!` are where the source has them."""
    from ...codes.write import write_spans  # here: nobody who only reads needs it

    try:
        tags = write_spans(spans, part.offsets, scheme)
    except SpanError as error:
        raise part.locate(error) from error
    if number < len(part.tags):
        label = part.layer_labels[number] if part.layer_labels else ""
        if label and not any("-" in tag[1:] for tag in part.tags[number].tags):
            bare = tuple(tag.removesuffix(f"-{label}") for tag in tags.tags)
            tags = CodedTags.trusted(tags.codes, tags.offsets, bare)
        return keep_absent(part.tags[number], tags)
    names, codes = tags.tags, tags.codes
    for flags, tag in ((known.missing, MISSING), (known.blocked, BLOCKED)):
        if flags is not None and not part.tags:
            codes = np.where(flags, np.int32(len(names)), codes)
            names = (*names, tag)
    return CodedTags.trusted(codes, part.offsets, names)


def _header(labels: Sequence[str], count: int, delimiter: bytes) -> bytes:
    """Return a line that names the columns."""
    names = labels or [f"tags{number}" for number in range(1, count + 1)]
    for name in names:
        if reason := _trouble(name.encode(), delimiter):
            raise FileError(f"As the name of a column, {name!r} {reason}")
    return delimiter.join(name.encode() for name in ("token", *names)) + b"\n"


def _rows(part: Sentences, delimiter: bytes, marked: bool) -> bytes:
    """Return the lines of some sentences, each of which a blank line follows."""
    words = part.words
    ends = [b""] * (len(part.tags) - 1) + [b"\n"]
    names = [[delimiter + t.encode() + e for t in x.tags] for x, e in zip(part.tags, ends)]
    columns = [map(n.__getitem__, layer.codes.tolist()) for n, layer in zip(names, part.tags)]
    places = zip(words.begin.tolist(), words.end.tolist())
    tokens = (words.buffer[begin:end] for begin, end in places)
    lines = list(map(b"".join, zip(tokens, *columns)))
    marker = MARKS[0] + (delimiter + b"O") * len(part.tags) + b"\n\n"
    opens = set(part.opens.tolist()) if marked else set[int]()
    pieces, opening = list[bytes](), False
    for sentence, (begin, end) in enumerate(pairwise(part.offsets.tolist())):
        opening = opening or sentence in opens
        if begin < end:  # sentences of nothing but white space are left out
            pieces += [marker] if opening else []
            pieces += [*lines[begin:end], b"\n"]
            opening = False
    return b"".join(pieces)


def _writable(part: Sentences, tags: Sequence[CodedTags], delimiter: bytes) -> Sentences:
    """Return sentences with these tags, without tokens that are white space; check the others."""
    part = replace(part, tags=tuple(tags), given=None).without_blanks()
    for tag in dict.fromkeys(tag for layer in tags for tag in layer.tags):
        if reason := _trouble(tag.encode(), delimiter):
            raise FileError(f"{part.name}: the tag {tag!r} {reason}", part.name)
    for at in _suspects(part.words, delimiter):
        token = part.words.strings(at, at + 1)[0]
        if reason := _trouble(token.encode(), delimiter):
            raise FileError(f"{part.place(at)}: the token {token!r} {reason}", part.name)
    return part


def _suspects(words: Words, delimiter: bytes) -> list[int]:
    """Return the tokens that hold the delimiter or a line break, or that begin like a marker."""
    signs = (b"\n", b"\r", b"\0", *(b"\t",) * (delimiter == b" "), delimiter, *MARKS)
    pattern = re.compile(b"|".join(map(re.escape, signs)))
    places = np.array([match.start() for match in pattern.finditer(words.buffer)], dtype=np.int64)
    tokens = np.searchsorted(words.begin, places, side="right") - 1
    inside = tokens >= 0
    inside[inside] = places[inside] < words.end[tokens[inside]]
    empty = np.flatnonzero(words.begin == words.end)
    return sorted({*tokens[inside].tolist(), *empty.tolist()})


def _trouble(field: bytes, delimiter: bytes) -> str:
    """Return why a token or a tag would not be read back, and what to do; empty if it would be."""
    if not field:
        return "is empty, which nothing in a column file can be: replace it in the source."
    if any(each in field for each in (b"\n", b"\r", b"\0")):
        return "holds a line break or NUL, which no column file can: replace it in the source."
    if delimiter in field or (delimiter == b" " and b"\t" in field):
        return "holds the delimiter: choose another one (--set output-delimiter), or replace it."
    if field.startswith(MARKS):
        return "would be read as a document marker: replace it in the source."
    return ""
