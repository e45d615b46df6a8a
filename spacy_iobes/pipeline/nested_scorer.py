"""The scorer of nested mentions: the figures of a span group, and what becomes of overlap.

It returns `iobes_nested_p`, `_r`, `_f`, `_f_per_type` and `_signature`, and three dicts:
`iobes_nested_overlapping` and `iobes_nested_others`, the figures of the sentences of which gold
mentions overlap and of all others, and `iobes_nested_recall` of mentions inside another one,
around another one and so on. Sentences are those of the references; a Doc without any is one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from spacy.training import Example

from ..corpus.nested_pairs import NestedPair
from ..scoring.counts import count
from ..scoring.matching import match, nested_columns
from ..scoring.nested import NestedCounts
from ..scoring.report import Report
from ..scoring.signature import Signature
from ..span import Span

NESTED_WEIGHTS = {
    "iobes_nested_f": 1.0,
    "iobes_nested_p": 0.0,
    "iobes_nested_r": 0.0,
    "iobes_nested_f_per_type": None,
    "iobes_nested_overlapping": None,
    "iobes_nested_others": None,
    "iobes_nested_recall": None,
    "iobes_nested_signature": None,
}
"""How a component that has this scorer weighs its figures in training."""


@dataclass(frozen=True)
class NestedScorer:
    """Scores a span group of the predictions against that of the references; can be pickled."""

    spans_key: str
    signature: Signature = field(default_factory=Signature)
    missing_spans_key: str | None = None

    def __call__(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score; what a component says of itself, `kwargs`, does not matter here."""
        return nested_scores(self.report(examples))

    def report(self, examples: Iterable[Example]) -> Report:
        """The score with its recipe and all its counts, those of overlapping mentions too."""
        gold: list[list[Span]] = []
        predicted: list[list[Span]] = []
        for example in examples:
            keys = (self.spans_key, self.missing_spans_key)
            pair = NestedPair(example.reference, example.predicted, *keys)
            gold += pair.gold
            predicted += pair.predicted
        matched = match(nested_columns(gold), nested_columns(predicted))
        counts = count(matched, right_tokens=None, tagged=None)
        return Report(self.signature, counts, nested=NestedCounts.of(matched))


def nested_scores(report: Report) -> dict[str, Any]:
    """The figures under the names that spaCy shows, weighs and stores."""
    name, nested = "iobes_nested", report.nested or NestedCounts.none()
    some = any(report.counts.totals)
    values = [figure or 0.0 for figure in report.micro] if some else [None] * 3
    scores: dict[str, Any] = {f"{name}_{key}": value for key, value in zip("prf", values)}
    per_type = {label: _short(row) for label, row in report.per_label.items()}
    scores[f"{name}_f_per_type"] = per_type if some else None
    for part, tally in nested.parts.items():
        scores[f"{name}_{part}"] = _short(tally.figures) | tally._asdict()
    scores[f"{name}_recall"] = {
        kind: {"r": row.recall or 0.0, **row._asdict()} for kind, row in nested.mentions.items()
    }
    scores[f"{name}_signature"] = str(report.signature)
    return scores


def _short(row: Iterable[float | None]) -> dict[str, float]:
    return {key: figure or 0.0 for key, figure in zip("prf", row)}


def nested_scorer(spans_key: str = "sc", missing_spans_key: str | None = None) -> NestedScorer:
    """Score the mentions of `doc.spans[spans_key]`, which may nest and overlap.

    Tokens in the spans of another group, `missing_spans_key`, are not annotated.
    """
    return NestedScorer(spans_key, missing_spans_key=missing_spans_key)
