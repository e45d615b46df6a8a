"""A sentence to read, and all that a person needs to see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ..span import Span
from .pool import Pool
from .view import Suggestion

SUGGESTED = 10
"""How many whole annotations are suggested."""
CONTEXT = 40
"""How many words of a neighbour are shown: those that are nearest."""
Why = Literal["first", "ranked", "drawn", "audit", "skipped"]
"""It is in the first batch, likely to hold a mention, drawn at random, or was put off."""


class Task(NamedTuple):
    """A sentence, with `spaces` saying after which words there is one, and what is suggested.

    `known` are mentions of other labels; `before` and `after` are its neighbours in the document.
    """

    sentence: int
    words: list[str]
    spaces: list[bool]
    known: list[Span]
    suggestions: list[Suggestion]
    why: Why
    before: str = ""
    after: str = ""

    @classmethod
    def of(cls, pool: Pool, sentence: int, suggestions: Sequence[Suggestion], why: Why) -> Task:
        """The task of a sentence."""
        words, spaces = pool.words(sentence)
        around = [neighbour(pool, sentence, step) for step in (-1, 1)]
        return cls(sentence, words, spaces, pool.known(sentence), list(suggestions), why, *around)


def neighbour(pool: Pool, sentence: int, step: int) -> str:
    """The text of the sentence before (-1) or after (1), if it is in the same document.

    Of a long one only what is near, with an ellipsis where it was cut.
    """
    other = sentence + step
    if not 0 <= other < len(pool) or pool.place(other)[0] != pool.place(sentence)[0]:
        return ""
    words, spaces = pool.words(other)
    if len(words) <= CONTEXT:
        return joined(words, spaces)
    if step < 0:
        return f"… {joined(words[-CONTEXT:], spaces[-CONTEXT:])}"
    return f"{joined(words[:CONTEXT], spaces[:CONTEXT])} …"


def joined(words: Sequence[str], spaces: Sequence[bool]) -> str:
    """The text of words."""
    return "".join(word + " " * space for word, space in zip(words, spaces)).strip()
