"""A score as one HTML page that needs nothing else: figures, confusion and every mistake."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import defaultdict
from collections.abc import Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from json import dumps
from typing import Any

import numpy as np

from ..codes.policy import get_policy
from .counts import MUC, MucCounts
from .files import FileReport, Located, PairScorer
from .formats import HEADER, UNDEFINED, percent, rows
from .report import ERROR_KINDS
from .signature import SPANS, Signature

TEMPLATE = "page.html"
METRIC_WORDS = {"f1": "F1", "precision": "Precision", "recall": "Recall"}
MATCH_WORDS = {
    "exact": "spans with the right borders and the right label",
    "muc-strict": "spans with the right borders and the right label, paired as in MUC",
    "muc-exact": "spans with the right borders, whatever their label",
    "muc-partial": "spans that overlap, whatever their label; wrong borders count half",
    "muc-type": "spans that overlap and have the right label",
}
INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
UNSAFE = "<>&\u2028\u2029"  # in a script element, or in one of JavaScript's strings

Spans = dict[int, list[tuple[int, int, str]]]
"""The spans of some sentences, by the number of the sentence."""


def page(report: FileReport, policies: Sequence[PairScorer], title: str) -> str:
    """The page of a score that kept what was matched and what was mistaken.

    `policies` are the scorers of the same predictions under other policies, for their table.
    """
    template = files(__package__).joinpath(TEMPLATE).read_text(encoding="utf8")
    values = {
        "policy": content_policy(template),
        "title": escape(title),
        "data": as_script(page_data(report, policies, title)),
    }
    text = re.sub(r"@@(\w+)@@", lambda found: values[found[1]], template)
    return text.encode("utf8", "backslashreplace").decode("utf8")  # names of files may be no text


def content_policy(template: str) -> str:
    """The Content-Security-Policy under which only the template's own scripts and styles work."""
    hashes: dict[str, list[str]] = {"script": [], "style": []}
    for kind, text in INLINE.findall(template):
        digest = b64encode(sha256(text.encode("utf8")).digest()).decode("ascii")
        hashes[kind].append(f"'sha256-{digest}'")
    sources = [f"{kind}-src {' '.join(found)}" for kind, found in hashes.items()]
    return "; ".join(
        ["default-src 'none'", *sources, "img-src data:", "base-uri 'none'", "form-action 'none'"]
    )


def as_script(value: Any) -> str:
    """JSON that may stand in a script element: no character of it can end or open markup."""
    text = dumps(value, ensure_ascii=False, separators=(",", ":"))
    for character in UNSAFE:
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def page_data(report: FileReport, policies: Sequence[PairScorer], title: str) -> dict[str, Any]:
    """Everything that the page shows; figures are text, as the other formats print them."""
    signature = report.signature
    return {
        "title": title,
        "score": percent(report.value),
        "headline": headline(signature),
        "signature": str(signature),
        "recipe": in_words(signature),
        "facts": facts(report),
        "labels": list(report.counts.labels),
        "scores": {"header": HEADER, "rows": list(rows(report))},
        "matches": {
            "header": ("match", *MucCounts._fields[:-1], "F1"),
            "rows": match_rows(report),
            "notes": [MATCH_WORDS[f"muc-{kind}"] for kind in MUC],
        },
        "confusion": report.counts.confusion.tolist(),
        "policies": {
            "header": ("policy", "violations", "precision", "recall", "F1", "change"),
            "rows": [policy_row(scorer, report) for scorer in policies],
            "notes": [get_policy(scorer.signature.repair).summary for scorer in policies],
            "chosen": signature.repair,
        },
        "kinds": ERROR_KINDS,
        **mistakes_data(report),
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
    for side, name in (("predictions", signature.repair), ("gold tags", signature.gold)):
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
    repaired = {
        "violations repaired in predictions": counts.violations,
        "violations repaired in gold": counts.gold_violations,
    }
    return [
        *((name, f"{number:,}") for name, number in numbers.items()),
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
    """What one policy makes of the predictions, and how far its F1 is from that of the report."""
    name = scorer.signature.repair
    if scorer.refused:
        return name, f"{len(scorer.refused):,}", "refused", "", "", ""
    other = scorer.report()
    return (
        name,
        f"{other.counts.violations:,}",
        *map(percent, other.micro),
        moved(report.micro.f1, other.micro.f1),
    )


def moved(before: float | None, after: float | None) -> str:
    """A difference with its sign; zero has none."""
    if before is None or after is None:
        return UNDEFINED
    return f"{100 * (after - before):+.2f}".replace("+0.00", "0.00").replace("-0.00", "0.00")


def mistakes_data(report: FileReport) -> dict[str, Any]:
    """Every mistake, and the sentences they are in with all their spans."""
    correct, predicted, gold = report.counts.totals
    kept = sum(len(part.tallies) for part in report.kept) == report.counts.sentences
    if not kept or (not report.located and (correct < predicted or correct < gold)):
        raise ValueError(
            "The page shows mistakes: score with keep_matched=True and keep_mistakes=True."
        )
    texts = {found.mistake.sentence: found.tokens for found in report.located}
    places = {sentence: place for place, sentence in enumerate(texts)}
    sides = {side: spans_of(report, side, list(texts)) for side in ("gold", "predicted")}
    return {
        "sentences": [
            {"number": number + 1, "tokens": tokens}
            | {side: spans[number] for side, spans in sides.items()}
            for number, tokens in texts.items()
        ],
        "mistakes": [_mistake(found, places[found.mistake.sentence]) for found in report.located],
    }


def _mistake(found: Located, place: int) -> dict[str, Any]:
    mistake = found.mistake
    return {
        "sentence": place,
        "kind": mistake.kind,
        "gold": mistake.gold,
        "predicted": mistake.predicted,
        "lines": (found.gold_line, found.predicted_line),
    }


def spans_of(report: FileReport, side: str, sentences: list[int]) -> Spans:
    """All spans of one side in some sentences, right or wrong."""
    spans: Spans = defaultdict(list)
    before = 0
    for part in report.kept:
        columns = getattr(part.faulty, side)
        wanted = np.flatnonzero(np.isin(columns.sentence + before, sentences)).tolist()
        for i in wanted:
            span = int(columns.start[i]), int(columns.end[i]), columns.labels[columns.label[i]]
            spans[before + int(columns.sentence[i])].append(span)
        before += len(part.tallies)
    return spans
