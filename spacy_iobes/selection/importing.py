"""Annotation from elsewhere into a session: sentences are found by number or by what they say."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..corpus.conll import Columns
from ..corpus.given import Given, given_sentences
from ..corpus.nested_corpus import NestedReading
from ..errors import CorpusError, SpanError
from ..span import Span
from .ledger import Answer, Decision
from .pool import Pool
from .session import Session

ANSWERS: dict[str, Answer] = {"accept": "accept", "reject": "reject"}


@dataclass
class Imported:
    """What came of a file: sentences that are new, changed, and as they were before.

    Others are not annotated, or left out: `unmatched`, `unusable` and `kept` say where. `passed`
    counts mentions of labels that are neither looked for nor known where they are; a sentence with
    no mention but these is `kept` as it was answered before.
    """

    new: int = 0
    changed: int = 0
    same: int = 0
    unannotated: int = 0
    unmatched: list[str] = field(default_factory=list)
    unusable: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    passed: dict[str, int] = field(default_factory=dict)

    @property
    def left_out(self) -> int:
        """How many annotated sentences were not taken."""
        return len(self.unmatched) + len(self.unusable) + len(self.kept)


def add_file(session: Session, path: str, how: NestedReading, as_read: bool = False) -> Imported:
    """Take the answers of a file into a session; a second time changes nothing.

    A file with mentions, but none of a label that the session looks for, is refused, unless its
    sentences are to count `as_read`.
    """
    done, answers = Imported(), dict[int, tuple[Answer, tuple[Span, ...]]]()
    finder, decided, wanted, passed = Finder(session.pool), session.decided(), 0, Counter[str]()
    for given in given_sentences(path, _reading(session, how)):
        answer = ANSWERS.get(given.answer)
        if answer is None or (given.spans is None and answer == "accept"):
            done.unannotated += 1
            continue
        wanted += any(label in session.pool.labels for label in _labels(given))
        number = finder.find(given)
        if number is None:
            done.unmatched.append(f"{given.place}: {' '.join(given.words[:8])!r}")
            continue
        if answer == "reject":
            answers[number] = answer, ()
            continue
        try:
            spans, others = finder.spans(number, given)
            found = session.checked(number, spans)
        except SpanError as error:
            done.unusable.append(f"{given.place}: {error}")
            continue
        passed.update(others)
        if others and not found and _is_answered(decided.get(number)):
            done.kept.append(f"{given.place}: {' '.join(given.words[:8])!r}")
        else:
            answers[number] = answer, found
    done.passed = dict(sorted(passed.items()))
    if passed and not wanted and not as_read:
        raise _none_wanted(path, session.pool.labels, done.passed)
    done.new, done.changed, done.same = session.add(answers)
    return done


def _labels(given: Given) -> list[str]:
    return [span.label for span in given.spans or ()] + [lost.label for lost in given.lost]


def _is_answered(last: Decision | None) -> bool:
    """Whether somebody said more of a sentence than that it has no mention."""
    return last is not None and (last.answer == "reject" or bool(last.spans))


def _none_wanted(path: str, labels: Sequence[str], passed: Mapping[str, int]) -> CorpusError:
    found = ", ".join(f"{label} {count:,}" for label, count in passed.items())
    return CorpusError(
        f"{path}: mentions of {found}, but none of {', '.join(labels)}, which the session looks "
        "for. Nothing was taken. Rename the labels in the file; or if its sentences were read and "
        "have no such mention, say so (--as-read)."
    )


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
        self._said = [_letters(pool.words(number)[0]) for number in range(len(pool))]
        self._free = defaultdict[str, deque[int]](deque)
        self._found = set[int]()
        for number, said in enumerate(self._said):
            self._free[said].append(number)

    def find(self, given: Given) -> int | None:
        """The number of the sentence, None if there is none."""
        said, found = _letters(given.words), given.number
        if found is None or not 0 <= found < len(self._said) or self._said[found] != said:
            free = self._free.get(said, deque())
            while free and free[0] in self._found:
                free.popleft()
            found = free[0] if free else None
        if found is not None:
            self._found.add(found)
        return found

    def spans(self, number: int, given: Given) -> tuple[list[Span], list[str]]:
        """The mentions that are looked for, in tokens of the pool, and the labels of others.

        What the pool knows already is none of both.
        """
        others = [lost.label for lost in given.lost if lost.label not in self.pool.labels]
        if len(others) < len(given.lost):
            raise SpanError(next(str(x) for x in given.lost if x.label in self.pool.labels))
        theirs, ours = _places(given.words), _places(self.pool.words(number)[0])
        starts = {start: token for token, (start, end) in enumerate(ours) if start < end}
        ends = {end: token + 1 for token, (start, end) in enumerate(ours) if start < end}
        known, found = self.pool.known(number), list[Span]()
        for start, end, label in given.spans or ():
            first, last = theirs[start][0], theirs[end - 1][1]
            span = Span(starts.get(first, -1), ends.get(last, -1), label)
            if label not in self.pool.labels:
                others += [label] * (span not in known)
            elif min(span[:2]) < 0:
                text = " ".join(given.words[start:end])
                message = f"{label} {text!r} does not begin and end where tokens do."
                raise SpanError(message, [Span(start, end, label)])
            else:
                found.append(span)
        return found, others


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
