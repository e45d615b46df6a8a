"""Plain texts as Docs: a paragraph is a document, and rules or lines tell its sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from spacy.language import Language
from spacy.tokens import Doc

from ..errors import UnknownNameError
from .conll import BOM
from .files import read_bytes

Split = Literal["rules", "lines", "whole"]
"""What a sentence of a text is: spaCy's sentencizer tells, or it is a line, or the whole text."""
SPLITS: tuple[Split, ...] = get_args(Split)
BLANK = re.compile(r"\n[ \t\r]*\n\s*")


def require_split(name: str) -> Split:
    """The name of a way to find sentences, if it is one."""
    for known in SPLITS:
        if name == known:
            return known
    message = f"Unknown kind of sentences {name!r}. Known: {', '.join(SPLITS)}."
    raise UnknownNameError(message, name, SPLITS)


def plain_docs(
    path: str | Path, nlp: Language, split: Split = "rules", encoding: str = "utf8"
) -> Iterator[Doc]:
    """A Doc for each paragraph of a text; white space is no token there."""
    data = b"".join(read_bytes(path, encoding, longest=math.inf)).removeprefix(BOM)
    for paragraph in BLANK.split(data.decode("utf8")):
        parts = paragraph.split("\n") if split == "lines" else [paragraph]
        rows = [tokens for part in parts if (tokens := _tokens(nlp, part))]
        if not rows:
            continue
        words, spaces = zip(*(token for row in rows for token in row))
        starts: list[bool | int | None] = [not i for row in rows for i in range(len(row))]
        doc = Doc(nlp.vocab, words=list(words), spaces=list(spaces), sent_starts=starts)
        if split == "rules":
            doc = with_sentences(doc, nlp)
        yield doc


def _tokens(nlp: Language, text: str) -> list[tuple[str, bool]]:
    """Words, and whether white space follows them."""
    found = list[tuple[str, bool]]()
    for token in nlp.tokenizer(text):
        if not token.is_space:
            found.append((token.text, bool(token.whitespace_)))
        elif found:
            found[-1] = found[-1][0], True
    if found:
        found[-1] = found[-1][0], True  # what comes next stands apart
    return found


def with_sentences(doc: Doc, nlp: Language) -> Doc:
    """The same Doc with the sentences that rules find."""
    rules = nlp.create_pipe("sentencizer", config={"overwrite": True})
    found: Doc = rules(doc)
    return found
