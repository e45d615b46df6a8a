"""The factories that spaCy finds by name: what a config may say, and what it says by default."""

from __future__ import annotations

from spacy.language import Language

from ..corpus.tagged import Unit
from .converter import Converter
from .doc_pipe import Scorer
from .marks import set_extensions
from .repairer import Repairer
from .scorers import WEIGHTS
from .validator import OnError, Validator

set_extensions()


@Language.factory(
    "iobes_validator",
    assigns=["doc._.iobes_violations"],
    default_config={"source": "user_data", "unit": "doc", "on_error": "warn", "scorer": None},
)
def make_validator(
    nlp: Language,
    name: str,
    scheme: str,
    source: str,
    unit: Unit,
    on_error: OnError,
    scorer: Scorer | None,
) -> Validator:
    """Record the violations of each Doc in `doc._.iobes_violations`."""
    return Validator(
        name, scheme=scheme, source=source, unit=unit, on_error=on_error, scorer=scorer
    )


@Language.factory(
    "iobes_repairer",
    assigns=["doc.ents", "doc._.iobes_violations", "doc._.iobes_changes"],
    default_config={"source": "user_data", "target": "ents", "unit": "doc", "scorer": None},
    default_score_weights=WEIGHTS,
)
def make_repairer(
    nlp: Language,
    name: str,
    scheme: str,
    policy: str,
    source: str,
    target: str,
    unit: Unit,
    scorer: Scorer | None,
) -> Repairer:
    """Turn tags into entities or a span group under a named policy."""
    return Repairer(
        name, scheme=scheme, policy=policy, source=source, target=target, unit=unit, scorer=scorer
    )


@Language.factory(
    "iobes_converter",
    default_config={
        "source": "ents",
        "target": "user_data",
        "target_scheme": None,
        "policy": "raise",
        "unit": "doc",
        "scorer": None,
    },
)
def make_converter(
    nlp: Language,
    name: str,
    scheme: str,
    source: str,
    target: str,
    target_scheme: str | None,
    policy: str,
    unit: Unit,
    scorer: Scorer | None,
) -> Converter:
    """Turn entities or a span group into tags of any scheme, tags into spans, or tags into tags."""
    return Converter(
        name,
        scheme=scheme,
        source=source,
        target=target,
        target_scheme=target_scheme,
        policy=policy,
        unit=unit,
        scorer=scorer,
    )
