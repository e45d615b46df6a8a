"""The reader `spacy-iobes.NestedCorpus.v1`: nested mentions straight into `spacy train`."""

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, dont_augment
from spacy.util import logger

from ..errors import FileError
from .column_docs import DocUnit, require_unit
from .conll import columns_named
from .doc_mentions import require_mentions
from .file_sentences import tag_reading
from .files import require_name, visible
from .findings import Finding, finding_lines
from .nested_corpus import NestedFile, NestedReading
from .nested_text import Misaligned, TextReading, require_misaligned
from .reader import Augmenter, carry, carry_sentences, files_of
from .texts import tokens_by


class NestedCorpus:
    """Examples from files of any kind that holds nested mentions.

    The references have the mentions in `doc.spans[key]`. The predicted Docs have the same words
    and, with `keep_sentences`, the sentence starts, but nothing else. Texts without tokens are cut
    by the tokenizer of the pipeline. Mentions that cannot be spans are counted and named in the log
    when the files are first read, unless they were `checked` before.
    """

    def __init__(
        self,
        path: str | Path,
        reading: NestedReading,
        *,
        limit: int = 0,
        shuffle: bool = False,
        augmenter: Augmenter | None = None,
        keep_sentences: bool = False,
        checked: bool = False,
    ):
        self.path = path
        self.reading = reading
        self.limit = limit
        self.shuffle = shuffle
        self.augmenter = augmenter or dont_augment
        self.keep_sentences = keep_sentences
        self.violations = 0  # those of the tags, which the policy has repaired
        self._checked = checked

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """The examples, anew for each epoch."""
        if not self._checked:
            self._check(nlp)
        references: Iterator[Doc] = (doc for doc, _ in self.docs(nlp))
        references = islice(references, self.limit if self.limit > 0 else None)
        if self.shuffle:
            held = list(references)
            random.shuffle(held)
            references = iter(held)
        for reference in references:
            words = [token.text for token in reference]
            spaces = [bool(token.whitespace_) for token in reference]
            example = Example(Doc(nlp.vocab, words=words, spaces=spaces), reference)
            for augmented in self.augmenter(nlp, example):
                carry(reference, augmented.reference)
                if self.keep_sentences:
                    carry_sentences(augmented)
                yield augmented

    def docs(self, nlp: Language) -> Iterator[tuple[Doc, list[Finding]]]:
        """The references, each with what was left out of it."""
        texts = replace(self.reading.texts, tokenize=tokens_by(nlp.tokenizer))
        reading, self.violations = replace(self.reading, texts=texts), 0
        for path in paths_of(self.path):
            file = NestedFile(path, reading, nlp.vocab)
            for number, found in enumerate(file):
                require_mentions(found.doc, reading.key, f"{path}, Doc {number}")
                yield found.doc, list(found.findings)
            self.violations += file.violations

    def _check(self, nlp: Language) -> None:
        """Read all files once for the errors that they may have, and tell what is left out."""
        tokens, findings = 0, list[Finding]()
        for doc, found in self.docs(nlp):
            tokens += len(doc)
            findings += found
        if not tokens:
            message = f"{self.path}: there is no token to train on or to score."
            raise FileError(message, str(self.path))
        for line in finding_lines(findings):
            logger.warning("%s", visible(f"{self.path}: {line}"))
        self._checked = True


def paths_of(path: str | Path) -> list[Path]:
    """The file, the brat folder, or the files below any other folder."""
    require_name(path)
    root = Path(path)
    if root.is_dir() and next(root.rglob("*.ann"), None):
        return [root]
    return files_of(root)


def nested_corpus(
    path: str | Path | None,
    spans_key: str = "sc",
    scheme: str | None = None,
    policy: str = "raise",
    layers: list[int] | None = None,
    labels: list[str] | None = None,
    header: bool = False,
    delimiter: str = "auto",
    token_index: int = 0,
    comment: str = "",
    encoding: str = "utf8",
    unit: DocUnit = "sentence",
    lines: bool = False,
    misaligned: Misaligned = "count",
    offsets: str = "auto",
    limit: int = 0,
    shuffle: bool = False,
    augmenter: Augmenter | None = None,
    ignore_documents: bool = False,
    markers_as_tokens: bool = False,
    keep_sentences: bool = False,
) -> Callable[[Language], Iterator[Example]]:
    """Read nested mentions: column files, a brat folder, JSON lines or DocBins.

    Column files need a `scheme`, and `layers`, the columns of tags (default: the last one, or with
    a `header` all of them). `labels` are for layers whose tags name none.
    """
    if not path:
        raise FileError(
            "The path of a corpus is null or empty: set it in the config, or on the command line "
            "(--paths.train, for example)."
        )
    texts = TextReading(
        misaligned=require_misaligned(misaligned), lines=lines, encoding=encoding, offsets=offsets
    )
    columns = columns_named(
        delimiter, token_index, -1, comment, encoding, ignore_documents, markers_as_tokens
    )
    reading = NestedReading(
        spans_key,
        require_unit(unit),
        tag_reading(scheme, policy, layers or (), labels or ()),
        columns,
        header,
        texts,
    )
    return NestedCorpus(
        path,
        reading,
        limit=limit,
        shuffle=shuffle,
        augmenter=augmenter,
        keep_sentences=keep_sentences,
    )
