"""DocBin files (`.spacy`): read and edited as the arrays that they are, written from Docs."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, pairwise
from json import loads
from pathlib import Path
from typing import Any

import numpy as np
from spacy.attrs import DEP, ENT_IOB, ENT_TYPE, LEMMA, POS, SENT_START, TAG
from spacy.tokens import Doc
from spacy.vocab import Vocab

from ...arrays import Flags, Ints, Offsets, Values
from ...codes.known import Known
from ...codes.scheme import get_scheme
from ...codes.span_columns import SpanColumns
from ...codes.tag_columns import CodedTags
from ...codes.violation import BLOCKED, MISSING
from ...codes.write import write_spans
from ...errors import (
    FileError,
    InexpressibleError,
    IobesError,
    OverlapError,
    SettingError,
    SpanError,
    UnknownNameError,
)
from ...span import Span
from ..doc_layers import (
    DocLayer,
    doc_groups,
    entity_layer,
    first_overlap,
    group_layers,
    kept_layers,
)
from ..docs import GROUP, MORE, docs_of
from ..files import GZIP, STANDARD, Progress, shown, whole_file, write_bytes
from ..findings import NO_SPANS, Finding, finding_lines
from ..sentences import Sentences
from ..stored_docs import StoredDocs
from ..stored_edits import INSIDE, with_entities, with_group
from ..stored_groups import StoredGroup, span_rows, unpack, unpacked
from ..texts import sentencizer
from ..words import Words
from .options import ReadOptions, SaveOptions

ENDING = ".spacy"
ENOUGH = 200_000  # tokens of Docs that are looked at in one go
BIO = get_scheme("bio")
ATTRIBUTES = {"pos": POS, "tag": TAG, "dep": DEP, "lemma": LEMMA}
"""What tokens may have beside the annotation, by the name of the column."""


@dataclass(frozen=True, eq=False)
class DocBinOrigin:
    """The file that sentences are from, the span group that was read, and which tokens these are.

    Tokens are counted over the file. The entities were read if the group has no name. The sentences
    are those of the Docs, unless others were `asked` for.
    """

    stored: StoredDocs
    key: str
    begin: int
    end: int
    asked: bool = False

    def cut(self, begin: int, end: int) -> DocBinOrigin:
        """Return the origin of some of the tokens."""
        return replace(self, begin=self.begin + begin, end=self.begin + end)

    @classmethod
    def joined(cls, several: Sequence[Any], lengths: Sequence[int]) -> DocBinOrigin | None:
        """Return the origin of sentences that follow each other; None if their tokens do not."""
        if not follow_each_other(several) or any(a.end != b.begin for a, b in pairwise(several)):
            return None
        first: DocBinOrigin = several[0]
        return replace(first, end=several[-1].end)

    def docs(self, vocab: Vocab, first: int, last: int) -> list[Doc]:
        """Return Docs of the file, given their numbers, with all that they have.

        There are none where other sentences than theirs were asked for.
        """
        return [] if self.asked else list(self.stored.docs(vocab, first, last))

    def column(self, name: str | int, place: str, offsets: Offsets) -> CodedTags:
        """Return an attribute of the tokens, which are in these sentences.

        Raises for one that no token of the file has; `place` is the file.
        """
        there = [x for x, attr in ATTRIBUTES.items() if self.stored.column(attr).any()]
        if name not in there:
            raise UnknownNameError(
                f"{place}: no token has the attribute {name!r}. There are: "
                f"{', '.join(there) or 'none but the annotation'}.",
                str(name),
                there,
            )
        keys = self.stored.column(ATTRIBUTES[str(name)])[self.begin : self.end]
        numbers, codes = np.unique(self.stored.strings.of(keys), return_inverse=True)
        names = tuple(map(self.stored.strings.names.__getitem__, numbers.tolist()))
        return CodedTags.trusted(codes.astype(np.int32), offsets, names)


def follow_each_other(origins: Sequence[Any]) -> bool:
    """Return whether these are tokens of one file, each behind those before it."""
    first = origins[0] if origins else None
    return all(
        isinstance(each, DocBinOrigin)
        and isinstance(first, DocBinOrigin)
        and (each.stored, each.key) == (first.stored, first.key)
        for each in origins
    ) and all(a.end <= b.begin for a, b in pairwise(origins))


# Reading.


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Read the entities of a DocBin, or a span group; every Doc is a document.

    A Doc is one sentence if it has no others, or if `how.sentences` is `whole`; with `rules`, these
    tell the sentences of Docs that have no others. A sentence boundary inside an entity or a span
    of the group is no boundary.
    """
    if how.sentences == "lines":
        raise SettingError(
            f"{shown(path)}: a sentence of a .spacy file is what is marked as one (auto), the "
            "whole Doc (whole), or what rules find where nothing is marked (rules), not a line "
            "(--sentences)."
        )
    reader, sentences = _Reader.of(path, how, progress), 0
    for first, last in reader.stored.parts(ENOUGH):
        with _damage(path):
            part = reader.part(first, last, sentences)
        sentences += len(part)
        yield part


