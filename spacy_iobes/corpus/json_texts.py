"""A text or its tokens, with mentions, as an object of JSON has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import le, lt
from typing import Any

from .formats.options import ReadOptions
from .json_records import (
    CLASSES,
    EXTRAS,
    NAMES,
    Record,
    is_pair,
    known_names,
    mentions,
    ranges,
    without,
)
from .text_batch import Places, TextRow

USUAL = {"text", "tokens", "spans"}
RARE = {*chain.from_iterable(map(NAMES.__getitem__, USUAL)), *EXTRAS, "relations"} - USUAL
RELATION = ("type", "label")


def text_rows(
    records: Iterable[Record], how: ReadOptions, names: Sequence[str] = NAMES["spans"]
) -> Iterator[TextRow]:
    """Yield texts, whose mentions are under one of these names.

    If the first one has none of them, the texts are not annotated.
    """
    bare: bool | None = None
    for record in records:
        if bare is None:
            bare = not has_mentions(record.value, names)
        yield text_row(record, how, names, bare)


def has_mentions(value: Any, names: Sequence[str] = NAMES["spans"]) -> bool:
    """Return whether an object says something of mentions, if only that it is not annotated."""
    value = value[1] if is_pair(value) else value
    return isinstance(value, dict) and any(_carries(value, name) for name in names)


def _carries(value: Mapping[str, Any], name: str) -> bool:
    return name in value and (
        name not in CLASSES or isinstance(value[name], (list, dict, type(None)))
    )


def without_mentions(value: Any, names: Sequence[str]) -> Any:
    """Return an object without its mentions, whatever they are like; all else stays."""
    if is_pair(value):
        return [value[0], without_mentions(value[1], names)]
    if not isinstance(value, dict):
        return value
    gone = {name for name in names if name == "spans" or _may_be_mentions(value.get(name))}
    return {key: each for key, each in value.items() if key not in gone}


def _may_be_mentions(value: Any) -> bool:
    if isinstance(value, dict):
        return not value or any(isinstance(each, list) for each in value.values())
    return value is None or value == [] or is_mentions(value)


def text_row(
    record: Record,
    how: ReadOptions,
    names: Sequence[str] = NAMES["spans"],
    bare: bool = False,
) -> TextRow:
    """Return a text with its mentions; one without any is an error, unless it may be `bare`."""
    if not how.annotated:
        record, bare = record._replace(value=without_mentions(record.value, names)), True
    value = record.value
    if type(value) is dict and (name := _usual(value)) in names:
        text, tokens, given = value.get("text"), value.get("tokens"), value.get(name)
        if type(given) is list and (type(text) is str or (text is None and tokens is not None)):
            info = {key: x for key, x in value.items() if key not in USUAL and key != name}
            row = TextRow(record.number, record.unit, info, text or "")
            row.by_tokens = _by_tokens(how, text is not None)
            if tokens is not None:
                set_tokens(record, row, text, tokens)
            row.mentions = mentions(record, given, *_size(row))
            return row
    if is_pair(value):
        value = {"text": value[0], **value[1]} if isinstance(value[1], dict) else value
    if not isinstance(value, dict):
        raise record.wrong(f"a text and its spans are an object, not {str(value)[:60]!r}.")
    return _text_row(record._replace(value=value), how, names, bare)


def _usual(value: Mapping[str, Any]) -> str:
    """Return the only name of mentions of an object that has nothing rare; empty if it has."""
    rare = RARE & value.keys()
    if not rare:
        return "spans"
    return rare.pop() if len(rare) == 1 and "spans" not in value else ""


def _text_row(record: Record, how: ReadOptions, names: Sequence[str], bare: bool) -> TextRow:
    value: Mapping[str, Any] = record.value
    text, tokens = (_named(value, kind) for kind in ("text", "tokens"))
    if not (text or tokens):
        raise record.wrong(f"no text (one of {known_names('text')}) and no tokens: {[*value]}.")
    row = TextRow(record.number, record.unit, {}, by_tokens=_by_tokens(how, bool(text)))
    set_tokens(record, row, value[text] if text else None, value[tokens] if tokens else None)
    size, unit = _size(row)
    name, mine = given_mentions(record, names, how)
    if not name and not (bare or _is_doc(value)):
        raise record.wrong(f"no spans (one of {', '.join(names)}): {[*value]}.")
    row.annotated = mine is not None
    row.mentions = mentions(record, mine or (), size, unit)
    read = {text, tokens, name, *(name for name in names if value.get(name) in (None, [], {}))}
    read |= _set_extras(record, row, size, unit)
    row.info = without(value, read)
    row.notes = relations(value)
    return row


def _size(row: TextRow) -> tuple[int, str]:
    """Return how many characters or tokens a text has, -1 if it is not known yet; and the unit."""
    if not row.by_tokens:
        return len(row.text), "characters"
    given = row.places[0] if row.places is not None else row.words
    return -1 if given is None else len(given), "tokens"


def _by_tokens(how: ReadOptions, has_text: bool) -> bool:
    return how.offsets == "tokens" or (how.offsets == "auto" and not has_text)


def _named(value: Mapping[str, Any], kind: str) -> str:
    """Return under which name an object has something; empty if it has not."""
    return next((name for name in NAMES[kind] if value.get(name) is not None), "")


def _is_doc(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a Doc of spaCy, whose tokens are but places in the text."""
    tokens = value.get("tokens")
    return isinstance(tokens, list) and bool(tokens) and _is_place(tokens[0]) and "id" in tokens[0]


