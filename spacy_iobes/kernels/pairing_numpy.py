"""Begins and ends put together: what the compiled kernel does, to be read."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ..arrays import Floats, Ints, Offsets


def pair(
    first: Floats, last: Floats, lengths: Floats, offsets: Offsets
) -> tuple[Ints, Ints, Ints, Ints, Floats]:
    """The disjoint spans with the highest sum of scores: sentence, start, end, label and score.

    A span of label `t` over the tokens from `s` to `e` scores `first[s, t] + last[e - 1, t] +
    lengths[t, e - s - 1]`; minus infinity rules it out, as does a length that has no column. Of
    equal sums, fewer and then shorter spans are taken, going from left to right.
    """
    rows: list[tuple[int, int, int, int]] = []
    scores: list[float] = []
    longest = lengths.shape[1]
    for sentence, (begin, stop) in enumerate(pairwise(offsets.tolist())):
        size = stop - begin
        best = np.zeros(size + 1)  # of the tokens before a gap
        taken: list[tuple[int, int, float] | None] = [None] * (size + 1)
        for end in range(1, size + 1):
            best[end] = best[end - 1]
            starts = np.arange(end - 1, max(end - longest, 0) - 1, -1)  # short spans first
            columns = lengths[:, : len(starts)].T
            found = first[begin + starts] + last[begin + end - 1] + columns  # [spans, T]
            sums = best[starts][:, None] + found
            at = int(sums.argmax()) if sums.size else 0
            if sums.size and sums.flat[at] > best[end]:
                place, label = divmod(at, sums.shape[1])
                best[end] = sums.flat[at]
                taken[end] = end - 1 - place, label, float(found.flat[at])
        end, members = size, []
        while end:
            chosen = taken[end]
            if chosen is None:
                end -= 1
            else:
                start, label, score = chosen
                members.append(((sentence, start, end, label), score))
                end = start
        for row, score in reversed(members):
            rows.append(row)
            scores.append(score)
    table = np.array(rows, dtype=np.int32).reshape(-1, 4)
    a, b, c, d = (np.ascontiguousarray(column) for column in table.T)
    return a, b, c, d, np.array(scores, dtype=np.float64)
