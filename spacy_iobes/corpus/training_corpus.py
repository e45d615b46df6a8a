"""Annotated files of any format as examples to train on: what the registered readers return."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example, dont_augment
from spacy.util import logger
from spacy.vocab import Vocab

from ..codes.known import Known
from ..codes.scheme import get_scheme
from ..codes.tag_columns import CodedTags
from ..codes.write import write_spans
from ..errors import FileError, MalformedTagsError, SpanError, UnknownNameError
from ..names import counted
from .corpus import Corpus, accepted, likely_schemes
from .doc_layers import overlap_error, require_labels, unknown_tokens
from .docs import GROUP, TagColumn, docs_of
from .examples import carry, carry_sentences
from .files import require_there, visible
from .findings import finding_lines
from .formats import format_of, formats_in, get_format
from .formats.columns import ColumnOrigin
from .formats.docbin import group_names
from .formats.folder import files_below
from .formats.options import (
    ExampleOptions,
    ReadOptions,
    Unit,
    option_fields,
)
from .held_out import HeldOut
from .inputs import is_stream
from .scheme_search import scheme_of
from .sentences import Sentences
from .summary import Summary
from .texts import tokens_by

LONG = 10_000  # tokens of a document that is rather a whole corpus
HOLD = 32 << 20  # bytes of files that are held in memory once they were read
CONLL, NESTED = "spacy-iobes.ConllCorpus.v1", "spacy-iobes.NestedCorpus.v1"
HINTS = {
    "columns": " Is this the right column (--tag, --layer)?",
    "docbin": " Is there another span group (--spans-key)?",
}
"""What to look at where a file has nothing to learn."""
Annotated = tuple[Sentences, Known]


@dataclass
class TrainingSize(Summary):
    """The size of a corpus of examples.

    `lengths` are those of its Docs. `opens` are the sentences with which documents begin, if these
    come from column files, each of which marks its documents. `held_out` says which share of the
    files it is, if it is not all of them.
    """

    lengths: list[int] = field(default_factory=list)
    opens: list[int] = field(default_factory=list)
    held_out: str = ""

    @property
    def marks_documents(self) -> bool:
        """Whether there are several documents, none of them too long for one Doc."""
        return len(self.opens) > 1 and self.tokens / len(self.opens) < LONG

    @property
    def by_document(self) -> TrainingSize:
        """Return the size of the same sentences with a document in each Doc."""
        bounds = sorted({0, *self.opens, len(self.lengths)})
        return replace(self, lengths=[sum(self.lengths[a:b]) for a, b in pairwise(bounds)])


class TrainingCorpus:
    """Examples from an annotated file, or from the files of a folder.

    The references have entities or, with a `key`, the span group `doc.spans[key]`; missing and
    blocked tokens are kept. Files with one layer of tags leave them in
    `doc.user_data["iobes_tags"]`. Whole Docs of .spacy files keep all else that they have. The
    predicted Docs have the same words and, with `keep_sentences`, the sentence starts, but nothing
    else. Texts are cut by the tokenizer of the pipeline, unless the options name a language.

    All files are read once before the first example, so that bad gold stops training before it
    begins. Small files are held in memory until they change. Mentions that are no spans of tokens
    are named in the log.
    """

    def __init__(
        self,
        path: str | Path,
        how: ReadOptions | None = None,
        options: ExampleOptions | None = None,
        key: str = "",
        log: Callable[[str], None] = logger.warning,
    ):
        self.path = str(path)
        self.how = how or ReadOptions()
        self.options = options or ExampleOptions()
        self.key = key
        self.log = log
        self.scheme = ""  # of the tags, once the files were read; empty if they name none
        self.size = TrainingSize()
        self._state: list[tuple[Path, int, int]] | None = None
        self._tokenizer: object = None
        self._held: list[Annotated] | None = None
        self._split: HeldOut | None = None
        self._marked = True
        self._corpus = Corpus(self.path, self.how)

    def __str__(self) -> str:
        size, count = self.size, self.size.labels.total()
        words = [counted(len(size.lengths), self.unit_name), counted(sum(size.lengths), "token")]
        what = counted(count, "mention" if self.key else "entity")
        words += [f"{what} of {counted(len(size.labels), 'label')}"]
        if size.repaired:
            repaired = counted(size.repaired, "violation")
            words.append(f"{repaired} repaired ({self.options.policy})")
        return f"{self.path}: {', '.join(words)}"

    def labels_beyond(self, learnt: TrainingCorpus) -> str:
        """Return the labels that there is nothing to learn of elsewhere, with their numbers."""
        missing = sorted(set(self.size.labels) - set(learnt.size.labels))
        return ", ".join(f"{label} ({self.size.labels[label]:,})" for label in missing)

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """Yield the examples, anew for each epoch."""
        references = self.docs(nlp)
        if self.options.shuffle:
            held = list(references)
            random.shuffle(held)
            references = iter(held)
        augment = self.options.augmenter or dont_augment
        for reference in references:
            words = [token.text for token in reference]
            spaces = [bool(token.whitespace_) for token in reference]
            known = None if reference.has_unknown_spaces else spaces
            example = Example(Doc(nlp.vocab, words=words, spaces=known), reference)
            for augmented in augment(nlp, example):
                carry(reference, augmented.reference)
                if self.options.keep_sentences:
                    carry_sentences(augmented)
                yield augmented

    def docs(self, nlp: Language) -> Iterator[Doc]:
        """Yield the references, at most as many as the limit says; none is empty."""
        self.check(nlp)
        filled = (doc for doc in self._docs(self.annotated(), nlp.vocab) if len(doc))
        return islice(filled, self.options.limit if self.options.limit > 0 else None)

    def check(self, nlp: Language) -> TrainingSize:
        """Read all files, unless they are as they were, for the errors that they may have."""
        state = _state_of(files_of(self.path))
        read = state is not None and state == self._state and nlp.tokenizer is self._tokenizer
        if not read:
            self._prepare(nlp)
            small = 0 < sum(size for *_, size in state or ()) <= HOLD
            self._held = list(self._accepted()) if small else None
            self.size = self._measured(nlp.vocab)
            if not self.size.tokens:
                message = f"{self.path}: there is no token to train on or to score."
                raise FileError(message, self.path)
            for line in finding_lines(self.size.findings):
                self.log(visible(f"{self.path}: {line}"))
            self._state, self._tokenizer = state, nlp.tokenizer
        return self.size

    def by_document(self) -> TrainingCorpus:
        """Return examples of whole documents whose sentences are known, of the same files."""
        other = copy(self)
        other.options = replace(self.options, unit="document", keep_sentences=True)
        other.size = self.size.by_document
        return other

    def annotated(self) -> Iterable[Annotated]:
        """Return the sentences with what is known of them, once the files were read."""
        return self._accepted() if self._held is None else self._held

    def require_entities(self) -> None:
        """Raise if there is nothing to learn in the files, which were read."""
        if not self.size.labels:
            size = (
                f"{len(self.size.lengths):,} {self.unit_name}{'s' * (len(self.size.lengths) != 1)}"
            )
            there = formats_in(self.path, self.how)
            if not any(get_format(name).annotated for name in there):
                kinds = ", ".join(sorted(there))
                raise FileError(f"{self.path}: files of the format {kinds} hold no annotation.")
            hint = next((hint for name, hint in HINTS.items() if name in there), "")
            if self.size.held_out:
                hint = f" It is {self.size.held_out}: choose others (--seed), or name DEV."
            what = "mention" if self.key else "entity"
            raise FileError(f"{self.path}: there is no {what} in {size}.{hint}", self.path)

    @property
    def unit_name(self) -> str:
        """What messages call the unit of the corpus."""
        return "sentence" if self._unit == "sentence" else "Doc"

    def block(self) -> dict[str, Any]:
        """Return the block of a config that reads the same."""
        shared = {x.name: getattr(self.how, x.name) for x in option_fields(ReadOptions)}
        own = {x.name: getattr(self.options, x.name) for x in option_fields(ExampleOptions)}
        own["scheme"], name = self.scheme or None, CONLL
        if self.key:
            name, shared["spans_key"] = NESTED, self.key
            del own["tag_scheme"]
        plain = {k: list(v) if isinstance(v, tuple) else v for k, v in shared.items()}
        return {"@readers": name, "path": self.path, **own, **plain}

    def _prepare(self, nlp: Language) -> None:
        """Find out how the files are read: the tokenizer, the span group, the scheme."""
        if is_stream(self.path):
            message = f"{self.path}: a pipe can be read only once, and training reads its data"
            raise FileError(f"{message} again. Save it to a file and name that.", self.path)
        require_there(self.path)
        how = self.how
        if not how.lang:
            how = replace(how, tokenizer=tokens_by(nlp.tokenizer))
        if self.key and not how.spans_key and groups_of(self.path, how):
            how = replace(how, spans_key=self.key)
        self._corpus = Corpus(self.path, how)
        scheme = self.options.scheme or scheme_of(self._corpus)
        self.scheme = scheme and get_scheme(scheme).name
        if self.options.part != "all":
            share, seed = self.options.share, self.options.seed
            self._split = HeldOut.of(self._corpus, share, seed, self.path)
        self._marked, self._held = True, None

    def _parts(self) -> Iterator[Sentences]:
        """Yield the sentences that were asked for, and note whether files mark documents."""
        source = self._watched()
        if self._split is None:
            return source
        return self._split.parts(source, self.options.part == "dev")

    def _watched(self) -> Iterator[Sentences]:
        for part in self._corpus:
            if part.before == (0, 0) and len(part):
                self._marked &= isinstance(part.origin, ColumnOrigin) and part.origin.marked
            yield part

    def _accepted(self) -> Iterator[Annotated]:
        """Yield the sentences with what is known of them; raise for what cannot be learned."""
        try:
            for part, known in accepted(self._parts(), self.scheme, self.options.policy):
                self._require_learnable(part, known)
                yield part, known
        except MalformedTagsError as error:
            if self.scheme:
                error.schemes = likely_schemes([self._corpus], get_scheme(self.scheme))
            raise

    def _require_learnable(self, part: Sentences, known: Known) -> None:
        """Raise for spans that overlap, where they may not, and for those without a label."""
        if not self.key and not known.spans.disjoint:
            advice = "which entities cannot. Find nested mentions (--nested), or keep one."
            raise overlap_error(part, known.spans, advice)
        require_labels(
            part,
            known.spans,
            "an entity of a Doc needs a label, and so does a mention. Name that of a column "
            "(--layer 1=PER), or leave such spans out.",
        )

    @property
    def _unit(self) -> Unit:
        """What one Doc holds: a sentence, if sentences are held out."""
        alone = self._split is not None and not self._split.documents
        return "sentence" if alone else self.options.unit

    def _docs(self, parts: Iterable[Annotated], vocab: Vocab) -> Iterator[Doc]:
        columns: dict[str, TagColumn] = {} if self.key else {"user_data": _raw_tags}
        if self.options.tag_scheme:
            columns["tag"] = self._rewritten
        return docs_of(
            parts, vocab, f"spans:{self.key}" if self.key else "ents", self._unit, columns
        )

    def _rewritten(self, part: Sentences, known: Known) -> CodedTags:
        """Return the tags that a tagger learns; they are empty where nothing is known."""
        try:
            tags = write_spans(known.spans, part.offsets, get_scheme(self.options.tag_scheme or ""))
        except SpanError as error:
            raise part.locate(error) from error
        if (missing := unknown_tokens(known)) is None:
            return tags
        codes = tags.codes.copy()
        codes[missing] = len(tags.tags)
        return CodedTags.trusted(codes, tags.offsets, (*tags.tags, ""))

    def _measured(self, vocab: Vocab) -> TrainingSize:
        """Return the size of the files, all of whose Docs are made once."""
        size, opens = TrainingSize(held_out=str(self._split or "")), list[int]()

        def every() -> Iterator[Annotated]:
            for part, known in self.annotated():
                opens.extend((part.opens + size.sentences).tolist())
                size.add(part, known)
                yield part, known

        size.lengths = [len(doc) for doc in self._docs(every(), vocab) if len(doc)]
        size.opens = opens if self._marked and self._unit == "sentence" else []
        return size


def learned_best(path: str, how: ReadOptions, options: ExampleOptions, key: str) -> ExampleOptions:
    """Return options of which recognisers learn best from files of this format.

    A Doc is a sentence of a column file, or a document. Sentences of the documents are known where
    mentions may nest.
    """
    if "columns" in formats_in(path, how):
        return options
    return replace(options, unit="document", keep_sentences=bool(key))


def _raw_tags(part: Sentences, known: Known) -> CodedTags | None:
    """Return the tags as they are written, of a file that has one layer of them."""
    return part.tags[0] if len(part.tags) == 1 and not part.scheme else None


def group_to_learn(paths: Iterable[str], how: ReadOptions) -> str:
    """Return the span group of mentions: the one that is named, or the only one of the files."""
    if how.spans_key:
        return how.spans_key
    found = {name for path in paths for name in groups_of(path, how)}
    if GROUP in found or not found:
        return GROUP
    if len(found) > 1:
        known = ", ".join(map(repr, sorted(found)))
        raise UnknownNameError(f"There are span groups {known}. Name one (--spans-key).", "", found)
    return found.pop()


def groups_of(path: str, how: ReadOptions) -> set[str]:
    """Return the names of the span groups that the .spacy files below a path have."""
    rows = ((file, format_of(file, how.format, how).name) for file in files_of(path))
    return {name for file, row in rows if row == "docbin" for name in group_names(file)}


def files_of(path: str) -> list[Path]:
    """Return the file, or the files below a folder."""
    return files_below(path) if Path(path).is_dir() else [Path(path)]


def _state_of(paths: Iterable[Path]) -> list[tuple[Path, int, int]] | None:
    """Return when files were changed and how large they are; None if one cannot be told about."""
    try:
        found = [(path, path.stat()) for path in paths]
    except (OSError, ValueError):  # there will be a better message when it is read
        return None
    return [(path, stat.st_mtime_ns, stat.st_size) for path, stat in found]
