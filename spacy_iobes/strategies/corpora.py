"""Docs to compare strategies on: column files by document, DocBins, or inline-tagged texts."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import filter_spans

from ..corpus.conll import ONE_SCHEME, Columns
from ..corpus.docbin import ENDING, read_docbin
from ..corpus.findings import Finding
from ..corpus.nested_corpus import NestedReading, nested
from ..corpus.nested_formats import INLINE
from ..corpus.nested_text import TextReading
from ..corpus.reader import ConllCorpus, files_of
from ..corpus.training_data import training_data
from ..errors import FileError

KEY = "sc"


def docs_of(path: str, nlp: Language, scheme: str, policy: str, columns: Columns) -> list[Doc]:
    """The Docs of a file or a directory of files, with entities.

    The scheme, the policy and the columns are those of column files, whose Docs are documents
    where they mark them, and sentences where they do not.
    """
    if not scheme and Path(path).is_dir() and not _docbins(path):
        raise FileError(
            f"{path}: say that the files are inline-tagged texts (--from inline), or name the "
            f"scheme of column files (--scheme), {ONE_SCHEME}.",
            path,
        )
    data = training_data(path, scheme, policy, columns)
    if "scheme" not in data.reader:
        return [doc for file in files_of(path) for doc in read_docbin(file)]
    unit = "document" if data.has_documents else "sentence"
    corpus = ConllCorpus(path, scheme=scheme, policy=policy, columns=columns, unit=unit)  # type: ignore[arg-type]
    return list(corpus.docs(nlp.vocab))


def _docbins(path: str) -> bool:
    """Whether there are DocBins among the files of a directory."""
    return any(file.name.endswith(ENDING) for file in files_of(path))


class InlineDocs(NamedTuple):
    """Docs with entities; what could not be read as spans, and how many overlapped others."""

    docs: list[Doc]
    findings: list[Finding]
    overlapping: int


def inline_docs(path: str | Path, nlp: Language, reading: TextReading) -> InlineDocs:
    """The Docs of inline-tagged texts; of mentions that overlap, the longest are kept.

    Tokens of white space stay, since they tell where lines and paragraphs begin.
    """
    how = NestedReading(KEY, "document", form=INLINE, texts=reading)
    made = InlineDocs([], [], 0)
    for each in nested(path, how, nlp.vocab):
        made.findings.extend(each.findings)
        spans = list(each.doc.spans[KEY])
        kept = filter_spans(spans)
        each.doc.set_ents(kept, default="outside")
        del each.doc.spans[KEY]
        made.docs.append(each.doc)
        made = made._replace(overlapping=made.overlapping + len(spans) - len(kept))
    return made
