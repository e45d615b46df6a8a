"""The most probable legal tags, where a model gave scores for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import kernels
from ..errors import AlignmentError, TagError
from .annotated_runs import annotated_runs
from .parse import validate_many
from .scheme import OUTSIDE, Scheme
from .tables import pack_tags
from .tag import join_tag
from .tag_columns import CodedTags, listed
from .transitions import mask, require_readable


@dataclass(frozen=True, eq=False, init=False)
class TagScores:
    """What a model thinks of a sentence: `values[token, tag]`, logits or log-probabilities.

    `tags` name the columns. Minus infinity rules a tag out.
    """

    tags: tuple[str, ...]
    values: NDArray[np.float64]

    def __init__(self, tags: Sequence[str], values: ArrayLike):
        names, rows = tuple(listed("tags", tags)), np.asarray(values, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise AlignmentError(
                f"Scores have a row for each token and a column for each of {len(names)} tags, "
                f"but their shape is {rows.shape}."
            )
        if len(set(names)) < len(names):
            raise AlignmentError(f"Every column of scores has a tag of its own, not {names}.")
        if np.isnan(rows).any() or (rows == np.inf).any():
            raise TagError("Scores are numbers or minus infinity; these hold NaN or infinity.")
        self.__dict__.update(tags=names, values=rows)

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, float]]) -> TagScores:
        """Scores from one mapping of tags for each token; a tag that is not in it is ruled out."""
        tags = tuple(dict.fromkeys(tag for row in rows for tag in row))
        values = [[row.get(tag, -np.inf) for tag in tags] for row in rows]
        return cls(tags, np.array(values, dtype=np.float64).reshape(len(rows), len(tags)))


def weighed(coded: CodedTags, scheme: Scheme, scores: Sequence[TagScores]) -> CodedTags:
    """Return the sentences with malformed ones replaced by their most probable legal tags.

    Tokens that are missing or blocked stay so; what lies between them is replaced where malformed.
    """
    if len(scores) != len(coded):
        raise AlignmentError(f"{len(coded)} sentences, but scores for {len(scores)}.")
    lists, runs = coded.lists(), annotated_runs(coded)
    for run in np.unique(validate_many(runs.tags, scheme).sentence).tolist():
        length = int(np.diff(runs.tags.offsets[run : run + 2])[0])
        sentence, first = runs.token(int(runs.tags.offsets[run]))
        place = f"sentence {sentence}: " if len(coded) > 1 else ""
        tags, given = lists[sentence], scores[sentence]
        if len(given.values) != len(tags):
            message = f"{place}{len(tags)} tokens, but scores for {len(given.values)}."
            raise AlignmentError(message)
        rows = TagScores(given.tags, given.values[first : first + length])
        tags[first : first + length] = best_tags(rows, scheme, place)
    vocabulary: dict[str, int] = {}
    codes, offsets = kernels.encode(lists, vocabulary)
    return CodedTags.trusted(codes, offsets, tuple(vocabulary))


def best_tags(scores: TagScores, scheme: Scheme, place: str = "") -> list[str]:
    """Return the legal tags of a sentence whose scores have the highest sum."""
    length = len(scores.values)
    names, values = with_silent(scores, scheme)
    legal = mask(names, scheme)
    start, step, stop = (
        np.where(part, 0.0, -np.inf) for part in (legal.start, legal.step, legal.stop)
    )
    offsets = np.array([0, length], dtype=np.int64)
    path, peak = kernels.best(values, offsets, start, step[None], stop, None)
    if length and peak[0] == -np.inf:
        raise TagError(
            f"{place}no legal {scheme.name} sequence has a score: too many tags are ruled out, or "
            "the columns lack a tag that the others need (an E for every B, for example)."
        )
    return [OUTSIDE if state >= len(scores.tags) else names[state] for state in path.tolist()]


def with_silent(scores: TagScores, scheme: Scheme) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """The tags with the silent ones behind them, which have the scores of the `O` that is written.

    Where `O` is ruled out, so are they.
    """
    packed = pack_tags(scores.tags, scheme)
    require_readable(scores.tags, packed.tags, scheme)
    more = tuple(join_tag(prefix, label) for prefix in scheme.silent for label in packed.labels)
    if not more:
        return scores.tags, scores.values
    absent = np.full(len(scores.values), -np.inf)
    found = scores.tags.index(OUTSIDE) if OUTSIDE in scores.tags else None
    outside = absent if found is None else scores.values[:, found]
    columns = [scores.values, np.repeat(outside[:, None], len(more), axis=1)]
    return (*scores.tags, *more), np.concatenate(columns, axis=1)
