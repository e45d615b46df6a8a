"""Texts with mentions by offsets as sentences: many texts at a time, in arrays.

A mention is a span if it begins and ends where tokens do. What is none, or is there twice, is a
finding that says where; nothing is left out without one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Ints, Offsets
from ..codes.known import Known
from ..codes.span_columns import SpanColumns
from ..codes.tag_columns import CodedTags
from ..errors import FileError
from .characters import SPACE, kinds_of, simple_places
from .findings import Finding
from .formats.options import ReadOptions, Tokenize
from .json_records import Mention, Record, out_of_range
from .marked_text import simple_tokens
from .sentences import Sentences
from .texts import sentencizer, tokenizer_of
from .words import Words, byte_places

ENOUGH = 250_000  # characters of texts that are looked at in one go
LETTERS = 5  # how many characters a token counts for, where there is no text
LAST = 1 << 40  # findings that come after those about mentions as they are written
NONE = np.zeros(0, dtype=np.int64)


Places = tuple[Sequence[int], Sequence[int]]
"""Where tokens begin, and where they end."""


@dataclass(slots=True)
class TextRow:
    """A text as it is written, or `words` without a text; a document of its own.

    `places` are its tokens, if the source tells. Offsets count characters of the text or, with
    `by_tokens`, tokens. A text that is not `annotated` says nothing of its tokens; one that is
    `partial` nothing of those without a mention; `missing` are more runs of tokens without
    annotation, with the label that this is about, or an empty string. `starts` are where sentences
    begin, `notes` what there is to say: a kind of finding, a label and a text. `tags` are layers
    of tags, in place of mentions; `info` is what else is written.
    """

    number: int
    unit: str
    info: Mapping[str, Any]
    text: str = ""
    words: list[str] | None = None
    places: Places | None = None
    mentions: Sequence[Mention] = ()
    by_tokens: bool = False
    annotated: bool = True
    partial: bool = False
    wrong: Sequence[Mention] = ()
    missing: Sequence[Mention] = ()
    blocked: Sequence[tuple[int, int]] = ()
    starts: Sequence[int] = ()
    notes: Sequence[tuple[str, str, str]] = ()
    tags: tuple[list[str], ...] = ()

    def finding(self, name: str, kind: str, mention: Mention, shown: str) -> Finding:
        """Return a finding about one of its mentions by characters."""
        parts = () if self.by_tokens else (mention[:2],)
        place = f"{name}:{self.number}"
        return Finding(kind, place, 0, mention[2], ((0, 0, shown),), parts=parts)

    def record(self, name: str) -> Record:
        """Return where it is in the file of that name, for errors."""
        return Record(None, name, self.number, self.unit)

    def noted(self, name: str, note: tuple[str, str, str]) -> Finding:
        """Return a note as a finding."""
        kind, label, shown = note
        return Finding(kind, f"{name}:{self.number}", 0, label, ((0, 0, shown),))


def text_sentences(rows: Iterable[TextRow], name: str, how: ReadOptions) -> Iterator[Sentences]:
    """Yield the sentences of texts; each text is a document, and has one sentence at least.

    Where a mention goes beyond a sentence boundary, there is no boundary, and a finding says so.
    """
    tokenize = tokenizer_of(how) if how.lang or how.tokenizer else None
    held, size, before = list[TextRow](), 0, (0, 0)
    for row in rows if how.annotated else map(without_annotation, rows):
        bare = row.words is not None
        if size >= ENOUGH or (held and bare is (held[0].words is None)):
            yield (part := TextBatch(name, held, how, tokenize).sentences(before))
            before = before[0] + len(part.opens), before[1] + len(part)
            held, size = [], 0
        held.append(row)
        size += LETTERS * len(row.words) if row.words is not None else len(row.text)
        size += LETTERS
    if held:
        yield TextBatch(name, held, how, tokenize).sentences(before)


def without_annotation(row: TextRow) -> TextRow:
    """Return a text as if nobody had annotated it."""
    return replace(
        row,
        mentions=(),
        annotated=False,
        partial=False,
        wrong=(),
        missing=(),
        blocked=(),
        notes=(),
        tags=(),
    )


class Found(NamedTuple):
    """A finding about a text: about its mention `order`, and its token, which may be unknown."""

    row: int
    order: int
    finding: Finding
    token: int = -1


class Resolved(NamedTuple):
    """Mentions as spans of tokens, counted over all texts, in order; and what was found."""

    first: Offsets
    last: Offsets
    label: Ints
    labels: tuple[str, ...]
    findings: list[Found]


@dataclass(eq=False)
class TextBatch:
    """Some texts, all of their characters end to end, and where their tokens are in these."""

    name: str
    rows: Sequence[TextRow]
    how: ReadOptions
    tokenize: Tokenize | None = None

    def __post_init__(self) -> None:
        self.begin, self.end, self.bounds = NONE, NONE, NONE
        self.bare = self.rows[0].words is not None
        self.base, self.joined = np.zeros(1, dtype=np.int64), ""
        if self.bare:
            self.bounds = _sums([len(row.words or ()) for row in self.rows])
            return
        self.base = _sums([len(row.text) + 1 for row in self.rows])
        self.joined = "\n".join([row.text for row in self.rows]) + "\n"
        self.begin, self.end = self._tokens()
        self.bounds = np.append(np.searchsorted(self.begin, self.base[:-1]), len(self.begin))

    def place(self, number: int) -> str:
        """Return where a text is, for findings."""
        return f"{self.name}:{self.rows[number].number}"

    @cached_property
    def codes(self) -> NDArray[np.unsignedinteger[Any]]:
        """The characters as numbers."""
        if self.joined.isascii():
            return np.frombuffer(self.joined.encode("ascii"), dtype=np.uint8)
        data = self.joined.encode("utf-32-le", "surrogatepass")
        return np.frombuffer(data, dtype=np.uint32)

    def _tokens(self) -> tuple[Offsets, Offsets]:
        """Return where tokens begin and end."""
        if self.tokenize is None and all(row.places is None for row in self.rows):
            begin, end = simple_places(self.codes)
        else:
            cut = self.tokenize or simple_tokens
            every = [row.places or _sides(cut(row.text)) for row in self.rows]
            shift = np.repeat(self.base[:-1], [len(starts) for starts, _ in every])
            begin, end = (
                np.fromiter(chain.from_iterable(some), np.int64, len(shift)) + shift
                for some in zip(*every)
            )
        if self.how.misaligned == "split":
            begin, end = self._split(begin, end)
        return begin, end

    def _split(self, begin: Offsets, end: Offsets) -> tuple[Offsets, Offsets]:
        """Return the tokens, split where mentions by characters begin and end."""
        ends = [
            base + place
            for row, base in zip(self.rows, self.base.tolist())
            if not row.by_tokens
            for mention in row.mentions
            for place in mention[:2]
        ]
        places = np.unique(np.array(ends, dtype=np.int64))
        at = np.maximum(np.searchsorted(begin, places, side="right") - 1, 0)
        inside = places[(begin[at] < places) & (places < end[at])] if len(begin) else NONE
        return np.sort(np.append(begin, inside)), np.sort(np.append(end, inside))

    # mentions

    def resolved(self, kind: str) -> Resolved:
        """Return the `mentions` or the `wrong` ones as spans; only the former make findings."""
        given: list[Sequence[Mention]] = [getattr(row, kind) for row in self.rows]
        flat = [*chain.from_iterable(given)]
        if not flat:
            return Resolved(NONE, NONE, NONE.astype(np.int32), (), [])
        doc = np.repeat(np.arange(len(given)), [*map(len, given)])
        starts, stops, names = zip(*flat)
        start, stop = (np.array(each, dtype=np.int64) for each in (starts, stops))
        first, last = self.bounds[doc] + start, self.bounds[doc] + stop
        by_tokens = np.repeat([row.by_tokens for row in self.rows], [*map(len, given)])
        for at in np.flatnonzero(by_tokens & (last > self.bounds[doc + 1]))[:1].tolist():
            row = int(doc[at])
            size = int(self.bounds[row + 1] - self.bounds[row])
            raise out_of_range(self.rows[row].record(self.name), flat[at], size, "tokens")
        empty, findings = start == stop, list[Found]()
        if not by_tokens.all():
            found = self._aligned(self.base[doc] + start, self.base[doc] + stop)
            first, last = np.where(by_tokens, (first, last), found)
            for at in np.flatnonzero((last <= first) & ~empty).tolist():
                ends, what = self._moved(self.rows[int(doc[at])], flat[at], int(doc[at]))
                first[at], last[at] = ends
                findings.append(Found(int(doc[at]), at, what))
        for at in np.flatnonzero(empty).tolist():
            last[at] = first[at]
            row = int(doc[at])
            findings.append(
                Found(row, at, self.rows[row].finding(self.name, "empty", flat[at], ""))
            )
        labels = tuple(sorted(set(names)))
        numbers = {label: number for number, label in enumerate(labels)}
        label = np.fromiter(map(numbers.__getitem__, names), np.int32, len(names))
        order = np.lexsort((label, last, first))
        order = order[first[order] < last[order]]
        rows = np.stack([first[order], last[order], label[order]])
        new = np.append(True, (np.diff(rows) != 0).any(axis=0))[: len(order)]
        for at in order[~new].tolist():
            row = int(doc[at])
            shown = ((0, 0, self._shown(row, flat[at])),)
            finding = Finding("repeated", self.place(row), 0, names[at], shown)
            findings.append(Found(row, at, finding, int(first[at])))
        kept = order[new]
        return Resolved(first[kept], last[kept], label[kept], labels, findings)

    def _aligned(self, begin: Offsets, end: Offsets) -> tuple[Offsets, Offsets]:
        """Return the first token of mentions and the one after the last; both 0 if there is none.

        Mentions begin and end with these characters.
        """
        if not len(self.begin):
            return np.zeros_like(begin), np.zeros_like(end)
        most = len(self.begin) - 1
        first = np.minimum(np.searchsorted(self.begin, begin), most)
        last = np.minimum(np.searchsorted(self.end, end), most)
        fits = (self.begin[first] == begin) & (self.end[last] == end) & (first <= last)
        return np.where(fits, first, 0), np.where(fits, last + 1, 0)

    def _moved(
        self, row: TextRow, mention: Mention, number: int
    ) -> tuple[tuple[int, int], Finding]:
        """Return the tokens that a misaligned mention is given, which may be none; and a finding.

        Raises if such mentions are refused.
        """
        start, stop, label = mention
        begin, end = int(self.base[number]) + start, int(self.base[number]) + stop
        shown, first, last = self._shown(number, mention), 0, 0
        if self.how.misaligned == "raise":
            raise FileError(
                f"{self.place(number)}: {shown!r} ({label}) begins or ends within a token. "
                "Correct it, choose another tokenizer (--lang), or let it be counted and left out "
                "(--misaligned count).",
                self.name,
                row.number,
            )
        if self.how.misaligned == "expand":
            first = int(np.searchsorted(self.end, begin, side="right"))
            last = int(np.searchsorted(self.begin, end))
        elif self.how.misaligned == "contract":
            first = int(np.searchsorted(self.begin, begin))
            last = int(np.searchsorted(self.end, end, side="right"))
        kind = "moved" if first < last else "misaligned"
        return (first, last), row.finding(self.name, kind, mention, shown)

    def _shown(self, number: int, mention: Mention) -> str:
        """Return the text of a mention with single spaces."""
        row, (start, stop, _) = self.rows[number], mention
        if row.by_tokens:
            first = int(self.bounds[number])
            return self.text(first + start, first + stop)
        return " ".join(row.text[start:stop].split())

    def text(self, first: int, last: int) -> str:
        """Return some tokens of one text with single spaces for all white space."""
        if not self.bare:
            found = self.joined[int(self.begin[first]) : int(self.end[last - 1])]
            return " ".join(found.split())
        row = int(np.searchsorted(self.bounds, first, side="right")) - 1
        at = int(self.bounds[row])
        found = " ".join((self.rows[row].words or [])[first - at : last - at])
        return " ".join(found.split())

    # sentences

    def sentences(self, before: tuple[int, int]) -> Sentences:
        """Return the texts as sentences, before which there were documents and sentences."""
        spans, wrong = self.resolved("mentions"), self.resolved("wrong")
        offsets, opens, crossing = self._offsets(spans, wrong)
        found = [*spans.findings, *crossing]
        for number, row in enumerate(self.rows):
            found += (Found(number, -1, row.noted(self.name, note)) for note in row.notes)
        found.sort(key=lambda each: each[:2])
        tags = tuple(self._tags(number, offsets) for number in range(self._layers))
        sizes = np.diff(self.bounds)
        lines = np.array([row.number for row in self.rows], dtype=np.int32)
        return Sentences(
            self.name,
            offsets,
            opens[:-1],
            self._words(),
            tags,
            given=None if tags else self._known(spans, wrong, offsets),
            line=np.repeat(lines, sizes),
            before=before,
            findings=tuple(self._placed(each, offsets, opens) for each in found),
            info=tuple(row.info for row in self.rows),
        )

    @property
    def _layers(self) -> int:
        return len(self.rows[0].tags)

    def _placed(self, found: Found, offsets: Offsets, opens: Offsets) -> Finding:
        """Return a finding with the number of its sentence."""
        row, _, finding, token = found
        if finding.parts:
            place = self.base[row] + finding.parts[0][0]
            token = int(np.searchsorted(self.begin, place, side="right")) - 1
        sentence = int(np.searchsorted(offsets, token, side="right")) - 1
        first, last = opens[row : row + 2].tolist()
        return replace(finding, sentence=min(max(first, sentence), last - 1))

    def _offsets(self, spans: Resolved, wrong: Resolved) -> tuple[Offsets, Offsets, list[Found]]:
        """Return where sentences begin, those that begin a document, and how many there are.

        A text without tokens has a sentence without any. There is a finding for each mention over
        a boundary.
        """
        sizes = np.diff(self.bounds)
        begins = np.zeros(int(self.bounds[-1]), dtype=bool)
        begins[self.bounds[:-1][sizes > 0]] = True
        if self.how.sentences == "lines":
            if not self.bare:
                begins |= self._line_begins()
        else:
            self._mark_begins(begins)
        starts, findings = np.flatnonzero(begins), list[Found]()
        for each in (spans, wrong):
            a = np.searchsorted(starts, each.first, side="right")
            b = np.searchsorted(starts, each.last - 1, side="right")
            for at in np.flatnonzero(a < b).tolist():
                begins[starts[int(a[at]) : int(b[at])]] = False
                if each is spans:
                    findings.append(self._crossing(spans, at))
        before = np.concatenate([[0], np.cumsum(begins)])
        counts = np.maximum(np.diff(before[self.bounds]), 1)
        empty = self.bounds[:-1][sizes == 0]
        offsets = np.sort(np.concatenate([np.flatnonzero(begins), empty, [len(begins)]]))
        return offsets.astype(np.int64), _sums(counts), findings

    def _crossing(self, spans: Resolved, at: int) -> Found:
        first, last = int(spans.first[at]), int(spans.last[at])
        row = int(np.searchsorted(self.bounds, first, side="right")) - 1
        shift = int(self.bounds[row])
        shown = ((first - shift, last - shift, self.text(first, last)),)
        place, label = self.place(row), spans.labels[int(spans.label[at])]
        return Found(row, LAST + at, Finding("crossing", place, 0, label, shown), first)

    def _mark_begins(self, begins: Flags) -> None:
        """Mark the tokens that begin a sentence, as the source or the rules have it."""
        rules = sentencizer(self.how.lang) if self.how.sentences == "rules" else None
        for number, row in enumerate(self.rows):
            if not row.starts and rules is None:
                continue
            first, last = self.bounds[number : number + 2].tolist()
            starts = np.array(row.starts, dtype=np.int64)
            if not row.starts and rules is not None:
                tokens = self._strings(number)
                words = [n for n, token in enumerate(tokens) if not token.isspace()]
                found = rules([tokens[n] for n in words])
                starts = np.array([n for n, b in zip(words[1:], found[1:]) if b], dtype=np.int64)
            elif not row.by_tokens:
                starts = np.searchsorted(self.begin, starts + self.base[number]) - first
            begins[first + starts[(starts > 0) & (starts < last - first)]] = True

    def _strings(self, number: int) -> list[str]:
        row = self.rows[number]
        if row.words is not None:
            return row.words
        first, last = self.bounds[number : number + 2].tolist()
        places = zip(self.begin[first:last].tolist(), self.end[first:last].tolist())
        return [self.joined[a:b] for a, b in places]

    def _line_begins(self) -> Flags:
        """Return which tokens are the first on their line; white space is no token here."""
        found = np.zeros(len(self.begin), dtype=bool)
        filled = np.concatenate([[0], np.cumsum(kinds_of(self.codes) != SPACE)])
        words = np.flatnonzero(filled[self.end] > filled[self.begin])
        feeds = np.concatenate([[0], np.cumsum(self.codes == ord("\n"))])
        new = feeds[self.begin[words[1:]]] > feeds[self.end[words[:-1]]]
        row = np.searchsorted(self.bounds, words, side="right")
        found[words[1:][new & (row[1:] == row[:-1])]] = True
        return found

    # what is known

    def _known(self, spans: Resolved, wrong: Resolved, offsets: Offsets) -> Known:
        missing, by_label = self._missing(spans)
        blocked = self._covered([(row.blocked, row) for row in self.rows if row.blocked])
        return Known(
            _columns(spans, offsets),
            missing,
            by_label,
            blocked,
            _columns(wrong, offsets) if len(wrong.first) else None,
        )

    def _missing(self, spans: Resolved) -> tuple[Flags | None, dict[str, Flags]]:
        """Return the tokens that are not annotated, and those for a label each."""
        rows = self.rows
        missing = None
        if not all(row.annotated for row in rows):
            missing = np.repeat([not row.annotated for row in rows], np.diff(self.bounds))
        if any(row.partial for row in rows):
            partial = np.repeat([row.partial for row in rows], np.diff(self.bounds))
            partial &= ~_flags(spans.first, spans.last, len(partial))
            missing = partial if missing is None else missing | partial
        more = [row for row in rows if row.missing]
        by_label = dict[str, Flags]()
        for label in dict.fromkeys(label for row in more for *_, label in row.missing):
            chosen = [([m[:2] for m in row.missing if m[2] == label], row) for row in more]
            flags = self._covered(chosen)
            if label and flags is not None:
                by_label[label] = flags
            elif flags is not None:
                missing = flags if missing is None else missing | flags
        return missing, by_label

    def _covered(self, given: Sequence[tuple[Sequence[tuple[int, int]], TextRow]]) -> Flags | None:
        """Return the tokens in some runs of characters or tokens; None if there are none."""
        found = np.zeros(int(self.bounds[-1]), dtype=bool)
        numbers = {id(row): number for number, row in enumerate(self.rows)} if given else {}
        for runs, row in given:
            number = numbers[id(row)]
            first, last = self.bounds[number : number + 2].tolist()
            for start, stop in runs:
                begin, end = first + start, first + stop
                if not row.by_tokens:
                    base = int(self.base[number])
                    begin = int(np.searchsorted(self.end, base + start, side="right"))
                    end = int(np.searchsorted(self.begin, base + stop))
                found[max(begin, first) : min(end, last)] = True
        return found if found.any() else None

    def _tags(self, number: int, offsets: Offsets) -> CodedTags:
        """Return one layer of tags."""
        names = dict[str, int]()
        tags = chain.from_iterable(row.tags[number] for row in self.rows)
        codes = np.array([names.setdefault(tag, len(names)) for tag in tags], dtype=np.int32)
        return CodedTags.trusted(codes, offsets, tuple(names))

    def _words(self) -> Callable[[], Words]:
        """Return what makes the words, and holds no more than it needs."""
        if self.bare:
            tokens = [row.words or [] for row in self.rows]
            return lambda: Words.of([*chain.from_iterable(tokens)])
        joined, begin, end, base = self.joined, self.begin, self.end, self.base

        def words() -> Words:
            data = joined.encode("utf8", "surrogatepass")
            places = [begin, end, base]
            if len(data) > len(joined):
                at = byte_places(data)
                places = [at[each] for each in places]
            first, last = (each.astype(np.int32) for each in places[:2])
            return Words(data, first, last, True, places[2].astype(np.int64))

        return words


def _sums(sizes: Sequence[int] | Offsets) -> Offsets:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _flags(first: Offsets, last: Offsets, size: int) -> Flags:
    """Return which tokens lie in one of some spans."""
    steps = np.zeros(size + 1, dtype=np.int64)
    np.add.at(steps, first, 1)
    np.add.at(steps, last, -1)
    found: Flags = np.cumsum(steps[:-1]) > 0
    return found


def _columns(spans: Resolved, offsets: Offsets) -> SpanColumns:
    sentence = np.searchsorted(offsets, spans.first, side="right") - 1
    shift = offsets[sentence]
    rows = (sentence, spans.first - shift, spans.last - shift)
    columns = (column.astype(np.int32) for column in rows)
    return SpanColumns.trusted((*columns, spans.label), spans.labels, len(offsets) - 1)


def _sides(places: Sequence[tuple[int, int]]) -> Places:
    starts, ends = zip(*places) if places else ((), ())
    return starts, ends
