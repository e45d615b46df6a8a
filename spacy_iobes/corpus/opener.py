"""Annotated files as commands open them: what is found out of a file is told, and how far it is."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..errors import FileError, OptionError
from .conll import ONE_SCHEME
from .corpus import Corpus
from .files import HELD, STANDARD, Progress, require_there, shown
from .findings import Finding, finding_lines
from .formats import ending_of, format_of, formats_in
from .formats.columns import ColumnOrigin
from .formats.options import ReadOptions
from .inputs import is_stream

NAME_EACH = "name each that holds tags (--layer 1 --layer 2, for example)"


@dataclass(frozen=True)
class Opener:
    """Opens annotated files: `tell` takes lines about them, `bar` shows how far they are read."""

    tell: Callable[[str], None]
    bar: Callable[[str], AbstractContextManager[Progress | None]]

    @contextmanager
    def opened(self, path: str, how: ReadOptions, scheme: str | None = None) -> Iterator[Corpus]:
        """Open a file; the scheme of its tags is looked for if it is empty."""
        self.check([path], how)
        found = self.scheme(path, how) if scheme == "" else ""
        with self.bar(path) as progress:
            yield Corpus(path, how, progress, found)

    def check(self, paths: Collection[str], how: ReadOptions) -> None:
        """Tell what kind files are whose names do not say it; raise if options fit none of them."""
        numbers = [key for key, _ in how.layer_keys if isinstance(key, int)]
        given = {"--layer": numbers, "--header": how.header, "--set suffix": how.suffix}
        wrong = ", ".join(name for name, value in given.items() if value)
        if wrong and not any("columns" in formats_in(path, how) for path in paths):
            message = f"this is for column files, and there is none among {', '.join(paths)}"
            raise OptionError(message, wrong)
        for path in paths:
            unsaid = ending_of(path) == ".txt" and Path(path).exists()
            if how.format == "auto" and (unsaid or path in HELD):
                kinds = {"text": "plain text", "columns": "a column file"}
                found = format_of(path, how=how).name
                other = "columns" if found == "text" else "text"
                kind = kinds.get(found, found)
                self.tell(f"{shown(path)}: read as {kind} (else: --format {other})")

    def scheme(self, path: str, how: ReadOptions) -> str:
        """Return the scheme that the tags of a file are in, and tell it; empty if it has none.

        Raises where several schemes would read different spans, or where it can be read only once.
        """
        row = format_of(path, how.format, how)
        if path == STANDARD or is_stream(path):
            if row.name == "columns":
                raise missing_scheme(path)
            return ""
        from .scheme_search import scheme_of  # here: most people name the scheme

        if found := scheme_of(Corpus(path, how)):
            self.tell(f"{shown(path)}: tags read as {found}")
        return found

    def tell_of_columns(self, corpus: Corpus) -> None:
        """Tell how many columns there are, if more than were read and nobody has chosen."""
        if width := unread_columns(corpus):
            self.tell(f"{corpus.name} has {width} columns, of which the last was read: {NAME_EACH}")

    def tell_findings(self, name: str, findings: Sequence[Finding]) -> None:
        """Tell how many findings of each kind a file has, and the first of them."""
        for line in finding_lines(findings):
            self.tell(f"{name}: {line}")


def unread_columns(corpus: Corpus) -> int:
    """Return how many columns there are, if more than are read and nobody has chosen; else 0."""
    asked = corpus.options.layers or corpus.options.tag != ReadOptions().tag
    if asked or is_stream(corpus.path):
        return 0
    for part in corpus:
        if isinstance(part.origin, ColumnOrigin):
            width = part.origin.part.layout.width
            return width if width > 1 + len(part.tags) else 0
        return 0
    return 0


def require_named_columns(corpus: Corpus) -> None:
    """Raise if there are more columns than are read, and nobody has chosen."""
    if not is_stream(corpus.path):
        require_there(corpus.path)
    if width := unread_columns(corpus):
        raise FileError(f"{corpus.name} has {width} columns: {NAME_EACH}.", corpus.name)


def missing_scheme(file: str) -> OptionError:
    """Return the error of a command that cannot read the tags of a file without a scheme."""
    if file != STANDARD:
        require_there(file)
    return OptionError(f"{file} is a column file: name {ONE_SCHEME}", "--scheme")
