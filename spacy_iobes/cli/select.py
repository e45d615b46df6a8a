"""The command `select`: which sentences of a pool are most likely to hold a mention."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from ..corpus.corpus import Parts, save_parts
from ..corpus.formats import get_format
from ..corpus.formats.options import ADVANCED, ReadOptions, SaveOptions, option
from ..errors import OptionError
from ..selection.settings import Settings
from .application import command, counted, echo, tell
from .options import (
    Json,
    PolicyName,
    SchemeName,
    fields_of,
    given_of,
    read_options,
    save_options,
)
from .output import print_json
from .pipelines import loaded
from .pool_options import Plots, RankingName, docs_to_read, required_labels

if TYPE_CHECKING:
    from ..selection.pipe_view import PipeView
    from ..selection.pool import Pool


@dataclass(frozen=True)
class Listed:
    """The number of sentences and suggestions to show."""

    limit: int = option(100, "List at most so many; 0 lists all.")
    suggestions: int = option(10, "How many annotations to suggest for each sentence.", ADVANCED)


@command("select")
@fields_of("listed", Listed)
@save_options
@read_options
@given_of("given", Settings, ("labels", "nested", "seed"))
def select_cli(
    pool: Annotated[
        str,
        typer.Argument(metavar="POOL", help="What to look in: a file of any format, or a folder."),
    ],
    how: ReadOptions,
    save: SaveOptions,
    given: Mapping[str, Any],
    listed: Listed,
    scheme: SchemeName = "",
    policy: PolicyName = "raise",
    learn: Annotated[
        str, typer.Option("--learn", help="Annotated data to learn from, in a file of any format.")
    ] = "",
    model: Annotated[
        str, typer.Option("--model", help="A trained pipeline, in place of --learn.")
    ] = "",
    component: Annotated[
        str, typer.Option("--component", help="Its recogniser (default: the last one).")
    ] = "",
    ranking: RankingName = "expected",
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", help="Write them in any format, with the best suggestion of each."
        ),
    ] = "",
    plot: Plots = None,
    json: Json = False,
) -> None:
    """Rank the sentences of a pool by how many mentions are expected in them.

    The model learns from annotated data, or is a pipeline with iobes_ner or iobes_nested_ner.
    Mentions of a target that the pool has already are ignored; those of other labels rule it out.
    What POOL and --learn are is told by the name of each, unless --format says it.
    """
    import numpy as np

    from ..selection.pictures import require_pictures
    from ..selection.pool import Pool
    from ..selection.ranked import Ranked, learned

    targets, nested, seed = required_labels(given), "nested" in given, given.get("seed", 0)
    require_pictures(plot or [])
    if bool(learn) == bool(model):
        raise OptionError("name one of both", "--learn, --model")
    docs = docs_to_read(pool, how, nested, scheme, policy)
    if model:
        view = by_pipeline(Pool.of(docs, targets, nested=nested), model, component)
        found = Ranked.of(view.pool, view, np.arange(len(view.pool)), ranking, seed)
    else:
        bare = how.format != "auto" and not get_format(how.format).annotated
        theirs = replace(how, format="auto") if bare else how
        known = docs_to_read(learn, theirs, nested, scheme, policy)
        whole = Pool.of([*docs, *known], targets, nested=nested)
        found = Ranked.of(whole, *learned(whole, len(docs), seed), ranking, seed)
    count, suggestions = listed.limit or len(found.order), listed.suggestions
    if output:
        done = save_parts(Parts([found.sentences(count, suggestions)]), output, save)
        tell(f"{output}: {counted(done.sentences, 'sentence')}")
    if json:
        print_json(found.tasks(count, suggestions))
    else:
        echo(found.table(count), nl=False)
    for path in plot or ():
        from ..selection.curves import draw_ranking

        draw_ranking(path, found, f"{', '.join(found.pool.labels)} in {pool}", count)
        tell(f"{path}: the curve")


def by_pipeline(pool: Pool, model: str, component: str) -> PipeView:
    """Return what a trained pipeline thinks of a pool."""
    from ..pipeline.loading import tunable
    from ..selection.pipe_view import PipeView

    nlp = loaded(model)
    return PipeView.of(pool, nlp, cast(Any, nlp.get_pipe(tunable(nlp, component))))
