"""How far a session is: what was estimated on the way to where it is now."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from spacy_iobes.selection import Reading, Settings, UniformView, estimate, history, stop_message

from .small_sessions import answer_all, gold_of, sentences, small

LABELS = ("PER", "LOC")
NOTHING = estimate(UniformView(50), Reading(), 50)


def test_the_history_ends_where_the_reading_does() -> None:
    """Rounds at 10, 20 and 30; back to 15, another way to 22 and 30."""
    way = [replace(NOTHING, read=read) for read in (10, 20, 30)]
    assert history(way, 30) == tuple(way)
    assert history(way, 29) == tuple(way[:2])
    assert history(way, 9) == ()
    other = [replace(NOTHING, read=read, mentions=1) for read in (22, 30)]
    assert history([*way, *other], 30) == (*way[:2], *other)
    assert history([*way, other[0]], 25) == (*way[:2], other[0])
    assert history([*way, way[0]], 30) == (way[0],)
    assert history([], 0) == ()


def test_undo_takes_estimates_and_the_advice_to_stop_back(tmp_path: Path) -> None:
    with small(tmp_path / "state", 40, batch=6, audit=0.25, target=0.05) as session:
        answer_all(session, gold_of(sentences(40), LABELS))
        session.wait()
        assert session.progress().rounds
        assert session.progress().stop
        reached = [len(session.progress().rounds)]
        while session.undo() is not None:
            now = session.progress()
            reads = [found.read for found in now.rounds]
            assert reads == sorted(set(reads))
            assert not reads or reads[-1] <= now.read
            reached.append(len(reads))
        assert reached == sorted(reached, reverse=True)
        assert (session.progress().rounds, session.progress().stop) == ((), "")


def test_the_advice_to_stop_writes_shares_as_the_page_does() -> None:
    reached = replace(NOTHING, read=10, mentions=3, coverage=0.7)
    told = stop_message([reached], Settings(LABELS, target=0.6, rule="estimate", patience=1))
    assert "60.0 % of all mentions" in told
