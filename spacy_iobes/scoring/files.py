"""Score column files, part by part, in little memory."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from ..codes.parse import refusal, validate_many
from ..codes.policy import get_policy
from ..codes.scheme import get_scheme
from ..codes.tag_columns import ViolationColumns
from ..codes.violation import Violation
from ..corpus.conll import Part
from ..corpus.pairs import Pair
from ..errors import MalformedTagsError
from ..span import Span
from .counts import Counts
from .matching import Kept, Matched
from .mistakes import Mistake, mistakes
from .report import Report
from .sides import Side, match_sides
from .signature import Signature

ALL = sys.maxsize  # mistakes


@dataclass(frozen=True)
class Sentence:
    """A sentence of two files, its number counted from 0, and the spans of both sides."""

    number: int
    tokens: tuple[str, ...]
    gold: tuple[Span, ...]
    predicted: tuple[Span, ...]


@dataclass(frozen=True)
class Located:
    """A mistake with its sentence, which mistakes share, and its lines in both files."""

    mistake: Mistake
    sentence: Sentence
    gold_line: int
    predicted_line: int


@dataclass(frozen=True, eq=False)
class FileReport(Report):
    """A score of files, with as many of the mistakes as were asked for."""

    located: tuple[Located, ...] = ()


class Refused:
    """The violations of one side that its policy refuses: how many, and at most `limit` of them."""

    def __init__(self, side: str, option: str, limit: int = ALL):
        self.side = side
        self.option = option
        self.limit = limit
        self.total = 0
        self.violations: list[Violation] = []

    @classmethod
    def gold(cls) -> Refused:
        """Those of the gold tags."""
        return cls("gold tags", "--gold-repair")

    @classmethod
    def predictions(cls, limit: int = ALL) -> Refused:
        """Those of the predictions."""
        return cls("predictions", "--repair", limit)

    def add(self, part: Part, found: ViolationColumns) -> None:
        """Add those of one more part."""
        self.total += found.total
        self.violations += islice(part.located(found), self.limit - len(self.violations))

    def advice(self) -> str:
        """How many there are, and what to do about them."""
        strange = sum(violation.kind == "unreadable" for violation in self.violations)
        text = f"{self.total:,} violation{'s' * (self.total != 1)} in the {self.side}. "
        text += "Is it another scheme (see 'check')?"
        if strange < self.total:
            text += f" If not, name a policy for the {self.side} ({self.option}): see 'schemes'."
        if strange:
            text += f" No policy repairs tags that cannot be read ({strange:,})."
        return text


class PairScorer:
    """Scores pair after pair under one recipe.

    What a policy refuses is collected to the last line, then raised by `report`; `count_refused` is
    for those who only want to know how many predictions it refuses. `keep_matched` is for tests of
    significance, and at most `locate` mistakes are kept with their sentences.
    """

    def __init__(
        self,
        signature: Signature,
        keep_matched: bool = False,
        locate: int = 0,
        count_refused: bool = False,
    ):
        self.signature = signature
        self.keep_matched = keep_matched
        self.locate = locate
        self.scheme = get_scheme(signature.scheme)
        self.policies = get_policy(signature.gold), get_policy(signature.repair)
        self.counts = Counts.none()
        self.kept: list[Kept] = []
        self.located: list[Located] = []
        self.refused_gold = Refused.gold()
        self.refused = Refused.predictions(0 if count_refused else ALL)

    def add(self, pair: Pair) -> None:
        """Score one more pair of parts."""
        sides = [Side(part.tags, policy, self.scheme) for part, policy in zip(pair, self.policies)]
        for part, side, refused in zip(pair, sides, (self.refused_gold, self.refused)):
            if side.policy.refuses:
                refused.add(part, validate_many(part.tags, self.scheme))
        if self.refused_gold.total or self.refused.total:
            return
        for part, side in zip(pair, sides):
            with part.locating():
                side.read()
        matched, counts = match_sides(*sides)
        wanted = self.locate - len(self.located)
        if wanted > 0:
            self.located += located(matched, pair, self.counts.sentences, wanted)
        if self.keep_matched:
            self.kept.append(Kept.of(matched))
        self.counts += counts

    def report(self) -> FileReport:
        """The score of all pairs."""
        if self.refused_gold.total or self.refused.total:
            raise self._refusal()
        self.counts.require_annotation()
        located = tuple(self.located)
        return FileReport(self.signature, self.counts, tuple(self.kept), located=located)

    def _refusal(self) -> MalformedTagsError:
        """The error that says which side is at fault, and which option names its policy."""
        sides = [side for side in (self.refused_gold, self.refused) if side.violations]
        error = refusal(self.scheme, [each for side in sides for each in side.violations])
        error.advice = " ".join(side.advice() for side in sides)
        return error


def score_pairs(pairs: Iterable[Pair], scorers: Sequence[PairScorer]) -> None:
    """Score what `paired` or `both_columns` reads, under several recipes at once."""
    for pair in pairs:
        for scorer in scorers:
            scorer.add(pair)


def located(matched: Matched, pair: Pair, before: int, limit: int) -> Iterator[Located]:
    """The first mistakes of a part, whose first sentence is number `before`, with their places."""
    gold, predicted = pair
    sentence = Sentence(-1, (), (), ())
    for mistake in mistakes(matched, before, limit):
        s = mistake.sentence - before
        if mistake.sentence != sentence.number:
            spans = tuple(matched.gold[s]), tuple(matched.predicted[s])
            sentence = Sentence(mistake.sentence, gold.tokens(s), *spans)
        start = (mistake.gold or mistake.predicted or (0,))[0]
        yield Located(mistake, sentence, gold.number(s, start), predicted.number(s, start))
