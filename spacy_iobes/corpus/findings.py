"""Findings: mentions that are no spans of tokens, or that cannot be written, and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

BARE, UNANNOTATED, ORPHANED = "bare", "unannotated", "orphaned"
KINDS = {
    "lost": "the mentions come back as others",
    "ambiguous": "other mentions have the same separators, but these come back",
    "repeated": "a mention is there twice with the same label, and counts once",
    "empty": "a mention has no tokens",
    "beyond": "a mention goes beyond its sentence",
    "crossing": "a mention crosses a sentence boundary, so its sentences are joined",
    "discontinuous": "a mention has more than one part",
    "misaligned": "a mention begins or ends within a token",
    "moved": "a mention was given whole tokens",
    "unbalanced": "a tag is without its other half",
    "crossed": "a tag ends after one that began before it",
    "overlapping": "a mention shares a token with another one of its column",
    "deep": "there is no column left for a mention",
    "label": "the label of a mention cannot be written",
    "wrong": "a mention is known not to be there, which cannot be written",
    "ignored": "a relation between mentions is kept, and not read",
    "blocked": "no mention may cover a token, which cannot be written",
    ORPHANED: "what it is about is gone",
    BARE: "a document is not annotated, which cannot be written beside others that are",
    UNANNOTATED: "a token is not annotated, which cannot be written",
}
"""What there is to find; all but the first two are mentions that separators cannot be asked for."""
WHAT = {
    "unbalanced": "tag",
    "crossed": "tag",
    "ignored": "relation",
    "blocked": "token",
    BARE: "document",
    UNANNOTATED: "token",
    ORPHANED: "annotation",
}
"""What is found, where it is no mention."""
VERBS = {
    "deep": ("overlaps others in all columns", "overlap others in all columns"),
    "label": ("has a label that cannot be written", "have labels that cannot be written"),
}
"""What one or more mentions do, where the kind is no word for it."""
NO_PLACE = ("crossed", "deep", "label", "overlapping")
"""Spans that a file cannot hold."""
NO_SPANS = ("discontinuous", "misaligned")
"""Mentions of gold that no prediction can equal: they count as missed."""


@dataclass(frozen=True)
class Finding:
    """A set of mentions, or one mention, that is worth a look.

    `place` says where it begins, `sentence` counts from 0. `gone` are the mentions that do not come
    back, `new` those that come instead, as (start, end, text). A mention that is no span of tokens
    has `parts`: where each begins and ends, in characters of the text of its document.
    """

    kind: str
    place: str
    sentence: int
    label: str
    gone: tuple[tuple[int, int, str], ...]
    new: tuple[tuple[int, int, str], ...] = ()
    parts: tuple[tuple[int, int], ...] = field(default=(), kw_only=True)

    def __str__(self) -> str:
        gone, new = (", ".join(repr(text) for _, _, text in some) for some in (self.gone, self.new))
        said = [f"lost {gone}"] if self.kind == "lost" and gone else []
        said += [f"{KINDS[self.kind]}: {gone}"] if self.kind != "lost" else []
        said += [f"new {new}"] if new else []
        return f"{self.place}: {self.label}: {'; '.join(said)}"


def many(kind: str, count: int) -> str:
    """Return the number of findings of a kind in words: `2 mentions lost`."""
    one, more = VERBS.get(kind, (kind, kind))
    what = WHAT.get(kind, "mention")
    return f"{count:,} {what} {one}" if count == 1 else f"{count:,} {what}s {more}"


def finding_lines(findings: Sequence[Finding]) -> list[str]:
    """Return one line for each kind of finding: how many there are, and the first of them."""
    lines = []
    for kind in KINDS:
        if some := [finding for finding in findings if finding.kind == kind]:
            lines.append(f"{many(kind, len(some))}, the first at {some[0]}")
    return lines
