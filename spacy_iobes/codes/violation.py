"""Violations: which gap is illegal, between which tags, and why."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .scheme import EDGE, Scheme
from .tag import join_tag, read_tag

MISSING, BLOCKED = "-", "!"
"""The tags of tokens that are not annotated, and of those that no span may cover."""
NO_TAG = "a token without a tag"

KINDS = {
    "start": "a tag that cannot start a span stands where one would have to start",
    "end": "a span is not closed by a tag that may end it",
    "label": "a tag that continues or touches a span has another label than the span",
    "after": "the token after a span is not marked, or one is marked that follows no such span",
    "unreadable": "a tag that is not one of the scheme's",
}
"""Every kind of violation."""


@dataclass(frozen=True)
class Violation:
    """An illegal gap.

    `index` is the token behind the gap, or the length of the sentence where its end is at fault;
    `previous` and `current` are the tags on both sides, None at a sentence edge. `file`, `line` and
    `token` are known when the tags came from a file; at a sentence end they name the last token.
    Without lines, `doc` is the document in place of `line`, and `index` counts its tokens.
    """

    index: int
    previous: str | None
    current: str | None
    kind: str
    message: str
    file: str | None = None
    line: int | None = None
    token: str | None = None
    doc: int | None = None

    def __str__(self) -> str:
        if self.doc is not None:
            return (
                f"{self.file}, Doc {self.doc}, token {self.index}: {self.token!r}: {self.message}"
            )
        if self.file is None:
            place = f"token {self.index}" if self.current else f"after token {self.index - 1}"
            return f"{place}: {self.message}"
        return f"{self.file}:{self.line}: {self.token!r}: {self.message}"


@lru_cache(maxsize=65536)
def explain(
    scheme: Scheme, previous: str | None, current: str | None, edges: tuple[str, str] = ("", "")
) -> tuple[str, str]:
    """The kind of an illegal gap between two tags, and a sentence that says what is wrong.

    `edges` are what it calls a place beyond the first and beyond the last tag.
    """
    read = read_tag(current, scheme) if current is not None else (EDGE, "")
    if read is None:
        known = ", ".join((*scheme.written, "O"))
        return "unreadable", f"{current!r} is not a tag of {scheme.name} (prefixes: {known})"
    names = (edges[0] or "the sentence start", edges[1] or "the sentence end")
    found = f"{previous or names[0]} -> {current or names[1]}"
    before = read_tag(previous, scheme) if previous is not None else (EDGE, "")
    assert before is not None, "what follows an unreadable tag is not judged"
    (p, label), (c, other) = before, read
    inside, same = scheme.inside, label == other
    if scheme.after and (c == scheme.after or (p in inside and c not in inside)):
        wanted = scheme.after if p in inside else "O"
        return "after", f"{found}: the token after a span is {wanted}{f'-{label}' * (p in inside)}"
    if scheme.silent:
        return _unpaired(scheme, found, (p, label), (c, other))
    gap = scheme.boundary(p, c, same)
    # what could stand instead: it opens a span if this prefix does, and closes one if this does
    opens, closes = p in scheme.openers, c in scheme.closers
    starts = [x for x in inside if x in scheme.behind(gap) and (x in scheme.closers) == closes]
    ends = [x for x in inside if x in scheme.before(gap) and (x in scheme.openers) == opens]
    cannot_start = f"{found}: {c} cannot start a span here, {' or '.join(starts)} can"
    cannot_end = f"{found}: {p} cannot end a span here, {' or '.join(ends)} can"
    if not same and p in inside and c in inside and (p, c) in scheme.join + scheme.split:
        return "label", cannot_end if c in scheme.behind(gap) else cannot_start
    if p in inside and p not in scheme.before(gap):
        return "end", cannot_end
    return "start", cannot_start


def _unpaired(
    scheme: Scheme, found: str, before: tuple[str, str], behind: tuple[str, str]
) -> tuple[str, str]:
    """The same where text shows only the first and the last tag of a span, and one has no other."""
    (p, label), (c, other) = before, behind
    firsts, lasts = scheme.openers - scheme.closers, scheme.closers - scheme.openers
    if p in firsts:
        ends = " or ".join(join_tag(x, label) for x in scheme.written if x in lasts)
        kind = "label" if c in lasts else "end"
        return kind, f"{found}: {join_tag(p, label)} begins a span, but no {ends} ends it"
    begins = " or ".join(join_tag(x, other) for x in scheme.written if x in firsts)
    return "start", f"{found}: {join_tag(c, other)} ends a span, but no {begins} begins it"


def violation(
    scheme: Scheme,
    index: int,
    previous: str | None,
    current: str | None,
    edges: tuple[str, str] = ("", ""),
) -> Violation:
    """The violation of an illegal gap before token `index`."""
    return Violation(index, previous, current, *explain(scheme, previous, current, edges))
