"""The folder of a session: its corpus, its settings, its journal and its lock."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from spacy.tokens import Doc, DocBin

from ..corpus.docbin import read_docbin, save_docbin
from ..corpus.docs import GROUP, MORE
from ..corpus.folders import beside, put
from ..corpus.targets import ToEntities, ToSpanGroup
from ..errors import FileError
from ..span import Span
from .journal import Journal
from .pool import Pool
from .settings import Settings

CORPUS, SETTINGS, JOURNAL, LOCK = "corpus.spacy", "settings.json", "decisions.jsonl", "lock"


def is_session(folder: str | Path) -> bool:
    """Whether a folder holds a session."""
    return all((Path(folder) / name).is_file() for name in (CORPUS, SETTINGS, JOURNAL))


def require_session(folder: str | Path) -> None:
    """Raise if a folder holds none."""
    if not is_session(folder):
        there = "there is no such folder" if not Path(folder).exists() else "this holds no session"
        files = f"{CORPUS}, {SETTINGS} and {JOURNAL}"
        message = f"{folder}: {there} ({files}). Name a corpus to begin one."
        raise FileError(message, str(folder))


def create_folder(
    folder: str | Path, pool: Pool, settings: Settings, records: Iterable[Mapping[str, Any]]
) -> None:
    """Make the folder of a new session, whole or not at all."""
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        message = f"{folder}: something is there already. Name a folder that is new or empty."
        raise FileError(message, str(folder))
    new = beside(folder)
    try:
        save_docbin(DocBin(docs=known_docs(pool), store_user_data=True), new / CORPUS)
        settings.save(new / SETTINGS)
        journal = Journal.create(new / JOURNAL)
        journal.append(*records)
        journal.close()
        put(new, folder)
        _sync(Path(os.path.realpath(folder)).parent)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def read_pool(folder: str | Path, settings: Settings) -> Pool:
    """The pool of a session; raises if it is not the one that the session was begun with."""
    path = Path(folder) / CORPUS
    pool = Pool.of(read_docbin(path), settings.labels, nested=settings.nested)
    if pool.digest != settings.digest:
        raise FileError(
            f"{path}: not the corpus that this session was begun with ({SETTINGS} has another "
            "digest). Restore it: the numbers of the decisions are those of its sentences.",
            str(path),
        )
    return pool


def known_docs(pool: Pool) -> list[Doc]:
    """Return copies of the Docs: words, sentences, known mentions and what else is known."""
    spans = doc_spans(pool, [pool.known(number) for number in range(len(pool))])
    found, target = [], ToSpanGroup(GROUP) if pool.nested else ToEntities()
    for doc, known in zip(pool.docs, spans):
        copy = bare_copy(doc)
        if MORE in doc.user_data:
            copy.user_data[MORE] = doc.user_data[MORE]
        target.write(copy, known, (), ())
        found.append(copy)
    return found


def bare_copy(doc: Doc) -> Doc:
    """Return a Doc with the same words and, if they are known, sentences, but nothing else."""
    starts: list[bool | int | None] | None = None
    if doc.has_annotation("SENT_START"):
        starts = [bool(token.is_sent_start) for token in doc]
    words = [token.text for token in doc]
    spaces = None if doc.has_unknown_spaces else [bool(token.whitespace_) for token in doc]
    return Doc(doc.vocab, words=words, spaces=spaces, sent_starts=starts)


def doc_spans(pool: Pool, spans: Iterable[Iterable[Span]]) -> list[list[Span]]:
    """The spans of each Doc, from those of each sentence."""
    found: list[list[Span]] = [[] for _ in pool.docs]
    for sentence, some in enumerate(spans):
        doc, at, _ = pool.place(sentence)
        found[doc] += (Span(start + at, end + at, label) for start, end, label in some)
    return found


def _sync(folder: Path) -> None:
    """Have the names in a folder on disk, where the system can."""
    if os.name == "posix":
        file = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(file)
        finally:
            os.close(file)
