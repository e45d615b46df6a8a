"""Everything this package raises on purpose.

IobesError
├── UnknownNameError      a scheme or policy that does not exist
├── SchemeError           a new scheme that would not work
├── TagError
│   ├── UnreadableTagError    a tag that no prefix of the scheme explains
│   ├── MalformedTagsError    readable tags in an illegal order, under the policy `raise`
│   └── SeparatorError        mention separators that no mentions are written as
├── SpanError
│   ├── SpanRangeError        empty, negative or beyond the sentence
│   ├── OverlapError          two spans that share a token
│   ├── DuplicateSpanError    one span twice
│   └── InexpressibleError    disjoint spans that the scheme has no tags for
├── ChainError            scores or limits that a chain cannot work with
│   └── NoPathError           a sequence that no path fits
├── ModelError            a model that is damaged, or was made for something else
├── AlignmentError        gold and prediction are not of the same tokens
├── StaleError            a decision about something that has changed meanwhile
└── FileError             a file that cannot be read or written as asked
    └── ColumnError           a line that does not have the columns of the file

A message says what was found, where, and what to do next.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .span import Span

if TYPE_CHECKING:
    from .codes.violation import Violation

SHOWN = 5  # how many violations a message spells out before it only counts them


class IobesError(Exception):
    """The root of every exception that the package raises on purpose."""


class UnknownNameError(IobesError, ValueError):
    """A name that is not in a registry; the message lists the names that are."""

    def __init__(self, message: str, name: str = "", known: Iterable[str] = ()):
        super().__init__(message)
        self.name = name
        self.known = tuple(known)


class SchemeError(IobesError, ValueError):
    """A row of data that makes no scheme: its tags do not say what spans there are."""


class TagError(IobesError, ValueError):
    """Something is wrong with the tags themselves."""


class UnreadableTagError(TagError):
    """A tag that cannot be read under the scheme; never silently taken for `O`.

    `reason` is the message without the place.
    """

    def __init__(
        self, message: str, tag: str = "", sentence: int = 0, index: int = 0, reason: str = ""
    ):
        super().__init__(message)
        self.tag = tag
        self.sentence = sentence
        self.index = index
        self.reason = reason or message


class MalformedTagsError(TagError):
    """Tags in an illegal order; `violations` lists every one of them.

    `advice` is what a command says behind that list, if it has more than one side to speak of.
    `schemes` are others that the tags seem to be written in.
    """

    def __init__(
        self,
        message: str,
        violations: Sequence[Violation] = (),
        advice: str = "",
        schemes: Sequence[str] = (),
    ):
        super().__init__(message)
        self.violations = tuple(violations)
        self.advice = advice
        self.schemes = tuple(schemes)


class SeparatorError(TagError):
    """Mention separators that do not fit each other; `gap` is the first that is wrong."""

    def __init__(self, message: str, sentence: int = 0, label: str = "", gap: int = 0):
        super().__init__(message)
        self.sentence = sentence
        self.label = label
        self.gap = gap


class SpanError(IobesError, ValueError):
    """Spans that cannot be written as tags; `spans` are the ones at fault.

    `reason` is the message without the place.
    """

    def __init__(
        self, message: str, spans: Sequence[Span] = (), sentence: int = 0, reason: str = ""
    ):
        super().__init__(message)
        self.spans = tuple(spans)
        self.sentence = sentence
        self.reason = reason or message


class SpanRangeError(SpanError):
    """A span that is empty, negative or reaches beyond its sentence."""


class OverlapError(SpanError):
    """Two spans that share a token."""


class DuplicateSpanError(SpanError):
    """A span that is there twice, with the same label."""


class InexpressibleError(SpanError):
    """Spans that are fine in themselves but that the target scheme cannot tell apart."""


class ChainError(IobesError, ValueError):
    """Arrays that a chain cannot work with: their shape is wrong, or they hold NaN or infinity."""


class NoPathError(ChainError):
    """A chain and its limits leave no path; `sequences` are the numbers of those at fault."""

    def __init__(self, message: str, sequences: Sequence[int] = ()):
        super().__init__(message)
        self.sequences = tuple(sequences)


class AlignmentError(IobesError, ValueError):
    """Gold and prediction are not of the same tokens; nothing is aligned by guess."""


class ModelError(IobesError, ValueError):
    """A model that cannot be used: damaged, not initialised, or made for other labels."""


class StaleError(IobesError):
    """A decision about something that has changed meanwhile; ask again."""


class SettingError(IobesError, ValueError):
    """A setting has a value that it cannot have."""


class OptionError(SettingError):
    """An option or argument, `option`, that cannot be had, or not beside the others."""

    def __init__(self, message: str, option: str):
        super().__init__(message)
        self.option = option


class CorpusError(IobesError, ValueError):
    """A corpus lacks what the work needs."""


class FileError(IobesError):
    """A file that cannot be read or written; `path` and, where known, `line` say where."""

    def __init__(self, message: str, path: str = "", line: int | None = None):
        super().__init__(message)
        self.path = path
        self.line = line


class ColumnError(FileError):
    """A line that does not have the columns that the file has elsewhere."""


class MalformedTagsWarning(UserWarning):
    """Malformed tags that somebody only wants to be warned of."""
