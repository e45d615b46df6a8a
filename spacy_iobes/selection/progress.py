"""How far a session is: what was read, what that covers, and how much more it may take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..names import counted
from .coverage import Estimate
from .ledger import Ledger
from .pool import Pool
from .rounds import estimate_mid_batch
from .settings import Settings
from .stopping import get_rule
from .trainer import Status, Trainer
from .view import View


@dataclass(frozen=True)
class Training:
    """What the recogniser is doing, how long it took last time, and what went wrong."""

    status: Status
    seconds: float
    trouble: str


@dataclass(frozen=True)
class Progress:
    """Sentences read, left, skipped and rejected; mentions found; what is estimated, and was.

    `forecast` is how many more sentences reach the target if the model is right, None if that
    cannot be said; `stop` says why it is time to stop, and is empty if it is not.
    """

    read: int
    left: int
    skipped: int
    rejected: int
    mentions: int
    estimate: Estimate | None
    rounds: tuple[Estimate, ...]
    forecast: int | None
    stop: str
    training: Training
    finished: bool

    def __str__(self) -> str:
        read = f"{self.read:,} of {counted(self.read + self.left, 'sentence')} read"
        return f"{read}, {counted(self.mentions, 'mention')}"


def progress_of(
    pool: Pool, settings: Settings, ledger: Ledger, view: View | None, trainer: Trainer
) -> Progress:
    """How far it is now."""
    reading = ledger.reading
    read = len(reading.answers) + len(reading.rejected)
    now = None if view is None else estimate_mid_batch(view, ledger)
    rounds = history((Estimate(**found) for found in ledger.rounds), read)
    return Progress(
        read,
        len(pool) - read,
        len(ledger.skipped),
        len(reading.rejected),
        sum(map(len, reading.answers.values())),
        now,
        rounds,
        None if view is None or now is None else forecast(view, ledger, now, settings.target),
        stop_message(rounds, settings),
        Training(trainer.status, trainer.seconds, trainer.trouble),
        finished=read == len(pool),
    )


def history(rounds: Iterable[Estimate], read: int) -> tuple[Estimate, ...]:
    """What was estimated on the way to so many sentences read.

    Whoever undoes answers goes back: what was estimated after them is not so any more, and where
    the same number is reached again, the later estimate counts.
    """
    kept = list[Estimate]()
    for found in rounds:
        while kept and kept[-1].read >= found.read:
            kept.pop()
        kept.append(found)
    return tuple(found for found in kept if found.read <= read)


def forecast(view: View, ledger: Ledger, now: Estimate, target: float) -> int | None:
    """How many more sentences, the most likely first, make the estimated coverage the target.

    Nothing is said as long as no mention was found, or if the audit contradicts the model.
    """
    if not now.mentions or now.coverage is None or not now.low <= now.coverage <= now.high:
        return None
    left = np.ones(ledger.sentences, dtype=np.bool_)
    left[[*ledger.reading.answers, *ledger.reading.rejected]] = False
    expected = np.sort(view.expected[left])[::-1]
    reached = now.mentions + np.concatenate([[0.0], np.cumsum(expected)])
    return int(np.argmax(reached >= target * reached[-1]))


def stop_message(rounds: Sequence[Estimate], settings: Settings) -> str:
    """Why it is time to stop; empty if it is not."""
    rule = get_rule(settings.rule)
    if not rule.met(rounds, settings.target, settings.patience):
        return ""
    return (
        f"{rule.summary[0].upper()}{rule.summary[1:]}: {100 * settings.target:.1f} % of all "
        "mentions should be found. You may stop here, or go on."
    )
