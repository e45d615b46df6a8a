"""Annotation from elsewhere into a session: sentences are found by number or by what they say."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..codes.known import Known
from ..codes.policy import Policy
from ..codes.scheme import Scheme
from ..corpus.corpus import Corpus, accepted
from ..corpus.findings import NO_SPANS, Finding
from ..corpus.formats.columns import ColumnOrigin
from ..corpus.json_records import ANSWERS
from ..corpus.sentences import Sentences
from ..errors import ColumnError, CorpusError, FileError, SpanError
from ..names import counted
from ..span import Span
from .ledger import Answer, Decision
from .pool import Pool
from .session import Session

TOKEN_AND_TAG = 2  # columns
SHOWN = 10  # sentences that a file has and the session has not
LOST = (*NO_SPANS, "empty")
"""Findings of mentions that have no tokens of their own."""


class Given(NamedTuple):
    """A sentence of a file; its mentions are None if it is not annotated, or only in part.

    `number` is that of the sentence, if the file tells, `answer` None if nobody has answered.
    `lost` are mentions that are no spans of tokens.
    """

    place: str
    words: list[str]
    spans: list[Span] | None
    answer: Answer | None
    number: int | None
    lost: Sequence[Finding]


@dataclass
class Intake:
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

    def __str__(self) -> str:
        words = [f"{self.new:,} new", f"{self.changed:,} changed", f"{self.same:,} as before"]
        words += [f"{self.unannotated:,} not annotated"] * bool(self.unannotated)
        return ", ".join(words)

    def notes(self) -> Iterator[str]:
        """Yield what was not taken, and where the first sentences of it are."""
        if self.passed:
            passed = ", ".join(f"{label} {count:,}" for label, count in self.passed.items())
            yield f"mentions of other labels passed over: {passed}"
        other = "left as answered before, since the file has only other labels there"
        titles = {"not in the corpus": self.unmatched, "not usable": self.unusable}
        for title, places in {**titles, other: self.kept}.items():
            if places:
                count = counted(len(places), "sentence")
                yield "\n  ".join([f"{count} {title}:", *places[:SHOWN]])


def take_file(
    session: Session,
    corpus: Corpus,
    scheme: str | Scheme = "",
    policy: str | Policy = "raise",
    as_read: bool = False,
) -> Intake:
    """Take the answers of a file into a session; a second time changes nothing.

    A file with mentions, but none of a label that the session looks for, is refused, unless its
    sentences are to count `as_read`; so do then those that a model has predicted.
    """
    done, answers = Intake(), dict[int, tuple[Answer, tuple[Span, ...]]]()
    finder, decided, wanted, passed = Finder(session.pool), session.decided(), 0, Counter[str]()
    tags = scheme or corpus.scheme, policy
    for given in given_sentences(corpus, tags, session.settings.nested, as_read):
        number = finder.find(given)
        if given.answer is None or (given.spans is None and given.answer == "accept"):
            done.unannotated += 1
            continue
        wanted += any(label in session.pool.labels for label in _labels(given))
        if number is None:
            done.unmatched.append(f"{given.place}: {' '.join(given.words[:8])!r}")
            continue
        if given.answer == "reject":
            answers[number] = given.answer, ()
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
            answers[number] = given.answer, found
    done.passed = dict(sorted(passed.items()))
    if passed and not wanted and not as_read:
        raise _none_wanted(corpus.path, session.pool.labels, done.passed)
    done.new, done.changed, done.same = session.add(answers)
    return done


def given_sentences(
    corpus: Corpus, tags: tuple[str | Scheme, str | Policy], nested: bool, as_read: bool
) -> Iterator[Given]:
    """Yield the sentences of a file. Mentions within tokens split these, so that none is lost."""
    how = corpus.options
    if how.misaligned == "count":
        corpus = replace(corpus, options=replace(how, misaligned="split"))
    for part, known in accepted(corpus, *tags):
        if nested and not how.layers:
            _require_one_layer(part)
        yield from _of_part(part, known, as_read)


def _require_one_layer(part: Sentences) -> None:
    """Raise for columns of which some might be layers of tags that nobody has named."""
    if isinstance(part.origin, ColumnOrigin) and len(part.tags) == 1:
        width = part.origin.part.layout.width
        if width > TOKEN_AND_TAG:
            raise ColumnError(
                f"{part.name} has {width} columns, and mentions may nest: name each column that "
                "holds tags (--layer 1 --layer 2, for example; --layer -1 is the last).",
                part.name,
            )


def _of_part(part: Sentences, known: Known, as_read: bool) -> Iterator[Given]:
    """Yield the sentences of a part of a file."""
    every = [flags for flags in (known.missing, *known.missing_for.values()) if flags is not None]
    holes = np.logical_or.reduce([np.zeros(part.tokens, dtype=bool), *every])
    wrong = known.wrong or part.nothing.spans
    lost = defaultdict[int, list[Finding]](list)
    for found in part.findings:
        lost[found.sentence] += [found] * (found.kind in LOST)
    bounds = pairwise(part.offsets.tolist())
    for sentence, ((begin, end), spans, no) in enumerate(zip(bounds, known.spans, wrong)):
        info, missing = part.info_of(sentence), holes[begin:end]
        meta = more if isinstance(more := info.get("meta"), dict) else {}
        number, answer = meta.get("sentence", info.get("id")), info.get("answer", "accept")
        if missing.all() and not spans and (no or meta.get("status") == "rejected"):
            answer = "reject"
        elif answer is None and as_read:
            answer = "accept"
        place = part.place(begin) if begin < end else part.name
        if answer not in (None, *ANSWERS):
            message = f"{place}: unknown answer {str(answer)[:60]!r}. Known: {', '.join(ANSWERS)}."
            raise FileError(message, part.name, part.line_of(begin))
        yield Given(
            place,
            part.words.strings(begin, end),
            None if missing.any() else sorted(spans),
            None if answer in (None, "ignore") else answer,
            number if type(number) is int else None,
            lost[sentence],
        )


def _labels(given: Given) -> list[str]:
    return [span.label for span in given.spans or ()] + [lost.label for lost in given.lost]


def _is_answered(last: Decision | None) -> bool:
    """Return whether somebody said more of a sentence than that it has no mention."""
    return last is not None and (last.answer == "reject" or bool(last.spans))


def _none_wanted(path: str, labels: Sequence[str], passed: Mapping[str, int]) -> CorpusError:
    found = ", ".join(f"{label} {count:,}" for label, count in passed.items())
    return CorpusError(
        f"{path}: mentions of {found}, but none of {', '.join(labels)}, which the session looks "
        "for. Nothing was taken. Rename the labels in the file; or if its sentences were read and "
        "have no such mention, say so (--set as-read)."
    )


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