def load(path: str | Path, progress: Progress | None = None) -> StoredDocs:
    """Return what a DocBin file holds; damage is an error in one line."""
    with _damage(path):
        data = whole_file(path)
        if progress is not None:
            progress(len(data))
        return StoredDocs.of(gzip.decompress(data) if data.startswith(GZIP) else data)


def group_names(path: str | Path) -> set[str]:
    """Return the names of the span groups in a DocBin."""
    stored = load(path)
    with _damage(path):
        return {name for data in stored.groups for name in unpacked(data)}


@contextmanager
def _damage(path: str | Path) -> Iterator[None]:
    """Turn every error of zlib, msgpack, numpy and spaCy into one of the file."""
    try:
        yield
    except (IobesError, MemoryError):
        raise
    except Exception as error:
        detail = " ".join(f"{type(error).__name__}: {error}".split())
        raise FileError(
            f"{shown(path)}: not a DocBin, or a damaged one ({detail[:100]}). Name a {ENDING} "
            "file that spaCy wrote; convert makes one of files of other formats.",
            str(path),
        ) from error


@dataclass(frozen=True, eq=False)
class _Reader:
    """Turns Docs into sentences: with their entities, or with the spans of a group."""

    name: str
    stored: StoredDocs
    group: StoredGroup | None
    informed: bool
    whole: bool
    annotated: bool
    rules: Callable[[list[str]], Sequence[bool]] | None

    @classmethod
    def of(cls, path: str | Path, how: ReadOptions, progress: Progress | None) -> _Reader:
        """Read a file, and find out which annotation is asked for."""
        name, stored, group, key = shown(path), load(path, progress), None, how.spans_key

        def place(number: int) -> str:
            return f"{name}, Doc {number}"

        with _damage(path):
            groups = [unpacked(data) for data in stored.groups]
            every = [(n, found) for n, some in enumerate(groups) for found in some.values()]
            _, rows = span_rows(every, stored.bounds)
            stored.strings.of(rows["label"].astype(np.uint64))
            if how.annotated and (key or not stored.column(ENT_IOB).any()):
                key = _chosen(groups, key, name, stored)
                group = StoredGroup.read(groups, key, stored.bounds, place) if key else None
        informed = any(MORE.encode() in data for data in stored.user_data if data)
        rules = sentencizer(how.lang) if how.sentences == "rules" else None
        whole = how.sentences == "whole"
        reader = cls(name, stored, group, informed, whole, how.annotated, rules)
        if group is not None:
            reader._require_sound(group)
        return reader

    def _require_sound(self, group: StoredGroup) -> None:
        """Raise for spans without tokens; or without a label, if no layer of tags has them."""
        wrong = group.begin >= group.end
        wrong |= (group.label == 0) & (not group.layered)
        for row in np.flatnonzero(wrong)[:1].tolist():
            number = int(group.doc[row])
            begin, end = (
                int(x[row] - self.stored.bounds[number]) for x in (group.begin, group.end)
            )
            what, advice = "has no label", "Give it one, or leave it out."
            if begin == end:
                what, advice = "has no tokens", "Remove it from the group."
            text = self.stored.words(number, number + 1).text(begin, end)
            raise SpanError(
                f"{self.name}, Doc {number}: the span {begin}:{end} ({text!r}) in "
                f"spans[{group.key!r}] {what}. {advice}",
                [Span(begin, end, self.stored.strings.name(group.label[row]))],
            )

    def part(self, first: int, last: int, sentences: int) -> Sentences:
        """Return the sentences of some Docs, behind so many sentences of others."""
        stored = self.stored
        begin, end = stored.bounds[[first, last]].tolist()
        docs = stored.bounds[first : last + 1] - begin
        filled = np.diff(docs) > 0
        starts = (stored.column(SENT_START)[begin:end] == 1) & (not self.whole)
        starts[docs[:-1][filled]] = True
        if self.rules is not None:
            starts |= self._ruled(self.rules, starts, docs, stored.words(first, last))
        over = self._crossing(starts, first, last) if self.annotated else NO_ROWS
        inside = np.zeros(end - begin + 1, dtype=np.int64)
        np.add.at(inside, over.begin + 1, 1)
        np.add.at(inside, over.end, -1)
        starts &= np.cumsum(inside)[:-1] == 0
        doc = np.repeat(np.arange(last - first), np.diff(docs))
        counts = np.maximum(np.bincount(doc[starts], minlength=last - first), 1)
        boundaries = (np.flatnonzero(starts), docs[:-1][~filled], [end - begin])
        part = Sentences(
            self.name,
            np.sort(np.concatenate(boundaries)).astype(np.int64),
            (np.cumsum(counts) - counts).astype(np.int64),
            partial(stored.words, first, last),
            before=(first, sentences),
            info=tuple(map(_info, stored.user_data[first:last])) if self.informed else (),
            origin=DocBinOrigin(
                stored,
                "" if self.group is None else self.group.key,
                begin,
                end,
                self.whole or self.rules is not None,
            ),
            read_spellings=partial(stored.spellings, first, last),
        )
        column = partial(part.origin.column, place=self.name, offsets=part.offsets)
        part = replace(part, read_column=column)
        if not self.annotated:
            none = Known(part.nothing.spans, np.ones(part.tokens, dtype=bool))
            part = replace(part, given=none)
        elif self.group is None:
            codes, names = _entity_tags(stored, begin, end)
            tags = CodedTags.trusted(codes, part.offsets, names)
            part = replace(part, tags=(tags,), scheme=BIO.name)
        elif self.group.layered:
            layers = tuple(self._layers(self.group, part, first, last))
            part = replace(part, tags=layers, scheme=BIO.name)
        else:
            part = replace(part, given=self._given(self.group, part, first, last))
        return replace(part, findings=over.findings(part, stored)) if len(over.begin) else part

    def _ruled(
        self,
        rules: Callable[[list[str]], Sequence[bool]],
        starts: Flags,
        docs: Offsets,
        words: Words,
    ) -> Flags:
        """Return where rules begin sentences, in Docs of which only the first token begins one."""
        found, blank = np.zeros(len(starts), dtype=bool), words.blank()
        for begin, end in pairwise(docs.tolist()):
            if not starts[begin + 1 : end].any():
                tokens = np.flatnonzero(~blank[begin:end]) + begin
                found[tokens] = rules([words.strings(at, at + 1)[0] for at in tokens.tolist()])
        return found

    def _crossing(self, starts: Flags, first: int, last: int) -> _Rows:
        """Return the spans of some Docs that a sentence boundary is inside of."""
        begin = int(self.stored.bounds[first])
        if self.group is None:
            rows = _entity_runs(self.stored, starts, first, last)
        else:
            mine = self.group.rows(first, last)
            ends = (self.group.begin[mine] - begin, self.group.end[mine] - begin)
            rows = _Rows(*ends, self.group.label[mine])
        before = np.concatenate([[0], np.cumsum(starts)])
        over = before[rows.end] > before[rows.begin + 1]
        return _Rows(rows.begin[over], rows.end[over], rows.label[over])

    def _spans(self, group: StoredGroup, rows: Offsets, part: Sentences, first: int) -> SpanColumns:
        """Return rows of the group as spans of sentences, whose first Doc is given."""
        begin = int(self.stored.bounds[first])
        start, end = group.begin[rows] - begin, group.end[rows] - begin
        keys, number = np.unique(group.label[rows], return_inverse=True)
        names = [self.stored.strings.name(key) for key in keys]
        rank = np.argsort(np.argsort(names)) if names else np.zeros(0, dtype=np.int64)
        label = rank[number]
        order = np.lexsort((label, end, start))
        sentence = np.searchsorted(part.offsets, start[order], side="right") - 1
        base = part.offsets[sentence]
        columns = (sentence, start[order] - base, end[order] - base, label[order])
        found = (column.astype(np.int32) for column in columns)
        return SpanColumns.trusted(found, tuple(sorted(names)), len(part))

    def _layers(
        self, group: StoredGroup, part: Sentences, first: int, last: int
    ) -> Iterator[CodedTags]:
        """Yield the tags of each layer of the group."""
        rows = group.rows(first, last)
        absent = self._absent(group, first, last)
        for number in range(group.count):
            spans = self._spans(group, rows[group.layer[rows] == number], part, first)
            if not spans.disjoint:
                raise _overlap(part, group.key, spans)
            tags = write_spans(spans, part.offsets, BIO)
            codes, names = tags.codes.copy(), tags.tags
            for tag, (layer, tokens) in zip((MISSING, BLOCKED), absent):
                if len(tokens := tokens[(layer == number) | (layer < 0)]):
                    codes[tokens] = len(names)
                    names = (*names, tag)
            yield CodedTags.trusted(codes, part.offsets, names)

    def _absent(self, group: StoredGroup, first: int, last: int) -> tuple[Offsets, Offsets]:
        """Return the tokens that are missing, and those that are blocked, as layers and tokens.

        Tokens of Docs without the group are missing in every layer, which is number -1.
        """
        begin, end = self.stored.bounds[[first, last]].tolist()
        sizes = np.diff(self.stored.bounds[first : last + 1])
        without = np.flatnonzero(np.repeat(~group.there[first:last], sizes))
        missing, blocked = (
            every[:, (every[1] >= begin) & (every[1] < end)] - [[0], [begin]]
            for every in (group.missing, group.blocked)
        )
        return np.append(missing, [np.full(len(without), -1), without], axis=1), blocked

    def _given(self, group: StoredGroup, part: Sentences, first: int, last: int) -> Known:
        """Return what the group says, each span once."""
        spans = self._spans(group, group.rows(first, last), part, first)
        rows = np.stack(spans.rows)
        spans = spans.where(np.append(True, (np.diff(rows) != 0).any(axis=0))[: spans.total])
        flags = np.zeros((2, part.tokens), dtype=bool)
        for some, (_, tokens) in zip(flags, self._absent(group, first, last)):
            some[tokens] = True
        missing, blocked = (some if some.any() else None for some in flags)
        return Known(spans, missing, blocked=blocked)


