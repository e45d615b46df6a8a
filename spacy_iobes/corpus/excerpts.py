"""Documents, or sentences of them, one by one: what formats that hold texts write."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import Flags, Offsets
from ..codes.known import Known
from ..codes.span_columns import SpanColumns
from ..errors import FileError
from ..span import Span
from .files import write_bytes
from .findings import BARE, NO_SPANS, UNANNOTATED, Finding
from .formats.options import SaveOptions
from .json_records import tells
from .marked_text import simple_tokens
from .sentences import Sentences, whole_documents
from .texts import document_starts, require_expressible

SHOWN = 8  # tokens of a document, in messages
NOTHING: Mapping[str, Any] = {}


@dataclass
class Excerpt:
    """A document or a sentence: its text, where its tokens are in it, and what is known of them.

    `starts` are the tokens that begin a sentence, `lost` the mentions that are no spans of tokens.
    If it is not `verbatim`, the text is but tokens with spaces between; if it is `whole`, it is all
    the text of its document. A model may say how probable some spans are.
    """

    part: Sentences
    begin: int
    text: str
    places: list[tuple[int, int]]
    starts: list[int]
    spans: list[Span]
    missing: list[int] = field(default_factory=list)
    missing_for: Mapping[str, list[int]] = field(default_factory=dict)
    blocked: list[int] = field(default_factory=list)
    wrong: list[Span] = field(default_factory=list)
    lost: list[Finding] = field(default_factory=list)
    info: Mapping[str, Any] = field(default_factory=dict)
    verbatim: bool = True
    whole: bool = True
    probability: Mapping[Span, float] = field(default_factory=dict)

    @property
    def misaligned(self) -> list[Span]:
        """The mentions by characters that begin or end within a token."""
        if not (self.verbatim and self.whole):
            return []
        return [Span(*found.parts[0], found.label) for found in self.lost if _in_one_piece(found)]

    @property
    def simple(self) -> bool:
        """Whether its tokens are those that a text has where no language is named."""
        return self.places == simple_tokens(self.text)

    @property
    def words(self) -> list[str]:
        """The tokens."""
        return [self.text[start:end] for start, end in self.places]

    @property
    def unknown(self) -> bool:
        """Whether nothing is said of any of its tokens."""
        every = len(self.missing) == len(self.places) > 0
        return every and not (self.spans or self.lost or self.blocked)

    def characters(self, span: Span) -> Span:
        """Return a span of tokens by characters."""
        return Span(self.places[span.start][0], self.places[span.end - 1][1], span.label)

    def not_written(self, characters: bool) -> list[Finding]:
        """Return the mentions that a format does not hold, which may have some by `characters`."""
        held = characters and self.verbatim and self.whole
        return [found for found in self.lost if not (held and _in_one_piece(found))]

    def finding(self, kind: str, span: Span) -> Finding:
        """Return a finding about some of the tokens."""
        at = self.begin + span.start
        sentence = int(np.searchsorted(self.part.offsets, at, side="right")) - 1
        first, last, _ = self.characters(span)
        shown = (*span[:2], " ".join(self.text[first:last].split()))
        return Finding(kind, self.part.place(at), sentence, span.label, (shown,))

    def tokens(self, kind: str, tokens: Iterable[int], label: str) -> Iterator[Finding]:
        """Yield a finding for each of some tokens."""
        yield from (self.finding(kind, Span(token, token + 1, label)) for token in tokens)


Object = dict[str, Any]
Write = Callable[[Excerpt], tuple[Object, Sequence[Finding]]]
"""Makes an object of an excerpt, and says what it cannot hold."""


def excerpts(parts: Iterable[tuple[Sentences, Known]], unit: str) -> Iterator[Excerpt]:
    """Yield the documents of sentences, or each sentence, with what is known of them."""
    given = (replace(part, tags=(), given=known) for part, known in parts)
    info = NOTHING
    for part in whole_documents(given) if unit == "document" else given:
        if len(part):
            firsts = np.array(document_starts(part), dtype=np.int64)
            every = [*[info] * (len(firsts) - len(part.opens)), *(part.info or ())]
            every += [NOTHING] * (len(firsts) - len(every))
            yield from _of_part(part, firsts, every, unit)
            info = every[-1]


def _of_part(
    part: Sentences, firsts: Offsets, info: Sequence[Mapping[str, Any]], unit: str
) -> Iterator[Excerpt]:
    known = part.given
    assert known is not None, "excerpts say what is known"
    known = part.without_blank_ends(known)
    offsets = part.offsets[np.append(firsts, len(part))]
    if unit == "document":
        bounds, first = offsets, firsts
        document = np.arange(len(firsts))
    else:
        bounds, first = part.offsets, np.arange(len(part))
        document = np.searchsorted(firsts, first, side="right") - 1
    spans, wrong = _lists(known.spans, part, bounds), _lists(known.wrong, part, bounds)
    missing, blocked = (_numbers(flags, bounds) for flags in (known.missing, known.blocked))
    by_label = {label: _numbers(flags, bounds) for label, flags in known.missing_for.items()}
    starts = np.split(part.offsets[:-1], first[1:])
    probability = _probabilities(known, part, bounds)
    lost = _lost(part, first)
    texts = _verbatim if part.words.verbatim else _spaced
    sizes = np.diff(first, append=len(part)).tolist()
    whole = [*np.bincount(document, minlength=len(firsts)).tolist()]
    inside = len(firsts) - len(part.opens)
    for at, (text, places) in enumerate(texts(part, bounds, document, whole, len(firsts))):
        begin = int(bounds[at])
        yield Excerpt(
            part,
            begin,
            text,
            places,
            (starts[at] - begin).tolist(),
            spans[at],
            missing[at],
            {label: some[at] for label, some in by_label.items() if some[at]},
            blocked[at],
            wrong[at],
            lost.get(at, []),
            {**info[int(document[at])], **part.note(int(first[at]), sizes[at])},
            part.words.verbatim,
            whole[int(document[at])] == 1 and int(document[at]) >= inside,
            probability.get(at, {}),
        )


def _lists(spans: SpanColumns | None, part: Sentences, bounds: Offsets) -> list[list[Span]]:
    """Return the spans of each excerpt."""
    if spans is None:
        return [[] for _ in bounds[:-1]]
    found = [*spans.regrouped(part.offsets, bounds)]
    return [sorted(some, key=lambda span: (span.start, -span.end, span.label)) for some in found]


def _probabilities(known: Known, part: Sentences, bounds: Offsets) -> dict[int, dict[Span, float]]:
    """Return how probable spans of each excerpt are, as far as a model says it."""
    found = dict[int, dict[Span, float]]()
    if known.probability is not None:
        spans = known.spans.regrouped(part.offsets, bounds)
        rows = zip(spans.sentence.tolist(), spans.spans(), known.probability.tolist())
        for at, span, value in rows:
            if value == value:
                found.setdefault(at, {})[span] = value
    return found


def _numbers(flags: Flags | None, bounds: Offsets) -> list[list[int]]:
    """Return the tokens of each excerpt that have a flag."""
    if flags is None:
        return [[] for _ in bounds[:-1]]
    return [np.flatnonzero(flags[a:b]).tolist() for a, b in pairwise(bounds.tolist())]


def _lost(part: Sentences, first: Offsets) -> dict[int, list[Finding]]:
    """Return the mentions in each excerpt that are no spans of tokens; excerpts begin there."""
    mentions = dict[int, list[Finding]]()
    for found in part.findings:
        if found.kind in NO_SPANS:
            at = int(np.searchsorted(first, found.sentence, side="right")) - 1
            mentions.setdefault(at, []).append(found)
    return mentions


def _in_one_piece(found: Finding) -> bool:
    return found.kind == "misaligned" and len(found.parts) == 1


Text = tuple[str, list[tuple[int, int]]]


def _verbatim(
    part: Sentences, bounds: Offsets, document: Offsets, whole: list[int], documents: int
) -> Iterator[Text]:
    """Yield texts to the last character; a sentence of several ends with its last token."""
    words, inside = part.words, documents - len(part.opens)
    ends = list[tuple[int, int]]()
    for (a, b), number in zip(pairwise(bounds.tolist()), document.tolist()):
        first, last = (int(words.begin[a]), int(words.end[b - 1])) if a < b else (0, 0)
        if words.texts is not None and whole[number] == 1:
            first = first if number < inside else int(words.texts[number - inside])
            last = int(words.texts[number - inside + 1]) - 1
        ends.append((first, last))
    begin = min((first for first, last in ends if last), default=0)
    data = words.buffer[begin : max(last for _, last in ends)]
    text = data.decode("utf8", "surrogatepass")
    columns = [np.array(ends, dtype=np.int64).T.ravel(), words.begin, words.end]
    places = [np.maximum(column - begin, 0) for column in columns]
    if len(data) > len(text):
        leads = np.frombuffer(data, dtype=np.uint8) & 0xC0 != 0x80
        before = np.concatenate([[0], np.cumsum(leads)])
        places = [before[column] for column in places]
    edges, starts, stops = (column.tolist() for column in places)
    for at, (a, b) in enumerate(pairwise(bounds.tolist())):
        first, last = edges[at], edges[at + len(ends)]
        own = [(x - first, y - first) for x, y in zip(starts[a:b], stops[a:b])]
        yield text[first:last], own


def _spaced(part: Sentences, bounds: Offsets, *_: Any) -> Iterator[Text]:
    """Yield tokens with single spaces between them, and a line break between sentences."""
    last = set((part.offsets[1:] - 1).tolist())
    for a, b in pairwise(bounds.tolist()):
        tokens, at, places = part.words.strings(a, b), 0, list[tuple[int, int]]()
        pieces = list[str]()
        for number, token in enumerate(tokens, a):
            places.append((at, at + len(token)))
            pieces += [token, "\n" if number in last else " "]
            at += len(token) + 1
        yield "".join(pieces[:-1]), places


def save_objects(
    parts: Iterable[tuple[Sentences, Known]],
    path: str | Path,
    how: SaveOptions,
    write: Write,
    listed: bool = False,
) -> list[Finding]:
    """Write an object for each excerpt on a line of its own, or all of them in a list.

    Return what these cannot hold; raise if there is any, unless that may be left out.
    """
    lost = list[Finding]()
    with write_bytes(path) as put:
        put(b"[" * listed)
        for number, excerpt in enumerate(excerpts(parts, how.unit)):
            nameless = [span for span in excerpt.spans if not span.label]
            lost += (excerpt.finding("label", span) for span in nameless)
            excerpt.spans = [span for span in excerpt.spans if span.label]
            made, gone = write(excerpt)
            lost += gone
            line = line_of(made, excerpt.part, excerpt.begin)
            put((b",\n" if number else b"\n") + line[:-1] if listed else line)
        put(b"\n]\n" * listed)
        require_expressible(lost, how.lossy, "Choose another format")
    return [found for found in lost if found.kind not in NO_SPANS]  # those the source told of


def line_of(made: Object, part: Sentences, begin: int) -> bytes:
    """Return an object as a line of JSON; it comes from these sentences, and this token of them."""
    text = json.dumps(made, ensure_ascii=False)
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError as error:
        half = f"\\u{ord(text[error.start]):04x}"
        place = part.place(begin) if begin < part.tokens else part.name
        message = f"{place}: {half}, half of a surrogate pair, is no character and is not written."
        raise FileError(message, part.name) from error


def require_writable(excerpt: Excerpt) -> None:
    """Raise for a text with a character that no text file can hold."""
    at = excerpt.text.find("\0")
    try:
        excerpt.text.encode()
    except UnicodeEncodeError as error:
        at = error.start
    if at >= 0:
        token = max(bisect_right(excerpt.places, (at, at)) - 1, 0)
        place = excerpt.part.name
        if excerpt.places:
            place = excerpt.part.place(excerpt.begin + token)
        message = f"{place}: no text file can hold the character {excerpt.text[at]!r}."
        raise FileError(message, excerpt.part.name)


def not_held(excerpt: Excerpt, unknown: bool = False, characters: bool = True) -> list[Finding]:
    """Return what a format that has only mentions cannot hold of an excerpt.

    It may be able to hold excerpts that are `unknown`, and mentions by characters.
    """
    found = list[Finding]()
    if excerpt.unknown and not unknown:
        found.append(excerpt.finding(BARE, Span(0, min(len(excerpt.places), SHOWN), "-")))
    elif not excerpt.unknown:
        found += excerpt.tokens(UNANNOTATED, excerpt.missing, "-")
        found += (excerpt.finding("wrong", span) for span in excerpt.wrong)
    for label, tokens in excerpt.missing_for.items():
        found += excerpt.tokens(UNANNOTATED, tokens, label)
    found += excerpt.tokens("blocked", excerpt.blocked, "!")
    return [*found, *excerpt.not_written(characters)]


def unless_bare(left_out: Sequence[Finding], documents: int) -> list[Finding]:
    """Return what was left out of so many documents.

    If none of them is annotated, they are written as the bare texts that they are: nothing is lost.
    """
    bare = sum(found.kind == BARE for found in left_out)
    return [found for found in left_out if found.kind != BARE or bare < documents]


def beside(info: Mapping[str, Any], mine: Object, allowed: Iterable[str] = ()) -> Object:
    """Return an object with what else its source has: apart, where it would be read otherwise."""
    clash = {n for n, value in info.items() if n in mine or (n not in allowed and tells(n, value))}
    made = {**mine, **{name: value for name, value in info.items() if name not in clash}}
    if clash:
        more, inside = {name: info[name] for name in clash}, made.get("more")
        made["more"] = {**inside, **more} if isinstance(inside, dict) else more
    return made
