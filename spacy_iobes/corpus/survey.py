"""What is in an annotated file: its violations, the schemes it fits, its mentions and its size."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from ..codes.check import Check
from ..codes.known import Known
from ..codes.policy import Policy
from ..codes.scheme import Scheme
from ..codes.violation import Violation
from ..codes.write import write_spans
from ..errors import FileError, SpanError
from .corpus import Corpus, accepted
from .sentences import Sentences
from .summary import Summary


def measured(source: Iterable[Sentences], summary: Summary) -> Iterator[Sentences]:
    """Yield the parts of a source, and add their sizes to a summary."""
    for part in source:
        summary.measure(part)
        yield part


def violations(
    source: Iterable[Sentences], scheme: str | Scheme, summary: Summary
) -> Iterator[Violation]:
    """Yield every violation of a source with its place, while it is read and measured."""
    for part in measured(source, summary):
        yield from part.violations(scheme)


def checked(source: Iterable[Sentences], summary: Summary) -> Check:
    """Return under which schemes the tags of a source are legal."""
    check = Check()
    for part in measured(source, summary):
        for layer in part.tags:
            check.add(layer, part.located)
    return check


def tagged(corpus: Corpus) -> Iterator[Sentences]:
    """Yield the parts of a file; raise if it has spans in place of tags."""
    for part in corpus:
        if part.given is not None and len(part):
            raise FileError(
                f"{corpus.name}: files of the format {corpus.format.name} hold no tags that could "
                "be illegal.",
                corpus.name,
            )
        yield part


def lost_in(
    source: Iterable[Sentences], goal: Scheme, scheme: str, policy: str, summary: Summary
) -> list[str]:
    """Return why sentences cannot be written in a scheme, and add their sizes to a summary."""
    found = list[str]()
    for part, known in accepted(source, scheme, policy):
        summary.add(part, known)
        found += map(str, inexpressible(part, known, goal))
    return found


def inexpressible(part: Sentences, known: Known, scheme: Scheme) -> Iterator[SpanError]:
    """Yield, for each sentence whose spans a scheme cannot have as one tag a token, why."""
    try:
        write_spans(known.spans, part.offsets, scheme)
    except SpanError:
        for number in range(len(part)):
            sentence = part.cut(number, number + 1)
            try:
                write_spans(known.spans.cut(number, number + 1), sentence.offsets, scheme)
            except SpanError as error:
                yield sentence.locate(error)


def summarized(
    source: Iterable[Sentences], scheme: str | Scheme = "", policy: str | Policy = "raise"
) -> Summary:
    """Return the size of a source, and how often each label occurs."""
    found = Summary()
    for part, known in accepted(source, scheme, policy):
        found.add(part, known)
    return found


def mention_counts(
    source: Iterable[Sentences],
    summary: Summary,
    scheme: str | Scheme = "",
    policy: str | Policy = "raise",
) -> Counter[tuple[str, str]]:
    """Return how often each label and text occurs in a source, and add to a summary."""
    counts = defaultdict[str, Counter[bytes]](Counter)
    texts = dict[bytes, str]()
    for part, known in accepted(source, scheme, policy):
        summary.add(part, known)
        spans, words = known.spans, part.words
        first = part.offsets[spans.sentence]
        begin, end = first + spans.start, first + spans.end
        places = map(slice, words.begin[begin].tolist(), words.end[end - 1].tolist())
        # Bytes are counted, which tell the text: each becomes one only once.
        every = np.array([*map(words.buffer.__getitem__, places)], dtype=object)
        for number, label in enumerate(spans.labels):
            counts[label].update(every[spans.label == number])
        if unseen := {*every} - texts.keys():
            row = {data: number for number, data in enumerate(every) if data in unseen}
            rows = [*row.values()]
            texts.update(zip(row, words.texts_of(begin[rows].tolist(), end[rows].tolist())))
    found = Counter[tuple[str, str]]()
    for label, some in counts.items():
        for data, count in some.items():
            found[label, texts[data]] += count
    return found
