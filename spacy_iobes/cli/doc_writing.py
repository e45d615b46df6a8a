"""Docs as a column file, a brat folder, JSON lines or a DocBin, for the commands that write them.

spaCy is only loaded by those who write.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..codes.policy import POLICIES, Policy
from ..codes.scheme import SCHEMES, get_scheme
from ..corpus.conll import AUTO, delimiter_named
from ..corpus.files import STANDARD
from ..corpus.findings import Finding, finding_lines
from .application import counted

if TYPE_CHECKING:
    from ..corpus.doc_columns import DocFile

COLUMNS, BRAT, DOCBIN = "columns", "brat", "spacy"
ColumnCount = Annotated[
    int | None,
    typer.Option(
        "--layers",
        min=1,
        help="Columns of tags for a span group (default: as many as it needs). Spans go where "
        "attrs['layers'] says; without it the longest choose first, each the first column in "
        "which it overlaps no other.",
    ),
]
ColumnOrder = Annotated[
    str,
    typer.Option(
        "--order",
        help="Of the columns for a span group: group (as it says), outermost or innermost "
        "first, or label (one column for each).",
    ),
]
LabelHeader = Annotated[
    bool, typer.Option("--header", help="With --order label: a first line with the labels.")
]
Lossy = Annotated[
    bool, typer.Option("--lossy", help="Leave out and count spans that cannot be written.")
]
DropSpaces = Annotated[
    bool,
    typer.Option("--drop-spaces", help="Leave out tokens of white space, which no column has."),
]
DocDelimiter = Annotated[
    str, typer.Option("--output-delimiter", help="Between the columns that are written.")
]


@dataclass(frozen=True)
class DocWriting:
    """What the options say of the file to write; all but the first three are about columns."""

    form: str
    key: str = ""
    lossy: bool = False
    scheme: str = ""
    layers: int | None = None
    order: str = "group"
    header: bool = False
    delimiter: str = "tab"
    encoding: str = "utf8"
    markers: bool = False
    drop_spaces: bool = False

    def require(self, output: str) -> None:
        """Refuse what does not go together."""
        if self.form != COLUMNS:
            self._require_plain()
        if self.form == BRAT and output == STANDARD:
            raise typer.BadParameter("a brat folder cannot be printed: name one", param_hint="OUT")
        if self.form == COLUMNS:
            self._require_columns()

    def _require_plain(self) -> None:
        plain = DocWriting(self.form)
        names = {
            "layers": "--layers",
            "order": "--order",
            "header": "--header",
            "delimiter": "--output-delimiter",
            "encoding": "--encoding",
            "markers": "--document-markers",
            "drop_spaces": "--drop-spaces",
        }
        given = [o for name, o in names.items() if getattr(self, name) != getattr(plain, name)]
        if given:
            message = f"this is for columns of tags, and {self.form} has none"
            raise typer.BadParameter(message, param_hint=", ".join(given))

    def _require_columns(self) -> None:
        if not self.scheme:
            message = f"name the scheme of the columns: one of {', '.join(SCHEMES)}"
            raise typer.BadParameter(message, param_hint="--scheme")
        if not self.key:
            for wrong, hint in ((self.layers, "layers"), (self.order != "group", "an order")):
                if wrong:
                    message = f"only a span group has {hint}: name it"
                    raise typer.BadParameter(message, param_hint="--spans-key")
        if self.header and self.order != "label":
            raise typer.BadParameter("only columns of labels have names", param_hint="--header")
        if delimiter_named(self.delimiter) in ("", AUTO):
            raise typer.BadParameter("name one delimiter to write", param_hint="--output-delimiter")

    def write(
        self, file: DocFile, output: str, policy: Policy = POLICIES["raise"]
    ) -> tuple[str, dict[str, Any]]:
        """Write Docs, all at once or not at all; what was written, in words and as plain values."""
        if self.form == COLUMNS:
            return self._write_columns(file, output, policy)
        if self.form == DOCBIN:
            return _write_docbin(file, output)
        from ..corpus.nested_out import WRITERS, Mentions

        mentions = Mentions(file, self.key, policy, plain=self.form == BRAT)
        made = WRITERS[self.form](mentions, output, self.lossy)
        words = [counted(made.docs, "Doc"), counted(made.tokens, "token")]
        words += [counted(made.spans, "span")]
        words += [f"{counted(made.repaired, 'violation')} repaired"] * bool(made.repaired)
        return "\n".join([", ".join(words), *finding_lines(made.findings)]), asdict(made)

    def _write_columns(
        self, file: DocFile, output: str, policy: Policy
    ) -> tuple[str, dict[str, Any]]:
        from ..corpus.doc_lines import ColumnFormat, print_columns
        from ..corpus.layered_columns import Arrangement, layered_columns, strict_columns
        from ..corpus.layers import require_order

        if self.drop_spaces:
            from ..corpus.text_docs import without_spaces

            file = replace(file, docs=[without_spaces(doc) for doc in file.docs])
        goal, order, repaired = get_scheme(self.scheme), require_order(self.order), 0
        findings, header = list[Finding](), tuple[str, ...]()
        if self.key and (self.lossy or order != "group"):
            arrangement = Arrangement(order, self.layers, self.lossy)
            columns, labels, findings = layered_columns(file, self.key, goal, arrangement)
            header = ("token", *labels) if self.header else ()
        elif self.key:
            columns = strict_columns(file, self.key, goal, self.layers)
        else:
            columns, repaired = file.entity_columns(goal, policy)
        marked = True if self.markers else None
        form = ColumnFormat(delimiter_named(self.delimiter), self.encoding, marked, header)
        done = print_columns(file, columns, output, form)
        done.repaired = repaired
        words = [counted(done.docs, "Doc"), counted(done.sentences, "sentence")]
        words += [counted(done.tokens, "token"), counted(done.columns, "column") + " of tags"]
        words += [f"{counted(done.empty, 'empty Doc')} left out"] * bool(done.empty)
        words += [f"{counted(repaired, 'violation')} repaired"] * bool(repaired)
        report = asdict(done)
        if self.key:
            report["findings"] = [asdict(found) for found in findings]
        return "\n".join([", ".join(words), *finding_lines(findings)]), report


def _write_docbin(file: DocFile, output: str) -> tuple[str, dict[str, Any]]:
    from spacy.tokens import DocBin

    from ..corpus.docbin import require_ending, save_docbin

    require_ending(output)
    save_docbin(DocBin(docs=file.docs), output)
    size = {"docs": len(file.docs), "tokens": sum(map(len, file.docs))}
    return f"{counted(size['docs'], 'Doc')}, {counted(size['tokens'], 'token')}", size
