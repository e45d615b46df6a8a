"""Two systems on the same gold, as one HTML page: who is right where, sentence by sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .alone import alone
from .files import FileReport, Located, Sentence
from .mistakes import Simple
from .page import MATCH_WORDS, METRIC_WORDS, as_script, headline, in_words, moved
from .signature import AVERAGES
from .tables import percent

SYSTEMS = ("A", "B")
WRONG = ("only A wrong", "only B wrong", "both wrong")
HEADER = ("label", "gold", "only A right", "only B right", "A \u2212 B", *SYSTEMS)

Reports = tuple[FileReport, FileReport]
Key = tuple[int, Simple, bool, int]
"""Sentence, span, whether a system made it up, and how many equal ones came before."""


@dataclass(frozen=True)
class Case:
    """A gold span that a system has not found as it is, or a span that a system made up.

    `found` is what both systems have in its place, `kinds` how each of them is wrong: "" is right.
    A mistake is in one case only: where one system makes up a span that the other has in the place
    of a gold span, the other's mistake is in the case of that gold span.
    """

    sentence: int
    gold: Simple | None
    found: tuple[Simple | None, ...]
    kinds: tuple[str, ...]
    lines: tuple[int, ...]

    @classmethod
    def of(cls, key: Key, mistakes: Sequence[Located | None]) -> Case:
        """Return the case of the mistakes that both systems make with one span, or do not make."""
        gold = None if key[2] else key[1]
        return cls(
            key[0],
            gold,
            tuple(gold if each is None else each.mistake.predicted for each in mistakes),
            tuple("" if each is None else each.mistake.kind for each in mistakes),
            (
                max(each.gold_line for each in mistakes if each is not None),
                *(0 if each is None else each.predicted_line for each in mistakes),
            ),
        )

    @property
    def wrong(self) -> str:
        """Which system is wrong, one of WRONG."""
        return WRONG[2] if all(self.kinds) else WRONG[0 if self.kinds[0] else 1]

    @property
    def label(self) -> str:
        """The label of the span that the case is about."""
        return next(span for span in (self.gold, *self.found) if span is not None)[2]


def cases(reports: Reports) -> list[Case]:
    """Return all spans that one system or both have wrong, each mistake once, in text order.

    Both reports must have located all of their mistakes.
    """
    held: dict[Key, list[Located | None]] = {}
    for system, report in enumerate(reports):
        if len(report.located) < sum(report.kinds.values()):
            raise ValueError(
                "Systems are compared by all of their mistakes: score with locate=ALL."
            )
        before: Counter[tuple[int, Simple, bool]] = Counter()
        for located in report.located:
            mistake = located.mistake
            span = mistake.gold or mistake.predicted
            assert span is not None, "a mistake has a span on one side"
            one = mistake.sentence, span, mistake.gold is None
            held.setdefault((*one, before[one]), [None, None])[system] = located
            before[one] += 1
    return [Case.of(key, held[key]) for key in sorted(held)]


def systems_page(
    reports: Reports,
    title: str,
    tests: Sequence[tuple[str, str]],
    found: Sequence[Case],
    limit: int,
) -> str:
    """Return the page of two systems, with the first of their cases.

    `tests` are names and values that say whether the difference is more than chance.
    """
    data = as_script(systems_data(reports, title, tests, found, limit))
    return alone(__package__, title, data=data)


def systems_data(
    reports: Reports,
    title: str,
    tests: Sequence[tuple[str, str]],
    found: Sequence[Case],
    limit: int,
) -> dict[str, Any]:
    """Return everything that the page shows; figures are text, as other formats print them."""
    signature = reports[0].signature
    labels = sorted({label for report in reports for label in report.counts.labels})
    metric = METRIC_WORDS[signature.metric]
    return {
        "title": title,
        "score": moved(reports[1].value, reports[0].value),
        "headline": f"A \u2212 B: {headline(signature)}",
        "signature": " and ".join(dict.fromkeys(str(report.signature) for report in reports)),
        "recipe": in_words(signature),
        "facts": [
            *((f"{metric} of {name}", percent(r.value)) for name, r in zip(SYSTEMS, reports)),
            *tests,
            *((name, f"{number:,}") for name, number in tallies(reports, found).items()),
        ],
        "labels": labels,
        "match": f"{MATCH_WORDS[signature.match]}; the bars are {metric}",
        "scores": {
            "header": HEADER,
            "rows": list(rows_of(reports, labels, found)),
            "rules": [len(labels)],
            "bars": len(SYSTEMS),
        },
        "nested": any(report.nested is not None for report in reports),
        "sides": ("gold", *SYSTEMS),
        "kinds": WRONG,
        "unit": "place",
        **cases_data(reports, found, limit),
    }


def tallies(reports: Reports, found: Sequence[Case]) -> dict[str, int]:
    """Count the gold spans that both systems find, and those that each of them makes up."""
    missed = Counter(case.wrong for case in found if case.gold is not None)
    made_up = Counter(case.wrong for case in found if case.gold is None)
    gold = reports[0].counts.totals[2]
    return {
        "gold spans": gold,
        "both right": gold - missed.total(),
        "only A right": missed[WRONG[1]],
        "only B right": missed[WRONG[0]],
        "neither right": missed[WRONG[2]],
        "spurious in both": made_up[WRONG[2]],
        "spurious in A alone": made_up[WRONG[0]],
        "spurious in B alone": made_up[WRONG[1]],
    }


def rows_of(
    reports: Reports, labels: Sequence[str], found: Sequence[Case]
) -> Iterator[tuple[str, ...]]:
    """Yield a row of HEADER for each label, then for each average."""
    metric = reports[0].signature.metric
    right = Counter((case.label, case.wrong) for case in found if case.gold is not None)
    golds = dict(zip(reports[0].counts.labels, reports[0].counts.exact[:, 2].tolist()))
    for label in labels:
        figures = (report.per_label.get(label) for report in reports)
        alone = (right[label, WRONG[1]], right[label, WRONG[0]])
        values = [None if each is None else getattr(each, metric) for each in figures]
        yield label, *map(str, (golds.get(label, 0), *alone)), *compared(values)
    for average in AVERAGES:
        values = [getattr(getattr(report, average), metric) for report in reports]
        yield f"{average} average", "", "", "", *compared(values)


def compared(values: Sequence[float | None]) -> tuple[str, ...]:
    """Return the difference of two figures, and both."""
    a, b = values
    return moved(b, a), percent(a), percent(b)


def cases_data(reports: Reports, found: Sequence[Case], limit: int) -> dict[str, Any]:
    """Return the first cases, and the sentences they are in with the spans of all sides."""
    shown = found[:limit]
    numbers = {number: place for place, number in enumerate({case.sentence: 0 for case in shown})}
    known = [{x.sentence.number: x.sentence for x in report.located} for report in reports]
    return {
        "total": len(found),
        "sentences": [_sentence([side.get(number) for side in known]) for number in numbers],
        "mistakes": [_case(case, numbers[case.sentence]) for case in shown],
    }


def _sentence(sides: Sequence[Sentence | None]) -> dict[str, Any]:
    """A sentence with all spans; a system without mistakes there has those of gold."""
    longest = max((side for side in sides if side is not None), key=lambda side: len(side.tokens))
    spans = (longest.gold if side is None else side.predicted for side in sides)
    return {
        "number": longest.number + 1,
        "tokens": longest.tokens,
        "between": longest.between,
        "gold": longest.gold,
        **dict(zip(SYSTEMS, spans)),
    }


def _case(case: Case, place: int) -> dict[str, Any]:
    return {
        "kind": case.wrong,
        "sentence": place,
        "gold": case.gold,
        **dict(zip(SYSTEMS, case.found)),
        "said": dict(zip(SYSTEMS, case.kinds)),
        "lines": case.lines,
    }
