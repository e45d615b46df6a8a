"""Options of the commands that read texts, with tags in them or beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from ..corpus.inline import Markup, require_unbalanced
from ..corpus.nested_text import TextReading, require_misaligned
from .options import in_place_of


def markup_from(
    ignore_tag: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore-tag",
            help="A tag of inline-tagged texts that is no label; repeat it for each.",
        ),
    ] = None,
    sentence_tag: Annotated[
        str,
        typer.Option(
            "--sentence-tag", help="The tag of inline-tagged texts that a sentence stands in."
        ),
    ] = "",
    document_tag: Annotated[
        str,
        typer.Option(
            "--document-tag",
            help="The tag of inline-tagged texts that a document stands in (default: each file is "
            "one); what is outside is left out.",
        ),
    ] = "",
    label_attribute: Annotated[
        str,
        typer.Option(
            "--label-attribute",
            help="The attribute of tags that names the label (default: the tag does); tags without "
            "it are none.",
        ),
    ] = "",
    unbalanced: Annotated[
        str,
        typer.Option(
            "--unbalanced",
            help="Tags without their other half: raise, or count them and let them be text, or "
            "skip (leave out of the text).",
        ),
    ] = "raise",
    xml: Annotated[
        bool,
        typer.Option(
            "--xml",
            help="Inline-tagged texts are XML, even if they do not begin with <?xml: decode &amp; "
            "and the like.",
        ),
    ] = False,
) -> Markup:
    """What the tags of inline-tagged texts mean, from the options."""
    return Markup(
        tuple(ignore_tag or ()),
        sentence_tag,
        document_tag,
        label_attribute,
        require_unbalanced(unbalanced),
        xml or None,
    )


markup_options = in_place_of("markup", markup_from)
"""Give a command the options of `markup_from` in place of its parameter `markup`."""


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
