"""A view with given numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spacy_iobes.selection import Suggestion


@dataclass(frozen=True, eq=False)
class FixedView:
    """Expects what it is told."""

    expected: Any

    def suggestions(self, sentence: int, n: int) -> list[Suggestion]:
        return []

    def entropy(self) -> Any:
        return self.expected

    def margin(self) -> Any:
        return 1 - self.expected
