"""The sentences that mentions are looked for in, and what is known of them already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc

from ..arrays import Ints, Offsets
from ..codes.known import Known
from ..codes.policy import get_policy
from ..codes.span_columns import SpanColumns
from ..codes.tag_columns import listed
from ..corpus.docs import GROUP, doc_info
from ..corpus.gold import ADVICE
from ..corpus.sentences import Sentences
from ..corpus.sources import group_spans, shown
from ..corpus.tagged import TaggedDocs
from ..corpus.words import Words
from ..errors import CorpusError
from ..ml.extractor import Extractor
from ..ml.units import Units
from ..span import Span

BITS = 20  # features are numbers below 2 ** BITS


@dataclass(frozen=True, eq=False)
class Pool:
    """Documents cut into sentences, which are counted through all of them from 0.

    `labels` are those whose mentions are looked for, the targets; `nested`: they may lie in each
    other. `mentions` are all that the Docs have, as spans of sentences, of any label.
    """

    docs: tuple[Doc, ...]
    labels: tuple[str, ...]
    nested: bool
    units: Units
    mentions: SpanColumns

    @classmethod
    def of(
        cls,
        docs: Sequence[Doc],
        labels: Sequence[str],
        *,
        nested: bool = False,
        spans_key: str = GROUP,
    ) -> Pool:
        """Return the sentences of Docs; a Doc that knows of none is one sentence.

        Mentions that are there are entities or, where they may nest, those of a span group.
        """
        targets = tuple(listed("labels", labels))
        if not targets or len(set(targets)) < len(targets) or not all(targets):
            raise CorpusError(f"Name the labels to look for, each once, not {list(targets)}.")
        if not any(len(doc) for doc in docs):
            raise CorpusError("There is no token in the corpus.")
        units = Units.of(docs, bound=True)
        found = _group(docs, spans_key) if nested else _entities(docs)
        _require_bound(docs, units, found)
        return cls(tuple(docs), targets, nested, units, _ordered(units.inside(found)))

    def without_known(self) -> Pool:
        """The same sentences, as if there were no mentions of other labels."""
        columns = (self.mentions.sentence, self.mentions.start, self.mentions.end)
        kept = (column[self.is_target] for column in (*columns, self.mentions.label))
        mentions = SpanColumns.trusted(kept, self.mentions.labels, len(self))
        return replace(self, mentions=mentions)

    def __len__(self) -> int:
        return len(self.units)

    @property
    def offsets(self) -> Offsets:
        """Sentence `s` has the tokens `offsets[s]:offsets[s + 1]`, counted through all Docs."""
        return self.units.tokens

    @cached_property
    def lengths(self) -> Offsets:
        """How many tokens each sentence has."""
        return self.units.lengths

    def place(self, sentence: int) -> tuple[int, int, int]:
        """The Doc of a sentence, and its first token there, and the one behind its last."""
        doc = int(self.units.doc[sentence])
        begin, end = (
            int(at - self.units.docs[doc]) for at in self.offsets[sentence : sentence + 2]
        )
        return doc, begin, end

    def words(self, sentence: int) -> tuple[list[str], list[bool]]:
        """The texts of the tokens of a sentence, and whether a space follows each."""
        doc, begin, end = self.place(sentence)
        tokens = self.docs[doc][begin:end]
        return [token.text for token in tokens], [bool(token.whitespace_) for token in tokens]

    def more(self, sentence: int) -> dict[str, Any]:
        """What else was told of its document, such as an id."""
        return doc_info(self.docs[self.place(sentence)[0]])

    def sentences(self, name: str, rows: Sequence[PoolSentence], apart: bool = False) -> Sentences:
        """Return some of the sentences with what is known of each.

        Those of one Doc that follow each other are one document, unless they stand `apart`.
        """
        opens, pieces, places = list[int](), list[list[str]](), list[list[tuple[int, int]]]()
        last, size = -1, 0
        for at, row in enumerate(rows):
            doc, begin, end = self.place(row.number)
            tokens = self.docs[doc][begin:end]
            if apart or doc != last:
                opens.append(at)
                pieces.append([])
                places.append([])
                size = 0
            shift = size - tokens.start_char
            places[-1] += [(t.idx + shift, t.idx + len(t) + shift) for t in tokens]
            pieces[-1].append(tokens.text if apart else tokens.text_with_ws)
            last, size = doc, size + len(pieces[-1][-1])
        words = Words.in_texts(["".join(some) for some in pieces], places)
        if any(self.docs[self.place(row.number)[0]].has_unknown_spaces for row in rows):
            words = replace(words, verbatim=False, texts=None)
        offsets = np.cumsum([0, *(self.lengths[row.number] for row in rows)], dtype=np.int64)
        return Sentences(
            name,
            offsets,
            np.array(opens, dtype=np.int64),
            lambda: words,
            given=_given(rows, offsets),
            info=tuple(self.more(rows[at].number) for at in opens),
            notes=tuple(row.note for row in rows),
        )

    def known(self, sentence: int) -> list[Span]:
        """The mentions of other labels that are there already."""
        return [span for span in self._mentions(sentence) if span.label not in self.labels]

    def gold(self, sentence: int) -> list[Span]:
        """The mentions of the targets that are there already."""
        return [span for span in self._mentions(sentence) if span.label in self.labels]

    def _mentions(self, sentence: int) -> list[Span]:
        a, b = np.searchsorted(self.mentions.sentence, [sentence, sentence + 1]).tolist()
        columns = (getattr(self.mentions, name)[a:b].tolist() for name in ("start", "end", "label"))
        return [
            Span(start, end, self.mentions.labels[label]) for start, end, label in zip(*columns)
        ]

    @cached_property
    def is_target(self) -> NDArray[np.bool_]:
        """Which of the mentions have a label that is looked for."""
        wanted = [label in self.labels for label in self.mentions.labels]
        return np.array(wanted, dtype=bool)[self.mentions.label] if wanted else np.zeros(0, bool)

    @cached_property
    def counts(self) -> Offsets:
        """How many mentions of the targets each sentence has already."""
        return np.bincount(self.mentions.sentence[self.is_target], minlength=len(self))

    @cached_property
    def ruled_out(self) -> NDArray[np.bool_]:
        """The tokens that cannot be in a mention of a target, `[N]`: those of other labels.

        Where mentions may nest there are none.
        """
        covered = np.zeros(int(self.offsets[-1]) + 1, dtype=np.int64)
        if not self.nested:
            other = ~self.is_target
            begin = self.offsets[self.mentions.sentence[other]]
            np.add.at(covered, begin + self.mentions.start[other], 1)
            np.add.at(covered, begin + self.mentions.end[other], -1)
        return np.cumsum(covered)[:-1] > 0

    @cached_property
    def features(self) -> Ints:
        """The features of all tokens, or where mentions may nest of all gaps, found once."""
        extractor = Extractor(None, BITS, document=True, gaps=self.nested)
        return extractor(self.docs, self.units.docs)

    @cached_property
    def digest(self) -> str:
        """What changes when tokens, sentences or known mentions do."""
        found = blake2b(digest_size=8)
        for doc in self.docs:
            words = [token.text_with_ws for token in doc]
            found.update("\0".join([str(len(words)), *words]).encode("utf8", "surrogatepass"))
        found.update(self.offsets.tobytes())
        for sentence in np.unique(self.mentions.sentence[~self.is_target]).tolist():
            found.update(repr([sentence, *map(tuple, self.known(sentence))]).encode())
        return found.hexdigest()


class PoolSentence(NamedTuple):
    """A sentence of a pool, by its number, and what is said of it in a file.

    `known` are the mentions of other labels, `spans` those of the targets, None if they are not
    known. `note` is what else is written of it.
    """

    number: int
    known: Sequence[Span]
    spans: Sequence[Span] | None
    note: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        pool: Pool,
        number: int,
        spans: Sequence[Span] | None,
        status: str,
        **more: Any,
    ) -> PoolSentence:
        """Return a sentence; its note has its number, its document and its status as `meta`."""
        theirs = pool.more(number).get("meta")
        meta = theirs if isinstance(theirs, dict) else {} if theirs is None else {"meta": theirs}
        mine = {"sentence": number, "document": int(pool.units.doc[number]), "status": status}
        return cls(number, pool.known(number), spans, {"meta": {**meta, **mine}, **more})


def _given(rows: Sequence[PoolSentence], offsets: Offsets) -> Known:
    """Return what is known of sentences with these tokens."""
    missing = np.zeros(int(offsets[-1]), dtype=bool)
    for row, begin, end in zip(rows, offsets[:-1].tolist(), offsets[1:].tolist()):
        missing[begin:end] = row.spans is None
        for span in row.known:
            missing[begin + span.start : begin + span.end] = False
    spans = [sorted([*row.known, *(row.spans or ())]) for row in rows]
    columns = SpanColumns.of(spans, np.diff(offsets).tolist())
    return Known(columns, missing if missing.any() else None)


def _entities(docs: Sequence[Doc]) -> SpanColumns:
    """The entities of Docs; malformed ones are refused."""
    return TaggedDocs.entities(docs, ADVICE).spans(get_policy("raise"))


def _group(docs: Sequence[Doc], key: str) -> SpanColumns:
    """The spans of a group; a Doc without it has none."""
    spans = [group_spans(doc, key) if key in doc.spans else [] for doc in docs]
    return SpanColumns.of(spans, [len(doc) for doc in docs])


def _require_bound(docs: Sequence[Doc], units: Units, spans: SpanColumns) -> None:
    """Refuse mentions that leave their sentence, which would be lost."""
    begin, end = (units.docs[spans.sentence] + column for column in (spans.start, spans.end))
    unit = np.searchsorted(units.tokens, begin, side="right") - 1
    for row in np.flatnonzero(end > units.tokens[unit + 1])[:1].tolist():
        doc = docs[int(spans.sentence[row])]
        start, stop = int(spans.start[row]), int(spans.end[row])
        label = spans.labels[int(spans.label[row])]
        raise CorpusError(
            f"In {shown(doc)}: {label} '{doc[start:stop].text}' (tokens {start}:{stop}) goes "
            "beyond its sentence. Sentences are shown one by one: correct the sentence starts, or "
            "remove them, so that a Doc is one sentence."
        )


def _ordered(spans: SpanColumns) -> SpanColumns:
    """The same spans by sentence, start and end."""
    order = np.lexsort((spans.end, spans.start, spans.sentence))
    columns = (spans.sentence, spans.start, spans.end, spans.label)
    return SpanColumns.trusted((c[order] for c in columns), spans.labels, spans.sentences)
