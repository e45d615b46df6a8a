"""The command `explain`: the features that speak for a span."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..corpus.files import STANDARD
from ..corpus.formats.options import ReadOptions
from ..corpus.inputs import held
from ..errors import FileError, OptionError
from ..span import Span
from .application import command, echo, tell
from .options import Json, Limit, opened, read_options
from .output import print_json
from .pipelines import Component, loaded

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from ..pipeline.documents import DocSentence

NAME = re.compile(r"\S*(/\S*|\w\.[a-z]\w{0,7})")  # what looks like the name of a file
SPAN = re.compile(r"(\d+):(\d+)(?::(.+))?")


@command("explain")
@read_options
def explain_cli(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A pipeline that has iobes_ner on features.")
    ],
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT",
            help="A text; or a file of any format, whose sentences are explained one by one, as "
            "parts of their documents.",
        ),
    ],
    how: ReadOptions,
    span: Annotated[
        list[str] | None,
        typer.Option(
            "--span",
            help="A span to explain, found or not: 0:2:PER for the first two tokens, or 0:2 with "
            "--label; may repeat (default: every entity that is found).",
        ),
    ] = None,
    label: Annotated[
        str, typer.Option("--label", "-l", help="Explain only spans of this label.")
    ] = "",
    sentence: Annotated[
        int | None, typer.Option("--sentence", min=0, help="Only this sentence of a file, from 0.")
    ] = None,
    limit: Limit = 10,
    component: Component = "iobes_ner",
    json: Json = False,
) -> None:
    """Show which features speak for a span, against O and against the runner-up.

    Each weight is what a feature adds to the score of the tags, less what it adds to the others.
    """
    from ..pipeline.explanation import explained_sentence
    from ..pipeline.loading import recogniser

    wanted = [span_of(each, label) for each in span or []]
    nlp = loaded(model)
    pipe = recogniser(nlp, component)
    if label:
        pipe.tags.number(label)  # raises for one that it does not have
    results = []
    for doc, parts in docs_of(nlp, text, how):
        asked = [part for part in parts if sentence in (None, part.number)]
        doc = nlp(doc) if asked else doc
        results += [explained_sentence(pipe, doc, part, wanted, label) for part in asked]
    if not results:
        raise FileError(
            f"{text}: there is no sentence{'' if sentence is None else f' {sentence}'}."
        )
    if json:
        print_json([result.as_dict(limit) for result in results])
        return
    for result in results:
        text = "\n".join(result.lines(limit, len(results) > 1)).rstrip()
        echo(text + "\n" * (result is not results[-1]))


def span_of(text: str, label: str) -> Span:
    """Return a span as the option gives it."""
    found = SPAN.fullmatch(text)
    if found is None or not (found[3] or label):
        raise OptionError(f"{text!r} is not a span such as 0:2:PER (tokens 0 and 1)", "--span")
    return Span(int(found[1]), int(found[2]), found[3] or label)


def docs_of(nlp: Language, text: str, how: ReadOptions) -> Iterator[tuple[Doc, list[DocSentence]]]:
    """Yield the Doc of a text, or those of a file as 'predict' makes them, with their sentences."""
    from ..pipeline.documents import DocSentence, docs_with_sentences, reading

    if is_file(text):
        with held([text]), opened(text, reading(nlp, how)) as corpus:
            yield from docs_with_sentences(nlp, corpus)
        return
    if NAME.fullmatch(text):
        tell(f"{text}: there is no such file, so it is taken for a text")
    doc = nlp.make_doc(text)
    yield doc, [DocSentence(0, 0, len(doc))]


def is_file(text: str) -> bool:
    """Return whether a text is the name of a file, or stands for standard input."""
    try:
        return text == STANDARD or Path(text).exists()
    except (OSError, ValueError):  # too long for a name, or not one at all
        return False
