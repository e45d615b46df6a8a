"""Generated documents as column files and JSON lines, written as they come: nothing is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from json import dumps

from ..codes.scheme import Scheme
from ..codes.write import write_many
from .files import write_bytes
from .generated import DEPTH, GeneratedSentence
from .planted import Planter

BLOCK = 2000  # sentences that are tagged and written at a time
MARKER = "-DOCSTART-"


@dataclass
class Generated:
    """What was written; flat mentions, or with `nested` those of all layers."""

    nested: bool = False
    documents: int = 0
    sentences: int = 0
    tokens: int = 0
    labels: dict[str, int] = field(default_factory=dict)

    def add(self, sentence: GeneratedSentence) -> None:
        """Count one more sentence."""
        self.documents += sentence.opens
        self.sentences += 1
        self.tokens += len(sentence.words)
        for layer in sentence.layers if self.nested else sentence.layers[:1]:
            for _, _, label in layer:
                self.labels[label] = self.labels.get(label, 0) + 1


def write_generated_columns(
    sentences: Iterable[GeneratedSentence],
    target: str,
    scheme: Scheme,
    nested: bool = False,
    planter: Planter | None = None,
) -> Generated:
    """Write words and tags, the outermost mentions first; with a planter, spoilt tags go last."""
    done = Generated(nested)
    count = DEPTH if nested else 1
    marker = "\t".join([MARKER, *["O"] * (count + bool(planter))]) + "\n\n"
    with write_bytes(target) as put:
        for block in _blocks(sentences):
            lengths = [len(sentence.words) for sentence in block]
            layers = list(zip(*(sentence.layers for sentence in block)))[:count]
            columns = [write_many(layer, lengths, scheme) for layer in layers]
            if planter:
                columns.append([planter.spoil(tags) for tags in columns[0]])
            lines = list[str]()
            for sentence, *tags in zip(block, *columns):
                done.add(sentence)
                rows = "\n".join(map("\t".join, zip(sentence.words, *tags)))
                lines += (marker, rows, "\n\n") if sentence.opens else (rows, "\n\n")
            put("".join(lines).encode())
    return done


def write_generated_lines(
    sentences: Iterable[GeneratedSentence], target: str, nested: bool = False
) -> Generated:
    """Write a JSON object for each sentence: its tokens, and its mentions by tokens."""
    done = Generated(nested)
    with write_bytes(target) as put:
        for block in _blocks(sentences):
            put("".join(map(_line, block, [nested] * len(block))).encode())
            for sentence in block:
                done.add(sentence)
    return done


def _line(sentence: GeneratedSentence, nested: bool) -> str:
    layers = sentence.layers if nested else sentence.layers[:1]
    spans = [span._asdict() for layer in layers for span in layer]
    return dumps({"tokens": sentence.words, "spans": spans}, ensure_ascii=False) + "\n"


def _blocks(sentences: Iterable[GeneratedSentence]) -> Iterator[list[GeneratedSentence]]:
    rest = iter(sentences)
    while block := list(islice(rest, BLOCK)):
        yield block
