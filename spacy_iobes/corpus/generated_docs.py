"""Generated documents as Docs in a DocBin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from ..codes.write import write
from .column_docs import entity_doc, group_doc, grouped
from .docbin import require_ending, save_docbin
from .file_sentences import Layer, Sentence
from .generated import GeneratedSentence
from .generated_files import Generated


def generated_docs(
    sentences: Iterable[GeneratedSentence], vocab: Vocab, key: str = ""
) -> Iterator[Doc]:
    """A Doc for each document: flat mentions as entities, or with a `key` all in a group."""
    for document in grouped(map(_tagged, sentences), "document"):
        yield group_doc(vocab, document, key) if key else entity_doc(vocab, document)


def write_generated_docs(
    sentences: Iterable[GeneratedSentence], target: str | Path, key: str = ""
) -> Generated:
    """Write the Docs of generated sentences."""
    require_ending(target)
    done, docs = Generated(bool(key)), DocBin()

    def counted() -> Iterator[GeneratedSentence]:
        for sentence in sentences:
            done.add(sentence)
            yield sentence

    for doc in generated_docs(counted(), Vocab(), key):
        docs.add(doc)
    save_docbin(docs, target)
    return done


def _tagged(sentence: GeneratedSentence) -> Sentence:
    words, layers = sentence.words, sentence.layers
    tags = (write(spans, len(words), "bio") for spans in layers)
    made = (Layer(some, spans, [], [], []) for some, spans in zip(tags, layers))
    return Sentence(words, tuple(made), sentence.opens)
