"""Generated documents as Docs in a DocBin."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from spacy.tokens import DocBin
from spacy.vocab import Vocab

from ..codes.write import write
from .column_docs import entity_doc, group_doc, grouped
from .docbin import require_ending, save_docbin
from .generated import GeneratedSentence
from .generated_files import Generated
from .sentences import Layer, Sentence


def write_generated_docs(
    sentences: Iterable[GeneratedSentence], target: str | Path, key: str = ""
) -> Generated:
    """Write a Doc for each document: flat mentions as entities, or with a `key` all in a group."""
    require_ending(target)
    done, vocab, docs = Generated(bool(key)), Vocab(), DocBin()

    def tagged(sentence: GeneratedSentence) -> Sentence:
        done.add(sentence)
        words, layers = sentence.words, sentence.layers
        tags = (write(spans, len(words), "bio") for spans in layers)
        made = (Layer(some, spans, [], [], []) for some, spans in zip(tags, layers))
        return Sentence(words, tuple(made), sentence.opens)

    for document in grouped(map(tagged, sentences), "document"):
        docs.add(group_doc(vocab, document, key) if key else entity_doc(vocab, document))
    save_docbin(docs, target)
    return done
