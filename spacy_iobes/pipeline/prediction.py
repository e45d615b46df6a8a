"""Column files with the tags that a pipeline predicts; all else stays as it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..codes.policy import get_policy
from ..codes.scheme import SCHEMES, Scheme, get_scheme
from ..codes.span_columns import SpanColumns
from ..codes.tag import read_tag
from ..codes.write import write_spans
from ..corpus.column_docs import bare_doc, grouped
from ..corpus.conll import ColumnReader, Part
from ..corpus.file_sentences import PartWords, Sentence, document_starts, require_tokens
from ..corpus.files import write_bytes
from ..corpus.formats.columns import edit_part
from ..corpus.sources import Entities, offsets_of
from ..corpus.tagged import TaggedDocs
from ..errors import ColumnError, ModelError
from .documents import sentence_bound, takes_documents
from .ner import EntityRecognizer

OTHERS = "bio"  # of a pipeline whose entities do not come from tags


@dataclass
class PredictedFile:
    """What was found in a file, and whether the tags are a new column of it."""

    scheme: str
    labels: Counter[str] = field(default_factory=Counter)
    appended: bool = False


def scheme_of(nlp: Language) -> Scheme:
    """The scheme in which the last recogniser of a pipeline tags."""
    ours = [pipe.scheme for _, pipe in nlp.pipeline if isinstance(pipe, EntityRecognizer)]
    return ours[-1] if ours else get_scheme(OTHERS)


def predict_file(
    nlp: Language,
    reader: ColumnReader,
    target: str | Path,
    scheme: str | Scheme | None = None,
    append: bool = False,
    overwrite: bool = False,
) -> PredictedFile:
    """Write a file with predicted tags, all at once or not at all.

    Each sentence is one Doc or, behind a line that begins a document, if the pipeline takes
    documents, each document. What the tags of the file say does not matter, but a column that
    holds something else is refused, unless it is to be overwritten. Where a file has only tokens,
    its tags are a new column.
    """
    goal = scheme_of(nlp) if scheme is None else get_scheme(scheme)
    done = PredictedFile(goal.name)
    begun, joined = False, takes_documents(nlp)
    bound = sentence_bound(nlp) if joined else nullcontext()
    with write_bytes(target, reader.columns.encoding) as put, bound:
        for parts in whole_documents(reader, joined):
            done.appended = append or lacks_tags(parts[0].part)
            if not (done.appended or overwrite):
                for held in parts:
                    require_tags(held.part)
            every = [sentence for held in parts for sentence in held.sentences]
            found = predicted_spans(nlp, every)
            for held, spans in zip(parts, split(found, [len(h.sentences) for h in parts])):
                done.labels.update(span.label for span in spans.spans())
                with held.part.locating():
                    tags = write_spans(spans, held.part.tags.offsets, goal)
                written = edit_part(held.part, tags, done.appended)
                put(written if begun else reader.mark + written)
                begun = True
    return done


class PartSentences(NamedTuple):
    """A part of a file, and its sentences."""

    part: Part
    sentences: list[Sentence]


def whole_documents(reader: ColumnReader, joined: bool) -> Iterator[list[PartSentences]]:
    """The parts of a file, those that a document has in common together if it is to be `joined`.

    Sentences before the first line that begins a document are documents of their own.
    """
    held: list[PartSentences] = []
    words_of, marked = PartWords(reader), False
    for part in reader:
        require_tokens(part)
        starts = document_starts(part) if joined and words_of.count_documents else set()
        sentences = []
        for number, (words, opens) in enumerate(words_of(part)):
            marked = marked or number in starts
            sentences.append(Sentence(words, (), opens or not marked))
        marked = marked or bool(starts)
        if held and sentences and sentences[0].opens:
            yield held
            held = []
        held.append(PartSentences(part, sentences))
    if held:
        yield held


def predicted_spans(nlp: Language, sentences: Sequence[Sentence]) -> SpanColumns:
    """What a pipeline finds in sentences, which it gets as documents."""
    docs = [bare_doc(nlp.vocab, members) for members in grouped(sentences, "document")]
    found = found_in(list(nlp.pipe(docs)), nlp)
    offsets = np.cumsum([0, *(len(sentence.words) for sentence in sentences)])
    starts = offsets_of(docs)[found.sentence]
    sentence = np.searchsorted(offsets, starts + found.start, side="right") - 1
    moved = starts - offsets[sentence]
    if (found.end + moved > np.diff(offsets)[sentence]).any():
        raise ModelError(
            "The pipeline finds an entity that leaves its sentence, which tags cannot say. With "
            "--documents none every sentence is a Doc of its own."
        )
    columns = (sentence, found.start + moved, found.end + moved, found.label)
    return SpanColumns.trusted(
        (column.astype(np.int32) for column in columns), found.labels, len(sentences)
    )


def split(spans: SpanColumns, sizes: Sequence[int]) -> Iterator[SpanColumns]:
    """The spans of the first sentences, of those behind them, and so on."""
    first = 0
    for size in sizes:
        mine = (spans.sentence >= first) & (spans.sentence < first + size)
        columns = (spans.sentence - first, spans.start, spans.end, spans.label)
        yield SpanColumns.trusted((column[mine] for column in columns), spans.labels, size)
        first += size


def lacks_tags(part: Part) -> bool:
    """Whether the lines of a file are nothing but tokens."""
    layout = part.layout
    same = bool(layout.width) and layout.token % layout.width == layout.tag % layout.width
    if same and layout.width > 1:
        message = f"{part.name}: the column of the tag is that of the token. Name another one "
        raise ColumnError(f"{message}(--tag), or add one (--append).", part.name)
    return same


def require_tags(part: Part) -> None:
    """Refuse to write over a column with a cell that is no tag of any scheme, such as `NNP`."""
    others = [code for code, cell in enumerate(part.tags.tags) if not may_be_tag(cell)]
    for at in np.flatnonzero(np.isin(part.tags.codes, others))[:1].tolist():
        line, cell = part.flat_number(at), part.tags.tags[part.tags.codes[at]]
        raise ColumnError(
            f"{part.name}, line {line}: {cell!r} is no tag, so there may be something else in "
            f"column {part.layout.tag}. Add a column for the tags (--append), name that of the "
            "tags (--tag), or let it be overwritten (--overwrite).",
            part.name,
            line,
        )


def may_be_tag(cell: str) -> bool:
    """Whether some scheme has such a tag, or nothing is said: no letter or digit, as in `_`."""
    said = any(map(str.isalnum, cell))
    return not said or any(read_tag(cell, scheme) for scheme in SCHEMES.values())


def found_in(docs: Sequence[Doc], nlp: Language) -> SpanColumns:
    """The entities of Docs that have been through a pipeline."""
    if any(map(len, docs)) and not any(doc.has_annotation("ENT_IOB") for doc in docs):
        known = ", ".join(nlp.pipe_names) or "none"
        raise ModelError(
            f"The pipeline finds no entities: none of its components sets them. It has: {known}. "
            "Name one that was trained for it, by 'train' for example."
        )
    tagged = TaggedDocs.read(docs, Entities(), get_scheme("bio"))
    return tagged.spans(get_policy("raise"))
