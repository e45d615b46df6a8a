"""The one span type of the package."""

from typing import NamedTuple


class Span(NamedTuple):
    """A labelled run of tokens: `start` is its first token, `end` the token after its last."""

    start: int
    end: int
    label: str = ""
