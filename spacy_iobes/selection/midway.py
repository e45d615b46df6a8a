"""What is known of the coverage when sentences that were chosen are still waiting to be read."""

from __future__ import annotations

from dataclasses import replace

from .coverage import Estimate, estimate, interval
from .ledger import Ledger
from .view import View


def midway(view: View, ledger: Ledger) -> Estimate:
    """An estimate whose interval holds at any time, and not only when a batch is read.

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
