"""The reader `spacy-iobes.ConllCorpus.v1`: column files straight into `spacy train`."""

import random
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from spacy.attrs import ENT_IOB, ENT_TYPE, SENT_START
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, dont_augment
from spacy.vocab import Vocab

from ..codes.policy import get_tag_policy
from ..codes.scheme import get_scheme
from ..errors import FileError
from .column_docs import DocUnit, entity_doc, grouped, require_unit
from .conll import ColumnReader, Columns, columns_named
from .file_sentences import FileSentences, Sentence, TagReading
from .files import require_name

HOLD = 32 << 20  # bytes of files that are held in memory once they were read
Augmenter = Callable[[Language, Example], Iterator[Example]]


class Held(NamedTuple):
    """What is in some files, and what tells whether they have changed since they were read."""

    state: list[tuple[Path, int, int]]
    groups: list[list[Sentence]]


class ConllCorpus:
    """Examples from column files: gold entities, and the raw tags in the user data.

    The references have entities, with missing (`-`) and blocked (`!`) tokens kept, sentence starts,
    and the tags of the file in `doc.user_data["iobes_tags"]`; with a `tag_scheme`, also in
    `token.tag_`, which is empty for a missing token, so that a tagger learns nothing from it.
    The predicted Docs have the same words and, with `keep_sentences`, the sentence starts, but
    nothing else. All files are checked before the first example, so that bad gold stops training
    before it begins.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        scheme: str,
        policy: str = "raise",
        columns: Columns | None = None,
        unit: DocUnit = "sentence",
        limit: int = 0,
        shuffle: bool = False,
        augmenter: Augmenter | None = None,
        tag_scheme: str | None = None,
        keep_sentences: bool = False,
    ):
        self.path = path
        self.columns = columns or Columns()
        target = get_scheme(tag_scheme) if tag_scheme else None
        self.reading = TagReading(get_scheme(scheme), get_tag_policy(policy), tag_scheme=target)
        self.unit = require_unit(unit)
        self.limit = limit
        self.shuffle = shuffle
        self.augmenter = augmenter or dont_augment
        self.keep_sentences = keep_sentences
        self._checked = False
        self._held: Held | None = None

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """The examples, anew for each epoch."""
        references = self.docs(nlp.vocab)
        if self.shuffle:
            held = list(references)
            random.shuffle(held)
            references = iter(held)
        for reference in references:
            words = [token.text for token in reference]  # with a space behind each
            example = Example(Doc(nlp.vocab, words=words), reference)
            for augmented in self.augmenter(nlp, example):
                carry(reference, augmented.reference)
                if self.keep_sentences:
                    carry_sentences(augmented)
                yield augmented

    def docs(self, vocab: Vocab) -> Iterator[Doc]:
        """The references, at most as many as the limit says."""
        made = (entity_doc(vocab, sentences) for sentences in self._groups())
        return islice(made, self.limit if self.limit > 0 else None)

    def _groups(self) -> Iterator[list[Sentence]]:
        """The sentences of each Doc. Small files are read again only if they have changed."""
        paths = files_of(self.path)
        state = state_of(paths)
        if self._held is not None and self._held.state == state:
            yield from self._held.groups
            return
        self._held, groups = None, list[list[Sentence]]()
        if not self._checked:
            self._check(paths)
        small = 0 < sum(size for *_, size in state) <= HOLD
        for path in paths:
            for sentences in grouped(self._sentences(path), self.unit):
                if small:
                    groups.append(sentences)
                yield sentences
        if small:
            self._held = Held(state, groups)

    def _check(self, paths: list[Path]) -> None:
        """Read all files once for the errors that they may have."""
        found = [self._sentences(path) for path in paths]
        for file in found:
            file.check()
        if not any(file.reader.sentences for file in found):
            raise FileError(
                f"{self.path}: there is no token to train on or to score.", str(self.path)
            )
        self._checked = True

    def _sentences(self, path: Path) -> FileSentences:
        return FileSentences(ColumnReader(path, self.columns), self.reading)


def state_of(paths: list[Path]) -> list[tuple[Path, int, int]]:
    """When files were changed and how large they are; nothing if one cannot be told about."""
    try:
        found = [(path, path.stat()) for path in paths]
    except OSError:  # there will be a better message when it is read
        return []
    return [(path, stat.st_mtime_ns, stat.st_size) for path, stat in found]


def carry(original: Doc, augmented: Doc) -> None:
    """Give an augmented reference what augmenters lose, if it has as many tokens as the original.

    These are the tags, blocked tokens, sentence starts and the attributes of span groups.
    """
    if augmented is original or len(augmented) != len(original):
        return
    augmented.user_data.update(original.user_data)
    names = [ENT_IOB, ENT_TYPE, SENT_START]
    rows: Any = original.to_array(names)
    augmented.from_array(names, rows)
    for key, group in original.spans.items():
        if key in augmented.spans and len(augmented.spans[key]) == len(group):
            augmented.spans[key].attrs.update(group.attrs)


def carry_sentences(example: Example) -> None:
    """Give the predicted Doc the sentence starts of the reference, if it has the same tokens."""
    predicted, reference = example.predicted, example.reference
    if len(predicted) == len(reference):
        rows: Any = reference.to_array([SENT_START])
        predicted.from_array([SENT_START], rows)


def files_of(path: str | Path) -> list[Path]:
    """The file, or the files below a directory in the order of their names, but hidden ones."""
    require_name(path)
    root = Path(path)
    if not root.is_dir():
        return [root]
    below = [(file, file.relative_to(root).parts) for file in sorted(root.rglob("*"))]
    found = [
        file
        for file, parts in below
        if file.is_file() and not any(part.startswith(".") for part in parts)
    ]
    if not found:
        raise FileError(f"{path}: a directory without column files. Name another.", str(path))
    return found


def conll_corpus(
    path: str | Path | None,
    scheme: str,
    policy: str = "raise",
    delimiter: str = "auto",
    token_index: int = 0,
    tag_index: int = -1,
    comment: str = "",
    encoding: str = "utf8",
    unit: DocUnit = "sentence",
    limit: int = 0,
    shuffle: bool = False,
    augmenter: Augmenter | None = None,
    tag_scheme: str | None = None,
    ignore_documents: bool = False,
    markers_as_tokens: bool = False,
    keep_sentences: bool = False,
) -> Callable[[Language], Iterator[Example]]:
    """Read column files, `path` being one or a directory of them, under an explicit scheme."""
    if not path:
        raise FileError(
            "The path of a corpus is null or empty: set it in the config, or on the command line "
            "(--paths.train, for example)."
        )
    if not delimiter:
        raise FileError("An empty delimiter separates nothing: name one, or 'auto'.")
    columns = columns_named(
        delimiter, token_index, tag_index, comment, encoding, ignore_documents, markers_as_tokens
    )
    return ConllCorpus(
        path,
        scheme=scheme,
        policy=policy,
        columns=columns,
        unit=unit,
        limit=limit,
        shuffle=shuffle,
        augmenter=augmenter,
        tag_scheme=tag_scheme,
        keep_sentences=keep_sentences,
    )
