"""What the server tells the page, as plain values."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..selection.ledger import Decision
from ..selection.session import Session
from ..selection.task import Task


def state_of(session: Session, undone: Decision | None = None) -> dict[str, Any]:
    """All that the page shows: the next task and the progress; and what was just undone."""
    settings, last = session.settings, session.last
    number = session.number
    task = session.task()
    return {
        "session": {
            "name": session.folder.resolve().name,
            "labels": list(settings.labels),
            "nested": settings.nested,
            "target": settings.target,
            "sentences": len(session.pool),
        },
        "number": number,
        "last": None if last is None else last.number,
        "task": None if task is None else task_of(task),
        "progress": asdict(session.progress()),
        "undone": None if undone is None else undone.as_record(),
    }


def task_of(task: Task) -> dict[str, Any]:
    """A sentence to read."""
    suggested = [
        {
            "probability": one.probability,
            "spans": [list(span) for span in sorted(one.spans, key=_order)],
        }
        for one in task.suggestions
    ]
    known = [list(span) for span in task.known]
    return {**task._asdict(), "known": known, "suggestions": suggested}


def _order(span: tuple[int, int, str]) -> tuple[int, int, str]:
    """As the page sorts spans: those that hold others before these."""
    return span[0], -span[1], span[2]
