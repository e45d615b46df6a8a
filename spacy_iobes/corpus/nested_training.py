"""Nested mentions to train on: files of any kind, looked at before training begins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from spacy.language import Language
from spacy.tokens import Doc

from ..errors import FileError
from .conll import DELIMITERS
from .files import require_there
from .findings import Finding, finding_lines
from .inputs import is_stream
from .nested_corpus import NestedReading
from .nested_formats import COLUMNS, format_of
from .nested_reader import NestedCorpus, paths_of
from .sources import offsets_of
from .tagged import sentence_starts
from .training_data import TrainingData


def nested_training_data(
    path: str, reading: NestedReading, nlp: Language, tell: Callable[[str], None]
) -> TrainingData:
    """Look at a file or a folder; raises for what cannot be trained on.

    Texts are cut by the tokenizer of `nlp`. What cannot be a span goes to `tell`.
    """
    if is_stream(path):
        message = f"{path}: a pipe can be read only once, and training reads its data again."
        raise FileError(f"{message} Save it to a file and name that.", path)
    require_there(path)
    columns = all(format_of(file) == COLUMNS for file in paths_of(path))
    reading = replace(reading, unit="document")
    docs, findings, labels = list[Doc](), list[Finding](), Counter[str]()
    corpus = NestedCorpus(path, reading)
    for doc, found in corpus.docs(nlp):
        docs.append(doc)
        findings += found
        labels.update(span.label_ for span in doc.spans.get(reading.key, ()))
    if not sum(map(len, docs)):
        raise FileError(f"{path}: there is no token to train on or to score.", path)
    if not labels:
        hint = f"Are there mentions in the span group {reading.key!r}?"
        hint = "Are these the right columns (--layer)?" if columns else hint
        raise FileError(f"{path}: there is no mention in {len(docs):,} Docs. {hint}", path)
    for line in finding_lines(findings):
        tell(f"{path}: {line}")
    reader, repaired = reader_block(path, reading), corpus.violations
    if not columns:
        lengths = list(map(len, docs))
        return TrainingData(path, reader, lengths, labels, repaired, nested=True)
    lengths, opens = [], list[int]()
    for doc in docs:
        opens.append(len(lengths))
        starts = np.flatnonzero(sentence_starts([doc], offsets_of([doc]))).tolist()
        lengths += np.diff([*(starts or [0]), len(doc)]).tolist()
    reader |= {"unit": "sentence", "keep_sentences": False}
    return TrainingData(path, reader, lengths, labels, repaired, tuple(opens), nested=True)


def reader_block(path: str, reading: NestedReading) -> dict[str, Any]:
    """What a config says to read the same."""
    tags, columns, texts = reading.tags, reading.columns, reading.texts
    named = {v: k for k, v in DELIMITERS.items()}.get(columns.delimiter, columns.delimiter)
    return {
        "@readers": "spacy-iobes.NestedCorpus.v1",
        "path": path,
        "spans_key": reading.key,
        "scheme": None if tags is None else tags.scheme.name,
        "policy": "raise" if tags is None else tags.policy.name,
        "layers": None if tags is None else list(tags.layers) or None,
        "labels": None if tags is None else list(tags.names) or None,
        "header": reading.header,
        "delimiter": named,
        "token_index": columns.token,
        "comment": columns.comment,
        "encoding": columns.encoding,
        "unit": reading.unit,
        "lines": texts.lines,
        "misaligned": texts.misaligned,
        "offsets": texts.offsets,
        "limit": 0,
        "shuffle": False,
        "augmenter": None,
        "ignore_documents": not columns.count_documents,
        "markers_as_tokens": not columns.markers,
        "keep_sentences": True,
    }