def _chosen(groups: Sequence[Mapping[str, Any]], key: str, name: str, stored: StoredDocs) -> str:
    """Return the group that is asked for, or the only one; empty if there is none."""
    keys = sorted({key for some in groups for key in some})
    if key and key not in keys and len(stored.table):
        known = ", ".join(map(repr, keys)) or "no groups at all"
        raise UnknownNameError(
            f"{name}: no Doc has a span group {key!r}. There are: {known}.", key, keys
        )
    if not key and len(keys) > 1:
        raise UnknownNameError(
            f"{name}: no token has an entity annotation, but there are span groups: "
            f"{', '.join(map(repr, keys))}. Name one (--spans-key).",
            "ents",
            keys,
        )
    return key or next(iter(keys), "")


def _info(user_data: bytes | None) -> dict[str, Any]:
    """Return what else is written of a document, such as its id."""
    if not user_data or MORE.encode() not in user_data:
        return {}
    found: dict[str, Any] = loads(unpack(user_data, use_list=False).get(MORE, "{}"))
    return found


def _overlap(part: Sentences, key: str, spans: SpanColumns) -> OverlapError:
    """Return the error for two spans of one layer that share a token."""
    first, second = first_overlap(spans)
    sentence = int(spans.sentence[second])
    number, token = part.token_of(part.at(sentence, 0))
    pair = [Span(x.start + token, x.end + token, x.label) for x in map(spans.row, (first, second))]
    reason = f"{tuple(pair[0])} and {tuple(pair[1])} overlap in one layer. Keep one of them."
    place = f"{part.name}, Doc {number}, spans[{key!r}]: "
    return OverlapError(place + reason, pair, sentence, reason)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Spans of a part, whose tokens are counted from its first; labels are hashes."""

    begin: Offsets
    end: Offsets
    label: Values

    def findings(self, part: Sentences, stored: StoredDocs) -> tuple[Finding, ...]:
        """Return a finding for each of them, which is there but for a sentence boundary."""
        found, words = list[Finding](), part.words
        for begin, end, key in zip(self.begin.tolist(), self.end.tolist(), self.label.tolist()):
            sentence = int(np.searchsorted(part.offsets, begin, side="right")) - 1
            shift = int(part.offsets[sentence])
            gone = ((begin - shift, end - shift, words.text(begin, end)),)
            name = stored.strings.name(key)
            found.append(Finding("crossing", part.place(begin), sentence, name, gone))
        return tuple(found)


NONE = np.zeros(0, dtype=np.int64)
NO_ROWS = _Rows(NONE, NONE, NONE.astype(np.uint64))


def _entity_tags(stored: StoredDocs, begin: int, end: int) -> tuple[Ints, tuple[str, ...]]:
    """Return the codes and names of tags in bio, as the entities are stored, malformed or not."""
    iob = stored.column(ENT_IOB)[begin:end].astype(np.int32)
    kind = stored.column(ENT_TYPE)[begin:end]
    codes = np.array([0, 3, 1, 2], dtype=np.int32)[iob]  # missing, I, O, B
    entity = np.flatnonzero((iob & 1) & (kind != 0))  # B or I, with a label
    labels, numbers = np.unique(kind[entity], return_inverse=True)
    codes[entity] += 2 * (numbers.astype(np.int32) + 1)
    names = [stored.strings.name(key) for key in labels]
    every = (MISSING, "O", BLOCKED, "I-", *(f"{prefix}-{x}" for x in names for prefix in "BI"))
    used = np.bincount(codes, minlength=len(every)) > 0
    codes = (np.cumsum(used) - 1).astype(np.int32)[codes]
    return codes, tuple(tag for tag, there in zip(every, used) if there)


def _entity_runs(stored: StoredDocs, starts: Flags, first: int, last: int) -> _Rows:
    """Return the entities of some Docs that go on where a sentence starts."""
    begin, end = stored.bounds[[first, last]].tolist()
    iob, kind = (stored.column(attr)[begin:end] for attr in (ENT_IOB, ENT_TYPE))
    goes_on = np.zeros(end - begin + 1, dtype=bool)
    goes_on[1:-1] = (iob[1:] == INSIDE) & (kind[1:] != 0) & (kind[1:] == kind[:-1])
    goes_on[1:-1] &= iob[:-1] % 2 == 1
    goes_on[stored.bounds[first : last + 1] - begin] = False
    heads = np.flatnonzero(~goes_on)
    runs = np.unique(np.searchsorted(heads, np.flatnonzero(starts & goes_on[:-1]), side="right"))
    return _Rows(heads[runs - 1], heads[runs], kind[heads[runs - 1]])


# Writing.


def save(
    parts: Iterable[tuple[Sentences, Known]], path: str | Path, how: SaveOptions
) -> Sequence[Finding]:
    """Write sentences as a DocBin, all at once or not at all.

    Spans become entities if none overlap, or a span group: the one that `how` names, the one that
    was read, or `sc`. Sentences of one DocBin, in their order, keep all else that it has, and are
    in the same Docs; others are in one Doc for each `how.unit`.
    """
    require_ending(path)
    held = list(parts)
    left_out = [found for part, _ in held for found in part.findings if found.kind in NO_SPANS]
    if left_out and not how.lossy:
        lines = "; ".join(finding_lines(left_out))
        raise InexpressibleError(f"{lines}. Docs have no such mentions: leave them out (--lossy).")
    sources = [list(some) for _, some in groupby(held, lambda pair: _source(pair[0]))]
    edited = [_whole_docs([part.origin for part, _ in some]) for some in sources]
    key = how.spans_key or _group_for(held, any(whole is not None for whole in edited))
    every = [_stored(some, whole, key, how) for some, whole in zip(sources, edited)]
    stored = StoredDocs.joined(every or [StoredDocs.of_docs([])])
    with write_bytes(path) as put:
        put(_packed(stored, path))
    return []


def _source(part: Sentences) -> int:
    """Return a number that parts of one DocBin have in common; 0 for other sources."""
    return id(part.origin.stored) if isinstance(part.origin, DocBinOrigin) else 0


def _stored(
    parts: Sequence[tuple[Sentences, Known]], whole: Flags | None, key: str, how: SaveOptions
) -> StoredDocs:
    """Return the Docs of one source: those that it is made of, or new ones."""
    if whole is not None:
        return edit(parts, key).some(whole)
    docs = list(docs_of(parts, None, f"spans:{key}" if key else "ents", how.unit))
    return StoredDocs.of_docs(docs, user_data=any(doc.user_data for doc in docs))


def edit(parts: Sequence[tuple[Sentences, Known]], key: str = "") -> StoredDocs:
    """Return the Docs that sentences are from with what is known of them as their annotation.

    It takes the place of their entities, or of a span group. Other Docs of the file lose theirs.
    """
    stored: StoredDocs = parts[0][0].origin.stored
    shifts = [part.origin.begin for part, _ in parts]
    if not key:
        layers = [entity_layer(part, known).in_place(part) for part, known in parts]
        return with_entities(stored, DocLayer.joined(layers, shifts, len(stored.table)))
    counts = {kept_layers(part, known) for part, known in parts}
    count = counts.pop() if len(counts) == 1 else 0
    every = zip(*(group_layers(part, known, count) for part, known in parts))
    placed = [[layer.in_place(part) for layer, (part, _) in zip(layers, parts)] for layers in every]
    joined = [DocLayer.joined(layers, shifts, len(stored.table)) for layers in placed]
    return with_group(stored, key, doc_groups(joined, stored.bounds, count > 0))


def _group_for(parts: Sequence[tuple[Sentences, Known]], edited: bool) -> str:
    """Return the span group that the spans go to; empty for entities.

    It is the one that was read. Else spans that overlap go to one, unless that would leave other
    entities in the file, if that is edited.
    """
    origins = [part.origin for part, _ in parts if isinstance(part.origin, DocBinOrigin)]
    keys = {origin.key for origin in origins}
    if len(keys) == 1 and len(origins) == len(parts) and "" not in keys:
        return keys.pop()
    flat = all(known.spans.disjoint and not known.layers for _, known in parts)
    others = edited and any(x.stored.column(ENT_IOB).any() for x in origins)
    return "" if flat or others else GROUP


def _whole_docs(origins: Sequence[Any]) -> Flags | None:
    """Return which Docs of a file the origins of sentences make up; None if they do not."""
    if not origins or not follow_each_other(origins):
        return None
    stored: StoredDocs = origins[0].stored
    held, bounds = np.zeros(len(stored.table) + 1, dtype=np.int64), stored.bounds
    empty = np.zeros(len(stored), dtype=bool)
    for origin in origins:
        held[origin.begin + 1 : origin.end + 1] = 1
        empty |= (origin.begin <= bounds[:-1]) & (bounds[1:] <= origin.end)
    before = np.cumsum(held)
    count, sizes = before[bounds[1:]] - before[bounds[:-1]], np.diff(bounds)
    if ((count > 0) & (count < sizes)).any():
        return None
    found: Flags = (count > 0) | (empty & (sizes == 0))
    return found


def require_ending(path: str | Path) -> None:
    """Raise for a name that spaCy would pass over."""
    if str(path) != STANDARD and not str(path).endswith(ENDING):
        raise FileError(
            f"{path}: spaCy only reads files whose names end in {ENDING}. Name it so, or name "
            "another format (--to).",
            str(path),
        )


def _packed(stored: StoredDocs, path: str | Path) -> bytes:
    try:
        return stored.to_bytes()
    except ValueError as error:
        message = f"{path}: too much for one DocBin ({error}). Write several files."
        raise FileError(message, str(path)) from error
