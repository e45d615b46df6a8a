"""Advanced settings of commands: `--set NAME=VALUE`, a field of a dataclass each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import Field
from typing import Any, get_args

import typer

from ..names import known_name

TRUTH = {"": True, "yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
"""What may follow the name of a setting that is true or false."""
Fields = Mapping[str, "Field[Any]"]


def settings_of(function: object) -> dict[str, Field[Any]]:
    """Return the advanced settings that a command takes, by name."""
    found: dict[str, Field[Any]] = getattr(function, "settings", {})
    return found


def setting_name(each: Field[Any]) -> str:
    """Return what a field is called in `--set`."""
    name: str = each.metadata["option"] or each.name.replace("_", "-")
    return name.removeprefix("--")


def about_field(each: Field[Any]) -> str:
    """Return what a field is for, and what may be chosen."""
    choices = get_args(each.metadata["choices"])
    about = each.metadata["about"].rstrip(".")
    return f"{about}: {', '.join(choices)}." if choices else f"{about}."


def require_known(texts: Sequence[str], fields: Fields) -> None:
    """Raise if a setting is none of those that a command takes."""
    for text in texts:
        known_name("setting", text.partition("=")[0], tuple(fields))


def values_of(texts: Sequence[str], fields: Fields) -> dict[str, Any]:
    """Return the values of those settings that are among the fields, by the names of the fields."""
    found = dict[str, Any]()
    for text in texts:
        name, _, value = text.partition("=")
        if name not in fields:
            continue
        each = fields[name]
        if str(each.type).startswith("tuple"):
            found[each.name] = (*found.get(each.name, ()), value)
        else:
            found[each.name] = _value(text, value, str(each.type))
    return found


def _value(text: str, value: str, kind: str) -> Any:
    """Return the value of a setting as what its field holds."""
    try:
        if kind == "bool":
            return TRUTH[value.lower()]
        return {"int": int, "float": float}.get(kind.partition(" ")[0], str)(value)
    except (KeyError, ValueError):
        wanted = {"bool": "yes or no", "int": "a whole number"}.get(kind, "a number")
        message = f"{text!r}: this setting is {wanted}"
        raise typer.BadParameter(message, param_hint="--set") from None
