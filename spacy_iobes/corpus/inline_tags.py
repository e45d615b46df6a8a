"""The tags of inline-tagged text, and what they look like.

A tag is a name in angle brackets, with a slash where it ends, and with attributes if it has any;
everything else in angle brackets is text (`<a@b.org>`, `<...>`, `<0.30.11.87>`, `<I believe>`).
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from html.entities import html5
from typing import NamedTuple


def _tag(more: str) -> str:
    """What a tag looks like, given what else may stand in its name."""
    name = rf"[^\W\d][\w{more}-]*"
    attribute = r"\s+[^\W\d][\w.:-]*\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=]+?)"
    opening = rf"(?P<open>{name})(?P<attributes>(?:{attribute})*)\s*(?P<empty>/?)"
    return rf"<(?:/(?P<close>{name})\s*|{opening})>"


_TAG = re.compile(_tag(""))
_XML = re.compile(
    rf"{_tag('.:')}|<!\[CDATA\[(?P<data>.*?)\]\]>"
    r"|(?P<none><!--.*?-->|<\?.*?\?>|<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(r"([^\s=]+)\s*=\s*(\"[^\"]*\"|'[^']*'|\S+)")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|\w+);")


class Tag(NamedTuple):
    """Something in the file that is not text, and what stands for it in the text, if anything."""

    start: int
    end: int
    name: str = ""
    opens: bool = False
    closes: bool = False
    label: str = ""
    data: str = ""


def tags_of(raw: str, xml: bool = False, label_attribute: str = "") -> Iterator[Tag]:
    """Every tag of a text; in XML, comments and the like, too.

    The label of a tag is its name, or what the attribute says that names labels, if it has one.
    """
    for match in (_XML if xml else _TAG).finditer(raw):
        parts, place = match.groupdict(), match.span()
        if name := parts["close"]:
            yield Tag(*place, name, closes=True)
        elif name := parts["open"]:
            label = name
            if label_attribute:
                label = _attribute(parts["attributes"], label_attribute)
                label = decoded(label) if xml else label
            yield Tag(*place, name, True, bool(parts["empty"]), label)
        else:
            yield Tag(*place, data=parts["data"] or "")


def _attribute(attributes: str, name: str) -> str:
    """The value of an attribute; empty if there is none."""
    value = str(dict(_ATTRIBUTE.findall(attributes)).get(name, ""))
    return value[1:-1] if value[:1] in ("'", '"') else value


def decoded(text: str) -> str:
    """The text with the characters that entities stand for; unknown ones are text."""

    def character(match: re.Match[str]) -> str:
        known = match[0][1] == "#" or match[0][1:] in html5
        return html.unescape(match[0]) if known else match[0]

    return _ENTITY.sub(character, text) if "&" in text else text
