"""Tagging strategies with several learners: F1, significance, and what the literature found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from statistics import fmean

from spacy_iobes.learners import Options
from spacy_iobes.scoring import corrected_t, paired_t, signed_rank
from spacy_iobes.strategies import (
    ALL,
    STRATEGIES,
    Comparison,
    Plan,
    Row,
    Settings,
    Study,
    cell,
    cores,
    remarks,
    short,
    study,
)

from .corpora import not_at_hand
from .strategies_corpora import CORPORA, Source
from .strategies_speed import speed
from .table import Cell, Table

LEARNERS = ("crf", "softmax", "winnow", "winnow-incremental")
CONSTRAINED, GREEDY = "constrained", "greedy"
LEGEND = [
    "All learners have the same hashed features. Greedy: the likeliest class of each token, as",
    "conlleval reads tags; be: begins take the end of the most frequent length. Constrained: the",
    "best legal sequence; be: the best pairs by begin, end and length. Ensemble: the strategies",
    "vote on spans. Seminars and acquisitions: random halves; the others: their own split.",
]
QUICK_OPTIONS = Options(epochs=2)


def run(
    quick: bool, keep: Path | None = None, only: Sequence[str] | None = None
) -> Iterator[Table]:
    """Compare on every corpus that is at hand, table by table."""
    wanted = {name: CORPORA[name] for name in only or CORPORA}
    missing = [source.title for source in wanted.values() if not source.at_hand()]
    notes = not_at_hand(missing)
    notes += [] if find_spec("pycrfsuite") else ["Not installed: python-crfsuite."]
    yield Table("input", [], [*LEGEND, *notes])
    found: dict[str, Study] = {}
    for name, source in wanted.items():
        if not source.at_hand():
            continue
        found[name] = studied(name, source, quick, keep)
        for comparison in found[name].comparisons:
            yield figures(source, found[name], comparison)
    if found:
        yield findings(found)
        yield decoding(found)
        yield incremental(found)
    for name in found if find_spec("pycrfsuite") else ():
        file = None if keep is None else keep.with_name(f"{keep.stem}.{name}.crfsuite.jsonl")
        yield speed(wanted[name], quick, plan(wanted[name], quick).options, file)


def plan(source: Source, quick: bool) -> Plan:
    """Everything with everything."""
    options = QUICK_OPTIONS if quick else Options()
    return Plan(STRATEGIES, LEARNERS, by_unit=bool(source.columns), options=options)


def studied(name: str, source: Source, quick: bool, keep: Path | None) -> Study:
    """One corpus, or what is kept of it."""
    train, test = source.load(quick)
    splits = min(source.splits, 2) if quick else source.splits
    file = None if keep is None else keep.with_name(f"{keep.stem}.{name}.jsonl")
    return study(name, train, Settings(plan(source, quick), splits), test=test, keep=file)


def figures(source: Source, found: Study, comparison: Comparison) -> Table:
    """F1 of every row, with marks."""
    rows: list[dict[str, Cell]] = []
    for row in comparison.scores:
        cells: dict[str, Cell] = {**row._asdict(), "classes": comparison.classes.get(row.strategy)}
        for column in comparison.columns:
            cells[column] = cell(comparison, row, column).strip()
        cells["learn s"] = comparison.seconds.get(row)
        rows.append(cells)
    title = f"{source.title}, {short(comparison)}"
    spent = f"{found.cpu_seconds:.0f} s of CPU time for all rows, on {cores()} cores."
    return Table(title, rows, [f"{found.facts}.", *remarks(comparison), spent])


def findings(found: dict[str, Study]) -> Table:
    """What Siefkes (2006) reports, and what is so here: token-wise learners, one answer a slot."""
    rows: list[dict[str, Cell]] = []
    for (name, each), learner in product(found.items(), ("winnow", "softmax")):
        exact, slots = each.comparisons
        for decoding in (GREEDY, CONSTRAINED):
            comparison = slots if slots.tests else exact
            ranked = sorted(
                STRATEGIES,
                key=lambda s: -comparison.scores[Row(learner, decoding, s)][ALL].mean,
            )
            rows.append(
                {
                    "corpus": name,
                    "learner": learner,
                    "decoding": decoding,
                    "best to worst": " ".join(ranked),
                    "bio, bia best": verdict({*ranked[:2]} == {"bio", "bia"}),
                    "bie worst": verdict(ranked[-1] == "bie"),
                    "better than bio": marks(comparison, learner, decoding, "+"),
                    "worse than bio": marks(comparison, learner, decoding, "-"),
                }
            )
    notes = [
        "The paper (Winnow, greedy): IOB2 and BIA best, nothing significantly better than IOB2 on",
        "any slot, BIE worst, significantly worse in about half of all cases; IOB1 and Triv worse",
        "on 1 or 2 slots, BE on 3 or 4. Counts here: labels with p < 0.05, by one answer per slot;",
        "where a corpus has its own split, by exact match.",
    ]
    return Table("what the paper found, and what is so here", rows, notes)


def verdict(holds: bool) -> str:
    """Yes or no."""
    return "yes" if holds else "no"


def marks(comparison: Comparison, learner: str, decoding: str, mark: str) -> str:
    """For each strategy: on how many labels it has the mark."""
    labels = comparison.columns[1:]
    counts = {
        strategy: sum(
            comparison.mark(Row(learner, decoding, strategy), label) == mark for label in labels
        )
        for strategy in STRATEGIES
    }
    listed = ", ".join(f"{strategy} {count}" for strategy, count in counts.items() if count)
    return f"{listed or 'none'} of {len(labels)}"


def decoding(found: dict[str, Study]) -> Table:
    """What constrained decoding changes: the difference of mean F1 in hundredths."""
    rows: list[dict[str, Cell]] = []
    for (name, each), learner in product(found.items(), LEARNERS):
        for comparison in each.comparisons:
            row: dict[str, Cell] = {
                "corpus": name,
                "learner": learner,
                "measure": comparison.measure,
            }
            for strategy in STRATEGIES:
                before, after = (
                    comparison.scores[Row(learner, how, strategy)][ALL].mean
                    for how in (GREEDY, CONSTRAINED)
                )
                row[strategy] = f"{100 * before:.1f} -> {100 * after:.1f}"
            rows.append(row)
    return Table("F1 greedy -> constrained", rows)


def incremental(found: dict[str, Study]) -> Table:
    """Winnow in one pass beside Winnow in several: the same splits, strategy by strategy."""
    rows: list[dict[str, Cell]] = []
    for (name, each), how in product(found.items(), (GREEDY, CONSTRAINED)):
        for comparison in each.comparisons:
            pairs = [
                [
                    comparison.scores[Row(learner, how, strategy)][ALL]
                    for learner in ("winnow-incremental", "winnow")
                ]
                for strategy in STRATEGIES
            ]
            means = [100 * fmean(pair[side].mean for pair in pairs) for side in (0, 1)]
            row: dict[str, Cell] = {
                "corpus": name,
                "decoding": how,
                "measure": comparison.measure,
                "one pass": means[0],
                "batch": means[1],
                "difference": means[0] - means[1],
            }
            one, batch = (
                [fmean(values) for values in zip(*(pair[side].values for pair in pairs))]
                for side in (0, 1)
            )
            several = len(one) > 1
            row["p (t)"] = paired_t(one, batch).p if several else None
            row["p (corrected t)"] = corrected_t(one, batch).p if several else None
            row["p (Wilcoxon)"] = signed_rank(one, batch).p if several else None
            rows.append(row)
    notes = ["Means over the strategies. The paper: incremental training is slightly worse."]
    formats = dict.fromkeys(("one pass", "batch"), ".1f") | {"difference": "+.1f"}
    return Table("Winnow, one pass beside several", rows, notes, formats)
