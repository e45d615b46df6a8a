# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Balanced Winnow, compiled: the fast twin of `winnow_python.py`, which says what it does."""

from libc.stdint cimport int32_t, int64_t

import numpy as np

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define FETCH(place) __builtin_prefetch(place)
    #else
    #define FETCH(place)
    #endif
    """
    void FETCH(const void* place) noexcept nogil


cdef inline void fetch(const float* row, Py_ssize_t size) noexcept nogil:
    """Let the weights of a row come nearer, a line of memory at a time."""
    cdef Py_ssize_t k
    for k in range(0, size, 16):
        FETCH(row + k)
    FETCH(row + size - 1)


cdef Py_ssize_t judge(
    const float* score,
    const int32_t* right,
    const int32_t[::1] bounds,
    float threshold,
    signed char* turn,
) noexcept nogil:
    """How many choices are mistakes; `turn[C]` is 1 for promotion, -1 for demotion, else 0."""
    cdef Py_ssize_t h, c, wanted, mistakes = 0
    cdef bint wrong
    for h in range(bounds.shape[0] - 1):
        wanted = right[h]
        wrong = False
        for c in range(bounds[h], bounds[h + 1]):
            turn[c] = 0
            if c != wanted and score[wanted] - score[c] <= threshold:
                turn[c] = -1
                wrong = True
        if wrong:
            turn[wanted] = 1
            mistakes += 1
    return mistakes


cdef inline void change(
    float* weight, float* move, float factor, float least, float most, float when
) noexcept nogil:
    cdef float new = weight[0] * factor
    new = least if new < least else most if new > most else new
    move[0] += when * (new - weight[0])
    weight[0] = new


def winnow(
    float[:, :, ::1] weights,
    float[:, :, ::1] moved,
    const int32_t[:, ::1] rows,
    const int64_t[::1] order,
    const int32_t[:, ::1] right,
    const int32_t[::1] bounds,
    float alpha,
    float beta,
    float threshold,
    float most,
    int64_t past,
):
    cdef Py_ssize_t classes = weights.shape[2], features = rows.shape[1]
    cdef Py_ssize_t m, n, f, c, count, wrong, mistakes = 0
    cdef int32_t row
    cdef float least = <float>(1 / most), when
    cdef float* score
    cdef float* weight
    cdef float* move
    scores = np.zeros((order.shape[0], classes), dtype=np.float32)
    if not scores.size or not features:
        return 0, scores
    cdef float[:, ::1] out = scores
    cdef signed char[::1] turn = np.zeros(classes, dtype=np.int8)
    with nogil:
        for m in range(order.shape[0]):
            past += 1
            n = order[m]
            if m + 1 < order.shape[0]:
                for f in range(features):
                    row = rows[order[m + 1], f]
                    if row >= 0:
                        fetch(&weights[row, 0, 0], 2 * classes)
            score = &out[m, 0]
            count = 0
            for f in range(features):
                row = rows[n, f]
                if row >= 0:
                    weight = &weights[row, 0, 0]
                    for c in range(classes):
                        score[c] += weight[c] - weight[classes + c]
                    count += 1
            if not count:
                continue
            for c in range(classes):
                score[c] /= count
            wrong = judge(score, &right[n, 0], bounds, threshold, &turn[0])
            if not wrong:
                continue
            mistakes += wrong
            when = <float>(<double>past * past)
            for f in range(features):
                row = rows[n, f]
                if row < 0:
                    continue
                weight, move = &weights[row, 0, 0], &moved[row, 0, 0]
                for c in range(classes):
                    if turn[c] > 0:
                        change(weight + c, move + c, alpha, least, most, when)
                        change(weight + classes + c, move + classes + c, beta, least, most, when)
                    elif turn[c] < 0:
                        change(weight + c, move + c, beta, least, most, when)
                        change(weight + classes + c, move + classes + c, alpha, least, most, when)
    return mistakes, scores
