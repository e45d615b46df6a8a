"""Column files with the tags that a pipeline predicts; all else stays as it was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc

from ..codes.columns import SpanColumns
from ..codes.policy import get_policy
from ..codes.scheme import Scheme, get_scheme
from ..codes.write import write_spans
from ..corpus.column_docs import bare_doc
from ..corpus.conll import ColumnReader, Part
from ..corpus.files import write_bytes
from ..corpus.output import Output
from ..corpus.sentences import PartWords, Sentence, require_tokens
from ..corpus.sources import Entities
from ..corpus.tagged import TaggedDocs
from ..errors import ColumnError, ModelError
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
    output: Output | None = None,
) -> PredictedFile:
    """Write a file with predicted tags, all at once or not at all; each sentence is one Doc.

    The tags of the file are not looked at. Where it has only tokens, its tags are a new column.
    """
    goal = scheme_of(nlp) if scheme is None else get_scheme(scheme)
    output, done, words_of = output or Output(), PredictedFile(goal.name), PartWords(reader)
    with write_bytes(target, reader.columns.encoding) as put:
        for number, part in enumerate(reader):
            require_tokens(part)
            done.appended = output.append or lacks_tags(part)
            docs = [bare_doc(nlp.vocab, [Sentence(w, (), opens)]) for w, opens in words_of(part)]
            spans = found_in(list(nlp.pipe(docs)), nlp)
            done.labels.update(span.label for span in spans.spans())
            with part.locating():
                tags = write_spans(spans, part.tags.offsets, goal)
            written = replace(output, append=done.appended).render(part, tags)
            put((b"" if number else reader.mark) + written)
    return done


def lacks_tags(part: Part) -> bool:
    """Whether the lines of a file are nothing but tokens."""
    layout = part.layout
    same = bool(layout.width) and layout.token % layout.width == layout.tag % layout.width
    if same and layout.width > 1:
        message = f"{part.name}: the column of the tag is that of the token. Name another one "
        raise ColumnError(f"{message}(--tag-index), or add one (--append).", part.name)
    return same


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
