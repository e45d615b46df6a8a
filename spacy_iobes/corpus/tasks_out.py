"""Read sentences as JSON lines, in the forms of Prodigy and of doccano: an object for each."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from .answered import Answered
from .files import write_bytes

ANSWERS = {"read": "accept", "rejected": "reject"}
"""What Prodigy calls what a person has said; a sentence that nobody has read has no answer."""


def prodigy_task(sentence: Answered) -> dict[str, Any]:
    """An object as Prodigy has them; the end of a span in tokens is its last one there."""
    places = sentence.offsets()
    tokens = [
        {"text": word, "start": start, "end": end, "id": index, "ws": bool(space)}
        for index, (word, space, (start, end)) in enumerate(
            zip(sentence.words, sentence.spaces, places)
        )
    ]
    spans = [
        {
            "start": places[start][0],
            "end": places[end - 1][1],
            "token_start": start,
            "token_end": end - 1,
            "label": label,
        }
        for start, end, label in sentence.mentions
    ]
    theirs = sentence.more.get("meta")
    meta = {
        **(theirs if isinstance(theirs, dict) else {} if theirs is None else {"meta": theirs}),
        "sentence": sentence.number,
        "document": sentence.document,
        "status": sentence.status,
    }
    unknown = sentence.spans is None and sentence.status == "unread"
    task = {
        **sentence.more,
        "text": sentence.text,
        "tokens": tokens,
        "spans": None if unknown else spans,
    }
    if sentence.status in ANSWERS:
        task["answer"] = ANSWERS[sentence.status]
    return {**task, "meta": meta, "_input_hash": input_hash(sentence.text)}


def doccano_task(sentence: Answered) -> dict[str, Any]:
    """An object as doccano has them."""
    places = sentence.offsets()
    label = [[places[start][0], places[end - 1][1], name] for start, end, name in sentence.mentions]
    theirs = {"source_id": sentence.more["id"]} if "id" in sentence.more else {}
    task = {
        **sentence.more,
        **theirs,
        "id": sentence.number,
        "text": sentence.text,
        "label": None if sentence.spans is None else label,
    }
    return task if sentence.status == "read" else {**task, "status": sentence.status}


def input_hash(text: str) -> int:
    """A number of 32 bits that tells texts apart."""
    return zlib.crc32(text.encode("utf8")) - (1 << 31)


TASKS: dict[str, Callable[[Answered], dict[str, Any]]] = {
    "prodigy": prodigy_task,
    "doccano": doccano_task,
}


def write_tasks(sentences: Iterable[Answered], target: str | Path, form: str) -> None:
    """Write an object for each sentence, all at once or not at all."""
    with write_bytes(target) as put:
        for sentence in sentences:
            row = json.dumps(TASKS[form](sentence), ensure_ascii=False)
            put(f"{row}\n".encode())
