"""Options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field
from functools import wraps
from typing import Annotated, Any

import typer

from ..codes.policy import POLICIES
from ..corpus.conll import ONE_SCHEME
from ..corpus.formats.options import (
    ADVANCED,
    ReadOptions,
    SaveOptions,
    option_fields,
)
from ..corpus.opener import Opener
from .application import tell
from .progress import bar
from .settings import about_field, setting_name, settings_of, values_of

_POLICIES = ", ".join(POLICIES)
FILES = Opener(tell, bar)
"""Opens the files of commands."""
opened = FILES.opened

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
