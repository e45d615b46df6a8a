"""Pipelines that commands load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .application import tell

if TYPE_CHECKING:
    from spacy.language import Language

Component = Annotated[
    str, typer.Option("--component", help="Name of the recogniser in the pipeline.")
]


def loaded(model: str) -> Language:
    """Return a pipeline from a directory or an installed package."""
    from ..pipeline.loading import load_pipeline  # here, since it takes longer than most commands

    return load_pipeline(model, tell)
