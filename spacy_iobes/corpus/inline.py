"""What the tags of inline-tagged text mean, for those who read it as Docs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from ..errors import UnknownNameError
from .formats.options import Unbalanced


def require_unbalanced(name: str) -> Unbalanced:
    """The name of what to do, if it is one."""
    for known in get_args(Unbalanced):
        if name == known:
            return known  # type: ignore[no-any-return]
    every = get_args(Unbalanced)
    message = f"Unknown way with unbalanced tags {name!r}. Known: {', '.join(every)}."
    raise UnknownNameError(message, name, every)


@dataclass(frozen=True)
class Markup:
    """What the tags of a text mean.

    All are labels but those to `ignore` and those of a `sentence` or a `document`; these are left
    out of the text like any tag, and may be unbalanced. With a `label_attribute` that attribute
    names the label, and tags without it are none. In `xml` (None: if the text says that it is),
    entities (`&amp;`) are decoded and comments left out.
    """

    ignore: tuple[str, ...] = ()
    sentence: str = ""
    document: str = ""
    label_attribute: str = ""
    unbalanced: Unbalanced = "raise"
    xml: bool | None = None
