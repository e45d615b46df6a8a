"""The command `predict`: files tagged by a pipeline."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from ..codes.scheme import get_scheme
from ..corpus.conll import Columns
from ..corpus.files import STANDARD
from .application import command, counted
from .nested_predict import NestedPrediction, nested_prediction_options
from .options import Json, column_options
from .output import say, size, size_in_words
from .pipelines import loaded
from .progress import reading


@command("predict")
@column_options
@nested_prediction_options
def predict_cli(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A pipeline that finds entities or nested mentions: a directory or a package.",
        ),
    ],
    source: Annotated[
        str,
        typer.Argument(
            metavar="IN",
            help="A column file; - is standard input. For nested mentions also JSON lines "
            "(.jsonl), a .spacy file, a folder of texts (.txt), or with --text a text.",
        ),
    ],
    output: Annotated[str, typer.Argument(metavar="OUT", help="Where to write it; - prints.")],
    columns: Columns,
    nested: NestedPrediction,
    scheme: Annotated[
        str,
        typer.Option(
            "--scheme",
            "-s",
            help="Scheme to write (default: that of the model, and bio for nested mentions).",
        ),
    ] = "",
    append: Annotated[
        bool,
        typer.Option(
            "--append",
            help="Add a column for the tags, in place of writing them over those of --tag. "
            "A file that holds nothing but tokens always gets one.",
        ),
    ] = False,
    overwrite: Annotated[
        bool,
        typer.Option(
            "--overwrite",
            help="Write over the column of --tag even if there is something else than tags "
            "in it (NNP, for example), which is refused without this.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Tag a file by a pipeline.

    Entities go into a column file, of which all but the tags stays as it is. Nested mentions go
    into a new file of tokens and tags, a brat folder, JSON lines or a .spacy file.
    """
    if append and overwrite:
        raise typer.BadParameter("a new column or an old one?", param_hint="--append, --overwrite")
    goal = get_scheme(scheme) if scheme else None
    from ..pipeline.nested_prediction import finds_nested
    from ..pipeline.prediction import predict_file

    nlp = loaded(model)
    if nested.nested or finds_nested(nlp):
        if append or overwrite:
            message = "this is for one column of tags, and nested mentions go into a new file"
            raise typer.BadParameter(message, param_hint="--append" if append else "--overwrite")
        text, report = nested.run(nlp, source, output, columns, goal.name if goal else "")
        say(text, report, output, json)
        return
    if nested.given:
        message = "this is for nested mentions, and the pipeline finds entities (--nested, if both)"
        raise typer.BadParameter(message, param_hint=nested.given)
    if append:  # the column of the old tags is none of our business
        columns = replace(columns, tag=columns.token)
    with reading(source, columns) as reader:
        done = predict_file(nlp, reader, output, goal, append, overwrite)
    where = "as a new column" if done.appended else f"in column {columns.tag}"
    found = counted(done.labels.total(), "entity")
    labels = dict(sorted(done.labels.items()))
    report = {"input": reader.name, "output": output, "scheme": done.scheme, **size(reader)}
    report |= {"appended": done.appended, "entities": done.labels.total(), "labels": labels}
    name = "standard output" if output == STANDARD else output
    text = f"{name}: {found} in {size_in_words(reader)}; {done.scheme} tags {where}"
    say(text, report, output, json)
