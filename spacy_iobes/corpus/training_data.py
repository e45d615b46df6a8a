"""What there is to train on: a column file or a DocBin, looked at before training begins."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..codes.policy import get_tag_policy
from ..codes.scheme import get_scheme
from ..errors import FileError
from .conll import DELIMITERS, ColumnReader, Columns, unnamed_scheme
from .docbin import ENDING, read_docbin, require_legal
from .file_sentences import FileSentences, TagReading
from .files import require_there
from .inputs import is_stream
from .reader import files_of

LONG = 10_000  # tokens of a document that is rather a whole corpus


@dataclass(frozen=True)
class TrainingData:
    """A file with entities: the lengths of its Docs, its labels, and how a config reads it.

    `repaired` is how many violations the policy has to repair. `opens` are the sentences of column
    files with which documents begin, if every file begins with one. With `nested`, entities are
    mentions in a span group, which may overlap. The `hint` says what to do without entities.
    """

    path: str
    reader: dict[str, Any]
    lengths: list[int]
    labels: Counter[str]
    repaired: int = 0
    opens: tuple[int, ...] = ()
    nested: bool = False
    hint: str = "Is this the right column (--tag)?"

    @property
    def tokens(self) -> int:
        """The number of tokens."""
        return sum(self.lengths)

    @property
    def entities(self) -> int:
        """The number of entities."""
        return self.labels.total()

    def require_entities(self) -> None:
        """Raise if there is no token, or no entity among the tokens."""
        if not self.tokens:
            message = f"{self.path}: there is no token to train on or to score."
            raise FileError(message, self.path)
        if not self.labels:
            unit = "sentence" if "tag_index" in self.reader else "Doc"
            size = f"{len(self.lengths):,} {unit}{'s' * (len(self.lengths) != 1)}"
            message = f"{self.path}: there is no entity in {size}. {self.hint}"
            raise FileError(message, self.path)

    @property
    def has_documents(self) -> bool:
        """Whether this is a column file of documents, none of them too long for one Doc."""
        return len(self.opens) > 1 and self.tokens / len(self.opens) < LONG

    @property
    def by_document(self) -> TrainingData:
        """The same, with a document in each Doc, whose sentences are known."""
        bounds = sorted({0, *self.opens, len(self.lengths)})
        lengths = [sum(self.lengths[start:end]) for start, end in pairwise(bounds)]
        reader = {**self.reader, "unit": "document", "keep_sentences": True}
        return replace(self, reader=reader, lengths=lengths)


def training_data(path: str, scheme: str, policy: str, columns: Columns) -> TrainingData:
    """Look at a file or a directory of files; raises for what cannot be trained on.

    The scheme, the policy and the columns are those of column files; DocBins need none of them.
    """
    if is_stream(path):
        message = f"{path}: a pipe can be read only once, and training reads its data again."
        raise FileError(f"{message} Save it to a file and name that.", path)
    require_there(path)
    files = files_of(path)
    docbins = [file for file in files if file.name.endswith(ENDING)]
    if docbins and len(docbins) < len(files):
        raise FileError(f"{path}: holds {ENDING} files and others. Name one kind of them.", path)
    data = of_docbins(path, docbins) if docbins else of_columns(path, scheme, policy, columns)
    data.require_entities()
    return data


def of_columns(path: str, scheme: str, policy: str, columns: Columns) -> TrainingData:
    """Column files, which are read by `spacy-iobes.ConllCorpus.v1`."""
    if not scheme:
        if path.endswith((".jsonl", ".json")):
            hint = "JSON lines are read for nested mentions (--nested), or by 'convert'."
            raise FileError(f"{path}: {hint}", path)
        raise unnamed_scheme(path)
    reading = TagReading(get_scheme(scheme), get_tag_policy(policy))
    lengths, labels, opens, repaired = list[int](), Counter[str](), list[int](), 0
    marked = True
    for file in files_of(path):
        sentences = FileSentences(ColumnReader(file, columns), reading)
        held = sentences.check()
        opens += [len(lengths) + at for at in held.opens if at < len(held.lengths)]
        marked = marked and (not held.lengths or 0 in held.opens)
        lengths += held.lengths
        labels += held.labels
        repaired += sentences.violations
    reader = {
        "@readers": "spacy-iobes.ConllCorpus.v1",
        "path": path,
        "scheme": reading.scheme.name,
        "policy": reading.policy.name,
        "delimiter": {v: k for k, v in DELIMITERS.items()}.get(
            columns.delimiter, columns.delimiter
        ),
        "token_index": columns.token,
        "tag_index": columns.tag,
        "comment": columns.comment,
        "encoding": columns.encoding,
        "unit": "sentence",
        "limit": 0,
        "shuffle": False,
        "augmenter": None,
        "tag_scheme": None,
        "ignore_documents": not columns.count_documents,
        "markers_as_tokens": not columns.markers,
        "keep_sentences": False,
    }
    return TrainingData(path, reader, lengths, labels, repaired, tuple(opens if marked else ()))


def of_docbins(path: str, files: list[Path]) -> TrainingData:
    """DocBins, which are read by spaCy itself; malformed entities are refused."""
    lengths, labels, groups = list[int](), Counter[str](), set[str]()
    for file in files:
        docs = read_docbin(file)
        groups.update(repr(str(key)) for doc in docs for key in doc.spans)
        require_legal(docs, str(file))
        lengths += map(len, docs)
        labels.update(span.label_ for doc in docs for span in doc.ents)
    reader = {
        "@readers": "spacy.Corpus.v1",
        "path": path,
        "gold_preproc": False,
        "max_length": 0,
        "limit": 0,
        "augmenter": None,
    }
    hint = "Their tokens have no entity annotation, or are all outside."
    if groups:
        hint = (
            f"There are span groups ({', '.join(sorted(groups))}), which are for recognisers of "
            "nested mentions (train --nested)."
        )
    return TrainingData(path, reader, lengths, labels, hint=hint)
