"""Score two sources of annotated sentences, part by part, in little memory."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..codes.known import Known
from ..codes.parse import refusal
from ..codes.policy import get_policy
from ..codes.scheme import get_scheme
from ..codes.span_columns import SpanColumns
from ..codes.tag_columns import ViolationColumns
from ..codes.violation import Violation
from ..corpus.findings import NO_SPANS, Finding
from ..corpus.mentions import Mentions
from ..corpus.sentences import Sentences
from ..errors import MalformedTagsError
from ..names import counted
from ..span import Span
from .counts import Counts, count
from .matching import UNPLACED, Kept, Matched, match
from .mistakes import Mistake, mistakes
from .nested import NestedCounts
from .report import Report
from .sides import code_alike, compare_tags
from .signature import OFFSETS, SPANS, Signature

ALL = sys.maxsize  # mistakes
CHARACTERS = OFFSETS[1]
Placed = Sentences | Mentions


@dataclass(frozen=True)
class Sentence:
    """A sentence of two files, its number counted from 0, and the spans of both sides.

    Its tokens have blanks `between` them, or are characters, and have them behind themselves.
    """

    number: int
    tokens: tuple[str, ...]
    gold: tuple[Span, ...]
    predicted: tuple[Span, ...]
    between: str = " "

    def text(self, start: int, end: int) -> str:
        """Return the text of a span."""
        return self.between.join(self.tokens[start:end]).strip()


@dataclass(frozen=True)
class Located:
    """A mistake with its sentence, which mistakes share, and where it is in both files.

    Files without lines have the line 0; the places say the document and its token there.
    """

    mistake: Mistake
    sentence: Sentence
    gold_line: int
    predicted_line: int
    gold_place: str
    predicted_place: str

    @property
    def texts(self) -> list[str | None]:
        """The texts of the gold span and of the predicted one, if there are such."""
        spans = self.mistake.gold, self.mistake.predicted
        return [None if span is None else self.sentence.text(*span[:2]) for span in spans]

    def as_dict(self) -> dict[str, Any]:
        """Return the mistake as plain values."""
        return {
            **vars(self.mistake),
            **dict(zip(("gold_text", "predicted_text"), self.texts)),
            "gold_line": self.gold_line or None,
            "predicted_line": self.predicted_line or None,
            "gold_place": self.gold_place,
            "predicted_place": self.predicted_place,
        }


@dataclass(frozen=True, eq=False)
class FileReport(Report):
    """A score of files, with as many of the mistakes as were asked for.

    `unplaced` are the gold mentions that are no spans of tokens, and count as missed.
    """

    located: tuple[Located, ...] = ()
    unplaced: tuple[Finding, ...] = ()

    def mistake_lines(self, name: str) -> Iterator[str]:
        """Yield the mistakes of a file in words, and how many there are of each kind."""
        for located in self.located:
            yield mistake_line(located)
        total = sum(self.kinds.values())
        if more := total - len(self.located):
            yield f"{name}: and {more:,} more (--limit 0 shows all)"
        kinds = sorted(self.kinds.items(), key=lambda kind: -kind[1])
        said = ", ".join(f"{count:,} {kind}" for kind, count in kinds if count)
        yield f"{name}: {counted(total, 'mistake')}{f' ({said})' if said else ''}"

    def mistakes_data(self, name: str) -> dict[str, Any]:
        """Return the mistakes of a file as plain values, and each sentence that they are in."""
        sentences = {found.sentence.number: found.sentence.tokens for found in self.located}
        return {
            "file": name,
            "signature": str(self.signature),
            "total": sum(self.kinds.values()),
            "kinds": self.kinds,
            "mistakes": [found.as_dict() for found in self.located],
            "sentences": [{"sentence": n, "tokens": tokens} for n, tokens in sentences.items()],
        }


def mistake_line(located: Located) -> str:
    """Return a mistake in words, behind its place in the predictions."""
    mistake, texts = located.mistake, located.texts
    sides = [
        f"{side} {span[2]} {text!r}"
        for side, span, text in zip(("gold", "predicted"), (mistake.gold, mistake.predicted), texts)
        if span is not None
    ]
    return f"{located.predicted_place}: {mistake.kind}: {', '.join(sides)}"


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
        """Return the refused violations of gold, none so far."""
        return cls("gold tags", "--gold-policy")

    @classmethod
    def predictions(cls, limit: int = ALL) -> Refused:
        """Return the refused violations of predictions, none so far."""
        return cls("predictions", "--policy", limit)

    def add(self, part: Sentences, found: Iterable[ViolationColumns]) -> None:
        """Add those of one more part, layer by layer."""
        for layer in found:
            self.total += layer.total
            self.violations += islice(part.located(layer), self.limit - len(self.violations))

    def advice(self) -> str:
        """How many there are, and what to do about them."""
        strange = sum(violation.kind == "unreadable" for violation in self.violations)
        text = f"{self.total:,} violation{'s' * (self.total != 1)} in the {self.side}. "
        text += "Is it another scheme ('validate' says which fit)?"
        if strange < self.total:
            text += (
                f" If not, name a policy for the {self.side} ({self.option}): see 'info policies'."
            )
        if strange:
            text += f" No policy repairs tags that cannot be read ({strange:,})."
        return text


class PairScorer:
    """Scores pair after pair of sentences under one recipe.

    What a policy refuses is collected to the last part, then raised by `report`; `count_refused` is
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
        self.scheme = "" if signature.scheme == SPANS else get_scheme(signature.scheme)
        self.policies = get_policy(signature.gold_policy), get_policy(signature.policy)
        self.counts = Counts.none()
        self.nested = NestedCounts.none()
        self.overlapping = False
        self.kept: list[Kept] = []
        self.located: list[Located] = []
        self.unplaced: list[Finding] = []
        self.findings: dict[str, list[Finding]] = {}
        self.refused_gold = Refused.gold()
        self.refused = Refused.predictions(0 if count_refused else ALL)
        self.schemes: tuple[str, str] | None = None

    def add(
        self, gold: Sentences, predicted: Sentences, compared: dict[str, Any] | None = None
    ) -> dict[str, Any] | None:
        """Score one more pair of parts, which have the same tokens.

        Return how their tags compare, which another scorer of the same pair may take.
        """
        if self.schemes is None:
            self.schemes = self._scheme_of(gold), self._scheme_of(predicted)
        sides = zip((gold, predicted), self.policies, (self.refused_gold, self.refused))
        for part, policy, refused in sides:
            if policy.refuses and (found := part.found(self.scheme)):
                refused.add(part, found)
        if self.refused_gold.total or self.refused.total:
            return compared
        if compared is None:
            compared = self._compared(gold, predicted)
        truth, guess = (
            part.known(self.scheme, policy)
            for part, policy in zip((gold, predicted), self.policies)
        )
        sizes = self._sizes(gold, truth, guess)
        sources: tuple[Placed, Placed] = gold, predicted
        if self.signature.offsets == CHARACTERS:
            first, second = sources = Mentions.of(gold), Mentions.of(predicted)
            gold, predicted = first.sentences(truth), second.sentences(guess)
            truth, guess = gold.known(), predicted.known()
        guess = guess.regrouped(predicted.offsets, gold.offsets)
        lost = [found for found in gold.findings if found.kind in NO_SPANS]
        spans = with_unplaced(truth.spans, lost) if lost else truth.spans
        matched = match(spans, guess.judged_by(truth, gold.offsets))
        wanted = self.locate - len(self.located)
        if wanted > 0:
            pair = gold, predicted
            self.located += located(matched, pair, sources, self.counts.sentences, wanted)
        if self.keep_matched:
            self.kept.append(Kept.of(matched))
        self.unplaced += lost
        for part, known in ((gold, truth), (predicted, guess)):
            if findings := part.every_finding(known):
                self.findings.setdefault(part.name, []).extend(findings)
        self.counts += count(matched, **sizes, **compared)
        self._add_nested(matched)
        return compared

    def _scheme_of(self, part: Sentences) -> str:
        """Return the name of the scheme that the tags of a source have, if it has tags."""
        if part.given is not None:
            return SPANS
        return part.named_scheme(self.scheme).name

    def _sizes(self, gold: Sentences, truth: Known, guess: Known) -> dict[str, int]:
        """Count tokens and violations."""
        return {
            "tokens": gold.tokens,
            "missing": 0 if truth.missing is None else int(truth.missing.sum()),
            "untagged": 0 if guess.missing is None else int(guess.missing.sum()),
            "violations": guess.violations,
            "gold_violations": truth.violations,
        }

    def _compared(self, gold: Sentences, predicted: Sentences) -> dict[str, Any]:
        """Compare tags where both sides have one layer of one scheme, and the same tokens."""
        assert self.schemes is not None, "the first pair has told the schemes"
        if self.signature.offsets == CHARACTERS:
            return {"right_tokens": None, "tagged": None}
        if len(gold.tags) == len(predicted.tags) == 1 and self.schemes[0] == self.schemes[1]:
            return compare_tags(*code_alike(gold.tags[0], predicted.tags[0]))
        return {"right_tokens": None, "tagged": None}

    def _add_nested(self, matched: Matched) -> None:
        """Count mentions that overlap; where there are none at all, nothing is said of them."""
        if not self.overlapping:
            self.overlapping = not (matched.gold.disjoint and matched.predicted.disjoint)
        self.nested += NestedCounts.of(matched)

    def report(self) -> FileReport:
        """Return the score of all pairs."""
        if self.refused_gold.total or self.refused.total:
            raise self._refusal()
        self.counts.require_annotation()
        return FileReport(
            self.signature.of_schemes(*(self.schemes or (self.signature.scheme,) * 2)),
            self.counts,
            tuple(self.kept),
            self.nested if self.overlapping else None,
            tuple(self.located),
            tuple(self.unplaced),
        )

    def _refusal(self) -> MalformedTagsError:
        """The error that says which side is at fault, and which option names its policy."""
        sides = [side for side in (self.refused_gold, self.refused) if side.violations]
        scheme = get_scheme(self.scheme or "bio")
        error = refusal(scheme, [each for side in sides for each in side.violations])
        error.advice = " ".join(side.advice() for side in sides)
        return error


