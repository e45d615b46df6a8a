"""The readers that configs name, which take files of any format."""

from __future__ import annotations

from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from ..errors import FileError
from .docs import GROUP
from .formats.options import ExampleOptions, ReadOptions, config_parameters, option_fields
from .training_corpus import TrainingCorpus


def _reader(path: str | Path | None, key: str, settings: dict[str, Any]) -> TrainingCorpus:
    """Return the corpus that the settings of a config describe."""
    if not path:
        raise FileError(
            "The path of a corpus is null or empty: set it in the config, or on the command line "
            "(--paths.train, for example)."
        )
    names = {each.name for each in option_fields(ExampleOptions)}
    own = {name: value for name, value in settings.items() if name in names}
    how = {name: value for name, value in settings.items() if name not in names}
    return TrainingCorpus(path, ReadOptions(**how), ExampleOptions(**own), key)


def conll_corpus(path: str | Path | None, **settings: Any) -> TrainingCorpus:
    """Return examples whose references have entities, from a file of any format or a folder."""
    return _reader(path, "", settings)


def nested_corpus(
    path: str | Path | None, spans_key: str = GROUP, **settings: Any
) -> TrainingCorpus:
    """Return examples whose references have a span group, from a file of any format or a folder.

    In .spacy files the mentions are in that group; in those without groups they are the entities.
    """
    return _reader(path, spans_key, settings)


def _signature(*leave_out: str, **more: Parameter) -> Signature:
    """Return the parameters of a reader: the fields of both options, under their own names."""
    both = [*config_parameters(ExampleOptions), *config_parameters(ReadOptions)]
    named = {"path": _parameter("path", str | Path | None, Parameter.empty), **more}
    fields = {each.name: each for each in both if each.name not in (*leave_out, *named)}
    return Signature([*named.values(), *fields.values()])


def _parameter(name: str, kind: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, default=default, annotation=kind)


conll_corpus.__signature__ = _signature()  # type: ignore[attr-defined]
nested_corpus.__signature__ = _signature(  # type: ignore[attr-defined]
    "tag_scheme", spans_key=_parameter("spans_key", str, GROUP)
)
