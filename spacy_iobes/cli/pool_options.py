"""How to read the sentences that mentions are looked for in, from the options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from ..codes.scheme import get_scheme
from ..corpus.conll import Columns
from .options import GoldPolicy, in_place_of
from .train import blank, tell

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from ..corpus.to_read import ToRead
    from ..selection.pool import Pool

Labels = Annotated[
    list[str] | None,
    typer.Option("--label", "-l", help="What to look for; repeat it for several."),
]
Language = Annotated[str, typer.Option("--lang", help="Whose tokenizer cuts texts.")]
Plots = Annotated[
    list[str] | None,
    typer.Option(
        "--plot",
        help="Draw it: a file that ends in .svg, .html or .png (which needs matplotlib); repeat it "
        "for several.",
    ),
]


@dataclass(frozen=True)
class PoolFiles:
    """What the options say of files; spaCy is only loaded to read them."""

    nested: bool
    key: str
    scheme: str
    policy: str
    untagged: bool
    layers: tuple[int, ...]
    form: str
    sentences: str
    plain: bool = False

    @property
    def spans_key(self) -> str | None:
        """The span group of the mentions, if they are no entities."""
        return self.key if self.nested else None

    def how(self, columns: Columns) -> ToRead:
        """How to read files, of which column files look like this."""
        from ..corpus.plain_text import require_split
        from ..corpus.to_read import ToRead

        return ToRead(
            nested=self.nested,
            key=self.key,
            scheme=self.scheme,
            policy=self.policy,
            layers=self.layers,
            columns=columns,
            untagged=self.untagged,
            split=require_split(self.sentences) if self.sentences else None,
            form=self.form,
            plain=self.plain,
        )

    def apart(self, pool: str, learn: str) -> tuple[PoolFiles, PoolFiles]:
        """How to read a pool, and how to read what is learned from: each by its own name.

        The scheme is that of tags to learn from, so a .txt beside another kind of file is a text.
        """
        from ..corpus.nested_formats import AUTO, TEXT
        from ..corpus.to_read import is_text

        plain = not self.untagged and not is_text(learn)
        if plain and self.scheme and self.form == AUTO and is_text(pool):
            tell(f"{pool}: read as plain text (if it is a column file: --format columns)")
        taught = replace(self, form=AUTO) if self.form == TEXT else self
        return replace(self, plain=plain), taught

    def docs(self, path: str, columns: Columns, lang: str) -> list[Doc]:
        """The Docs of a file or folder."""
        from ..corpus.to_read import docs_to_read

        return docs_to_read(path, self.how(columns), blank(lang), tell)

    def pool(self, docs: Sequence[Doc], labels: Sequence[str]) -> Pool:
        """The pool of some Docs."""
        from ..selection.pool import Pool

        return Pool.of(docs, labels, nested=self.nested, spans_key=self.spans_key)


def reading_from(
    nested: Annotated[bool, typer.Option("--nested", help="Mentions may lie in others.")] = False,
    scheme: Annotated[
        str, typer.Option("--scheme", "-s", help="Scheme of the tags that a column file has.")
    ] = "",
    repair: GoldPolicy = "raise",
    untagged: Annotated[
        bool, typer.Option("--untagged", help="Column files have tokens; leave the rest aside.")
    ] = False,
    layer: Annotated[
        list[int] | None,
        typer.Option("--layer", help="With --nested: a column of tags; repeat it for each."),
    ] = None,
    spans_key: Annotated[
        str, typer.Option("--spans-key", help="With --nested: the span group of .spacy files.")
    ] = "sc",
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="What files are, if their names do not tell: columns, docs, json, brat, inline or "
            "text.",
        ),
    ] = "auto",
    sentences: Annotated[
        str,
        typer.Option(
            "--sentences",
            help="What a sentence of a text is: rules (spaCy's sentencizer tells), lines, or whole "
            "(default: rules for .txt, else whole).",
        ),
    ] = "",
) -> PoolFiles:
    """How to read files; what column files look like is said by other options."""
    name = get_scheme(scheme).name if scheme else ""
    layers = tuple(layer or ())
    return PoolFiles(nested, spans_key, name, repair, untagged, layers, form, sentences)


reading_options = in_place_of("pools", reading_from)
"""Give a command the options of `reading_from` in place of its parameter `pools`."""


def required(labels: list[str] | None) -> tuple[str, ...]:
    """The labels, of which there must be some."""
    if not labels:
        raise typer.BadParameter("say what to look for", param_hint="--label")
    return tuple(labels)
