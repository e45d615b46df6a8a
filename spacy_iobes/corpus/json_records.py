"""The objects of JSON files: one on each line, or the items of a list; and what is in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import FileError
from .files import Progress, shown
from .texts import lines_of

NAMES: Mapping[str, tuple[str, ...]] = {
    "text": ("text", "data"),
    "tokens": ("tokens", "words"),
    "spans": ("spans", "entities", "mentions", "ents", "label", "labels", "ner"),
    "start": ("start", "start_offset", "begin", "start_char"),
    "end": ("end", "end_offset", "stop", "end_char"),
    "label": ("label", "type", "labels", "entity_type", "tag"),
}
"""What things may be called; the first name is the one that is written."""
EXTRAS = ("sents", "missing", "blocked", "wrong")
"""Where sentences are, tokens without annotation, tokens no mention may cover, and mentions known
not to be there; all but the first are our own."""
CLASSES = ("label", "labels")
"""Names of mentions that may also be those of the class of a text."""
ANSWERS = ("accept", "reject", "ignore")
"""What Prodigy says of a text."""
TASK = ("_input_hash", "_task_hash", "_view_id", "_session_id", "_annotator_id")
"""What else Prodigy says of one."""
TAGS = ("ner_tags", "tags", "bio_tags", "ner", "labels", "label")
"""What layers of tags are called, beside tokens."""
TELLING = {*EXTRAS, *TASK, *TAGS, "answer", "annotations"}
TELLING |= {name for kind in ("text", "tokens", "spans") for name in NAMES[kind]}
LONGEST = 1 << 40  # an offset beyond the end of any text
DEEPEST = 100  # how deep values may lie in others
WRAPPERS = {"annotations", "rows"}  # names of lists of objects
OTHERS = bytes(sorted({*range(256)} - {*b"[]{}"}))
RAW = json.JSONDecoder().raw_decode
HALVES = re.compile(rb"\\u[dD][89a-fA-F]")  # of surrogate pairs, which only make sense in twos

Mention = tuple[int, int, str]
"""Where a mention begins and ends, and its label."""


class Record(NamedTuple):
    """An object, and where it is: on a line, or among the items of a list."""

    value: Any
    name: str
    number: int
    unit: str = "line"

    def wrong(self, reason: str) -> FileError:
        """Return an error that says where."""
        place = f"{self.name}, {self.unit} {self.number}"
        return FileError(f"{place}: {reason}", self.name, self.number)


def records(
    path: str | Path, encoding: str = "utf8", progress: Progress | None = None
) -> Iterator[Record]:
    """Yield every object of a file, in memory that does not grow with it.

    A list that goes over several lines is held as a whole, and so is a lone object that does.
    """
    name, lines = shown(path), lines_of(path, encoding, progress)
    for number, line in enumerate(lines, 1):
        if number == 1 and _goes_on(line):
            whole = _parsed(b"\n".join([line, *lines]), name, 1)
            for item, value in enumerate(_several(whole), 1):
                yield Record(value, name, item, "item")
        elif line and not line.isspace():
            value = _parsed(line, name, number)
            if type(value) is dict and WRAPPERS.isdisjoint(value):
                yield Record(value, name, number)
                continue
            for item, each in enumerate(_several(value), 1):
                only = number > 1 or each is value
                yield Record(each, name, *((number, "line") if only else (item, "item")))


def _goes_on(line: bytes) -> bool:
    """Return whether the first line of a file is only the beginning of a list or an object."""
    begin = line.strip()
    if begin == b"{":
        return True
    try:
        if begin[:1] == b"[":
            json.loads(line)
    except ValueError:
        return True
    except RecursionError:  # whoever parses it says so
        return False
    return False


def _several(value: Any) -> list[Any]:
    """Return the objects that a value holds: it is one, or a list, or a table around a list."""
    if isinstance(value, list):
        return [value] if is_pair(value) else value
    if not isinstance(value, dict):
        return [value]
    inside = value.get("annotations")  # of spaCy's training data as NER Annotator has it
    bare = named(value, "text") is named(value, "tokens") is None
    if isinstance(inside, list) and any(map(is_pair, inside)) and bare:
        return [each for each in inside if each is not None]
    rows = value.get("rows")  # of Hugging Face's dataset viewer
    if bare and "features" in value and isinstance(rows, list):
        rows = [row.get("row", row) if isinstance(row, dict) else row for row in rows]
        return [{"features": value["features"]}, *rows]
    return [value]


def is_pair(value: Any) -> bool:
    """Return whether a value is (text, {"entities": …}), as spaCy 2 had its training data."""
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str)


def _parsed(data: bytes, name: str, line: int) -> Any:
    try:
        value = _value(data)
        if len(data) > DEEPEST and _may_be_deep(data):
            require_shallow(value)
        if b"\\u" in data and HALVES.search(data):
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


def _value(data: bytes) -> Any:
    """Return what JSON says: faster than `json.loads`, which is asked where something is odd."""
    text = data.decode()
    try:
        value, end = RAW(text)
        if end == len(text) or text[end:].isspace():
            return value
    except ValueError:
        pass
    return json.loads(text)


def _may_be_deep(data: bytes) -> bool:
    """Return whether brackets do not vanish when pairs of them are taken out `DEEPEST` times."""
    if data.count(b"[") + data.count(b"{") <= DEEPEST:
        return False
    left = data.translate(None, OTHERS)
    for _ in range(DEEPEST):
        shorter = left.replace(b"[]", b"").replace(b"{}", b"")
        if not shorter or shorter == left:
            return bool(shorter)
        left = shorter
    return True


def require_shallow(value: Any) -> None:
    """Raise RecursionError for values in values, more than `DEEPEST` deep."""
    level = [value]
    for _ in range(DEEPEST):
        inside = (v.values() if isinstance(v, dict) else v for v in level if _holds(v))
        level = [value for some in inside for value in some if _holds(value)]
    if level:
        raise RecursionError


def _holds(value: Any) -> bool:
    return isinstance(value, (dict, list))


def named(value: Mapping[str, Any], kind: str) -> Any:
    """Return what an object has under one of the names of something; None if nothing is there."""
    return next((value[name] for name in NAMES[kind] if value.get(name) is not None), None)


def known_names(kind: str) -> str:
    """Return the names of something as a list in words."""
    return ", ".join(NAMES[kind])


def without(value: Mapping[str, Any], read: Iterable[str]) -> dict[str, Any]:
    """Return what an object has beside what was read of it."""
    gone = set(read)
    return {name: each for name, each in value.items() if name not in gone}


def tells(name: str, value: Any) -> bool:
    """Return whether a reader would take this for part of the annotation."""
    if name in CLASSES:
        return value is None or isinstance(value, (list, dict))
    return value in ANSWERS if name == "answer" else name in TELLING


def mentions(record: Record, given: Sequence[Any], size: int, unit: str) -> list[Mention]:
    """Return mentions, which lie between 0 and `size`; one with several labels is several.

    `size` is -1 if it is not known yet.
    """
    found = list[Mention]()
    for each in given:
        try:
            if type(each) is list:
                start, end, label = each
            else:
                start, end, label = each["start"], each["end"], each["label"]
            if (
                type(start) is type(end) is int
                and type(label) is str
                and label
                and 0 <= start <= end
                and end <= (LONGEST if size < 0 else size)
            ):
                found.append((start, end, label))
                continue
        except (KeyError, TypeError, ValueError):  # it is spelled otherwise
            pass
        found += _mentions(record, each, size, unit)
    return found


def _mentions(record: Record, mention: Any, size: int, unit: str) -> Iterator[Mention]:
    """Yield a mention in any spelling once for each of its labels."""
    if isinstance(mention, dict):
        start, end, label = map(partial(named, mention), ("start", "end", "label"))
    elif isinstance(mention, list) and len(mention) == 3:
        start, end, label = mention
    else:
        reason = f"{str(mention)[:80]!r} is no mention: an object, or [start, end, label]."
        raise record.wrong(reason)
    labels = label if isinstance(label, list) and label else [label]
    if type(start) is not int or type(end) is not int or not all(map(_is_name, labels)):
        raise record.wrong(
            f"{str(mention)[:80]!r} is no mention, which has a start, an end and a label: "
            "an object, or [start, end, label]."
        )
    if not 0 <= start <= end <= (LONGEST if size < 0 else size):
        raise out_of_range(record, (start, end, labels[0]), size, unit)
    yield from ((start, end, name) for name in labels)


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def out_of_range(record: Record, mention: Mention, size: int, unit: str) -> FileError:
    """Return the error for a mention that goes beyond its text."""
    start, end, label = mention
    part = "text" if size < 0 else f"{size} {unit}"
    return record.wrong(f"{label} {start} {end} is no part of {part}.")


def ranges(given: Any) -> list[tuple[int, int]] | None:
    """Return runs of characters or tokens; None if it is anything but a list of them."""
    if not isinstance(given, list):
        return None
    rows: list[Any] = [[x.get("start"), x.get("end")] if isinstance(x, dict) else x for x in given]
    if not all(isinstance(row, list) and len(row) == 2 for row in rows):
        return None
    if not all(type(place) is int and 0 <= place <= LONGEST for row in rows for place in row):
        return None
    return [(start, end) for start, end in rows]
