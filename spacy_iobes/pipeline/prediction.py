"""What a pipeline finds in annotated files, in place of their annotation."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any

import numpy as np
from spacy.tokens import Doc

from ..codes.known import Known
from ..codes.scheme import SCHEMES
from ..codes.span_columns import SpanColumns
from ..codes.tag import read_tag
from ..codes.tag_columns import CodedTags
from ..codes.violation import BLOCKED, MISSING
from ..corpus.corpus import Corpus, Parts, Saved, save_parts
from ..corpus.docs import Layout
from ..corpus.files import STANDARD, shown_output
from ..corpus.findings import finding_lines
from ..corpus.formats import ending_of, format_by_ending, get_format
from ..corpus.formats.columns import ColumnOrigin
from ..corpus.formats.docbin import DocBinOrigin
from ..corpus.formats.options import ReadOptions, SaveOptions
from ..corpus.inputs import require_other
from ..corpus.opener import Opener
from ..corpus.outputs import CALLED_COLUMNS
from ..corpus.scheme_search import told_scheme
from ..corpus.sentences import Sentences
from ..errors import ColumnError, FileError, ModelError, OptionError
from ..names import counted
from .documents import PipelineDocs, reading, sentence_bound
from .finder import Finder

TAGGED = ("columns", "hugging_face")
"""Formats that hold spans as tags."""
UNPRINTED = {"docbin": "a .spacy file", "brat": "a brat folder"}
"""Formats that cannot be printed."""


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


@dataclass(frozen=True)
class Predicted:
    """What was written to one output: by which pipeline, from which files, and how.

    The spans are in `places`, columns of tags that were there before, if there are any.
    """

    finder: Finder
    inputs: list[str]
    output: str
    save: SaveOptions
    saved: Saved
    places: Sequence[str] = ()

    def lines(self) -> list[str]:
        """Return what was written in words."""
        word = "mention" if self.finder.key else "entity"
        text = f"{counted(self.saved.labels.total(), word)} in {self.saved}"
        if self.save.to in TAGGED:
            place = f" in column {', '.join(self.places)}" if self.places else ""
            new = " as new columns" if self.finder.key else " as a new column"
            text += f"; {self.save.to_scheme} tags{new if self.save.append else place}"
        lines = [text, *finding_lines(self.saved.findings)]
        return [f"{shown_output(self.output)}: {line}" for line in lines]

    def as_dict(self) -> dict[str, Any]:
        """Return what was written as plain values."""
        save, done = self.save, self.saved
        tagged = {"scheme": save.to_scheme, "appended": save.append} if save.to in TAGGED else {}
        return {
            "inputs": self.inputs,
            "output": self.output,
            "format": save.to,
            "target": self.finder.target,
            **tagged,
            **done.size,
            "spans": done.labels.total(),
            "labels": done.counts,
            "findings": list(map(asdict, done.findings)),
        }


@dataclass(frozen=True)
class Prediction:
    """How to read files, what finds spans in them, and how to write them."""

    finder: Finder
    files: Opener
    how: ReadOptions
    save: SaveOptions
    scheme: str = ""
    force: bool = False

    def write(self, inputs: Sequence[str], output: str) -> Predicted:
        """Write files, or those of folders, to one output with the spans that are found in them."""
        every = (file for path in inputs for file in Corpus(path, self.how).files())
        paths = [file.path for file in every]
        with ExitStack() as stack:
            plain = reading(self.finder.nlp, self.how)
            corpora = [stack.enter_context(self.files.opened(path, plain)) for path in paths]
            require_other(output, paths if len(paths) > 1 else [])
            save = self._saving(corpora, output)
            columns = {corpus.format.name for corpus in corpora} | {save.to} == {"columns"}
            if columns and not save.append:  # a file of tokens alone gets a column
                alone = any(lacks_tags(part) for part in islice(corpora[0], 1))
                save = replace(save, append=alone)
            if columns and save.append:  # the old columns of tags are none of our business
                plain = replace(plain, tag=plain.token, layers=())
                corpora = [replace(corpus, options=plain) for corpus in corpora]
            over = columns and not (save.append or save.only_tags or save.layers)
            kept = over and save.order == "source"
            again = save.to in TAGGED and not kept
            found = Predictions(
                self.finder, corpora, kept, self.force, again, probable=save.to == "jsonl"
            )
            done = save_parts(Parts(found), output, save)
        places = self.how.layers or (str(self.how.tag),)
        names = [corpus.name for corpus in corpora]
        return Predicted(self.finder, names, output, save, done, places if over else ())

    def _saving(self, corpora: Sequence[Corpus], output: str) -> SaveOptions:
        """Return how to write files: as they are, unless something else is said."""
        to = self._format(corpora, output)
        if output == STANDARD and to in UNPRINTED:
            message = f"{UNPRINTED[to]} cannot be printed: name where it goes, or another format"
            raise OptionError(f"{message} (--to jsonl)", "OUT")
        scheme = self.save.to_scheme or self.scheme
        if not scheme and to in TAGGED:
            scheme = self._scheme(corpora)
        marked = any(corpus.format.marked for corpus in corpora)
        return replace(
            self.save,
            to=to,
            to_scheme=scheme,
            spans_key=self.save.spans_key or self.finder.key,
            unit=self.save.unit if marked else "document",
            encoding=self.how.encoding,
        )

    def _format(self, corpora: Sequence[Corpus], output: str) -> str:
        """Return the format to write: what was read, or what the name of the output says."""
        kinds = {c.format.dialect(c.path, c.options) for c in corpora}
        first, ending = next(iter(kinds)), ending_of(output)
        named = format_by_ending(ending)
        if self.save.to != "auto":
            to = self.save.to
        elif named is not None:
            alike = {ending_of(corpus.path) for corpus in corpora} == {ending}
            to = first if alike and len(kinds) == 1 else named.name
        elif ending in CALLED_COLUMNS:
            to = "columns"
        elif len(kinds) > 1:
            raise FileError(
                f"Files of several formats ({', '.join(sorted(kinds))}): name one (--to)."
            )
        else:
            bare = not get_format(first).annotated and ending != ".txt"
            to = "jsonl" if bare else first
        if not get_format(to).annotated:
            raise FileError(
                f"{shown_output(output)}: the format {to} holds no annotation. Name a file that "
                "ends in .jsonl, or another format (--to)."
                + " If it was to be read, name a folder behind it."
                * (output != STANDARD),
                output,
            )
        return get_format(to).name

    def _scheme(self, corpora: Sequence[Corpus]) -> str:
        """Return the scheme of the tags that are there, if they tell it, or that of the model."""
        told = {
            told_scheme(Corpus(corpus.path, self.how))
            for corpus in corpora
            if corpus.format.needs_scheme(corpus.path, self.how)
        }
        return (told.pop() if len(told) == 1 else "") or self.finder.scheme.name
