"""The two levels of GermEval 2014: outer and inner mentions, apart and together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spacy.tokens import Doc

from spacy_iobes.scoring import figures

from .nested_ner_corpora import Document
from .nested_ner_systems import KEY

LEVELS = ("outer", "inner")
Mention = tuple[int, int, str]


def levels(mentions: Iterable[Mention]) -> tuple[set[Mention], set[Mention]]:
    """Those inside no other mention are outer ones, all others inner ones.

    Of several with the same tokens, the first label in alphabetical order is the outer one.
    """
    outer, inner = set[Mention](), set[Mention]()
    reached = 0
    for mention in sorted(mentions, key=lambda m: (m[0], -m[1], m[2])):
        level = inner if mention[1] <= reached else outer
        level.add(mention)
        reached = max(reached, mention[1])
    return outer, inner


def gold_levels(document: Document) -> tuple[set[Mention], ...]:
    """The mentions of each column, in places of the whole document."""
    found: tuple[set[Mention], ...] = (set(), set())
    base = 0
    for words, layers in document:
        for level, layer in zip(found, layers):
            level |= {(base + start, base + end, label) for start, end, label in layer}
        base += len(words)
    return found


def level_figures(documents: Sequence[Document], docs: Sequence[Doc]) -> dict[str, float]:
    """F1 of each level, and of both, where a mention must be on the right level."""
    totals = [[0, 0, 0], [0, 0, 0]]
    for document, doc in zip(documents, docs, strict=True):
        predicted = levels((span.start, span.end, span.label_) for span in doc.spans[KEY])
        for total, guess, gold in zip(totals, predicted, gold_levels(document)):
            for at, members in enumerate((guess & gold, guess, gold)):
                total[at] += len(members)
    both = [sum(column) for column in zip(*totals)]
    return {
        f"{name} F1": 100 * (figures(*counts).f1 or 0.0)
        for name, counts in zip((*LEVELS, "combined"), (*totals, both))
    }
