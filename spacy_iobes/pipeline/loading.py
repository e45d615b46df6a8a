"""Pipelines that somebody names, and the recognisers in them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Collection

from spacy.language import Language
from spacy.util import load_model
from thinc.api import ConfigValidationError

from ..corpus.folders import beside, put, restore
from ..errors import FileError, IobesError, UnknownNameError
from .configs import unusable
from .ner import EntityRecognizer
from .nested_ner import NestedRecognizer


def load_pipeline(model: str, tell: Callable[[str], None]) -> Language:
    """Return a pipeline from a directory or an installed package."""
    try:
        restore(model, tell)
        return load_model(model)
    except OSError as error:
        raise FileError(f"{model}: no pipeline there: {str(error).rstrip('.')}.", model) from error
    except IobesError:
        raise
    except ConfigValidationError as error:
        message = f"{model}: its config.cfg cannot be used: {unusable(error)}."
        raise FileError(message, model) from error
    except Exception as error:  # damaged, or made with components that are not installed
        detail = " ".join(f"{type(error).__name__}: {error}".split())
        raise FileError(f"{model}: cannot be loaded ({detail[:300]}).", model) from error


def save_pipeline(nlp: Language, output: str) -> None:
    """Write a pipeline, whole or not at all."""
    new = beside(output)
    try:
        nlp.to_disk(new)
        put(new, output)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise FileError(f"{output}: cannot be written: {reason}.", output) from error
    finally:
        shutil.rmtree(new, ignore_errors=True)


def recogniser(nlp: Language, component: str) -> EntityRecognizer:
    """Return the component of a name, if it is one of ours."""
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
    """Return the name of a recogniser with a bias; without a name, that of the last one."""
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
    """Raise for a name that no recogniser has."""
    if component not in pipes:
        known = ", ".join(pipes) or "none"
        message = f"The pipeline has no recogniser {component!r}. Known: {known}."
        raise UnknownNameError(f"{message} Name one (--component).", component, list(pipes))
