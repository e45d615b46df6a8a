"""The command `tune`: precision against recall of a trained recogniser."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from ..corpus.conll import Columns, unnamed_scheme
from ..corpus.files import require_there
from ..errors import FileError
from ..scoring.signature import SPANS, Signature
from ..scoring.tables import aligned, percent
from .application import command, counted, echo
from .nested_options import NestedOptions, held_out_options
from .options import GoldPolicy, Json, column_options
from .output import print_json
from .pipelines import Component, loaded, tunable
from .train import tell

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.training import Example

    from ..corpus.column_docs import DocUnit
    from ..pipeline.tuning import Tried


@command("tune")
@column_options
@held_out_options
def tune_cli(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A pipeline with a recogniser.")],
    dev: Annotated[
        str,
        typer.Argument(
            metavar="DEV",
            help="Held-out data: .spacy or columns, file or directory; of nested mentions also "
            "brat or JSON lines.",
        ),
    ],
    columns: Columns,
    nested: NestedOptions,
    scheme: Annotated[
        str, typer.Option("--scheme", "-s", help="Scheme of DEV if it has columns.")
    ] = "",
    repair: GoldPolicy = "raise",
    component: Component = "",
    output: Annotated[
        str, typer.Option("--output", "-o", help="Write the pipeline with the best bias here.")
    ] = "",
    json: Json = False,
) -> None:
    """Find the bias for entities, or nested mentions, with the best F1 on held-out data.

    Without --component, the last recogniser of the pipeline is tuned. If it finds nested mentions,
    DEV is read as 'train --nested' reads it, and .spacy files have them in its span group.
    """
    from ..corpus.folders import require_replaceable
    from ..pipeline.documents import sentence_bound
    from ..pipeline.tuning import best_of, tune, without_bias

    if output:
        require_replaceable(output, (dev,), tell=tell)
    nlp = loaded(model)
    component = tunable(nlp, component)
    pipe: Any = nlp.get_pipe(component)
    flat = hasattr(pipe, "scheme")
    if flat and nested.given:
        message = f"this is for nested mentions, and {component} finds entities"
        raise typer.BadParameter(message, param_hint=nested.given)
    if flat:
        held = read(nlp, dev, scheme, repair, columns)
    else:
        options = replace(nested, key=pipe.spans_key)
        held = read_nested(nlp, dev, options, scheme, repair, columns)
    if held.repaired:
        repaired = f"{counted(held.repaired, 'violation')} repaired ({repair})"
        echo(f"{dev}: {repaired}", err=True)
    with sentence_bound(nlp) if held.joined else nullcontext():
        tried = tune(nlp, component, held.examples)
    found = best_of(tried)
    if output:
        name = "iobes" if flat else "iobes_nested"
        written = held.scheme or pipe.scheme.name if flat else SPANS
        scores: dict[str, Any] = {f"{name}_{k}": v for k, v in zip("prf", found.figures)}
        scores[f"{name}_signature"] = str(
            Signature(scheme=written, policy="raise", gold_policy=repair)
        )
        nlp.meta["performance"] = scores  # what was there is that of another bias
        save(nlp, output)
    if json:
        rows = [{"bias": t.bias, **t.figures._asdict()} for t in tried]
        result = {"best": found.bias, "tried": rows, "output": output or None}
        print_json(result | {"repaired": held.repaired})
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


class Held(NamedTuple):
    """What there is to tune on: examples, and for column files what was read in which way.

    Their documents are Docs, `joined`, where 'predict' would make Docs of them.
    """

    examples: list[Example]
    scheme: str = ""
    repaired: int = 0
    joined: bool = False


def read(nlp: Language, path: str, scheme: str, policy: str, columns: Columns) -> Held:
    """Read DocBin or column files: one, or all below a directory."""
    from spacy.training import Corpus

    from ..corpus.docbin import ENDING
    from ..corpus.reader import ConllCorpus, files_of
    from ..corpus.training_data import of_columns, of_docbins
    from ..pipeline.documents import takes_documents

    require_there(path)
    bins = [file for file in files_of(path) if file.name.endswith(ENDING)]
    if bins and not (scheme and Path(path).is_dir()):
        of_docbins(path, bins).require_entities()
        return Held(list(Corpus(path)(nlp)))
    if not scheme:
        raise unnamed_scheme(path)
    data = of_columns(path, scheme, policy, columns)
    data.require_entities()
    joined = takes_documents(nlp) and bool(data.opens)
    unit: DocUnit = "document" if joined else "sentence"
    corpus = ConllCorpus(
        path, scheme=scheme, policy=policy, columns=columns, unit=unit, keep_sentences=joined
    )
    return Held(list(corpus(nlp)), data.reader["scheme"], data.repaired, joined)


def read_nested(
    nlp: Language, path: str, options: NestedOptions, scheme: str, policy: str, columns: Columns
) -> Held:
    """Read nested mentions from files of any kind, as they are read to train on."""
    from ..corpus.nested_reader import NestedCorpus
    from ..corpus.nested_training import nested_training_data
    from ..pipeline.documents import takes_documents

    reading = options.reading(scheme, policy, columns, [path])
    data = nested_training_data(path, reading, nlp, partial(echo, err=True))
    joined = takes_documents(nlp) and data.has_documents
    block = (data.by_document if joined else data).reader
    reading = replace(reading, unit=block["unit"])
    corpus = NestedCorpus(path, reading, keep_sentences=block["keep_sentences"], checked=True)
    return Held(list(corpus(nlp)), scheme, data.repaired, joined)


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
