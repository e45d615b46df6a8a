"""A ledger against a plain list of decisions: any sequence of deciding, undoing and reopening."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_iobes import Span
from spacy_iobes.selection import Decision, Journal, Ledger, Session, replayed

from .small_sessions import small

SENTENCES = 6
BATCHES: list[dict[str, Any]] = [
    {"batch": 0, "sentences": [2, 0], "audit": [], "promoted": []},
    {"batch": 1, "sentences": [5, 4, 1], "audit": [4, 1], "promoted": []},
    {"batch": 2, "sentences": [3], "audit": [], "promoted": [4]},
]
spans = st.lists(
    st.builds(Span, st.integers(0, 1), st.integers(2, 3), st.sampled_from(["A", "B"])), max_size=2
)
steps = st.lists(
    st.tuples(
        st.just("decide"),
        st.integers(0, SENTENCES - 1),
        st.sampled_from(["accept", "reject", "skip"]),
        spans,
    )
    | st.just(("undo",))
    | st.just(("batch",))
    | st.just(("reopen",)),
    max_size=20,
)


class Model:
    """The same by a list of all decisions that stand."""

    def __init__(self) -> None:
        self.stack: list[tuple[int, int, str, list[Span]]] = []
        self.made = self.batches = 0

    @property
    def last(self) -> dict[int, tuple[int, int, str, list[Span]]]:
        return {row[1]: row for row in self.stack}

    def order(self) -> list[int]:
        """What would be asked, all of it, if nothing were answered."""
        asked = [s for batch in BATCHES[: self.batches] for s in batch["sentences"]]
        unread = [sentence for sentence in asked if sentence not in self.last]
        skipped = sorted(row for row in self.last.values() if row[2] == "skip")
        return unread or [row[1] for row in skipped]


def agree(ledger: Ledger, model: Model) -> None:
    last = model.last
    answers = {s: tuple(row[3]) for s, row in last.items() if row[2] == "accept"}
    assert ledger.reading.answers == answers
    assert ledger.reading.rejected == {s for s, row in last.items() if row[2] == "reject"}
    assert set(ledger.skipped) == {s for s, row in last.items() if row[2] == "skip"}
    assert ledger.next_sentences(SENTENCES) == model.order()
    assert ledger.next_sentences(1) == model.order()[:1]
    assert [made[:3] for made in ledger.standing] == [row[:3] for row in model.stack]
    assert ledger.made == model.made
    promoted = {4} if model.batches == 3 else set()
    assert ledger.reading.audit == ({4, 1} if model.batches > 1 else set()) - promoted


@given(steps)
def test_any_sequence_is_a_list(sequence: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, model, ledger = Path(folder) / "journal", Model(), Ledger(SENTENCES)
        journal = Journal.create(path)
        for kind, *rest in sequence:
            record: dict[str, Any] | None = None
            if kind == "decide":
                sentence, answer, some = rest
                model.made += 1
                model.stack.append((model.made, sentence, answer, some))
                record = Decision(model.made, sentence, answer, tuple(some)).as_record()
            elif kind == "undo" and model.stack:
                record = {"undo": model.stack.pop()[0]}
            elif kind == "batch" and model.batches < len(BATCHES):
                record = BATCHES[model.batches]
                model.batches += 1
            elif kind == "reopen":
                journal.close()
                journal = Journal(path)
                ledger = replayed(journal.records, path, SENTENCES)
            if record is not None:
                journal.append(record)
                ledger.apply(record)
            agree(ledger, model)
        journal.close()


GOOD = Decision(1, 0, "accept", ()).as_record()


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({}, "neither a batch"),
        ({"batch": 1, "undo": 1}, "neither a batch"),
        ({"batch": 1, "sentences": [], "audit": [], "promoted": []}, "follows 0 batches"),
        ({"batch": 0, "sentences": [6], "audit": [], "promoted": []}, "sentence 6 of 6"),
        ({"batch": 0, "sentences": [True], "audit": [], "promoted": []}, "sentence True"),
        ({"batch": 0, "sentences": [1], "audit": [2], "promoted": []}, "not in the batch"),
        ({"batch": 0, "sentences": 3, "audit": [], "promoted": []}, "TypeError"),
        ({"batch": 0}, "KeyError"),
        ({**GOOD, "decision": 2}, "decision 2 follows decision 0"),
        ({**GOOD, "answer": "maybe"}, "the answer 'maybe'"),
        ({**GOOD, "sentence": -1}, "sentence -1"),
        ({**GOOD, "spans": [[0, 1, "A", 2]]}, "TypeError"),
        ({"undo": 1}, "the last is none"),
        ({"estimate": 3, "round": 1}, "TypeError"),
    ],
)
def test_what_cannot_follow_is_refused(record: dict[str, Any], reason: str) -> None:
    ledger = Ledger(SENTENCES)
    with pytest.raises(ValueError, match=reason):
        ledger.apply(record)
    agree(ledger, Model())


moves = st.lists(st.sampled_from(["accept", "reject", "skip", "undo", "reopen"]), max_size=12)


@settings(max_examples=15)
@given(moves)
def test_a_session_is_a_list_too(sequence: list[str]) -> None:
    """The real thing, with a model that learns in the background."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "state"
        session = small(folder, 12, batch=4)
        stack: list[tuple[int, str]] = []
        for move in sequence:
            if move == "reopen":
                session.close()
                session = Session.open(folder)
            elif move == "undo":
                gone = session.undo()
                expected = stack.pop() if stack else None
                assert (None if gone is None else (gone.sentence, gone.answer)) == expected
            else:
                task = session.task()
                if task is None:
                    session.wait()
                    task = session.task()
                assert task is not None or len(dict(stack)) == 12
                if task is not None:
                    made = session.decide(task.sentence, move)  # type: ignore[arg-type]
                    stack.append((task.sentence, move))
                    assert made == session.last
            assert [made[1:3] for made in session.decisions] == stack
        session.close()


def test_undo_takes_back_what_was_estimated_from_the_answer() -> None:
    ledger = Ledger(SENTENCES)
    ledger.apply(BATCHES[0])
    for number, sentence in enumerate((2, 0), 1):
        made = {"decision": number, "sentence": sentence, "answer": "accept", "spans": []}
        ledger.apply(made | {"time": ""})
        ledger.apply({"estimate": {"read": number}, "round": number - 1})
    assert [row["read"] for row in ledger.rounds] == [1, 2]
    ledger.apply({"undo": 2})
    assert [row["read"] for row in ledger.rounds] == [1]
    ledger.apply({"undo": 1})
    assert ledger.rounds == []
