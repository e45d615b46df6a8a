"""Options of the commands that look for mentions in a pool of sentences, and how these read it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..corpus.corpus import Corpus
from ..corpus.files import require_there
from ..corpus.formats.options import ReadOptions
from ..errors import OptionError
from .application import tell
from .options import opened

if TYPE_CHECKING:
    from spacy.tokens import Doc

RankingName = Annotated[
    str, typer.Option("--ranking", help="expected, entropy, margin, random or sequential.")
]
Plots = Annotated[
    list[str] | None,
    typer.Option(
        "--plot",
        help="Draw it: a file that ends in .svg, .html or .png (which needs matplotlib); repeat it "
        "for several.",
    ),
]


def docs_to_read(path: str, how: ReadOptions, nested: bool, scheme: str, policy: str) -> list[Doc]:
    """Return the Docs of a file or folder; what cannot be a mention is told."""
    from ..selection.pool_files import is_untagged, pool_docs

    require_there(path)
    bare = is_untagged(Corpus(path, how))
    with opened(path, how, None if bare else scheme) as corpus:
        docs, lines = pool_docs(corpus, nested, scheme, policy)
    for line in lines:
        tell(line)
    return docs


def required_labels(given: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the labels to look for, of which there must be some."""
    if not given.get("labels"):
        raise OptionError("say what to look for", "--label")
    return tuple(given["labels"])
