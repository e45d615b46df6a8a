"""Which separators agree with what is known of the mentions: those of some tokens may be missing.

Of every label, all mentions at the known tokens are known. Others agree with that if the known ones
are among them, and if all that they say of a known token is what those say: whether one starts with
it, ends with it, or goes on to its neighbours. So a mention that is not known lies in missing
tokens only; but where a known one covers known and missing tokens alike, its known start may also
be that of another which ends at a missing token, and the other way round.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Offsets
from ..errors import ChainError
from ..kernels.separators_numpy import END, GO_ON, KINDS, START, Separators
from .gaps import Gaps
from .spans import Spans


def written(gaps: Gaps, mentions: Spans) -> Separators:
    """The separators of mentions, `[G, L]`."""
    mentions.check(gaps, gaps.labels)
    first, label = gaps.offsets[mentions.sequence], mentions.label
    start, end = first + mentions.start, first + mentions.end
    shape = gaps.scores.shape[:2]
    found, change = np.zeros(shape, dtype=np.uint8), np.zeros(shape, dtype=np.int64)
    np.bitwise_or.at(found, (start, label), START)
    np.bitwise_or.at(found, (end, label), END)
    np.add.at(change, (start + 1, label), 1)  # how many more go on at a gap than at the one before
    np.add.at(change, (end, label), -1)
    found[np.cumsum(change, axis=0) > 0] |= GO_ON
    return found


def agreeing(gaps: Gaps, known: Spans, missing: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """`allowed[G, L, 8]`, for `Gaps.limited`: the separators that agree with the known mentions.

    `missing[N]` are the tokens of which nothing is known, all sentences end to end; or `[N, L]`,
    where that depends on the label.
    """
    required = written(gaps, known)
    before, behind = _neighbours(gaps, missing)
    free = START * behind | END * before | GO_ON * (before & behind)
    least, most = required[..., None], (required | free)[..., None]
    allowed: NDArray[np.bool_] = (KINDS | least == KINDS) & (KINDS & most == KINDS)
    return allowed


def _neighbours(
    gaps: Gaps, missing: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether the token before a gap is missing, and the one behind it, `[G, L]`."""
    tokens = int(gaps.lengths.sum())
    array = np.asarray(missing)
    if array.dtype != np.bool_ or array.shape not in ((tokens,), (tokens, gaps.labels)):
        raise ChainError(
            f"missing is true or false for {tokens} tokens, or for them and {gaps.labels} labels: "
            f"not {array.dtype} {array.shape}."
        )
    before, behind = np.zeros((2, *gaps.scores.shape[:2]), dtype=bool)
    at = _gaps_of_tokens(gaps)
    behind[at] = before[at + 1] = array if array.ndim == 2 else array[:, None]
    return before, behind


def _gaps_of_tokens(gaps: Gaps) -> Offsets:
    """The gap before every token."""
    return np.delete(np.arange(len(gaps.scores)), gaps.offsets[1:] - 1)
