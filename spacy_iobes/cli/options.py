"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field
from functools import wraps
from typing import Annotated, Any

import typer

from ..codes.policy import POLICIES
from ..corpus.conll import ONE_SCHEME
from ..corpus.corpus import Corpus
from ..corpus.files import HELD, STANDARD, require_there, shown
from ..corpus.formats import ending_of, format_of, formats_in
from ..corpus.formats.options import (
    ADVANCED,
    ReadOptions,
    SaveOptions,
    option_fields,
)
from ..corpus.inputs import is_stream
from .application import echo
from .progress import bar
from .settings import about_field, setting_name, settings_of, values_of

_POLICIES = ", ".join(POLICIES)

Inputs = Annotated[
    list[str], typer.Argument(metavar="FILE", help="Files of any format; - is standard input.")
]
InputsAndOutput = Annotated[
    list[str],
    typer.Argument(
        metavar="IN OUT",
        help="A file of any format and where to write it (- is standard input and output); or "
        "several files and one file or a folder.",
    ),
]
SchemeName = Annotated[
    str, typer.Option("--scheme", "-s", help=f"Scheme of the tags: {ONE_SCHEME}.")
]
PolicyName = Annotated[
    str, typer.Option("--policy", "-p", help=f"What malformed tags become: {_POLICIES}.")
]
OutputFile = Annotated[str, typer.Option("--output", "-o", help="Where to write; - prints.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Limit = Annotated[int, typer.Option("--limit", help="List at most so many; 0 lists all.", min=0)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result line.")]


def require_columns(how: ReadOptions, paths: Collection[str]) -> None:
    """Refuse options that are about columns of tags where no file has columns."""
    numbers = [key for key, _ in how.layer_keys if isinstance(key, int)]
    given = {"--layer": numbers, "--header": how.header, "--set suffix": how.suffix}
    wrong = ", ".join(name for name, value in given.items() if value)
    if wrong and not any("columns" in formats_in(path, how) for path in paths):
        message = f"this is for column files, and there is none among {', '.join(paths)}"
        raise typer.BadParameter(message, param_hint=wrong)


def tell_kind(path: str, how: ReadOptions) -> None:
    """Say how a file is read whose name says nothing of its kind."""
    if how.format == "auto" and (ending_of(path) == ".txt" or path in HELD):
        kinds = {"text": "plain text", "columns": "a column file"}
        found = format_of(path, how=how).name
        other = "columns" if found == "text" else "text"
        kind = kinds.get(found, found)
        echo(f"{shown(path)}: read as {kind} (else: --format {other})", err=True)


def tell_of_columns(corpus: Corpus) -> None:
    """Say how many columns there are, if there are more than were read and nobody has chosen."""
    from ..corpus.formats.columns import ColumnOrigin

    asked = corpus.options.layers or corpus.options.tag != ReadOptions().tag
    if asked or is_stream(corpus.path):
        return
    for part in corpus:
        if isinstance(part.origin, ColumnOrigin):
            width = part.origin.part.layout.width
            if width > 1 + len(part.tags):
                echo(
                    f"{corpus.name} has {width} columns, of which the last was read: name each "
                    "that holds tags (--layer 1 --layer 2, for example)",
                    err=True,
                )
        return


def missing_scheme(file: str = "") -> typer.BadParameter:
    """The error of a command that cannot read the tags of a file without a scheme."""
    if file and file != STANDARD:
        require_there(file)
    columns = f"{file} is a column file: " if file else ""
    return typer.BadParameter(f"{columns}name {ONE_SCHEME}", param_hint="--scheme")


@contextmanager
def opened(path: str, how: ReadOptions, scheme: str | None = None) -> Iterator[Corpus]:
    """Open a file whose progress is shown; the scheme of its tags is looked for if it is empty."""
    require_columns(how, [path])
    tell_kind(path, how)
    found = scheme_found(path, how) if scheme == "" else ""
    with bar(path) as progress:
        yield Corpus(path, how, progress, found)


def scheme_found(path: str, how: ReadOptions) -> str:
    """Return the scheme that the tags of a file are in, and say so; empty if it has none of them.

    Raises where several schemes would read different spans, or where it can be read only once.
    """
    row = format_of(path, how.format, how)
    if path == STANDARD or is_stream(path):
        if row.name == "columns":
            raise missing_scheme(path)
        return ""
    from ..corpus.scheme_search import scheme_of  # here: most people name the scheme

    found = scheme_of(Corpus(path, how))
    if found:
        echo(f"{shown(path)}: tags read as {found}", err=True)
    return found


