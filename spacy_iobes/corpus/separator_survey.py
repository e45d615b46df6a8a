"""What mention separators make of a corpus: which mentions come back, and which cannot be written.

A set of mentions is what one label has in one sentence: separators are written for each label on
its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from ..codes.known import Known
from ..codes.readings import DEFAULT_READING, Reading, get_reading
from ..codes.roundtrip import RoundTrip, roundtrip
from ..names import counted
from ..span import Span
from .findings import KINDS, Finding, many
from .sentences import Sentences

HEADER = ("label", "sets", "ambiguous", "lost", "mentions", "come back", "new")
"""What is counted of the sets of mentions of a label."""


@dataclass
class SetCounts:
    """Sets of mentions: how many, how many of them ambiguous, how many do not come back.

    `mentions` are those in the sets, `kept` the ones that come back, `found` all that come.
    """

    sets: int = 0
    ambiguous: int = 0
    lost: int = 0
    mentions: int = 0
    found: int = 0
    kept: int = 0

    def __add__(self, other: SetCounts) -> SetCounts:
        return SetCounts(*(a + b for a, b in zip(vars(self).values(), vars(other).values())))

    @property
    def f1(self) -> float:
        """The F1 of a model that predicts every separator right; 1.0 without mentions."""
        both = self.mentions + self.found
        return 2 * self.kept / both if both else 1.0


@dataclass
class SeparatorSurvey:
    """What a reading makes of a source: counts by label, and findings with their places."""

    name: str
    reading: str
    sentences: int = 0
    tokens: int = 0
    labels: dict[str, SetCounts] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def total(self) -> SetCounts:
        """The counts of all labels together."""
        return sum(self.labels.values(), SetCounts())

    @property
    def kinds(self) -> dict[str, int]:
        """How many findings there are of each kind."""
        counts = Counter(finding.kind for finding in self.findings)
        return {kind: counts[kind] for kind in KINDS}

    @property
    def faults(self) -> list[Finding]:
        """The findings but for sets that are ambiguous and come back."""
        return [finding for finding in self.findings if finding.kind != "ambiguous"]

    def __str__(self) -> str:
        total = self.total
        words = [
            f"{total.lost:,} of {counted(total.sets, 'set')} of mentions lost ({self.reading})"
        ]
        words += [f"{total.ambiguous:,} ambiguous", f"best F1 {100 * total.f1:.2f}"]
        others = (kind for kind in KINDS if kind not in ("lost", "ambiguous"))
        words += [many(kind, self.kinds[kind]) for kind in others if self.kinds[kind]]
        size = f"{counted(self.sentences, 'sentence')}, {counted(self.tokens, 'token')}"
        return f"{self.name}: {', '.join(words)}; {size}"

    def rows(self) -> list[tuple[str | int, ...]]:
        """Return a row of HEADER for each label."""
        return [
            (x, c.sets, c.ambiguous, c.lost, c.mentions, c.kept, c.found - c.kept)
            for x, c in sorted(self.labels.items())
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the counts and findings as plain values."""
        size = {
            "file": self.name,
            "sentences": self.sentences,
            "tokens": self.tokens,
        }
        labels = {label: asdict(counts) for label, counts in sorted(self.labels.items())}
        total = asdict(self.total) | {"f1": self.total.f1}
        listed = [asdict(finding) for finding in self.findings]
        return size | {"total": total, "labels": labels, "kinds": self.kinds, "findings": listed}


def survey_separators(
    name: str,
    source: Iterable[tuple[Sentences, Known]],
    reading: str | Reading = DEFAULT_READING,
) -> SeparatorSurvey:
    """Write all mentions as separators, read them back, and return what became of them."""
    rule = get_reading(reading)
    survey = SeparatorSurvey(name, rule.name)
    for part, known in source:
        result = roundtrip(known.spans, np.diff(part.offsets).tolist(), rule)
        _count(survey.labels, result)
        found = [*part.every_finding(known), *_findings(part, result)]
        found.sort(key=lambda finding: finding.sentence)
        survey.findings += (replace(f, sentence=f.sentence + survey.sentences) for f in found)
        survey.sentences += len(part)
        survey.tokens += part.tokens
    return survey


def _count(labels: dict[str, SetCounts], result: RoundTrip) -> None:
    """Add what came of some sentences."""
    ones = np.ones(len(result.sentence), dtype=np.int64)
    columns = (ones, result.ambiguous, result.lost, result.mentions, result.found, result.kept)
    for number, name in enumerate(result.before.labels):
        mine = result.label == number
        if mine.any():
            counts = SetCounts(*(int(column[mine].sum()) for column in columns))
            labels[name] = labels.get(name, SetCounts()) + counts


def _findings(part: Sentences, result: RoundTrip) -> list[Finding]:
    """Return a finding for each set that is lost or ambiguous."""
    found = []
    for row in np.flatnonzero(result.lost | result.ambiguous).tolist():
        sentence, lost = int(result.sentence[row]), bool(result.lost[row])
        before, after = result.members(row)
        gone = sorted(set(before) - set(after)) if lost else before
        new = sorted(set(after) - set(before))
        place = part.place(part.at(sentence, min(gone + new).start))
        shown = (_shown(part, sentence, spans) for spans in (gone, new))
        kind = "lost" if lost else "ambiguous"
        found.append(Finding(kind, place, sentence, before[0].label, *shown))
    return found


def _shown(part: Sentences, sentence: int, spans: list[Span]) -> tuple[tuple[int, int, str], ...]:
    return tuple((start, end, part.text(sentence, start, end)) for start, end, _ in spans)
