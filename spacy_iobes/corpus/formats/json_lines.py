"""JSON lines and lists of objects with texts and mentions, in the dialects of many tools.

A reader tells the dialect by the keys of the first object. Our own objects have a `text`, with
`spans` by characters, or `tokens`, with spans by tokens; what else they may be called is listed in
`json_records.NAMES`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ...codes.known import Known
from ...span import Span
from ..excerpts import Excerpt, Object, beside, save_objects
from ..files import Progress, shown
from ..findings import Finding
from ..json_records import (
    ANSWERS,
    CLASSES,
    NAMES,
    TASK,
    TELLING,
    Record,
    is_pair,
    named,
    records,
)
from ..json_texts import has_mentions, is_mentions, text_row
from ..sentences import Sentences
from ..text_batch import TextRow, text_sentences
from . import doccano, hugging_face, label_studio, prodigy
from .options import ReadOptions, SaveOptions

OWN = "jsonl"
DIGITS = 6  # of probabilities


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Yield the sentences of a file, some at a time, as they are written."""
    found = iter(records(path, how.encoding, progress))
    first = next(found, None)
    if first is None:
        return
    dialect = dialect_of(first, how)
    every = chain([first], found)
    if dialect == "hugging_face":
        yield from hugging_face.sentences(every, shown(path), how)
    else:
        yield from text_sentences(ROWS[dialect](every, how), shown(path), how)


def needs_scheme(path: str | Path, how: ReadOptions) -> bool:
    """Return whether the first object has tags."""
    first = next(iter(records(path, how.encoding)), None)
    return first is not None and dialect_of(first, how) == "hugging_face"


def dialect(path: str | Path, how: ReadOptions) -> str:
    """Return the name of the format that the first object of a file is in."""
    first = next(iter(records(path, how.encoding)), None)
    if first is None or how.format == OWN:
        return OWN
    found, value = dialect_of(first, how), first.value
    labels = isinstance(value, dict) and any(isinstance(value.get(x), list) for x in CLASSES)
    return "doccano" if found == OWN and labels and "text" in value else found


def rows(some: Iterable[Record], how: ReadOptions) -> Iterator[TextRow]:
    """Yield texts with their mentions; those that have an answer are tasks of Prodigy."""
    bare: bool | None = None
    for record in some:
        value = record.value
        if bare is None:
            bare = not has_mentions(value)
        if type(value) is dict and "answer" in value and value["answer"] in ANSWERS:
            yield prodigy.row(record, how)
        else:
            yield text_row(record, how, bare=bare)


ROWS: Mapping[str, Callable[[Iterable[Record], ReadOptions], Iterator[TextRow]]] = MappingProxyType(
    {
        OWN: rows,
        "prodigy": prodigy.rows,
        "doccano": doccano.rows,
        "label_studio": label_studio.rows,
    }
)
"""What reads the objects of each dialect that has mentions; spaCy's are read as our own."""


def dialect_of(record: Record, how: ReadOptions) -> str:
    """Return the name of the dialect that an object is in; refuse one that fits two.

    Where somebody names our own, that decides.
    """
    found = dialects(record.value, how)
    if len(found) < 2 or (how.format == OWN and OWN in found):
        return OWN if how.format == OWN and OWN in found else found[0]
    telling = [key for key in record.value if key in TELLING]
    formats = " or ".join(f"--format {name}" for name in found)
    raise record.wrong(
        f"the keys {', '.join(telling)} fit {' and '.join(found)}: name the format ({formats})."
    )


def dialects(value: Any, how: ReadOptions) -> list[str]:
    """Return the dialects that an object fits, by its keys."""
    if is_pair(value) or not isinstance(value, dict):
        return [OWN]
    spans = [name for name in NAMES["spans"] if is_mentions(value.get(name))]
    tagged = hugging_face.is_header(value) or hugging_face.is_tagged(value, how)
    found = list[str]()
    if isinstance(value.get("data"), dict):
        bare = named(value, "tokens") is None and not isinstance(value.get("text"), str)
        found += ["label_studio", *[OWN] * bool(spans and not bare)]
    elif _is_task(value):
        classes = [name for name in spans if name in CLASSES]
        found += ["prodigy", *["doccano"] * bool(classes), *["hugging_face"] * tagged]
        others = {*spans} - {*CLASSES, "spans"}
        found += [OWN] * bool(others)
    elif tagged:
        found += ["hugging_face", *[OWN] * bool(spans)]
    elif _is_labelled(value.get("annotations")):
        found += ["doccano", *[OWN] * bool(spans)]
    return list(dict.fromkeys(found)) or [OWN]


