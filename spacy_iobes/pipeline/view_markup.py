"""The HTML of one Doc in a view; all that comes from a Doc or a tag is only ever text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import Any
from unicodedata import bidirectional

from spacy.displacy.render import EntityRenderer
from spacy.tokens import Doc, Token

from ..codes.scheme import OUTSIDE
from ..codes.violation import BLOCKED, MISSING, Violation
from .viewed import Repair, Viewed

ABSENT = {MISSING: "missing", BLOCKED: "blocked"}
GOLDEN = 137.508  # degrees: neighbours in the list of labels get colours far apart
SPACE = str.maketrans({" ": "␣", "\t": "⇥", "\n": "⏎", "\r": "⏎"})


@dataclass(frozen=True)
class Palette:
    """The colour of every label that is drawn."""

    colours: Mapping[str, str]

    @classmethod
    def of(cls, viewed: Iterable[Viewed], options: Mapping[str, Any]) -> Palette:
        """displaCy's colours and options; labels that it does not know get hues of their own."""
        displacy = EntityRenderer(dict(options))
        repairs = [repair for one in viewed for repair in one.repairs]
        labels = sorted({span.label for repair in repairs for span in repair.spans})
        shown = [x for x in labels if displacy.ents is None or x.upper() in displacy.ents]
        unknown = [label for label in shown if label.upper() not in displacy.colors]
        hues = {
            label: f"oklch(.85 .1 {(250 + number * GOLDEN) % 360:.1f})"
            for number, label in enumerate(unknown)
        }
        return cls(hues | {x: displacy.colors[x.upper()] for x in shown if x not in hues})


def doc_markup(viewed: Viewed, palette: Palette, recipe: str) -> str:
    """A Doc: its tags and their violations in one panel, each repair in another."""
    title = viewed.doc.user_data.get("title")
    heading = f'<h2 class="iobes-title">{escape(str(title))}</h2>' if title else ""
    panels = [_tags(viewed, recipe), *(_repair(viewed, one, palette) for one in viewed.repairs)]
    grid = f'<div class="iobes-panels">{"".join(panels)}</div>'
    return f'<section class="iobes-doc">{heading}{grid}</section>'


def _panel(name: str, summary: str, *parts: str) -> str:
    head = f'<p class="iobes-head"><b>{escape(name)}</b>'
    head += f'<span class="iobes-muted">{escape(summary)}</span></p>'
    return f'<div class="iobes-panel">{head}{"".join(parts)}</div>'


def _tags(viewed: Viewed, recipe: str) -> str:
    """The tokens with their tags, and the violations, numbered, at their gaps and as a list."""
    gaps: dict[int, list[str]] = {}
    for number, wrong in enumerate(viewed.violations, 1):
        gaps.setdefault(wrong.index, []).append(_gap(number, wrong))
    cells = []
    for token, tag in zip(viewed.doc, viewed.tags):
        cut = '<span class="iobes-cut"></span>' if token.i in viewed.cuts else ""
        before = gaps.get(token.i, [])
        behind = gaps.get(token.i + 1, []) if token.i + 1 == len(viewed.doc) else []
        parts = "".join([*before, _token(token, tag), *behind])
        cells.append(f'{cut}<span class="iobes-cell">{parts}</span>')
    listed = [_reason(viewed, number, wrong) for number, wrong in enumerate(viewed.violations, 1)]
    why = f'<ol class="iobes-why">{"".join(listed)}</ol>' if listed else ""
    summary = f"{recipe}: {counted(len(listed), 'violation')}"
    return _panel("Tags", summary, _flow(viewed.doc, "iobes-tokens", "".join(cells)), why)


def _gap(number: int, wrong: Violation) -> str:
    kind = f'<span class="iobes-kind" dir="ltr">{escape(wrong.kind)}</span>'
    return f'<span class="iobes-gap"><b class="iobes-number">{number}</b>{kind}</span>'


