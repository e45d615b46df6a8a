# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Hashed features, compiled: the fast twin of `features_numpy.py`, which says what each does."""

from libc.math cimport sqrtf
from libc.stdint cimport int32_t, int64_t, uint64_t

import numpy as np

from . import features_numpy as _twin

cdef uint64_t BEFORE = _twin.BEFORE
cdef uint64_t AFTER = _twin.AFTER
cdef uint64_t PRIME = _twin.PRIME
cdef uint64_t MORE = _twin.MORE
cdef uint64_t MOST = _twin.MOST
cdef float TINY = _twin.TINY
cdef int SOON = 16  # features that are looked for before they are needed
cdef int AHEAD = 6  # rows that are fetched before they are needed

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define FETCH(place) __builtin_prefetch(place)
    #else
    #define FETCH(place)
    #endif
    """
    void FETCH(const void* place) noexcept nogil


cdef inline void fetch(const float* row, Py_ssize_t states) noexcept nogil:
    """Let a row of weights come nearer, a line of memory at a time."""
    cdef Py_ssize_t k
    for k in range(0, states, 16):
        FETCH(row + k)
    FETCH(row + states - 1)


def number(const uint64_t[::1] words, uint64_t[::1] keys, int32_t[::1] numbers, int32_t count):
    cdef Py_ssize_t n
    cdef uint64_t slot, last = keys.shape[0] - 1
    found = np.empty(words.shape[0], dtype=np.int32)
    cdef int32_t[::1] out = found
    with nogil:
        for n in range(words.shape[0]):
            slot = words[n] & last
            while numbers[slot] >= 0 and keys[slot] != words[n]:
                slot = (slot + 1) & last
            if numbers[slot] < 0:
                keys[slot], numbers[slot] = words[n], count
                count += 1
            out[n] = numbers[slot]
    return found, count


def mix(
    const uint64_t[:, :] values,
    const int32_t[::1] tokens,
    const uint64_t[:, ::1] own,
    const int64_t[::1] offsets,
    const uint64_t[::1] seeds,
    const int32_t[:, ::1] parts,
    const int32_t[::1] bounds,
    int bits,
    bint gaps=False,
):
    cdef Py_ssize_t features = seeds.shape[0], width = values.shape[1]
    cdef Py_ssize_t d, n, f, p, at, start, end, attribute, row = 0
    cdef uint64_t mixed, value
    cdef int shift = 64 - bits
    cdef Py_ssize_t rows = offsets[offsets.shape[0] - 1] + gaps * (offsets.shape[0] - 1)
    ids = np.empty((rows, features), dtype=np.int32)
    cdef int32_t[:, ::1] out = ids
    with nogil:
        for d in range(offsets.shape[0] - 1):
            start, end = offsets[d], offsets[d + 1]
            for n in range(start, end + gaps):
                for f in range(features):
                    mixed = seeds[f]
                    for p in range(bounds[f], bounds[f + 1]):
                        at = n + parts[p, 1]
                        if at < start:
                            value = BEFORE
                        elif at >= end:
                            value = AFTER
                        else:
                            attribute = parts[p, 0]
                            if attribute < width:
                                value = values[tokens[at], attribute]
                            else:
                                value = own[at, attribute - width]
                        if value == 0:
                            out[row, f] = -1
                            break
                        mixed = (mixed ^ value) * PRIME
                        mixed ^= mixed >> 29
                    else:
                        out[row, f] = <int32_t>((mixed * PRIME) >> shift)
                row += 1
    return ids


def find(int32_t[:, ::1] ids, const int32_t[::1] places):
    cdef Py_ssize_t i, size = ids.size
    cdef int32_t* at
    if not size:
        return
    with nogil:
        at = &ids[0, 0]
        for i in range(size):
            if i + SOON < size and at[i + SOON] >= 0:
                FETCH(&places[at[i + SOON]])
            if at[i] >= 0:
                at[i] = places[at[i]]


def place(int32_t[:, ::1] ids, int32_t[::1] places, int32_t[::1] used, int32_t count):
    cdef Py_ssize_t i, size = ids.size
    cdef int32_t number
    cdef int32_t* at
    if not size:
        return count
    with nogil:
        at = &ids[0, 0]
        for i in range(size):
            if i + SOON < size and at[i + SOON] >= 0:
                FETCH(&places[at[i + SOON]])
            number = at[i]
            if number < 0:
                continue
            if places[number] < 0:
                places[number] = count
                used[count] = number
                count += 1
            at[i] = places[number]
    return count


def drop(int32_t[:, ::1] ids, uint64_t first, uint64_t share):
    cdef Py_ssize_t n, f, kept, i = 0, features = ids.shape[1]
    cdef uint64_t mixed = 0
    cdef int32_t* row
    if not ids.size:
        return 0
    with nogil:
        for n in range(ids.shape[0]):
            row = &ids[n, 0]
            kept = 0
            for f in range(features):
                if i & 3 == 0:
                    first += 1
                    mixed = first * PRIME
                    mixed = (mixed ^ (mixed >> 30)) * MORE
                    mixed = (mixed ^ (mixed >> 27)) * MOST
                    mixed ^= mixed >> 31
                row[kept] = row[f]
                kept += (mixed & 0xFFFF >= share) & (row[f] >= 0)
                mixed >>= 16
                i += 1
            for f in range(kept, features):
                row[f] = -1
    return (i + 3) // 4


def emit(const float[:, ::1] weights, const int32_t[:, ::1] rows, float scale=1.0):
    cdef Py_ssize_t states = weights.shape[1], features = rows.shape[1], n, f, k
    cdef int held
    cdef const float* row[4]
    cdef float* sums
    scores = np.zeros((rows.shape[0], states), dtype=np.float32)
    cdef float[:, ::1] out = scores
    if not states:
        return scores
    with nogil:
        for n in range(rows.shape[0]):
            sums = &out[n, 0]
            held = 0
            if n + 1 < rows.shape[0]:
                for f in range(features):
                    if rows[n + 1, f] >= 0:
                        fetch(&weights[rows[n + 1, f], 0], states)
            for f in range(features):
                if rows[n, f] >= 0:
                    row[held] = &weights[rows[n, f], 0]
                    held += 1
                if held == 4:  # at once: each sum is read and written once for all of them
                    for k in range(states):
                        sums[k] += (row[0][k] + row[1][k]) + (row[2][k] + row[3][k])
                    held = 0
            for f in range(held):
                for k in range(states):
                    sums[k] += row[f][k]
            if scale != 1.0:
                for k in range(states):
                    sums[k] *= scale
    return scores


def step(
    float[:, ::1] weights,
    float[::1] squares,
    float[:, ::1] moved,
    int32_t[::1] scratch,
    const int32_t[:, ::1] rows,
    const float[:, ::1] gradient,
    const int32_t[::1] members,
    const int32_t[::1] bounds,
    float rate,
    float l2,
    float past,
):
    cdef Py_ssize_t states = weights.shape[1], n, f, k, u, touched = 0
    cdef Py_ssize_t groups, j
    cdef int32_t row
    cdef float square, pace, change, together
    cdef float[4] parts
    cdef float* sums
    cdef float* weight
    cdef float* move
    cdef const float* mine
    if gradient.shape[0] != rows.shape[0] or gradient.shape[1] != states:
        raise ValueError("The gradient has another shape than the scores.")
    if not rows.size or not states:
        return
    groups = bounds.shape[0] - 1
    # the sum of the gradients of every row that occurs, in the order of their first occurrences
    cdef Py_ssize_t most = min(rows.size, weights.shape[0])
    cdef int32_t[::1] which = np.empty(most, dtype=np.int32)
    cdef float[:, ::1] summed = np.empty((most, states), dtype=np.float32)
    cdef float[::1] more = np.zeros(states, dtype=np.float32)
    with nogil:
        for n in range(rows.shape[0]):
            mine = &gradient[n, 0]
            for f in range(rows.shape[1]):
                row = rows[n, f]
                if row < 0:
                    continue
                if n + 1 < rows.shape[0] and rows[n + 1, f] >= 0:
                    FETCH(&scratch[rows[n + 1, f]])
                if scratch[row] < 0:
                    scratch[row] = <int32_t>touched
                    which[touched] = row
                    sums = &summed[touched, 0]
                    touched += 1
                    for k in range(states):
                        sums[k] = mine[k]
                else:
                    sums = &summed[scratch[row], 0]
                    for k in range(states):
                        sums[k] += mine[k]
        for u in range(touched):
            if u + AHEAD < touched:
                row = which[u + AHEAD]
                fetch(&weights[row, 0], states)
                fetch(&moved[row, 0], states)
                fetch(&squares[row], 1)
            row = which[u]
            scratch[row] = -1
            sums, weight, move = &summed[u, 0], &weights[row, 0], &moved[row, 0]
            square = 0
            if l2 != 0:
                for k in range(states):
                    sums[k] += l2 * weight[k]
            parts[0] = parts[1] = parts[2] = parts[3] = 0
            for k in range(0, states - 3, 4):  # four sums that do not wait for each other
                for j in range(4):
                    parts[j] += sums[k + j] * sums[k + j]
            for k in range(states & ~3, states):
                square += sums[k] * sums[k]
            square += (parts[0] + parts[1]) + (parts[2] + parts[3])
            for k in range(groups):
                together = 0
                for j in range(bounds[k], bounds[k + 1]):
                    together += sums[members[j]]
                square += together * together
                for j in range(bounds[k], bounds[k + 1]):
                    more[members[j]] += together
            squares[row] += square
            pace = rate / (sqrtf(squares[row]) + TINY)
            for k in range(states):
                change = pace * (sums[k] + more[k])
                more[k] = 0
                weight[k] -= change
                move[k] -= past * change
