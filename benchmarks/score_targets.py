"""What scoring should reach, and whether it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .commands import Trial, ratio
from .outcome import Outcome
from .score_files import OURS, OURS_TWO, PERL, SEQSCORE
from .table import Cell, Table
from .targets import at_least, at_most


@dataclass
class Results:
    """What was measured on the large lists, in memory, and on the small and large files."""

    lists: Outcome | None = None
    memory: Table | None = None
    small: Sequence[Trial] = ()
    large: Sequence[Trial] = ()


def faster(name: str, value: Cell, bound: float, peer: str) -> dict[str, Cell]:
    """A row for how many times faster than a peer we are."""
    wanted = f">= {bound:g} x {peer}"
    return {"target": name, "wanted": wanted, "value": value, "verdict": at_least(value, bound)}


def bounded(name: str, value: Cell, bound: float) -> dict[str, Cell]:
    """A row for what should not be larger than a bound."""
    wanted = f"<= {bound:g}"
    return {"target": name, "wanted": wanted, "value": value, "verdict": at_most(value, bound)}


def targets(results: Results) -> Table:
    """All targets; the commands are compared on the same number of files."""
    listed, large = results.lists, results.large
    rows = [
        faster(f"large lists: {tool}", listed.ratio(tool, peer) if listed else None, bound, peer)
        for tool, peer, bound in (("ours score", "seqeval", 100), ("ours score", "seqscore", 40))
    ]
    rows.append(bounded("lists: extra memory, large / a tenth", growth(results.memory), 1.5))
    rows += [
        faster(f"large files: {name}", ratio(large, name, peer), bound, peer)
        for name, peer, bound in ((OURS, PERL, 10), (OURS_TWO, SEQSCORE, 30))
    ]
    for name in (OURS, OURS_TWO):
        both = peak(large, name), peak(results.small, name)
        value = both[0] / both[1] if both[0] and both[1] else None
        rows.append(bounded(f"{name}: max RSS, large / small", value, 1.5))
    speed = ratio(results.small, OURS, PERL)
    slower = 1 / speed if isinstance(speed, float) else speed
    rows.append(bounded(f"small file: CPU time of {OURS} / {PERL}", slower, 1))
    return Table("targets", rows)


def peak(trials: Sequence[Trial], name: str) -> int | None:
    """The highest peak of a command."""
    return next((max(t.peaks) for t in trials if t.command.name == name), None)


def growth(memory: Table | None) -> float | None:
    """How much more memory ours takes on the large input than on the one before."""
    extra = (
        [row["extra MB"] for row in memory.rows if row["tool"] == "ours score"] if memory else []
    )
    values = [value for value in extra if isinstance(value, float)]
    return values[-1] / values[0] if len(values) > 1 and values[0] else None
