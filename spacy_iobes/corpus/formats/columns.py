"""Column files: one token on a line, columns of tags, a blank line between sentences."""

from __future__ import annotations

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
from ...codes.write import write_spans
from ...errors import ColumnError, FileError, InexpressibleError, SpanError
from ...kernels.columns_numpy import MARKER, NEWDOC, kind_of
from ...span import Span
from ..conll import AUTO, BOM, MARKERS, ColumnReader, Columns, Part, delimiter_named
from ..files import Progress, read_bytes, shown, write_bytes
from ..findings import Finding, finding_lines
from ..inputs import is_stream
from ..sentences import Sentences
from ..words import Words
from .options import LayerName, ReadOptions, SaveOptions

DOCSTART = b"-DOCSTART-"


@dataclass(frozen=True, eq=False)
class ColumnOrigin:
    """The lines of some sentences: the part of the file, and where the tags of each layer are."""

    part: Part
    places: tuple[tuple[Ints, Ints], ...]
    mark: bytes
    suffix: bool

    def cut(self, begin: int, end: int) -> None:
        """Lines are edited part by part: some of them cannot be."""


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Read a column file, part by part, in memory that does not grow with it."""
    columns, layers = _columns(path, how)
    reader = ColumnReader(path, columns, progress)
    opens, documents, sentences = True, 0, 0
    for part in reader:
        starts = document_starts(part) if columns.count_documents else set()
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
                b"" if sentences or documents else reader.mark,
                how.suffix,
            ),
        )
        documents, sentences = documents + len(begin), sentences + len(part.tags)


def _words(part: Part) -> Words:
    return Words(part.buffer, part.scanned.token_begin, part.scanned.token_end)


def _columns(path: str | Path, how: ReadOptions) -> tuple[Columns, tuple[LayerName, ...]]:
    """Return how to scan a file, and its layers."""
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
        return columns, layers or (LayerName(how.tag),)
    return _headed(path, columns, layers)


def _headed(
    path: str | Path, columns: Columns, layers: tuple[LayerName, ...]
) -> tuple[Columns, tuple[LayerName, ...]]:
    """Return how to scan a file whose first line names its columns, and is no token.

    The layers are those that were named, or all columns but that of the tokens.
    """
    name, first = shown(path), _first_line(path, columns.encoding)
    if not first.strip():
        return columns, layers or (LayerName(columns.tag),)
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
    return replace(columns, tag=found[0].column, markers=(*columns.markers, first)), found


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
    lines = [
        number
        for number, row in enumerate(part.buffer.split(b"\n"))
        if row.startswith(signs)
        and kind_of(row.removesuffix(b"\r"), part.layout) in (MARKER, NEWDOC)
    ]
    first = part.scanned.line[part.tags.offsets[:-1]]
    return set(np.searchsorted(first, lines).tolist())


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


def edit(part: Sentences, layers: Sequence[CodedTags]) -> bytes:
    """Return the lines of sentences with other tags in their layers; all else stays as it was."""
    origin: ColumnOrigin = part.origin
    if origin.suffix:
        layers = [_renamed(layer, suffixed) for layer in layers]
    for tag in dict.fromkeys(tag for layer in layers for tag in layer.tags):
        if breaks(tag.encode(), origin.part.layout.delimiter):
            raise FileError(f"{part.name}: the tag {tag!r} would break its column.", part.name)
    order = np.argsort([begin[0] if len(begin) else 0 for begin, _ in origin.places])
    names, codes, at = list[bytes](), list[Ints](), 0
    for number in order.tolist():
        codes.append(layers[number].codes + np.int32(at))
        names += (tag.encode() for tag in layers[number].tags)
        at = len(names)
    begin, end = (
        np.stack([origin.places[number][side] for number in order.tolist()], axis=1).ravel()
        for side in (0, 1)
    )
    return origin.mark + kernels.splice(
        origin.part.buffer, begin, end, np.stack(codes, axis=1).ravel(), names
    )


def breaks(field: bytes, delimiter: bytes) -> bool:
    """Return whether a field would not be read back as one: empty delimiters are white space."""
    held = (delimiter,) if delimiter else (b" ", b"\t")
    return any(each in field for each in (*held, b"\n", b"\r"))


def save(
    parts: Iterable[tuple[Sentences, Known]], path: str | Path, how: SaveOptions
) -> Sequence[Finding]:
    """Write sentences as columns, in the scheme `how.to_scheme`; return what was left out.

    Sentences that come from columns keep all but their tags. For others, documents begin with a
    marker, if one of them has several sentences.
    """
    scheme, delimiter = get_scheme(how.to_scheme), delimiter_named(how.delimiter).encode() or b" "
    marked, first, left_out = False, True, list[Finding]()
    with write_bytes(path, how.encoding) as put:
        for part, known in parts:
            layers, lost = arranged(part, known, how)
            left_out += lost
            tags = [
                _tags(part, number, layer, known, scheme) for number, layer in enumerate(layers)
            ]
            if isinstance(part.origin, ColumnOrigin) and len(tags) == len(part.origin.places):
                put(edit(part, tags))
                continue
            if not len(part):
                continue
            part = _writable(part, tags, delimiter)
            marked = marked or len(part.opens) < len(part) or bool(part.before[0])
            if first and how.header:
                put(_header(part, len(tags), delimiter))
            put(_rows(part, delimiter, marked))
            first = False
    return left_out


def arranged(
    part: Sentences, known: Known, how: SaveOptions
) -> tuple[Sequence[SpanColumns], list[Finding]]:
    """Return the spans that go to each column of tags, and those that find none, if `lossy`."""
    if how.order == "label":
        layers = [known.spans.with_labels([label]) for label in known.spans.labels]
    elif how.order == "source" and (known.layers or known.spans.disjoint):
        layers = list(known.layers) or [known.spans]
    else:
        layers = known.spans.in_layers(how.order == "innermost")
    count = how.layers or len(layers)
    deep = [row for layer in layers[count:] for row in zip(layer.sentence.tolist(), layer.spans())]
    findings = [
        Finding(
            "deep",
            part.place(part.at(sentence, start)),
            sentence,
            label,
            ((start, end, part.text(sentence, start, end)),),
        )
        for sentence, (start, end, label) in deep
    ]
    if findings and not how.lossy:
        raise InexpressibleError(
            f"{'; '.join(finding_lines(findings))}. Choose more columns (--layers), another order "
            "or another format, or leave them out (--lossy).",
            [Span(start, end, label) for _, (start, end, label) in deep],
        )
    none = known.spans.where(slice(0, 0))
    return [*layers[:count], *[none] * (count - len(layers))], findings


def _tags(
    part: Sentences, number: int, spans: SpanColumns, known: Known, scheme: Scheme
) -> CodedTags:
    """Return the tags of one column; `-` and `!` are where the source has them."""
    try:
        tags = write_spans(spans, part.offsets, scheme)
    except SpanError as error:
        raise part.locate(error) from error
    if number < len(part.tags):
        return keep_absent(part.tags[number], tags)
    names, codes = tags.tags, tags.codes
    for flags, tag in ((known.missing, MISSING), (known.blocked, BLOCKED)):
        if flags is not None and not part.tags:
            codes = np.where(flags, np.int32(len(names)), codes)
            names = (*names, tag)
    return CodedTags.trusted(codes, part.offsets, names)


def _header(part: Sentences, count: int, delimiter: bytes) -> bytes:
    labels = part.layer_labels or tuple(f"tags{number}" for number in range(1, count + 1))
    return delimiter.join([b"token", *(label.encode() for label in labels)]) + b"\n"


def _rows(part: Sentences, delimiter: bytes, marked: bool) -> bytes:
    """Return the lines of some sentences, each of which a blank line follows."""
    words = part.words
    names = [[delimiter + tag.encode() for tag in layer.tags] for layer in part.tags]
    columns = [map(n.__getitem__, layer.codes.tolist()) for n, layer in zip(names, part.tags)]
    places = zip(words.begin.tolist(), words.end.tolist())
    tokens = (words.buffer[begin:end] for begin, end in places)
    lines = [b"".join(row) + b"\n" for row in zip(tokens, *columns)]
    marker = DOCSTART + (delimiter + b"O") * len(part.tags) + b"\n\n"
    opens = set(part.opens.tolist()) if marked else set[int]()
    pieces = list[bytes]()
    for sentence, (begin, end) in enumerate(pairwise(part.offsets.tolist())):
        if begin < end:
            pieces += [marker] if sentence in opens else []
            pieces += [*lines[begin:end], b"\n"]
    return b"".join(pieces)


def _writable(part: Sentences, tags: Sequence[CodedTags], delimiter: bytes) -> Sentences:
    """Return sentences with these tags, without tokens that are white space; check the others."""
    part = replace(part, tags=tuple(tags), given=None).without_blanks()
    if delimiter in part.words.buffer:
        for at, token in enumerate(part.words.strings()):
            if breaks(token.encode(), delimiter):
                raise FileError(
                    f"{part.place(at)}: the token {token!r} holds the delimiter to be written. "
                    "Choose another one (--delimiter).",
                    part.name,
                )
    return part