def _is_place(token: Any) -> bool:
    return isinstance(token, dict) and type(token.get("start")) is type(token.get("end")) is int


def set_tokens(record: Record, row: TextRow, text: Any, tokens: Any) -> None:
    """Set the text of a row, or its words, and where its tokens are; None if it has not got them.

    Words become a text with single spaces if offsets are to count its characters.
    """
    if text is not None and not isinstance(text, str):
        raise record.wrong(f"a text is a string, not {str(text)[:60]!r}.")
    if tokens is None:
        row.text = text or ""
        return
    if not isinstance(tokens, list):
        raise record.wrong(f"tokens are a list, not {str(tokens)[:60]!r}.")
    if text is not None and (places := _places(record, text, tokens)) is not None:
        row.text, row.places = text, places
        return
    words: list[Any] = tokens
    if dict in map(type, tokens):
        words = [token.get("text") if isinstance(token, dict) else token for token in tokens]
    require_words(record, words)
    if text is None and row.by_tokens:
        row.words = words
    else:
        row.text = " ".join(words) if text is None else text
        row.places = _located(record, row.text, words)


def require_words(record: Record, words: Sequence[Any]) -> None:
    """Raise if tokens are no strings, or are empty."""
    if "" in words or {*map(type, words)} - {str}:
        wrong = next(word for word in words if type(word) is not str or not word)
        raise record.wrong(f"a token is a string that is not empty, not {str(wrong)[:60]!r}.")


def _places(record: Record, text: str, tokens: Sequence[Any]) -> Places | None:
    """Return where tokens are in a text, as they say themselves; None if they do not."""
    try:
        starts = [token["start"] for token in tokens]
        ends = [token["end"] for token in tokens]
        words = [token.get("text") for token in tokens]
    except (AttributeError, KeyError, TypeError):
        return None
    if {*map(type, starts), *map(type, ends)} != {int}:
        return None
    if not all(map(le, [0, *ends], [*starts, len(text)])) or not all(map(lt, starts, ends)):
        places = zip(starts, ends, [0, *ends])
        at = next((a, b) for a, b, before in places if not before <= a < b <= len(text))
        raise record.wrong(f"the token at {at[0]} {at[1]} is not what comes next in the text.")
    said = [text[start:end] for start, end in zip(starts, ends)]
    if words != said and any(word not in (None, there) for word, there in zip(words, said)):
        word, there = next((w, x) for w, x in zip(words, said) if w not in (None, x))
        raise record.wrong(
            f"the token {str(word)[:60]!r} is not what is there in the text: {there[:60]!r}."
        )
    return starts, ends


