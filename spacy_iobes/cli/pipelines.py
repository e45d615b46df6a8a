"""Pipelines that commands load, and the recognisers in them."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import FileError, IobesError, UnknownNameError
from .application import tell

if TYPE_CHECKING:
    from spacy.language import Language

    from ..pipeline.ner import EntityRecognizer

Component = Annotated[
    str, typer.Option("--component", help="Name of the recogniser in the pipeline.")
]


def loaded(model: str) -> Language:
    """A pipeline from a directory or an installed package."""
    from spacy.util import load_model
    from thinc.api import ConfigValidationError

    from ..corpus.folders import restore

    try:
        restore(model, tell)
        return load_model(model)
    except OSError as error:
        raise FileError(f"{model}: no pipeline there: {str(error).rstrip('.')}.", model) from error
    except IobesError:
        raise
    except ConfigValidationError as error:
        from ..pipeline.configs import unusable

        message = f"{model}: its config.cfg cannot be used: {unusable(error)}."
        raise FileError(message, model) from error
    except Exception as error:  # damaged, or made with components that are not installed
        detail = " ".join(f"{type(error).__name__}: {error}".split())
        raise FileError(f"{model}: cannot be loaded ({detail[:300]}).", model) from error


def recogniser(nlp: Language, component: str) -> EntityRecognizer:
    """The component of a name, if it is one of ours."""
    from ..pipeline.ner import EntityRecognizer
    from ..pipeline.nested_ner import NestedRecognizer

    pipes = {name: pipe for name, pipe in nlp.pipeline if isinstance(pipe, EntityRecognizer)}
    nested = [name for name, pipe in nlp.pipeline if isinstance(pipe, NestedRecognizer)]
    if nested and not pipes:
        raise UnknownNameError(
            f"Only flat recognisers (iobes_ner) can be asked this, and the pipeline has none: "
            f"{', '.join(nested)} finds nested mentions.",
            component,
        )
    require_component(component, pipes)
    return pipes[component]


def tunable(nlp: Language, component: str) -> str:
    """The name of a recogniser with a bias; without a name, that of the last one."""
    from ..pipeline.ner import EntityRecognizer
    from ..pipeline.nested_ner import NestedRecognizer

    kinds = (EntityRecognizer, NestedRecognizer)
    names = [name for name, pipe in nlp.pipeline if isinstance(pipe, kinds)]
    if not component:
        if not names:
            known = ", ".join(nlp.pipe_names) or "nothing"
            raise UnknownNameError(f"The pipeline has no recogniser. It has: {known}.", "", names)
        return names[-1]
    require_component(component, names)
    return component


def require_component(component: str, pipes: Collection[str]) -> None:
    """Refuse a name that no recogniser has."""
    if component not in pipes:
        known = ", ".join(pipes) or "none"
        message = f"The pipeline has no recogniser {component!r}. Known: {known}."
        raise UnknownNameError(f"{message} Name one (--component).", component, list(pipes))
