"""Gold and predictions in files: how to read them, and their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ..codes.policy import POLICIES, get_tag_policy
from ..codes.scheme import get_scheme
from ..corpus.align import Pair, aligned
from ..corpus.corpus import Corpus, likely_schemes
from ..corpus.files import shown, write_bytes
from ..corpus.formats.options import ADVANCED, COLUMNS, ReadOptions, option
from ..corpus.inputs import is_stream, require_once, require_other
from ..corpus.opener import Opener
from ..errors import ColumnError, FileError, MalformedTagsError, OptionError, SettingError
from .files import FileReport, PairScorer, score_pairs
from .side_by_side import PolicyScore, policies, under_policies
from .signature import AVERAGES, MATCHES, METRICS, OFFSETS, SPANS, Signature

if TYPE_CHECKING:
    from .resampling import Interval


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


@dataclass(frozen=True)
class FilePairs:
    """Gold and predictions in files, or both in one file, and how to compare them."""

    files: Opener
    gold: str
    predictions: tuple[str | None, ...]
    how: ReadOptions
    scheme: str = ""
    compared: ScoreOptions = field(default_factory=ScoreOptions)
    schemes: dict[tuple[str, int], str] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        require_once(path for name in self.predictions for path in (self.gold, name) if path)
        self.files.check(self.paths, self.how)
        if None in self.predictions and Corpus(self.gold, self.how).format.name != "columns":
            raise OptionError("name a gold file and predictions", "GOLD PRED")

    @property
    def paths(self) -> list[str]:
        """The names of all files."""
        return [self.gold, *filter(None, self.predictions)]

    def name(self, predicted: str | None) -> str:
        """Return what a prediction is called."""
        return predicted or self.gold

    @contextmanager
    def pairs(self, predicted: str | None) -> Iterator[Iterator[Pair]]:
        """Open the gold and predicted sentences of one prediction, whose progress is shown."""
        with ExitStack() as stack:
            gold, other = (
                replace(corpus, progress=stack.enter_context(self.files.bar(corpus.path)))
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
        if is_stream(path) or Corpus(path, how).format.name != "columns":
            return 0
        first = islice(Corpus(path, replace(how, layers=())), 1)
        return next((part.origin.part.layout.width for part in first), 0)

    def _corpus(self, path: str, how: ReadOptions) -> Corpus:
        """Return a file, with the scheme that it is found in if nobody has named one."""
        key = path, how.tag
        if not self.scheme and key not in self.schemes:
            self.schemes[key] = self.files.scheme(path, how)
        return Corpus(path, how, scheme=self.schemes.get(key, ""))

    def score(self, predicted: str | None, scorers: Sequence[PairScorer]) -> None:
        """Read one prediction and score it under several recipes."""
        with self.pairs(predicted) as pairs:
            score_pairs(pairs, scorers)
        refused = scorers[0].refused_gold.total or scorers[0].refused.total
        if not (scorers[0].counts.sentences or refused):
            name = self.name(predicted)
            self.files.tell(f"{name}: there are no sentences, so there is no score")
        if predicted is None and scorers[0].counts.labels_apart:
            column = -2 if self.compared.gold_tag is None else self.compared.gold_tag
            self.files.tell(
                f"{shown(self.gold)}: no label is in both columns: is column {column} the gold tag "
                "(--gold-tag)? Else name a file of predictions"
            )
        for name, findings in scorers[0].findings.items():
            self.files.tell_findings(name, findings)

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

    def under_policies(self, signature: Signature, form: str) -> str:
        """Return a table of every prediction under every policy."""
        scores = []
        for predicted in self.predictions:
            scorers = [PairScorer(each, count_refused=True) for each in under_policies(signature)]
            self.score(predicted, scorers)
            with self.naming_schemes(predicted):
                scores += [PolicyScore.of(self.name(predicted), scorer) for scorer in scorers]
        return policies(scores, form)

    def page(self, signature: Signature, locate: int, keep_matched: bool) -> tuple[FileReport, str]:
        """Score the prediction under every policy in one go; return it with the page of one."""
        from .page import page  # here, since most scores do without it

        chosen = PairScorer(signature, keep_matched, locate)
        others = [] if signature.scheme == SPANS else under_policies(signature)
        scorers = [
            chosen if each == signature else PairScorer(each, count_refused=True) for each in others
        ]
        (predicted,) = self.predictions
        self.score(predicted, scorers or [chosen])
        with self.naming_schemes(predicted):
            report = chosen.report()
        paths = [shown(path) for path in (predicted, self.gold) if path is not None]
        names = [Path(path).name for path in paths]
        title = " against ".join(names if len(set(names)) == len(names) else paths)
        return report, page(report, scorers, title)

    def interval(self, report: FileReport, level: float) -> Interval:
        """Return the confidence interval of a score over its sentences."""
        from .resampling import bootstrap

        metric = report.signature.metric
        if report.value is None:
            raise FileError(f"There is no interval, since the {metric} is undefined.")
        figures = report.by_sentence()
        return bootstrap(figures, metric, self.compared.rounds, self.compared.seed, level)  # type: ignore[arg-type]

    def require_other(self, output: str) -> None:
        """Raise if the output would take the place of one of the files."""
        require_other(output, self.paths)

    def write(self, output: str, text: str, encoding: str = "utf8") -> None:
        """Write or print a text, but not over one of the files."""
        self.require_other(output)
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
