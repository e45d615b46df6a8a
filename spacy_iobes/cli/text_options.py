"""Options of the commands that read texts, with tags in them or beside them."""

from __future__ import annotations

from dataclasses import replace

import typer

from ..corpus.inline import Markup
from ..corpus.nested_text import TextReading, require_misaligned


def text_reading(
    misaligned: str,
    lines: bool,
    encoding: str,
    offsets: str,
    lang: str = "",
    markup: Markup | None = None,
) -> TextReading:
    """How to read texts, from the options; spaCy is loaded only if a language is named."""
    how = TextReading(
        misaligned=require_misaligned(misaligned),
        lines=lines,
        encoding=encoding,
        offsets=offsets,
        markup=markup or Markup(),
    )
    if not lang:
        return how
    import spacy

    from ..corpus.texts import tokens_by

    try:
        return replace(how, tokenize=tokens_by(spacy.blank(lang).tokenizer))
    except ImportError as error:
        message = f"spaCy has no language {lang!r}, or lacks a library for it"
        raise typer.BadParameter(message, param_hint="--lang") from error
