"""The command `explain`: the features that speak for a span."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..corpus.conll import Columns
from ..corpus.files import STANDARD
from ..errors import FileError
from ..scoring.formats import aligned
from ..scoring.signature import known
from ..span import Span
from .application import command, counted
from .options import column_options
from .pipelines import Component, loaded, recogniser
from .progress import reading
from .survey import print_json

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from ..pipeline.explanation import Comparison, Explanation
    from ..pipeline.ner import EntityRecognizer

FORMATS = ("table", "json")
SPAN = re.compile(r"(\d+):(\d+)(?::(.+))?")
UNSEEN = 3  # features that were never seen, by name


@command("explain")
@column_options
def explain_cli(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A pipeline that has iobes_ner on features.")
    ],
    text: Annotated[
        str,
        typer.Argument(
            metavar="TEXT", help="A text; or a column file, each sentence of which is one."
        ),
    ],
    columns: Columns,
    span: Annotated[
        list[str] | None,
        typer.Option(
            "--span",
            help="A span to explain, found or not: 0:2:PER for the first two tokens, or 0:2 with "
            "--label; may repeat (default: every entity that is found).",
        ),
    ] = None,
    label: Annotated[str, typer.Option("--label", help="Explain only spans of this label.")] = "",
    sentence: Annotated[
        int | None, typer.Option("--sentence", min=0, help="Only this sentence of a file, from 0.")
    ] = None,
    top: Annotated[
        int, typer.Option("--top", min=0, help="Show so many features; 0 shows all.")
    ] = 10,
    component: Component = "iobes_ner",
    form: Annotated[str, typer.Option("--format", help=f"One of: {', '.join(FORMATS)}.")] = "table",
) -> None:
    """Show which features speak for a span, against O and against the runner-up.

    Each weight is what a feature adds to the score of the tags, less what it adds to the others.
    """
    from ..pipeline.explanation import explain

    known("format", form, FORMATS)
    wanted = [span_of(each, label) for each in span or []]
    nlp = loaded(model)
    pipe = recogniser(nlp, component)
    if label:
        pipe.tags.number(label)  # raises for one that it does not have
    results = []
    for number, doc in docs_of(nlp, text, columns):
        if sentence in (None, number):
            doc = nlp(doc)
            spans = wanted or entities_of(doc, pipe, label)
            results.append((number, doc, explain(pipe, doc, spans)))
    if not results:
        raise FileError(
            f"{text}: there is no sentence{'' if sentence is None else f' {sentence}'}."
        )
    if form == "json":
        print_json([as_data(*result, top) for result in results])
        return
    for number, doc, explanations in results:
        lines = in_words(number, doc, explanations, top, len(results) > 1)
        typer.echo("\n".join(lines).rstrip() + "\n" * (number != results[-1][0]))


def span_of(text: str, label: str) -> Span:
    """A span as the option gives it."""
    found = SPAN.fullmatch(text)
    if found is None or not (found[3] or label):
        message = f"{text!r} is not a span such as 0:2:PER (tokens 0 and 1)"
        raise typer.BadParameter(message, param_hint="--span")
    return Span(int(found[1]), int(found[2]), found[3] or label)


def docs_of(nlp: Language, text: str, columns: Columns) -> Iterator[tuple[int, Doc]]:
    """The Doc of a text, or those of the sentences of a file, with their numbers."""
    if text != STANDARD and not is_file(text):
        yield 0, nlp.make_doc(text)
        return
    from ..corpus.column_docs import bare_doc
    from ..corpus.sentences import PartWords, Sentence, require_tokens

    number = 0
    with reading(text, columns) as reader:
        words_of = PartWords(reader)
        for part in reader:
            require_tokens(part)
            for words, opens in words_of(part):
                yield number, bare_doc(nlp.vocab, [Sentence(words, (), opens)])
                number += 1


def is_file(text: str) -> bool:
    """Whether a text is the name of a file."""
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or not one at all
        return False


def entities_of(doc: Doc, pipe: EntityRecognizer, label: str) -> list[Span]:
    """The entities that the recogniser may have found, of one label or of all."""
    labels = {label} if label else set(pipe.labels)
    return [Span(e.start, e.end, e.label_) for e in doc.ents if e.label_ in labels]


def in_words(
    number: int, doc: Doc, explanations: list[Explanation], top: int, several: bool
) -> Iterator[str]:
    """The explanations of a Doc for people."""
    if several:
        yield f"sentence {number}: {doc.text}"
    if not explanations:
        yield f"no entity in {counted(len(doc), 'token')}; --span asks for one"
    for each in explanations:
        start, end, label = each.span
        found = "" if each.best else ", not in the most probable annotation"
        place = f"tokens {start}:{end}, probability {each.probability:.4f}"
        yield f"{label} {each.text!r}, {place}{found}"
        yield ""
        yield from compared(each.outside, doc, "O", top)
        if each.runner_up is None:
            yield "no runner-up among the most probable annotations"
        else:
            rival = ", ".join(
                f"{s.label} {doc[s.start : s.end].text!r}" for s in each.runner_up.spans
            )
            name = "the runner-up" if each.best else "the most probable annotation"
            yield from compared(each.runner_up, doc, f"{name}, {rival or 'O'}", top)
        yield from never_seen(each)
        yield ""


def compared(found: Comparison, doc: Doc, name: str, top: int) -> Iterator[str]:
    """A comparison as a table whose weights add up to its last row."""
    shown = found.reasons[: top or None]
    rows = [(f"{r.weight:+.3f}", doc[r.token].text, r.feature) for r in shown if r.weight]
    rest = len(found.reasons) - len(shown)
    if rest:
        rows.append((f"{found.rest(len(shown)):+.3f}", "", f"{rest:,} more"))
    if abs(found.other) > 5e-4:
        rows.append((f"{found.other:+.3f}", "", "other parts of the encoder"))
    tags = f"{' '.join(found.tags)} against {' '.join(found.instead)}"
    rows.append((f"{found.total:+.3f}", "", tags))
    yield f"against {name}"
    yield aligned(("weight", "token", "feature"), rows, "rll", rules=(0, len(rows) - 1))
    if found.steps:
        yield f"{found.steps:+.3f} for the steps between the tags"
    if found.bias:
        yield f"{found.bias:+.3f} for entities as such (entity_bias)"
    yield ""


def never_seen(each: Explanation) -> Iterator[str]:
    """The features of a span that training has not seen."""
    new = [r.feature for r in each.outside.reasons if not r.seen]
    if new:
        more = ", …" if len(new) > UNSEEN else ""
        count = f"{len(new):,} of {counted(len(each.outside.reasons), 'feature')}"
        yield f"never seen in training: {count}: {', '.join(new[:UNSEEN])}{more}"


def as_data(number: int, doc: Doc, explanations: list[Explanation], top: int) -> dict[str, Any]:
    """The explanations of a Doc for programs."""
    return {
        "sentence": number,
        "tokens": [token.text for token in doc],
        "spans": [
            {
                **each.span._asdict(),
                "text": each.text,
                "probability": each.probability,
                "best": each.best,
                "against_outside": comparison_data(each.outside, top),
                "against_runner_up": each.runner_up and comparison_data(each.runner_up, top),
            }
            for each in explanations
        ],
    }


def comparison_data(found: Comparison, top: int) -> dict[str, Any]:
    """A comparison, with the strongest reasons and the sum of the rest."""
    top = top or len(found.reasons)
    return {
        **asdict(found),
        "spans": [span._asdict() for span in found.spans],
        "reasons": [reason._asdict() for reason in found.reasons[:top]],
        "rest": found.rest(top),
        "more": max(len(found.reasons) - top, 0),
        "unseen": [reason.feature for reason in found.reasons if not reason.seen],
    }
