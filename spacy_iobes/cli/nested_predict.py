"""The command `predict` for nested mentions: files of any kind in and out."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..corpus.conll import Columns
from ..corpus.files import STANDARD, shown
from ..corpus.nested_formats import TEXT, format_of
from ..corpus.nested_text import TextReading
from .application import counted
from .doc_writing import (
    BRAT,
    COLUMNS,
    DOCBIN,
    ColumnCount,
    ColumnOrder,
    DocDelimiter,
    DocWriting,
    DropSpaces,
    LabelHeader,
    Lossy,
)
from .nested_options import Lines
from .options import in_place_of
from .progress import bar

if TYPE_CHECKING:
    from spacy.language import Language

SCHEME = "bio"  # of columns, unless another one is named


@dataclass(frozen=True)
class NestedPrediction:
    """What the options say of a prediction of nested mentions."""

    nested: bool = False
    text: bool = False
    lines: bool = False
    unit: str = ""
    key: str = ""
    to: str = ""
    layers: int | None = None
    order: str = "group"
    header: bool = False
    lossy: bool = False
    drop_spaces: bool = False
    delimiter: str = "tab"

    @property
    def given(self) -> str:
        """The options that were given, as they are written."""
        names = {"key": "spans-key", "drop_spaces": "drop-spaces", "delimiter": "output-delimiter"}
        plain = vars(NestedPrediction())
        asked = [name for name, value in vars(self).items() if value != plain[name]]
        return ", ".join(f"--{names.get(name, name)}" for name in asked)

    def writing(self, output: str, scheme: str, key: str, encoding: str) -> DocWriting:
        """How to write the file."""
        from ..corpus.docbin import ENDING
        from ..corpus.nested_out import format_named

        named = self.to or (DOCBIN if output.endswith(ENDING) else "")
        form = DOCBIN if named == DOCBIN else format_named(named, output, (DOCBIN,))
        how = DocWriting(
            form,
            key,
            self.lossy,
            scheme or SCHEME,
            self.layers,
            self.order,
            self.header,
            self.delimiter,
            drop_spaces=self.drop_spaces,
        )
        how.require(output)
        return replace(how, encoding=encoding)

    def whole(self, form: str) -> bool:
        """Whether a document of a column file is to be one Doc."""
        from ..corpus.column_docs import require_unit

        default = "document" if form in (COLUMNS, BRAT) else "sentence"
        return require_unit(self.unit or default) == "document"

    def run(
        self, nlp: Language, source: str, output: str, columns: Columns, scheme: str
    ) -> tuple[str, dict[str, Any]]:
        """Read, find and write; what was done, in words and as plain values."""
        from ..corpus.doc_columns import DocFile
        from ..corpus.sources import group_spans
        from ..corpus.texts import tokens_by
        from ..corpus.untagged import Untagged
        from ..pipeline.documents import sentence_bound, takes_documents
        from ..pipeline.nested_prediction import group_of, predicted_docs

        key = self.key or group_of(nlp)
        how = self.writing(output, scheme, key, columns.encoding)
        whole, joined = self.whole(how.form), takes_documents(nlp)
        kind = TEXT if self.text else format_of(source)
        texts = TextReading(tokens_by(nlp.tokenizer), lines=self.lines, encoding=columns.encoding)
        bound = sentence_bound(nlp) if joined else nullcontext()
        with bar(source) as progress, bound:
            read = Untagged(source, kind, nlp.vocab, columns, texts, joined, progress)
            docs = predicted_docs(nlp, read, key, whole)
        if how.form == "jsonl" and not (self.to or read.has_text(docs)):
            how = replace(how, form="jsonl-tokens")
        labels = Counter(span.label for doc in docs for span in group_spans(doc, key))
        words, report = how.write(DocFile(shown(source), docs), output)
        size = {"input": shown(source), "output": output, "format": how.form}
        more = {"mentions": labels.total(), "labels": dict(sorted(labels.items()))}
        name = "standard output" if output == STANDARD else output
        text = f"{name}: {counted(labels.total(), 'mention')} in {words}"
        return text, {**size, **more, **report}


def nested_prediction_from(
    nested: Annotated[
        bool,
        typer.Option(
            "--nested",
            help="Write nested mentions, which is what happens anyway unless the pipeline also "
            "finds entities. All from --text to --output-delimiter is for them.",
        ),
    ] = False,
    text: Annotated[bool, typer.Option("--text", help="IN is a text, not a column file.")] = False,
    lines: Lines = False,
    unit: Annotated[
        str,
        typer.Option(
            "--unit",
            help="What a column file is written as: a Doc for each sentence or for each document "
            "(default: document for columns and brat, else sentence).",
        ),
    ] = "",
    spans_key: Annotated[
        str,
        typer.Option("--spans-key", help="The span group to write (default: the recogniser's)."),
    ] = "",
    to: Annotated[
        str,
        typer.Option(
            "--to",
            help="columns, brat, jsonl (a text and offsets of characters), jsonl-tokens or spacy "
            "(default: what the name of OUT says, else columns; jsonl is jsonl-tokens where IN has "
            "tokens, but no text).",
        ),
    ] = "",
    layers: ColumnCount = None,
    order: ColumnOrder = "group",
    header: LabelHeader = False,
    lossy: Lossy = False,
    drop_spaces: DropSpaces = False,
    output_delimiter: DocDelimiter = "tab",
) -> NestedPrediction:
    """What to do about nested mentions, from the options."""
    return NestedPrediction(
        nested,
        text,
        lines,
        unit,
        spans_key,
        to,
        layers,
        order,
        header,
        lossy,
        drop_spaces,
        output_delimiter,
    )


nested_prediction_options = in_place_of("nested", nested_prediction_from)
"""Give a command the options of `nested_prediction_from` in place of its parameter `nested`."""