def _token(token: Token, tag: str) -> str:
    state = "iobes-absent" if tag in ABSENT else "iobes-outside" if tag == OUTSIDE else ""
    word = f"{tag} {ABSENT[tag]}" if tag in ABSENT else tag
    text = f"<bdi>{_visible(token)}</bdi>{_code(word)}"
    return f'<span class="iobes-token {state}">{text}</span>'


def _code(text: str) -> str:
    return f'<code class="iobes-tag" dir="ltr">{escape(text)}</code>'


def _reason(viewed: Viewed, number: int, wrong: Violation) -> str:
    at_end = wrong.index == len(viewed.doc)
    token = viewed.doc[wrong.index - at_end]
    place = f"{'after ' * at_end}token {token.i} <bdi>{_visible(token)}</bdi>"
    text = f"<span>{place}: {escape(wrong.message)}</span>"
    return f'<li><b class="iobes-number">{number}</b>{text}</li>'


def _repair(viewed: Viewed, repair: Repair, palette: Palette) -> str:
    """The text with its entities as a policy finds them, and what it changed."""
    name, summary = repair.policy.name, repair.policy.summary
    if repair.refused:
        refused = f'<b class="iobes-number">refused</b>{escape(repair.refused)}'
        return _panel(name, summary, f'<p class="iobes-refused">{refused}</p>')
    parts, end = [], 0
    for span in repair.spans:
        parts.append(_stretch(viewed, repair, end, span.start))
        text = _stretch(viewed, repair, span.start, span.end)
        parts.append(_entity(span.label, text, palette))
        end = span.end
    parts.append(_stretch(viewed, repair, end, len(viewed.doc)))
    found = counted(len(repair.spans), "entity", "entities")
    changed = counted(len(repair.changes), "tag")
    total = f'<p class="iobes-sum iobes-muted">{found}, {changed} changed</p>'
    return _panel(name, summary, _flow(viewed.doc, "iobes-text", "".join(parts)), total)


def _stretch(viewed: Viewed, repair: Repair, start: int, end: int) -> str:
    """Some tokens as text, a changed tag under the token that had it."""
    parts = []
    for token, tag in zip(viewed.doc[start:end], viewed.tags[start:end]):
        text, change = f"<bdi>{escape(token.text)}</bdi>", repair.changes.get(token.i)
        if change:
            tags = _code(f"{change.old} => {change.new}")
            text = f'<span class="iobes-changed">{text}{tags}</span>'
        elif tag in ABSENT:
            text = f'<span class="iobes-untagged">{text}</span>'
        parts.append(text + token.whitespace_)
    return "".join(parts)


def _entity(label: str, text: str, palette: Palette) -> str:
    """An entity, its white space behind it; only text where the options leave its label out."""
    if label not in palette.colours:
        return text
    inside = text.rstrip(" ")
    name = f'<b class="iobes-label"><bdi>{escape(label or "(no label)")}</bdi></b>'
    style = f"--iobes-colour: {escape(palette.colours[label])}"
    mark = f'<mark class="iobes-entity" style="{style}">{inside}{name}</mark>'
    return mark + text[len(inside) :]


def _flow(doc: Doc, kind: str, content: str) -> str:
    """Tokens in the direction in which they are read."""
    language = f' lang="{escape(doc.lang_)}"' if doc.lang_ not in ("", "xx") else ""
    empty = '<span class="iobes-muted">no tokens</span>'
    return f'<div class="{kind}" dir="{direction(doc)}"{language}>{content or empty}</div>'


def direction(doc: Doc) -> str:
    """The direction of the language, or, where none is named, of most letters."""
    if doc.vocab.writing_system["direction"] == "rtl":
        return "rtl"
    kinds = [bidirectional(character) for character in doc.text]
    right = sum(kind in ("R", "AL") for kind in kinds)
    return "rtl" if right > kinds.count("L") else "ltr"


def _visible(token: Token) -> str:
    """The text of a token; signs for white space if there is nothing else."""
    text = token.text
    return escape(text.translate(SPACE) if text.isspace() else text)


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
