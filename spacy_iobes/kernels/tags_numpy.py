"""Tag sequences as arrays, in numpy: the readable twin of `_tags.pyx`, with the same contract.

Sentences lie end to end: sentence `s` is `codes[offsets[s]:offsets[s + 1]]`. N tokens, S sentences,
V different tags, M spans.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from ..arrays import Ints, Offsets, Table
from . import bits

FAR = 1 << 60  # further than any legal sequence


def encode(sequences: Iterable[Sequence[str]], vocabulary: dict[str, int]) -> tuple[Ints, Offsets]:
    """Replace every tag by its number in `vocabulary`, which grows by the tags it did not have."""
    codes: list[int] = []
    offsets = [0]
    for s, sequence in enumerate(sequences):
        if isinstance(sequence, (str, bytes)):
            raise TypeError(
                f"The tags of a sentence are a list of str, but sentence {s} is {sequence!r}."
            )
        for i, tag in enumerate(sequence):
            if not isinstance(tag, str):
                raise TypeError(f"Sentence {s}, token {i}: a tag is a str, not {tag!r}.")
            text = str.__str__(tag)  # the characters, whatever a subclass prints
            codes.append(vocabulary.setdefault(text, len(vocabulary)))
        offsets.append(len(codes))
    return np.array(codes, dtype=np.int32), np.array(offsets, dtype=np.int64)


def lists(codes: Ints, offsets: Offsets, tags: Sequence[str]) -> list[list[str]]:
    """The tags of every sentence as a list of str."""
    every = [tags[code] for code in codes.tolist()]
    bounds = offsets.tolist()
    return [every[a:b] for a, b in pairwise(bounds)]


def _gaps(codes: Ints, offsets: Offsets, packed: Ints, table: Table) -> tuple[Table, Ints, Offsets]:
    """The bits of all N + S gaps, the token or edge behind each, and where each sentence begins.

    Sentence `s` has the gaps `offsets[s] + s` to `offsets[s + 1] + s`; its token `i` stands behind
    gap `offsets[s] + s + i`.
    """
    sentences = len(offsets) - 1
    begins = offsets + np.arange(sentences + 1)
    behind = np.full(len(codes) + sentences + 1, bits.pack(-1, bits.EDGE), dtype=np.int32)
    inner = np.ones(len(behind), dtype=bool)
    inner[begins[1:] - 1] = False
    inner[-1] = False
    behind[inner] = packed[codes]
    before = np.roll(behind, 1)  # what stands before a sentence's first token is the edge
    same = (before >> 3 == behind >> 3).astype(np.intp)
    return table[same, before & 7, behind & 7][:-1], behind[:-1], begins


def violations(codes: Ints, offsets: Offsets, packed: Ints, table: Table) -> tuple[Ints, Ints]:
    """The illegal gaps: the sentence of each, and in it the token behind the gap."""
    gaps, _, begins = _gaps(codes, offsets, packed, table)
    at = np.flatnonzero(gaps & bits.ILLEGAL)
    sentence = np.searchsorted(begins, at, side="right") - 1
    return sentence.astype(np.int32), (at - begins[sentence]).astype(np.int32)


def decode(
    codes: Ints, offsets: Offsets, packed: Ints, table: Table, first: bool
) -> tuple[tuple[Ints, Ints, Ints, Ints], int]:
    """The spans that the table finds (sentence, start, end, label), and how many gaps are illegal.

    A span opens at START and lasts to the next END. Its label is that of its `first` token, or else
    of its last one.
    """
    gaps, behind, begins = _gaps(codes, offsets, packed, table)
    starts = np.flatnonzero(gaps & bits.START)
    ends = np.flatnonzero(gaps & bits.END)
    ends = ends[np.searchsorted(ends, starts, side="right")]
    kept = (gaps[starts] & bits.LOSE_RIGHT == 0) & (gaps[ends] & bits.LOSE_LEFT == 0)
    starts, ends = starts[kept], ends[kept]
    ends = np.where(gaps[ends] & bits.CUT, starts + 1, ends)
    sentence = np.searchsorted(begins, starts, side="right") - 1
    label = behind[starts if first else ends - 1] >> 3
    columns = sentence, starts - begins[sentence], ends - begins[sentence], label
    a, b, c, d = (column.astype(np.int32) for column in columns)
    return (a, b, c, d), int(np.count_nonzero(gaps & bits.ILLEGAL))


def write(
    sentence: Ints,
    start: Ints,
    end: Ints,
    label: Ints,
    offsets: Offsets,
    symbols: Table,
    after: int,
    width: int,
) -> tuple[Ints, int]:
    """Tag codes for sorted, disjoint spans, and the first span that the scheme cannot tell apart.

    Code 0 is `O`; a prefix `symbol` of label `l` is `1 + l * width + symbol - FIRST`. `symbols` is
    `uint8[left gap, right gap]`, gaps being 0 join, 1 split, 2 meet, 0 where there is no prefix;
    `after` is the symbol for the token after a span, or 0. The second result is -1 if all is well.
    """
    codes = np.zeros(int(offsets[-1]), dtype=np.int32)
    if not len(start):
        return codes, -1
    base = 1 + label * width - bits.FIRST
    first = offsets[sentence] + start
    stop = offsets[sentence] + end
    # right: the gap behind each span. Two spans that touch with one label SPLIT, all else MEETs.
    touch = (sentence[1:] == sentence[:-1]) & (start[1:] == end[:-1])
    split = np.where(touch & (label[1:] == label[:-1]), 1, 2)
    left = np.concatenate([[2], split])
    right = np.concatenate([split, [2]])
    single = stop - first == 1
    begin = np.where(single, symbols[left, right], symbols[left, 0])
    finish = np.where(single, symbols[left, right], symbols[0, right])
    bad = np.flatnonzero((begin == 0) | (finish == 0))
    if len(bad):
        return codes, int(bad[0])
    if after:
        free = (stop < offsets[sentence + 1]) & ~np.concatenate([touch, [False]])
        codes[stop[free]] = base[free] + after
    length = stop - first
    cumulated = np.cumsum(length)
    inner = np.arange(cumulated[-1]) + np.repeat(first - (cumulated - length), length)
    codes[inner] = np.repeat(base + symbols[0, 0], length)
    codes[first] = base + begin
    codes[stop - 1] = base + finish
    return codes, -1


def nearest(
    tokens: Ints, offsets: Offsets, legal: Table, width: int, inside: int, silent: int = 0
) -> Ints:
    """The legal sequence with the fewest changed tags, as packed tags.

    `tokens` are packed and readable, `legal` is `uint8[same label, previous, current]`, `width` the
    number of prefixes, of which the first `inside` belong to spans. Of several sequences, those in
    which the fewest tokens change their label (outside of spans they have none); of these, the one
    that comes first when read from the left, where a token prefers its own tag, then its label with
    another prefix, then `O`, then the other labels in the order in which the sentence has them.
    The symbols in `silent`, a bit for each, are written `O`, and count as that.
    """
    out: Ints = tokens.copy()
    bounds = offsets.tolist()
    for a, b in pairwise(bounds):
        if b > a:
            out[a:b] = _nearest(tokens[a:b], legal, width, inside, silent)
    return out


def _nearest(tokens: Ints, legal: Table, width: int, inside: int, silent: int) -> Ints:
    """`nearest` for one sentence: distances from the right, then choices from the left."""
    names = list(dict.fromkeys(label for label in (tokens >> 3).tolist() if label >= 0))
    # the K states: O, then the prefixes of each label in the order of the sentence
    states = [bits.pack(-1, bits.OUTSIDE)] + [
        bits.pack(label, bits.FIRST + p) for label in names for p in range(width)
    ]
    packed = np.array(states, dtype=np.int32)  # [K]
    symbol, label = packed & 7, packed >> 3
    written = np.where(silent >> symbol & 1, states[0], packed)  # what text has for a state
    # the label of a token in a span, as far as text says so
    member = np.where(written & 7 < bits.FIRST + inside, written >> 3, -1)
    own_member = np.where(tokens & 7 < bits.FIRST + inside, tokens >> 3, -1)
    change = len(tokens) + 1  # one changed tag weighs more than all changed labels
    same = (label[:, None] == label[None, :]).astype(np.intp)
    step = np.where(legal[same, symbol[:, None], symbol[None, :]], 0, FAR)  # [K, K], from and to
    # far[i, k]: the weight of all changes from token i to the end if token i is in state k
    far = np.zeros((len(tokens), len(packed)), dtype=np.int64)
    ahead = np.where(legal[0, symbol, bits.EDGE], 0, FAR)
    for i in range(len(tokens) - 1, -1, -1):
        weight = np.where(written == tokens[i], 0, change + (member != own_member[i]))
        far[i] = np.minimum(ahead + weight, FAR)
        ahead = (step + far[i][None, :]).min(axis=1)
    out = np.empty_like(tokens)
    allowed = np.where(legal[0, bits.EDGE, symbol], 0, FAR)
    for i, token in enumerate(tokens.tolist()):
        other = np.where(written >> 3 == token >> 3, 1, 2 + (written >= 0))
        rank = np.where(written == token, 0, other)
        chosen = np.lexsort((rank, np.minimum(allowed + far[i], FAR)))[0]
        out[i] = packed[chosen]
        allowed = step[chosen]
    return out


def align(
    gold: tuple[Ints, Ints, Ints, Ints], predicted: tuple[Ints, Ints, Ints, Ints], by_label: bool
) -> tuple[Ints, int]:
    """Pair predicted spans with gold ones: the gold span of each prediction or -1, and how many
    of the pairs are equal.

    Both are (sentence, start, end, label), sorted in that order, no span twice. First all equal
    spans are paired. Then every prediction that is left takes, in order, one of the gold spans that
    are left and share a token with it: the first with the same boundaries, or else the first of
    all; with `by_label` the one of the same label whose boundaries are nearest, or else the first
    of all. The time grows with the pairs of spans that overlap, not with the length
    of a sentence.
    """
    rows = list(zip(*(column.tolist() for column in gold)))
    places = {row: i for i, row in enumerate(rows)}
    wanted = list(zip(*(column.tolist() for column in predicted)))
    partner = [places.get(row, -1) for row in wanted]
    taken = {i for i in partner if i >= 0}
    equal = len(taken)
    after = [*range(1, len(rows) + 1), 0]  # a linked list of gold spans; its last entry is the head
    for k, (sentence, start, end, label) in enumerate(wanted):
        if partner[k] >= 0:
            continue
        while after[-1] < len(rows) and rows[after[-1]][0] < sentence:
            after[-1] = after[after[-1]]
        near = _overlapping(rows, after, taken, wanted[k])
        if near:
            distances = {i: abs(rows[i][1] - start) + abs(rows[i][2] - end) for i in near}
            if by_label:
                first = [i for i in near if rows[i][3] == label]
                first.sort(key=distances.__getitem__)
            else:
                first = [i for i in near if not distances[i]]
            partner[k] = (first or near)[0]
            taken.add(partner[k])
    return np.array(partner, dtype=np.int32), equal


def _overlapping(
    rows: list[tuple[int, ...]], after: list[int], taken: set[int], span: tuple[int, ...]
) -> list[int]:
    """The gold spans that are left and share a token with `span`, from the linked list `after`.

    Those that are taken, or end before `span` starts, leave the list: no later prediction starts
    earlier.
    """
    sentence, start, end, _ = span
    found = []
    last, i = -1, after[-1]
    while i < len(rows) and rows[i][0] == sentence and rows[i][1] < end:
        if i in taken or rows[i][2] <= start:
            after[last] = after[i]
        else:
            found.append(i)
            last = i
        i = after[i]
    return found
