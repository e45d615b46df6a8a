"""The help of commands as plain text: every option once, with its default."""

from __future__ import annotations

import inspect
import shutil
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, get_args

from ..corpus.formats.options import ADVANCED
from .settings import about_field, settings_of

WIDEST = 100  # columns, however wide a terminal is
LEFT = 26  # columns at most for the names of options
NUMBERS = {"int": "N", "float": "X"}
FILES = ("output", "html", "file", "take", "plot", "learn")
"""What options are called that are files."""
FIRST = ("Arguments", "Options")


def command_help(command: Any, ctx: Any) -> str:
    """Return the help of a command: what it does, then its arguments and options by panel."""
    width, kinds = _width(), _kinds(command.callback)
    panels: dict[str, list[tuple[str, str]]] = {name: [] for name in FIRST}
    arguments = list[str]()
    for param in command.get_params(ctx):
        if getattr(param, "hidden", False):
            continue
        if getattr(param, "param_type_name", "") == "argument":
            arguments.append(str(param.metavar or param.name.upper()))
            panels[FIRST[0]].append((arguments[-1], _about(param)))
        else:
            panel = getattr(param, "rich_help_panel", None) or FIRST[1]
            row = _name(param, kinds.get(param.name, "")), _about(param)
            panels.setdefault(panel, []).append(row)
    for name, each in settings_of(command.callback).items():
        kind = "" if each.type == "bool" else f"={NUMBERS.get(str(each.type), 'NAME')}"
        panels[ADVANCED].append((f"  {name}{kind}", _with_default(about_field(each), each.default)))
    usage = " ".join([f"Usage: {ctx.command_path}", *arguments, "[OPTIONS]"])
    return "\n".join([usage, *_paragraphs(command.help or "", width), *_panels(panels, width)])


def group_help(group: Any, ctx: Any, panels: dict[str, str]) -> str:
    """Return the help of all commands: one line each, by panel."""
    width = _width()
    pieces = [f"Usage: {ctx.command_path} COMMAND ...", *_paragraphs(group.help or "", width)]
    every = set(group.list_commands(ctx))
    listed: dict[str, list[tuple[str, str]]] = {}
    for panel, names in panels.items():
        for name in (name for name in names.split() if name in every):
            about = group.get_command(ctx, name).help or ""
            listed.setdefault(panel, []).append((name, about.split("\n\n")[0]))
    options = [
        (_name(param, ""), _about(param))
        for param in group.get_params(ctx)
        if not getattr(param, "hidden", False)
    ]
    pieces += _panels({**listed, "Options": options}, width)
    return "\n".join(pieces)


def _width() -> int:
    return max(min(shutil.get_terminal_size().columns, WIDEST), 50)


def _paragraphs(text: str, width: int) -> Iterator[str]:
    for paragraph in text.strip().split("\n\n"):
        yield ""
        yield from textwrap.wrap(" ".join(paragraph.split()), width, break_on_hyphens=False)


def _kinds(function: Any) -> dict[str, str]:
    """Return what is written for the value of each option; nothing for flags."""
    found = dict[str, str]()
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        kind = str((*get_args(parameter.annotation), str)[0])
        number = next((shown for word, shown in NUMBERS.items() if word in kind), "")
        is_file = any(word in name for word in FILES)
        found[name] = "" if "bool" in kind else number or ("FILE" if is_file else "NAME")
    return found


def _name(param: Any, kind: str) -> str:
    """Return what somebody types for an option."""
    short = [name for name in param.opts if not name.startswith("--")]
    long = [name for name in (*param.opts, *param.secondary_opts) if name.startswith("--")]
    value = kind and (param.metavar or kind)
    return " ".join(filter(None, [", ".join([*short, "/".join(long)]), value]))


def _about(param: Any) -> str:
    """Return what a parameter is for, and its default if that is not said."""
    about = " ".join((param.help or "").split())
    return about if param.required else _with_default(about, getattr(param, "default", None))


def _with_default(about: str, default: Any) -> str:
    """Return what something is for with its default, unless that is nothing or said already."""
    shown = isinstance(default, (str, int, float)) and not isinstance(default, bool) and default
    shown = shown or (default == 0 and type(default) is int)
    if not shown or "(default" in about:
        return about
    value = f"{default:,}" if isinstance(default, int) else default
    return f"{about} [{value}]"


def _panels(panels: dict[str, list[tuple[str, str]]], width: int) -> Iterator[str]:
    for name, rows in panels.items():
        if rows:
            yield f"\n{name}:"
            yield from _rows(rows, width)


def _rows(rows: Iterable[tuple[str, str]], width: int) -> Iterator[str]:
    """Yield names with what they are for beside them, or below those that are long."""
    rows = list(rows)
    left = min(max(len(name) for name, _ in rows), LEFT) + 4
    for name, about in rows:
        lines = textwrap.wrap(about, width - left, break_on_hyphens=False) or [""]
        if len(name) > left - 4:
            yield f"  {name}"
        else:
            yield f"  {name:{left - 2}}{lines.pop(0)}".rstrip()
        yield from (" " * left + line for line in lines)
