"""How far the repair of malformed tags moves published scores: four models of MasakhaNER.

The question of the SeqScore paper (Palen-Michel, Holley and Lignos 2021), asked of outputs that the
authors of MasakhaNER published: the same output, repaired by `begin` as conlleval does, or by
`discard`. Every number is exact or seeded; nothing is timed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from spacy_iobes import Report, score
from spacy_iobes.corpus import ColumnReader
from spacy_iobes.scoring import Test, randomisation, rank_sum

from .corpora import PLACE, Sentences, data
from .significance import LEVEL, gain_needed, holm, sign_test
from .table import Cell, Table

OUTPUTS, GOLD = "masakhaner1-predictions", "masakhaner1"
POLICIES = ("begin", "discard", "ncrfpp", "stanza", "nearest")
POINTS = {"change": "+.2f", "mean change": "+.2f", "p": ".2g", "rank-sum p": ".3f"}
POINTS |= {"sign test p": ".3f", "sd": ".2f", "needed": ".1f"}
POINTS |= dict.fromkeys(POLICIES, ".2f")


@dataclass(frozen=True)
class Output:
    """One model's output for one language, scored under every policy."""

    model: str
    language: str
    reports: dict[str, Report]
    test: Test

    def f1(self, policy: str) -> float:
        """F1 in points."""
        return 100 * (self.reports[policy].micro.f1 or 0.0)

    @property
    def change(self) -> float:
        """What `discard` adds to the F1 of `begin`."""
        return self.f1("discard") - self.f1("begin")

    @property
    def violations(self) -> int:
        """How many there are in the predictions."""
        return self.reports["begin"].counts.violations


def tags(path: Path) -> Sentences:
    """The tags of a column file."""
    return [list(row) for part in ColumnReader(path) for row in part.tags]


def gold_file(language: str) -> Path:
    """The test set; the Amharic one lost a token after the models had run."""
    if language == "amh":
        return data() / OUTPUTS / "gold" / "amh_test_2021-03-17.txt"
    return data() / GOLD / language / "test.txt"


def read(path: Path, rounds: int) -> Output:
    """Score one output under every policy; gold is repaired by `begin` for all of them."""
    language = path.name.partition("_")[0]
    gold, predicted = tags(gold_file(language)), tags(path)
    reports = {
        policy: score(gold, predicted, scheme="bio", policy=policy, gold_policy="begin")
        for policy in POLICIES
    }
    after, before = (reports[policy].by_sentence() for policy in ("discard", "begin"))
    test = randomisation(after, before, rounds=rounds)
    return Output(path.parent.name, language, reports, test)


def by_output(outputs: Sequence[Output]) -> Table:
    """Every model and language: both scores, and whether they differ by more than chance."""
    rows: list[dict[str, Cell]] = [
        {
            "model": output.model,
            "language": output.language,
            "violations": output.violations,
            "begin": output.f1("begin"),
            "discard": output.f1("discard"),
            "change": output.change,
            "p": output.test.p,
            f"p < {LEVEL}": "yes" if output.test.p < LEVEL else "",
            "method": output.test.method,
        }
        for output in outputs
    ]
    notes = [
        "F1 in points. p: paired randomisation over sentences between both repairs of one output,",
        "two-sided, seed 0; exact: from all outcomes of swapping, where those are few enough.",
    ]
    silent = [f"{o.model} {o.language}" for o in outputs if not o.reports["begin"].counts.totals[1]]
    if silent:
        notes.append(f"No spans predicted at all, so nothing to repair: {', '.join(silent)}.")
    return Table("begin against discard", rows, notes, POINTS)


def by_model(outputs: Sequence[Output]) -> Table:
    """The mean change of every model, and what tests over the languages say of it."""
    rows: list[dict[str, Cell]] = []
    for model, group in models(outputs).items():
        before, after = ([o.f1(policy) for o in group] for policy in ("begin", "discard"))
        up, down = (sum(sign * o.change > 0 for o in group) for sign in (1, -1))
        rows.append(
            {
                "model": model,
                "languages": len(group),
                "violations": sum(o.violations for o in group),
                "mean change": fmean(o.change for o in group),
                "up": up,
                "down": down,
                "sign test p": sign_test(up, down),
                f"p < {LEVEL} above": sum(o.test.p < LEVEL for o in group),
                "rank-sum p": rank_sum(after, before, "plain").p,
                "sd": stdev(before) if len(before) > 1 else None,
                "needed": gain_needed(before),
            }
        )
    notes = [
        "rank-sum p: Wilcoxon's test (plain: normal approximation) between the languages' F1s",
        "under either repair, as independent samples: a change must stand out from how far the",
        "languages differ (sd, under begin). needed: how many points every language would have",
        f"to gain for p < {LEVEL}. With one run for each language only changes as large as that",
        "can be shown, and finding none does not mean that the repairs agree. Tests that keep",
        "the pairs see more: by sentence (above), by language (sign test, unchanged left out).",
    ]
    return Table("begin against discard, by model", rows, notes, POINTS)


def models(outputs: Sequence[Output]) -> dict[str, list[Output]]:
    """The outputs of every model."""
    names = dict.fromkeys(output.model for output in outputs)
    return {name: [o for o in outputs if o.model == name] for name in names}


def by_policy(outputs: Sequence[Output]) -> Table:
    """The mean F1 of every model under every policy, and what the numbers come to."""
    rows: list[dict[str, Cell]] = [
        {
            "model": model,
            **{policy: fmean(o.f1(policy) for o in group) for policy in POLICIES},
        }
        for model, group in models(outputs).items()
    ]
    return Table("all policies, mean F1 over the languages", rows, findings(outputs), POINTS)


def findings(outputs: Sequence[Output]) -> list[str]:
    """What the numbers say, in sentences."""
    largest = max(outputs, key=lambda output: abs(output.change))
    up, down = (sum(sign * o.change > 0 for o in outputs) for sign in (1, -1))
    p_values = [output.test.p for output in outputs]
    significant = sum(p < LEVEL for p in p_values)
    total = len(outputs)
    return [
        "For BIO tags ncrfpp is discard.",
        f"The largest change is {largest.change:+.2f} points: {largest.model}, {largest.language}, "
        f"from {largest.f1('begin'):.2f} (begin) to {largest.f1('discard'):.2f} (discard).",
        f"{significant} of {total} changes are significant at {LEVEL}, {holm(p_values)} of them "
        f"after Holm's correction for {total} tests.",
        f"Discarding raises F1 in {up} of {total} outputs, lowers it in {down} and leaves it in "
        f"{total - up - down}: the choice is not neutral, so a score must name it.",
    ]


def run(quick: bool) -> Iterator[Table]:
    """Score all outputs, table by table."""
    paths = sorted((data() / OUTPUTS).glob("*/*_test_predictions.txt.gz"))
    if not paths or not (data() / GOLD).is_dir():
        missing = f"Nothing to score: {OUTPUTS} and {GOLD} are not in the data directory."
        yield Table("policies", [], [f"{missing} {PLACE}"])
        return
    outputs = [read(path, rounds=1000 if quick else 10_000) for path in paths]
    yield by_output(outputs)
    yield by_model(outputs)
    yield by_policy(outputs)
