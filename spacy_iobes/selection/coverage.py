"""How many of the mentions of a pool have been found: what a model says, and what an audit says."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from .calibration import Calibration
from .reading import Reading
from .sampling import positives
from .view import View

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """What is known of the coverage at some moment.

    `read` and `left` count sentences, `mentions` those that were found, and `expected` is how many
    the model expects in the sentences left; `coverage` follows from that (None while nothing was
    found). `audited` sentences were drawn at random and not chosen by rank; `surprises` of them
    have a mention. From these alone comes an interval from `low` to `high` that has the true
    coverage with a probability of at least `level`. `corrected` is the model's coverage, corrected
    by what was found where it expected how much, and held within that interval.
    """

    read: int
    left: int
    mentions: int
    expected: float
    coverage: float | None
    audited: int
    surprises: int
    low: float
    high: float
    level: float
    corrected: float | None

    def as_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return asdict(self)


def estimate(view: View, reading: Reading, size: int, level: float = LEVEL) -> Estimate:
    """What a view and what was read say of a pool of so many sentences."""
    unread = np.ones(size, dtype=bool)
    unread[list(reading.read)] = False
    expected = view.expected[unread]
    left, mentions = int(unread.sum()), reading.mentions
    audit = sorted(reading.audit & reading.answers.keys())
    surprises = sum(bool(reading.answers[sentence]) for sentence in audit)
    low, high = interval(reading, left, len(audit), surprises, level)
    right = calibration(view, reading, audit)
    corrected = _share(mentions, float(right(expected).sum()))
    return Estimate(
        read=size - left,
        left=left,
        mentions=mentions,
        expected=float(expected.sum()),
        coverage=_share(mentions, float(expected.sum())),
        audited=len(audit),
        surprises=surprises,
        low=low,
        high=high,
        level=level,
        corrected=None if corrected is None else min(max(corrected, low), high),
    )


def interval(
    reading: Reading, left: int, audited: int, surprises: int, level: float
) -> tuple[float, float]:
    """The coverage that the audit does not speak against.

    The audited sentences are a random sample of themselves and those left, so the number of
    sentences with a mention has an exact interval. There is at least one mention in each of them,
    and on average no more than in those that were found, which the ranking has chosen first.
    """
    if not left:
        return 1.0, 1.0
    least, most = (k - surprises for k in positives(left + audited, audited, surprises, level))
    sizes = [len(spans) for spans in reading.answers.values() if spans]
    each = sum(sizes) / len(sizes) if sizes else 1.0
    low, high = (_share(reading.mentions, count) for count in (most * each, float(least)))
    return low or 0.0, 1.0 if high is None else high


def calibration(view: View, reading: Reading, audit: list[int]) -> Calibration:
    """What was found where how much was expected: in the audit, and in the latest batches."""
    known = {s: e for s, e in reading.predicted.items() if s in reading.answers}
    known |= {s: float(view.expected[s]) for s in audit}  # as of now: it has not learned from these
    if not known:
        return Calibration()
    found = [len(reading.answers[sentence]) for sentence in known]
    return Calibration.fitted(np.array(list(known.values())), np.array(found, dtype=np.float64))


def _share(found: int, more: float) -> float | None:
    """The share of what was found in all there is; None where nothing is known to be there."""
    if not found and not more:
        return None
    return found / (found + more) if found else 0.0
