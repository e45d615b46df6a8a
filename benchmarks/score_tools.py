"""The tools that score lists of tags, as far as they are installed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from spacy_iobes import Report, repair_many, score
from spacy_iobes.scoring import code_alike, formatted

from .corpora import LABELS, Corpus, Sentences, interned, perturbed
from .tools import Tool, Tools

JOB = "score bio"
Pair = tuple[Sentences, Sentences]
"""Gold tags and predicted ones."""

Result = tuple[int, int, int, float]
"""Correct, predicted and gold spans, and F1 (what differs in the tenth digit is rounding)."""


def inputs(corpus: Corpus) -> Pair:
    """Gold tags, and the same with every twentieth changed, legal so that all tools agree."""
    predicted = repair_many(perturbed(corpus.bio), "bio", "begin").tags
    return corpus.bio, interned([list(tags) for tags in predicted])


def result(correct: float, predicted: float, gold: float, f1: float | None) -> Result:
    """What tools must agree on."""
    return round(correct), round(predicted), round(gold), round(f1 or 0.0, 10)


def our_tools() -> Tools:
    """This package: every kind of match, confusion and accuracy are counted in the same call."""

    def ours(pair: Pair) -> Report:
        return score(*pair, scheme="bio", policy="begin")

    def written(pair: Pair) -> tuple[Report, str]:
        report = ours(pair)
        return report, formatted(report)

    def compared(report: Report) -> Result:
        return result(*report.counts.totals, report.micro.f1)

    return {
        JOB: [
            Tool("ours score", ours, compared),
            Tool("ours score, table written", written, lambda output: compared(output[0])),
            Tool("ours score, integer codes", ours, compared, lambda pair: code_alike(*pair)),
        ]
    }


def seqeval_tools() -> Tools:
    """The seqeval package, lenient and strict."""
    from seqeval.metrics import classification_report
    from seqeval.scheme import IOB2

    def run(pair: Pair, **options: Any) -> Any:
        return classification_report(*pair, output_dict=True, **options)

    def compared(report: Any) -> Result:
        micro = report["micro avg"]
        correct = micro["recall"] * micro["support"]
        return result(correct, correct / micro["precision"], micro["support"], micro["f1-score"])

    strict = partial(run, mode="strict", scheme=IOB2)
    return {
        JOB: [
            Tool("seqeval classification_report", run, compared, peer="seqeval"),
            Tool("seqeval classification_report, strict IOB2", strict, compared),
        ]
    }


def seqscore_tools() -> Tools:
    """The seqscore package."""
    from seqscore.scoring import score_label_sequences

    def run(pair: Pair) -> Any:
        return score_label_sequences(pair[1], pair[0], "BIO", repair="conlleval")

    def compared(output: Any) -> Result:
        found = output[0]
        return result(found.true_pos, found.total_pos, found.total_ref, found.f1)

    return {JOB: [Tool("seqscore score_label_sequences", run, compared, peer="seqscore")]}


def nervaluate_tools() -> Tools:
    """The nervaluate package: four kinds of match, of which strict is the one that all tools have.

    It is left out on the large input, which would take it minutes.
    """
    evaluator = import_module("nervaluate").Evaluator

    def run(pair: Pair) -> Any:
        return evaluator(*pair, tags=list(LABELS), loader="list").evaluate()

    def compared(output: Any) -> Result:
        found = output["overall"]["strict"]
        return result(found.correct, found.actual, found.possible, found.f1)

    return {JOB: [Tool("nervaluate Evaluator", run, compared, large=False)]}


def iobes_tools() -> Tools:
    """The iobes package, which parses; Python's sets do the rest."""
    from iobes.parse import parse_spans_bio

    logging.getLogger("iobes").setLevel(logging.CRITICAL)  # it reports each violation

    def run(pair: Pair) -> tuple[int, int, int]:
        correct = predicted = gold = 0
        for sides in zip(*pair):
            reference, guessed = (set(parse_spans_bio(tags)) for tags in sides)
            correct += len(reference & guessed)
            predicted += len(guessed)
            gold += len(reference)
        return correct, predicted, gold

    def compared(counts: tuple[int, int, int]) -> Result:
        correct, predicted, gold = counts
        return result(*counts, 2 * correct / (predicted + gold))

    return {JOB: [Tool("iobes parse_spans_bio and sets", run, compared, peer="iobes")]}


SOURCES: dict[str, Callable[[], Tools]] = {
    "spacy-iobes": our_tools,
    "seqeval": seqeval_tools,
    "seqscore": seqscore_tools,
    "nervaluate": nervaluate_tools,
    "iobes": iobes_tools,
}
