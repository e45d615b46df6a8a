"""Scoring of files with nested mentions, for the commands score and report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from ..codes.policy import get_tag_policy
from ..corpus.conll import Columns
from ..corpus.files import shown
from ..corpus.nested_formats import COLUMNS, format_of
from ..scoring.files import FileReport
from ..scoring.signature import Signature
from .nested_options import NestedOptions

if TYPE_CHECKING:
    from spacy.vocab import Vocab

    from ..corpus.nested import Finding
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
        if format_of(path) == COLUMNS and not scheme:
            raise typer.BadParameter(f"{path} is a column file: name it", param_hint="--scheme")
    policies = [get_tag_policy(name).name for name in (signature.gold, signature.repair)]
    readings = [options.reading(scheme, policy, columns, files) for policy in policies]
    for predicted in predictions:
        vocab = Vocab()
        scorer = NestedScorer(signature, options.key, locate)
        one, other = (_docs(path, how, vocab) for path, how in zip((gold, predicted), readings))
        scorer.add(one, other, shown(predicted))
        yield predicted, scorer.report()


def _docs(path: str, reading: NestedReading, vocab: Vocab) -> Iterator[NestedDoc]:
    """The Docs of a file; then a line beside the output for each kind that is left out."""
    from ..corpus.mentions import require_mentions
    from ..corpus.nested import told
    from ..corpus.nested_corpus import NestedFile

    findings: list[Finding] = []
    file = NestedFile(path, reading, vocab)
    for number, made in enumerate(file):
        require_mentions(made.doc, reading.key, f"{shown(path)}, Doc {number}")
        findings += made.findings
        yield made
    lines = told(findings)
    if file.violations and reading.tags and not reading.tags.policy.refuses:
        lines.append(f"{file.violations:,} violations repaired")
    for line in lines:
        typer.echo(f"{shown(path)}: {line}", err=True)
