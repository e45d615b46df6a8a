"""How many sentences must be read to find nearly all mentions of a sparse label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spacy_iobes.about import __version__
from spacy_iobes.selection import Plan, simulate

from .corpora import not_at_hand
from .ner_keep import Keep
from .selection_corpora import SETTINGS, Setting
from .selection_crfsuite import Rounds
from .selection_tables import enriched, intervals, speed, stopped, suggested, targets
from .table import Table

AUDIT = 0.1
LOOPS: dict[str, dict[str, Any]] = {
    "plain": {"audit": 0.0},  # the published loop
    "audit": {"audit": AUDIT},
    "enrich": {"audit": 0.0, "enrich": True},
}
ENRICHED = ("LOC", "MISC", "ORG", "PER")
TIMED = ("MISC", "RNA")
SAMPLES = 6  # rounds of crfsuite for each
QUICK = 400  # sentences
LEGEND = [
    "Gold annotation plays the annotator, 100 sentences a round, the first 100 to begin with.",
    "plain: the published loop; audit: a tenth of each batch is drawn at random, which costs",
    "sentences and gives the interval; enrich: mentions of the other labels are known.",
    "Published: Tsuruoka et al. 2008, who had parts of speech; JNLPBA has none here.",
]


def run(
    quick: bool, keep: Path | None = None, kept: bool = False, only: Sequence[str] | None = None
) -> Iterator[Table]:
    """Simulate every setting that is at hand, table by table."""
    held = Keep(keep)
    wanted = {name: SETTINGS[name] for name in only or SETTINGS if SETTINGS[name].at_hand()}
    missing = sorted({s.corpus for s in SETTINGS.values() if not s.at_hand()})
    yield Table("input", [], [*LEGEND, *not_at_hand(missing)])
    found: dict[str, dict[str, Any]] = {
        loop: {
            name: row
            for name, setting in wanted.items()
            if (loop != "enrich" or name in ENRICHED)
            and (row := curve(held, setting, loop, quick, kept)) is not None
        }
        for loop in LOOPS
    }
    crfsuite = {
        name: row
        for name in TIMED
        if name in found["plain"]
        and (row := peer(held, wanted[name], found["plain"][name], quick, kept)) is not None
    }
    yield stopped(found)
    yield intervals(found["audit"])
    yield enriched(found)
    yield suggested(found["plain"])
    yield speed(found, crfsuite)
    yield targets(found, crfsuite)


def curve(
    held: Keep, setting: Setting, loop: str, quick: bool, kept: bool
) -> dict[str, Any] | None:
    """One simulation, or what is kept of it: every round, and the sentences in the order read."""
    key = {
        "loop": loop,
        "corpus": setting.corpus,
        "label": setting.label,
        "quick": quick,
        "version": __version__,
    }
    if (known := held.get(key)) is not None or kept:
        return known
    how = LOOPS[loop]
    pool = setting.pool(how.get("enrich", False), QUICK if quick else 0)
    plan = Plan(
        batch=20 if quick else 100,
        audit=how["audit"],
        beyond=0.5 if quick else setting.published.coverage / 100,
        suggest=setting.label == "RNA" and loop == "plain",
    )
    rounds, order = list[dict[str, Any]](), list[int]()
    for each in simulate(pool, plan):
        order += each.sentences
        rounds.append({k: v for k, v in each.as_dict().items() if k != "sentences"})
    figures = {"sentences": len(pool), "mentions": int(pool.counts.sum()), "rounds": rounds}
    held.add(key, figures | {"order": order})
    return figures | {"order": order}


def peer(
    held: Keep, setting: Setting, ours: dict[str, Any], quick: bool, kept: bool
) -> dict[str, Any] | None:
    """Rounds of crfsuite with the sentences that our loop had read, at moments apart alike."""
    key = {"crfsuite": setting.label, "quick": quick, "version": __version__}
    if (known := held.get(key)) is not None or kept or not find_spec("pycrfsuite"):
        return known
    rounds = Rounds(setting.pool(sentences=QUICK if quick else 0))
    reads = [row["estimate"]["read"] for row in ours["rounds"]]
    step = len(reads) / SAMPLES
    chosen = sorted({reads[int((n + 0.5) * step)] for n in range(SAMPLES)})
    seconds = {read: rounds.seconds(ours["order"][:read]) for read in chosen}
    held.add(key, {"seconds": {str(read): value for read, value in seconds.items()}})
    return held.get(key)
