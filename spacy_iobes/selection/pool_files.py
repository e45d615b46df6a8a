"""The Docs that a pool is made of, from files of any format."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, islice, pairwise

import numpy as np
from spacy.tokens import Doc

from ..codes.known import Known
from ..codes.policy import Policy
from ..codes.scheme import Scheme
from ..corpus.corpus import Corpus, accepted
from ..corpus.doc_layers import first_overlap
from ..corpus.docs import GROUP, docs_of
from ..corpus.findings import finding_lines
from ..corpus.formats.options import Unit
from ..corpus.inputs import is_stream
from ..corpus.sentences import Sentences
from ..corpus.texts import blank_language
from ..corpus.words import Words
from ..errors import FileError, OverlapError

LANGUAGE = "en"
"""Whose tokenizer cuts texts, unless another one is named."""
LONG = 10_000  # tokens of a document that is rather a whole corpus

Parts = list[tuple[Sentences, Known]]


def pool_docs(
    corpus: Corpus,
    nested: bool = False,
    scheme: str | Scheme = "",
    policy: str | Policy = "raise",
) -> tuple[list[Doc], list[str]]:
    """Return the Docs of a file or a folder, and lines about what cannot be a mention there.

    Mentions are entities or, where they may nest, the span group `sc`. A Doc is a document, or a
    sentence where columns have no documents; rules tell the sentences of plain text. Columns whose
    tags are in the column of the tokens have no mentions.
    """
    how = corpus.options if corpus.options.lang else replace(corpus.options, lang=LANGUAGE)
    vocab, docs, lines = blank_language(how.lang).vocab, list[Doc](), list[str]()
    for file in replace(corpus, options=how).files():
        parts = _parts(file, nested, scheme, policy)
        target, unit = f"spans:{GROUP}" if nested else "ents", _unit(file, parts, nested)
        docs += docs_of(parts, vocab, target, unit)
        findings = [found for part, known in parts for found in part.every_finding(known)]
        lines += (f"{file.name}: {line}" for line in finding_lines(findings))
    if not any(map(len, docs)):
        raise FileError(f"{corpus.path}: there is no token in it.", corpus.path)
    return docs, lines


def is_untagged(corpus: Corpus) -> bool:
    """Return whether these are column files whose column of tags is that of the tokens."""
    if is_stream(corpus.path):
        return False
    return all(
        file.format.name == "columns" and all(map(_has_no_tags, islice(file, 1)))
        for file in corpus.files()
    )


def _has_no_tags(part: Sentences) -> bool:
    layout = part.origin.part.layout
    width = max(layout.width, 1)
    return all(column % width == layout.token % width for column in part.origin.columns)


def _parts(file: Corpus, nested: bool, scheme: str | Scheme, policy: str | Policy) -> Parts:
    """Return the sentences of a file, with what is known of them."""
    if is_untagged(file):
        return [(part, part.nothing) for part in file]
    plain = file.format.name == "text"
    if plain and file.options.sentences == "auto":
        file = replace(file, options=replace(file.options, sentences="rules"))
    parts = list(accepted(file, scheme, policy))
    for part, known in parts:
        if not (nested or known.spans.disjoint):
            raise OverlapError(
                f"{part.name}: mentions overlap, the first {_first_overlap(part, known)}. Let them "
                "(--nested), or remove some."
            )
    return [(_single_spaced(part), known) for part, known in parts] if plain else parts


def _first_overlap(part: Sentences, known: Known) -> str:
    """Return where a mention begins that shares a token with one before, and what it says."""
    _, row = first_overlap(known.spans)
    sentence, (start, end, label) = int(known.spans.sentence[row]), known.spans.row(row)
    place = part.place(part.at(sentence, start))
    return f"at {place}: {label} {part.text(sentence, start, end)!r}"


def _unit(file: Corpus, parts: Parts, nested: bool) -> Unit:
    """Return what a Doc of a file is: a sentence, if its columns have no documents."""
    if file.format.name != "columns" or (nested and not is_untagged(file)):
        return "document"
    opens = sum(len(part.opens) for part, _ in parts)
    tokens = sum(part.tokens for part, _ in parts)
    return "document" if opens > 1 and tokens / opens < LONG else "sentence"


def _single_spaced(part: Sentences) -> Sentences:
    """Return sentences of texts with a space wherever there is white space."""
    words = part.words
    bounds = part.offsets[np.append(part.opens, len(part))].tolist()
    spaced = np.append(words.begin[1:] > words.end[:-1], True)[: len(words)]
    spaced[[end - 1 for begin, end in pairwise(bounds) if begin < end]] = True
    texts, places = list[str](), list[list[tuple[int, int]]]()
    for begin, end in pairwise(bounds):
        tokens = words.strings(begin, end)
        pieces = [word + " " * more for word, more in zip(tokens, spaced[begin:end].tolist())]
        starts = accumulate(map(len, pieces), initial=0)
        places.append([(start, start + len(word)) for start, word in zip(starts, tokens)])
        texts.append("".join(pieces))
    made = Words.in_texts(texts, places)
    return replace(part, read_words=lambda: made, read_spellings=None, origin=None)
