"""Annotated sentences as they are written: the one value between files and verbs.

A reader never applies a scheme or a policy: it gives layers of tags, or spans. `known` turns them
into what the annotation says, so that one reading serves to validate, convert and score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np

from ..arrays import Flags, Ints, Offsets
from ..codes.annotated_runs import having
from ..codes.known import Known
from ..codes.parse import read_spans, refusal, validate_many
from ..codes.policy import Policy, get_tag_policy
from ..codes.scheme import Scheme, get_scheme
from ..codes.span_columns import SpanColumns
from ..codes.tag_columns import CodedTags, ViolationColumns
from ..codes.violation import BLOCKED, MISSING, Violation
from ..errors import CorpusError, FileError, MalformedTagsError, SpanError, UnreadableTagError
from .findings import Finding
from .words import Words

LONGEST = 1_000_000  # tokens of a document that is put together from parts


@dataclass(frozen=True, eq=False)
class Sentences:
    """Some sentences of one source, as written; nothing is repaired here.

    Sentence `s` has the tokens `offsets[s]:offsets[s + 1]`; those numbered in `opens` begin a
    document. Tags come in layers, whose spans have the label in `layer_labels` where tags name
    none; `scheme` is theirs, if the source says so. Spans come as `given`, in place of tags.
    `line` has the line of each token, and `before` counts the documents and sentences that went
    before. `findings` are mentions that are no spans of tokens, `info` is what else is written of
    each document that opens here, and `origin` what the format needs to edit its source in place.
    Where a source has several `files`, they are those of the sentences, and `notes` is what is
    written of each sentence and not of its document. `read_spellings` gives the
    words without the text between them, if that takes less time.
    """

    name: str
    offsets: Offsets
    opens: Offsets
    read_words: Callable[[], Words] | None = None
    tags: tuple[CodedTags, ...] = ()
    layer_labels: tuple[str, ...] = ()
    scheme: str = ""
    given: Known | None = None
    line: Ints | None = None
    before: tuple[int, int] = (0, 0)
    findings: tuple[Finding, ...] = ()
    info: tuple[Mapping[str, Any], ...] = ()
    origin: Any = field(default=None, repr=False)
    files: tuple[str, ...] = ()
    notes: tuple[Mapping[str, Any], ...] = ()
    read_column: Callable[[str | int], CodedTags] | None = field(default=None, repr=False)
    read_spellings: Callable[[], Words] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return int(self.offsets[-1])

    @cached_property
    def words(self) -> Words:
        """The words, which are read now if they were not."""
        if self.read_words is None:
            raise FileError(f"{self.name}: the words were not read.", self.name)
        return self.read_words()

    @cached_property
    def spellings(self) -> Words:
        """The words, of which nobody wants to know what is between them."""
        return self.words if self.read_spellings is None else self.read_spellings()

    def column(self, name: str | int) -> CodedTags:
        """Return another column of the source, such as parts of speech, which is read now.

        Columns of a column file have numbers, from 0 or from the end, and names if it has a header.
        A DocBin has `pos`, `tag`, `dep` and `lemma`. Raises for a column that the source lacks.
        """
        if self.read_column is None:
            raise FileError(
                f"{self.name}: there is no column {name!r}: only column files and .spacy files "
                "have columns beside the annotation.",
                self.name,
            )
        return self.read_column(name)

    @cached_property
    def _found(self) -> dict[str, list[ViolationColumns]]:
        """The violations of the schemes that somebody asked for."""
        return {}

    @cached_property
    def _known(self) -> dict[tuple[str, str], Known]:
        """What the annotation says under the schemes and policies that somebody asked for."""
        return {}

    @cached_property
    def missing(self) -> Flags | None:
        """The tokens that are not annotated, as they are written; None if there are none."""
        if self.given is not None:
            return self.given.missing
        return _any(having(layer, (MISSING,)) for layer in self._layers_with(MISSING))

    @cached_property
    def blocked(self) -> Flags | None:
        """The tokens that no span may hold, as they are written; None if there are none."""
        if self.given is not None:
            return self.given.blocked
        return _any(having(layer, (BLOCKED,)) for layer in self._layers_with(BLOCKED))

    @property
    def nothing(self) -> Known:
        """That there are no spans, for whoever does not ask."""
        none = np.zeros(0, dtype=np.int32)
        return Known(SpanColumns.trusted([none] * 4, (), len(self)))

    def known(self, scheme: str | Scheme = "", policy: str | Policy = "raise") -> Known:
        """Return what the annotation says when tags are read in a scheme under a policy.

        This is the one place where tags become spans. Raises for tags that cannot be read and for
        malformed ones that the policy refuses, with their places.
        """
        if self.given is not None:
            return self.given
        rule, scheme = get_tag_policy(policy), self.named_scheme(scheme)
        key = scheme.name, rule.name
        if key not in self._known:
            self._known[key] = self._read(scheme, rule)
        return self._known[key]

    def _read(self, scheme: Scheme, rule: Policy) -> Known:
        """Return what the tags say."""
        named = self.layers(scheme, rule)
        labels = self.layer_labels or ("",) * len(named)
        holes = {
            label: having(layer, (MISSING,))
            for label, layer in zip(labels, self.tags)
            if label and MISSING in layer.tags
        }
        free = [x for x, label in zip(self.tags, labels) if not label and MISSING in x.tags]
        wrong = [] if rule.refuses else [layer.total for layer in self.found(scheme)]
        return Known(
            SpanColumns.merged(named),
            _any(having(layer, (MISSING,)) for layer in free),
            {label: flags for label, flags in holes.items() if flags.any()},
            self.blocked,
            violations=sum(wrong),
            layers=tuple(named) if len(named) > 1 else (),
        )

    def layers(self, scheme: str | Scheme, policy: str | Policy) -> list[SpanColumns]:
        """Return the spans of each layer of tags; errors are those of `known`."""
        rule, scheme = get_tag_policy(policy), self.named_scheme(scheme)
        labels = self.layer_labels or ("",) * len(self.tags)
        found = [self._spans(layer, scheme, rule) for layer in self.tags]
        return [_named(spans, label) for spans, label in zip(found, labels)]

    def every_finding(self, known: Known) -> list[Finding]:
        """Return the findings, and one for each span that is in more than one layer."""
        if (twice := known.repeated) is None:
            return list(self.findings)
        rows = zip(twice.sentence.tolist(), twice.spans())
        return [*self.findings] + [
            Finding(
                "repeated",
                self.place(self.at(sentence, start)),
                sentence,
                label,
                ((start, end, self.text(sentence, start, end)),),
            )
            for sentence, (start, end, label) in rows
        ]

    def found(self, scheme: str | Scheme = "") -> list[ViolationColumns]:
        """Return the violations of a scheme in each layer of tags."""
        if not self.tags:
            return []
        scheme = self.named_scheme(scheme)
        if scheme.name not in self._found:
            self._found[scheme.name] = [validate_many(layer, scheme) for layer in self.tags]
        return self._found[scheme.name]

    def violations(self, scheme: str | Scheme = "") -> Iterator[Violation]:
        """Return every violation of a scheme with its place, layer by layer."""
        for layer in self.found(scheme):
            yield from self.located(layer)

    def located(self, violations: ViolationColumns) -> Iterator[Violation]:
        """Return violations of these sentences with file, line or document, and token."""
        for sentence, wrong in violations.rows():
            at = self.at(sentence, wrong.index - (wrong.current is None))
            line, token = self.line_of(at), self.words.strings(at, at + 1)[0]
            if line is None:
                doc, index = self.token_of(at)
                wrong = replace(wrong, index=index, doc=doc)
            yield replace(wrong, file=self.file_of(at), line=line, token=token)

    def at(self, sentence: int, index: int) -> int:
        """Return the number of a token; the last of the sentence if `index` is beyond the end."""
        begin, end = self.offsets[sentence : sentence + 2].tolist()
        return int(min(begin + index, end - 1))

    def line_of(self, at: int) -> int | None:
        """Return the line of a token, which is counted over all sentences; None without lines."""
        return None if self.line is None else int(self.line[at])

    def file_of(self, at: int) -> str:
        """Return the name of the file that a token is in."""
        if not self.files:
            return self.name
        return self.files[int(np.searchsorted(self.offsets, at, side="right")) - 1]

    def token_of(self, at: int) -> tuple[int, int]:
        """Return the document of a token, counted over the source, and its number there."""
        sentence = int(np.searchsorted(self.offsets, at, side="right")) - 1
        document = int(np.searchsorted(self.opens, sentence, side="right")) - 1
        first = int(self.offsets[self.opens[document]]) if document >= 0 else 0
        return self.before[0] + document, at - first

    def place(self, at: int) -> str:
        """Return where a token is, for messages: `file:line`, or the document and its token."""
        line = self.line_of(at)
        if line is not None:
            return f"{self.file_of(at)}:{line}"
        document, token = self.token_of(at)
        return f"{self.name}, Doc {document}, token {token}"

    def text(self, sentence: int, start: int = 0, end: int | None = None) -> str:
        """Return the text of a sentence, or of some of its tokens."""
        begin, stop = self.offsets[sentence : sentence + 2].tolist()
        last = stop if end is None else begin + end
        return self.words.text(begin + start, last)

    def note(self, first: int, count: int) -> Mapping[str, Any]:
        """Return what is written of some sentences that is not written of their document.

        There is nothing that is written of several.
        """
        return self.notes[first] if self.notes and count == 1 else {}

    def info_of(self, sentence: int) -> Mapping[str, Any]:
        """Return what else is written of a sentence and of its document, if that opens here."""
        document = int(np.searchsorted(self.opens, sentence, side="right")) - 1
        more = self.info[document] if self.info and document >= 0 else {}
        return {**more, **self.note(sentence, 1)}

    def cut(self, begin: int, end: int) -> Sentences:
        """Return the sentences from `begin` to `end`; nothing is copied, and no word is read."""
        if (begin, end) == (0, len(self)):
            return self
        first, last = self.offsets[begin].item(), self.offsets[end].item()
        one, other = np.searchsorted(self.opens, [begin, end]).tolist()
        whole = self
        return replace(
            self,
            offsets=self.offsets[begin : end + 1] - first,
            opens=self.opens[one:other] - begin,
            read_words=self.read_words and (lambda: whole.words.cut(first, last, (one, other))),
            tags=tuple(layer[begin:end] for layer in self.tags),
            given=self.given and self.given.cut((begin, end), (first, last)),
            line=None if self.line is None else self.line[first:last],
            before=(self.before[0] + one, self.before[1] + begin),
            findings=tuple(
                replace(found, sentence=found.sentence - begin)
                for found in self.findings
                if begin <= found.sentence < end
            ),
            info=self.info[one:other],
            origin=self.origin and self.origin.cut(first, last),
            files=self.files[begin:end],
            notes=self.notes[begin:end],
            read_column=self.read_column and (lambda name: whole.column(name)[begin:end]),
            read_spellings=self.read_spellings
            and (lambda: whole.spellings.cut(first, last, (0, 0))),
        )

    def with_spans(self, known: Known) -> Sentences:
        """Return the sentences with these spans and no other annotation.

        A boundary of sentences inside a span is none then.
        """
        spans = known.spans
        base = self.offsets[spans.sentence]
        inside = np.zeros(self.tokens + 2, dtype=np.int64)
        np.add.at(inside, base + spans.start + 1, 1)
        np.add.at(inside, base + spans.end, -1)
        kept = np.cumsum(inside)[self.offsets[:-1]] == 0
        if kept.all():
            return replace(self, given=known)
        offsets = np.append(self.offsets[:-1][kept], self.offsets[-1:])
        number = np.cumsum(kept) - 1
        return replace(
            self,
            offsets=offsets,
            opens=number[self.opens],
            tags=(),
            given=known.regrouped(self.offsets, offsets),
            findings=tuple(
                replace(found, sentence=int(number[found.sentence])) for found in self.findings
            ),
            files=tuple(compress(self.files, kept)),
            read_column=None,
        )

    def without_blank_ends(self, known: Known) -> Known:
        """Return what is known with spans that begin and end with a token of text."""
        blank = self.spellings.blank()
        if not blank.any():
            return known
        solid = np.append(np.flatnonzero(~blank), len(blank))

        def trimmed(spans: SpanColumns) -> SpanColumns:
            base = self.offsets[spans.sentence]
            begin = solid[np.searchsorted(solid, base + spans.start)]
            end = solid[np.searchsorted(solid, base + spans.end) - 1] + 1
            kept = begin < end
            ends = ((side - base).astype(np.int32) for side in (begin, end))
            columns = (spans.sentence, *ends, spans.label)
            return SpanColumns.trusted((x[kept] for x in columns), spans.labels, len(spans))

        return known.changed(trimmed, lambda flags: flags)

    def without_blanks(self) -> Sentences:
        """Return the sentences without tokens of white space; no span begins or ends on one."""
        blank = self.spellings.blank()
        if not blank.any():
            return self
        kept = ~blank
        before = np.concatenate([[0], np.cumsum(kept)])
        offsets = before[self.offsets]
        words = replace(self.words, begin=self.words.begin[kept], end=self.words.end[kept])
        whole = self

        def column(name: str | int) -> CodedTags:
            found = whole.column(name)
            return CodedTags.trusted(found.codes[kept], offsets, found.tags)

        return replace(
            self,
            offsets=offsets,
            read_words=lambda: words,
            tags=tuple(_without(layer, kept, offsets) for layer in self.tags),
            given=self.given and self.given.kept(kept, self.offsets, offsets),
            line=None if self.line is None else self.line[kept],
            origin=None,
            read_column=self.read_column and column,
            read_spellings=None,
        )

    def named_scheme(self, scheme: str | Scheme = "") -> Scheme:
        """Return the scheme that the source names, else the one that somebody names."""
        if not (self.scheme or scheme):
            raise FileError(f"{self.name}: name the scheme of its tags (--scheme).", self.name)
        return get_scheme(self.scheme or scheme)

    def _layers_with(self, tag: str) -> Iterable[CodedTags]:
        return (layer for layer in self.tags if tag in layer.tags)

    def _spans(self, layer: CodedTags, scheme: Scheme, policy: Policy) -> SpanColumns:
        """Return the spans of one layer; an error has the place."""
        try:
            return read_spans(layer, scheme, policy)
        except (UnreadableTagError, MalformedTagsError) as error:
            if policy.refuses:
                found = self.located(validate_many(layer, scheme))
                raise refusal(scheme, list(found)) from error
            if not isinstance(error, UnreadableTagError):
                raise
            at = error.sentence, error.index
            message = self.shown(*at) + error.reason
            raise UnreadableTagError(message, error.tag, *at, error.reason) from error

    def shown(self, sentence: int, index: int) -> str:
        """Return the place of a token, and the token, as the beginning of a message."""
        at = self.at(sentence, index)
        place = self.place(at)
        if self.line is not None:
            place = f"{self.file_of(at)}, line {self.line_of(at)}"
        return f"{place}, {self.words.strings(at, at + 1)[0]!r}: "

    def locate(self, error: SpanError) -> SpanError:
        """Return an error of spans of these sentences with its place."""
        start = error.spans[0].start if error.spans else 0
        message = self.shown(error.sentence, start) + error.reason
        return type(error)(message, error.spans, error.sentence, error.reason)

    @classmethod
    def joined(cls, several: Sequence[Sentences]) -> Sentences:
        """Return sentences of one source that follow each other as one value."""
        first = several[0]
        if len(several) == 1:
            return first
        counts = np.cumsum([0, *map(len, several)])
        tokens = np.cumsum([0, *(part.tokens for part in several)])
        layers = (_joined_tags(layers) for layers in zip(*(part.tags for part in several)))
        lines = [part.line for part in several if part.line is not None]
        known = [part.given for part in several if part.given is not None]
        parts = list(zip(several, counts.tolist()))
        return replace(
            first,
            offsets=np.concatenate(
                [part.offsets[:-1] + at for part, at in zip(several, tokens.tolist())]
                + [tokens[-1:]]
            ).astype(np.int64),
            opens=np.concatenate([part.opens + at for part, at in parts]).astype(np.int64),
            read_words=lambda: Words.joined([part.words for part in several]),
            tags=tuple(layers),
            given=Known.joined(known, [p.tokens for p in several]) if known else None,
            line=np.concatenate(lines) if lines else None,
            findings=tuple(
                replace(found, sentence=found.sentence + at)
                for part, at in parts
                for found in part.findings
            ),
            info=tuple(each for part in several for each in part.info),
            origin=_joined_origins(several),
            files=tuple(
                each
                for part in several
                for each in (part.files or (part.name,) * len(part))
                if any(other.files for other in several)
            ),
            notes=tuple(each for part in several for each in part.notes),
            read_column=first.read_column
            and (lambda name: _joined_tags([part.column(name) for part in several])),
            read_spellings=first.read_spellings
            and (lambda: Words.joined([part.spellings for part in several])),
        )


def _joined_origins(several: Sequence[Sentences]) -> Any:
    """Return the origin of sentences that follow each other; None if it cannot be joined."""
    joined = getattr(several[0].origin, "joined", None)
    return joined and joined([part.origin for part in several], [part.tokens for part in several])


def whole_documents(parts: Iterable[Sentences]) -> Iterator[Sentences]:
    """Yield whole documents, some at a time: parts of one document are joined."""
    held = list[Sentences]()
    for part in parts:
        if not len(part):
            continue
        first, last = int(part.opens[0]) if len(part.opens) else len(part), len(part)
        if first:
            held.append(part.cut(0, first))
            _require_short(held)
        if first == last:
            continue
        if held:
            yield Sentences.joined(held)
        split = int(part.opens[-1])
        if split > first:
            yield part.cut(first, split)
        held = [part.cut(split, last)]
    if held:
        yield Sentences.joined(held)


def _require_short(held: Sequence[Sentences]) -> None:
    if sum(part.tokens for part in held) > LONGEST:
        raise CorpusError(
            f"{held[0].name}: the document that begins at {held[0].place(0)} has more than "
            f"{LONGEST:,} tokens. If lines that mark documents are missing, let each sentence "
            "stand for itself (--documents none)."
        )


def _any(flags: Iterable[Flags]) -> Flags | None:
    """Return the tokens that have one of these flags; None if no token has."""
    some = list(flags)
    found = np.logical_or.reduce(some) if some else np.zeros(0, dtype=bool)
    return found if found.any() else None


def _named(spans: SpanColumns, label: str) -> SpanColumns:
    """Return the spans; those without a label have this one."""
    if not label or "" not in spans.labels:
        return spans
    return spans.relabelled([name or label for name in spans.labels])


def _without(layer: CodedTags, kept: Flags, offsets: Offsets) -> CodedTags:
    """Return the tags of the tokens that are kept; where a begin is not, the next token has it."""
    codes = layer.codes.copy()
    inside = {tag: f"I-{tag[2:]}" for tag in layer.tags if tag.startswith("B-")}
    numbers = {tag: number for number, tag in enumerate(layer.tags)}
    for at in np.flatnonzero(~kept).tolist():
        wanted = numbers.get(inside.get(layer.tags[codes[at]], ""), -1)
        if at + 1 < len(codes) and codes[at + 1] == wanted:
            codes[at + 1] = codes[at]
    return CodedTags.trusted(codes[kept], offsets, layer.tags)


def _joined_tags(layers: Sequence[CodedTags]) -> CodedTags:
    """Return tags of sentences that follow each other."""
    names = dict[str, int]()
    codes, offsets, at = list[Ints](), list[Offsets](), 0
    for layer in layers:
        numbers = [names.setdefault(tag, len(names)) for tag in layer.tags]
        codes.append(np.array(numbers, dtype=np.int32)[layer.codes] if numbers else layer.codes)
        offsets.append(layer.offsets[:-1] + at)
        at += len(layer.codes)
    bounds = np.concatenate([*offsets, [at]]).astype(np.int64)
    return CodedTags.trusted(np.concatenate(codes), bounds, tuple(names))
