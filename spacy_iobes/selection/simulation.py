"""A loop in which the gold annotation plays the annotator, to see what a person would have read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from time import process_time
from typing import Any

import numpy as np

from ..errors import CorpusError
from ..learners.options import Options
from ..names import counted
from ..scoring.tables import UNDEFINED, Row, aligned
from .batches import Batch, first_batch, next_batch
from .coverage import LEVEL, Estimate, estimate
from .pool import Pool
from .pool_learner import OPTIONS, PoolLearner
from .reading import Reading
from .stopping import get_rule
from .view import View

SUGGESTED = 10
SHOWN = 12  # rounds of a table
HEADER = ("round", "read", "of all", "mentions", "found", "estimated", "corrected", "interval")


@dataclass(frozen=True)
class Plan:
    """How sentences are chosen, and when the loop ends.

    A `batch` is so many sentences, or a share `grow` of those read if that is more; a share `audit`
    of it is drawn at random. The loop ends when the `rule` is met, or at last when everything was
    read; with `beyond`, not before this true coverage was reached, too.
    """

    batch: int = 100
    audit: float = 0.1
    ranking: str = "expected"
    rule: str = "estimate"
    target: float = 0.99
    patience: int = 1
    start: str = "first"
    words: tuple[str, ...] = ()
    grow: float = 0.0
    seed: int = 0
    level: float = LEVEL
    beyond: float = 0.0
    suggest: bool = False
    options: Options = OPTIONS


@dataclass(frozen=True)
class Suggested:
    """How good suggestions were for a batch of `sentences`, `relevant` ones having a mention.

    So many of all had their annotation `among` the suggestions, or as the `first` of them; `rank`
    is the mean of its places, from 1.
    """

    sentences: int
    relevant: int
    among: int
    first: int
    rank: float | None


@dataclass(frozen=True)
class Round:
    """A moment of the loop: the sentences that were read last, what was estimated, and the truth.

    `seconds` of CPU time were spent on learning and asking the model before the next batch.
    """

    number: int
    sentences: tuple[int, ...]
    estimate: Estimate
    coverage: float
    seconds: float
    suggested: Suggested | None = None

    def as_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return asdict(self)


def simulate(pool: Pool, plan: Plan | None = None) -> Iterator[Round]:
    """Read a pool whose mentions are known, round by round, until the rule says stop."""
    plan = plan or Plan()
    total, rule = int(pool.counts.sum()), get_rule(plan.rule)
    if not total:
        raise CorpusError(
            f"The corpus has no mention of {', '.join(pool.labels)}, so there is nothing to find."
        )
    reading, model = Reading(), PoolLearner(pool, plan.seed, plan.options)
    batch = first_batch(pool, plan.batch, plan.audit, plan.seed, plan.start, plan.words)
    history = list[Estimate]()
    view: View | None = None
    for number in range(len(pool) + 1):
        told = _suggested(pool, view, batch) if plan.suggest and view is not None else None
        reading.begin(batch)
        for sentence in batch.sentences:
            reading.answer(sentence, pool.gold(sentence))
        began = process_time()
        view = model.learn(reading.taught())
        known = estimate(view, reading, len(pool), plan.level)
        seconds = process_time() - began
        history.append(known)
        coverage = reading.mentions / total
        yield Round(number, batch.sentences, known, coverage, seconds, told)
        met = rule.met(history, plan.target, plan.patience) and coverage >= plan.beyond
        if met or not known.left:
            return
        size = max(plan.batch, round(plan.grow * known.read))
        batch = next_batch(view, reading, (), size, plan.audit, plan.seed, number + 1, plan.ranking)


def _suggested(pool: Pool, view: View, batch: Batch) -> Suggested:
    """What a view had suggested for a batch, now that it is read."""
    ranks = list[int | None]()
    for sentence in batch.sentences:
        gold = sorted(pool.gold(sentence))
        found = [sorted(spans) for _, spans in view.suggestions(sentence, SUGGESTED)]
        ranks.append(found.index(gold) + 1 if gold in found else None)
    relevant = sum(bool(pool.counts[sentence]) for sentence in batch.sentences)
    hits = [rank for rank in ranks if rank is not None]
    mean = float(np.mean(hits)) if hits else None
    return Suggested(len(batch.sentences), relevant, len(hits), hits.count(1), mean)


@dataclass(frozen=True, eq=False)
class Simulation:
    """A simulated annotation: its rounds, in words and as plain values."""

    pool: Pool
    plan: Plan
    rounds: Sequence[Round]

    @cached_property
    def stop(self) -> Round | None:
        """The round in which the rule was met first, if it was."""
        rule, plan = get_rule(self.plan.rule), self.plan
        history = [each.estimate for each in self.rounds]
        for number, each in enumerate(self.rounds, 1):
            if rule.met(history[:number], plan.target, plan.patience):
                return each
        return None

    def row(self, each: Round) -> Row:
        """Return a round as a row of HEADER."""
        known = each.estimate
        return (
            str(each.number),
            f"{known.read:,}",
            _percent(known.read / len(self.pool)),
            f"{known.mentions:,}",
            _percent(each.coverage),
            _percent(known.coverage),
            _percent(known.corrected),
            f"{_percent(known.low)} to {_percent(known.high)}",
        )

    @property
    def facts(self) -> str:
        """What was found, in a sentence or two."""
        what = f"{counted(int(self.pool.counts.sum()), 'mention')} of {', '.join(self.pool.labels)}"
        text = f"{what} in {counted(len(self.pool), 'sentence')}. "
        if self.stop is None:
            return f"{text}The rule {self.plan.rule!r} was not met before all sentences were read."
        known = self.stop.estimate
        share = _percent(known.read / len(self.pool))
        text += f"Stop after {counted(known.read, 'sentence')} ({share} %): "
        text += f"{_percent(self.stop.coverage)} % of the mentions are found"
        if known.audited:
            text += f", the audit says {_percent(known.low)} to {_percent(known.high)} %"
        seconds = sum(each.seconds for each in self.rounds) / len(self.rounds)
        return f"{text}. A round takes {seconds:.2f} s."

    def __str__(self) -> str:
        step = max(1, -(-len(self.rounds) // SHOWN))
        always = (self.stop, self.rounds[-1])
        some = (each for each in self.rounds if each.number % step == 0 or each in always)
        text = aligned(HEADER, [*map(self.row, some)], "r" * len(HEADER), (0,))
        return f"{text}\n\n{self.facts}\n"

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "labels": list(self.pool.labels),
            "sentences": len(self.pool),
            "mentions": int(self.pool.counts.sum()),
            "plan": asdict(self.plan),
            "stop": None if self.stop is None else self.stop.number,
            "rounds": [asdict(each) for each in self.rounds],
        }


def _percent(value: float | None) -> str:
    return UNDEFINED if value is None else f"{100 * value:.1f}"
