"""Texts with mentions by characters, from whatever kind of file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from .brat import read_brat
from .inline_files import read_inline
from .nested_formats import BRAT, INLINE, JSON
from .nested_json import read_json_lines
from .nested_text import NestedText, TextReading

TEXTS: Mapping[str, Callable[[str | Path, TextReading], Iterator[NestedText]]] = MappingProxyType(
    {BRAT: read_brat, JSON: read_json_lines, INLINE: read_inline}
)
"""How to read each kind of file that holds texts."""
