"""The command `tune`: precision against recall of a trained recogniser."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..corpus.formats.options import ExampleOptions, ReadOptions
from ..corpus.opener import require_columns
from ..errors import FileError
from ..scoring.signature import SPANS, Signature
from ..scoring.tables import aligned, percent
from .application import command, counted, echo, tell
from .options import Json, PolicyName, SchemeName, read_options
from .output import print_json
from .pipelines import Component, loaded
from .train import DATA, to_learn

if TYPE_CHECKING:
    from spacy.language import Language

    from ..pipeline.tuning import Tried


@command("tune")
@read_options
def tune_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A pipeline with a recogniser.")],
    dev: Annotated[str, typer.Argument(metavar="DEV", help=f"{DATA}: held-out data.")],
    how: ReadOptions,
    scheme: SchemeName = "",
    policy: PolicyName = "raise",
    component: Component = "",
    output: Annotated[
        str, typer.Option("--output", "-o", help="Write the pipeline with the best bias here.")
    ] = "",
    json: Json = False,
) -> None:
    """Find the bias for entities, or nested mentions, with the best F1 on held-out data.

    Without --component, the last recogniser of the pipeline is tuned. DEV is read as 'train' reads
    it; .spacy files have nested mentions in the span group of the recogniser, unless you name one.
    """
    from ..corpus.folders import require_replaceable
    from ..pipeline.documents import sentence_bound, takes_documents
    from ..pipeline.loading import tunable
    from ..pipeline.tuning import best_of, tune, without_bias

    if output:
        require_replaceable(output, (dev,), tell=tell)
    require_columns(how, [dev])
    nlp = loaded(model)
    component = tunable(nlp, component)
    pipe: Any = nlp.get_pipe(component)
    key = "" if hasattr(pipe, "scheme") else pipe.spans_key
    held = to_learn(dev, how, ExampleOptions(scheme or None, policy), key, nlp)
    if joined := takes_documents(nlp) and held.size.marks_documents:
        held = held.by_document()  # of which 'predict' makes Docs, too
    repaired = held.size.repaired
    if repaired:
        tell(f"{dev}: {counted(repaired, 'violation')} repaired ({policy})")
    with sentence_bound(nlp) if joined else nullcontext():
        tried = tune(nlp, component, list(held(nlp)))
    found = best_of(tried)
    if output:
        name = "iobes_nested" if key else "iobes"
        written = SPANS if key else held.scheme or pipe.scheme.name
        scores: dict[str, Any] = {f"{name}_{k}": v for k, v in zip("prf", found.figures)}
        scores[f"{name}_signature"] = str(
            Signature(scheme=written, policy="raise", gold_policy=policy)
        )
        nlp.meta["performance"] = scores  # what was there is that of another bias
        save(nlp, output)
    if json:
        rows = [{"bias": t.bias, **t.figures._asdict()} for t in tried]
        result = {"best": found.bias, "tried": rows, "output": output or None}
        print_json(result | {"repaired": repaired})
        return
    echo(as_table(tried, found), nl=False)
    echo(
        f"best bias {found.bias:+.1f}: F1 {percent(found.figures.f1)} "
        f"(without bias {percent(without_bias(tried).figures.f1)})"
        + (f", written to {output}" if output else "")
    )


def as_table(tried: list[Tried], found: Tried) -> str:
    """Every bias with its figures, the best one marked."""
    header = ("bias", "precision", "recall", "F1", "")
    rows = [
        (f"{t.bias:+.1f}", *map(percent, t.figures), "<- best" if t is found else "") for t in tried
    ]
    return aligned(header, rows, "rrrrl") + "\n"


def save(nlp: Language, output: str) -> None:
    """Write a pipeline, whole or not at all."""
    from ..corpus.folders import beside, put

    new = beside(output)
    try:
        nlp.to_disk(new)
        put(new, output)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(f"{output}: cannot be written: {reason}.", output) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)
