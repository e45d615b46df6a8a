"""The tags of many sentences as columns; Python objects are only built for those who iterate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import kernels
from ..arrays import Ints, Offsets, integers, sentence_bounds
from ..errors import UnreadableTagError
from ..kernels import bits
from .scheme import Scheme
from .tables import Packed, pack_tags
from .violation import BLOCKED, MISSING, NO_TAG, Violation, explain, violation


def listed(what: str, values: Iterable[str]) -> list[str]:
    """The strings in a list; a string alone is refused, or its letters would be taken for them."""
    found = list(values)
    if isinstance(values, str) or not all(isinstance(value, str) for value in found):
        raise TypeError(f"The {what} are a list of str, not {values!r}.")
    return found


@dataclass(frozen=True, eq=False)
class CodedTags:
    """Tags as integers: sentence `s` has the tags `tags[c]` for `c` in its slice of `codes`.

    The slice is `codes[offsets[s]:offsets[s + 1]]`. Every `*_many` function takes this in place of
    lists of lists of str, and `convert_many` then returns it too.
    """

    codes: Ints
    offsets: Offsets
    tags: tuple[str, ...]

    def __post_init__(self) -> None:
        tags = tuple(listed("tags", self.tags))
        codes = integers("codes", self.codes, np.int32)
        offsets = integers("offsets", self.offsets, np.int64)
        if not len(offsets):
            raise ValueError("There is one offset more than there are sentences, so at least one.")
        if offsets[0] != 0 or offsets[-1] != len(codes) or (np.diff(offsets) < 0).any():
            raise ValueError(f"Offsets rise from 0 to the number of codes, which is {len(codes)}.")
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(tags):
            raise ValueError(f"Codes lie between 0 and {len(tags) - 1}, one for each tag.")
        self.__dict__.update(codes=codes, offsets=offsets, tags=tags)

    @classmethod
    def trusted(cls, codes: Ints, offsets: Offsets, tags: tuple[str, ...]) -> CodedTags:
        """What a kernel made, which needs no check."""
        codes.setflags(write=False)
        coded = cls.__new__(cls)
        coded.__dict__.update(codes=codes, offsets=offsets, tags=tags)
        return coded

    @classmethod
    def from_lengths(cls, codes: ArrayLike, lengths: ArrayLike, tags: Iterable[str]) -> CodedTags:
        """Codes laid end to end, and the length of every sentence."""
        offsets = np.concatenate([[0], np.cumsum(integers("lengths", lengths, np.int64))])
        return cls(np.asarray(codes), offsets, tags if isinstance(tags, tuple) else tuple(tags))

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[list[str]]:
        return iter(self.lists())

    def __getitem__(self, some: slice) -> CodedTags:
        """Some of the sentences."""
        begin, end, step = some.indices(len(self))
        if step != 1:
            raise ValueError("Sentences are taken in a row: a slice has no step.")
        bounds = self.offsets[begin : max(begin, end) + 1]
        codes = self.codes[bounds[0] : bounds[-1]]
        return CodedTags.trusted(codes, bounds - bounds[0], self.tags)

    def lists(self) -> list[list[str]]:
        """The tags as lists of str, one for each sentence."""
        return kernels.lists(self.codes, self.offsets, self.tags)

    def tag(self, sentence: int, index: int) -> str | None:
        """One tag; None beyond either end of the sentence."""
        at = self.offsets[sentence] + index
        inside = self.offsets[sentence] <= at < self.offsets[sentence + 1]
        return self.tags[self.codes[at]] if inside else None

    def packed(self, scheme: Scheme) -> Packed:
        """The tags as the kernels read them; raises if a token has one the scheme cannot read.

        `-` and `!` are no tags of any scheme, but mark tokens that have none.
        """
        packed = pack_tags(self.tags, scheme)
        if not packed.readable:
            absent = [tag in (MISSING, BLOCKED) for tag in self.tags]
            strange = (packed.tags & 7 == bits.UNREADABLE) & ~np.array(absent)
            for at in np.flatnonzero(strange[self.codes])[:1].tolist():
                sentence = int(np.searchsorted(self.offsets, at, side="right")) - 1
                index = at - int(self.offsets[sentence])
                tag = self.tags[self.codes[at]]
                where = f"sentence {sentence}, token {index}" if len(self) > 1 else f"token {index}"
                reason = f"{explain(scheme, None, tag)[1]}. No policy repairs that."
                raise UnreadableTagError(f"{where}: {reason}", tag, sentence, index, reason)
        return packed


Tags = Sequence[Sequence[str]] | Iterable[Sequence[str]] | CodedTags
"""What the `*_many` functions take."""


def code_tags(sequences: Tags) -> CodedTags:
    """Turn lists of lists of str into integers; what is coded already stays as it is."""
    if isinstance(sequences, CodedTags):
        return sequences
    if isinstance(sequences, (str, bytes)):
        raise TypeError(f"Expected sentences, each a list of tags, not the string {sequences!r}.")
    vocabulary: dict[str, int] = {}
    codes, offsets = kernels.encode(sequences, vocabulary)
    return CodedTags.trusted(codes, offsets, tuple(vocabulary))


def different(old: CodedTags, new: CodedTags) -> NDArray[np.bool_]:
    """Which tokens have another tag now, whatever numbers the tags have on both sides."""
    numbers = {tag: number for number, tag in enumerate(old.tags)}
    same = np.array([numbers.get(tag, -1) for tag in new.tags], dtype=np.int32)
    changed: NDArray[np.bool_] = same[new.codes] != old.codes
    return changed


@dataclass(frozen=True, eq=False)
class ViolationColumns:
    """The violations of many sentences, one row each: their sentence and the token behind the gap.

    Iterating gives one list of `Violation` for each sentence, `len()` the number of sentences,
    `total` the number of violations.
    """

    sentence: Ints
    index: Ints
    source: CodedTags
    scheme: Scheme

    @property
    def total(self) -> int:
        """How many violations there are."""
        return len(self.sentence)

    def __len__(self) -> int:
        return len(self.source)

    def rows(self, some: slice = slice(None)) -> Iterator[tuple[int, Violation]]:
        """Every violation, or some of them, with the number of its sentence."""
        for sentence, index in zip(self.sentence[some].tolist(), self.index[some].tolist()):
            around = [self.source.tag(sentence, i) for i in (index - 1, index)]
            previous, current = (None if tag in (MISSING, BLOCKED) else tag for tag in around)
            before, behind = (NO_TAG if tag in (MISSING, BLOCKED) else "" for tag in around)
            yield sentence, violation(self.scheme, index, previous, current, (before, behind))

    def __iter__(self) -> Iterator[list[Violation]]:
        found = [violation for _, violation in self.rows()]
        bounds = sentence_bounds(self.sentence, len(self))
        return (found[a:b] for a, b in pairwise(bounds))

    def __getitem__(self, sentence: int) -> list[Violation]:
        number = range(len(self))[sentence]
        a, b = (int(self.sentence.searchsorted(s)) for s in (number, number + 1))
        return [violation for _, violation in self.rows(slice(a, b))]
