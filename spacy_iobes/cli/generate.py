"""The command generate: a corpus of any size, in any format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from ..codes.scheme import get_scheme
from ..corpus.corpus import Parts, Saved, format_to_write, save_parts
from ..corpus.files import shown_output
from ..corpus.formats.options import ADVANCED, SaveOptions, option
from ..errors import OptionError, SettingError
from .application import command, counted
from .options import Json, fields_of
from .output import say
from .progress import counter

if TYPE_CHECKING:
    from ..generate.violations import Planter

SENTENCES = 1000  # unless told otherwise
SCHEME = "bio"
NOT_NEEDED = ("append", "only_tags", "document_markers")


@dataclass(frozen=True)
class Spoilt:
    """The shares of sentences in which a tag is spoilt."""

    violations: float = option(
        0.0,
        "Spoil a tag of a sentence with this probability, in every way that the scheme can be "
        "malformed: layer 1 has the gold tags, layer 2 the spoilt ones.",
    )
    unreadable: float = option(
        0.0,
        "Put a tag that is none into this share of sentences; no policy repairs those.",
        ADVANCED,
    )

    def __post_init__(self) -> None:
        for name, share in vars(self).items():
            if not 0 <= share <= 1:
                raise SettingError(f"{name} is a share from 0 to 1, not {share}.")


@command("generate")
@fields_of("spoilt", Spoilt)
@fields_of("save", SaveOptions, NOT_NEEDED, unit="document")
def generate_cli(
    output: Annotated[
        str,
        typer.Argument(
            metavar="OUT",
            help="A file of any format, by its name or --to; with .gz compressed; - prints "
            "columns.",
        ),
    ],
    save: SaveOptions,
    spoilt: Spoilt,
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
    nested: Annotated[
        bool,
        typer.Option(
            "--nested",
            help="Mentions inside others too; as columns, three of them, from the outermost in. "
            "Without it, only the outermost.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Write a corpus of invented documents, the same for a seed on every machine.

    The labels are PER, ORG, LOC and DATE, and SHIP in about one sentence of a hundred. Almost half
    of the names are made for their document, and the same words have several labels, so that there
    is something to learn. For training, development and test take three seeds. Tags are bio, unless
    --to-scheme names another scheme.
    """
    from ..generate.corpus import DEPTH, GeneratedCorpus

    if sentences is not None and tokens is not None:
        raise OptionError("say how much in one way", "--sentences, --tokens")
    how = replace(
        save,
        to_scheme=get_scheme(save.to_scheme or SCHEME).name,
        layers=save.layers or (DEPTH if nested else 1),
        document_markers=True,
    )
    planter = planter_of(how.to_scheme, spoilt.violations, spoilt.unreadable, seed)
    if planter and nested:
        raise OptionError("only flat tags are spoilt", "--nested, --violations")
    if tokens is None and sentences is None:
        sentences = SENTENCES
    unit, total = (" sentences", sentences) if tokens is None else (" tokens", tokens)
    with counter(output, total, unit) as progress:
        parts = Parts(GeneratedCorpus(seed, sentences, tokens, nested, progress))
        if planter:
            source = planter.spoilt(part for part, _ in parts)
            format_to_write(output, how).save_tags(source, output, how)
        else:
            save_parts(parts, output, how)
    done = parts.saved
    report = {
        "file": output,
        "seed": seed,
        "nested": nested,
        **done.size,
        "labels": done.counts,
    }
    report |= planter.as_dict() if planter else {}
    say(describe(output, done, nested, planter), report, output, json)


def planter_of(scheme: str, violations: float, unreadable: float, seed: int) -> Planter | None:
    """Return what spoils tags, if any are to be."""
    from ..generate.corpus import LABELS
    from ..generate.violations import Planter

    if not (violations or unreadable):
        return None
    try:
        return Planter(get_scheme(scheme), LABELS, violations, unreadable, seed)
    except ValueError as error:
        raise OptionError(str(error), "--violations, --unreadable") from error


def describe(output: str, done: Saved, nested: bool, planter: Planter | None) -> str:
    """Return what was written, for people."""
    total = done.labels.total()
    words = [counted(number, name[:-1]) for name, number in done.size.items()]
    words.append(counted(total, "mention" if nested else "entity"))
    labels = ", ".join(f"{label} {count:,}" for label, count in done.counts.items())
    lines = [f"{shown_output(output)}: {', '.join(words)}", *[f"labels: {labels}"] * bool(labels)]
    lines += [f"layer 2: {planter}"] * bool(planter)
    return "\n".join(lines)
