"""Command lines that need no conversion, read without loading pydantic.

Recent releases of typer convert every parameter through pydantic, whose import takes longer than
most of our commands. Strings, lists of strings and flags come out of the parser as they are; for
anything else, and for whatever is wrong or asks for help, typer does it all.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, get_args

import typer
from typer.core import TyperCommand

from ..corpus.files import visible

PLAIN = (str, str | None, list[str], bool)
INSTEAD = {
    "--column": "--layer, or --tag",
    "--columns": "--layer, once for each",
    "--discard-extra-columns": "--only-tags",
    "--from": "--scheme for tags, --format for files",
    "--gold-index": "--gold-tag",
    "--gold-repair": "--gold-policy",
    "--group": "--spans-key",
    "--ignore-documents": "--documents none",
    "--labels": "--scheme",
    "--lines": "--sentences lines",
    "--markers-as-tokens": "--documents tokens",
    "--nested": "not needed: the data say whether mentions overlap",
    "--output-format": "--to, or --layout for scores",
    "--reference": "not needed: gold is the first file",
    "--repair": "--policy",
    "--repair-method": "--policy",
    "--score-format": "--layout",
    "--source": "--spans-key for a span group",
    "--spans_key": "--spans-key",
    "--tag-index": "--tag",
    "--tag-scheme": "--scheme",
    "--token-index": "--token",
    "--untagged": "--tag 0, the column of the tokens",
    "-r": "--policy",
}
"""Options that people try, from other tools and from version 0.1.0, and what they are called."""
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
            with _shown():
                return super().parse_args(ctx, args)
        ctx.params.update(values)
        ctx.args = []
        return []

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _shown():
            return super().invoke(ctx)


@contextmanager
def _shown() -> Iterator[None]:
    """Let errors of usage say what an option may be, and steer no terminal."""
    try:
        yield
    except USAGE as error:
        name = getattr(error, "option_name", "")
        if name in INSTEAD and hasattr(error, "possibilities"):
            found = INSTEAD[name]
            use = f"it is {found}" if found.startswith("not needed") else f"use {found}"
            error.message, error.possibilities = f"There is no option {name} here: {use}.", []
        if not error.message:  # an option is missing, whose help says what it may be
            error.message = getattr(getattr(error, "param", None), "help", "") or ""
        error.message = visible(error.message)
        raise


def plain_values(
    function: Callable[..., Any] | None, given: dict[str, Any]
) -> dict[str, Any] | None:
    """A value for each parameter of a function, or None where one is missing or not plain."""
    left = {name: value for name, value in given.items() if _is_given(value)}
    values = {}
    for name, parameter in inspect.signature(function or dict, eval_str=True).parameters.items():
        if name not in left:
            if parameter.default is parameter.empty:
                return None
            values[name] = parameter.default
            continue
        value = left.pop(name)
        kind = (*get_args(parameter.annotation), None)[0]
        if kind not in PLAIN:
            return None
        values[name] = list(value) if kind == list[str] else value
    return None if left else values


def _is_given(value: Any) -> bool:
    return isinstance(value, (str, bool)) or (isinstance(value, (list, tuple)) and len(value) > 0)
