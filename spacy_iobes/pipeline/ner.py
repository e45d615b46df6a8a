"""The component `iobes_ner`: entities by a chain that cannot emit an illegal sequence of tags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from ..chain import Batch, Chain, Posterior, apart, best, reject
from ..codes.known import KnownColumns
from ..codes.scheme import get_scheme
from ..codes.span_columns import SpanColumns
from ..corpus.gold import Misaligned, gold_of, rejected_of, wrong_spans
from ..corpus.sources import entity_labels, shown
from ..corpus.targets import Absent, ToEntities, ToSpanGroup
from ..errors import InexpressibleError, ModelError
from ..ml.chain_scores import ChainScores
from ..ml.chain_tagger import ChainModel
from ..ml.objectives import ObjectiveName, get_objective
from ..ml.tag_chain import TagChain
from .doc_pipe import Scorer
from .presets import Presets, limited
from .questions import Questions
from .recognizer import Recognizer, require_heard
from .scorers import span_scorer


class Predicted(NamedTuple):
    """The spans of some Docs, what was set before, and, if asked for, how probable each span is."""

    spans: SpanColumns
    presets: Presets
    probability: NDArray[np.float64] | None = None


class Answers(NamedTuple):
    """What is known of some examples, and what the model thinks of them."""

    pipe: EntityRecognizer
    known: KnownColumns
    presets: Presets
    chain: Chain
    batch: Batch

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the tokens of the Docs begin."""
        return self.batch.offsets

    def found(self, bias: float) -> SpanColumns:
        """The entities of each Doc, those that were set before among them."""
        found = self.pipe.decide(self.chain, self.batch, self.presets, bias).spans
        if not any(self.presets.kept):
            return found
        every = [[*spans, *kept] for spans, kept in zip(found, self.presets.kept)]
        return SpanColumns.of(every, self.batch.lengths.tolist())


