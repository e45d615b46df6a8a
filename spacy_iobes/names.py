"""Named objects in a table: found by name or alias without regard to case, or refused."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Protocol, TypeVar

from .errors import UnknownNameError


class Named(Protocol):
    """What a table of named objects holds."""

    @property
    def name(self) -> str:
        """How it is called."""

    @property
    def aliases(self) -> tuple[str, ...]:
        """What else it is called."""


N = TypeVar("N", bound=Named)


def find(table: Mapping[str, N], kind: type[N], name: str | N, hint: str = "") -> N:
    """Return the entry called `name`, or `name` itself where it already is an entry."""
    what = kind.__name__.lower()
    if isinstance(name, kind):
        return name
    if not isinstance(name, str):
        raise TypeError(f"A {what} is given by its name, not {name!r}.")
    wanted = name.strip().lower()
    for entry in table.values():
        if wanted == entry.name or wanted in entry.aliases:
            return entry
    every = [known for entry in table.values() for known in (entry.name, *entry.aliases)]
    close = get_close_matches(wanted, every, n=1)
    hint = hint or (f" Did you mean {close[0]!r}?" if close else "")
    known = ", ".join(table)
    raise UnknownNameError(f"Unknown {what} {name!r}.{hint} Known: {known}.", name, table)
