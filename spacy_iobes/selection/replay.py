"""A ledger from the records of a journal, as far as they make sense."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from ..span import Span
from .journal import Record, damaged
from .ledger import Ledger

Check = Callable[[int, tuple[Span, ...]], object]
"""Raises if these cannot be the mentions of a sentence."""


def replayed(
    records: Iterable[Record], path: Path, sentences: int, check: Check | None = None
) -> Ledger:
    """What a journal says; raises with its line for what it cannot say."""
    ledger = Ledger(sentences)
    for line, record in enumerate(records, 1):
        try:
            ledger.apply(record)
            if check is not None and "decision" in record:
                made = ledger.standing[-1]
                check(made.sentence, made.spans)
        except ValueError as error:
            raise damaged(path, line, str(error)) from error
    return ledger
