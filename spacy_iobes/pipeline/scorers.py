"""Scorers for `nlp.evaluate`, `spacy train` and `spacy evaluate` that say how they score.

They return `iobes_p`, `iobes_r`, `iobes_f`, `iobes_f_per_type`, `iobes_violations` and
`iobes_signature`. As in spaCy's own scorer, a prediction over a token that the reference does not
annotate is neither right nor wrong, and what cannot be divided is 0; where neither side has any
spans the figures are None.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from spacy.tokens import Doc
from spacy.training import Example

from ..codes.policy import get_policy, get_tag_policy
from ..codes.scheme import get_scheme
from ..corpus.doc_mentions import missing_of
from ..corpus.examples import Places, same_tokens
from ..corpus.sources import Entities, Source, SpanGroup, get_source, group_spans
from ..corpus.tagged import TaggedDocs, Unit
from ..errors import UnknownNameError
from ..scoring.counts import count
from ..scoring.matching import match, nested_columns
from ..scoring.report import Report
from ..scoring.signature import SPANS, Signature
from ..span import Span
from .doc_pipe import Scorer
from .nested_scorer import NESTED_WEIGHTS as NESTED_WEIGHTS
from .nested_scorer import nested_scorer as nested_scorer

WEIGHTS = {
    "iobes_f": 1.0,
    "iobes_p": 0.0,
    "iobes_r": 0.0,
    "iobes_f_per_type": None,
    "iobes_violations": None,
    "iobes_signature": None,
}
"""How a component that has such a scorer weighs its figures in training."""


class Read(NamedTuple):
    """The spans of some Docs, the tokens that are not annotated, and the violations on the way."""

    spans: list[list[Span]]
    missing: list[list[int]]
    violations: int


@dataclass(frozen=True)
class Reader:
    """Reads the spans of one side of the examples."""

    source: Source
    scheme: str
    policy: str
    unit: Unit = "doc"

    def __post_init__(self) -> None:
        get_tag_policy(self.policy)

    def read(self, docs: Sequence[Doc], boundaries: Sequence[Doc]) -> Read:
        """Return the spans of all Docs; `boundaries` are Docs of the same tokens with sentences."""
        if isinstance(self.source, SpanGroup):  # spans may overlap there, tags may not
            key = self.source.key
            missing = [missing_of(doc, key) for doc in docs]
            return Read([group_spans(doc, key) for doc in docs], missing, 0)
        scheme = get_scheme("bio" if isinstance(self.source, Entities) else self.scheme)
        tagged = TaggedDocs.read(docs, self.source, scheme, self.unit, boundaries)
        spans = list(tagged.spans(get_tag_policy(self.policy)))
        missing = [tagged.pieces.absent(number)[0] for number in range(len(docs))]
        return Read(spans, missing, len(tagged.malformed))


@dataclass(frozen=True)
class SpanScorer:
    """Scores the predictions of examples against their references; can be pickled."""

    signature: Signature
    gold: Reader
    predicted: Reader
    as_ents: bool = False

    def __call__(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score; what a component says of itself, `kwargs`, does not matter here."""
        return scores_of(self.report(examples), self.as_ents)

    def report(self, examples: Iterable[Example]) -> Report:
        """The score with its recipe and all its counts."""
        pairs = [(example.reference, example.predicted) for example in examples]
        references, predictions = [a for a, _ in pairs], [b for _, b in pairs]
        boundaries = [
            a if same_tokens(a, b) and a.has_annotation("SENT_START") else b for a, b in pairs
        ]
        answers = self.gold.read(references, references)
        guesses = self.predicted.read(predictions, boundaries)
        gold, predicted = [], []
        for number, (reference, prediction) in enumerate(pairs):
            places = Places(reference, prediction)
            gold.append(places.of_reference(answers.spans[number]))
            missing = answers.missing[number]
            predicted.append(places.of_prediction(guesses.spans[number], gold[-1], missing))
        matched = match(nested_columns(gold), nested_columns(predicted))
        counts = count(matched, violations=guesses.violations, right_tokens=None, tagged=None)
        return Report(self.signature, counts)


def scores_of(report: Report, as_ents: bool) -> dict[str, Any]:
    """The figures under the names that spaCy shows, weighs and stores."""
    some = any(report.counts.totals)
    figures = [figure or 0.0 for figure in report.micro] if some else [None] * 3
    per_type = {
        label: {key: figure or 0.0 for key, figure in zip("prf", row)}
        for label, row in report.per_label.items()
    }
    scores: dict[str, Any] = {f"iobes_{key}": value for key, value in zip("prf", figures)}
    scores["iobes_f_per_type"] = per_type if some else None
    scores["iobes_violations"] = report.counts.violations
    scores["iobes_signature"] = str(report.signature)
    if as_ents:
        scores |= {f"ents_{key}": value for key, value in zip("prf", figures)}
        scores["ents_per_type"] = scores["iobes_f_per_type"]
    return scores


def tag_scorer(
    *,
    scheme: str,
    policy: str,
    gold_policy: str = "raise",
    source: str = "user_data",
    gold_source: str = "ents",
    unit: Unit = "doc",
    as_ents: bool = False,
) -> Scorer:
    """Score predicted tags, read from `source`, against what `gold_source` of the reference holds.

    With `as_ents` the figures are also returned under spaCy's own names (`ents_f` and so on), which
    `spacy evaluate` prints.
    """
    signature = Signature(scheme=scheme, policy=policy, gold_policy=gold_policy)
    gold = Reader(get_source(gold_source), scheme, gold_policy, unit)
    return SpanScorer(signature, gold, Reader(get_source(source), scheme, policy, unit), as_ents)


def span_scorer(
    *,
    scheme: str | None,
    policy: str | None,
    gold_policy: str = "raise",
    source: str = "ents",
    unit: Unit = "doc",
    as_ents: bool = False,
) -> SpanScorer:
    """Score the spans that a pipeline ends with: `ents`, or a span group, `spans:KEY`.

    `scheme` and `policy` say in the signature how tags became these spans; both are null if there
    never were tags. Entities that are malformed are repaired by the same policy, or refused.
    """
    place = get_source(source)
    if not isinstance(place, (Entities, SpanGroup)):
        known = ("ents", "spans:KEY")
        message = f"span_scorer reads {' or '.join(known)}, not {source!r}. For tags there is "
        raise UnknownNameError(f"{message}spacy-iobes.tag_scorer.v1.", source, known)
    if (scheme is None) != (policy is None):
        raise TypeError("span_scorer takes a scheme and a policy, or null for both.")
    name = policy or "raise"
    signature = Signature(scheme=scheme or SPANS, policy=name, gold_policy=gold_policy)
    reading = "raise" if get_policy(name).weighs else name  # spans have no scores for tags
    gold, predicted = (Reader(place, "bio", each, unit) for each in (gold_policy, reading))
    return SpanScorer(signature, gold, predicted, as_ents)