def _is_task(value: Mapping[str, Any]) -> bool:
    """Return whether an object is one of Prodigy's."""
    spans = value.get("spans")
    return (
        value.get("answer") in ANSWERS
        or any(name in value for name in TASK)
        or (
            isinstance(spans, list)
            and any("token_start" in x for x in spans if isinstance(x, dict))
        )
    )


def _is_labelled(value: Any) -> bool:
    """Return whether a value is a list of labels, as doccano had them first."""
    given = value if isinstance(value, list) else ()
    return any("start_offset" in each for each in given if isinstance(each, dict))


def save(
    parts: Iterable[tuple[Sentences, Known]], path: str | Path, how: SaveOptions
) -> Sequence[Finding]:
    """Write an object for each document or sentence; return what objects cannot hold.

    Offsets count characters if the source has texts or somebody says so, else tokens.
    """
    return save_objects(parts, path, how, partial(written, offsets=how.offsets))


def written(excerpt: Excerpt, offsets: str = "auto") -> tuple[Object, Sequence[Finding]]:
    """Return an excerpt as one of our own objects, which has its tokens if others would be read."""
    by_tokens = offsets == "tokens" or (offsets == "auto" and not excerpt.verbatim)

    def place(span: Span) -> Object:
        return (span if by_tokens else excerpt.characters(span))._asdict()

    words = excerpt.words
    made: Object = {"tokens": words} if by_tokens else {"text": excerpt.text}
    if not by_tokens and not excerpt.simple:
        blank = any(word.isspace() for word in words)
        places = [{"start": start, "end": end} for start, end in excerpt.places]
        made["tokens"] = places if blank else words
    made["spans"] = None
    if not excerpt.unknown:
        misaligned = () if by_tokens else excerpt.misaligned
        made["spans"] = [place(span) | _told(excerpt, span) for span in excerpt.spans]
        made["spans"] += (span._asdict() for span in misaligned)
    if len(excerpt.starts) > 1:
        bounds = pairwise([*excerpt.starts, len(words)])
        made["sents"] = [_run(place, start, end) for start, end in bounds]
    missing = [] if excerpt.unknown else _runs(place, excerpt.missing)
    for label, tokens in excerpt.missing_for.items():
        missing += [{**run, "label": label} for run in _runs(place, tokens)]
    more = {"missing": missing, "blocked": _runs(place, excerpt.blocked)}
    more["wrong"] = [place(span) for span in excerpt.wrong]
    made |= {name: value for name, value in more.items() if value}
    return beside(excerpt.info, made), excerpt.not_written(characters=not by_tokens)


Place = Callable[[Span], Object]


def _told(excerpt: Excerpt, span: Span) -> Object:
    """Return what else is written of a span that a model has found: text and probability."""
    if span not in excerpt.probability:
        return {}
    start, end, _ = excerpt.characters(span)
    return {
        "text": excerpt.text[start:end],
        "probability": round(excerpt.probability[span], DIGITS),
    }


def _run(place: Place, start: int, end: int) -> Object:
    run = place(Span(start, end))
    del run["label"]
    return run


def _runs(place: Place, tokens: Sequence[int]) -> list[Object]:
    """Return tokens as runs of neighbours."""
    if not tokens:
        return []
    cuts = [n for n, (a, b) in enumerate(pairwise(tokens), 1) if b > a + 1]
    bounds = pairwise([0, *cuts, len(tokens)])
    return [_run(place, tokens[a], tokens[b - 1] + 1) for a, b in bounds]
