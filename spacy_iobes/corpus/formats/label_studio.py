"""Tasks of Label Studio: a list of texts, each with what annotators and models made of it.

Offsets count characters. Versions up to 1.4 counted UTF-16 units, and line breaks of two characters
once; as regions have their text, such files are told by it and read as they were meant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from ...codes.known import Known
from ...span import Span
from ..excerpts import Excerpt, Object, not_held, save_objects
from ..files import Progress, shown
from ..findings import Finding
from ..json_records import Mention, Record, mentions, records, without
from ..sentences import Sentences
from ..text_batch import TextRow, text_sentences
from .options import ReadOptions, SaveOptions

MORE = "label_studio"
"""The key of `info` for what only Label Studio has."""
NAMES = {"from_name": "label", "to_name": "text", "text": "text"}
"""What its template for entities calls labels, the text, and the key of `data` that has it."""
ROOT = (
    *("id", "inner_id", "project", "meta", "created_at", "updated_at", "updated_by", "file_upload"),
    *("drafts", "predictions", "total_annotations", "cancelled_annotations", "total_predictions"),
    *("comment_count", "unresolved_comment_count", "last_comment_updated_at", "comment_authors"),
    *("overlap", "is_labeled", "completed_at", "state", "allow_skip"),
)
"""What a task has beside its data and annotations; all else of a text belongs to its data."""
PLACES = {
    "hypertextlabels": "labels of HTML, which are no places in a text",
    "paragraphlabels": "labels of a dialogue, which is no single text",
}


def read(
    path: str | Path, how: ReadOptions, progress: Progress | None = None
) -> Iterator[Sentences]:
    """Yield the sentences of a file, some at a time, as they are written."""
    return text_sentences(rows(records(path, how.encoding, progress), how), shown(path), how)


def rows(some: Iterable[Record], how: ReadOptions) -> Iterator[TextRow]:
    """Yield the texts of tasks, which have them under the same key."""
    key = ""
    for record in some:
        value = record.value
        data = value.get("data") if isinstance(value, dict) else None
        if not isinstance(data, dict):
            shown = [*value] if isinstance(value, dict) else str(value)[:60]
            raise record.wrong(f"no task of Label Studio, which has its text in data: {shown}.")
        key = key if isinstance(data.get(key), str) else _text_key(record, data)
        yield row(record, key, how.annotator)


def row(record: Record, key: str, annotator: str = "") -> TextRow:
    """Return the text of a task, with the regions of one annotation; without any, it has none."""
    value = record.value
    data = value["data"]
    annotations = _listed(record, value, "annotations") or _listed(record, value, "completions")
    chosen = _chosen(record, annotations, annotator)
    found = TextRow(record.number, record.unit, {}, data[key], annotated=chosen is not None)
    more: Object = {"names": {**NAMES, "text": key}}
    if others := [each for each in annotations if each is not chosen]:
        more["annotations"] = others
    if chosen is not None:
        results = _Results.of(record, chosen.get("result"))
        found.mentions = results.mentions(record, data[key])
        found.notes = [("ignored", *note) for note in results.relations]
        more |= results.more
        kept = {**without(chosen, ["result"])}
        kept |= {"result": results.others} if results.others else {}
        more |= {"annotation": kept} if kept else {}
        more["names"] |= results.names
    if more["names"] == NAMES:
        del more["names"]
    clash = {name: each for name, each in data.items() if name != key and name in {*ROOT, MORE}}
    more |= {"data": clash} if clash else {}
    info = without(value, ["data", "annotations", "completions"])
    info |= without(data, [key, *clash])
    found.info = info | ({MORE: more} if more else {})
    return found


def _text_key(record: Record, data: Mapping[str, Any]) -> str:
    """Return the key of the text: `text`, or the only one, or that of which the regions are."""
    texts = [key for key, value in data.items() if isinstance(value, str)]
    if "text" in data and "text" not in texts:
        raise record.wrong(
            f"data.text is no string, but {str(data['text'])[:60]!r}: dialogues and lists of "
            "tokens are not read."
        )
    texts = ["text"] if "text" in texts else texts
    if len(texts) > 1:
        every = [
            (value.get("start"), value.get("end"), value["text"])
            for name in ("annotations", "completions", "predictions")
            for annotation in _listed(record, record.value, name)
            for each in annotation.get("result") or ()
            if isinstance(each, dict) and isinstance(value := each.get("value"), dict)
            if isinstance(value.get("text"), str)
        ]
        told = [(a, b, said) for a, b, said in every if isinstance(a, int) and isinstance(b, int)]
        fits = [key for key in texts if all(_says(data[key], row, row[2]) for row in told)]
        texts = fits if told and len(fits) == 1 else texts
    if len(texts) == 1:
        return texts[0]
    reason = f"several texts in data ({', '.join(texts)})" if texts else "no text in data"
    raise record.wrong(f"{reason}: the text of a task is under the key 'text'.")


def _listed(record: Record, value: Mapping[str, Any], name: str) -> list[Object]:
    found = value.get(name) or []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise record.wrong(f"{name} are a list of objects, not {str(found)[:60]!r}.")
    return found


def _chosen(record: Record, annotations: Sequence[Object], annotator: str) -> Object | None:
    """Return the annotation to read: of those that count, the only one, or the one that is true.

    An annotator may also be a model, whose predictions are read then.
    """
    every = [x for x in annotations if not (x.get("was_cancelled") or x.get("skipped"))]
    if annotator:
        every += _listed(record, record.value, "predictions")
        every = [each for each in every if annotator in _annotators(each)]
    true = [each for each in every if each.get("ground_truth")]
    every = true if len(true) == 1 else every
    if len(every) > 1 and len({str(_regions(each.get("result"))) for each in every}) > 1:
        names = [next(iter(_annotators(each)), "?") for each in every]
        raise record.wrong(
            f"{len(every)} annotations that differ, by {', '.join(names)}: name an annotator "
            "(--set annotator), or mark one as ground truth."
        )
    return every[0] if every else None


def _annotators(annotation: Mapping[str, Any]) -> list[str]:
    """Return what names the annotator: an address and a number, or the version of a model."""
    by = annotation.get("completed_by")
    names = [by.get("email"), by.get("id")] if isinstance(by, dict) else [by]
    return [str(name) for name in (*names, annotation.get("model_version")) if name is not None]


def _regions(result: Any) -> list[Any]:
    """Return where the regions of an annotation are, and their labels, in the same order always."""
    given = result if isinstance(result, list) else ()
    values = [x["value"] for x in given if isinstance(x, dict) and isinstance(x.get("value"), dict)]
    rows = [(v.get("start"), v.get("end"), v["labels"]) for v in values if "labels" in v]
    return sorted(map(str, rows))


@dataclass
class _Results:
    """The results of an annotation: regions with labels, relations between them, and others."""

    regions: list[Object]
    relations: list[tuple[str, str]]
    others: list[Object]
    names: dict[str, str]
    more: Object

    @classmethod
    def of(cls, record: Record, given: Any) -> _Results:
        if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
            raise record.wrong(f"a result is a list of objects, not {str(given)[:60]!r}.")
        found = cls([], [], [], {}, {})
        for each in given:
            value, kind = each.get("value"), each.get("type")
            if kind in PLACES:
                raise record.wrong(f"{PLACES[kind]} ({kind}).")
            if kind == "relation":
                labels = each.get("labels")
                label = ", ".join(map(str, labels)) if isinstance(labels, list) else ""
                found.relations.append((label, f"{each.get('from_id')} → {each.get('to_id')}"))
            if kind != "labels" and not (isinstance(value, dict) and "labels" in value):
                found.others.append(each)
                continue
            if not isinstance(value, dict):
                raise record.wrong(f"{str(each)[:80]!r} is no region, which has a value.")
            found.regions.append(value)
            given_names = (name for name in ("from_name", "to_name") if name in each)
            found.names |= {name: str(each[name]) for name in given_names}
        if found.relations:
            found.more = {"ids": _ids(given)}
        return found

    def mentions(self, record: Record, text: str) -> list[Mention]:
        """Return the regions as mentions by characters of the text."""
        every = list[Mention]()
        for v in self.regions:
            start: Any = v.get("start")
            end: Any = v.get("end")
            labels: Any = v.get("labels")
            whole = type(start) is type(end) is int and isinstance(labels, list) and labels
            if not whole or not all(type(label) is str and label for label in labels):
                break
            if not 0 <= start <= end <= len(text) or v.get("text") != text[start:end]:
                break
            every += [(start, end, label) for label in labels]
        else:
            return every
        return self._checked(record, text)

    def _checked(self, record: Record, text: str) -> list[Mention]:
        """Return the regions as mentions where something about them is odd."""
        given = [
            {"start": v.get("start"), "end": v.get("end"), "label": v.get("labels")}
            for v in self.regions
        ]
        found = mentions(record, given, -1, "characters")
        said = [v.get("text") for v in self.regions for _ in v["labels"]]
        pairs = [(m, s) for m, s in zip(found, said) if isinstance(s, str)]
        if not all(_says(text, mention, words) for mention, words in pairs):
            found = _converted(record, text, found, pairs)
        return mentions(record, [[*each] for each in found], len(text), "characters")


def _ids(given: Sequence[Object]) -> dict[str, Any]:
    """Return the names of regions that relations may be about, by their places and labels."""
    return {
        f"{each['value'].get('start')} {each['value'].get('end')} {label}": each.get("id")
        for each in given
        if isinstance(each.get("value"), dict) and isinstance(each["value"].get("labels"), list)
        for label in each["value"]["labels"]
    }


def _says(text: str, mention: Mention, words: str) -> bool:
    """Return whether a mention has this text, but for white space."""
    return _letters(text[mention[0] : mention[1]]) == _letters(words)


def _letters(text: str) -> str:
    return "".join(text.replace("\\n", " ").split())  # it writes a line break as a backslash and n


def _converted(
    record: Record, text: str, found: list[Mention], pairs: list[tuple[Mention, str]]
) -> list[Mention]:
    """Return mentions by characters, whose offsets count something else; raise if nothing fits."""
    for wide, joined in product((True, False), (False, True)):
        places = _units(text, wide, joined)
        move = partial(_moved, places)
        if all(_says(text, move(mention), words) for mention, words in pairs):
            return [move(mention) for mention in found]
    wrong, words = next((m, w) for m, w in pairs if not _says(text, m, w))
    start, end, _ = wrong
    raise record.wrong(f"the text at {start} {end} is {text[start:end]!r}, not {words!r}.")


def _units(text: str, wide: bool, joined: bool) -> list[int]:
    """Return the character that each unit of a text belongs to: UTF-16 units if `wide`.

    Line breaks of two characters are one if `joined`.
    """
    found = list[int]()
    for at, character in enumerate(text):
        if joined and character == "\n" and text[at - 1 : at] == "\r":
            continue
        found += [at] * (2 if wide and ord(character) > 0xFFFF else 1)
    return [*found, len(text)]


def _moved(places: Sequence[int], mention: Mention) -> Mention:
    start, end, label = mention
    last = len(places) - 1
    return places[min(start, last)], places[min(end, last)], label


def save(
    parts: Iterable[tuple[Sentences, Known]], path: str | Path, how: SaveOptions
) -> Sequence[Finding]:
    """Write a list with a task for each document or sentence; return what tasks cannot hold.

    Mentions are an annotation, or predictions of the model that somebody names.
    """
    write = partial(task, model=how.model_version)
    return save_objects(parts, path, how, write, listed=True)


def task(excerpt: Excerpt, model: str = "") -> tuple[Object, Sequence[Finding]]:
    """Return an excerpt as a task, with an annotation unless it is not annotated."""
    info = dict(excerpt.info)
    more = _object(info.pop(MORE, None))
    names = {**NAMES, **_object(more.get("names"))}
    root = {name: info.pop(name) for name in ROOT if name in info}
    data = {
        names["text"]: excerpt.text,
        **without(info, [names["text"]]),
        **_object(more.get("data")),
    }
    annotations = _list(more.get("annotations"))
    if model and not excerpt.unknown:
        result = _result(excerpt, names, {})
        made = {"model_version": model, "result": result}
        root["predictions"] = [made, *_list(root.get("predictions"))]
    elif not excerpt.unknown:
        mine = _object(more.get("annotation"))
        result = _result(excerpt, names, _object(more.get("ids")))
        annotations = [{**mine, "result": [*result, *_list(mine.get("result"))]}, *annotations]
    wrong = [excerpt.finding("wrong", span) for span in excerpt.wrong if excerpt.unknown]
    whole = {**root, "data": data, "annotations": annotations}
    return whole, [*not_held(excerpt, unknown=True), *wrong]


def _object(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _result(excerpt: Excerpt, names: Mapping[str, str], ids: Mapping[str, Any]) -> list[Object]:
    spans: list[Span] = [*map(excerpt.characters, excerpt.spans), *excerpt.misaligned]
    return [
        {
            "id": ids.get(f"{start} {end} {label}") or f"s{number}",
            "from_name": names["from_name"],
            "to_name": names["to_name"],
            "type": "labels",
            "value": {
                "start": start,
                "end": end,
                "text": excerpt.text[start:end],
                "labels": [label],
            },
        }
        for number, (start, end, label) in enumerate(spans)
    ]
