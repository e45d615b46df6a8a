"""Texts with mentions by characters, from whatever kind of file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from .formats import brat, inline
from .nested_formats import BRAT, INLINE, JSON
from .nested_json import read_json_lines
from .nested_text import SIMPLE, NestedText, TextReading
from .texts import split_sentences


def read_brat(path: str | Path, how: TextReading = SIMPLE) -> Iterator[NestedText]:
    """Return every annotated text in or below a folder, by name; or the one of an `.ann` file."""
    return split_sentences(brat.texts(path, how.options, how.tokenize), how.options)


def read_inline(path: str | Path, how: TextReading = SIMPLE) -> Iterator[NestedText]:
    """Return every text of a file, a folder or an archive with its tokens and mentions."""
    return split_sentences(inline.texts(path, how.options, how.tokenize), how.options)


TEXTS: Mapping[str, Callable[[str | Path, TextReading], Iterator[NestedText]]] = MappingProxyType(
    {BRAT: read_brat, JSON: read_json_lines, INLINE: read_inline}
)
"""How to read each kind of file that holds texts."""
