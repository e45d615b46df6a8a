"""The tags of be as two sequences: what begins at each token, and what ends there."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import AlignmentError, TagError, UnreadableTagError
from .classes import classes
from .scheme import OUTSIDE, Scheme, get_scheme
from .tag import join_tag, read_tag
from .tag_columns import listed
from .violation import explain


def class_count(labels: int, scheme: str | Scheme) -> int:
    """How many classes there are to choose from with so many labels: `2 (n + 1)` in be."""
    return len(classes(map(str, range(labels)), scheme).names)


def begins_and_ends(
    tags: Sequence[str], scheme: str | Scheme = "be"
) -> tuple[list[str], list[str]]:
    """What begins at each token, `O` or `B-x`, and what ends there, `O` or `E-x`; legal or not."""
    found = _of_two(scheme)
    sides: tuple[list[str], list[str]] = [], []
    for index, tag in enumerate(listed("tags", tags)):
        parts = read_tag(tag, found)
        if parts is None:
            reason = explain(found, None, tag)[1]
            raise UnreadableTagError(f"token {index}: {reason}.", tag, 0, index, reason)
        prefix, label = parts
        for letter, side in zip(found.choices, sides):
            side.append(join_tag(letter, label) if letter in prefix else OUTSIDE)
    return sides


def from_begins_and_ends(
    begins: Sequence[str], ends: Sequence[str], scheme: str | Scheme = "be"
) -> list[str]:
    """One sequence of tags out of two; legal if both are.

    A token that begins one label and ends another has no tag. Where classifiers may say so, it is
    `chain.pairing` that puts them together.
    """
    found = _of_two(scheme)
    sides = listed("begins", begins), listed("ends", ends)
    if len(sides[0]) != len(sides[1]):
        raise AlignmentError(f"{len(sides[0])} begins, but {len(sides[1])} ends.")
    return [_joined(found, index, pair) for index, pair in enumerate(zip(*sides))]


def _joined(scheme: Scheme, index: int, pair: tuple[str, str]) -> str:
    """The tag of one token."""
    for tag, letter in zip(pair, scheme.choices):
        parts = read_tag(tag, scheme)
        if tag != OUTSIDE and (parts is None or parts[0] != letter):
            reason = f"{tag!r} is neither O nor {letter} with a label"
            raise UnreadableTagError(f"token {index}: {reason}.", tag, 0, index, reason)
    said = [(letter, tag) for letter, tag in zip(scheme.choices, pair) if tag != OUTSIDE]
    labels = {tag.partition("-")[2] for _, tag in said}
    if len(labels) > 1:
        raise TagError(
            f"token {index}: {' and '.join(pair)} at one token have no tag in {scheme.name}, since "
            "spans of two labels would share it. Pair them by their probabilities "
            "(spacy_iobes.chain.pairing)."
        )
    chosen = {letter for letter, _ in said}
    for prefix in scheme.written:
        if chosen and {letter for letter in scheme.choices if letter in prefix} == chosen:
            return join_tag(prefix, labels.pop())
    return OUTSIDE


def _of_two(scheme: str | Scheme) -> Scheme:
    """The scheme, if it has two choices."""
    found = get_scheme(scheme)
    if len(found.choices) != 2:
        raise TagError(f"{found.name} is one sequence, not begins and ends: be is two.")
    return found
