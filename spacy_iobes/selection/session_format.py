"""The format `session`: what was annotated so far in a session, even while somebody goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..arrays import Offsets
from ..codes.known import Known
from ..codes.span_columns import SpanColumns
from ..corpus.files import Progress, shown
from ..corpus.formats import docbin
from ..corpus.formats.options import ReadOptions
from ..corpus.sentences import Sentences
from .folder import CORPUS
from .ledger import Decision
from .pool import Pool
from .session import Session


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Yield the corpus of a session with the mentions of the sentences that were accepted.

    Of all other sentences nothing is known but mentions that the corpus had from the start, whose
    labels the session does not look for.
    """
    with Session.look(path) as session:
        decisions, first = session.decided(), 0
        how = replace(how, spans_key="", sentences="auto", layers=(), annotated=True)
        for part in docbin.read(session.folder / CORPUS, how, progress):
            given = _known(session.pool, decisions, part.offsets, first)
            yield replace(
                part,
                name=shown(path),
                tags=(),
                layer_labels=(),
                scheme="",
                given=given,
                origin=None,
            )
            first += len(part)


def _known(pool: Pool, decisions: Mapping[int, Decision], offsets: Offsets, first: int) -> Known:
    """Return what is known of sentences that are numbered from `first` in the pool."""
    spans, missing = [], np.zeros(int(offsets[-1]), dtype=bool)
    for sentence, (begin, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist())):
        known, decision = pool.known(first + sentence), decisions.get(first + sentence)
        if decision is not None and decision.answer == "accept":
            spans.append(sorted([*known, *decision.spans]))
            continue
        spans.append(known)
        missing[begin:end] = True
        for span in known:
            missing[begin + span.start : begin + span.end] = False
    columns = SpanColumns.of(spans, np.diff(offsets).tolist())
    return Known(columns, missing if missing.any() else None)
