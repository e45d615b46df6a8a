"""A score as one HTML page that needs nothing else: figures, confusion and every mistake."""

from __future__ import annotations

from collections.abc import Sequence
from json import dumps
from typing import Any

from ..codes.policy import get_policy
from .alone import alone
from .counts import MUC, MucCounts
from .files import FileReport, Located, PairScorer, Sentence
from .formats import table_of
from .mistakes import ERROR_KINDS
from .side_by_side import PolicyScore
from .signature import SPANS, Signature
from .tables import UNDEFINED, percent

METRIC_WORDS = {"f1": "F1", "precision": "Precision", "recall": "Recall"}
MATCH_WORDS = {
    "exact": "spans with the right boundaries and the right label",
    "muc-strict": "spans with the right boundaries and the right label, paired as in MUC",
    "muc-exact": "spans with the right boundaries, whatever their label",
    "muc-partial": "spans that overlap, whatever their label; wrong boundaries count half",
    "muc-type": "spans that overlap and have the right label",
}
UNSAFE = "<>&\u2028\u2029"  # in a script element, or in one of JavaScript's strings


def page(report: FileReport, policies: Sequence[PairScorer], title: str) -> str:
    """The page of a score, with as many mistakes as its report has located.

    `policies` are the scorers of the same predictions under other policies, for their table.
    """
    data = as_script(page_data(report, policies, title))
    return alone(__package__, title, data=data)


def as_script(value: Any) -> str:
    """JSON that may stand in a script element: no character of it can end or open markup."""
    text = dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in UNSAFE:
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def page_data(report: FileReport, policies: Sequence[PairScorer], title: str) -> dict[str, Any]:
    """Everything that the page shows; figures are text, as the other formats print them."""
    signature = report.signature
    scores = table_of(report)
    return {
        "title": title,
        "score": percent(report.value),
        "headline": headline(signature),
        "signature": str(signature),
        "recipe": in_words(signature),
        "facts": facts(report),
        "labels": list(report.counts.labels),
        "match": MATCH_WORDS[signature.match],
        "scores": {
            "header": scores.header,
            "rows": scores.texts(),
            "rules": scores.rules,
            "bars": 3,
        },
        "nested": report.nested is not None,
        "matches": {
            "header": ("match", *MucCounts._fields[:-1], "F1"),
            "rows": match_rows(report),
            "notes": [MATCH_WORDS[f"muc-{kind}"] for kind in MUC],
        },
        "confusion": report.counts.confusion.tolist(),
        "policies": policies_data(report, policies),
        "sides": ("gold", "predicted"),
        "kinds": ERROR_KINDS,
        "unit": "mistake",
        **mistakes_data(report),
    }


def policies_data(report: FileReport, policies: Sequence[PairScorer]) -> dict[str, Any]:
    """The figures of the headline's average and match under every policy."""
    signature = report.signature
    metric = "F1" if signature.metric == "f1" else signature.metric
    return {
        "header": ("policy", "violations", "precision", "recall", "F1", f"change of {metric}"),
        "rows": [policy_row(scorer, report) for scorer in policies],
        "notes": [get_policy(scorer.signature.policy).summary for scorer in policies],
        "chosen": signature.policy,
        "figures": f"{signature.average} average, {signature.match} match",
    }


def headline(signature: Signature) -> str:
    """What the large number is."""
    return f"{METRIC_WORDS[signature.metric]}, {signature.average} average, {signature.match} match"


def in_words(signature: Signature) -> str:
    """A signature for those who have not met one."""
    metric = METRIC_WORDS[signature.metric]
    text = f"{metric} ({signature.average} average) of {MATCH_WORDS[signature.match]}. "
    if signature.scheme == SPANS:
        return f"{text}The spans were given as such. Scored by spacy-iobes {signature.version}."
    text += f"Tags are read as {signature.scheme}. "
    for side, name in (("predictions", signature.policy), ("gold tags", signature.gold_policy)):
        text += f"Malformed {side}: {name} ({get_policy(name).summary}). "
    return f"{text}Scored by spacy-iobes {signature.version}."


def facts(report: FileReport) -> list[tuple[str, str]]:
    """Names and values of what was counted."""
    counts = report.counts
    correct, predicted, gold = counts.totals
    numbers = {
        "gold spans": gold,
        "predicted spans": predicted,
        "correct": correct,
        "sentences": counts.sentences,
        "tokens": counts.tokens,
    }
    absent = {
        "tokens not annotated in gold": counts.missing,
        "tokens not annotated in predictions": counts.untagged,
    }
    numbers |= {name: number for name, number in absent.items() if number}
    repaired = {
        "violations repaired in predictions": counts.violations,
        "violations repaired in gold": counts.gold_violations,
    }
    counted = [(name, f"{number:,}") for name, number in numbers.items()]
    if report.signature.scheme == SPANS:  # there were no tags to compare or to repair
        return counted
    return [
        *counted,
        ("% token accuracy", percent(counts.accuracy)),
        *((name, f"{number:,}") for name, number in repaired.items()),
    ]


def match_rows(report: FileReport) -> list[tuple[str, ...]]:
    """The four MUC-style matches."""
    found = ((kind, report.muc[kind]) for kind in MUC)
    return [
        (kind, *(f"{number:,}" for number in row[:7]), *map(percent, row[7:]))
        for kind, row in found
    ]


def policy_row(scorer: PairScorer, report: FileReport) -> tuple[str, ...]:
    """What one policy makes of the predictions, and how far it moves the headline."""
    found = PolicyScore.of("", scorer)
    start = found.signature.policy, f"{found.violations:,}"
    if found.report is None:
        return *start, "refused", "", "", ""
    change = moved(report.value, found.report.value)
    return *start, *map(percent, found.report.figures), change


def moved(before: float | None, after: float | None) -> str:
    """A difference with its sign; zero has none."""
    if before is None or after is None:
        return UNDEFINED
    return f"{100 * (after - before):+.2f}".replace("+0.00", "0.00").replace("-0.00", "0.00")


def mistakes_data(report: FileReport) -> dict[str, Any]:
    """The mistakes that were located, and the sentences they are in with all their spans."""
    total = sum(report.kinds.values())
    if total and not report.located:
        raise ValueError("The page shows mistakes: score with locate=ALL, or with a number.")
    sentences = {found.sentence.number: found.sentence for found in report.located}
    places = {number: place for place, number in enumerate(sentences)}
    return {
        "total": total,
        "sentences": [_sentence(sentence) for sentence in sentences.values()],
        "mistakes": [_mistake(found, places[found.sentence.number]) for found in report.located],
    }


def _sentence(sentence: Sentence) -> dict[str, Any]:
    return {**vars(sentence), "number": sentence.number + 1}


def _mistake(found: Located, place: int) -> dict[str, Any]:
    return {
        **vars(found.mistake),
        "sentence": place,
        "lines": (found.gold_line, found.predicted_line),
    }
