"""What a pipeline finds in annotated files, in place of their annotation."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..arrays import Floats
from ..codes.known import Known
from ..codes.scheme import SCHEMES, Scheme, get_scheme
from ..codes.span_columns import SpanColumns
from ..codes.tag import read_tag
from ..codes.tag_columns import CodedTags
from ..codes.violation import BLOCKED, MISSING
from ..corpus.corpus import Corpus
from ..corpus.docs import Layout, spans_of
from ..corpus.formats.columns import ColumnOrigin
from ..corpus.formats.docbin import DocBinOrigin
from ..corpus.sentences import Sentences
from ..errors import ColumnError, ModelError
from .documents import PipelineDocs, sentence_bound
from .ner import EntityRecognizer
from .nested_ner import NestedRecognizer

OTHERS = "bio"  # the scheme of a pipeline whose spans do not come from tags
BATCH = 1000  # Docs whose spans are looked at in one go


@dataclass(frozen=True)
class Finder:
    """A pipeline, and where it puts what it finds: entities, or the span group `key`."""

    nlp: Language
    key: str = ""

    @classmethod
    def of(cls, nlp: Language) -> Finder:
        """Return what a pipeline finds: entities if a component sets them, else mentions."""
        groups = cls.groups(nlp)
        entities = any("doc.ents" in nlp.get_pipe_meta(name).assigns for name in nlp.pipe_names)
        return cls(nlp, "" if entities or not groups else groups[-1])

    @classmethod
    def groups(cls, nlp: Language) -> list[str]:
        """Return the span groups of the recognisers of nested mentions."""
        return [x.spans_key for _, x in nlp.pipeline if isinstance(x, NestedRecognizer)]

    @property
    def target(self) -> str:
        """The name of the place: `ents`, or `spans:KEY`."""
        return f"spans:{self.key}" if self.key else "ents"

    @cached_property
    def recognizer(self) -> EntityRecognizer | NestedRecognizer | None:
        """The last of our recognisers that writes there; None if there is none."""
        pipes = [pipe for _, pipe in self.nlp.pipeline]
        if self.key:
            nested = [pipe for pipe in pipes if isinstance(pipe, NestedRecognizer)]
            return next((x for x in reversed(nested) if x.spans_key == self.key), None)
        return next((x for x in reversed(pipes) if isinstance(x, EntityRecognizer)), None)

    @property
    def scheme(self) -> Scheme:
        """The scheme in which the recogniser tags."""
        found = self.recognizer
        return found.scheme if isinstance(found, EntityRecognizer) else get_scheme(OTHERS)

    def find(self, docs: Sequence[Doc], probable: bool = False) -> tuple[SpanColumns, Floats]:
        """Return the spans of Docs and, if they are to be `probable`, how much so; else NaN."""
        found = list(self.nlp.pipe(docs))
        self._require_set(found)
        spans = spans_of(found, self.target)
        probability = np.full(spans.total, np.nan)
        pipe = self.recognizer
        if not probable or pipe is None:
            return spans, probability
        known = np.isin(spans.label, [n for n, x in enumerate(spans.labels) if x in pipe.labels])
        for first in range(0, len(found), BATCH):
            last = min(first + BATCH, len(found))
            mine = slice(*np.searchsorted(spans.sentence, [first, last]).tolist())
            asked = spans.cut(first, last).where(known[mine]).with_labels(pipe.labels)
            rows = np.flatnonzero(known[mine]) + mine.start
            if asked.total:
                probability[rows] = pipe.span_probabilities(found[first:last], asked)
        return spans, probability

    def _require_set(self, docs: Sequence[Doc]) -> None:
        """Refuse a pipeline that sets no entities, or not the group."""
        if not any(map(len, docs)):
            return
        known = ", ".join(self.nlp.pipe_names) or "none"
        if self.key and not any(self.key in doc.spans for doc in docs):
            raise ModelError(
                f"No component writes the span group {self.key!r}. There are: {known}."
            )
        if not self.key and not any(doc.has_annotation("ENT_IOB") for doc in docs):
            raise ModelError(
                "The pipeline finds no entities: none of its components sets them. It has: "
                f"{known}. Name one that was trained for it, by 'train' for example, or the span "
                "group that a component writes (--spans-key)."
            )


@dataclass
class Predictions:
    """The sentences of files with the spans that a pipeline finds, and no other annotation.

    Columns of tags are there to be written over if they are `columns`; what is no tag in them is
    refused, unless somebody lets it be overwritten. Where the sentences are to be read several
    times (`again`), what was found is kept, and the pipeline is asked once.
    """

    finder: Finder
    corpora: Sequence[Corpus]
    columns: bool = False
    force: bool = False
    again: bool = False
    probable: bool = False
    _kept: list[Known] = field(default_factory=list)

    def __iter__(self) -> Iterator[Sentences]:
        if not self.again:
            yield from (self._written(*pair) for pair in self._found())
            return
        self._kept = self._kept or [known for _, known in self._found()]
        parts = (part for each in self.corpora for part in replace(each, progress=None))
        yield from map(self._written, parts, self._kept)

    def _found(self) -> Iterator[tuple[Sentences, Known]]:
        """Yield the parts of the files, with what is found in them."""
        for corpus in self.corpora:
            marked = corpus.format.marked
            with sentence_bound(self.finder.nlp) if marked else nullcontext():
                yield from self._found_in(corpus, marked)

    def _found_in(self, corpus: Corpus, marked: bool) -> Iterator[tuple[Sentences, Known]]:
        """Yield the parts of a file; Docs may go over several of them."""
        pending = deque[Sentences]()
        found = Known(_no_spans(0), probability=np.zeros(0) if self.probable else None)

        def seen() -> Iterator[Sentences]:
            for part in corpus:
                self._require_tags(part)
                pending.append(part)
                yield part

        docs = PipelineDocs.of(self.finder.nlp, corpus)
        for whole, made, layout in docs.of_parts(seen()):
            new = self._in_sentences(whole, made, layout, marked)
            found = Known.joined([found, new], [0, 0])
            while pending and len(pending[0]) <= len(found.spans):
                size = len(pending[0])
                yield pending.popleft(), found.cut((0, size), (0, 0))
                found = found.cut((size, len(found.spans)), (0, 0))
        yield from ((part, Known(_no_spans(len(part)))) for part in pending)

    def _in_sentences(
        self, part: Sentences, docs: Sequence[Doc], layout: Layout, marked: bool
    ) -> Known:
        """Return what is found in Docs as spans of the sentences that they begin in."""
        spans, probability = self.finder.find(docs, self.probable)
        flat, left = layout.inverse(spans)
        found = flat.regrouped(np.array([0, part.tokens]), part.offsets)
        if marked and (found.end > np.diff(part.offsets)[found.sentence]).any():
            raise ModelError(
                "The pipeline finds an entity that leaves its sentence, which tags cannot say. "
                "With --documents none every sentence is a Doc of its own."
            )
        told = probability[left] if self.probable else None
        return part.without_blank_ends(Known(found, probability=told))

    def _written(self, part: Sentences, known: Known) -> Sentences:
        """Return a part with what was found in it."""
        tags = tuple(map(_without_absent, part.tags)) if self.columns else ()
        if any(part.layer_labels) and tags:
            known = replace(known, layers=_by_label(known.spans, part))
        bare = replace(part, tags=tags, findings=())
        if isinstance(part.origin, DocBinOrigin):
            bare = replace(bare, origin=replace(part.origin, key=self.finder.key))
        return bare.with_spans(known)

    def _require_tags(self, part: Sentences) -> None:
        """Refuse to write over a column with a cell that is no tag of any scheme, such as `NNP`."""
        if not self.columns or self.force or not isinstance(part.origin, ColumnOrigin):
            return
        if lacks_tags(part):
            raise ColumnError(
                f"{part.name}: there are but tokens in this file, and tags in others: write each "
                "to a file of its own.",
                part.name,
            )
        for layer, column in zip(part.tags, part.origin.columns):
            others = [code for code, cell in enumerate(layer.tags) if not may_be_tag(cell)]
            for at in np.flatnonzero(np.isin(layer.codes, others))[:1].tolist():
                line, cell = part.line_of(at), layer.tags[layer.codes[at]]
                raise ColumnError(
                    f"{part.name}, line {line}: {cell!r} is no tag, so there may be something else "
                    f"in column {column}. Add a column for the tags (--append), name that of the "
                    "tags (--tag), or let it be overwritten (--force).",
                    part.name,
                    line,
                )


def _no_spans(sentences: int) -> SpanColumns:
    return SpanColumns.of([[]] * sentences, [0] * sentences)


def _without_absent(layer: CodedTags) -> CodedTags:
    """Return tags that say `O` of the tokens that were not annotated."""
    names = tuple("O" if tag in (MISSING, BLOCKED) else tag for tag in layer.tags)
    return CodedTags.trusted(layer.codes, layer.offsets, names)


def _by_label(spans: SpanColumns, part: Sentences) -> tuple[SpanColumns, ...]:
    """Return the spans of each layer: those of its label or, where it has none, of the others."""
    named = set(part.layer_labels) - {""}
    others = [label for label in spans.labels if label not in named]
    if others and "" not in part.layer_labels:
        raise ModelError(
            f"{part.name}: no column is for the label {others[0]} (--layer): add columns "
            "(--append), or write another format (--to)."
        )
    every = {x: spans.with_labels([x] if x else others) for x in part.layer_labels}
    rows = {x: iter(found.in_layers()) for x, found in every.items()}
    none = spans.where(slice(0, 0))
    found = tuple(next(rows[label], none) for label in part.layer_labels)
    if deep := [label for label, rest in rows.items() if next(rest, None) is not None]:
        raise ModelError(
            f"{part.name}: spans of the label {deep[0]} overlap, and have but "
            f"{part.layer_labels.count(deep[0])} columns: add columns (--append), or write another "
            "format (--to)."
        )
    return found


def lacks_tags(part: Sentences) -> bool:
    """Return whether the lines of a column file are nothing but tokens."""
    if not isinstance(part.origin, ColumnOrigin):
        return False
    layout = part.origin.part.layout
    width, columns = layout.width, part.origin.columns
    same = width and any(layout.token % width == column % width for column in columns)
    if same and width > 1:
        message = f"{part.name}: the column of the tag is that of the token. Name another one "
        raise ColumnError(f"{message}(--tag), or add one (--append).", part.name)
    return bool(same)


def may_be_tag(cell: str) -> bool:
    """Return whether some scheme has such a tag, or it has no letter or digit, as `_`."""
    said = any(map(str.isalnum, cell))
    return not said or any(read_tag(cell, scheme) for scheme in SCHEMES.values())


def tokens_alone(parts: Iterable[Sentences]) -> bool:
    """Return whether the first lines of a column file are nothing but tokens."""
    return any(lacks_tags(part) for part, _ in zip(parts, range(1)))
