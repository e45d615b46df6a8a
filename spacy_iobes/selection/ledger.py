"""What the records of a journal add up to: what was asked, what was answered, what is next."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

from ..span import Span
from .batches import Batch
from .reading import Reading

Answer = Literal["accept", "reject", "skip"]
"""All mentions of the sentence are known; it is not fit to be annotated; later."""
ANSWERS: tuple[Answer, ...] = get_args(Answer)


class Decision(NamedTuple):
    """An answer to a sentence; numbers begin with 1 and none is used twice."""

    number: int
    sentence: int
    answer: Answer
    spans: tuple[Span, ...]
    time: str = ""

    def as_record(self) -> dict[str, Any]:
        """The line of a journal that says so."""
        return {
            "decision": self.number,
            "sentence": self.sentence,
            "answer": self.answer,
            "spans": [list(span) for span in self.spans],
            "time": self.time,
        }


class Ledger:
    """Batches and decisions, record by record; of several decisions on a sentence the last counts.

    `asked` are the sentences of batches and those decided on, `ranked` those that a model had a say
    in, `drawn` those that came by chance since no mention was found before, `unread` those that
    nobody has decided on, `skipped` those whose last decision says later, with its number.
    """

    def __init__(self, sentences: int):
        self.sentences = sentences
        self.reading = Reading()
        self.batches = 0
        self.made = 0
        self.standing: list[Decision] = []
        self.rounds: list[dict[str, Any]] = []
        self.asked: set[int] = set()
        self.ranked: set[int] = set()
        self.drawn: set[int] = set()
        self.unread: set[int] = set()
        self.skipped: dict[int, int] = {}
        self._order: list[int] = []
        self._place: dict[int, int] = {}
        self._first = 0  # no sentence before this place is unread
        self._decisions: dict[int, list[Decision]] = {}

    def apply(self, record: Mapping[str, Any]) -> None:
        """Take a record in; ValueError says why it cannot be one that follows those before."""
        kinds = [kind for kind in _KINDS if kind in record]
        if len(kinds) != 1:
            raise ValueError("neither a batch nor a decision, an undo or an estimate")
        try:
            _KINDS[kinds[0]](self, record)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{kinds[0]}: {type(error).__name__}: {error}") from error

    def next_sentences(self, count: int, exclude: Container[int] = ()) -> list[int]:
        """What to ask next: the first that are unread; if none is, what was skipped longest ago."""
        while self._first < len(self._order) and self._order[self._first] not in self.unread:
            self._first += 1
        found = list[int]()
        for place in range(self._first, len(self._order)):
            if len(found) == count:
                return found
            sentence = self._order[place]
            if sentence in self.unread and sentence not in exclude:
                found.append(sentence)
        if not found:
            later = sorted(self.skipped, key=lambda sentence: self.skipped[sentence])
            found = [sentence for sentence in later if sentence not in exclude][:count]
        return found

    def decision_on(self, sentence: int) -> Decision | None:
        """What was decided last on a sentence."""
        every = self._decisions.get(sentence)
        return every[-1] if every else None

    def _batch(self, record: Mapping[str, Any]) -> None:
        batch = Batch(*(tuple(record[name]) for name in ("sentences", "audit", "promoted")))
        batch = batch._replace(expected=tuple(record.get("expected", ())))
        if record["batch"] != self.batches:
            raise ValueError(f"batch {record['batch']} follows {self.batches} batches")
        for some in batch[:3]:
            self._require(some)
        if not set(batch.audit) <= set(batch.sentences):
            raise ValueError("sentences of the audit that are not in the batch")
        self.reading.begin(batch)
        for sentence in batch.sentences:
            if sentence not in self._place:
                self._place[sentence] = len(self._order)
                self._order.append(sentence)
                if self.rounds:  # a model was asked, and had a say once a mention was found
                    (self.ranked if self.reading.mentions else self.drawn).add(sentence)
                self.asked.add(sentence)
                if sentence not in self._decisions:
                    self.unread.add(sentence)
        self.batches += 1

    def _decision(self, record: Mapping[str, Any]) -> None:
        spans = tuple(Span(*span) for span in record["spans"])
        number, sentence, answer = record["decision"], record["sentence"], record["answer"]
        if number != self.made + 1:
            raise ValueError(f"decision {number} follows decision {self.made}")
        if answer not in ANSWERS:
            raise ValueError(f"the answer {answer!r}")
        self._require([sentence])
        made = Decision(number, sentence, answer, spans, str(record.get("time", "")))
        self.made = number
        self.standing.append(made)
        self.asked.add(sentence)
        self._decisions.setdefault(sentence, []).append(made)
        self._settle(sentence)

    def _undo(self, record: Mapping[str, Any]) -> None:
        last = self.standing[-1].number if self.standing else "none"
        if record["undo"] != last:
            raise ValueError(f"an undo of decision {record['undo']}, but the last is {last}")
        gone = self.standing.pop()
        every = self._decisions[gone.sentence]
        every.pop()
        if not every:
            del self._decisions[gone.sentence]
        self._settle(gone.sentence)
        while self.rounds and self.rounds[-1]["read"] > len(self.reading.read):
            self.rounds.pop()  # what was estimated from answers that are gone

    def _estimate(self, record: Mapping[str, Any]) -> None:
        self.rounds.append(dict(record["estimate"]))

    def _settle(self, sentence: int) -> None:
        """Let the last decision on a sentence count, and no other."""
        self.reading.answers.pop(sentence, None)
        self.reading.rejected.discard(sentence)
        self.skipped.pop(sentence, None)
        self.unread.discard(sentence)
        last = self.decision_on(sentence)
        if last is None:
            if sentence in self._place:
                self.unread.add(sentence)
                self._first = min(self._first, self._place[sentence])
        elif last.answer == "accept":
            self.reading.answers[sentence] = last.spans
        elif last.answer == "reject":
            self.reading.rejected.add(sentence)
        else:
            self.skipped[sentence] = last.number

    def _require(self, sentences: Sequence[int]) -> None:
        for sentence in sentences:
            if type(sentence) is not int or not 0 <= sentence < self.sentences:
                raise ValueError(f"sentence {sentence!r} of {self.sentences}")


_KINDS = {
    "batch": Ledger._batch,
    "decision": Ledger._decision,
    "undo": Ledger._undo,
    "estimate": Ledger._estimate,
}
