"""Annotation from elsewhere into a session: sentences are found by number or by what they say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ..corpus.conll import Columns
from ..corpus.given import Given, given_sentences
from ..corpus.nested_corpus import NestedReading
from ..errors import SpanError
from ..span import Span
from .ledger import Answer
from .pool import Pool
from .session import Session

ANSWERS: dict[str, Answer] = {"accept": "accept", "reject": "reject"}


@dataclass
class Imported:
    """What came of a file: sentences that are new, changed, and as they were before.

    Others are not annotated, or cannot be used; `unmatched` and `unusable` say where and why.
    """

    new: int = 0
    changed: int = 0
    same: int = 0
    unannotated: int = 0
    unmatched: list[str] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)


def add_file(session: Session, path: str, how: NestedReading) -> Imported:
    """Take the answers of a file into a session; a second time changes nothing.

    Mentions of labels that the session does not look for are passed over.
    """
    done, answers = Imported(), dict[int, tuple[Answer, tuple[Span, ...]]]()
    finder = Finder(session.pool)
    for given in given_sentences(path, _reading(session, how)):
        answer = ANSWERS.get(given.answer)
        if answer is None or (given.spans is None and answer == "accept"):
            done.unannotated += 1
            continue
        number = finder.find(given)
        if number is None:
            done.unmatched.append(f"{given.place}: {' '.join(given.words[:8])!r}")
            continue
        try:
            spans = [] if answer == "reject" else finder.spans(number, given)
            answers[number] = answer, session.checked(number, spans)
        except SpanError as error:
            done.unusable.append(f"{given.place}: {error}")
    found = session.add(answers)
    done.new, done.changed, done.same = found
    return done


def _reading(session: Session, how: NestedReading) -> NestedReading:
    """How to read a file: where mentions may nest, all columns of tags, unless some are named."""
    if how.tags is None or not session.settings.nested or how.columns.tag != Columns().tag:
        return how
    return replace(how, tags=replace(how.tags, every=True))


class Finder:
    """Finds the sentence of a pool that is meant, by what it says without white space.

    Of several that say the same, each is found once, in their order.
    """

    def __init__(self, pool: Pool):
        self.pool = pool
        self._numbers = defaultdict[str, list[int]](list)
        self._found = set[int]()
        for number in range(len(pool)):
            self._numbers[_letters(pool.words(number)[0])].append(number)

    def find(self, given: Given) -> int | None:
        """The number of the sentence, None if there is none."""
        same = self._numbers.get(_letters(given.words), [])
        free = [number for number in same if number not in self._found]
        found = given.number if given.number in same else next(iter(free), None)
        if found is not None:
            self._found.add(found)
        return found

    def spans(self, number: int, given: Given) -> list[Span]:
        """The mentions that are looked for, in tokens of the pool."""
        theirs, ours = _places(given.words), _places(self.pool.words(number)[0])
        starts = {start: token for token, (start, end) in enumerate(ours) if start < end}
        ends = {end: token + 1 for token, (start, end) in enumerate(ours) if start < end}
        found = []
        for start, end, label in given.spans or ():
            if label not in self.pool.labels:
                continue
            first, last = theirs[start][0], theirs[end - 1][1]
            if first not in starts or last not in ends:
                text = " ".join(given.words[start:end])
                message = f"{label} {text!r} does not begin and end where tokens do."
                raise SpanError(message, [Span(start, end, label)])
            found.append(Span(starts[first], ends[last], label))
        return found


def _letters(words: Sequence[str]) -> str:
    return "".join("".join(words).split())


def _places(words: Sequence[str]) -> list[tuple[int, int]]:
    """Where words are in their text without white space."""
    found, at = [], 0
    for word in words:
        size = len("".join(word.split()))
        found.append((at, at + size))
        at += size
    return found
