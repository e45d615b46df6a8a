"""DocBins of nested mentions, and what went into them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from spacy.tokens import DocBin

from .docbin import Written, require_ending, save_docbin
from .findings import Finding
from .nested_corpus import NestedDoc, NestedFile
from .sources import group_spans


@dataclass
class NestedWritten(Written):
    """What went into a DocBin file, and the mentions that did not, or that were changed."""

    findings: list[Finding] = field(default_factory=list)
    without_entities: int = 0

    def add_doc(self, made: NestedDoc, key: str, entities: bool = False) -> None:
        """Count one Doc; with `entities`, also whether it was to have some but has not."""
        self.docs += 1
        self.tokens += len(made.doc)
        known = made.doc.has_annotation("SENT_START")
        self.sentences += sum(bool(token.is_sent_start) for token in made.doc) if known else 1
        for _, _, label in group_spans(made.doc, key):
            self.labels[label] = self.labels.get(label, 0) + 1
        self.missing += made.missing
        self.blocked += made.blocked
        self.findings += made.findings
        if entities and len(made.doc):
            self.without_entities += not made.doc.has_annotation("ENT_IOB")

    def as_json(self) -> dict[str, Any]:
        """The same as plain values."""
        return asdict(self)


def write_nested(files: Iterable[NestedFile], target: str | Path) -> NestedWritten:
    """Write the Docs of files as one DocBin, all at once or not at all."""
    require_ending(target)
    done, docs = NestedWritten(), DocBin()
    for file in files:
        for made in file:
            done.add_doc(made, file.reading.key, file.reading.entities)
            docs.add(made.doc)
        done.repaired += file.violations
    save_docbin(docs, target)
    return done
