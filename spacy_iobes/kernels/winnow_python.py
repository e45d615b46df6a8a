"""Balanced Winnow token by token: what the compiled kernel does, to be read."""

from __future__ import annotations

import numpy as np

from ..arrays import Ints, Offsets, Singles


def winnow(
    weights: Singles,  # [R, 2, C]: the positive and the negative weights of every row; changed
    moved: Singles,  # [R, 2, C]: every change times the square of when it was, summed; changed
    rows: Ints,  # [N, F]: the rows of the features of each token; -1: there is none
    order: Offsets,  # [M]: the tokens as they come
    right: Ints,  # [N, H]: the right class of every choice
    bounds: Ints,  # [H + 1]: choice h has the classes bounds[h]:bounds[h + 1]
    alpha: float,
    beta: float,
    threshold: float,
    most: float,
    past: int,  # how many tokens came before
) -> tuple[int, Singles]:
    """Meet tokens, and change the weights of their features where that is called for.

    The score of a class is the mean, over the features of a token, of its positive weight less its
    negative one. A choice is a mistake unless the score of its right class is above those of all
    others by more than `threshold`. After a mistake the right class is promoted: positive weights
    are multiplied by `alpha`, negative ones by `beta`; and each other class that is not below it by
    more than `threshold` is demoted: the other way round. No weight leaves `1 / most` to `most`.
    Returns the number of mistakes, and the scores `[M, C]` that each token had when it came.
    """
    scores = np.zeros((len(order), weights.shape[2]), dtype=np.float32)
    least, most = np.float32(1 / np.float32(most)), np.float32(most)
    up, down, thick = np.float32(alpha), np.float32(beta), np.float32(threshold)
    mistakes = 0
    for score, token in zip(scores, order.tolist()):
        past += 1
        mine = rows[token][rows[token] >= 0]
        if not len(mine):
            continue
        for positive, negative in weights[mine]:
            score += positive - negative
        score /= np.float32(len(mine))
        factors = np.ones(weights.shape[1:], dtype=np.float32)
        for h, wanted in enumerate(right[token].tolist()):
            others = np.arange(bounds[h], bounds[h + 1])
            others = others[others != wanted]
            near = others[score[wanted] - score[others] <= thick]
            if len(near):
                mistakes += 1
                factors[:, wanted] = up, down
                factors[:, near] = [[down], [up]]
        changed = factors[0] != 1
        for row in mine.tolist():
            old = weights[row]
            new = np.where(changed, np.clip(old * factors, least, most), old)
            moved[row] += np.float32(float(past) * past) * (new - old)
            weights[row] = new
    return mistakes, scores
