"""The command `explain`: the features that speak for a span."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import typer

from ..corpus.files import STANDARD
from ..corpus.formats.options import ReadOptions
from ..corpus.inputs import held
from ..corpus.sentences import Sentences
from ..errors import FileError, SpanRangeError
from ..scoring.tables import aligned
from ..span import Span
from .application import command, counted, echo
from .options import Json, Limit, opened, read_options
from .output import print_json
from .pipelines import Component, loaded, recogniser

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

    from ..corpus.docs import Layout
    from ..pipeline.explanation import Comparison, Explanation
    from ..pipeline.ner import EntityRecognizer

NAME = re.compile(r"\S*(/\S*|\w\.[a-z]\w{0,7})")  # what looks like the name of a file
SPAN = re.compile(r"(\d+):(\d+)(?::(.+))?")
UNSEEN = 3  # features that were never seen, by name


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
    from ..pipeline.explanation import explain

    wanted = [span_of(each, label) for each in span or []]
    nlp = loaded(model)
    pipe = recogniser(nlp, component)
    if label:
        pipe.tags.number(label)  # raises for one that it does not have
    results = []
    for doc, parts in docs_of(nlp, text, how):
        asked = [part for part in parts if sentence in (None, part.number)]
        doc = nlp(doc) if asked else doc
        for part in asked:
            spans = [part.place(each) for each in wanted] or entities_of(doc, part, pipe, label)
            results.append((part, doc, explain(pipe, doc, spans)))
    if not results:
        raise FileError(
            f"{text}: there is no sentence{'' if sentence is None else f' {sentence}'}."
        )
    if json:
        print_json([as_data(*result, limit) for result in results])
        return
    for part, doc, explanations in results:
        lines = in_words(part, doc, explanations, limit, len(results) > 1)
        echo("\n".join(lines).rstrip() + "\n" * (part != results[-1][0]))


def span_of(text: str, label: str) -> Span:
    """A span as the option gives it."""
    found = SPAN.fullmatch(text)
    if found is None or not (found[3] or label):
        message = f"{text!r} is not a span such as 0:2:PER (tokens 0 and 1)"
        raise typer.BadParameter(message, param_hint="--span")
    return Span(int(found[1]), int(found[2]), found[3] or label)


class Sentence(NamedTuple):
    """A sentence of a file, by its number, and which tokens of a Doc it has."""

    number: int
    start: int
    end: int

    def place(self, span: Span) -> Span:
        """Where a span of the sentence is in the Doc."""
        start, end, label = span
        size = self.end - self.start
        if not 0 <= start < end <= size:
            reason = f"{tuple(span)} is no span of {size} tokens: 0 <= start < end <= {size}."
            raise SpanRangeError(f"Sentence {self.number}: {reason}", [span])
        return Span(start + self.start, end + self.start, label)


def docs_of(nlp: Language, text: str, how: ReadOptions) -> Iterator[tuple[Doc, list[Sentence]]]:
    """Yield the Doc of a text, or those of a file as 'predict' makes them, with their sentences."""
    if not is_file(text):
        if NAME.fullmatch(text):
            echo(f"{text}: there is no such file, so it is taken for a text", err=True)
        doc = nlp.make_doc(text)
        yield doc, [Sentence(0, 0, len(doc))]
        return
    from ..pipeline.documents import PipelineDocs, reading, sentence_bound

    number = 0
    with held([text]), opened(text, reading(nlp, how)) as corpus:
        bound = sentence_bound(nlp) if corpus.format.marked else nullcontext()
        with bound:
            for part, docs, layout in PipelineDocs.of(nlp, corpus).of_parts(corpus):
                for doc, found in zip(docs, sentences_in(part, layout, number)):
                    yield doc, found
                    number += len(found)


def sentences_in(part: Sentences, layout: Layout, number: int) -> Iterator[list[Sentence]]:
    """Yield the sentences of each Doc, which are counted from a number on."""
    filled = np.flatnonzero(np.diff(part.offsets))
    first = layout.place[part.offsets[filled]]
    last = layout.place[part.offsets[filled + 1] - 1] + 1
    ends = np.searchsorted(first, layout.bounds)
    for begin, (a, b) in zip(layout.bounds.tolist(), pairwise(ends.tolist())):
        places = zip(range(number + a, number + b), first[a:b].tolist(), last[a:b].tolist())
        yield [Sentence(at, start - begin, end - begin) for at, start, end in places]


def is_file(text: str) -> bool:
    """Return whether a text is the name of a file, or stands for standard input."""
    try:
        return text == STANDARD or Path(text).exists()
    except (OSError, ValueError):  # too long for a name, or not one at all
        return False


def entities_of(doc: Doc, part: Sentence, pipe: EntityRecognizer, label: str) -> list[Span]:
    """The entities of a sentence that the recogniser may have found, of one label or of all."""
    labels = {label} if label else set(pipe.labels)
    here = [entity for entity in doc.ents if part.start <= entity.start < part.end]
    return [Span(e.start, e.end, e.label_) for e in here if e.label_ in labels]


def in_words(
    part: Sentence, doc: Doc, explanations: list[Explanation], top: int, several: bool
) -> Iterator[str]:
    """The explanations of a sentence for people; tokens are counted from its first."""
    number, first, last = part
    if several:
        yield f"sentence {number}: {doc[first:last].text}"
    if not explanations:
        yield f"no entity in {counted(last - first, 'token')}; --span asks for one"
    for each in explanations:
        start, end, label = each.span.start - first, each.span.end - first, each.span.label
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


def as_data(part: Sentence, doc: Doc, explanations: list[Explanation], top: int) -> dict[str, Any]:
    """The explanations of a sentence for programs; tokens are counted from its first."""
    number, first, last = part
    return {
        "sentence": number,
        "tokens": [token.text for token in doc[first:last]],
        "spans": [
            {
                **span_data(each.span, first),
                "text": each.text,
                "probability": each.probability,
                "best": each.best,
                "against_outside": comparison_data(each.outside, first, top),
                "against_runner_up": each.runner_up and comparison_data(each.runner_up, first, top),
            }
            for each in explanations
        ],
    }


def span_data(span: Span, first: int) -> dict[str, Any]:
    """A span, counted from a token."""
    return {"start": span.start - first, "end": span.end - first, "label": span.label}


def comparison_data(found: Comparison, first: int, top: int) -> dict[str, Any]:
    """A comparison, with the strongest reasons and the sum of the rest."""
    top = top or len(found.reasons)
    reasons = [reason._replace(token=reason.token - first) for reason in found.reasons[:top]]
    return {
        **asdict(found),
        "tokens": [token - first for token in found.tokens],
        "spans": [span_data(span, first) for span in found.spans],
        "reasons": [reason._asdict() for reason in reasons],
        "rest": found.rest(top),
        "more": max(len(found.reasons) - top, 0),
        "unseen": [reason.feature for reason in found.reasons if not reason.seen],
    }
