"""Hugging Face's token classification: JSON lines with tokens and their tags, or tag numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, pairwise, takewhile
from pathlib import Path
from typing import Any

from ...codes.known import Known
from ...codes.tag_columns import CodedTags
from ...codes.violation import MISSING
from ..excerpts import NOTHING, beside, line_of
from ..files import Progress, shown, write_bytes
from ..findings import Finding
from ..json_records import NAMES, TAGS, Record, named, records, without
from ..json_texts import is_mentions, require_words
from ..sentences import Sentences
from ..text_batch import TextRow, text_sentences
from .columns import ColumnWriter
from .options import ReadOptions, SaveOptions

TAG = (str, int, type(None))
IGNORED = -100
"""The number that stands for no tag."""


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Yield the sentences of a file, some at a time, with their tags as they are written."""
    return sentences(records(path, how.encoding, progress), shown(path), how)


def needs_scheme(path: str | Path, how: ReadOptions) -> bool:
    """Return that tags in JSON name no scheme."""
    return True


def sentences(some: Iterable[Record], name: str, how: ReadOptions) -> Iterator[Sentences]:
    """Yield the sentences of the objects of a file."""
    labels = tuple(label for key, label in how.layer_keys if isinstance(key, str))
    for part in text_sentences(rows(some, how), name, how):
        yield replace(part, layer_labels=labels) if part.tags and any(labels) else part


def rows(some: Iterable[Record], how: ReadOptions) -> Iterator[TextRow]:
    """Yield the tokens of objects with their tags; one with `features` names the tags."""
    named = tuple(name for names in how.tag_names for name in names.split())
    columns: tuple[str, ...] = ()
    features: Mapping[str, tuple[str, ...]] = {}
    for record in some:
        value = record.value
        if not isinstance(value, dict):
            raise record.wrong(f"tokens and their tags are an object, not {str(value)[:60]!r}.")
        if is_header(value):
            features = tag_names(value["features"])
            continue
        columns = columns or tag_columns(record, how)
        names = {name: named or features.get(name, ()) for name in columns}
        yield _row(record, columns, names, how.annotated)


def is_header(value: Any) -> bool:
    """Return whether an object only names the tags of others."""
    if not isinstance(value, dict) or "features" not in value:
        return False
    return named(value, "text") is None and not _tokens(value)


def _tokens(value: Mapping[str, Any]) -> str:
    return next((name for name in NAMES["tokens"] if isinstance(value.get(name), list)), "")


def tag_columns(record: Record, how: ReadOptions) -> tuple[str, ...]:
    """Return the keys of layers of tags: those that somebody names, or the only one there is.

    `ner_tags_1`, `ner_tags_2` and so on are further layers of `ner_tags`.
    """
    value = record.value
    if keys := named_keys(how):
        for key in (key for key in keys if not isinstance(value.get(key), list)):
            lists = ", ".join(name for name, each in value.items() if _is_flat(each))
            raise record.wrong(f"no tags under the key {key!r} (--layer). There are: {lists}.")
        return keys
    found = [name for name in TAGS if is_tags(value, name)]
    found = found or [name for name in TAGS if _is_flat(value.get(name))]
    if len(found) > 1 and found[0] != TAGS[0]:
        known = ", ".join(found)
        raise record.wrong(f"tags under several keys ({known}): name one (--layer {found[0]}).")
    if not found:
        known = ", ".join(TAGS)
        raise record.wrong(f"no tags (one of {known}): {[*value]}. Name their key (--layer).")
    more = takewhile(value.__contains__, (f"{found[0]}_{number}" for number in count(1)))
    return (found[0], *more)


def named_keys(how: ReadOptions) -> tuple[str, ...]:
    """Return the keys of tags that somebody names; numbers are columns of other files."""
    return tuple(key for key, _ in how.layer_keys if isinstance(key, str))


def is_tagged(value: Mapping[str, Any], how: ReadOptions) -> bool:
    """Return whether an object has tags where somebody says so, or under a usual key.

    Where it has no mentions, a list of as many strings or numbers as there are tokens is not asked
    for: whoever reads it says what is wrong.
    """
    if keys := named_keys(how):
        return bool(_tokens(value)) or any(isinstance(value.get(key), list) for key in keys)
    if any(is_tags(value, name) for name in TAGS):
        return True
    bare = bool(_tokens(value)) and not any(map(is_mentions, map(value.get, NAMES["spans"])))
    return bare and any(_is_flat(value.get(name)) for name in TAGS)


def is_tags(value: Mapping[str, Any], name: str) -> bool:
    """Return whether an object has tokens and, under a name, a tag or its number for each."""
    tokens, tags = value.get(_tokens(value)), value.get(name)
    if name == TAGS[0]:
        return name in value and tokens is not None
    return _is_flat(tags) and isinstance(tokens, list) and len(tags or ()) == len(tokens)