def score_pairs(
    pairs: Iterable[tuple[Sentences, Sentences]], scorers: Sequence[PairScorer]
) -> None:
    """Score pairs of sentences with the same tokens, under several recipes at once."""
    for pair in pairs:
        compared: dict[str, Any] | None = None
        for scorer in scorers:
            compared = scorer.add(*pair, compared)


def with_unplaced(spans: SpanColumns, lost: Sequence[Finding]) -> SpanColumns:
    """Return gold spans with those that are no spans of tokens, which no prediction can equal."""
    places = enumerate(lost, UNPLACED)
    return spans.with_spans([(x.sentence, Span(at, at + 1, x.label)) for at, x in places])


def located(
    matched: Matched,
    pair: tuple[Sentences, Sentences],
    sources: tuple[Placed, Placed],
    before: int,
    limit: int,
) -> Iterator[Located]:
    """The first mistakes of a part, whose first sentence is number `before`, with their places.

    The tokens of the `pair` are those of the `sources`, or their characters.
    """
    gold = pair[0]
    characters = isinstance(sources[0], Mentions)
    sentence = Sentence(-1, (), (), ())
    for mistake in mistakes(matched, before, limit):
        s = mistake.sentence - before
        begin, end = gold.offsets[s : s + 2].tolist()
        if mistake.sentence != sentence.number:
            sides = (matched.gold[s], matched.predicted[s])
            spans = [tuple(span for span in side if span.start < UNPLACED) for side in sides]
            stop = max(
                [
                    end,
                    *(begin + span.end for side in sides for span in side if span.start < UNPLACED),
                ]
            )
            strings = gold.words.spaced if characters else gold.words.strings
            between = "" if characters else " "
            tokens = tuple(strings(begin, stop))
            sentence = Sentence(mistake.sentence, tokens, spans[0], spans[1], between)
        start = (mistake.gold or mistake.predicted or (0,))[0]
        at = min(begin + max(start, 0), end - 1)
        first, second = (part.line_of(at) or 0 for part in pair)
        yield Located(mistake, sentence, first, second, *(each.place(at) for each in sources))
