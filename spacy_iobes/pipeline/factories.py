"""The factories that spaCy finds by name: what a config may say, and what it says by default."""

from inspect import signature
from typing import Any

from spacy.language import Language
from thinc.api import Config

from ..corpus.gold import Misaligned
from ..corpus.tagged import Unit
from ..kernels import twins
from ..ml.chain_tagger import ChainModel
from ..ml.objectives import ObjectiveName
from ..ml.representations import RepresentationName
from ..ml.separator_tagger import SeparatorModel
from .converter import Converter
from .doc_pipe import Scorer
from .marks import set_extensions
from .ner import EntityRecognizer
from .nested_ner import NestedRecognizer
from .repairer import Repairer
from .scorers import NESTED_WEIGHTS, WEIGHTS
from .validator import OnError, Validator

set_extensions()
twins.warn()


def settings_of(component: type) -> dict[str, Any]:
    """The defaults that a component has; what it has none for, a config must say."""
    parameters = signature(component.__init__).parameters.values()  # type: ignore[misc]
    named = (p for p in parameters if p.kind is p.KEYWORD_ONLY)
    return {p.name: p.default for p in named if p.default is not p.empty}


def tagger(architecture: str) -> Any:
    """The config of a model over a small encoder of spaCy's."""
    return Config().from_str(
        f"""
[model]
@architectures = "{architecture}"

[model.tok2vec]
@architectures = "spacy.HashEmbedCNN.v2"
pretrained_vectors = null
width = 96
depth = 4
embed_size = 2000
window_size = 1
maxout_pieces = 3
subword_features = true
"""
    )["model"]


@Language.factory(
    "iobes_validator",
    assigns=["doc._.iobes_violations"],
    default_config=settings_of(Validator),
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
    default_config=settings_of(Repairer),
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
    scores_key: str,
    scorer: Scorer | None,
) -> Repairer:
    """Turn tags into entities or a span group under a named policy."""
    return Repairer(
        name,
        scheme=scheme,
        policy=policy,
        source=source,
        target=target,
        unit=unit,
        scores_key=scores_key,
        scorer=scorer,
    )


@Language.factory(
    "iobes_converter",
    default_config=settings_of(Converter),
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


@Language.factory(
    "iobes_ner",
    assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config={"model": tagger("spacy-iobes.ChainTagger.v1"), **settings_of(EntityRecognizer)},
    default_score_weights=WEIGHTS,
)
def make_ner(
    nlp: Language,
    name: str,
    model: ChainModel,
    scheme: str,
    objective: ObjectiveName,
    entity_bias: float,
    sentence_bound: bool,
    scores: bool,
    spans_key: str,
    threshold: float,
    incorrect_spans_key: str | None,
    misaligned: Misaligned,
    scorer: Scorer | None,
) -> EntityRecognizer:
    """Recognise entities by a chain that cannot emit an illegal sequence of tags."""
    return EntityRecognizer(
        nlp.vocab,
        model,
        name,
        scheme=scheme,
        objective=objective,
        entity_bias=entity_bias,
        sentence_bound=sentence_bound,
        scores=scores,
        spans_key=spans_key,
        threshold=threshold,
        incorrect_spans_key=incorrect_spans_key,
        misaligned=misaligned,
        scorer=scorer,
    )


@Language.factory(
    "iobes_nested_ner",
    assigns=["doc.spans"],
    default_config={
        "model": tagger("spacy-iobes.SeparatorTagger.v1"),
        **settings_of(NestedRecognizer),
    },
    default_score_weights=NESTED_WEIGHTS,
)
def make_nested_ner(
    nlp: Language,
    name: str,
    model: SeparatorModel,
    representation: RepresentationName,
    reading: str,
    spans_key: str,
    entity_bias: float,
    sentence_bound: bool,
    scores: bool,
    threshold: float,
    missing_spans_key: str | None,
    misaligned: Misaligned,
    scorer: Scorer | None,
) -> NestedRecognizer:
    """Recognise mentions that may overlap, into a span group."""
    return NestedRecognizer(
        nlp.vocab,
        model,
        name,
        representation=representation,
        reading=reading,
        spans_key=spans_key,
        entity_bias=entity_bias,
        sentence_bound=sentence_bound,
        scores=scores,
        threshold=threshold,
        missing_spans_key=missing_spans_key,
        misaligned=misaligned,
        scorer=scorer,
    )
