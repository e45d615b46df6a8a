"""Docs for tests, and what they hold token by token, without a word to the package."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import spacy
from spacy.attrs import ENT_IOB, ENT_TYPE
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.tokens import Span as DocSpan
from spacy.vocab import Vocab

from spacy_iobes import Span

from . import by_hand

TAGS = "iobes_tags"
BLANK = spacy.blank("en")
VOCAB = Vocab()
IOB = {"-": 0, "I": 1, "O": 2, "B": 3, "!": 3}
"""The numbers of spaCy; 3 without a label is what it calls blocked."""

Token.set_extension("test_tag", default=None, force=True)


def bare(length: int, vocab: Vocab = VOCAB) -> Doc:
    """A Doc of so many words."""
    return Doc(vocab, words=[f"w{number}" for number in range(length)])


def with_tags(tags: Sequence[Any], key: str = TAGS) -> Doc:
    """A Doc with tags in its user data."""
    doc = bare(len(tags))
    doc.user_data[key] = list(tags)
    return doc


def with_entities(tags: Sequence[str], vocab: Vocab = VOCAB) -> Doc:
    """A Doc that stores exactly these BIO tags, malformed or not, `-` missing and `!` blocked."""
    doc = bare(len(tags), vocab)
    pairs = [tag.partition("-")[::2] if tag != "-" else (tag, "") for tag in tags]
    rows = [[IOB[prefix], vocab.strings.add(label)] for prefix, label in pairs]
    columns: Any = np.array(rows, dtype=np.uint64).reshape(-1, 2)
    return doc.from_array([ENT_IOB, ENT_TYPE], columns)


def with_token_tags(tags: Sequence[str]) -> Doc:
    """A Doc with tags in `token.tag_`."""
    doc = bare(len(tags))
    for token, tag in zip(doc, tags):
        token.tag_ = tag
    return doc


def with_extension(tags: Sequence[str | None]) -> Doc:
    """A Doc with tags in `token._.test_tag`."""
    doc = bare(len(tags))
    for token, tag in zip(doc, tags):
        token._.test_tag = tag
    return doc


def with_group(spans: Iterable[tuple[int, int, str]], length: int, key: str = "sc") -> Doc:
    """A Doc with a span group."""
    doc = bare(length)
    doc.spans[key] = [DocSpan(doc, *span) for span in spans]
    return doc


def group(doc: Doc, key: str = "sc") -> list[tuple[int, int, str]]:
    """What a span group holds."""
    return [(span.start, span.end, span.label_) for span in doc.spans[key]]


def stored(doc: Doc) -> list[str]:
    """The entities as the Doc stores them, token by token."""
    return [_stored(token) for token in doc]


def _stored(token: Token) -> str:
    if token.ent_iob == 3 and not token.ent_type_:
        return "!"
    return {0: "-", 1: f"I-{token.ent_type_}", 2: "O", 3: f"B-{token.ent_type_}"}[token.ent_iob]


def ids(doc: Doc) -> list[tuple[str, str]]:
    """The ids of the entity of each token."""
    return [(token.ent_kb_id_, token.ent_id_) for token in doc]


def component(factory: str, **config: Any) -> Any:
    """A component out of its factory."""
    return BLANK.create_pipe(factory, config=config)


def pipeline(factory: str, **config: Any) -> Language:
    """A pipeline of one component."""
    nlp = spacy.blank("en")
    nlp.add_pipe(factory, config=config)
    return nlp


def bio(spans: Iterable[Span], tags: Sequence[str]) -> list[str]:
    """Spans as BIO, `-` and `!` where they stand in the tags."""
    written = by_hand.encode(spans, len(tags), "bio")
    return [old if old in ("-", "!") else new for old, new in zip(tags, written)]
