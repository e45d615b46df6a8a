"""A session as a file, at any time: what was read, and what stands for what was not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from ..codes.scheme import get_scheme
from ..corpus.answered import Answered, Status
from ..corpus.answered_out import Exported, format_named, write_answered
from ..errors import CorpusError, UnknownNameError
from ..span import Span
from .session import Session
from .view import View

Rest = Literal["leave-out", "missing", "predicted", "outside"]
"""What becomes of sentences that nobody has read: they are no part of the file, or nothing is known
of them, or they have the mentions that the model finds, or none.
"""
RESTS: tuple[Rest, ...] = get_args(Rest)
STATUS: dict[str, Status] = {"missing": "unread", "predicted": "predicted", "outside": "outside"}


def rest_named(name: str) -> Rest:
    """What to do with the rest, if there is such a way."""
    for known in RESTS:
        if name.replace(" ", "-") == known:
            return known
    message = f"Unknown way with the rest {name!r}. Known: {', '.join(RESTS)}."
    raise UnknownNameError(message, name, RESTS)


def export(
    session: Session, target: str, form: str = "", scheme: str = "", rest: str = "leave-out"
) -> Exported:
    """Write what a session has so far, all at once or not at all.

    The format is what the name of the file says, unless one is named.
    """
    rule = get_scheme(scheme or session.settings.scheme)
    sentences = list(answered(session, rest_named(rest)))
    form = format_named(form, target)
    return write_answered(sentences, target, form, rule, session.settings.nested)


def answered(session: Session, rest: Rest) -> Iterator[Answered]:
    """The sentences in the order of the corpus."""
    pool, view = session.pool, None
    if rest == "predicted":
        view = _view(session)
    decisions = session.decided()
    for number in range(len(pool)):
        decision = decisions.get(number)
        known = pool.known(number)
        spans: tuple[Span, ...] | None
        status: Status
        if decision is not None and decision.answer != "skip":
            status = "read" if decision.answer == "accept" else "rejected"
            spans = decision.spans
        elif rest == "leave-out":
            continue
        else:
            status, spans = STATUS[rest], None if rest == "missing" else ()
            if view is not None:
                spans = tuple(view.suggestions(number, 1)[0].spans)
        doc, _, _ = pool.place(number)
        more = pool.more(number)
        yield Answered(number, doc, *pool.words(number), known, spans, status, more)


def _view(session: Session) -> View:
    """What the model thinks, once it has learnt."""
    session.learn()
    if session.view is None:
        raise CorpusError(
            f"{session.folder}: nothing is predicted, since nothing was learnt yet"
            f"{f' ({session.trainer.trouble})' * bool(session.trainer.trouble)}. Annotate some "
            "sentences first, or choose another way with the rest."
        )
    return session.view