def _is_flat(tags: Any) -> bool:
    """Return whether a value is a list of what may be tags."""
    return isinstance(tags, list) and bool(tags) and all(isinstance(x, TAG) for x in tags)


def _row(
    record: Record, columns: Sequence[str], names: Mapping[str, Sequence[str]], annotated: bool
) -> TextRow:
    value = record.value
    key = _tokens(value)
    words = value.get(key)
    if not isinstance(words, list):
        raise record.wrong(f"no tokens: {[*value]}.")
    require_words(record, words)
    read = columns if annotated else ()
    tags = tuple(_tags(record, name, len(words), names[name]) for name in read)
    info = without(value, [key, *columns])
    return TextRow(record.number, record.unit, info, "", words, by_tokens=True, tags=tags)


def _tags(record: Record, column: str, size: int, names: Sequence[str]) -> list[str]:
    """Return the tags of one layer as strings."""
    given = record.value.get(column)
    if given is None and column in record.value:
        return [MISSING] * size
    if not isinstance(given, list):
        raise record.wrong(f"no tags under the key {column!r}: {[*record.value]}.")
    if len(given) != size:
        raise record.wrong(f"{len(given)} tags ({column}) for {size} tokens.")
    if "" not in given and {*map(type, given)} <= {str}:
        return given
    return [_tag(record, column, tag, names) for tag in given]


def _tag(record: Record, column: str, tag: Any, names: Sequence[str]) -> str:
    if isinstance(tag, str) and tag:
        return tag
    if tag is None or tag == IGNORED:
        return MISSING
    if type(tag) is not int:
        raise record.wrong(f"a tag ({column}) is a string or a number, not {str(tag)[:60]!r}.")
    if not names:
        raise record.wrong(
            f"tags ({column}) are numbers: name the tags that they stand for, in their order "
            '(--tag-names "O B-PER I-PER", for example).'
        )
    if not 0 <= tag < len(names):
        raise record.wrong(f"{tag} is no number of a tag ({column}): there are {len(names)} names.")
    return names[tag]


def tag_names(features: Any) -> dict[str, tuple[str, ...]]:
    """Return the names of the tags of each column, from a description of a dataset."""
    if isinstance(features, list):  # of the dataset viewer
        pairs = [(x.get("name"), x.get("type")) for x in features if isinstance(x, dict)]
        features = {name: kind for name, kind in pairs if isinstance(name, str)}
    found = dict[str, tuple[str, ...]]()
    for column, kind in features.items() if isinstance(features, dict) else ():
        kind = kind[0] if isinstance(kind, list) and kind else kind
        inner = kind.get("feature", kind) if isinstance(kind, dict) else None
        names = inner.get("names") if isinstance(inner, dict) else None
        if isinstance(names, dict) and all(map(str.isdecimal, names)):
            names = [names[key] for key in sorted(names, key=int)]
        if isinstance(names, list) and all(isinstance(name, str) for name in names):
            found[column] = tuple(names)
    return found


def save(
    parts: Iterable[tuple[Sentences, Known]], path: str | Path, how: SaveOptions
) -> Sequence[Finding]:
    """Write an object for each sentence, with its tags in the scheme `how.to_scheme`.

    More layers than one are `ner_tags_1` and so on. Return what was left out.
    """
    writer = ColumnWriter(how, parts)
    with write_bytes(path) as put:
        for line in _lines((part, writer.tags(part, known)) for part, known in parts):
            put(line)
        return writer.finish()


def save_tags(parts: Iterable[Sentences], path: str | Path, how: SaveOptions) -> None:
    """Write sentences with the tags that they have, legal or not."""
    with write_bytes(path) as put:
        for line in _lines((part, part.tags) for part in parts):
            put(line)


def _lines(parts: Iterable[tuple[Sentences, Sequence[CodedTags]]]) -> Iterator[bytes]:
    """Yield an object for each sentence, with the tags of each layer."""
    info = NOTHING
    for part, layers in parts:
        tags = [layer.lists() for layer in layers]
        keys = [TAGS[0] + f"_{number}" * bool(number) for number in range(len(tags))]
        opens = dict(zip(part.opens.tolist(), part.info))
        words = part.words.strings()
        for sentence, (begin, end) in enumerate(pairwise(part.offsets.tolist())):
            info = opens.get(sentence, NOTHING if sentence in part.opens else info)
            found = {key: layer[sentence] for key, layer in zip(keys, tags)}
            yield line_of(beside(info, {"tokens": words[begin:end], **found}), part, begin)
