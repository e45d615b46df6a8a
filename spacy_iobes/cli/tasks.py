"""What the commands that score have in common: their options, and the files they read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from ..codes.policy import POLICIES, get_tag_policy
from ..codes.scheme import Scheme, get_scheme
from ..corpus.conll import Columns
from ..corpus.files import shown, write_bytes
from ..corpus.inputs import require_once, require_other
from ..corpus.pairs import Pair, both_columns, paired
from ..corpus.survey import common, likely_schemes
from ..errors import MalformedTagsError
from ..scoring.files import FileReport, PairScorer, score_pairs
from ..scoring.signature import AVERAGES, MATCHES, METRICS, Signature
from .application import echo
from .progress import reading

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="GOLD [PRED...]",
        help="A gold file and predictions for it; or one file that holds both in its last columns.",
    ),
]
Repair = Annotated[
    str | None,
    typer.Option(
        "--repair",
        "-r",
        help=f"Policy for malformed predictions: {', '.join(POLICIES)}. There is no default, but "
        "where all tags are legal none is needed.",
    ),
]
GoldRepair = Annotated[str, typer.Option("--gold-repair", help="Policy for malformed gold tags.")]
Metric = Annotated[str, typer.Option("--metric", help=f"Headline: {', '.join(METRICS)}.")]
Average = Annotated[str, typer.Option("--average", help=f"Headline: {', '.join(AVERAGES)}.")]
Match = Annotated[str, typer.Option("--match", help=f"Headline: {', '.join(MATCHES)}.")]
IgnoreTokens = Annotated[
    bool,
    typer.Option(
        "--ignore-tokens", help="Compare only the lengths of sentences, not their tokens."
    ),
]
GoldIndex = Annotated[
    int | None,
    typer.Option(
        "--gold-index",
        help="Column of the gold tag (default: --tag-index; where one file holds both, -2).",
    ),
]
Rounds = Annotated[int, typer.Option("--rounds", help="Of resampling.", min=1)]
Seed = Annotated[int, typer.Option("--seed", help="Of the random numbers.", min=0)]
ROUNDS = 10_000


@dataclass(frozen=True)
class Task:
    """Which files to score, and how to read them."""

    gold: str
    predictions: tuple[str | None, ...]
    columns: Columns
    gold_column: int | None = None
    ignore_tokens: bool = False

    def __post_init__(self) -> None:
        require_once(path for name in self.predictions for path in (self.gold, name) if path)

    @classmethod
    def of(
        cls, files: list[str], columns: Columns, gold_column: int | None, ignore_tokens: bool
    ) -> Task:
        """The first file is gold; without others it holds the predictions too."""
        gold, *predictions = files
        return cls(gold, tuple(predictions) or (None,), columns, gold_column, ignore_tokens)

    def name(self, predicted: str | None) -> str:
        """What a prediction is called."""
        return predicted or self.gold

    @contextmanager
    def pairs(self, predicted: str | None) -> Iterator[Iterator[Pair]]:
        """The gold and predicted parts of one prediction."""
        with ExitStack() as stack:
            if predicted is None:
                reader = stack.enter_context(reading(self.gold, self.columns))
                yield both_columns(reader, -2 if self.gold_column is None else self.gold_column)
                return
            shared: dict[bytes, int] = {}
            column = self.columns.tag if self.gold_column is None else self.gold_column
            of_gold = replace(self.columns, tag=column)
            gold = stack.enter_context(reading(self.gold, of_gold, shared))
            other = stack.enter_context(reading(predicted, self.columns, shared))
            yield paired(gold, other, self.ignore_tokens)

    def score(self, predicted: str | None, scorers: Sequence[PairScorer]) -> None:
        """Read one prediction and score it under several recipes."""
        with self.pairs(predicted) as pairs:
            score_pairs(pairs, scorers)
        self._remark(predicted, scorers[0])

    def reports(
        self, signature: Signature, keep_matched: bool = False, locate: int = 0
    ) -> Iterator[tuple[str, FileReport]]:
        """Every prediction with its report under one recipe."""
        for predicted in self.predictions:
            scorer = PairScorer(signature, keep_matched, locate)
            self.score(predicted, [scorer])
            with self.naming_schemes(predicted, scorer.scheme):
                report = scorer.report()
            yield self.name(predicted), report

    @contextmanager
    def naming_schemes(self, predicted: str | None, scheme: Scheme) -> Iterator[None]:
        """Let the error of a prediction say which schemes the files at fault seem to have."""
        try:
            yield
        except MalformedTagsError as error:
            column = self.columns.tag if self.gold_column is None else self.gold_column
            sides = [(self.gold, column), (predicted, self.columns.tag)]
            if predicted is None:
                both = -2 if self.gold_column is None else self.gold_column
                sides = [(self.gold, both), (self.gold, self.columns.tag)]
            names = {violation.file for violation in error.violations}
            found = [
                likely_schemes(path, [replace(self.columns, tag=tag)], scheme)
                for path, tag in sides
                if path is not None and shown(path) in names
            ]
            error.schemes = common(found, scheme)
            raise

    def _remark(self, predicted: str | None, scorer: PairScorer) -> None:
        """Say beside the output that a file is empty."""
        refused = scorer.refused_gold.total or scorer.refused.total
        if not (scorer.counts.sentences or refused):
            name = self.name(predicted)
            echo(f"{name}: there are no sentences, so there is no score", err=True)

    def deliver(self, output: str, text: str, encoding: str = "utf8") -> None:
        """Write or print a text, but not over one of the files."""
        require_other(output, [self.gold, *filter(None, self.predictions)])
        with write_bytes(output, encoding) as put:
            put(text.encode("utf8"))


def recipe(
    scheme: str, repair: str | None, gold_repair: str, metric: str, average: str, match: str
) -> Signature:
    """The signature that the options ask for; without a repair there is none."""
    name = get_scheme(scheme).name
    policies = [get_tag_policy(policy).name for policy in (repair or "raise", gold_repair)]
    return Signature(metric, average, match, name, *policies)
