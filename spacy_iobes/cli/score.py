"""Commands that score files: score, errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

import typer

from ..codes.policy import POLICIES
from ..codes.scheme import get_scheme
from ..corpus.conll import Columns
from ..corpus.files import STANDARD, write_bytes
from ..corpus.pairs import Pair, both_columns, paired
from ..errors import FileError
from ..scoring.files import FileReport, Located, PairScorer, score_pairs
from ..scoring.formats import FORMATS, aligned, percent
from ..scoring.signature import AVERAGES, MATCHES, METRICS, Signature, known
from .app import command
from .options import Json, Limit, SchemeName, column_options
from .progress import reading
from .survey import json_text, print_json

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
OutputFile = Annotated[str, typer.Option("--output", "-o", help="Where to write; - prints.")]
IgnoreTokens = Annotated[
    bool,
    typer.Option(
        "--ignore-tokens", help="Compare only the lengths of sentences, not their tokens."
    ),
]
GoldIndex = Annotated[
    int, typer.Option("--gold-index", help="Column of the gold tag where one file holds both.")
]
Format = Annotated[str, typer.Option("--format", help=f"One of: {', '.join(FORMATS)}.")]


@dataclass(frozen=True)
class Task:
    """Which files to score, and how to read them."""

    gold: str
    predictions: tuple[str | None, ...]
    columns: Columns
    gold_column: int = -2
    ignore_tokens: bool = False

    @classmethod
    def of(cls, files: list[str], columns: Columns, gold_column: int, ignore_tokens: bool) -> Task:
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
                yield both_columns(reader, self.gold_column)
                return
            shared: dict[bytes, int] = {}
            gold = stack.enter_context(reading(self.gold, self.columns, shared))
            other = stack.enter_context(reading(predicted, self.columns, shared))
            yield paired(gold, other, self.ignore_tokens)

    def score(
        self, predicted: str | None, signatures: Sequence[Signature], **keep: bool
    ) -> list[PairScorer]:
        """Read one prediction and score it under several recipes."""
        with self.pairs(predicted) as pairs:
            return score_pairs(pairs, signatures, **keep)

    def reports(self, signature: Signature, **keep: bool) -> list[FileReport]:
        """The report of every prediction under one recipe."""
        return [self.score(p, [signature], **keep)[0].report() for p in self.predictions]


def recipe(
    scheme: str, repair: str | None, gold_repair: str, metric: str, average: str, match: str
) -> Signature:
    """The signature that the options ask for; without a repair there is none."""
    name = get_scheme(scheme).name
    return Signature(metric, average, match, name, repair or "raise", gold_repair)


def deliver(output: str, text: str) -> None:
    """Write or print a text."""
    with write_bytes(output) as put:
        put(text.encode("utf8"))


@command("score")
@column_options
def score_cli(
    files: Files,
    scheme: SchemeName,
    columns: Columns,
    repair: Repair = None,
    gold_repair: GoldRepair = "raise",
    form: Format = "table",
    policies: Annotated[
        bool, typer.Option("--policies", help="Score under every policy, side by side.")
    ] = False,
    metric: Metric = "f1",
    average: Average = "micro",
    match: Match = "exact",
    gold_index: GoldIndex = -2,
    ignore_tokens: IgnoreTokens = False,
    output: OutputFile = STANDARD,
) -> None:
    """Score predictions against gold; the score says how it was made."""
    known("format", form, tuple(FORMATS))
    signature = recipe(scheme, repair, gold_repair, metric, average, match)
    if form == "conlleval":  # it counts document markers as tokens
        columns = replace(columns, markers=())
    task = Task.of(files, columns, gold_index, ignore_tokens)
    if policies:
        deliver(output, policy_table(task, signature, form))
        return
    reports = task.reports(signature)
    if len(reports) == 1:
        deliver(output, FORMATS[form](reports[0]))
    else:
        deliver(output, runs_table(task, reports, form))


def policy_table(task: Task, signature: Signature, form: str) -> str:
    """The same predictions under every policy: how far the choice moves the score."""
    recipes = [replace(signature, repair=name) for name in POLICIES]
    results: list[dict[str, Any]] = []
    for predicted in task.predictions:
        for scorer in task.score(predicted, recipes):
            result: dict[str, Any] = {"file": task.name(predicted)}
            result |= {"policy": scorer.signature.repair, "signature": str(scorer.signature)}
            result |= {"violations": len(scorer.refused), "value": None}
            if not scorer.refused:
                report = scorer.report()
                result |= {"value": report.value, "violations": report.counts.violations}
                result |= report.micro._asdict()
            results.append(result)
    if form == "json":
        return json_text(results) + "\n"
    header = ("file", "policy", "violations", "precision", "recall", "f1")
    rows = [
        (r["file"], r["policy"], f"{r['violations']:,}")
        + (tuple(percent(r[k]) for k in header[3:]) if "f1" in r else ("refused", "", ""))
        for r in results
    ]
    text = aligned(header, rows, "llrrrr")
    return f"{text}\nsignature {replace(signature, repair='raise')} with repair as listed\n"


def runs_table(task: Task, reports: Sequence[FileReport], form: str) -> str:
    """Several runs: each, then their mean, standard deviation and standard error."""
    from ..scoring.runs import Runs

    names = [task.name(predicted) for predicted in task.predictions]
    values = [report.value for report in reports]
    runs = None if None in values else Runs([v for v in values if v is not None])
    spread = {"mean": runs.mean, "sd": runs.sd, "se": runs.se} if runs else {}
    signature = str(reports[0].signature)
    if form == "json":
        listed = [{"file": n, **report.as_dict()} for n, report in zip(names, reports)]
        return json_text({"signature": signature, "runs": listed, **spread}) + "\n"
    if form != "table":
        raise FileError(
            f"The format {form!r} is for one prediction; several go with table or json."
        )
    rows = [(n, *map(percent, r.micro), percent(r.value)) for n, r in zip(names, reports)]
    rows += [(name, "", "", "", percent(value)) for name, value in spread.items()]
    header = ("run", "precision", "recall", "f1", "score")
    text = aligned(header, rows, "lrrrr", rules=(0, len(reports)))
    return f"{text}\nsignature {signature}\n"


@command("errors")
@column_options
def errors_cli(
    files: Files,
    scheme: SchemeName,
    columns: Columns,
    repair: Repair = None,
    gold_repair: GoldRepair = "raise",
    gold_index: GoldIndex = -2,
    ignore_tokens: IgnoreTokens = False,
    limit: Limit = 100,
    json: Json = False,
) -> None:
    """List every mistake with its line: missed, spurious, wrong label, wrong border."""
    signature = recipe(scheme, repair, gold_repair, "f1", "micro", "exact")
    task = Task.of(files, columns, gold_index, ignore_tokens)
    results: list[dict[str, Any]] = []
    for predicted in task.predictions:
        (scorer,) = task.score(predicted, [signature], keep_mistakes=True)
        located = scorer.report().located
        name = task.name(predicted)
        kinds = Counter(mistake.mistake.kind for mistake in located)
        results.append({"file": name, "signature": str(signature), "kinds": dict(kinds)})
        if json:
            results[-1]["mistakes"] = [flat(mistake) for mistake in located]
            continue
        for mistake in located[: limit or None]:
            typer.echo(in_words(mistake, name))
        if limit and len(located) > limit:
            typer.echo(f"{name}: and {len(located) - limit:,} more (--limit 0 shows all)")
        said = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
        typer.echo(f"{name}: {len(located):,} mistakes{f' ({said})' if said else ''}")
    if json:
        print_json(results)


def flat(located: Located) -> dict[str, Any]:
    """A mistake as one dict."""
    fields = asdict(located)
    return {**fields.pop("mistake"), **fields}


def in_words(located: Located, name: str) -> str:
    """A mistake in one line."""
    mistake = located.mistake
    sides = []
    for kind, span in (("gold", mistake.gold), ("predicted", mistake.predicted)):
        if span:
            start, end, label = span
            sides.append(f"{kind} {label} {' '.join(located.tokens[start:end])!r}")
    return f"{name}:{located.predicted_line}: {mistake.kind}: {', '.join(sides)}"
