"""What goes into the journal of a session when it begins, with every round, and from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from ..span import Span
from .batches import Batch, first_batch, next_batch
from .coverage import Estimate, estimate, interval
from .ledger import Answer, Decision, Ledger
from .pool import Pool
from .settings import Settings
from .view import UniformView, View

Records = list[dict[str, Any]]


def first_records(pool: Pool, settings: Settings, keep: bool) -> Records:
    """The first batch; if mentions that are there are to `keep`, the answers that they make."""
    gold = {s: spans for s in range(len(pool) if keep else 0) if (spans := pool.gold(s))}
    start = settings.start, settings.words
    batches = [first_batch(pool, *_sizes(settings), *start, done=gold.keys())]
    if gold:
        batches.insert(0, Batch(tuple(gold)))
    made = [
        Decision(number, sentence, "accept", tuple(sorted(set(spans))), now())
        for number, (sentence, spans) in enumerate(gold.items(), 1)
    ]
    records = [batch_record(number, batch) for number, batch in enumerate(batches)]
    return records + [decision.as_record() for decision in made]


def next_records(view: View | None, ledger: Ledger, settings: Settings) -> Records:
    """The next batch, and what is estimated before it; without a view any sentences.

    What was chosen before and is not read yet is chosen already. If the ranking now chooses one
    that was drawn for the audit, it is no part of the audit any more, read or not.
    """
    reading, records = ledger.reading, Records()
    if view is not None:
        found = estimate_mid_batch(view, ledger).as_dict()
        records.append({"estimate": found, "round": ledger.batches})
    waiting = ledger.skipped.keys() | (ledger.unread - reading.audit)
    known = view or UniformView(ledger.sentences)
    batch = next_batch(known, reading, waiting, *_sizes(settings), ledger.batches)
    ranked = reading.audit & set(batch.sentences) - set(batch.audit)
    batch = batch._replace(promoted=tuple(sorted({*batch.promoted, *ranked})))
    return [*records, batch_record(ledger.batches, batch)]


def estimate_mid_batch(view: View, ledger: Ledger) -> Estimate:
    """Return an estimate whose interval holds at any time, and not only when a batch is read.

    The audit tells of sentences that the ranking has not chosen. Those that it has chosen and
    nobody has read may all have as many mentions as others that have some, or none.
    """
    reading = ledger.reading
    found = estimate(view, reading, ledger.sentences)
    waiting = len((ledger.unread | ledger.skipped.keys()) - reading.audit)
    if not waiting:
        return found
    left = found.left - waiting
    low, high = interval(reading, left, found.audited, found.surprises, found.level)
    if found.mentions and low:
        sizes = [len(spans) for spans in reading.answers.values() if spans]
        more = waiting * found.mentions / len(sizes)
        low = found.mentions / (found.mentions / low + more)
    corrected = found.corrected
    if corrected is not None:
        corrected = min(max(corrected, low), high)
    return replace(found, low=low, high=high, corrected=corrected)


def added_records(
    ledger: Ledger, answers: Mapping[int, tuple[Answer, tuple[Span, ...]]]
) -> tuple[Records, int, int]:
    """Answers from elsewhere, and how many of them are new, or other than those that stand.

    If some are new, all of these sentences are a batch that somebody chose.
    """
    new, changed = list[int](), list[int]()
    for sentence, given in answers.items():
        last = ledger.decision_on(sentence)
        if last is None or last.answer == "skip":
            new.append(sentence)
        elif (last.answer, last.spans) != given:
            changed.append(sentence)
    records = Records()
    if new:
        promoted = tuple(sorted(ledger.reading.audit & answers.keys()))
        records.append(batch_record(ledger.batches, Batch(tuple(new), (), promoted)))
    for number, sentence in enumerate([*new, *changed], ledger.made + 1):
        records.append(Decision(number, sentence, *answers[sentence], now()).as_record())
    return records, len(new), len(changed)


def batch_record(number: int, batch: Batch) -> dict[str, Any]:
    """The line of a journal that says what is to be read."""
    return {"batch": number, **{name: list(some) for name, some in batch._asdict().items()}}


def now() -> str:
    """The time, as a journal has it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def _sizes(settings: Settings) -> tuple[int, float, int]:
    return settings.batch, settings.audit, settings.seed
