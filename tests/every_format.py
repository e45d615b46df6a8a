"""The same annotation in every format: writers that know nothing of the code under test."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc, DocBin
from spacy.tokens import Span as DocSpan

from spacy_iobes.selection import Pool, Session, Settings

TEXTS = [
    "Ada Lovelace met Charles Babbage in London .",
    "The University of Kisumu , Kenya , was quiet",
    "Nothing here",
    "Æsop of Phrygia 🦊 and Åsa",
    "Bo",
]
Mention = tuple[int, int, str]
GOLD: list[list[Mention]] = [
    [(0, 2, "PER"), (3, 5, "PER"), (6, 7, "LOC")],
    [(1, 4, "ORG"), (5, 6, "LOC")],
    [],
    [(0, 1, "PER"), (2, 3, "LOC"), (5, 6, "PER")],
    [(0, 1, "PER")],
]
PREDICTED: list[list[Mention]] = [
    [(0, 2, "PER"), (3, 4, "PER"), (6, 7, "ORG")],
    [(1, 4, "ORG"), (8, 9, "MISC")],
    [(0, 1, "MISC")],
    [(0, 1, "PER"), (2, 3, "LOC"), (4, 6, "PER")],
    [(0, 1, "PER")],
]
INNER: list[list[Mention]] = [[], [(3, 4, "LOC")], [], [], []]
"""Mentions inside of those above."""
UNKNOWN = 1  # the document of which gold says nothing, where something is to be missing
NLP = spacy.blank("en")
Spans = Sequence[Sequence[Mention]]


def tokens(text: str) -> list[str]:
    return text.split()


def places(text: str) -> list[tuple[int, int]]:
    found, at = list[tuple[int, int]](), 0
    for token in tokens(text):
        begin = text.index(token, at)
        at = begin + len(token)
        found.append((begin, at))
    return found


def characters(number: int, spans: Sequence[Mention]) -> list[tuple[int, int, str]]:
    where = places(TEXTS[number])
    return [(where[start][0], where[end - 1][1], label) for start, end, label in spans]


LETTERS = {"bio": "BIIB", "iobes": "BIES", "bilou": "BILU", "io": "IIII"}
"""What a scheme calls the first, an inner, the last and the only token of a span."""


def tags(size: int, spans: Sequence[Mention], scheme: str) -> list[str]:
    found = ["O"] * size
    first, inner, last, only = list(LETTERS[scheme])
    for start, end, label in spans:
        for i in range(start, end):
            letter = first if i == start else last if i == end - 1 else inner
            found[i] = f"{only if end - start == 1 else letter}-{label}"
    return found


Write = Callable[[Path, Spans, int], list[str]]


def columns(scheme: str) -> Write:
    def write(path: Path, spans: Spans, missing: int) -> list[str]:
        lines = list[str]()
        for number, (text, some) in enumerate(zip(TEXTS, spans)):
            words = tokens(text)
            row = ["-"] * len(words) if number == missing else tags(len(words), some, scheme)
            lines += [f"{word}\t{tag}\n" for word, tag in zip(words, row)] + ["\n"]
        path.write_text("".join(lines), encoding="utf8")
        return ["-s", scheme]

    return write


def layers(path: Path, spans: Spans, missing: int) -> list[str]:
    """The PER mentions in one column, all others in another one."""
    lines = list[str]()
    for number, (text, some) in enumerate(zip(TEXTS, spans)):
        words = tokens(text)
        parts = [[s for s in some if (s[2] == "PER") == wanted] for wanted in (True, False)]
        rows = [tags(len(words), part, "bio") for part in parts]
        rows = [["-"] * len(words)] * 2 if number == missing else rows
        lines += ["\t".join(row) + "\n" for row in zip(words, *rows)] + ["\n"]
    path.write_text("".join(lines), encoding="utf8")
    return ["-s", "bio", "--layer", "1", "--layer", "2"]


def docs(spans: Spans, missing: int, group: bool) -> list[Doc]:
    made = list[Doc]()
    for number, (text, some) in enumerate(zip(TEXTS, spans)):
        doc = Doc(NLP.vocab, words=tokens(text))
        found = [DocSpan(doc, *span) for span in some]
        if number != missing and group:
            doc.spans["sc"] = found
        elif number != missing:
            doc.set_ents(found, default="outside")
        made.append(doc)
    return made


def docbin(group: bool) -> Write:
    def write(path: Path, spans: Spans, missing: int) -> list[str]:
        DocBin(docs=docs(spans, missing, group), store_user_data=True).to_disk(path)
        return []

    return write


def lines_of(one: Callable[[int, Sequence[Mention], bool], dict[str, Any]]) -> Write:
    def write(path: Path, spans: Spans, missing: int) -> list[str]:
        rows = [one(number, some, number == missing) for number, some in enumerate(spans)]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        path.write_text(text, encoding="utf8")
        return []

    return write


def by_characters(number: int, spans: Sequence[Mention], missing: bool) -> dict[str, Any]:
    found = [{"start": a, "end": b, "label": c} for a, b, c in characters(number, spans)]
    return {"text": TEXTS[number], "spans": None if missing else found}


def by_tokens(number: int, spans: Sequence[Mention], missing: bool) -> dict[str, Any]:
    found = [{"start": a, "end": b, "label": c} for a, b, c in spans]
    return {"tokens": tokens(TEXTS[number]), "spans": None if missing else found}


def prodigy(number: int, spans: Sequence[Mention], missing: bool) -> dict[str, Any]:
    cut = [
        {"text": word, "start": a, "end": b, "id": i}
        for i, (word, (a, b)) in enumerate(zip(tokens(TEXTS[number]), places(TEXTS[number])))
    ]
    found = [
        {"start": a, "end": b, "token_start": start, "token_end": end - 1, "label": label}
        for (start, end, label), (a, b, _) in zip(spans, characters(number, spans))
    ]
    answer = "ignore" if missing else "accept"
    return {"text": TEXTS[number], "tokens": cut, "spans": found, "answer": answer}


def doccano(number: int, spans: Sequence[Mention], missing: bool) -> dict[str, Any]:
    assert not missing
    return {
        "id": number,
        "text": TEXTS[number],
        "label": list(map(list, characters(number, spans))),
    }


def hugging_face(number: int, spans: Sequence[Mention], missing: bool) -> dict[str, Any]:
    words = tokens(TEXTS[number])
    row = ["-"] * len(words) if missing else tags(len(words), spans, "bio")
    return {"id": str(number), "tokens": words, "ner_tags": row}


def hugging_face_lines(path: Path, spans: Spans, missing: int) -> list[str]:
    lines_of(hugging_face)(path, spans, missing)
    return ["-s", "bio"]


def brat(path: Path, spans: Spans, missing: int) -> list[str]:
    assert missing < 0
    path.mkdir()
    for number, (text, some) in enumerate(zip(TEXTS, spans)):
        (path / f"{number}.txt").write_text(text, encoding="utf8")
        rows = (
            f"T{i}\t{label} {a} {b}\t{text[a:b]}\n"
            for i, (a, b, label) in enumerate(characters(number, some), 1)
        )
        (path / f"{number}.ann").write_text("".join(rows), encoding="utf8")
    return []


def inline(path: Path, spans: Spans, missing: int) -> list[str]:
    """One document for each text, mentions inside of others too."""
    assert missing < 0
    rows = list[str]()
    for text, some in zip(TEXTS, spans):
        words = tokens(text)
        for start, end, label in sorted(some, key=lambda span: span[1] - span[0]):
            words[start] = f"<{label}>{words[start]}"
            words[end - 1] += f"</{label}>"
        rows.append(f"<document>{' '.join(words)}</document>\n")
    path.write_text("<?xml version='1.0'?>\n" + "".join(rows), encoding="utf8")
    return ["--set", "document-tag=document"]


def label_studio(path: Path, spans: Spans, missing: int) -> list[str]:
    tasks = list[dict[str, Any]]()
    for number, (text, some) in enumerate(zip(TEXTS, spans)):
        result = [
            {
                "value": {"start": a, "end": b, "text": text[a:b], "labels": [label]},
                "id": f"{number}-{a}-{b}",
                "from_name": "label",
                "to_name": "text",
                "type": "labels",
            }
            for a, b, label in characters(number, some)
        ]
        annotations = [] if number == missing else [{"id": number, "result": result}]
        tasks.append({"id": number, "data": {"text": text}, "annotations": annotations})
    path.write_text(json.dumps(tasks, ensure_ascii=False), encoding="utf8")
    return []


def session(path: Path, spans: Spans, missing: int) -> list[str]:
    """All mentions were found by somebody, sentence by sentence."""
    labels = ("LOC", "MISC", "ORG", "PER")
    bare = [Doc(NLP.vocab, words=tokens(text)) for text in TEXTS]
    nested = any(
        a[0] < b[1] and b[0] < a[1] for some in spans for a in some for b in some if a != b
    )
    pool = Pool.of(bare, labels, nested=nested)
    with Session.create(path, pool, Settings(labels=labels)) as made:
        for number, some in enumerate(spans):
            if number != missing:
                made.decide(number, "accept", some)
    return []


FORMATS: dict[str, tuple[str, Write]] = {
    "bio": ("bio", columns("bio")),
    "iobes": ("tsv", columns("iobes")),
    "bilou": ("conll", columns("bilou")),
    "layers": ("layers", layers),
    "entities": ("spacy", docbin(False)),
    "group": ("spacy", docbin(True)),
    "characters": ("jsonl", lines_of(by_characters)),
    "tokens": ("jsonl", lines_of(by_tokens)),
    "prodigy": ("jsonl", lines_of(prodigy)),
    "doccano": ("jsonl", lines_of(doccano)),
    "hugging_face": ("json", hugging_face_lines),
    "label_studio": ("json", label_studio),
    "brat": ("brat", brat),
    "inline": ("xml", inline),
    "session": ("session", session),
}
COMPLETE = ("doccano", "brat", "inline")
"""Formats in which nobody can say that a document is not annotated."""
