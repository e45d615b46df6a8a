"""The command `tune`: precision against recall of a trained recogniser."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, Any

import typer

from ..corpus.formats.options import ExampleOptions, ReadOptions
from ..scoring.signature import SPANS, Signature
from ..scoring.tables import percent
from .application import command, counted, echo, tell
from .options import FILES, Json, PolicyName, SchemeName, read_options
from .output import print_json
from .pipelines import Component, loaded
from .train import DATA, to_learn


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
    from ..pipeline.loading import save_pipeline, tunable
    from ..pipeline.tuning import best_of, tune, tuning_table, without_bias

    if output:
        require_replaceable(output, (dev,), tell=tell)
    FILES.check([dev], how)
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
        save_pipeline(nlp, output)
    if json:
        rows = [{"bias": t.bias, **t.figures._asdict()} for t in tried]
        result = {"best": found.bias, "tried": rows, "output": output or None}
        print_json(result | {"repaired": repaired})
        return
    echo(tuning_table(tried, found))
    echo(
        f"best bias {found.bias:+.1f}: F1 {percent(found.figures.f1)} "
        f"(without bias {percent(without_bias(tried).figures.f1)})"
        + (f", written to {output}" if output else "")
    )
