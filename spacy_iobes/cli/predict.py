"""The command `predict`: files of any format with the spans that a pipeline finds."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..codes.scheme import SCHEMES, get_scheme
from ..corpus.corpus import Corpus, Parts, Saved, save_parts
from ..corpus.files import STANDARD, shown_output
from ..corpus.findings import finding_lines
from ..corpus.formats import FOLDER, ending_of, format_by_ending, format_of, get_format
from ..corpus.formats.folder import files_below
from ..corpus.formats.options import ReadOptions, SaveOptions
from ..corpus.inputs import held, require_other
from ..corpus.scheme_search import told_scheme
from ..errors import FileError
from .application import command, counted, echo
from .options import Json, Quiet, SchemeName, opened, read_options, save_options
from .output import print_json, size_in_words
from .outputs import CALLED_COLUMNS, jobs
from .pipelines import loaded

if TYPE_CHECKING:
    from ..pipeline.prediction import Finder

TAGGED = ("columns", "hugging_face")
"""Formats that hold spans as tags."""
UNPRINTED = {"docbin": "a .spacy file", "brat": "a brat folder"}
"""Formats that cannot be printed."""
ASKED_TWICE = "a new column or an old one?"


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
        raise typer.BadParameter(ASKED_TWICE, param_hint="--append, --force")
    if save.to in SCHEMES:
        message = f"{save.to} is a scheme of tags, not a format: --to-scheme {save.to}"
        raise typer.BadParameter(message, param_hint="--to")
    for name in (scheme, save.to_scheme):
        get_scheme(name or "bio")
    get_format("columns" if save.to == "auto" else save.to)  # all before a pipeline is loaded
    from ..pipeline.prediction import Finder

    finder = Finder.of(loaded(model))
    if how.spans_key:
        finder = replace(finder, key=how.spans_key)
    elif not quiet and not finder.key and (groups := Finder.groups(finder.nlp)):
        said = f"--spans-key {groups[-1]}"
        echo(f"{model}: entities are written, not the span group ({said} writes it)", err=True)
    paths = [*paths, STANDARD] if len(paths) == 1 else paths
    Prediction(finder, how, scheme, save, force).run(paths, json)


@dataclass(frozen=True)
class Prediction:
    """What to do with files: how to read them, what finds spans in them, and how to write."""

    finder: Finder
    how: ReadOptions
    scheme: str
    save: SaveOptions
    force: bool

    def run(self, paths: list[str], json: bool) -> None:
        """Write every file and tell about it."""
        results, printed = list[dict[str, Any]](), False
        with held(paths[:-1]):
            for inputs, output in jobs(paths, self.how, self.save.to, self._named):
                printed = printed or output == STANDARD
                results.append(self._write(inputs, output, json))
        if json:
            print_json(results, err=printed)

    def _named(self, path: str) -> str:
        """Return the format that a file goes to, for its name in a folder."""
        plain = format_of(path, self.how.format, self.how).name == "text"
        return "jsonl" if plain and self.save.to == "auto" else self.save.to

    def _write(self, inputs: Sequence[str], output: str, json: bool) -> dict[str, Any]:
        """Write files to one output; return what was done as data."""
        from ..pipeline.documents import reading
        from ..pipeline.prediction import Predictions, tokens_alone

        paths = [file for path in inputs for file in self._files(path)]
        with ExitStack() as stack:
            plain = reading(self.finder.nlp, self.how)
            corpora = [stack.enter_context(opened(path, plain)) for path in paths]
            require_other(output, paths if len(paths) > 1 else [])
            save = self._saving(corpora, output)
            columns = {corpus.format.name for corpus in corpora} | {save.to} == {"columns"}
            if columns and not save.append:
                save = replace(save, append=tokens_alone(corpora[0]))
            if columns and save.append:  # the old columns of tags are none of our business
                plain = replace(plain, tag=plain.token, layers=())
                corpora = [replace(corpus, options=plain) for corpus in corpora]
            over = columns and not (save.append or save.only_tags or save.layers)
            again = save.to in TAGGED and not (over and save.order == "source")
            found = Predictions(
                self.finder,
                corpora,
                over and save.order == "source",
                self.force,
                again,
                probable=save.to == "jsonl",
            )
            done = save_parts(Parts(found), output, save)
        self._tell(output, save, done, columns and over, json)
        return self._report(corpora, output, save, done)

    def _files(self, path: str) -> list[str]:
        """Return a file, or those of a folder that is of no format itself."""
        if format_of(path, self.how.format, self.how) is not FOLDER:
            return [path]
        return list(map(str, files_below(path)))

    def _saving(self, corpora: Sequence[Corpus], output: str) -> SaveOptions:
        """Return how to write files: as they are, unless something else is said."""
        to = self._format(corpora, output)
        if output == STANDARD and to in UNPRINTED:
            message = f"{UNPRINTED[to]} cannot be printed: name where it goes, or another format"
            raise typer.BadParameter(f"{message} (--to jsonl)", param_hint="OUT")
        scheme = self.save.to_scheme or self.scheme
        if not scheme and to in TAGGED:
            scheme = self._scheme(corpora)
        marked = any(corpus.format.marked for corpus in corpora)
        return replace(
            self.save,
            to=to,
            to_scheme=scheme,
            spans_key=self.save.spans_key or self.finder.key,
            unit=self.save.unit if marked else "document",
            encoding=self.how.encoding,
        )

    def _format(self, corpora: Sequence[Corpus], output: str) -> str:
        """Return the format to write: what was read, or what the name of the output says."""
        kinds = {c.format.dialect(c.path, c.options) for c in corpora}
        ending = ending_of(output)
        named = format_by_ending(ending)
        if self.save.to != "auto":
            to = self.save.to
        elif named is not None:
            alike = {ending_of(corpus.path) for corpus in corpora} == {ending}
            to = next(iter(kinds)) if alike and len(kinds) == 1 else named.name
        elif ending in CALLED_COLUMNS:
            to = "columns"
        elif len(kinds) > 1:
            raise FileError(
                f"Files of several formats ({', '.join(sorted(kinds))}): name one (--to)."
            )
        else:
            to = next(iter(kinds))
            to = "jsonl" if to == "text" and ending != ".txt" else to
        if not get_format(to).annotated:
            raise FileError(
                f"{shown_output(output)}: the format {to} holds no annotation. Name a file that "
                "ends in .jsonl, or another format (--to); to read several files, name a folder "
                "behind them.",
                output,
            )
        return get_format(to).name

    def _scheme(self, corpora: Sequence[Corpus]) -> str:
        """Return the scheme of the tags that are there, if they tell it, or that of the model."""
        told = {
            told_scheme(Corpus(corpus.path, self.how))
            for corpus in corpora
            if corpus.format.needs_scheme(corpus.path, self.how)
        }
        found = told.pop() if len(told) == 1 else ""
        return found or self.finder.scheme.name

    def _tell(self, output: str, save: SaveOptions, done: Saved, over: bool, json: bool) -> None:
        """Say what was written, on standard output unless that is where the file goes."""
        if json:
            return
        name, printed = shown_output(output), output == STANDARD
        word = "mention" if self.finder.key else "entity"
        text = f"{name}: {counted(done.labels.total(), word)} in {size_in_words(done)}"
        if save.to in TAGGED:
            layers = self.how.layers or (str(self.how.tag),)
            place = f" in column {', '.join(layers)}" if over else ""
            new = " as new columns" if self.finder.key else " as a new column"
            text += f"; {save.to_scheme} tags{new if save.append else place}"
        echo(text, err=printed)
        for line in finding_lines(done.findings):
            echo(f"{name}: {line}", err=printed)

    def _report(
        self, corpora: Sequence[Corpus], output: str, save: SaveOptions, done: Saved
    ) -> dict[str, Any]:
        """Return what was done as data."""
        tagged = {"scheme": save.to_scheme, "appended": save.append} if save.to in TAGGED else {}
        return {
            "inputs": [corpus.name for corpus in corpora],
            "output": output,
            "format": save.to,
            "target": self.finder.target,
            **tagged,
            "documents": done.documents,
            "sentences": done.sentences,
            "tokens": done.tokens,
            "spans": done.labels.total(),
            "labels": dict(sorted(done.labels.items())),
            "findings": [asdict(found) for found in done.findings],
        }
