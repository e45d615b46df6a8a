"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any

import typer

from ..codes.policy import POLICIES
from ..corpus.conll import ONE_SCHEME, Columns, columns_named

_POLICIES = ", ".join(POLICIES)

Inputs = Annotated[
    list[str], typer.Argument(metavar="FILE", help="Column files; - is standard input.")
]
InputsAndOutput = Annotated[
    list[str],
    typer.Argument(
        metavar="IN OUT",
        help="A column file and where to write it (- is standard input and output), "
        "or several files and a directory.",
    ),
]
SchemeName = Annotated[
    str, typer.Option("--scheme", "-s", help=f"Scheme of the tags: {ONE_SCHEME}.")
]
PolicyName = Annotated[
    str, typer.Option("--policy", "-p", help=f"What malformed tags become: {_POLICIES}.")
]
GoldPolicy = Annotated[
    str,
    typer.Option(
        "--repair",
        "-r",
        help=f"Policy for malformed tags in column files: {_POLICIES}. Without one they are "
        "refused.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result line.")]
Limit = Annotated[int, typer.Option("--limit", help="List at most so many; 0 lists all.", min=0)]
OutputDelimiter = Annotated[
    str | None,
    typer.Option(
        "--output-delimiter", help="Write columns with this between them (default: as read)."
    ),
]
OnlyTokenAndTag = Annotated[
    bool, typer.Option("--discard-extra-columns", help="Write only the token and the tag.")
]


def columns_from(
    encoding: Annotated[str, typer.Option("--encoding", help="Of files in and out.")] = "utf8",
    delimiter: Annotated[
        str,
        typer.Option(
            "--delimiter",
            help="Between columns: tab, space, whitespace (any run of both), comma, any other "
            "string, or auto: a tab if the first token's line has one, else whitespace.",
        ),
    ] = "auto",
    token_index: Annotated[
        int,
        typer.Option("--token-index", help="Column of the token, from 0; negative: from the end."),
    ] = 0,
    tag_index: Annotated[
        int, typer.Option("--tag-index", help="Column of the tag, from 0; negative: from the end.")
    ] = -1,
    comment: Annotated[
        str,
        typer.Option(
            "--comment",
            help="Lines that start with this are comments, '#' for example (default: none are).",
        ),
    ] = "",
    ignore_documents: Annotated[
        bool,
        typer.Option(
            "--ignore-documents",
            help="Lines that mark documents (-DOCSTART-) begin none: a file is one document, and "
            "where a model could look at documents it gets each sentence for itself.",
        ),
    ] = False,
    markers_as_tokens: Annotated[
        bool,
        typer.Option(
            "--markers-as-tokens",
            help="Lines that mark documents (-DOCSTART-) are tokens like any other.",
        ),
    ] = False,
) -> Columns:
    """How to read column files, from the options."""
    if not delimiter:
        raise typer.BadParameter("an empty delimiter separates nothing", param_hint="--delimiter")
    return columns_named(
        delimiter, token_index, tag_index, comment, encoding, ignore_documents, markers_as_tokens
    )


def require_scheme(scheme: str, file: str = "") -> None:
    """Refuse to read tags without a scheme, those of a file that has columns."""
    if not scheme:
        raise missing_scheme(file)


def missing_scheme(file: str = "") -> typer.BadParameter:
    """The error of a command that cannot read the tags of a file without a scheme."""
    columns = f"{file} is a column file: " if file else ""
    return typer.BadParameter(f"{columns}name {ONE_SCHEME}", param_hint="--scheme")


def in_place_of(
    name: str, source: Callable[..., Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a function in place of its parameter `name`."""

    def decorated(function: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(function, eval_str=True).parameters.values()
        shared = inspect.signature(source, eval_str=True).parameters.values()

        @wraps(function)
        def run(**options: Any) -> None:
            given = {parameter.name: options.pop(parameter.name) for parameter in shared}
            function(**{name: source(**given)}, **options)

        every = [parameter for parameter in own if parameter.name != name] + list(shared)
        keyword = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in every]
        run.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
        return run

    return decorated


column_options = in_place_of("columns", columns_from)
"""Give a command the options of `columns_from` in place of its parameter `columns`."""
