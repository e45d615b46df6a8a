"""The format `session`: what was annotated so far in a session, even while somebody goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from ..corpus.files import Progress, shown
from ..corpus.formats.options import ReadOptions
from ..corpus.sentences import Sentences
from ..errors import CorpusError
from .ledger import Decision
from .pool import Pool, PoolSentence
from .session import Session
from .view import View

STATUS = {"missing": "unread", "predicted": "predicted", "outside": "outside"}
"""What a sentence that nobody has read is called where it stays in the file."""


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Yield the corpus of a session with the mentions of the sentences that were accepted.

    `how.rest` says what sentences become that nobody has read. Mentions that the corpus had from
    the start, whose labels the session does not look for, are known of all sentences but those that
    were rejected.
    """
    with Session.look(path) as session:
        view = _view(session) if how.rest == "predicted" else None
        rows = list(_rows(session.pool, session.decided(), how.rest, view))
        if rows:
            yield session.pool.sentences(shown(path), rows)


def _rows(
    pool: Pool, decisions: Mapping[int, Decision], rest: str, view: View | None
) -> Iterator[PoolSentence]:
    """Yield the sentences of a session with what is known of them, in the order of the corpus."""
    for number in range(len(pool)):
        decision = decisions.get(number)
        if decision is not None and decision.answer == "accept":
            yield PoolSentence.of(pool, number, decision.spans, "read")
        elif rest == "leave-out":
            continue
        elif decision is not None and decision.answer == "reject":
            rejected = PoolSentence.of(pool, number, None, "rejected", answer="reject")
            yield rejected._replace(known=[])
        elif rest == "missing":
            yield PoolSentence.of(pool, number, None, STATUS[rest])
        else:
            best = () if view is None else view.suggestions(number, 1)[0].spans
            yield PoolSentence.of(pool, number, best, STATUS[rest], answer=None)


def _view(session: Session) -> View:
    """Return what the model thinks, once it has learnt."""
    session.learn()
    if session.view is None:
        trouble = f" ({session.trainer.trouble})" if session.trainer.trouble else ""
        raise CorpusError(
            f"{session.folder}: nothing is predicted, since nothing was learnt yet{trouble}. "
            "Annotate some sentences first, or let the others be missing (--set rest=missing)."
        )
    return session.view
