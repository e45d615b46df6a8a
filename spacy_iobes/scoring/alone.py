"""Pages that are one file and need nothing else: what they have in common."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files

INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
PART = re.compile(r"@@(\w+)@@")


def alone(package: str | None, title: str, trusted: str = "", **parts: str) -> str:
    """A page by the template `page.html` of a package, whose `@@names@@` are given as parts.

    They are markup; scripts and styles work only in the template, and in what is `trusted`.
    """
    head, template = (
        files(where or "").joinpath(name).read_text(encoding="utf8")
        for where, name in ((__package__, "head.html"), (package, "page.html"))
    )
    template = template.replace("@@head@@", head)
    values = parts | {"title": escape(title), "policy": content_policy(template + trusted)}
    text = PART.sub(lambda found: values[found[1]], template)
    return text.encode("utf8", "backslashreplace").decode("utf8")  # names of files may be no text


def content_policy(trusted: str) -> str:
    """The Content-Security-Policy under which only these scripts and styles work."""
    hashes: dict[str, list[str]] = {"script": [], "style": []}
    for kind, text in INLINE.findall(trusted):
        digest = b64encode(sha256(text.encode("utf8")).digest()).decode("ascii")
        hashes[kind].append(f"'sha256-{digest}'")
    sources = [f"{kind}-src {' '.join(found)}" for kind, found in hashes.items()]
    return "; ".join(
        ["default-src 'none'", *sources, "img-src data:", "base-uri 'none'", "form-action 'none'"]
    )
