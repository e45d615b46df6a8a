"""Read sentences as a file: columns, a DocBin, or JSON lines for other tools."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spacy.tokens import DocBin
from spacy.vocab import Vocab

from ..codes.scheme import Scheme
from ..errors import UnknownNameError
from .answered import KEY, Answered, answered_docs
from .doc_columns import DocFile, columns_of
from .doc_lines import ColumnFormat, print_columns
from .docbin import require_ending, save_docbin
from .files import shown_output
from .nested_formats import DOCS, JSON, format_of
from .tasks_out import TASKS, write_tasks
from .text_docs import without_spaces

COLUMNS, DOCBIN = "columns", "spacy"
FORMATS = (COLUMNS, DOCBIN, *TASKS)
"""What read sentences may be written as."""


@dataclass
class Exported:
    """What was written: sentences by their status, tokens, and mentions of each label."""

    file: str
    format: str
    sentences: dict[str, int] = field(default_factory=dict)
    tokens: int = 0
    labels: dict[str, int] = field(default_factory=dict)

    def add(self, sentence: Answered) -> None:
        """Count a sentence."""
        self.sentences[sentence.status] = self.sentences.get(sentence.status, 0) + 1
        self.tokens += len(sentence.words)
        for _, _, label in sentence.mentions:
            self.labels[label] = self.labels.get(label, 0) + 1


def format_named(name: str, target: str) -> str:
    """The format of that name; without one, what the name of the file says."""
    if not name:
        return {DOCS: DOCBIN, JSON: "prodigy"}.get(format_of(target), COLUMNS)
    if name not in FORMATS:
        message = f"Unknown format {name!r}. Known: {', '.join(FORMATS)}."
        raise UnknownNameError(message, name, FORMATS)
    return name


def write_answered(
    sentences: Sequence[Answered], target: str, form: str, scheme: Scheme, nested: bool
) -> Exported:
    """Write sentences in one of the formats, all at once or not at all.

    Only Prodigy has a word for sentences that were rejected; no other file has them.
    """
    done = Exported(shown_output(target), form)
    kept = [each for each in sentences if form == "prodigy" or each.status != "rejected"]
    for sentence in kept:
        done.add(sentence)
    if form in TASKS:
        write_tasks(kept, target, form)
    elif form == DOCBIN:
        require_ending(target)
        save_docbin(DocBin(docs=answered_docs(kept, nested, Vocab())), target)
    else:
        _write_columns(kept, target, scheme, nested)
    return done


def _write_columns(
    sentences: Sequence[Answered], target: str | Path, scheme: Scheme, nested: bool
) -> None:
    """Nested mentions have as many columns of tags as they need; bare white space has no line."""
    docs = [without_spaces(doc) for doc in answered_docs(sentences, nested, Vocab())]
    file = DocFile(shown_output(target), docs)
    columns, _ = columns_of(file, scheme, key=KEY if nested and docs else "")
    print_columns(file, columns, target, ColumnFormat())