def _located(record: Record, text: str, words: Sequence[str]) -> Places:
    """Return where words are in their text, which has nothing else but white space."""
    starts, ends, at = list[int](), list[int](), 0
    for word in words:
        begin = text.find(word, at)
        if begin < 0 or text[at:begin].strip():
            raise record.wrong(f"the token {word!r} is not what comes next in the text.")
        at = begin + len(word)
        starts.append(begin)
        ends.append(at)
    return starts, ends


def given_mentions(
    record: Record, names: Sequence[str], how: ReadOptions
) -> tuple[str, list[Any] | None]:
    """Return under which name an object has mentions, and them; None if it is not annotated."""
    value: Mapping[str, Any] = record.value
    every = [name for name in names if _carries(value, name)]
    several = [name for name in every if is_mentions(value[name])]
    if len(several) > 1 and isinstance(value.get("spans"), dict):  # groups beside entities
        several = [name for name in several if (name == "spans") == bool(how.spans_key)]
    if len(several) > 1:
        advice = [f"--format doccano reads {name}" for name in several if name in CLASSES]
        advice += ["--format prodigy reads spans"] if "spans" in several else []
        raise record.wrong(
            f"mentions under several names ({', '.join(several)}): keep one"
            f"{', or name the format: ' * bool(advice)}{', '.join(advice)}."
        )
    filled = [name for name in every if value[name] is not None]
    chosen = [*several, *(name for name in filled if not value[name]), *filled, *every, ""][0]
    given = value.get(chosen) if chosen else None
    if isinstance(given, dict):
        given = _inner(record, chosen, given, how)
    if given is not None and not isinstance(given, list):
        raise record.wrong(f"spans are a list, not {str(given)[:60]!r}.")
    return chosen, given


def is_mentions(value: Any) -> bool:
    """Return whether a value looks like mentions, or like groups of them by name."""
    return bool(value) and (
        isinstance(value, dict) or (isinstance(value, list) and isinstance(value[0], (dict, list)))
    )


def _inner(record: Record, name: str, given: Mapping[str, Any], how: ReadOptions) -> Any:
    """Return the mentions of an object in an object: {"entities": …}, or groups by their name."""
    inner = next((key for key in NAMES["spans"] if given.get(key) is not None), "")
    if not given or inner:
        return given[inner] if inner else []
    if name != "spans" or not all(isinstance(group, list) for group in given.values()):
        raise record.wrong(f"no spans (one of {known_names('spans')}) in {[*given]}.")
    key = how.spans_key or (next(iter(given)) if len(given) == 1 else "")
    if not key:
        raise record.wrong(f"several groups of spans: name one (--spans-key): {', '.join(given)}.")
    return given.get(key)


def _set_extras(record: Record, row: TextRow, size: int, unit: str) -> set[str]:
    """Set what an object says of sentences and tokens; return the names of what was read."""
    value: Mapping[str, Any] = record.value
    if not any(name in value for name in EXTRAS):
        return set()
    sents, missing, blocked = (ranges(value.get(name)) for name in EXTRAS[:3])
    row.starts = [start for start, _ in sents or ()]
    if missing is not None:
        labels = [x.get("label", "") if isinstance(x, dict) else "" for x in value["missing"]]
        row.missing = [(*run, str(label)) for run, label in zip(missing, labels)]
    row.blocked = blocked or ()
    wrong = value.get("wrong")
    has_wrong = isinstance(wrong, list) and is_mentions(wrong)
    row.wrong = mentions(record, wrong or (), size, unit) if has_wrong else ()
    found = zip(EXTRAS, (sents is not None, missing is not None, blocked is not None, has_wrong))
    return {name for name, there in found if there}


def relations(value: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Return a note for each relation between mentions, which nothing here can hold."""
    given = value.get("relations")
    notes = list[tuple[str, str, str]]()
    for each in given if isinstance(given, list) else ():
        if isinstance(each, dict):
            ends = [str(each[key]) for key in ("from_id", "to_id", "head", "child") if key in each]
            label = next((str(each[key]) for key in RELATION if key in each), "")
            notes.append(("ignored", label, " → ".join(ends)))
    return notes
