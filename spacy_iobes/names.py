"""Names that people write, found in what is known or refused with a list of it, and counts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any, Protocol, TypeVar, get_args

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
    raise _unknown(what, name, table, hint or _guess(wanted, every))


def known_name(what: str, name: Any, names: Any, hint: str = "") -> Any:
    """Return `name` if it is one of `names`, which are strings or a Literal of them."""
    every: Collection[str] = get_args(names) or names
    if name in every:
        return name
    raise _unknown(what.replace("_", " "), name, every, hint or _guess(str(name), list(every)))


def counted(count: int, word: str) -> str:
    """Return `1 token`, `2 entities`, `1,000 tokens`."""
    if count != 1:
        word = f"{word[:-1]}ies" if word.endswith("ty") else f"{word}s"
    return f"{count:,} {word}"


def _guess(name: str, every: list[str]) -> str:
    close = get_close_matches(name, every, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def _unknown(what: str, name: Any, known: Collection[str], hint: str) -> UnknownNameError:
    message = f"Unknown {what} {name!r}.{hint} Known: {', '.join(known)}."
    return UnknownNameError(message, str(name), tuple(known))
