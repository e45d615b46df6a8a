"""The component `iobes_nested_ner`: overlapping mentions, by separators in the gaps of tokens."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.attrs import IS_SPACE
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger
from spacy.vocab import Vocab

from ..arrays import Flags
from ..codes.known import KnownColumns
from ..codes.readings import DEFAULT_READING, get_reading
from ..codes.span_columns import SpanColumns
from ..corpus.doc_mentions import known_of, mentions_of
from ..corpus.gold import Misaligned
from ..corpus.sources import shown
from ..corpus.targets import ToSpanGroup
from ..errors import ModelError
from ..ml.asked import Asked
from ..ml.asked_tags import outermost
from ..ml.gap_scores import GapScores
from ..ml.representations import RepresentationName, get_representation
from ..ml.separator_tagger import SeparatorModel
from ..ml.tag_chain import number_of
from ..ml.units import Look, Units
from ..span import Span
from .doc_pipe import Scorer
from .nested_questions import NestedQuestions
from .recognizer import Recognizer, require_heard
from .scorers import nested_scorer


class Predicted(NamedTuple):
    """The mentions of some Docs and, if asked for, how probable each is."""

    spans: SpanColumns
    probability: NDArray[np.float64] | None = None


class Answers(NamedTuple):
    """What is known of some examples, and what the model thinks of them."""

    pipe: NestedRecognizer
    known: KnownColumns
    asked: Asked

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the tokens of the Docs begin."""
        return self.asked.units.docs

    def found(self, bias: float) -> SpanColumns:
        """The mentions of each Doc."""
        return self.pipe.decide(self.asked, bias).spans


