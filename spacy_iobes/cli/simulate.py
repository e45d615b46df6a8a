"""The command `simulate`: what a person would have read, if gold annotation played the person."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from ..corpus.formats.options import ReadOptions
from ..selection.settings import Settings
from .application import command, echo, tell
from .options import Json, PolicyName, SchemeName, given_of, read_options
from .output import print_json
from .pool_options import Plots, RankingName, docs_to_read, required_labels
from .progress import counter

SHARED = "labels nested batch audit target rule seed start words".split()  # noqa: SIM905
"""The settings of sessions that a simulation has as well."""


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
    from ..selection.simulation import Plan, Simulation, simulate

    targets, nested = required_labels(given), "nested" in given
    require_pictures(plot or [])
    chosen = {name: given[name] for name in given if name not in ("labels", "nested")}
    plan = Plan(**chosen, ranking=ranking, suggest=True)
    pool = Pool.of(docs_to_read(corpus, how, nested, scheme, policy), targets, nested=nested)
    pool = pool if enrich else pool.without_known()
    rounds = []
    with counter(", ".join(pool.labels), len(pool), " sentences") as progress:
        for each in simulate(pool, plan):
            rounds.append(each)
            if progress is not None:
                progress(len(each.sentences))
    found = Simulation(pool, plan, rounds)
    if json:
        print_json(found.as_dict())
    else:
        echo(str(found), nl=False)
    for path in plot or ():
        from ..selection.curves import draw_simulation

        draw_simulation(path, found, f"{', '.join(pool.labels)} in {corpus}")
        tell(f"{path}: the curves")
