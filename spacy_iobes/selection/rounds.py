"""What goes into the journal of a session when it begins, and with every round."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from .batches import Batch, first_batch, next_batch
from .ledger import Decision, Ledger
from .midway import midway
from .pool import Pool
from .settings import Settings
from .unknowing import Unknowing
from .view import View

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
        found = midway(view, ledger).as_dict()
        records.append({"estimate": found, "round": ledger.batches})
    waiting = ledger.skipped.keys() | (ledger.unread - reading.audit)
    known = view or Unknowing(ledger.sentences)
    batch = next_batch(known, reading, waiting, *_sizes(settings), ledger.batches)
    ranked = reading.audit & set(batch.sentences) - set(batch.audit)
    batch = batch._replace(promoted=tuple(sorted({*batch.promoted, *ranked})))
    return [*records, batch_record(ledger.batches, batch)]


def batch_record(number: int, batch: Batch) -> dict[str, Any]:
    """The line of a journal that says what is to be read."""
    return {"batch": number, **{name: list(some) for name, some in batch._asdict().items()}}


def now() -> str:
    """The time, as a journal has it."""
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds")


def _sizes(settings: Settings) -> tuple[int, float, int]:
    return settings.batch, settings.audit, settings.seed
