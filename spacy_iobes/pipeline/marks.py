"""What components leave on a Doc: violations and changes, stored as data that survives any trip.

`doc.user_data` is what spaCy sends to other processes and writes to files, and it can only hold
plain data there; `doc._.iobes_violations` and `doc._.iobes_changes` read it back as values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spacy.tokens import Doc

from ..codes.violation import Violation

VIOLATIONS, CHANGES = "iobes_violations", "iobes_changes"


@dataclass(frozen=True)
class TagChange:
    """A token whose tag a repair replaced."""

    index: int
    old: str
    new: str


def mark_violations(doc: Doc, violations: Sequence[Violation]) -> None:
    """Record the violations of a Doc, even that there are none."""
    rows = [[v.index, v.previous, v.current, v.kind, v.message, v.token] for v in violations]
    doc.user_data[VIOLATIONS] = rows


def violations_of(doc: Doc) -> list[Violation]:
    """The violations that were recorded, in order."""
    rows = doc.user_data.get(VIOLATIONS, ())
    return [Violation(*found, token=token) for *found, token in rows]  # type: ignore[misc]


def mark_changes(doc: Doc, changes: Sequence[TagChange]) -> None:
    """Record which tags were replaced, even that none were."""
    doc.user_data[CHANGES] = [[c.index, c.old, c.new] for c in changes]


def changes_of(doc: Doc) -> list[TagChange]:
    """The tags that were replaced, in order."""
    return [TagChange(*row) for row in doc.user_data.get(CHANGES, ())]


def set_extensions() -> None:
    """Make `doc._.iobes_violations` and `doc._.iobes_changes`."""
    Doc.set_extension(VIOLATIONS, getter=violations_of, force=True)
    Doc.set_extension(CHANGES, getter=changes_of, force=True)
