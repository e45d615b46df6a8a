"""JSON lines with mentions by offsets: an object on each line, or a list of such objects.

An object has a `text`, with mentions by characters, or `tokens`, with mentions by tokens. Mentions
are objects or triples (start, end, label), and ends are exclusive; null in place of a list of them
says that the text is not annotated. The names are those of spaCy, Prodigy, doccano and others:
`NAMES` lists them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import FileError, UnknownNameError
from ..span import Span
from .conll import BOM, Rest
from .files import read_bytes, shown
from .inputs import is_stream
from .nested_text import SIMPLE, NestedText, Offsets, TextReading

NAMES: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "data"),
    "tokens": ("tokens", "words"),
    "spans": ("spans", "entities", "mentions", "ents", "label", "labels", "ner"),
    "start": ("start", "start_offset", "begin", "start_char"),
    "end": ("end", "end_offset", "stop", "end_char"),
    "label": ("label", "type", "labels", "entity_type", "tag"),
}
"""What things may be called; the first name is the one that is written."""
TOLD = {*NAMES["text"], *NAMES["tokens"], *NAMES["spans"], "answer", "_input_hash", "_task_hash"}
"""The names of objects that say what is read here, or what becomes of it; others are kept."""
DEEPEST = 100  # how deep values may lie in others
HALVES = re.compile(rb"\\u[dD][89a-fA-F]")  # of surrogate pairs, which only make sense in twos
OFFSETS = ("auto", "characters", "tokens")
"""What the offsets of mentions count."""


class Record(NamedTuple):
    """An object, and where it is: on a line, or among the items of a list."""

    value: Any
    name: str
    number: int
    unit: str = "line"

    @property
    def place(self) -> str:
        """Where it is, in short."""
        return f"{self.name}:{self.number}"

    def wrong(self, reason: str) -> FileError:
        """An error that says where."""
        place = f"{self.name}, {self.unit} {self.number}"
        return FileError(f"{place}: {reason}", self.name, self.number)


def read_json_lines(path: str | Path, how: TextReading = SIMPLE) -> Iterator[NestedText]:
    """Every text of a file."""
    if how.offsets not in OFFSETS:
        message = f"Unknown offsets {how.offsets!r}. Known: {', '.join(OFFSETS)}."
        raise UnknownNameError(message, how.offsets, OFFSETS)
    for record in records(path, how.encoding):
        yield _text(record, how)


def has_tokens_alone(path: str | Path, encoding: str = "utf8") -> bool:
    """Whether the first object of a file has tokens, but no text; a pipe is left alone."""
    if is_stream(str(path)):
        return False
    first = next((record.value for record in records(path, encoding)), None)
    return isinstance(first, dict) and _named(first, "text") is None


def records(path: str | Path, encoding: str = "utf8") -> Iterator[Record]:
    """Every object of a file, of which blank lines are no part."""
    name, lines = shown(path), _lines(path, encoding)
    for number, line in enumerate(lines, 1):
        if number == 1 and line.lstrip().startswith(b"[") and not _is_whole(line):
            whole = _parsed(b"\n".join([line, *lines]), name, 1)
            for item, value in enumerate(_several(whole), 1):
                yield Record(value, name, item, "item")
        elif line.strip():
            for value in _several(_parsed(line, name, number)):
                yield Record(value, name, number)


def _several(value: Any) -> list[Any]:
    """What stands on a line: one object, or a list of them."""
    return value if isinstance(value, list) and not _is_pair(value) else [value]


def _is_pair(value: list[Any]) -> bool:
    """Whether a list is (text, {"entities": …}), as spaCy 2 had its training data."""
    return len(value) == 2 and isinstance(value[0], str)


def _is_whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    except RecursionError:  # which is told when it is parsed
        return True
    return True


def _parsed(data: bytes, name: str, line: int) -> Any:
    try:
        value = json.loads(data)
        if data.count(b"[") + data.count(b"{") > DEEPEST:
            _require_shallow(value)
        if HALVES.search(data):
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except (ValueError, RecursionError) as error:
        line += getattr(error, "lineno", 1) - 1
        reason = f"no JSON ({error}). A line holds one object with a text and its spans."
        if isinstance(error, RecursionError):
            reason = f"values in values, more than {DEEPEST} deep, are no text and its spans."
        if isinstance(error, UnicodeEncodeError):
            half = f"\\u{ord(error.object[error.start]):04x}"
            reason = f"{half}, half of a surrogate pair, is no character."
        raise FileError(f"{name}, line {line}: {reason}", name, line) from error


def _require_shallow(value: Any) -> None:
    """Raise RecursionError for values in values, more than `DEEPEST` deep."""
    level = [value]
    for _ in range(DEEPEST):
        inside = (v.values() if isinstance(v, dict) else v for v in level if _holds(v))
        level = [value for some in inside for value in some if _holds(value)]
    if level:
        raise RecursionError


def _holds(value: Any) -> bool:
    return isinstance(value, (dict, list))


def _holds_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


def _lines(path: str | Path, encoding: str) -> Iterator[bytes]:
    rest, first = Rest(), True
    for chunk in read_bytes(path, encoding, longest=math.inf):
        rest.add(chunk.removeprefix(BOM) if first else chunk)
        first = False
        if b"\n" in chunk:
            *lines, last = rest.joined().split(b"\n")
            rest.begin(last)
            yield from lines
    if rest.size:
        yield rest.joined()


def _text(record: Record, how: TextReading) -> NestedText:
    """One object."""
    value = record.value
    if isinstance(value, list):
        value = {"text": value[0], **value[1]} if isinstance(value[1], dict) else None
    if not isinstance(value, dict):
        raise record.wrong(f"a text and its spans are an object, not {str(value)[:60]!r}.")
    text, given = _named(value, "text"), _named(value, "tokens")
    tokens: list[Offsets] | None = None
    if given is not None:
        text, tokens = _tokens(record, given, text)
    if not isinstance(text, str):
        if any(map(_holds_objects, map(value.get, ("annotations", "completions")))):
            raise record.wrong(
                "this looks like an export of Label Studio. 'spacy-iobes convert' makes columns of "
                "it, or a .spacy file."
            )
        raise record.wrong(f"no text (one of {_known('text')}) and no tokens: {[*value]}.")
    cut = how.tokenize(text) if tokens is None else tokens
    by_tokens = how.offsets == "tokens" or (how.offsets == "auto" and _named(value, "text") is None)
    annotation = _given(record, value) if how.mentions else None
    mentions = list(_mentions(record, annotation or []))
    if not by_tokens:
        cut = how.cut(cut, ((start, end) for start, end, _ in mentions))
    found = NestedText(record.name, text, cut, record.number, standoff=False)
    found.annotated = annotation is not None
    found.more = {name: some for name, some in value.items() if name not in TOLD}
    if how.lines:
        found.split_lines()
    for start, end, label in mentions:
        _add(found, record, (start, end), label, by_tokens, how)
    return found


def _add(
    found: NestedText, record: Record, ends: Offsets, label: str, by_tokens: bool, how: TextReading
) -> None:
    """Add a mention by characters or by tokens."""
    size = len(found.tokens) if by_tokens else len(found.text)
    if not 0 <= ends[0] <= ends[1] <= size:
        unit = "tokens" if by_tokens else "characters"
        raise record.wrong(f"{label} {ends[0]} {ends[1]} is no part of {size} {unit}.")
    if not by_tokens:
        found.add(label, [ends], record.place, how.misaligned)
    elif ends[0] == ends[1]:
        found.leave_out("empty", label, "", record.place)
    else:
        found.keep(Span(*ends, label), found.words(*ends), record.place)


def _named(value: Mapping[str, Any], kind: str) -> Any:
    """What an object has under one of the names of something; None if it has nothing there."""
    return next((value[name] for name in NAMES[kind] if value.get(name) is not None), None)


def _known(kind: str) -> str:
    return ", ".join(NAMES[kind])


def _tokens(record: Record, given: Any, text: Any) -> tuple[str, list[Offsets]]:
    """The text of tokens and where they are in it: with single spaces, if there is no text."""
    if not isinstance(given, list):
        raise record.wrong(f"tokens are a list, not {str(given)[:60]!r}.")
    words = list[str]()
    for token in given:
        word = token.get("text") if isinstance(token, dict) else token
        if not isinstance(word, str) or not word:
            raise record.wrong(f"a token is a string that is not empty, not {str(word)[:60]!r}.")
        words.append(word)
    whole = text if isinstance(text, str) else " ".join(words)
    places, at = list[Offsets](), 0
    for word in words:
        begin = whole.find(word, at)
        if begin < 0 or whole[at:begin].strip():
            raise record.wrong(f"the token {word!r} is not what comes next in the text.")
        at = begin + len(word)
        places.append((begin, at))
    return whole, places


def _given(record: Record, value: Mapping[str, Any]) -> list[Any] | None:
    """The mentions of an object as they are there; None if it is not annotated."""
    several = [name for name in NAMES["spans"] if isinstance(value.get(name), list) and value[name]]
    if len(several) > 1:
        raise record.wrong(f"mentions under several names ({', '.join(several)}): keep one.")
    given = _named(value, "spans")
    if isinstance(given, dict):  # by name, as {"entities": […]} within another object
        if given and not any(name in given for name in NAMES["spans"]):
            raise record.wrong(f"no spans (one of {_known('spans')}) in {[*given]}.")
        given = _named(given, "spans") if given else []
    if given is None and not any(name in value for name in NAMES["spans"]):
        raise record.wrong(f"no spans (one of {_known('spans')}): {[*value]}.")
    if not isinstance(given or [], list):
        raise record.wrong(f"spans are a list, not {str(given)[:60]!r}.")
    return None if given is None else given or []


def _mentions(record: Record, given: Sequence[Any]) -> Iterator[tuple[int, int, str]]:
    """Mentions one by one; one with several labels is as many mentions."""
    for mention in given:
        find = partial(_named, mention) if isinstance(mention, dict) else None
        row: Sequence[Any] = (
            [find("start"), find("end"), find("label")] if find else _triple(record, mention)
        )
        start, end, label = row
        labels = label if isinstance(label, list) else [label]
        if not all(type(place) is int for place in (start, end)) or not all(
            isinstance(name, str) and name for name in labels
        ):
            raise record.wrong(
                f"{str(mention)[:80]!r} is no mention, which has a start, an end and a label: "
                "an object, or [start, end, label]."
            )
        yield from ((start, end, name) for name in labels)


def _triple(record: Record, mention: Any) -> Sequence[Any]:
    if isinstance(mention, list) and len(mention) == 3:
        return mention
    raise record.wrong(f"{str(mention)[:80]!r} is no mention: an object, or [start, end, label].")
