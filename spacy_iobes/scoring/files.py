"""Score column files, part by part, in little memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..codes.parse import refusal, validate_many
from ..codes.policy import get_policy
from ..codes.scheme import get_scheme
from ..codes.violation import Violation
from ..corpus.pairs import Pair
from .counts import Counts
from .matching import Kept
from .report import Mistake, Report, Side, match_sides, mistakes
from .signature import Signature


@dataclass(frozen=True)
class Located:
    """A mistake with the tokens of its sentence, and its lines in both files."""

    mistake: Mistake
    tokens: tuple[str, ...]
    gold_line: int
    predicted_line: int


@dataclass(frozen=True, eq=False)
class FileReport(Report):
    """A score of files; the mistakes are kept if they were asked for."""

    located: tuple[Located, ...] = ()


class PairScorer:
    """Scores pair after pair under one recipe.

    What a policy refuses is collected to the last line, then raised by `report`.
    """

    def __init__(self, signature: Signature, keep_matched: bool, keep_mistakes: bool):
        self.signature = signature
        self.keep_matched = keep_matched
        self.keep_mistakes = keep_mistakes
        self.scheme = get_scheme(signature.scheme)
        self.policies = get_policy(signature.gold), get_policy(signature.repair)
        self.counts = Counts.none()
        self.kept: list[Kept] = []
        self.located: list[Located] = []
        self.refused: list[Violation] = []

    def add(self, pair: Pair) -> None:
        """Score one more pair of parts."""
        sides = [Side(part.tags, policy, self.scheme) for part, policy in zip(pair, self.policies)]
        for part, side in zip(pair, sides):
            if side.policy.refuses:
                self.refused += part.located(validate_many(part.tags, self.scheme))
        if self.refused:
            return
        for part, side in zip(pair, sides):
            with part.locating():
                side.read()
        matched, counts = match_sides(*sides)
        before = self.counts.sentences
        if self.keep_mistakes:
            found = mistakes(matched, before)
            self.located += [_located(mistake, pair, before) for mistake in found]
        if self.keep_matched:
            self.kept.append(Kept.of(matched))
        self.counts += counts

    def report(self) -> FileReport:
        """The score of all pairs."""
        if self.refused:
            raise refusal(self.scheme, self.refused)
        return FileReport(self.signature, self.counts, tuple(self.kept), tuple(self.located))


def score_pairs(
    pairs: Iterable[Pair],
    signatures: Sequence[Signature],
    *,
    keep_matched: bool = False,
    keep_mistakes: bool = False,
) -> list[PairScorer]:
    """Score what `paired` or `both_columns` reads under several recipes at once."""
    scorers = [PairScorer(signature, keep_matched, keep_mistakes) for signature in signatures]
    for pair in pairs:
        for scorer in scorers:
            scorer.add(pair)
    return scorers


def _located(mistake: Mistake, pair: Pair, before: int) -> Located:
    gold, predicted = pair
    sentence = mistake.sentence - before
    begin, end = gold.tags.offsets[sentence : sentence + 2]
    tokens = tuple(gold.flat_token(at) for at in range(begin, end))
    start = (mistake.gold or mistake.predicted or (0,))[0]
    return Located(mistake, tokens, gold.number(sentence, start), predicted.number(sentence, start))