class EntityRecognizer(Questions, Recognizer):
    """A linear-chain CRF over the tags of a scheme; entities that are set already are kept."""

    def __init__(
        self,
        vocab: Vocab,
        model: ChainModel,
        name: str = "iobes_ner",
        *,
        scheme: str = "iobes",
        objective: ObjectiveName = "crf",
        entity_bias: float = 0.0,
        sentence_bound: bool = False,
        scores: bool = False,
        spans_key: str = "iobes_ner",
        threshold: float = 0.0,
        incorrect_spans_key: str | None = None,
        misaligned: Misaligned = "raise",
        scorer: Scorer | None = None,
    ):
        require_chain(model, name)
        own = span_scorer(scheme=scheme, policy="raise", as_ents=True)
        super().__init__(vocab, model, name, scorer or own)
        self.scheme = get_scheme(scheme)
        self.objective = get_objective(objective)
        self.cfg["scheme"] = self.scheme.name
        self.entity_bias = entity_bias  # added to the score of every entity
        self.sentence_bound = sentence_bound
        self.scores = scores
        self.spans_key = spans_key
        if not 0 <= threshold <= 1:
            raise ValueError(f"A threshold is a probability, from 0 to 1, not {threshold}.")
        self.threshold = threshold
        self.incorrect_spans_key = incorrect_spans_key
        self.misaligned: Misaligned = misaligned
        self._tags = TagChain(self.scheme, ())

    @property
    def tags(self) -> TagChain:
        """The states of the chain."""
        if self._tags.labels != self.labels:
            self._tags = TagChain(self.scheme, self.labels)
        return self._tags

    def resize(self) -> None:
        """Give the model one output for each tag, or for each class where tags have several."""
        set_states, label_of = self.model.attrs["set_states"], self.tags.label_of
        if len(label_of) == len(self.tags):
            set_states(self.model, label_of)
        else:
            set_states(self.model, label_of, len(self.tags))

    def labels_in(self, examples: Iterable[Example]) -> Iterable[str]:
        """The labels of the entities in the references, in alphabetical order."""
        found: set[str] = set()
        for example in examples:
            found.update(entity_labels(example.reference))
            if self.incorrect_spans_key is not None:
                wrong = wrong_spans(example.reference, self.incorrect_spans_key)
                found.update(span.label for span in wrong)
        return sorted(found)

    def require_sound(self) -> None:
        """Refuse a model that is damaged or was made for another set of labels."""
        super().require_sound()
        if self.cfg["scheme"] != self.scheme.name:
            raise ModelError(
                f"{self.name}: the model was trained for {self.cfg['scheme']} tags, but the config "
                f"says {self.scheme.name}: load it with the config it was trained with."
            )
        outputs = self.model.get_ref("output_layer").maybe_get_dim("nO")
        if outputs is not None and outputs != len(self.tags.outputs):
            raise ModelError(
                f"{self.name}: the model has {outputs} outputs, but {len(self.labels)} labels in "
                f"{self.scheme.name} need {len(self.tags.outputs)}. It was made for other labels "
                "or for another scheme: load it with the config it was trained with."
            )

    def require_initialised(self) -> None:
        """Refuse to work with a model that has no numbers yet."""
        if not self.model.get_ref("steps").has_param("step"):
            raise ModelError(
                f"{self.name}: the model is not initialised. Call nlp.initialize(), train it, or "
                "load a pipeline that was trained."
            )

    # what spaCy asks of a trainable component

    def update(self, examples: Iterable[Example], **settings: Any) -> dict[str, float]:
        """Learn from some examples, as every trainable component of spaCy does."""
        self.require_initialised()
        losses: dict[str, float] = super().update(examples, **settings)
        return losses

    def predict(self, docs: Sequence[Doc]) -> Predicted:
        """The most probable legal annotation of each Doc."""
        docs = list(docs)
        presets = Presets.of(docs, self.tags)
        return self.decide(*self._ask(docs, presets), presets, self.entity_bias)

    def decide(self, chain: Chain, batch: Batch, presets: Presets, bias: float) -> Predicted:
        """The best answer of a chain to which a bias for entities is added."""
        biased = chain.biased(bias) if bias else chain
        spans = self.tags.spans(best(biased, apart(biased, batch)).states, batch)
        predicted = Predicted(spans, presets)
        return self._probable(chain, batch, predicted) if self._wants_scores else predicted

    def set_annotations(self, docs: Sequence[Doc], predicted: Predicted) -> None:
        """Write entities, and with `scores` a span group that holds their probabilities."""
        found, presets = predicted.spans, predicted.presets
        entities = found
        if any(presets.kept):
            every = [[*spans, *kept] for spans, kept in zip(found, presets.kept)]
            entities = SpanColumns.of(every, list(map(len, docs)))
        absent = Absent.of(docs, blocked=presets.blocked)
        ToEntities().write_many(docs, entities, absent, range(len(docs)))
        if self.scores and predicted.probability is not None:
            ToSpanGroup(self.spans_key).write_many(docs, entities, absent, range(len(docs)))
            bounds = found.sentence.searchsorted(np.arange(1, len(docs)))
            for number, mine in enumerate(np.split(predicted.probability, bounds)):
                known = dict(zip(found[number], mine.tolist()))
                values = [known.get(span, 1.0) for span in entities[number]]
                docs[number].spans[self.spans_key].attrs["scores"] = np.array(values)

    def get_loss(
        self, examples: Sequence[Example], scores: ChainScores
    ) -> tuple[float, ChainScores]:
        """The negative log-likelihood of the references, and its gradient.

        The sequences that are considered are those that decoding considers.
        """
        examples = list(examples)
        docs = [example.predicted for example in examples]
        gold = gold_of(examples, self.misaligned, self.sentence_bound)
        with naming(docs):
            limit = partial(self._limited, docs, Presets.none(docs))
            loss, gradient = self.objective(self.tags, scores, gold, limit)
            if self.incorrect_spans_key is not None:
                key = self.incorrect_spans_key
                wrong = self.tags.columns(rejected_of(examples, key, self.misaligned))
                if len(wrong.start):
                    batch = limit(self.tags.batch(scores))
                    more, further = reject(self.tags.chain(scores), batch, wrong)
                    further = self.tags.folded(further)
                    loss, gradient = loss + float(more.sum()), gradient.plus(further)
        d_scores, start, step, stop = gradient
        return loss, ChainScores(d_scores, scores.lengths, start, step, stop)

    def answers(self, examples: Sequence[Example]) -> Answers:
        """What the model thinks of some examples, to be decided with one bias or another."""
        docs = [example.predicted for example in examples]
        known, presets = gold_of(examples, self.misaligned), Presets.of(docs, self.tags)
        return Answers(self, known, presets, *self.posed(docs, clamp=True))

    def _limited(self, docs: Sequence[Doc], presets: Presets, batch: Batch) -> Batch:
        return limited(docs, batch, self.tags, presets, self.sentence_bound)

    def posed(self, docs: Sequence[Doc], clamp: bool = False) -> tuple[Chain, Batch]:
        """The chain, without bias, and what it is asked about."""
        docs = list(docs)
        require_heard(self.model, docs, self.name)
        return self._ask(docs, Presets.of(docs, self.tags) if clamp else Presets.none(docs))

    def _ask(self, docs: Sequence[Doc], presets: Presets) -> tuple[Chain, Batch]:
        scores = self._emit(docs)
        return self.tags.chain(scores), self._limited(docs, presets, self.tags.batch(scores))

    def _emit(self, docs: Sequence[Doc]) -> ChainScores:
        """The scores of the model; Docs without tokens do not bother it."""
        self.require_initialised()
        if any(map(len, docs)):
            scores: ChainScores = self.model.predict(list(docs))
            return scores
        steps = self.model.get_ref("steps")
        start, step, stop = (steps.get_param(name) for name in ("start", "step", "stop"))
        nothing = steps.ops.alloc2f(0, len(self.tags.outputs))
        return ChainScores(nothing, [0 for _ in docs], start, step, stop)

    @property
    def _wants_scores(self) -> bool:
        return self.scores or self.threshold > 0

    def _probable(self, chain: Chain, batch: Batch, predicted: Predicted) -> Predicted:
        """The spans that are probable enough, with their probabilities; what was set has 1."""
        spans = predicted.spans
        found = Posterior.of(chain, batch).span_log_probability(self.tags.rows(spans))
        probability = np.minimum(np.exp(found), 1.0)
        preset = predicted.presets.inside(batch.offsets.tolist())
        probability[np.isin(batch.offsets[spans.sentence] + spans.start, preset)] = 1.0
        enough = probability >= self.threshold
        columns = (c[enough] for c in (spans.sentence, spans.start, spans.end, spans.label))
        kept = SpanColumns.trusted(columns, spans.labels, len(spans))
        return Predicted(kept, predicted.presets, probability[enough])


def require_chain(model: ChainModel, name: str) -> None:
    """Refuse a model that is no chain, such as an encoder alone."""
    if not all(model.has_ref(part) for part in ("output_layer", "steps")):
        raise ModelError(
            f"{name}: the model {model.name!r} is no chain. In the config, the architecture of the "
            "model is spacy-iobes.ChainTagger.v1, and an encoder goes into its tok2vec."
        )


@contextmanager
def naming(docs: Sequence[Doc]) -> Iterator[None]:
    """Errors about the spans of a batch say in which Doc they are."""
    try:
        yield
    except InexpressibleError as error:
        message = f"In {shown(docs[error.sentence])}: {error.reason}"
        raise InexpressibleError(message, error.spans, error.sentence, error.reason) from error
