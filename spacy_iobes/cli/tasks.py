"""What the commands that score have in common: their options, and the files they read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Annotated

import typer

from ..codes.policy import POLICIES, get_tag_policy
from ..codes.scheme import get_scheme
from ..corpus.align import Pair, aligned
from ..corpus.corpus import Corpus, likely_schemes
from ..corpus.files import shown, write_bytes
from ..corpus.findings import finding_lines
from ..corpus.formats import format_of
from ..corpus.formats.options import ADVANCED, COLUMNS, ReadOptions, option
from ..corpus.inputs import is_stream, require_once, require_other
from ..errors import ColumnError, MalformedTagsError, SettingError
from ..scoring.files import FileReport, PairScorer, score_pairs
from ..scoring.signature import AVERAGES, MATCHES, METRICS, OFFSETS, SPANS, Signature
from .application import echo
from .options import fields_of, require_columns, scheme_found, tell_kind
from .progress import bar

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="GOLD [PRED...]",
        help="A gold file and predictions for it; or one column file with both in its last "
        "columns.",
    ),
]


@dataclass(frozen=True)
class ScoreOptions:
    """How to compare predictions with gold, and which score is the headline."""

    policy: str = option("raise", f"What malformed predicted tags become: {', '.join(POLICIES)}.")
    gold_policy: str = option("raise", "What malformed gold tags become.")
    metric: str = option("f1", f"Headline: {', '.join(METRICS)}.")
    average: str = option("micro", f"Headline: {', '.join(AVERAGES)}.")
    match: str = option("exact", f"Headline: {', '.join(MATCHES)}.")
    characters: bool = option(False, "Compare mentions by characters: files may have other tokens.")
    seed: int = option(0, "Seed of the random numbers.")
    gold_tag: int | None = option(
        None,
        "Column of the gold tag (default: --tag; where one file holds both, -2).",
        COLUMNS,
    )
    ignore_tokens: bool = option(
        False, "Compare only the lengths of sentences, not their tokens.", ADVANCED
    )
    rounds: int = option(10_000, "Rounds of resampling.", ADVANCED)

    def __post_init__(self) -> None:
        for name, least in (("rounds", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise SettingError(f"{name} must be {least} or more, not {getattr(self, name)}.")

    def signature(self, scheme: str) -> Signature:
        """Return the recipe of the score for tags of a scheme."""
        return Signature(
            self.metric,
            self.average,
            self.match,
            scheme or SPANS,
            get_tag_policy(self.policy).name,
            get_tag_policy(self.gold_policy).name,
            offsets=OFFSETS[int(self.characters)],
        )


score_options = fields_of("compared", ScoreOptions)
"""Give a command the options of `ScoreOptions` in place of its parameter `compared`."""


@dataclass(frozen=True)
class Task:
    """Which files to score, and how to read them."""

    gold: str
    predictions: tuple[str | None, ...]
    how: ReadOptions
    scheme: str = ""
    compared: ScoreOptions = field(default_factory=ScoreOptions)
    schemes: dict[tuple[str, int], str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        require_once(path for name in self.predictions for path in (self.gold, name) if path)
        paths = [self.gold, *filter(None, self.predictions)]
        require_columns(self.how, paths)
        for path in paths:
            tell_kind(path, self.how)

    @classmethod
    def of(cls, files: list[str], how: ReadOptions, scheme: str, compared: ScoreOptions) -> Task:
        """Return the task of some files; the first is gold, and may hold the predictions too."""
        gold, *predictions = files
        task = cls(gold, tuple(predictions) or (None,), how, scheme, compared)
        if not predictions and task.format(gold) != "columns":
            raise typer.BadParameter("name a gold file and predictions", param_hint="GOLD PRED")
        return task

    def format(self, path: str) -> str:
        """Return the name of the format of a file."""
        return format_of(path, self.how.format, self.how).name

    def name(self, predicted: str | None) -> str:
        """Return what a prediction is called."""
        return predicted or self.gold

    @contextmanager
    def pairs(self, predicted: str | None) -> Iterator[Iterator[Pair]]:
        """Open the gold and predicted sentences of one prediction, whose progress is shown."""
        with ExitStack() as stack:
            gold, other = (
                replace(corpus, progress=stack.enter_context(bar(corpus.path)))
                for corpus in self.sides(predicted)
            )
            if predicted is None:
                yield both_layers(gold)
            else:
                yield aligned(gold, other, self.compared.ignore_tokens, self.compared.characters)

    def sides(self, predicted: str | None) -> tuple[Corpus, Corpus]:
        """Return gold and one prediction, which may both be in one file."""
        column = self.compared.gold_tag
        if predicted is None:
            column = -2 if column is None else column
            if column == self.how.tag:
                raise ColumnError(
                    f"{shown(self.gold)}: column {column} cannot hold both the gold tag "
                    "(--gold-tag) and the predicted tag (--tag)."
                )
            layers = (str(column), str(self.how.tag))
            both = replace(self.how, layers=layers)
            if 0 < (width := self._width(self.gold, both)) < 3:
                require_three_columns(Corpus(self.gold, both), width)
            corpus = self._corpus(self.gold, both)
            return corpus, corpus
        of_gold = self.how if column is None else replace(self.how, tag=column)
        gold, other = (
            self._fitted(path, how) for path, how in ((self.gold, of_gold), (predicted, self.how))
        )
        return self._corpus(self.gold, gold), self._corpus(predicted, other)

    def _fitted(self, path: str, how: ReadOptions) -> ReadOptions:
        """Return how to read a file of two columns beside one with the layers that are named."""
        columns = [key for key, _ in how.layer_keys if isinstance(key, int)]
        alone = columns and max(columns) > 1 and self._width(path, how) == 2
        return replace(how, layers=()) if alone else how

    def _width(self, path: str, how: ReadOptions) -> int:
        """Return how many columns a file has; 0 if nobody can know before it is read."""
        if is_stream(path) or self.format(path) != "columns":
            return 0
        first = islice(Corpus(path, replace(how, layers=())), 1)
        return next((part.origin.part.layout.width for part in first), 0)

    def _corpus(self, path: str, how: ReadOptions) -> Corpus:
        """Return a file, with the scheme that it is found in if nobody has named one."""
        key = path, how.tag
        if not self.scheme and key not in self.schemes:
            self.schemes[key] = scheme_found(path, how)
        return Corpus(path, how, scheme=self.schemes.get(key, ""))

    def score(self, predicted: str | None, scorers: Sequence[PairScorer]) -> None:
        """Read one prediction and score it under several recipes."""
        with self.pairs(predicted) as pairs:
            score_pairs(pairs, scorers)
        refused = scorers[0].refused_gold.total or scorers[0].refused.total
        if not (scorers[0].counts.sentences or refused):
            name = self.name(predicted)
            echo(f"{name}: there are no sentences, so there is no score", err=True)
        for name, findings in scorers[0].findings.items():
            for line in finding_lines(findings):
                echo(f"{name}: {line}", err=True)

    def reports(
        self, signature: Signature, keep_matched: bool = False, locate: int = 0
    ) -> Iterator[tuple[str, FileReport]]:
        """Yield every prediction with its report under one recipe."""
        for predicted in self.predictions:
            scorer = PairScorer(signature, keep_matched, locate)
            self.score(predicted, [scorer])
            with self.naming_schemes(predicted):
                report = scorer.report()
            yield self.name(predicted), report

    @contextmanager
    def naming_schemes(self, predicted: str | None) -> Iterator[None]:
        """Let the error of a prediction say which schemes the files at fault seem to have."""
        try:
            yield
        except MalformedTagsError as error:
            if self.scheme:
                names = {violation.file for violation in error.violations}
                sides = {side.name: side for side in self.sides(predicted) if side.name in names}
                error.schemes = likely_schemes(list(sides.values()), get_scheme(self.scheme))
            raise

    def deliver(self, output: str, text: str, encoding: str = "utf8") -> None:
        """Write or print a text, but not over one of the files."""
        require_other(output, [self.gold, *filter(None, self.predictions)])
        with write_bytes(output, encoding) as put:
            put(text.encode("utf8"))


def both_layers(corpus: Corpus) -> Iterator[Pair]:
    """Yield the gold and the predicted tags of one file, its two layers."""
    for part in corpus:
        if not part.tokens:
            continue
        require_three_columns(corpus, part.origin.part.layout.width)
        gold, predicted = (replace(part, tags=(layer,), layer_labels=()) for layer in part.tags)
        yield gold, predicted


def require_three_columns(corpus: Corpus, width: int) -> None:
    """Raise unless token, gold tag and predicted tag are three different columns."""
    gold, predicted = (layer.column for layer in corpus.options.named_layers)
    reason = ""
    if width < 3:
        reason = (
            f"{width} column{'s' * (width != 1)}, but a file that holds both annotations needs "
            "three: token, gold tag, predicted tag. Else name a file of predictions."
        )
    else:
        others = {"token": (corpus.options.token, "--token"), "predicted tag": (predicted, "--tag")}
        for kind, (column, option) in others.items():
            if (column - gold) % width == 0:
                reason = (
                    f"{width} columns, and column {gold} cannot hold both the gold tag "
                    f"(--gold-tag) and the {kind} ({option})."
                )
    if reason:
        raise ColumnError(f"{corpus.name} has {reason}", corpus.name)
