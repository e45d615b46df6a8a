"""The command `simulate`: what a person would have read, if gold annotation played the person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..corpus.formats.options import ReadOptions
from ..scoring.tables import aligned
from ..selection.settings import Settings
from .application import command, counted, echo
from .options import Json, PolicyName, SchemeName, given_of, read_options
from .output import print_json
from .pool_options import Plots, RankingName, docs_to_read, required_labels
from .progress import counter

if TYPE_CHECKING:
    from ..selection.pool import Pool
    from ..selection.simulation import Plan, Round

SHARED = "labels nested batch audit target rule seed start words".split()  # noqa: SIM905
"""The settings of sessions that a simulation has as well."""
SHOWN = 12  # rounds of a table
HEADER = ("round", "read", "of all", "mentions", "found", "estimated", "corrected", "interval")
UNKNOWN = "-"


@command("simulate")
@read_options
@given_of("given", Settings, SHARED)
def simulate_cli(
    corpus: Annotated[
        str, typer.Argument(metavar="CORPUS", help="An annotated file of any format, or a folder.")
    ],
    how: ReadOptions,
    given: Mapping[str, Any],
    scheme: SchemeName = "",
    policy: PolicyName = "raise",
    enrich: Annotated[
        bool,
        typer.Option(
            "--enrich", help="Mentions of other labels are known, and rule targets out there."
        ),
    ] = False,
    ranking: RankingName = "expected",
    plot: Plots = None,
    json: Json = False,
) -> None:
    """Simulate the annotation of a corpus that is annotated already.

    Prints how many sentences would have been read when the estimate reaches the target, and what
    was really found by then; --plot draws the curves beside sequential and random reading.
    """
    from ..selection.pictures import require_pictures
    from ..selection.pool import Pool
    from ..selection.simulation import Plan

    targets, nested = required_labels(given), "nested" in given
    require_pictures(plot or [])
    chosen = {name: given[name] for name in given if name not in ("labels", "nested")}
    plan = Plan(**chosen, ranking=ranking, suggest=True)
    pool = Pool.of(docs_to_read(corpus, how, nested, scheme, policy), targets, nested=nested)
    pool = pool if enrich else pool.without_known()
    rounds = run(pool, plan)
    stop = stopped(rounds, plan)
    if json:
        print_json(as_json(pool, plan, rounds, stop))
    else:
        echo(describe(pool, plan, rounds, stop), nl=False)
    for path in plot or ():
        drawn(path, corpus, pool, plan, rounds, stop)


def run(pool: Pool, plan: Plan) -> list[Round]:
    """All rounds, while progress is shown."""
    from ..selection.simulation import simulate

    rounds = []
    with counter(", ".join(pool.labels), len(pool), " sentences") as progress:
        for each in simulate(pool, plan):
            rounds.append(each)
            if progress is not None:
                progress(len(each.sentences))
    return rounds


def stopped(rounds: Sequence[Round], plan: Plan) -> Round | None:
    """The round in which the rule was met first, if it was."""
    from ..selection.stopping import get_rule

    rule = get_rule(plan.rule)
    history = [each.estimate for each in rounds]
    for number, each in enumerate(rounds, 1):
        if rule.met(history[:number], plan.target, plan.patience):
            return each
    return None


def percent(value: float | None) -> str:
    """A share in percent."""
    return UNKNOWN if value is None else f"{100 * value:.1f}"


def table_row(each: Round, size: int) -> tuple[str, ...]:
    """A round as a row of the table."""
    known = each.estimate
    return (
        str(each.number),
        f"{known.read:,}",
        percent(known.read / size),
        f"{known.mentions:,}",
        percent(each.coverage),
        percent(known.coverage),
        percent(known.corrected),
        f"{percent(known.low)} to {percent(known.high)}",
    )


def facts(pool: Pool, plan: Plan, rounds: Sequence[Round], stop: Round | None) -> str:
    """What was found, in a sentence or two."""
    total = int(pool.counts.sum())
    what = f"{counted(total, 'mention')} of {', '.join(pool.labels)}"
    text = f"{what} in {counted(len(pool), 'sentence')}. "
    if stop is None:
        return f"{text}The rule {plan.rule!r} was not met before all sentences were read."
    known = stop.estimate
    text += (
        f"Stop after {counted(known.read, 'sentence')} ({percent(known.read / len(pool))} %): "
        f"{percent(stop.coverage)} % of the mentions are found"
    )
    if known.audited:
        text += f", the audit says {percent(known.low)} to {percent(known.high)} %"
    seconds = sum(each.seconds for each in rounds) / len(rounds)
    return f"{text}. A round takes {seconds:.2f} s."


def describe(pool: Pool, plan: Plan, rounds: Sequence[Round], stop: Round | None) -> str:
    """A table of some of the rounds, and what came of it."""
    step = max(1, -(-len(rounds) // SHOWN))
    some = [each for each in rounds if each.number % step == 0 or each in (stop, rounds[-1])]
    rows = [table_row(each, len(pool)) for each in some]
    text = aligned(HEADER, rows, "r" * len(HEADER), (0,))
    return f"{text}\n\n{facts(pool, plan, rounds, stop)}\n"


def as_json(
    pool: Pool, plan: Plan, rounds: Sequence[Round], stop: Round | None
) -> dict[str, object]:
    """Everything, ready for JSON."""
    from dataclasses import asdict

    return {
        "labels": list(pool.labels),
        "sentences": len(pool),
        "mentions": int(pool.counts.sum()),
        "plan": asdict(plan),
        "stop": None if stop is None else stop.number,
        "rounds": [each.as_dict() for each in rounds],
    }


def drawn(
    path: str, corpus: str, pool: Pool, plan: Plan, rounds: Sequence[Round], stop: Round | None
) -> None:
    """Write a picture or a page."""
    from ..selection.curves import of_simulation
    from ..selection.pictures import draw

    title = f"{', '.join(pool.labels)} in {corpus}"
    rows = [table_row(each, len(pool)) for each in rounds]
    said = facts(pool, plan, rounds, stop)
    draw(path, of_simulation(pool, rounds, title, stop), said, HEADER, rows)
    echo(f"{path}: the curves", err=True)
