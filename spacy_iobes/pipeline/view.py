"""A Doc with its raw tags, what is wrong with them, and what policies make of them, as HTML.

In the spirit of `displacy.render`: a fragment, a page, or shown at once in a notebook. A Doc is
only read, and never through `doc.ents`, which raises for what is malformed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from importlib.resources import files
from typing import Any

from spacy.tokens import Doc
from spacy.util import is_in_jupyter

from ..codes.policy import get_tag_policy
from ..codes.scheme import get_scheme
from ..corpus.sources import get_source
from ..corpus.tagged import Unit
from .view_markup import Palette, counted, doc_markup
from .viewed import Viewed

STYLE = "view.css"
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="spacy-iobes">
<link rel="icon" href="data:,">
<title>{title}</title>
{style}
</head>
<body class="iobes-page">
<main class="iobes-view">
<h1>{title}</h1>
{body}
</main>
</body>
</html>
"""


def render(
    docs: Doc | Iterable[Doc],
    *,
    scheme: str,
    policy: str | Sequence[str],
    source: str = "user_data",
    unit: Unit = "doc",
    page: bool = False,
    jupyter: bool | None = None,
    options: Mapping[str, Any] | None = None,
) -> str | None:
    """Draw Docs with their tags, violations and repairs: HTML, or nothing if a notebook shows it.

    `policy` is one name or several, whose repairs then stand side by side. `options` are those of
    displaCy for entities, `colors` and `ents`. A title is read from `doc.user_data["title"]`.
    """
    names = [policy] if isinstance(policy, str) else policy
    policies, read = [get_tag_policy(name) for name in names], get_scheme(scheme)
    place = get_source(source, read)
    found = [Viewed.read(doc, place, read, unit, policies) for doc in _listed(docs)]
    palette = Palette.of(found, options or {})
    recipe = f"{read.name} from {source}"
    body = "\n".join(doc_markup(one, palette, recipe) for one in found)
    wrong = counted(sum(len(one.violations) for one in found), "violation")
    html = _page(body, f"{counted(len(found), 'Doc')}, {wrong}") if page else _fragment(body)
    if jupyter or (jupyter is None and is_in_jupyter()):
        display = import_module("IPython.display")
        display.display(display.HTML(html))
        return None
    return html


def _listed(docs: Doc | Iterable[Doc]) -> list[Doc]:
    found = [docs] if isinstance(docs, Doc) else list(docs)
    for doc in found:
        if not isinstance(doc, Doc):
            raise TypeError(f"A view shows a Doc or several Docs, not {doc!r}.")
    return found


def _style() -> str:
    return f"<style>\n{files(__package__).joinpath(STYLE).read_text(encoding='utf8')}</style>"


def _page(body: str, title: str) -> str:
    return PAGE.format(title=escape(title), style=_style(), body=body)


def _fragment(body: str) -> str:
    """Markup for a notebook, where nothing of it is taken for a formula."""
    return f'<div class="iobes-view tex2jax_ignore mathjax_ignore">{_style()}\n{body}</div>'
