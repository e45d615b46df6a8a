"""The component `iobes_repairer`: tags become entities or spans under a named policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example

from ..codes.best import TagScores
from ..codes.policy import get_policy
from ..codes.scheme import get_scheme
from ..codes.span_columns import SpanColumns
from ..corpus.sources import Entities, get_source, shown
from ..corpus.tagged import TaggedDocs, Unit
from ..corpus.targets import Absent, ToEntities, get_span_target
from ..errors import AlignmentError, IobesError
from .doc_pipe import DocPipe, Scorer
from .marks import TagChange, mark_changes, mark_violations, violations_of
from .scorers import span_scorer, tag_scorer

SCORES = "iobes_scores"  # the key of `doc.user_data` that holds scores unless another one is named


class Repairer(DocPipe):
    """Reads tags, repairs them, and writes the spans; the tags themselves stay as they are.

    The violations are in `doc._.iobes_violations`, and in `doc._.iobes_changes` the tags that the
    repair replaced. The policy `best` takes scores for every tag from `doc.user_data[scores_key]`.
    Without a `scorer` the component scores by its own settings.
    """

    def __init__(
        self,
        name: str,
        *,
        scheme: str,
        policy: str,
        source: str = "user_data",
        target: str = "ents",
        unit: Unit = "doc",
        scores_key: str = SCORES,
        scorer: Scorer | None = None,
    ):
        self.scheme = get_scheme(scheme)
        self.policy = get_policy(policy)
        self.source = get_source(source, self.scheme)
        self.target = get_span_target(target)
        self.unit: Unit = unit
        self.scores_key = scores_key
        in_place = isinstance(self.source, Entities) and isinstance(self.target, ToEntities)
        self._only_malformed = in_place  # entities that are legal already stay untouched
        recipe: dict[str, Any] = {"scheme": scheme, "policy": policy, "unit": unit}
        recipe["as_ents"] = target == "ents"
        if self.policy.weighs:  # a scorer that reads tags would need the scores
            super().__init__(name, scorer or span_scorer(source=target, **recipe))
        else:
            gold = target if target.startswith("spans:") else "ents"
            own = tag_scorer(source=source, gold_source=gold, **recipe)
            super().__init__(name, scorer or own)

    def annotate(self, docs: Sequence[Doc]) -> None:
        """Repair all Docs, then write to each."""
        tagged = TaggedDocs.read(docs, self.source, self.scheme, self.unit)
        found = self._spans(tagged)
        violations, changes = tagged.violations(), self._changes(tagged, found)
        wrong = [number for number, those in enumerate(violations) if those]
        if some := wrong if self._only_malformed else range(len(docs)):
            absent = Absent(tagged.pieces.missing, tagged.pieces.blocked)
            self.target.write_many(docs, tagged.pieces.in_whole(found), absent, some)
        for number, doc in enumerate(docs):
            mark_violations(doc, violations[number])
            mark_changes(doc, changes[number])

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score; under `best` the violations are those that the component found."""
        examples = list(examples)
        scores: dict[str, Any] = super().score(examples, **kwargs)
        if self.policy.weighs and "iobes_violations" in scores:
            found = (violations_of(example.predicted) for example in examples)
            scores["iobes_violations"] = sum(map(len, found))
        return scores

    def _spans(self, tagged: TaggedDocs) -> SpanColumns:
        """The spans of the pieces, as the policy sees them."""
        if not self.policy.weighs:
            return tagged.piece_spans(self.policy)
        return tagged.pieces.best([tag_scores(doc, self.scores_key) for doc in tagged.docs])

    def _changes(self, tagged: TaggedDocs, spans: SpanColumns) -> list[list[TagChange]]:
        """The tags that the repair replaced, for each Doc."""
        found: list[list[TagChange]] = [[] for _ in tagged.docs]
        if tagged.malformed:
            new = tagged.write(spans, self.scheme)
            for doc, index, old, tag in tagged.pieces.changes(new):
                found[doc].append(TagChange(index, old, tag))
        return found


def tag_scores(doc: Doc, key: str) -> TagScores:
    """The scores in the user data of a Doc: `{"tags": [...], "scores": [[...], ...]}`."""
    stored = doc.user_data.get(key)
    place = f"{shown(doc)}, doc.user_data[{key!r}]"
    if stored is None and not len(doc):
        return TagScores((), np.zeros((0, 0)))
    if not isinstance(stored, Mapping) or not {"tags", "scores"} <= set(stored):
        raise AlignmentError(
            f"{place}: the policy 'best' needs {{'tags': [...], 'scores': [[...], ...]}} there, a "
            f"row for each token and a column for each tag, not {stored!r:.80}. Or name another "
            "policy."
        )
    values = np.asarray(stored["scores"], dtype=np.float64)
    wanted = (len(doc), len(stored["tags"]))
    if values.shape != wanted:
        raise AlignmentError(
            f"{place}: the scores have the shape {values.shape}, but {wanted[0]} tokens and "
            f"{wanted[1]} tags need {wanted}."
        )
    try:
        return TagScores(tuple(stored["tags"]), values)
    except IobesError as error:
        raise type(error)(f"{place}: {error}") from error
