"""The command generate: a corpus of any size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..codes.scheme import SCHEMES, Scheme, get_scheme
from ..corpus.files import STANDARD
from ..corpus.generated import LABELS, GeneratedSentence, limited
from ..corpus.nested_formats import COLUMNS, DOCS, JSON, format_of
from ..corpus.planted import Flaws, Planter
from .application import command, counted
from .options import Json
from .output import say
from .progress import counter

if TYPE_CHECKING:
    from ..corpus.generated_files import Generated

SENTENCES = 1000  # unless told otherwise
KEY = "sc"


@command("generate")
def generate_cli(
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="A column file, JSON lines (.jsonl) or a DocBin (.spacy), by its name; with .gz "
            "compressed; - prints columns.",
        ),
    ],
    sentences: Annotated[
        int | None,
        typer.Option("--sentences", min=1, help=f"How many (default: {SENTENCES:,})."),
    ] = None,
    tokens: Annotated[
        int | None,
        typer.Option("--tokens", min=1, help="Whole sentences of so many tokens, or a few more."),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Other documents for other seeds.")
    ] = 0,
    scheme: Annotated[
        str,
        typer.Option("--scheme", "-s", help=f"Of columns: {', '.join(SCHEMES)} (default: bio)."),
    ] = "",
    nested: Annotated[
        bool,
        typer.Option(
            "--nested",
            help="Mentions inside others too: columns 1, 2 and 3 from the outermost in, JSON "
            f"lines, or the span group {KEY!r}. Without it, only the outermost.",
        ),
    ] = False,
    violations: Annotated[
        float,
        typer.Option(
            "--violations",
            min=0,
            max=1,
            help="Spoil a tag of a sentence with this probability, in every way that the scheme "
            "can be malformed: column 1 has the gold tags, column 2 the spoilt ones.",
        ),
    ] = 0.0,
    unreadable: Annotated[
        float,
        typer.Option(
            "--unreadable",
            min=0,
            max=1,
            help="Put a tag that is none into this share of sentences; no policy repairs those.",
        ),
    ] = 0.0,
    json: Json = False,
) -> None:
    """Write a corpus of invented documents, the same for a seed on every machine.

    The labels are PER, ORG, LOC and DATE, and SHIP in about one sentence of a hundred. Almost half
    of the names are made for their document, and the same words have several labels, so that there
    is something to learn. For training, development and test take three seeds.
    """
    if sentences is not None and tokens is not None:
        raise typer.BadParameter("say how much in one way", param_hint="--sentences, --tokens")
    kind = format_of(output)
    if kind not in (COLUMNS, JSON, DOCS):
        raise typer.BadParameter(
            f"{output}: name a column file, a .jsonl or a .spacy file", param_hint="OUT"
        )
    spoilt = violations or unreadable
    if kind != COLUMNS and (scheme or spoilt):
        hint = "--scheme" if scheme else "--violations, --unreadable"
        raise typer.BadParameter(f"{output}: only column files have tags", param_hint=hint)
    rule = get_scheme(scheme or "bio")
    planter = planter_from(rule, violations, unreadable, seed) if spoilt else None
    if planter and nested:
        raise typer.BadParameter("only flat tags are spoilt", param_hint="--nested, --violations")
    if tokens is None and sentences is None:
        sentences = SENTENCES
    source = watched(limited(seed, sentences, tokens), output, sentences, tokens)
    done = write(source, output, kind, rule, nested, planter)
    report = {"file": output, "seed": seed, **asdict(done), **planted(planter)}
    say(in_words(output, done, planter), report, output, json)


def planter_from(scheme: Scheme, violations: float, unreadable: float, seed: int) -> Planter:
    """What spoils the tags."""
    if violations and scheme.silent:
        raise typer.BadParameter(
            f"violations are planted between neighbours, and tags of {scheme.name} that are far "
            "apart make a span: name another --scheme",
            param_hint="--violations",
        )
    if violations and not Flaws(scheme, LABELS).every():
        message = f"every sequence of {scheme.name} tags is legal: name another scheme"
        raise typer.BadParameter(message, param_hint="--violations")
    if violations + unreadable > 1:
        message = "more sentences are to be spoilt than there are"
        raise typer.BadParameter(message, param_hint="--violations, --unreadable")
    return Planter(scheme, LABELS, violations, unreadable, seed)


def watched(
    source: Iterator[GeneratedSentence], output: str, sentences: int | None, tokens: int | None
) -> Iterator[GeneratedSentence]:
    """The same sentences, while progress is shown."""
    unit, total = (" sentences", sentences) if tokens is None else (" tokens", tokens)
    with counter(output, total, unit) as progress:
        if progress is None:
            yield from source
            return
        for sentence in source:
            yield sentence
            progress(1 if tokens is None else len(sentence.words))


def write(
    source: Iterator[GeneratedSentence],
    output: str,
    kind: str,
    scheme: Scheme,
    nested: bool,
    planter: Planter | None,
) -> Generated:
    """Write the sentences in one of the formats; spaCy is only loaded for a DocBin."""
    from ..corpus.generated_files import write_generated_columns, write_generated_lines

    if kind == COLUMNS:
        return write_generated_columns(source, output, scheme, nested, planter)
    if kind == JSON:
        return write_generated_lines(source, output, nested)
    from ..corpus.generated_docs import write_generated_docs

    return write_generated_docs(source, output, KEY if nested else "")


def planted(planter: Planter | None) -> dict[str, Any]:
    """What was spoilt, as plain values; nothing without a planter."""
    if planter is None:
        return {}
    ways = {flaw.tags: count for flaw, count in sorted(planter.planted.items())}
    return {"spoilt": planter.sentences, "violations": planter.kinds, "ways": ways}


def in_words(output: str, done: Generated, planter: Planter | None) -> str:
    """What was written."""
    total = sum(done.labels.values())
    words = [counted(done.documents, "document"), counted(done.sentences, "sentence")]
    words += [counted(done.tokens, "token")]
    words += [counted(total, "mention") if done.nested else counted(total, "entity")]
    labels = ", ".join(f"{label} {count:,}" for label, count in sorted(done.labels.items()))
    name = "standard output" if output == STANDARD else output
    lines = [f"{name}: {', '.join(words)}", f"labels: {labels}"]
    if planter:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in planter.kinds.items())
        count = counted(sum(planter.kinds.values()), "violation")
        place = f"in {counted(planter.sentences, 'sentence')}"
        lines.append(f"column 2: {count} planted {place}{f' ({kinds})' if kinds else ''}")
    return "\n".join(lines)
