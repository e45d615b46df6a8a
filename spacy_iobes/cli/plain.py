"""Command lines that need no conversion, read without loading pydantic.

Recent releases of typer convert every parameter through pydantic, whose import takes longer than
most of our commands. Strings, lists of strings and flags come out of the parser as they are, and
numbers are read here; for anything else, and for whatever is wrong or asks for help, typer does it
all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, get_args

import typer
from typer.core import TyperCommand

from ..corpus.files import visible
from ..errors import OptionError
from .settings import Fields, settings_of

NONE: Fields = {}
NEEDLESS = ", and none is needed: "
LAST = f"{NEEDLESS}the file to write is the last one"
PLAIN = (str, str | None, list[str], list[str] | None, bool)
NUMBERS = {int: int, int | None: int, float: float, float | None: float}
INSTEAD = {
    "--column": "--layer, or --tag",
    "--columns": "--layer, once for each",
    "--converter": "--format",
    "--count": "--limit",
    "--discard-extra-columns": "--set only-tags",
    "--drop-spaces": f"{NEEDLESS}column files leave out tokens of white space",
    "--file-type": "--to",
    "--fresh": "--force",
    "--from": "--scheme for tags, --format for files",
    "--gold-index": "--gold-tag",
    "--gold-repair": "--gold-policy",
    "--group": "--spans-key",
    "--ignore-documents": "--documents none",
    "--ignore-sentences": "--sentences whole",
    "--label": "--layer N=LABEL",
    "--labels": "--scheme",
    "--lines": "--sentences lines",
    "--mode": "--policy",
    "--markers-as-tokens": "--documents tokens",
    "--nested": f"{NEEDLESS}the data say whether mentions overlap",
    "--overwrite": "--force",
    "--output-labels": "--to-scheme",
    "--output-format": "--to, or --layout for scores",
    "--reference": f"{NEEDLESS}gold is the first file",
    "--repair": "--policy",
    "--repair-method": "--policy",
    "--score-format": "--layout",
    "--source": "--spans-key for a span group",
    "--spans_key": "--spans-key",
    "--tag-index": "--tag",
    "--tag-scheme": "--scheme",
    "--token-index": "--token",
    "--top": "--limit",
    "--untagged": "--tag 0, the column of the tokens",
    "-r": "--policy",
    "convert --output": LAST,
    "convert -o": LAST,
    "predict --output": LAST,
    "predict -o": LAST,
    "repair --output": LAST,
    "repair -o": LAST,
}
"""Options that people try, from other tools and from version 0.1.0, and what they are called.

A row that begins with a command is for that command alone.
"""
USAGE: Any = typer.BadParameter.__mro__[1]  # of click, which some releases of typer hold a copy of


class PlainCommand(TyperCommand):
    """A command of typer that takes plain values as they are."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Fill `ctx.params` from the command line; the result is what was left of it."""
        try:
            given, rest, _ = self.make_parser(ctx).parse_args(args=list(args))
            values = None if rest else plain_values(self.callback, given)
        except Exception:  # typer says it better
            values = None
        if values is None:
            with usage_errors(ctx, settings_of(self.callback)):
                return super().parse_args(ctx, args)
        ctx.params.update(values)
        ctx.args = []
        return []

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with usage_errors(ctx, settings_of(self.callback)):
            return super().invoke(ctx)


@contextmanager
def usage_errors(ctx: Any, settings: Fields = NONE) -> Iterator[None]:
    """Turn errors of usage into one line that says what to write, and the exit code 2."""
    try:
        try:
            yield
        except OptionError as error:
            raise typer.BadParameter(str(error), ctx, param_hint=error.option) from error
    except USAGE as error:
        message = visible(" ".join(usage_message(error, settings).split()))
        typer.secho(f"Error: {message} See '{ctx.command_path} -h'.", fg="red", err=True)
        raise typer.Exit(error.exit_code) from error


def usage_message(error: Any, settings: Fields) -> str:
    """Return what is wrong with a command line, and what an option is called or may be."""
    name = getattr(error, "option_name", "")
    if hasattr(error, "possibilities"):
        if each := settings.get(name.removeprefix("--")):
            value = "" if each.type == "bool" else "=VALUE"
            return f"There is no option {name}: it is a setting, --set {name[2:]}{value}."
        if use := instead(name, error.ctx):
            return f"There is no option {name} here{use}."
    elif not error.message:  # an option is missing, whose help says what it may be
        error.message = getattr(getattr(error, "param", None), "help", "") or ""
    text: str = error.format_message()
    return text if text.endswith((".", "?")) else f"{text}."


def instead(option: str, context: Any) -> str:
    """Return what to do without an option, or nothing where the command lacks that as well."""
    found = INSTEAD.get(f"{context.command.name} {option}", INSTEAD.get(option, ""))
    if found.startswith(NEEDLESS):
        return found
    here = {name for each in context.command.params for name in each.opts}
    return f": use {found}" if here & set(found.replace(",", " ").split()) else ""


def plain_values(
    function: Callable[..., Any] | None, given: dict[str, Any]
) -> dict[str, Any] | None:
    """Return a value for each parameter; None where one is missing or not plain."""
    left = {name: value for name, value in given.items() if _is_given(value)}
    values = {}
    for name, parameter in inspect.signature(function or dict, eval_str=True).parameters.items():
        if name not in left:
            if parameter.default is parameter.empty:
                return None
            values[name] = parameter.default
            continue
        value = left.pop(name)
        kind, about = (*get_args(parameter.annotation), None, None)[:2]
        if kind in NUMBERS:
            try:
                values[name] = number = NUMBERS[kind](value)
            except ValueError:
                return None
            low, high = (number if end is None else end for end in (about.min, about.max))
            if not low <= number <= high:
                return None
            continue
        if kind not in PLAIN:
            return None
        values[name] = list(value) if isinstance(value, tuple) else value
    return None if left else values


def _is_given(value: Any) -> bool:
    return isinstance(value, (str, bool)) or (isinstance(value, (list, tuple)) and len(value) > 0)
