"""Options of the commands that read nested mentions."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from ..corpus.nested_text import TextReading, require_misaligned

SchemeOfColumns = Annotated[
    str, typer.Option("--scheme", "-s", help="Of column files, as for 'validate'.")
]
LabelOfLayer = Annotated[
    list[str] | None,
    typer.Option(
        "--label", help="The label of a layer whose tags name none; repeat it for each layer."
    ),
]
Header = Annotated[
    bool,
    typer.Option(
        "--header",
        help="The first line of column files names the columns: labels of layers whose tags name "
        "none. Without --layer, all but the token are layers.",
    ),
]
Lines = Annotated[
    bool, typer.Option("--lines", help="Lines of texts are sentences (default: a text is one).")
]
MisalignedMentions = Annotated[
    str,
    typer.Option(
        "--misaligned",
        help="Mentions of texts that begin or end within a token: count (and leave out), raise, "
        "expand or contract.",
    ),
]
OffsetsOfJson = Annotated[
    str,
    typer.Option(
        "--offsets",
        help="What those of JSON lines count: characters, tokens, or auto (characters, if there "
        "is a text).",
    ),
]
TokenizerOf = Annotated[
    str,
    typer.Option(
        "--lang",
        help="Cut texts as spaCy does for this language (default: words and single other "
        "characters).",
    ),
]


def require_layers(layers: list[int] | None) -> None:
    """Refuse a column that is named twice."""
    if len(set(layers or ())) < len(layers or ()):
        raise typer.BadParameter("a column is one layer: name each once", param_hint="--layer")


def text_reading(
    misaligned: str, lines: bool, encoding: str, offsets: str, lang: str = ""
) -> TextReading:
    """How to read texts, from the options; spaCy is loaded only if a language is named."""
    how = TextReading(
        misaligned=require_misaligned(misaligned), lines=lines, encoding=encoding, offsets=offsets
    )
    if not lang:
        return how
    import spacy

    from ..corpus.text_docs import tokens_by

    try:
        return replace(how, tokenize=tokens_by(spacy.blank(lang).tokenizer))
    except ImportError as error:
        message = f"spaCy has no language {lang!r}, or lacks a library for it"
        raise typer.BadParameter(message, param_hint="--lang") from error
