"""Options of the commands that read nested mentions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import typer

from ..corpus.conll import Columns
from ..corpus.nested_formats import COLUMNS, format_of
from .options import in_place_of

if TYPE_CHECKING:
    from ..corpus.nested_corpus import NestedReading

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
        "expand or contract; or split, which cuts the token (and so tells where mentions are).",
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

LAST = -1  # the column of the tag, if --tag does not name one


@dataclass(frozen=True)
class NestedOptions:
    """How to read and compare nested mentions, from the options."""

    wanted: bool
    layers: tuple[int, ...]
    labels: tuple[str, ...]
    header: bool
    key: str
    misaligned: str
    lines: bool
    offsets: str
    lang: str

    @property
    def given(self) -> str:
        """Those that only nested mentions have, as they are written."""
        asked = {
            "--nested": self.wanted and not (self.layers or self.header),
            "--layer": self.layers,
            "--label": self.labels,
            "--header": self.header,
            "--lines": self.lines,
            "--misaligned": self.misaligned != "count",
            "--offsets": self.offsets != "auto",
        }
        return ", ".join(name for name, value in asked.items() if value)

    def applies(self, files: Sequence[str]) -> bool:
        """Whether files are to be read for nested mentions."""
        return self.wanted or any(format_of(path) != COLUMNS for path in files)

    def reading(
        self, scheme: str, policy: str, columns: Columns, files: Sequence[str]
    ) -> NestedReading:
        """How to read the files; spaCy is loaded now.

        Where no layer is named, it is the column of --tag or the only one that there is.
        """
        from ..corpus.file_sentences import tag_reading
        from ..corpus.nested_corpus import NestedReading
        from .text_options import text_reading

        require_layers(list(self.layers))
        self.require_columns(files)
        named = columns.tag != LAST and not self.header
        layers = self.layers or ((columns.tag,) if named else ())
        tags = tag_reading(scheme, policy, layers, self.labels)
        tags = None if tags is None else replace(tags, alone=True)
        texts = text_reading(self.misaligned, self.lines, columns.encoding, self.offsets, self.lang)
        return NestedReading(self.key, "document", tags, columns, self.header, texts)

    def require_columns(self, files: Sequence[str]) -> None:
        """Refuse options that are about columns of tags where no file has them."""
        from ..corpus.nested_reader import paths_of

        given = {"--layer": self.layers, "--label": self.labels, "--header": self.header}
        wrong = ", ".join(name for name, value in given.items() if value)
        if wrong and all(format_of(each) != COLUMNS for path in files for each in paths_of(path)):
            names = ", ".join(map(str, files))
            message = f"this is for column files, and there is none among {names}"
            raise typer.BadParameter(message, param_hint=wrong)


Nested = Annotated[
    bool,
    typer.Option(
        "--nested",
        help="Mentions may nest: columns of tags (--layer), span groups, brat, JSON lines.",
    ),
]
Layers = Annotated[
    list[int] | None,
    typer.Option("--layer", help="With --nested: a column of tags; repeat it for each."),
]
Group = Annotated[str, typer.Option("--spans-key", help="The span group of .spacy files.")]


def nested_from(
    nested: Nested = False,
    layer: Layers = None,
    label: LabelOfLayer = None,
    header: Header = False,
    spans_key: Group = "sc",
    lines: Lines = False,
    misaligned: MisalignedMentions = "count",
    offsets: OffsetsOfJson = "auto",
    lang: TokenizerOf = "",
) -> NestedOptions:
    """How to read nested mentions, from the options."""
    return NestedOptions(
        nested or bool(layer or header),
        tuple(layer or ()),
        tuple(label or ()),
        header,
        spans_key,
        misaligned,
        lines,
        offsets,
        lang,
    )


def nested_data_from(
    nested: Nested = False,
    layer: Layers = None,
    label: LabelOfLayer = None,
    header: Header = False,
    spans_key: Group = "sc",
    lines: Lines = False,
    misaligned: MisalignedMentions = "count",
    offsets: OffsetsOfJson = "auto",
) -> NestedOptions:
    """How to read nested mentions to train on, which are cut as the pipeline cuts texts."""
    return nested_from(nested, layer, label, header, spans_key, lines, misaligned, offsets)


def held_out_from(
    nested: Nested = False,
    layer: Layers = None,
    label: LabelOfLayer = None,
    header: Header = False,
    lines: Lines = False,
    misaligned: MisalignedMentions = "count",
    offsets: OffsetsOfJson = "auto",
) -> NestedOptions:
    """How to read nested mentions to score a pipeline on, whose recogniser knows the span group."""
    return nested_from(nested, layer, label, header, "", lines, misaligned, offsets)


held_out_options = in_place_of("nested", held_out_from)
"""Give a command the options of `held_out_from` in place of its parameter `nested`."""

nested_data_options = in_place_of("nested", nested_data_from)
"""Give a command the options of `nested_data_from` in place of its parameter `nested`."""

nested_options = in_place_of("nested", nested_from)
"""Give a command the options of `nested_from` in place of its parameter `nested`."""


def require_layers(layers: list[int] | None) -> None:
    """Refuse a column that is named twice."""
    if len(set(layers or ())) < len(layers or ()):
        raise typer.BadParameter("a column is one layer: name each once", param_hint="--layer")
