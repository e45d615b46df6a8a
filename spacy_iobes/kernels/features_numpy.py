"""Hashed features in numpy: what the compiled kernel does, to be read.

A feature is a few values of tokens near a token, mixed to a number; `-1` means that there is none.
Features that were seen in training have a row of weights, one for each state.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Ints, Offsets, Singles, Values

BEFORE, AFTER = 0x9E6C63D0876A9A47, 0xD1B54A32D192ED03  # the values of what is not in the Doc
PRIME = 0x9E3779B97F4A7C15
MORE, MOST = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB  # with the prime: SplitMix64
CHANCES = 1 << 16  # what a chance is a share of
TINY = 1e-8


def number(words: Values, keys: Values, numbers: Ints, count: int) -> tuple[Ints, int]:
    """The number of each word `[N]`; new words get the next ones. Returns the new count too.

    `keys` and `numbers` are a hash table of more slots than there will be words, a power of two. A
    word is in the first slot from its lowest bits on that is its own or, with the number -1, free.
    """
    last = len(keys) - 1
    found = np.empty(len(words), dtype=np.int32)
    for n, word in enumerate(words.tolist()):
        slot = word & last
        while numbers[slot] >= 0 and keys[slot] != word:
            slot = (slot + 1) & last
        if numbers[slot] < 0:
            keys[slot], numbers[slot] = word, count
            count += 1
        found[n] = numbers[slot]
    return found, count


def mix(
    values: Values,  # [V, A]: the attributes of every word; 0: it has none
    tokens: Ints,  # [N]: the word of every token
    own: Values,  # [N, B]: further attributes, A and up, of every token
    offsets: Offsets,  # [D + 1]: Doc d has the tokens offsets[d]:offsets[d + 1]
    seeds: Values,  # [F]: a number for every template
    parts: Ints,  # [P, 2]: an attribute, and at which distance from the token
    bounds: Ints,  # [F + 1]: template f has the parts bounds[f]:bounds[f + 1]
    bits: int,
    gaps: bool = False,
) -> Ints:
    """The features `[N, F]` of all tokens as numbers below `2 ** bits`.

    With `gaps`, those `[N + D, F]` of the gaps before every token of a Doc and behind its last one:
    the token behind a gap is at the distance 0.
    """
    more = int(gaps)
    lengths = np.diff(offsets) + more
    start, end = (np.repeat(edge, lengths) for edge in (offsets[:-1], offsets[1:]))
    here = np.arange(len(start)) - more * np.repeat(np.arange(len(lengths)), lengths)
    ids = np.empty((len(start), len(seeds)), dtype=np.int32)
    for f, seed in enumerate(seeds):
        mixed = np.full(len(start), seed)
        there = np.ones(len(start), dtype=bool)
        for attribute, distance in parts[bounds[f] : bounds[f + 1]]:
            at = here + distance
            value = np.where(at < start, np.uint64(BEFORE), np.uint64(AFTER))
            inside = (start <= at) & (at < end)
            if attribute < values.shape[1]:
                value[inside] = values[tokens[at[inside]], attribute]
            else:
                value[inside] = own[at[inside], attribute - values.shape[1]]
            there &= value != 0
            mixed = (mixed ^ value) * np.uint64(PRIME)
            mixed ^= mixed >> np.uint64(29)
        number = (mixed * np.uint64(PRIME)) >> np.uint64(64 - bits)
        ids[:, f] = np.where(there, number.astype(np.int64), -1)
    return ids


def find(ids: Ints, places: Ints) -> None:
    """Put the rows of features, `places[2 ** bits]`, in place of the features; -1: it has none."""
    there = ids >= 0
    ids[there] = places[ids[there]]


def place(ids: Ints, places: Ints, used: Ints, count: int) -> int:
    """The same, but features that have no row get one, in the order in which they come.

    `used[:count]` are the features that have a row; there is room for all. Returns the new count.
    """
    numbers = ids[ids >= 0]
    new, first = np.unique(numbers[places[numbers] < 0], return_index=True)
    new = new[first.argsort()]
    end = count + len(new)
    places[new], used[count:end] = np.arange(count, end), new
    find(ids, places)
    return end


def drop(ids: Ints, first: int, share: int) -> int:
    """Leave each feature out with a chance of `share` in `CHANCES`; the others move to the front.

    It is by the random numbers of SplitMix64 from `first` on, each of which is enough for four
    features. Returns how many of them were used. What is left out, or was not there, is -1, all of
    it behind the rest, so that it is not met by surprise.
    """
    used = -(-ids.size // 4)
    mixed = (np.uint64(first) + np.arange(1, used + 1, dtype=np.uint64)) * np.uint64(PRIME)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(MORE)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(MOST)
    mixed ^= mixed >> np.uint64(31)
    four = (mixed[:, None] >> np.arange(0, 64, 16, dtype=np.uint64)) % np.uint64(CHANCES)
    ids[(four.ravel()[: ids.size] < share).reshape(ids.shape)] = -1
    ids[:] = np.take_along_axis(ids, np.argsort(ids < 0, axis=1, kind="stable"), axis=1)
    return used


def emit(weights: Singles, rows: Ints, scale: float = 1.0) -> Singles:
    """The sum of the weights `[C, K]` of the rows `[N, F]` of every token, times the scale."""
    scores = np.zeros((len(rows), weights.shape[1]), dtype=np.float32)
    for column in rows.T:
        there = column >= 0
        scores[there] += weights[column[there]]
    scores *= np.float32(scale)
    return scores


def step(
    weights: Singles,  # [C, K]: changed
    squares: Singles,  # [C]: the squared gradients of each row, summed; changed
    moved: Singles,  # [C, K]: every change times the `past` of its step, summed; changed
    scratch: Ints,  # [C]: -1, before and after
    rows: Ints,  # [N, F]
    gradient: Singles,  # [N, K]
    members: Ints,  # states that learn from each other, group by group
    bounds: Ints,  # [G + 1]: group g has the members bounds[g]:bounds[g + 1]
    rate: float,
    l2: float,
    past: float,
) -> None:
    """One step of AdaGrad, with one step size for each row, on the rows that occur.

    The states of a group are as if each had a weight of its own and another one that all of them
    have, which are added up: what one of them learns, the others learn too. A state may be in
    several groups.
    """
    if gradient.shape != (len(rows), weights.shape[1]):
        raise ValueError("The gradient has another shape than the scores.")
    there = rows >= 0
    touched, which = np.unique(rows[there], return_inverse=True)
    summed = np.zeros((len(touched), weights.shape[1]), dtype=np.float32)
    np.add.at(summed, which, np.repeat(gradient, there.sum(axis=1), axis=0))
    summed += np.float32(l2) * weights[touched]
    groups = len(bounds) - 1
    belongs = np.zeros((weights.shape[1], groups), dtype=np.float32)
    belongs[members, np.repeat(np.arange(groups), np.diff(bounds))] = 1
    together = summed @ belongs
    squares[touched] += (summed**2).sum(axis=1) + (together**2).sum(axis=1)
    pace = np.float32(rate) / (np.sqrt(squares[touched]) + np.float32(TINY))
    change = pace[:, None] * (summed + together @ belongs.T)
    weights[touched] -= change
    moved[touched] -= np.float32(past) * change
