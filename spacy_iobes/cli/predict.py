"""The command `predict`: files of any format with the spans that a pipeline finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from ..corpus.files import STANDARD
from ..corpus.formats import get_format
from ..corpus.formats.options import ReadOptions, SaveOptions
from ..corpus.inputs import held
from ..corpus.outputs import outputs, require_schemes
from ..errors import OptionError
from .application import command, echo, tell
from .options import FILES, Json, Quiet, SchemeName, read_options, save_options
from .output import print_json
from .pipelines import loaded


@command("predict")
@save_options
@read_options
def predict_cli(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL", help="A pipeline that finds entities: a directory or a package."
        ),
    ],
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="IN [OUT]",
            help="A file of any format and where to write it (default: print; - is standard input "
            "and output); or several files or a folder, and one file or a folder.",
        ),
    ],
    how: ReadOptions,
    save: SaveOptions,
    scheme: SchemeName = "",
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Write over columns even if there is something else than tags."
        ),
    ] = False,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """Write files with the spans that a pipeline finds in place of their annotation.

    A file keeps its format, its scheme and all but the annotation, unless --to or the name of OUT
    says otherwise. Plain text becomes JSON lines, with the probability of each span.
    """
    if save.append and force:
        raise OptionError("a new column or an old one?", "--append, --force")
    require_schemes(save, scheme)
    get_format("columns" if save.to == "auto" else save.to)  # all before a pipeline is loaded
    from ..pipeline.finder import Finder
    from ..pipeline.prediction import Predicted, Prediction

    finder = Finder.of(loaded(model))
    if how.spans_key:
        finder = replace(finder, key=how.spans_key)
    elif not quiet and not finder.key and (groups := Finder.groups(finder.nlp)):
        said = f"--spans-key {groups[-1]}"
        tell(f"{model}: entities are written, not the span group ({said} writes it)")
    paths = [*paths, STANDARD] if len(paths) == 1 else paths
    prediction, results = Prediction(finder, FILES, how, save, scheme, force), list[Predicted]()
    with held(paths[:-1]):
        for inputs, output in outputs(paths, how, save.to, texts="jsonl"):
            results.append(prediction.write(inputs, output))
            for line in [] if json else results[-1].lines():
                echo(line, err=output == STANDARD)
    if json:
        printed = any(each.output == STANDARD for each in results)
        print_json([each.as_dict() for each in results], err=printed)
