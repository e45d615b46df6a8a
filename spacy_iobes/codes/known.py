"""What is known of a sentence that may be annotated only in part."""

from __future__ import annotations

from typing import NamedTuple

from ..span import Span


class Known(NamedTuple):
    """The spans of a sentence, and the tokens of which nothing is known; all others are in none."""

    spans: list[Span]
    missing: list[int]