class NestedRecognizer(NestedQuestions, Recognizer):
    """One chain for each label over the gaps of a sentence; mentions go to a span group."""

    def __init__(
        self,
        vocab: Vocab,
        model: SeparatorModel,
        name: str = "iobes_nested_ner",
        *,
        representation: RepresentationName = "edge",
        reading: str = DEFAULT_READING,
        spans_key: str = "sc",
        entity_bias: float = 0.0,
        sentence_bound: bool = True,
        scores: bool = False,
        threshold: float = 0.0,
        missing_spans_key: str | None = None,
        misaligned: Misaligned = "raise",
        scorer: Scorer | None = None,
    ):
        require_separators(model, name)
        if missing_spans_key == spans_key:
            raise ValueError(f"missing_spans_key is another group than spans_key, {spans_key!r}.")
        own = nested_scorer(spans_key=spans_key, missing_spans_key=missing_spans_key)
        super().__init__(vocab, model, name, scorer or own)
        self.representation = get_representation(representation)
        self.reading = get_reading(reading)
        self.cfg["representation"] = self.representation.name
        self.spans_key = spans_key
        self.entity_bias = entity_bias  # added to the score of every start of a mention
        self.sentence_bound = sentence_bound
        self.scores = scores
        if not 0 <= threshold <= 1:
            raise ValueError(f"A threshold is a probability, from 0 to 1, not {threshold}.")
        self.threshold = threshold
        self.missing_spans_key = missing_spans_key
        self.misaligned: Misaligned = misaligned
        look = Look(self.representation.gaps, sentence_bound)
        model.attrs["set_look"](model, look)

    def resize(self) -> None:
        """Give the model one output for each separator, or tag, of each label."""
        columns = self.representation.columns(len(self.labels))
        steps = self.representation.steps(len(self.labels))
        self.model.attrs["set_outputs"](self.model, *columns, steps)

    def labels_in(self, examples: Iterable[Example]) -> Iterable[str]:
        """The labels of the mentions in the references, in alphabetical order."""
        groups: set[str] = set()
        found: set[str] = set()
        total, inner = 0, list[str]()
        for example in examples:
            groups.update(example.reference.spans)
            spans = known_of(example.reference, self.spans_key).spans
            found.update(span.label for span in spans)
            total += len(spans)
            if not self.representation.gaps:
                columns = SpanColumns.of([spans], [len(example.reference)])
                lost = set(spans).difference(outermost(columns).spans())
                inner += (told(example.reference, span) for span in sorted(lost))
        if inner:
            logger.warning(
                "%s: mentions inside another of their label, which %s cannot hold and does not "
                "learn: %s of %s, the first %s.",
                *(self.name, self.representation.name, len(inner), total, inner[0]),
            )
        if not found:
            there = ", ".join(map(repr, sorted(groups))) or "none"
            warnings.warn(
                f"{self.name}: no reference has a mention in spans[{self.spans_key!r}], so there "
                f"is nothing to learn. Groups that there are: {there}.",
                stacklevel=2,
            )
        return sorted(found)

    def require_sound(self) -> None:
        """Refuse a model that is damaged or was made for another set of labels."""
        super().require_sound()
        if self.cfg["representation"] != self.representation.name:
            raise ModelError(
                f"{self.name}: the model was trained with representation = "
                f"{self.cfg['representation']!r}, but the config says "
                f"{self.representation.name!r}: load it with the config it was trained with."
            )
        outputs = self.model.get_ref("output_layer").maybe_get_dim("nO")
        wanted = len(self.representation.bits) * len(self.labels)
        if outputs is not None and outputs != wanted:
            raise ModelError(
                f"{self.name}: the model has {outputs} outputs, but {len(self.labels)} labels need "
                f"{wanted}. It was made for other labels: load it with the config it was trained "
                "with."
            )

    # what spaCy asks of a trainable component

    def predict(self, docs: Sequence[Doc]) -> Predicted:
        """The best mentions of each Doc."""
        return self.decide(self.asked(list(docs)), self.entity_bias)

    def decide(self, asked: Asked, bias: float) -> Predicted:
        """The best answer to which a bias for mentions is added."""
        spans = asked.biased(bias).best()
        if not (self.scores or self.threshold > 0):
            return Predicted(spans)
        probability = np.minimum(np.exp(asked.mentions(spans)), 1.0)
        enough = probability >= self.threshold
        columns = (c[enough] for c in (spans.sentence, spans.start, spans.end, spans.label))
        kept = SpanColumns.trusted(columns, spans.labels, len(spans))
        return Predicted(kept, probability[enough])

    def set_annotations(self, docs: Sequence[Doc], predicted: Predicted) -> None:
        """Write the span group, and with `scores` their probabilities."""
        target = ToSpanGroup(self.spans_key)
        bounds = np.searchsorted(predicted.spans.sentence, np.arange(len(docs) + 1)).tolist()
        for number, (doc, spans) in enumerate(zip(docs, predicted.spans)):
            target.write(doc, spans, (), ())
            if self.scores and predicted.probability is not None:
                mine = predicted.probability[bounds[number] : bounds[number + 1]]
                doc.spans[self.spans_key].attrs["scores"] = mine

    def get_loss(self, examples: Sequence[Example], scores: GapScores) -> tuple[float, GapScores]:
        """The negative log-likelihood of the references, and its gradient."""
        examples = list(examples)
        docs = [example.predicted for example in examples]
        known, blank = self._known(examples), blanks(docs)
        gold = self._numbered(known.spans), missing(known.missing, scores.units)
        found = [self.ask(part).apart(blank).loss(*gold) for part in scores.parts or [scores]]
        if not scores.parts:
            return found[0]
        parts = tuple(gradient for _, gradient in found)
        return sum(loss for loss, _ in found), replace(scores, parts=parts)

    def answers(self, examples: Sequence[Example]) -> Answers:
        """What the model thinks of some examples, to be decided with one bias or another."""
        known = self._known(examples)
        return Answers(self, known, self.asked([example.predicted for example in examples]))

    def _known(self, examples: Sequence[Example]) -> KnownColumns:
        return mentions_of(
            examples, self.spans_key, self.misaligned, self.sentence_bound, self.missing_spans_key
        )

    def asked(self, docs: Sequence[Doc]) -> Asked:
        """What the model thinks of some Docs, without bias."""
        require_heard(self.model, docs, self.name)
        return self.ask(self._emit(docs)).apart(blanks(docs))

    def ask(self, scores: GapScores) -> Asked:
        """What scores say."""
        return self.representation.ask(scores, self.labels, self.reading)

    def _emit(self, docs: Sequence[Doc]) -> GapScores:
        """The scores of the model; Docs without tokens do not bother it."""
        if any(map(len, docs)):
            scores: GapScores = self.model.predict(list(docs))
            return scores
        width = len(self.representation.bits) * len(self.labels)
        units = Units.of(docs, self.sentence_bound)
        return GapScores(
            self.model.ops.alloc2f(0, width), units, self.model.get_ref("steps").get_param("steps")
        )

    def number(self, label: str) -> int:
        """The number of a label; an error names those that there are."""
        return number_of(label, {name: number for number, name in enumerate(self.labels)})

    def _numbered(self, spans: SpanColumns) -> SpanColumns:
        """The same spans with the numbers that their labels have here."""
        numbers = np.array([self.number(label) for label in spans.labels], dtype=np.int32)
        label = numbers[spans.label] if len(numbers) else spans.label
        rows = (spans.sentence, spans.start, spans.end, label)
        return SpanColumns.trusted(rows, self.labels, len(spans))


def told(doc: Doc, span: Span) -> str:
    """A mention in a message."""
    return f"{doc[span.start : span.end].text!r} ({span.label}) in {shown(doc)}"


def blanks(docs: Sequence[Doc]) -> Flags:
    """Which tokens are white space, Doc after Doc."""
    arrays: list[Any] = [doc.to_array(IS_SPACE) for doc in docs]
    return np.concatenate([np.zeros(0), *arrays]).astype(bool)


def missing(tokens: Sequence[Sequence[int]], units: Units) -> Flags:
    """Which tokens nothing is known of, given those of each Doc."""
    found = np.zeros(int(units.tokens[-1]), dtype=bool)
    for start, members in zip(units.docs.tolist(), tokens):
        found[start + np.asarray(members, dtype=np.int64)] = True
    return found


def require_separators(model: SeparatorModel, name: str) -> None:
    """Refuse a model of another kind, such as an encoder alone."""
    if "set_outputs" not in model.attrs:
        raise ModelError(
            f"{name}: the model {model.name!r} scores no gaps. In the config, the architecture of "
            "the model is spacy-iobes.SeparatorTagger.v1, and an encoder goes into its tok2vec."
        )
