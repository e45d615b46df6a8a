"""Everything that spaCy finds by name: a changed list must be meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib.metadata import distribution
from inspect import signature
from typing import Any, ForwardRef, get_args, get_type_hints

import pytest
import spacy
from spacy.language import Language
from spacy.util import registry

from spacy_iobes.cli import MODULES, app

DISTRIBUTION = "spacy-iobes"
NAMES = {
    "console_scripts": ["spacy-iobes"],
    "spacy_architectures": [
        "spacy-iobes.ChainTagger.v1",
        "spacy-iobes.HashedFeatures.v1",
        "spacy-iobes.SeparatorMean.v1",
        "spacy-iobes.SeparatorTagger.v1",
    ],
    "spacy_cli": ["iobes"],
    "spacy_factories": [
        "iobes_converter",
        "iobes_ner",
        "iobes_nested_ner",
        "iobes_repairer",
        "iobes_validator",
    ],
    "spacy_readers": ["spacy-iobes.ConllCorpus.v1", "spacy-iobes.NestedCorpus.v1"],
    "spacy_scorers": [
        "spacy-iobes.nested_scorer.v1",
        "spacy-iobes.span_scorer.v1",
        "spacy-iobes.tag_scorer.v1",
    ],
}
"""Entry points by group; names other than those of factories and commands end in a version."""
COMMANDS = """
    annotate compare convert explain generate info predict repair
    score select simulate strategies summarize train tune validate
""".split()  # noqa: SIM905
FOUND_BY_SPACY = [
    (group.removeprefix("spacy_"), name)
    for group, names in NAMES.items()
    if group.startswith("spacy_")
    for name in names
]


def registered() -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for point in distribution(DISTRIBUTION).entry_points:
        groups.setdefault(point.group, []).append(point.name)
    return {group: sorted(groups[group]) for group in sorted(groups)}


def test_entry_points() -> None:
    assert registered() == NAMES


def test_commands() -> None:
    assert sorted(command.name or "" for command in app.registered_commands) == COMMANDS
    assert sorted(MODULES) == COMMANDS


@pytest.mark.parametrize(("kind", "name"), FOUND_BY_SPACY)
def test_spacy_finds_every_name(kind: str, name: str) -> None:
    found = getattr(registry, "_entry_point_factories" if kind == "factories" else kind)
    assert name in found.get_all()


def test_nothing_else_is_registered_under_our_names() -> None:
    """A name that is only there once a module was imported works by chance."""
    for kind in ("architectures", "readers", "scorers", "misc", "layers", "callbacks", "loggers"):
        ours = [n for n in getattr(registry, kind).get_all() if n.startswith(DISTRIBUTION)]
        assert sorted(ours) == NAMES.get(f"spacy_{kind}", []), kind


def test_factories_are_built_by_their_names() -> None:
    nlp = spacy.blank("en")
    assert all(map(nlp.has_factory, NAMES["spacy_factories"]))


@pytest.mark.parametrize("name", NAMES["spacy_factories"])
def test_factories_say_what_they_do(name: str) -> None:
    spacy.blank("en")
    meta = Language.get_factory_meta(name)
    assert meta.factory == name
    weights = meta.default_score_weights or {}
    figures = {"f", "p", "r", "f_per_type", "signature"}
    flat = {f"iobes_{figure}" for figure in (*figures, "violations")}
    parts = {f"iobes_nested_{part}" for part in (*figures, "overlapping", "others", "recall")}
    assert set(weights) <= flat or set(weights) <= parts
    assert sum(filter(None, weights.values())) in (0.0, 1.0)


def parts_of(kind: Any, around: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Yield a type and all types that it is made of; no dataclass may hold itself."""
    assert kind not in around, f"{kind} holds itself"
    yield kind
    inner = get_args(kind)
    if is_dataclass(kind):
        inner = tuple(get_type_hints(kind).values())
        around = (*around, kind)
    for part in inner:
        yield from parts_of(part, around)


@pytest.mark.parametrize(("kind", "name"), FOUND_BY_SPACY)
def test_arguments_have_types_that_every_version_of_confection_can_read(
    kind: str, name: str
) -> None:
    """Up to 0.1.5 it leaves types that are strings unread, and never ends with one in itself."""
    if kind == "cli":
        return
    (point,) = (p for p in distribution(DISTRIBUTION).entry_points if p.name == name)
    parameters = signature(point.load()).parameters.values()
    assert all(p.annotation is not p.empty for p in parameters)
    found = [part for p in parameters for part in parts_of(p.annotation)]
    assert [part for part in found if isinstance(part, ForwardRef)] == []
    assert [p.name for p in parameters if isinstance(p.annotation, str)] == []


@pytest.mark.parametrize("name", NAMES["spacy_factories"])
def test_a_pipeline_takes_every_factory(name: str) -> None:
    must = {"iobes_repairer": ["scheme", "policy"], "iobes_ner": [], "iobes_nested_ner": []}
    config = {"scheme": "bio", "policy": "begin"}
    settings = {key: config[key] for key in must.get(name, ["scheme"])}
    nlp = spacy.blank("en")
    nlp.add_pipe(name, config=settings)
    assert nlp.pipe_names == [name]


@pytest.mark.parametrize(("kind", "name"), FOUND_BY_SPACY)
def test_names_carry_a_version(kind: str, name: str) -> None:
    if kind not in ("factories", "cli"):
        assert name.startswith(f"{DISTRIBUTION}.")
        assert name.rpartition(".v")[2].isdecimal()