def in_place_of(
    name: str, source: Callable[..., Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of a function in place of its parameter `name`."""

    def decorated(function: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(function, eval_str=True).parameters
        shared = inspect.signature(source, eval_str=True).parameters
        both = (own.keys() & shared.keys()) - {name}

        @wraps(function)
        def run(**options: Any) -> None:
            given = {each: options[each] for each in shared}
            kept = {each: options[each] for each in options.keys() - shared.keys() | both}
            function(**{name: source(**given)}, **kept)

        every = [parameter for parameter in own.values() if parameter.name != name]
        every += [parameter for parameter in shared.values() if parameter.name not in both]
        keyword = [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in every]
        run.__signature__ = inspect.Signature(keyword)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in every}
        run.settings = settings_of(function) | settings_of(source)  # type: ignore[attr-defined]
        return run

    return decorated


Decorator = Callable[[Callable[..., None]], Callable[..., None]]
SHORT = {
    "--config": "-c",
    "--format": "-f",
    "--label": "-l",
    "--output": "-o",
    "--policy": "-p",
    "--spans-key": "-g",
    "--to": "-t",
}
KINDS: dict[str, Any] = {
    "bool": bool,
    "float": float,
    "float | None": float | None,
    "int": int,
    "int | None": int | None,
    "str": str,
    "tuple[str, ...]": list[str] | None,
}
"""What typer takes for the type of a field."""


Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="An advanced setting of those below; repeat it for each.",
        rich_help_panel=ADVANCED,
    ),
]


def fields_of(name: str, cls: type, leave_out: Collection[str] = (), **defaults: Any) -> Decorator:
    """Give a command an option for each field of a dataclass, in place of its parameter `name`.

    Those of the panel Advanced are settings, which share the option `--set NAME=VALUE`. Fields have
    the `defaults` that are theirs in the command, else their own.
    """
    every = [each for each in option_fields(cls) if each.name not in leave_out]
    return _in_place(name, every, lambda given: cls(**defaults | given), defaults)


def given_of(name: str, cls: type, names: Collection[str]) -> Decorator:
    """Give a command options for some fields of a dataclass, in place of its parameter `name`.

    It gets a mapping of those that were given, where a default may be another one.
    """
    every = [each for each in option_fields(cls) if each.name in names]

    def given_alone(given: dict[str, Any]) -> dict[str, Any]:
        lists = {key: tuple(value) for key, value in given.items() if isinstance(value, list)}
        return {key: value for key, value in (given | lists).items() if value is not False}

    return _in_place(name, every, given_alone, None)


def _in_place(
    name: str,
    every: Sequence[Field[Any]],
    make: Callable[[dict[str, Any]], Any],
    defaults: Mapping[str, Any] | None,
) -> Decorator:
    """Give a command options for some fields; `make` takes the values of those that were given."""
    advanced = {setting_name(each): each for each in every if each.metadata["panel"] == ADVANCED}
    plain = [
        _option_of(each, name, defaults) for each in every if each.metadata["panel"] != ADVANCED
    ]

    def source(settings: Sequence[str] | None = None, **values: Any) -> Any:
        given = {key.removeprefix(f"{name}_"): value for key, value in values.items()}
        given = {key: value for key, value in given.items() if value is not None}
        return make(given | values_of(settings or (), advanced))

    keyword = inspect.Parameter.KEYWORD_ONLY
    some = [inspect.Parameter("settings", keyword, default=None, annotation=Settings)]
    source.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        plain + (some if advanced else [])
    )
    source.settings = advanced  # type: ignore[attr-defined]
    return in_place_of(name, source)


def _option_of(
    each: Field[Any], prefix: str, defaults: Mapping[str, Any] | None
) -> inspect.Parameter:
    """Return the parameter of typer for a field; without a default if there are no `defaults`."""
    about, kind = about_field(each), KINDS.get(str(each.type), str)
    names = [each.metadata["option"] or f"--{each.name.replace('_', '-')}"]
    names += [SHORT[names[0]]] if names[0] in SHORT else []
    default = (defaults or {}).get(each.name, each.default)
    default = default or None if isinstance(default, tuple) else default
    if defaults is None and kind is not bool:
        told = default not in (None, MISSING)
        about = f"{about[:-1]} (default: {default})." if told else about
        kind, default = kind | None, None
    panel = {"rich_help_panel": each.metadata["panel"]} if each.metadata["panel"] else {}
    return inspect.Parameter(
        f"{prefix}_{each.name}",
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind, typer.Option(*names, help=about, **panel)],
    )


save_options = fields_of("save", SaveOptions, ("encoding",))
"""Give a command the options of `SaveOptions` in place of its parameter `save`."""

read_options = fields_of("how", ReadOptions)
"""Give a command the options of `ReadOptions` in place of its parameter `how`."""
