"""Scoring of files with nested mentions, for the commands score and report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from ..codes.policy import get_tag_policy
from ..corpus.conll import Columns
from ..corpus.files import shown
from ..corpus.nested_formats import COLUMNS, format_of
from ..errors import MalformedTagsError
from ..scoring.files import FileReport, Refused
from ..scoring.signature import Signature
from .application import echo
from .nested_options import NestedOptions
from .options import require_scheme

if TYPE_CHECKING:
    from spacy.vocab import Vocab

    from ..corpus.findings import Finding
    from ..corpus.nested_corpus import NestedDoc, NestedReading


def nested_recipe(
    scheme: str, repair: str | None, gold_repair: str, metric: str, average: str, match: str
) -> Signature:
    """The signature of a score of nested mentions; without a scheme the spans are given as such."""
    from .tasks import recipe

    if scheme:
        return recipe(scheme, repair, gold_repair, metric, average, match)
    return Signature(metric, average, match)


def nested_reports(
    files: Sequence[str],
    options: NestedOptions,
    columns: Columns,
    scheme: str,
    signature: Signature,
    locate: int = 0,
) -> Iterator[tuple[str, FileReport]]:
    """Every prediction with its report; the first file is gold."""
    from spacy.vocab import Vocab

    from ..scoring.nested_files import NestedScorer

    gold, *predictions = files
    if not predictions:
        raise typer.BadParameter("name a gold file and predictions", param_hint="GOLD PRED")
    for path in files:
        if format_of(path) == COLUMNS:
            require_scheme(scheme, path)
    policies = [get_tag_policy(name).name for name in (signature.gold, signature.repair)]
    readings = [options.reading(scheme, policy, columns, files) for policy in policies]
    for predicted in predictions:
        vocab = Vocab()
        scorer = NestedScorer(signature, options.key, locate)
        sides = zip((gold, predicted), readings, (Refused.gold(), Refused.predictions()))
        one, other = (_docs(path, how, vocab, refused) for path, how, refused in sides)
        scorer.add(one, other, shown(predicted))
        yield predicted, scorer.report()


def _docs(path: str, reading: NestedReading, vocab: Vocab, refused: Refused) -> Iterator[NestedDoc]:
    """The Docs of a file; then a line beside the output for each kind that is left out.

    If its tags are refused, the error says which side it is.
    """
    from ..corpus.findings import finding_lines
    from ..corpus.mentions import require_mentions
    from ..corpus.nested_corpus import NestedFile

    findings: list[Finding] = []
    file = NestedFile(path, reading, vocab)
    try:
        for number, made in enumerate(file):
            require_mentions(made.doc, reading.key, f"{shown(path)}, Doc {number}")
            findings += made.findings
            yield made
    except MalformedTagsError as error:
        refused.violations, refused.total = list(error.violations), len(error.violations)
        error.advice = refused.advice()
        raise
    lines = finding_lines(findings)
    if file.violations and reading.tags and not reading.tags.policy.refuses:
        lines.append(f"{file.violations:,} violations repaired")
    for line in lines:
        echo(f"{shown(path)}: {line}", err=True)
